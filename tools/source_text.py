# SPDX-License-Identifier: Apache-2.0
"""C source as text: finding the project's files, and taking comments and literals out of them."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKEN = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def files(*patterns):
    found = [path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()]
    return sorted(set(found))


def name(path):
    return str(path.relative_to(ROOT))


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def comments(text):
    """(offset, comment) of each comment."""
    return [(m.start(), m.group()) for m in TOKEN.finditer(text) if m.group().startswith("/")]


def code_only(text, keep_strings=False):
    """The text with comments (and the insides of literals) blanked out, lines and offsets kept."""

    def blank(match):
        token = match.group()
        if keep_strings and token[0] != "/":
            return token
        return re.sub(r"[^\n]", " ", token)

    return TOKEN.sub(blank, text)
