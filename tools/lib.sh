# SPDX-License-Identifier: Apache-2.0
# Shared by ./test, ./quickstart and .ci/run. Sourced with the root of the project as the working
# folder.

export CCACHE_DIR=${CCACHE_DIR:-$PWD/build/ccache} CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-2G}
export CCACHE_BASEDIR=$PWD PYTHONDONTWRITEBYTECODE=1
jobs=$(nproc)
logs=build/logs
n_passed=0 n_failed=0 n_skipped=0
failures=()

headline() { printf '\n== %s\n' "$*"; }

# fail WHAT: counts one failure and keeps its name for the summary.
fail() {
    n_failed=$((n_failed + 1))
    failures+=("$*")
}

# count PASSED FAILED SKIPPED WHAT
count() {
    n_passed=$((n_passed + $1))
    n_failed=$((n_failed + $2))
    n_skipped=$((n_skipped + $3))
    printf '%s: %d passed, %d failed, %d skipped\n' "$4" "$1" "$2" "$3"
    (($2 == 0)) || failures+=("$4")
}

# build PRESET [TARGET...]: configures and builds; false (and one failure) when that does not work.
build() {
    local preset=$1 targets=()
    shift
    (($# == 0)) || targets=(--target "$@")
    headline "build $preset"
    mkdir -p "$logs"
    if ! cmake --preset "$preset" >"$logs/configure-$preset.log" 2>&1; then
        tail -n 30 "$logs/configure-$preset.log"
        fail "configure $preset"
        return 1
    fi
    if ! cmake --build --preset "$preset" -j "$jobs" "${targets[@]}" -- --quiet; then
        fail "build $preset"
        return 1
    fi
}

# ctests PRESET [ctest options]: runs the tests of a build and counts their cases.
ctests() {
    local preset=$1 junit
    shift
    junit=$PWD/$logs/ctest-$preset.xml
    headline "tests of $preset $*"
    rm -f "$junit"
    ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure --no-tests=error --timeout 600 \
        --test-output-size-passed 200000 --test-output-size-failed 200000 \
        --output-junit "$junit" "$@" >"$logs/ctest-$preset.log" 2>&1 ||
        sed -n '/Start /!p' "$logs/ctest-$preset.log" | tail -n 120
    # shellcheck disable=SC2046
    count $(tools/count-tests "$junit") "ctest $preset"
}

# pytests NAME FILE...: runs Python tests and counts them.
pytests() {
    local name=$1 junit
    shift
    junit=$logs/pytest-$name.xml
    headline "$name"
    mkdir -p "$logs"
    rm -f "$junit"
    build/venv/bin/python -m pytest -q -p no:cacheprovider --junitxml="$junit" "$@" || true
    # shellcheck disable=SC2046
    count $(tools/count-tests "$junit") "$name"
}

# golden PRESET: reads every table of tests/golden/ with the program of a build.
golden() {
    local log=$logs/golden-$1.log last
    headline "golden tables with the program of $1"
    if [[ ! -x build/$1/hudi ]]; then
        echo "there is no build/$1/hudi"
        fail "golden $1"
        return
    fi
    build/venv/bin/python tests/golden/run.py --program "build/$1/hudi" --jobs "$jobs" \
        >"$log" 2>&1 || true
    grep -v '^pass\|^not yet' "$log" || true
    last=$(tail -n 1 "$log")
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ not\ yet$ ]]; then
        count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}" "golden $1"
    else
        fail "golden $1"
    fi
}

# summary: the last line, alone, with the sums; false when anything failed.
summary() {
    local failure
    echo
    for failure in ${failures[@]+"${failures[@]}"}; do
        echo "failed: $failure"
    done
    printf '%d passed, %d failed, %d skipped\n' "$n_passed" "$n_failed" "$n_skipped"
    ((n_failed == 0))
}
