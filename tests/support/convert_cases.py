#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rewrites reference results of operations (JSON) as the short text that cases.c reads.

    convert_cases.py SOURCE_DIR TARGET_DIR

One file an operation, lines of words:

    op exp                          the operation
    points f32 f32 COUNT x,y,dy     COUNT lines follow, one point each: its columns, as C99 hex floats, `-` where nothing is asked
    case NAME                       a whole-array case; its lines follow
    param KEY VALUE                 a list is written 1,2,3
    input KIND [2,3]                the next line holds the items; so for result, cotangent, gradient
    gradient none                   an input that is no float
"""
import json
import pathlib
import re
import sys

SKIPPED = {"cholesky", "solve", "singular_values"}  # rows that the library does not have


def number(item):
    """A hex float without the zeros that say nothing."""
    if item is None:
        return "-"
    if isinstance(item, (int, bool)):
        return str(int(item))
    return re.sub(r"(0x1\.[0-9a-f]*?)0+p", r"\1p", item).replace(".p", "p")


def value(item):
    if isinstance(item, bool):
        return str(int(item))
    if isinstance(item, list):
        return ",".join(value(part) for part in item)
    return number(item) if isinstance(item, (int, float)) or str(item).lstrip("-").startswith("0x") else str(item)


def tensor(role, item):
    if item is None:
        return [f"{role} none"]
    shape = ",".join(str(extent) for extent in item["shape"])
    return [f"{role} {item['kind']} [{shape}]", " ".join(number(x) for x in item["data"])]


def points(kind, table):
    source, _, target = kind.partition(" to ")
    columns = [name for name in ("x", "a", "b", "y", "dy") if name in table]
    lines = [f"points {source} {target or source} {len(table['y'])} {','.join(columns)}"]
    return lines + [" ".join(number(item) for item in row) for row in zip(*(table[name] for name in columns))]


def case(entry):
    lines = ["case " + entry["name"].replace(" ", "_")]
    lines += [f"param {key} {value(item)}" for key, item in entry["params"].items()]
    for role, key in (("input", "inputs"), ("result", "results"), ("cotangent", "cotangents"), ("gradient", "gradients")):
        for item in entry.get(key, []):
            lines += tensor(role, item)
    return lines


def main():
    source, target = map(pathlib.Path, sys.argv[1:3])
    for path in sorted(source.glob("*.json")):
        data = json.loads(path.read_text())
        if data["op"] in SKIPPED:
            continue
        lines = ["op " + data["op"]]
        for kind, table in data.get("points", {}).items():
            lines += points(kind, table)
        for entry in data.get("cases", []):
            lines += case(entry)
        (target / (data["op"] + ".txt")).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
