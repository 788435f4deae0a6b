# SPDX-License-Identifier: Apache-2.0
"""Every check of tools/check passes on a small sound project and can fail."""
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TAG = "/* SPDX-License-Identifier: Apache-2.0 */\n"
PUBLIC = TAG + """#ifndef HUDI_X_H
#define HUDI_X_H
#ifdef __cplusplus
extern "C" {
#endif
int hudi_x(void);
#ifdef __cplusplus
}
#endif
#endif
"""


@pytest.fixture
def project(tmp_path):
    shutil.copytree(ROOT / "tools", tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".clang-format", tmp_path)
    files = {
        "src/LAYERS": "base:\nformat: base\nengine/a: base format\nengine/b: base format engine/a\n",
        "src/base/x.h": TAG + "int hd_x(void);\n",
        "src/base/x.c": TAG + '#include "base/x.h"\n\n#include <stdlib.h>\n\n'
                              "int hd_x(void)\n{\n    free(malloc(1));\n    return 0;\n}\n",
        "src/base/README.md": "x\n", "src/format/README.md": "x\n", "src/engine/README.md": "x\n",
        "src/format/y.h": TAG + "int hd_y(void);\n",
        "src/format/y.c": TAG + '#include "format/y.h"\n\n#include "base/x.h"\n\n'
                                "/* does not free() */\nint hd_y(void)\n{\n    return hd_x();\n}\n",
        "src/engine/a/a.h": TAG + "int hd_a(void);\n",
        "src/engine/b/b.h": TAG + '#include "engine/a/a.h"\n',
        "include/hudi/x.h": PUBLIC,
        "cli/main.c": TAG + '#include "hudi/x.h"\n\nint main(void)\n{\n    return hudi_x();\n}\n',
        "tests/abi/symbols.txt": "hudi_x\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def check(project, *arguments):
    done = subprocess.run([project / "tools/check", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def build_library(project, source):
    (project / "x.c").write_text(source)
    (project / "build/dev").mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", project / "build/dev/libhudi.so", project / "x.c"],
                   check=True)
    (project / "x.c").unlink()


def test_a_sound_project_passes(project):
    build_library(project, "int hudi_x(void); int hudi_x(void) { return 0; }")
    code, output = check(project)
    assert code == 0, output
    assert output == "check: 6 passed, 0 failed, 0 skipped\n"


FAULTS = [
    ("format", "src/base/x.h", TAG + "int  hd_x( void );\n", "src/base/x.h:2: not as clang-format-14"),
    ("layers", "src/base/x.h", TAG + '#include "format/y.h"\n', "base may not include format/y.h"),
    ("layers", "src/engine/a/a.h", TAG + '#include "engine/b/b.h"\n', "engine/a may not include engine/b/b.h"),
    ("layers", "src/format/y.h", TAG + '#include "base/gone.h"\n', "there is no src/base/gone.h"),
    ("layers", "src/other/z.h", TAG, "src/LAYERS does not name its folder"),
    ("layers", "src/format/z.cc", TAG, "C++ outside src/store/arrow_cpp"),
    ("layers", "cli/main.c", TAG + '#include "base/x.h"\n', "base/x.h is not of the public API"),
    ("layers", "src/LAYERS", "base:\nformat: base gone\nengine/a:\nengine/b: engine/a base\n", "gone is named"),
    ("source", "src/format/y.c", TAG + "int *y(void)\n{\n    return malloc(1);\n}\n", "y.c:4: malloc outside"),
    ("source", "src/format/y.h", TAG + "// no\n", "y.h:2: a // comment"),
    ("source", "src/format/y.h", "int hd_y(void);\n", "y.h:1: no SPDX tag"),
    ("source", "src/format/README.md", None, "src/format: no README.md"),
    ("source", "fuzz/y_fuzz.c", TAG, "fuzz/y_fuzz.c: no inputs in fuzz/corpus/y/"),
    ("headers", "include/hudi/x.h", PUBLIC.replace("void", "bool x"), "bool"),
    ("headers", "include/hudi/x.h", PUBLIC.replace("int hudi", "// c99 has it, C++ keyword:\nint new; int hudi"),
     "new"),
    ("words", "src/base/README.md", "a helper in /wor" + "k/main\n", "src/base/README.md:1"),
    ("words", "src/base/README.md", "TO" + "DO later\n", "src/base/README.md:1"),
]


@pytest.mark.parametrize("name, path, text, message", FAULTS)
def test_a_fault_fails_its_check(project, name, path, text, message):
    assert check(project, "--only", name)[0] == 0
    target = project / path
    if text is None:
        target.unlink()
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    code, output = check(project, "--only", name)
    assert code == 1
    assert message in output


@pytest.mark.parametrize("source", ["int hudi_y(void); int hudi_y(void) { return 0; }", "int hudi_x, hd_x;"])
def test_other_exported_symbols_fail(project, source):
    build_library(project, source)
    assert check(project, "--only", "symbols")[0] == 1
    assert check(project, "--update-symbols")[0] == 0
    assert check(project, "--only", "symbols")[0] == 0


def test_no_library_is_skipped_and_not_passed(project):
    assert check(project)[1].splitlines()[-1] == "check: 5 passed, 0 failed, 1 skipped"
