# SPDX-License-Identifier: Apache-2.0
"""Rows of two readers held against each other, as multisets of JSON objects.

Key order, zeros at the end of a second's fraction and the Z of a time do not count; numbers count by
value (1 and 1.0, 0.0 and -0.0), but true is not 1 and "1" is not 1. Decimals and bytes are strings and
count as written. Columns named as 32-bit floats count as the float that they round to.
"""
import collections
import json
import math
import re
import struct

TIME = re.compile(r"((?:[+-]?\d{4,}-\d\d-\d\dT)?\d\d:\d\d:\d\d)(?:\.(\d+))?Z?")


def as_float32(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def canonical(value):
    """The value in the one form that all equal values share."""
    if isinstance(value, str):
        time = TIME.fullmatch(value)
        if time is None:
            return value
        fraction = (time.group(2) or "").rstrip("0")
        return time.group(1) + ("." + fraction if fraction else "")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [canonical(item) for item in value]
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items()}
    return value


def row_text(row, float_columns=()):
    row = {key: as_float32(value) if key in float_columns else value for key, value in row.items()}
    return json.dumps(canonical(row), sort_keys=True, ensure_ascii=False)


def read_lines(text):
    """Rows of JSON lines. Raises ValueError with the line's number."""
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"line {number} is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f"line {number} is not an object")
        rows.append(row)
    return rows


def identity(row):
    return row.get("_hoodie_record_key"), row.get("_hoodie_partition_path")


def columns_that_differ(wanted, got):
    """ "qty: 3, not 4" for two rows of the same key."""
    names = [*wanted, *(name for name in got if name not in wanted)]
    parts = []
    for name in names:
        if name not in got:
            parts.append(f"{name}: absent")
        elif name not in wanted:
            parts.append(f"{name}: {json.dumps(got[name])}, should be absent")
        elif wanted[name] != got[name]:
            parts.append(f"{name}: {json.dumps(got[name], ensure_ascii=False)}, "
                         f"not {json.dumps(wanted[name], ensure_ascii=False)}")
    return ", ".join(parts)


def difference(wanted, got, float_columns=(), limit=3):
    """Lines that say how `got` differs from `wanted` (lists of rows); none when they are the same."""
    wanted_texts = collections.Counter(row_text(row, float_columns) for row in wanted)
    got_texts = collections.Counter(row_text(row, float_columns) for row in got)
    missing = [json.loads(text) for text in (wanted_texts - got_texts).elements()]
    extra = [json.loads(text) for text in (got_texts - wanted_texts).elements()]
    if not missing and not extra:
        return []
    lines = [f"{len(got)} rows, not {len(wanted)}; {len(missing)} missing, {len(extra)} not expected"]
    extra_by_key = {identity(row): row for row in extra if identity(row) != (None, None)}
    for row in missing[:limit]:
        other = extra_by_key.get(identity(row))
        if other is not None:
            lines.append(f"{identity(row)}: {columns_that_differ(row, other)}")
        else:
            lines.append(f"missing: {json.dumps(row, ensure_ascii=False)}")
    missing_keys = {identity(row) for row in missing}
    for row in [row for row in extra if identity(row) not in missing_keys
                or identity(row) == (None, None)][:limit]:
        lines.append(f"not expected: {json.dumps(row, ensure_ascii=False)}")
    return lines
