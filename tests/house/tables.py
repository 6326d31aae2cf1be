# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The .def tables of the sources, read as rows."""
import ast
import re

from house import ROOT

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|\\\n|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|-?[\d.]+\w*|\s+|.', re.S)


def read(path):
    """(macro, fields, comment) of each row of a table: strings as str, everything else as the words that stand there. `comment` is the
    last comment before the row that is drawn as a line, which names a family."""
    text = re.sub(r"(?m)^#define (?:.*\\\n)*.*$", "", (ROOT / path).read_text(encoding="utf-8"))
    tokens = [token for token in TOKEN.findall(text) if not token.isspace()]
    at, family = 0, ""
    while at < len(tokens):
        token = tokens[at]
        if token.startswith("/* ----"):
            family = re.sub(r"[\s-]*\*/$", "", token[7:]).strip(" -")
        if token == "#":  # a directive: nothing of its line is a row
            at = after_directive(tokens, at)
        elif token.isidentifier() and token.isupper() and at + 1 < len(tokens) and tokens[at + 1] == "(":
            fields, at = row(tokens, at + 2)
            yield token, fields, family
        else:
            at += 1


def after_directive(tokens, at):
    """#undef NAME, #ifndef NAME, #include "..", #endif, #error "..": what this project's tables hold beside definitions."""
    return at + 2 if tokens[at + 1] == "endif" else at + 3


def row(tokens, at):
    fields, words, depth = [], [], 0
    while depth or tokens[at] != ")":
        token = tokens[at]
        depth += (token == "(") - (token == ")")
        if token == "," and not depth:
            fields.append(value(words))
            words = []
        elif not token.startswith("/*"):
            words.append(token)
        at += 1
    return fields + [value(words)], at + 1


def value(words):
    if words and all(word.startswith('"') for word in words):
        return "".join(ast.literal_eval(word) for word in words)
    return " ".join(words)
