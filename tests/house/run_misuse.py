#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every function that the public headers declare survives a call whose arguments are all zero.

The declarations, macros expanded, become a C program of one call each; every call runs in a child of its own. A function that takes an
error must also fill it where it answers nothing at all: NULL or false with code WG_OK says nothing to the caller."""
import os
import pathlib
import re
import tempfile

from house import BUILD, LIBRARIES, ROOT, Report, run

LISTS = [ROOT / "src" / f"{name}.exports" for name in LIBRARIES]
HEADERS = "array bpl generate model tokenizer wengert".split()
DECLARED = re.compile(r'__attribute__\s*\(\(\s*visibility\s*\(\s*"default"\s*\)\s*\)\)\s*([^;{}()]*?)\b(wg_\w+)\s*\(([^;]*)\)\s*;')
# Zero arguments are good ones here: a NULL context is the default one, NULL options are the defaults, and an empty bundle is one.
SUCCEED = {"wg_context_new", "wg_bundle_new", "wg_tensor_new", "wg_tensor_fill"}
MAIN = """
struct call { const char *name; int (*made)(void); };
static const struct call calls[] = {
%s
};

int main(void)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child < 0) return 2;
        if (!child) {
            alarm(60);
            _exit(calls[i].made());
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child) return 2;
        if (WIFSIGNALED(status)) printf("%%s died by signal %%d\\n", calls[i].name, WTERMSIG(status));
        else if (WEXITSTATUS(status) == 3) printf("%%s fails without an error\\n", calls[i].name);
        else if (WEXITSTATUS(status)) printf("%%s ended its process with %%d\\n", calls[i].name, WEXITSTATUS(status));
        else printf("%%s survived\\n", calls[i].name);
    }
    return 0;
}
"""


def declarations():
    """Name, result type and parameter list of each public function."""
    headers = sorted((ROOT / "include" / "wengert").glob("*.h"))
    with tempfile.TemporaryDirectory() as directory:
        source = pathlib.Path(directory, "all.c")
        source.write_text("".join(f'#include "wengert/{path.name}"\n' for path in headers))
        expanded = run(["cc", "-std=c11", "-E", "-P", f"-I{ROOT / 'include'}", source]).stdout
    return [(name, " ".join(result.split()), " ".join(parameters.split())) for result, name, parameters in DECLARED.findall(expanded)]


def zero(parameter):
    """A zero of a parameter's type, from `type name` or `type name[n]`."""
    if parameter == "wg_error *error":
        return "&error"
    if re.search(r"\(\s*\*", parameter):
        return "NULL"
    array = re.fullmatch(r"(.*?)\b\w+\s*\[[^\]]*\]", parameter)
    if array:
        return "NULL"
    kind = re.sub(r"\b\w+$", "", parameter).strip()
    return "NULL" if kind.endswith("*") else f"({kind}){{0}}"


def caller(name, result, parameters):
    """A function that makes the call and answers 3 where it failed and left the error empty."""
    words = [] if parameters == "void" else [word.strip() for word in re.split(r",(?![^()]*\))", parameters)]
    call = f"({name})({', '.join(zero(word) for word in words)})"
    told = "wg_error *error" in words and name not in SUCCEED and (result == "bool" or result.endswith("*"))
    lines = ["    wg_error error = {.code = WG_OK};", "    (void)error;"]
    if told:
        lines += [f"    return !{call} && (error.code == WG_OK || !error.message[0]) ? 3 : 0;"]
    else:
        lines += [f"    (void){call};", "    return 0;"]
    return f"static int call_{name}(void)\n{{\n" + "\n".join(lines) + "\n}\n"


def main():
    report = Report()
    functions = declarations()
    listed = set("".join(path.read_text() for path in LISTS).split())
    missed = listed - {name for name, _, _ in functions}
    report.check(listed and not missed, f"no declaration was found of {', '.join(sorted(missed))}")
    text = "#define _GNU_SOURCE\n#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
    text += "".join(f'#include "wengert/{header}.h"\n' for header in HEADERS)
    text += "".join(caller(*function) for function in functions)
    text += MAIN % "\n".join(f'    {{"{name}", call_{name}}},' for name, _, _ in functions)
    with tempfile.TemporaryDirectory() as directory:
        source, program = pathlib.Path(directory, "misuse.c"), pathlib.Path(directory, "misuse")
        source.write_text(text)
        built = run(["cc", "-std=c11", f"-I{ROOT / 'include'}", source, "-o", program, f"-L{BUILD}", *(f"-l{name}" for name in LIBRARIES)])
        if report.check(built.returncode == 0, f"the calls do not compile:\n{built.stdout[:4000]}"):
            ended = run([program], env=dict(os.environ, LD_LIBRARY_PATH=str(BUILD)), cwd=directory)
            lines = ended.stdout.splitlines()
            report.check(ended.returncode == 0, f"the program of calls ended with {ended.returncode}")
            for name, _, _ in functions:
                said = [line for line in lines if line.startswith(name + " ")]
                report.check(said == [f"{name} survived"], said[0] if said else f"{name} was not called")
    report.finish()


if __name__ == "__main__":
    main()
