# SPDX-License-Identifier: Apache-2.0
"""README.md: what it shows is what happens, and the options that it and docs/ name are there."""
import importlib.util
import os
import pathlib
import re
import subprocess

import pytest

from cli_test import COMMANDS, ENVIRONMENT, PROGRAM, ROOT, done

README = (ROOT / "README.md").read_text(encoding="utf-8")
FLIGHTS = ROOT / "build" / "quickstart"


def sessions():
    """Blocks of indented lines that begin with a prompt: (command, lines that it prints)."""
    for block in re.findall(r"(?:^    .*\n|^\n)+", README, re.M):
        steps = []
        for line in block.splitlines():
            if line.startswith("    $ "):
                steps.append((line[6:].split(" # ")[0].rstrip(), []))
            elif steps and line.strip():
                steps[-1][1].append(line[4:])
        if steps:
            yield steps


def like(shown, first_instants):
    """A pattern of a line: other instants, sizes within a digit, times that differ."""
    text = re.escape(shown)
    text = re.sub(r"\b20\d{15}\b", lambda at: first_instants.get(at[0], r"(20\d{15})"), text)
    text = re.sub(r"\d+\\\.\d\\ (KiB|MiB)", r"\\d+\\.\\d\\ \1", text)
    return re.sub(r"in\\ \d+\\\.\d\\ s", r"in\\ \\d+\\.\\d\\ s", text)


def play(steps, folder):
    instants = {}
    for command, shown in steps:
        for old, new in instants.items():
            command = command.replace(old, new)
        if command.endswith("..."): # the rest is the reader's
            continue
        told = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, timeout=300,
                              check=False, env={**ENVIRONMENT, "PATH": f"{pathlib.Path(PROGRAM).parent}:"
                                                                       f"{os.environ['PATH']}"})
        assert (told.returncode, told.stderr) == (0, b""), command
        lines = told.stdout.decode().splitlines()
        assert len(lines) == len(shown), command
        for line, expected in zip(lines, shown):
            matched = re.fullmatch(like(expected, instants), line)
            assert matched, f"{command}\n{line}\nbut README.md has\n{expected}"
            for old, new in zip(re.findall(r"\b20\d{15}\b", expected), re.findall(r"\b20\d{15}\b", line)):
                instants.setdefault(old, new)


def test_the_sessions_print_what_is_shown(tmp_path):
    played = 0
    for steps in sessions():
        if "flights.csv" in steps[0][0]:
            if not (FLIGHTS / "cancelled.csv").exists():
                continue # ./quickstart fetches them
            for name in ("flights.csv", "correction.csv", "cancelled.csv"):
                (tmp_path / name).symlink_to(FLIGHTS / name)
        elif "flights" in steps[0][0] and not (tmp_path / "flights").exists():
            continue
        play(steps, tmp_path)
        played += 1
    assert played >= 1


def test_the_c_example_does_what_it_says(tmp_path):
    library = pathlib.Path(PROGRAM).resolve().parent
    if not (library / "libhudi.so").exists():
        pytest.skip("the program stands alone")
    (example,) = re.findall(r"^```c\n(.*?)^```", README, re.M | re.S)
    (tmp_path / "read.c").write_text(example)
    arrow = importlib.util.find_spec("pyarrow").submodule_search_locations[0]
    cmake = (library / "CMakeCache.txt").read_text()
    sanitize = re.search(r"^HUDI_SANITIZE:\w+=(.+)$", cmake, re.M)
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-o", tmp_path / "read",
                    tmp_path / "read.c", "-I", ROOT / "include", "-L", library, "-lhudi",
                    f"-Wl,-rpath,{library}", f"-Wl,-rpath-link,{arrow}",
                    *([f"-fsanitize={sanitize[1]}"] if sanitize else [])], check=True, timeout=120)
    rows = "id,city,temp\n1,Oslo,4\n2,Rome,19\n"
    done("write", tmp_path / "weather", "-", "--format", "csv", "--key", "id", stdin=rows.encode())
    (tmp_path / "more.csv").write_text("id,city,temp\n3,Lima,18\n2,Rome,20\n")
    told = subprocess.run([tmp_path / "read"], cwd=tmp_path, capture_output=True, timeout=120,
                          check=False, env=ENVIRONMENT)
    assert (told.returncode, told.stderr) == (0, b"")
    assert re.fullmatch(r"20\d{15}: 1 inserted\n3 rows\n", told.stdout.decode())
    (tmp_path / "more.csv").unlink()
    told = subprocess.run([tmp_path / "read"], cwd=tmp_path, capture_output=True, timeout=120,
                          check=False, env=ENVIRONMENT)
    assert told.returncode == 1 and b"no such file" in told.stderr


def test_the_options_that_the_documents_name_are_there():
    known = {line.split("\t")[0] for line in done("--options").splitlines()}
    help_of = {command: done(command, "--help") for command in COMMANDS}
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "changes").glob("*.md"),
             *(ROOT / "src").rglob("README.md")]
    n_seen = 0
    for page in pages:
        for span in re.findall(r"`([^`\n]+)`|^    \$ (.*)$", page.read_text(encoding="utf-8"), re.M):
            text = "".join(span)
            for key in re.findall(r"-o ([a-z][\w.]+)=", text):
                assert key in known, f"{page.name}: {text}"
            called = re.match(r"hudi ([a-z]+) ", text)
            if called and called[1] in help_of:
                for option in re.findall(r"(?<![\w-])--([a-z][a-z-]*)", text):
                    assert f"--{option}" in help_of[called[1]], f"{page.name}: {text}"
                    n_seen += 1
    assert n_seen >= 30
