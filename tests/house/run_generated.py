#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Files that say again what a table says: the man page, the completions, docs/ops.md, and lists inside of other pages. They are
written from the tables, and this test fails where one is stale. `--write` writes them."""
import re
import shutil
import sys

import tables
from house import ROOT, Report, run

SPDX = "SPDX-License-Identifier: Apache-2.0 OR MIT"
VERB_FIELDS = "name function usage least most options summary example".split()
# Words that complete a value. Each must stand in the option's help, so that these lists follow the table.
WORDS = {"optimizer": "sgd adam adamw", "schedule": "constant linear cosine step"}
FILE_VALUES = {"PATH", "FILE"}
# What a sampler's option takes, by its type: SAMPLER_VALUE_... of options.def.
SAMPLER_VALUES = {"double": "X", "int64_t": "N", "bool": "NULL"}


def command_tables():
    options = [dict(zip(("name", "value", "repeats", "help"), fields)) for _, fields, _ in tables.read("src/tools/options.def")]
    known = {option["name"] for option in options}
    for macro, (_, kind, flag, otherwise, help_text), _ in tables.read("src/model/sampler.def"):
        if flag not in known:
            options.append({"name": flag, "value": SAMPLER_VALUES[kind], "repeats": "false", "help": f"{help_text} (default {otherwise})"})
    verbs = [dict(zip(VERB_FIELDS, fields)) for _, fields, _ in tables.read("src/tools/verbs.def")]
    for option in options:
        option["value"] = "" if option["value"] == "NULL" else option["value"]
        option["repeats"] = option["repeats"] == "true"
    for verb in verbs:
        verb["options"] = verb["options"].split()
    return verbs, options


VERBS, OPTIONS = command_tables()
OPTION = {option["name"]: option for option in OPTIONS}
# Verbs of two words: the first word, and what may follow it.
FAMILIES = {}
for _first, *_second in (verb["name"].split() for verb in VERBS):
    if _second:
        FAMILIES.setdefault(_first, []).extend(_second)
FIRST = list(dict.fromkeys(verb["name"].split()[0] for verb in VERBS))
ABOUT = {verb["name"]: verb["summary"] for verb in VERBS} | {first: "language models" for first in FAMILIES}


# ---- the man page ----

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace('"', "\\(dq")
    text = "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)
    return "\\&" + text if text.startswith((".", "'")) else text


def man_page():
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text())[1]
    option_text = "\n".join(f".TP\n.BI \\-\\-{roff(option['name'])} \" {roff(option['value'])}\"\n{roff(option['help'])}" +
                            (" (may be repeated)" if option["repeats"] else "") for option in OPTIONS)
    verb_text = "\n".join(f".TP\n.B {verb['name']}\n{roff(verb['summary'])}. Options: " +
                          ", ".join(f"\\-\\-{roff(name)}" for name in verb["options"]) for verb in VERBS)
    parts = {"VERSION": version,
             "SYNOPSIS": "\n.br\n".join(f".B wengert {verb['name']}\n{roff(verb['usage'])}".rstrip() for verb in VERBS),
             "VERBS": verb_text, "OPTIONS": option_text,
             "EXAMPLES": "\n".join(f".TP\n.B {verb['name']}\n{roff(verb['example'])}" for verb in VERBS)}
    return re.sub("@([A-Z]+)@", lambda match: parts[match[1]], (ROOT / "docs/man/wengert.1.in").read_text())


# ---- completions ----

def bash_completion():
    cases = "\n".join(f"    '{verb['name']}') options=\"{' '.join('--' + name for name in verb['options'])} --help\" ;;" for verb in VERBS)
    families = "\n".join(f"    if [ \"$COMP_CWORD\" -eq 2 ] && [ \"${{COMP_WORDS[1]}}\" = {first} ]; then COMPREPLY=($(compgen -W \"{' '.join(seconds)}\" -- \"$word\")); return; fi\n"
                       f"    [ \"${{COMP_WORDS[1]}}\" != {first} ] || verb=\"{first} ${{COMP_WORDS[2]}}\"" for first, seconds in FAMILIES.items())
    words = "\n".join(f"    --{name}) COMPREPLY=($(compgen -W \"{words}\" -- \"$word\")); return ;;" for name, words in WORDS.items())
    files = "|".join(f"--{option['name']}" for option in OPTIONS if option["value"] in FILE_VALUES)
    free = "|".join(f"--{option['name']}" for option in OPTIONS if option["value"] and option["value"] not in FILE_VALUES and option["name"] not in WORDS
                    and not option["value"].startswith("NAME="))
    return f"""# {SPDX}
# bash completion of wengert; written by tests/house/run_generated.py from the command's tables.
_wengert()
{{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} verb=${{COMP_WORDS[1]}} options=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{' '.join(FIRST)} --help --version" -- "$word"))
        return
    fi
{families}
    case "$before" in
{words}
    {files}) COMPREPLY=($(compgen -f -- "$word")); return ;;
    {free}) return ;;
    esac
    case "$verb" in
{cases}
    esac
    case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "${{word##*=}}")) ;;
    esac
}}
complete -o filenames -F _wengert wengert
"""


def zsh_quoted(text):
    return re.sub(r"([\[\]:])", r"\\\1", text).replace("'", "'\\''")


def zsh_option(name):
    option = OPTION[name]
    star = "*" if option["repeats"] else ""
    action = ""
    if option["value"]:
        what = f"({WORDS[name]})" if name in WORDS else "_files" if option["value"] in FILE_VALUES or "=" in option["value"] else " "
        action = f":{zsh_quoted(option['value'])}:{what}"
    return f"        '{star}--{name}[{zsh_quoted(option['help'])}]{action}'"


def zsh_completion():
    verbs = "\n".join(f"        '{name}:{zsh_quoted(ABOUT[name])}'" for name in FIRST)
    families = "\n".join(f"    if [[ $verb == {first} ]]; then\n        if (( CURRENT == 2 )); then\n            compadd {' '.join(seconds)}\n            return\n        fi\n"
                         f"        verb=\"{first} $words[2]\"\n        shift words\n        (( CURRENT-- ))\n    fi" for first, seconds in FAMILIES.items())
    cases = "\n".join(f"    '{verb['name']}') _arguments \\\n" + " \\\n".join(map(zsh_option, verb["options"])) +
                      " \\\n        '--help[what the verb takes]' '*:model:_files' ;;" for verb in VERBS)
    return f"""#compdef wengert
# {SPDX}
# zsh completion of wengert; written by tests/house/run_generated.py from the command's tables.
_wengert() {{
    local -a verbs
    verbs=(
{verbs}
    )
    if (( CURRENT == 2 )); then
        _describe verb verbs
        return
    fi
    local verb=$words[2]
    shift words
    (( CURRENT-- ))
{families}
    case $verb in
{cases}
    esac
}}
_wengert "$@"
"""


def fish_completion():
    quoted = lambda text: text.replace("\\", "\\\\").replace("'", "\\'")
    lines = [f"# {SPDX}", "# fish completion of wengert; written by tests/house/run_generated.py from the command's tables."]
    lines += [f"complete -c wengert -n __fish_use_subcommand -f -a {name} -d '{quoted(ABOUT[name])}'" for name in FIRST]
    lines += [f"complete -c wengert -n '__fish_seen_subcommand_from {first}; and not __fish_seen_subcommand_from {' '.join(seconds)}' -f -a '{' '.join(seconds)}'"
              for first, seconds in FAMILIES.items()]
    for option in OPTIONS:
        verbs = " ".join(dict.fromkeys(verb["name"].split()[-1] for verb in VERBS if option["name"] in verb["options"]))
        value = "" if not option["value"] else " -x -a '" + WORDS[option["name"]] + "'" if option["name"] in WORDS else " -r"
        lines.append(f"complete -c wengert -n '__fish_seen_subcommand_from {verbs}' -l {option['name']}{value} -d '{quoted(option['help'])}'")
    return "\n".join(lines) + "\n"


# ---- docs/ops.md ----

ELIMINATIONS = {"Solve", "Determinant", "LogDeterminant", "DetSign"}  # of order HOST, and yet not a library's: base_lapack_is_own
ROLES = {"d": "data", "c": "condition", "p": "positions", "k": "key", "b": "blocks", "w": "data or blocks"}
KINDS = {"FLOATS": "floats", "WIDE": "f32, f64", "NUMBERS": "numbers", "INTEGERS": "integers", "LOGIC": "bool, integers", "ORDERED": "ordered", "ANALYTIC": "floats, complex",
         "ALGEBRA": "numbers, complex", "COMPLEX": "complex", "SINGLE": "f32", "ANY": "any", "STORED": "stored"}
RESULTS = {"SAME": "the operands'", "BOOL": "bool", "I64": "i64", "U32": "u32", "KIND": "`kind`", "ACCUMULATED": "`accumulate`", "SOURCE": "its own", "PART": "of the parts",
           "WHOLE": "complex", "UNPACKED": "the operands', f32 of blocks"}
TERMS = {"ZERO": "0", "NONE": "none", "SAME": "t", "NEG": "-t", "MUL": "c*t", "DIV": "t/c", "ROW": "row of t"}
LETTERS = "abcdefgh"


def reads(form, letters):
    names = ", ".join("result" if letter == "y" else letter for letter in letters)
    return "" if not letters else f" by {names}" if form == "ROW" else f", c from {names}"


def derivative(terms):
    return "; ".join(f"{LETTERS[int(operand)]}: {TERMS[form]}{reads(form, letters)}" for _, operand, form, letters in terms) or "-"


def silent_default(kind, silent, words):
    if silent == "ALWAYS":
        return ""
    if silent == "BY_RULE":
        return " (its rule's)"
    return f" ({words[kind][int(silent)] if kind in words else 'false' if kind == 'FLAG' else silent})"


def parameters(attributes, words):
    shown = [f"`{key}` {'|'.join(words[kind]) if kind in words else kind.lower()}{silent_default(kind, silent, words)}"
             for _, key, kind, silent, _ in attributes]
    return ", ".join(shown).replace("|", "\\|") or "-"


def ops_page():
    rows, attributes, terms, words = [], {}, {}, {}
    for macro, fields, family in tables.read("include/wengert/ops.def"):
        if macro == "OP":
            rows.append((family, fields))
        elif macro == "CHOICE":
            words.setdefault(fields[0], []).append(fields[2])
        else:
            (attributes if macro == "ATTRIBUTE" else terms).setdefault(fields[0], []).append(fields)
    text = (ROOT / "docs/ops.md.in").read_text().replace("@COUNT@", str(len(rows)))
    body, last = [], None
    for family, (name, word, arity, roles, accepts, result, _, order, _, _, _, _, doc) in rows:
        if family != last:
            title, _, about = family.partition(": ")
            body.append(f"\n## {title.capitalize()}\n" + (f"\n{about[0].upper() + about[1:]}.\n" if about else "") +
                        "\n| text | dump | operands | kinds | result | parameters (silent default) | derivative | what |\n|---|---|---|---|---|---|---|---|")
            last = family
        letters = [f"{LETTERS[i]} {ROLES[role]}" if len(set(roles)) > 1 else LETTERS[i] for i, role in enumerate(roles)]
        cells = [f"`{word}`", name, "one or more" if arity == "-1" else ", ".join(letters) or "-", KINDS[accepts] if "d" in roles else "-", RESULTS[result],
                 parameters(attributes.get(name, []), words), derivative(terms.get(name, [])),
                 doc.replace("|", "\\|") + ("; host" if order == "HOST" and name not in ELIMINATIONS else "")]
        body.append("| " + " | ".join(cells) + " |")
    return text.replace("@ROWS@", "\n".join(body).strip() + "\n").rstrip() + "\n"


# ---- lists inside of pages ----

def with_lists(page, lists):
    """The page as it stands, with what is between `<!-- MARK -->` and the next blank line written anew."""
    text = (ROOT / page).read_text()
    for mark, lines in lists.items():
        head = f"<!-- {mark} -->\n"
        text, count = re.subn(re.escape(head) + r"(?:[^\n]+\n)*", lambda match: head + lines, text)
        if count != 1:
            raise SystemExit(f"{page}: `<!-- {mark} -->` stands {count} times, not once")
    return text


def spelled(option):
    return f"`--{option['name']}{' ' + option['value'] if option['value'] else ''}`"


def command_page():
    lists = {f"options of {verb['name']}": f"`wengert {verb['name']} {verb['usage']}`".replace(" `", "`") + "\n" +
             f"{verb['summary'][0].upper()}{verb['summary'][1:]}. Options: {', '.join(spelled(OPTION[name]) for name in verb['options'])}.\n" for verb in VERBS}
    lists["the options"] = "| option | what |\n|---|---|\n" + "".join(
        f"| {spelled(option)} | {option['help']}{' (may be repeated)' if option['repeats'] else ''} |\n" for option in OPTIONS)
    return with_lists("docs/command.md", lists)


def spoken(expression):
    """A limit of initialisers.def as a person writes it."""
    expression = re.sub(r"how\s*-\s*>\s*(\w+)", r"`\1`", expression).replace(" ", "").replace("ROOT", "sqrt")
    return expression.replace("/", " / ").replace("+", " + ")


def text_page():
    calls, initialisers = [], []
    for macro, fields, _ in tables.read("src/text/compositions.def"):
        if macro == "COMPOSITION":
            name, least, most, _ = fields
            calls.append((name, least if least == most else f"{least} or {most}", []))
        else:
            calls[-1][2].append(f"`{fields[1]}=`{' (needed)' if fields[3] == 'true' else ''}")
    for _, (name, form, low, high, keys), _ in tables.read("src/text/initialisers.def"):
        low, high = map(spoken, (low, high))
        what = {"FILL": f"every item {low}", "UNIFORM": f"uniform from {low} to {high}", "NORMAL": f"normal, mean {low}, standard deviation {high}"}[form]
        initialisers.append(f"| `{name}` | {what} | {' '.join(f'`{key}=`' for key in keys.split()) or '-'} |\n")
    rows = "".join(f"| `{name}` | {count} | {', '.join(keys) or '-'} |\n" for name, count, keys in calls)
    return with_lists("docs/program-text.md", {"compositions": "| call | operands | parameters |\n|---|---|---|\n" + rows,
                                               "initialisers": "| call | draws | parameters |\n|---|---|---|\n" + "".join(initialisers)})


def api_page():
    rows = [f"| `WG_{name}` | {text} | {meaning} |\n" for _, (name, text, meaning), _ in tables.read("include/wengert/errors.def")]
    return with_lists("docs/c-api.md", {"errors": "| code | name | meaning |\n|---|---|---|\n" + "".join(rows)})


# ---- the sites of calls on arrays ----

CALL = re.compile(r"^WG_API (wg_array \*|bool )(wg_array_\w+)\(", re.M)


def array_sites():
    """A macro a call of array.h. Arguments stay together, so that lists in braces may stand among them."""
    calls = [(name, "WG_READ_SITE" if result == "bool " else "WG_ARRAY_SITE") for result, name in CALL.findall((ROOT / "include/wengert/array.h").read_text())
             if name != "wg_array_absent"]
    pairs = []
    for macro, fields, _ in tables.read("include/wengert/arrays.def"):
        name = "wg_array_" + fields[0]
        if macro == "BINARY":
            pairs.append(name)
            name += "_scalar"
        calls.append((name, "WG_ARRAY_SITE"))
    lines = [f"#define {name}(a, b) WG_ARRAY_SITE(WG_ARRAY_BINARY({name}, a, b))" for name in pairs]
    lines += [f"#define {name}(...) {site}(({name})(__VA_ARGS__))" for name, site in calls]
    return (f"/* {SPDX}\n *\n * The line of a call, noted by the call: macros that shadow the functions of array.h. Written by tests/house/run_generated.py. */\n"
            "#ifndef WENGERT_ARRAY_SITES_H\n#define WENGERT_ARRAY_SITES_H\n\n#include \"wengert/array.h\"\n\n" + "\n".join(lines) + "\n\n#endif\n")


def rewrites_page():
    rows = []
    for macro, fields, family in tables.read("src/plan/rewrites.def"):
        if macro in ("REWRITE", "SWEEP"):
            name, root, grade, reason = fields
            rows.append((family, name, [root], grade, reason))
        elif macro == "ALSO":
            rows[-1][2].append(fields[0])
    body, last = [], None
    for family, name, roots, grade, reason in rows:
        if family != last:
            body.append(f"\n## {family.capitalize()}\n\n| rewrite | at | bits | why |\n|---|---|---|---|")
            last = family
        body.append(f"| `{name}` | {', '.join(roots)} | {'the same' if grade == 'same' else 'last ones may move'} | {reason} |")
    text = (ROOT / "docs/rewrites.md.in").read_text()
    return text.replace("@COUNT@", str(len(rows))).replace("@ROWS@", "\n".join(body).strip() + "\n").rstrip() + "\n"


def patterns_page():
    homes = {"HOME": "here, one step of the licence", "SCHEDULE": "here", "ABROAD": "elsewhere alone"}
    rows = {}
    for macro, fields, _ in tables.read("src/plan/catalogue.def"):
        if macro != "PATTERN" or len(fields) != 6:
            continue
        name, root, home, formula, foreign, what = fields
        row = rows.setdefault(name, [[], homes[home], formula, foreign, what])
        if root not in row[0]:
            row[0].append(root)
    body = ["| pattern | what | root | served | by | elsewhere |", "|---|---|---|---|---|---|"]
    body += [f"| {name} | {what} | {', '.join(roots)} | {home} | {f'`{formula}`' if formula else 'its rows' if home != homes['ABROAD'] else ''} | `{foreign}` |"
             for name, (roots, home, formula, foreign, what) in rows.items()]
    text = (ROOT / "docs/patterns.md.in").read_text()
    return text.replace("@COUNT@", str(len(rows))).replace("@ROWS@", "\n".join(body)).rstrip() + "\n"


FILES = {"include/wengert/array_sites.h": array_sites, "docs/rewrites.md": rewrites_page, "docs/patterns.md": patterns_page, "docs/man/wengert.1": man_page,
         "completions/wengert.bash": bash_completion, "completions/_wengert": zsh_completion,
         "completions/wengert.fish": fish_completion, "docs/ops.md": ops_page, "docs/command.md": command_page,
         "docs/program-text.md": text_page, "docs/c-api.md": api_page}


# ---- what the generated files must do ----

def check_bash(report):
    def completes(words, wanted, unwanted=()):
        line = " ".join(f"'{word}'" for word in words)
        script = f". {ROOT / 'completions/wengert.bash'}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _wengert; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        got = set(run(["bash", "-c", script], cwd=ROOT).stdout.split())
        report.check(set(wanted) <= got and not set(unwanted) & got, f"completion of {words} answers {sorted(got)}")
    completes(["wengert", ""], FIRST)
    for first, seconds in FAMILIES.items():
        completes(["wengert", first, ""], seconds)
    completes(["wengert", "tr"], ["train"], ["run"])
    for verb in VERBS:
        others = ["--" + name for name in OPTION if name not in verb["options"]]
        completes(["wengert", *verb["name"].split(), "--"], ["--" + name for name in verb["options"]], others)
    completes(["wengert", "train", "--optimizer", "ad"], ["adam", "adamw"], ["sgd"])
    completes(["wengert", "run", "exa"], ["examples"])


def check_syntax(report):
    for shell, file in ("zsh", "completions/_wengert"), ("fish", "completions/wengert.fish"), ("bash", "completions/wengert.bash"):
        if shutil.which(shell):
            done = run([shell, "-n", ROOT / file])
            report.check(done.returncode == 0, f"{file}: {shell} says\n{done.stdout}")
    if shutil.which("groff"):
        done = run(["groff", "-man", "-ww", "-z", ROOT / "docs/man/wengert.1"])
        report.check(done.returncode == 0 and not done.stdout, f"wengert.1: groff says\n{done.stdout}")


def main():
    report = Report()
    for name, make in FILES.items():
        path, text = ROOT / name, make()
        if "--write" in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        report.check(path.exists() and path.read_text(encoding="utf-8") == text, f"{name} is not what the tables say; run tests/house/run_generated.py --write")
    for name, words in WORDS.items():
        report.check(all(word in OPTION[name]["help"] for word in words.split()), f"--{name}: its help does not name each of {words}")
    for verb in VERBS:
        unknown = [name for name in verb["options"] if name not in OPTION]
        report.check(not unknown, f"verbs.def: {verb['name']} takes options that options.def has not: {unknown}")
        named = [word for word in verb["example"].split() if word.startswith("examples/") and not (ROOT / word).exists()]
        report.check(not named, f"verbs.def: the example of {verb['name']} names {named}, which is not there")
    used = {name for verb in VERBS for name in verb["options"]}
    report.check(used == OPTION.keys(), f"options.def: no verb takes {sorted(OPTION.keys() - used)}")
    recorded = (ROOT / "include/wengert/ops.h").read_text()
    for macro, fields, family in tables.read("include/wengert/ops.def"):
        if macro == "OP" and not family.startswith("sources"):
            report.check(re.search(rf"wg_value wg_{fields[1]}\(", recorded), f"ops.h declares no wg_{fields[1]}, which records {fields[0]}")
    calls = set(re.findall(r"\bwg_array_\w+", array_sites()))
    for macro, fields, family in tables.read("include/wengert/ops.def"):
        blocks = macro == "OP" and '"db"' == f'"{fields[3]}"'  # weights of a block kind are those of a network
        if macro == "OP" and not family.startswith("sources") and not blocks:
            report.check(f"wg_array_{fields[1]}" in calls, f"neither array.h nor arrays.def has wg_array_{fields[1]}, which calls {fields[0]} on arrays")
    check_bash(report)
    check_syntax(report)
    report.finish()


if __name__ == "__main__":
    main()
