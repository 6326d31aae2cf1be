#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""wengert bpl as a person uses it: expressions, scripts, the prompt on a terminal, glyphs by name, ]help, and lines of JSON."""
import codecs
import fcntl
import functools
import json
import os
import pathlib
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "house"))
from house import BUILD, Report, cached  # noqa: E402
from screen import Screen  # noqa: E402

COMMAND = str(BUILD / "wengert")
report = Report()


def ran(*words, stdin=None):
    return subprocess.run([COMMAND, "bpl", *words], input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", check=False, timeout=60)


def answers(words, out, code=0, err="", stdin=None):
    done = ran(*words, stdin=stdin)
    report.check(done.returncode == code and done.stdout == out and (err in done.stderr if err else not done.stderr),
                 f"bpl {words}: exit {done.returncode}, {done.stdout!r}, {done.stderr!r}; expected {out!r}")
    return done


def test_expressions():
    answers(["-e", "+/÷≢ 2 4 9"], "5\n")
    answers(["-e", "1+2 ⋄ x←3 ⋄ x×2\n2 2⍴⍳4"], "3\n6\n0 1\n2 3\n")
    answers(["--expression", "x←3"], "")
    answers(["-e", "(⎕←1)+(⎕←2)"], "2\n1\n3\n")
    answers(["-e", "⎕,⎕"], "badc\n", stdin="dc\nba\n")
    answers(["-e", "1 ⋄ ÷\"a\""], "1\n", 1, "DOMAIN ERROR: ")
    answers(["-e", "[1 2"], "", 1, "expression:1:1")
    answers(["-e", "`iota 3"], "0 1 2\n")
    answers(["-e", "`nonsense 3"], "", 1, "SYNTAX ERROR")
    answers(["-e"], "", 2, "-e needs TEXT")
    answers(["--nonsense"], "", 2, "--nonsense")
    answers(["--format", "hanzi"], "", 2, "glyphs or names")
    other = subprocess.run([COMMAND, "repl", "-e", "1+1"], stdout=subprocess.PIPE, text=True, check=False)
    report.check(other.stdout == "2\n", f"repl is another name: {other}")


def test_scripts():
    pathlib.Path("script.bpl").write_text("#!/usr/bin/env -S wengert bpl\nsquares←{\n  ⍵×⍵ ⍝ each\n}\nsquares 1 2 3\n+/squares 1 2 3\n", encoding="utf-8")
    answers(["script.bpl"], "1 4 9\n14\n")
    answers(["script.bpl", "--threads", "-x"], "1 4 9\n14\n")
    answers(["-"], "5\n", stdin="2+3\n")
    answers([], "5\n", stdin="2+3\n")
    pathlib.Path("wrong.bpl").write_text("x←1\nx+÷'a'\n", encoding="utf-8")
    answers(["wrong.bpl"], "", 1, "wrong.bpl:2:3")
    answers(["missing.bpl"], "", 1, "missing.bpl: No such file")
    answers(["."], "", 1, ".: Is a directory")
    pathlib.Path("bytes.bpl").write_bytes(b"1+2\n\xff\n")
    answers(["bytes.bpl"], "", 1, "byte 4 is no UTF-8")
    pathlib.Path("empty.bpl").write_text("", encoding="utf-8")
    answers(["empty.bpl"], "")


def test_reports():
    """What a report shows of a source: the columns of a terminal, the surroundings of a place in a long line, and no bytes that steer a terminal."""
    done = answers(["-e", "\"字字\" ÷'a'"], "", 1, "DOMAIN")
    report.check(done.stderr.splitlines()[-1] == " " * 7 + "^" * 4, f"carets below wide characters: {done.stderr}")
    done = answers(["-e", "1+" * 300 + "÷'a'+(" + "1+" * 300 + "1)"], "", 1, "expression:1:601")
    lines = done.stderr.splitlines()
    report.check(len(lines[2]) < 250 and lines[2][0] == lines[2][-1] == "…" and lines[2][lines[3].index("^")] == "÷", f"a long line: {lines[1:]}")
    done = answers([], "", 1, "SYNTAX", stdin="a\x1b[2J )")
    report.check("\x1b" not in done.stderr, f"a report steers the terminal: {done.stderr!r}")
    answers(["-e", "∞⍴1"], "", 1, "must be whole, not ∞")
    pathlib.Path("zeros.bpl").write_bytes(b"1+2\n\0\0")
    answers(["zeros.bpl"], "", 1, "byte 4 is a NUL")
    answers(["/dev/zero"], "", 1, "byte 0 is a NUL")
    answers(["-e", "•load \"/dev/zero\""], "", 1, "IO ERROR: /dev/zero is no text")
    answers(["-e", "["*10000 + "]"*10000], "", 1, "LIMIT ERROR: brackets nest deeper")
    answers(["-e", "1e10⍴1"], "", 1, "LIMIT ERROR: an array has at most 1000000000 items")


def test_spellings():
    lines = [line.split("\t")[0] for line in (ROOT / "tests" / "bpl" / "binding.tsv").read_text(encoding="utf-8").splitlines()]
    text = "\n".join(line for line in lines if "'" not in line and '"' not in line) + "\n"
    names = answers(["--format", "names"], ran("--format", "names", stdin=text).stdout, stdin=text).stdout
    plain = "".join(line.split("`comment")[0] for line in names.splitlines())
    report.check(plain.isascii(), f"names leave glyphs: {sorted(set(c for c in plain if not c.isascii()))}")
    answers(["--format", "glyphs"], text, stdin=names)
    answers(["--format", "names", "-e", "⍳5"], "`iota5\n", stdin="1")
    answers(["--format", "names"], '"⍳⍵" `iota\'⍵\' `comment ⍳\n', stdin='"⍳⍵" ⍳\'⍵\' ⍝ ⍳\n')


def test_worker():
    requests = [{"id": 1, "code": "x←2 ⋄ x+1"}, {"id": "two", "code": "⎕←3 ⋄ x×÷'a'"}, {"id": 3, "code": "{∇⍵}1", "timeout": 0.2}, {"id": 4}, {"id": 5, "code": "x", "timeout": -1}]
    text = "".join(json.dumps(request) + "\n" for request in requests) + "nonsense\n\n" + json.dumps({"id": 7, "code": "x"})
    done = ran("--worker", stdin=text)
    got = [json.loads(line) for line in done.stdout.splitlines()]
    report.check(done.returncode == 0 and len(got) == 7 and all(answer["wengert"] == 1 for answer in got), f"worker: {done.stdout} {done.stderr}")
    report.check(got[0] == {"wengert": 1, "id": 1, "display": "3", "output": "", "error": None}, f"worker: {got[0]}")
    error = got[1]["error"]
    report.check(got[1]["output"] == "3\n" and error["kind"] == "DOMAIN" and (error["line"], error["column"]) == (1, 9), f"worker: {got[1]}")
    report.check([answer["error"]["kind"] for answer in got[2:6]] == ["TIMEOUT", "REQUEST", "REQUEST", "REQUEST"], f"worker: {got[2:6]}")
    report.check(got[2]["error"]["report"].startswith("TIMEOUT ERROR: stopped by the deadline\n --> "), f"worker: {got[2]}")
    report.check(got[6]["display"] == "2", f"the session goes on: {got[6]}")
    talk = subprocess.Popen([COMMAND, "bpl", "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    talk.stdin.write('{"id": 1, "code": "{∇⍵}1"}\n')
    talk.stdin.flush()
    time.sleep(0.3)
    out, _ = talk.communicate('{"interrupt": true}\n', timeout=30)
    report.check(json.loads(out)["error"]["kind"] == "INTERRUPT", f"interrupt: {out}")
    for stdin, mentions in (("</", "Is a directory"), ("<&-", "Bad file descriptor")):
        done = subprocess.run(["sh", "-c", f'"$0" bpl --worker {stdin}', COMMAND], capture_output=True, text=True, check=False, timeout=60)
        report.check(done.returncode == 1 and mentions in done.stderr and not done.stdout, f"requests of {stdin}: exit {done.returncode}, {done.stderr!r}")


class Terminal:
    """The prompt on a terminal of its own."""

    def __init__(self, columns=80, rows=24, **environment):
        self.screen, self.decoder, self.rest = Screen(columns, rows), codecs.getincrementaldecoder("utf-8")("replace"), ""
        self.process, self.file = os.forkpty()
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            base = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
            os.execve(COMMAND, [COMMAND, "bpl"], {**base, "HOME": os.getcwd(), "XDG_STATE_HOME": os.getcwd() + "/state", "TERM": "dumb", "LC_ALL": "C.UTF-8", **environment})
        self.seen = ""

    def take(self, bytes_):
        text = self.decoder.decode(bytes_)
        self.seen += text
        self.rest = self.screen.feed(self.rest + text)

    def listens(self):
        """Waits until the editor reads keys: the terminal takes control characters for itself before."""
        end = time.monotonic() + 20
        while has_libedit() and termios.tcgetattr(self.file)[3] & termios.ICANON and time.monotonic() < end:
            if select.select([self.file], [], [], 0.01)[0]:
                self.take(os.read(self.file, 65536))

    def settles(self):
        """Reads until nothing comes for a while, behind the prompt at the beginning."""
        while select.select([self.file], [], [], 0.4 if self.screen.column else 5)[0]:
            self.take(os.read(self.file, 65536))

    def keys(self, text):
        self.listens()
        os.write(self.file, text.encode())
        self.settles()

    def shows(self, row, text, pens=None, cursor=None):
        """A line of the screen, counted from the cursor's; how its parts are drawn; the cursor's column."""
        at = self.screen.row + row
        report.check(self.screen.line(at) == text, f"the screen shows {self.screen.lines()}, not {text!r} in line {at}")
        report.check(pens is None or self.screen.pens(at) == pens, f"{text!r} is drawn as {self.screen.pens(at)}")
        report.check(cursor is None or self.screen.column == cursor, f"{text!r}: the cursor is in column {self.screen.column}, not {cursor}")

    def types(self, text, until, seconds=20, again=1e9):
        """Types, again after a while where told, and waits for what must be seen then."""
        start, end, next_ = len(self.seen), time.monotonic() + seconds, 0
        while until not in self.seen[start:] and time.monotonic() < end:
            if time.monotonic() >= next_:
                os.write(self.file, text.encode())
                next_ = time.monotonic() + again
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    self.take(os.read(self.file, 65536))
                except OSError:
                    break
        report.check(until in self.seen[start:], f"typed {text!r}: {self.seen[start:]!r} has no {until!r}")

    def ends(self):
        end, again = time.monotonic() + 60, 0
        while time.monotonic() < end:
            if time.monotonic() > again: # a terminal takes Ctrl-D for itself while nobody reads keys: again, until somebody does
                keys = b"\x04" if not again else b"\x03\x04"  # where something is left in the line, Ctrl-C drops it first
                again = time.monotonic() + 3  # the end may take a while, and Ctrl-C then ends it otherwise
                self.swallow(lambda: os.write(self.file, keys))
            done, status = os.waitpid(self.process, os.WNOHANG)
            if done:
                report.check(status == 0, f"the prompt ends with {status}")
                os.close(self.file)
                return
            if select.select([self.file], [], [], 0.05)[0]:
                self.swallow(lambda: os.read(self.file, 65536))
                time.sleep(0.01)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        report.check(False, "Ctrl-D does not end the prompt")

    @staticmethod
    def swallow(call):
        """What a terminal that is gone answers does not matter."""
        try:
            call()
        except OSError:
            pass


@functools.cache
def has_libedit():
    return "libedit" in subprocess.run(["ldd", COMMAND], stdout=subprocess.PIPE, text=True, check=False).stdout


def test_prompt():
    libedit = has_libedit()
    terminal = Terminal()
    terminal.types("", "]help")
    terminal.types("1+2\n", "\r\n3\r\n")
    terminal.types("value←5 ⋄ [1 2\n", "…")
    terminal.types("3 4]\n", "3 4\r\n")
    terminal.types("÷'a'\n", "DOMAIN ERROR")
    terminal.types("]names\n", "value  array")
    terminal.types("]dissect +/÷≢ value\n", "(call (fork (op / +) ÷ ≢) value)")
    terminal.types("]time 1+2\n", "the least of")
    terminal.types("]time\n", "]time EXPRESSION says")
    terminal.types("•csv ⍬\n", "⊂")
    terminal.types("]help ⌽\n", "3 2 1")
    terminal.types("]nonsense\n", "there is no such command")
    terminal.types("]save nowhere/saved.bpl\n", "check the folder")
    terminal.types("]save saved.bpl\n", "]save")
    terminal.types("value←7\n", "value")
    terminal.types("]load saved.bpl\n", "]load")
    terminal.types("value×10\n", "50")
    terminal.types("{∇⍵}1\n", "{∇⍵}1")
    time.sleep(0.2)
    terminal.types("\x03", "INTERRUPT", again=1)
    terminal.types("value×100\n", "500")
    if libedit:
        terminal.listens()
        terminal.types("12\x03", "^C")
        terminal.types("val\t+1\n", "6")
        terminal.listens()
        terminal.types("`iot\t4\n", "0 1 2 3")
        terminal.listens()
        terminal.types("\x10\n", "0 1 2 3") # the line before
    terminal.ends()
    saved = pathlib.Path("saved.bpl").read_text(encoding="utf-8")
    report.check("value←5" in saved and "•" not in saved, f"]save writes {saved!r}")


LITERAL, FUNCTION, OPERATOR, COMMENT, ERROR, PAIR = "36", "32", "35", "90", "31;4", "1;7"


def test_colours():
    """Parts of a line are drawn by what they are; the cursor stands where it must behind wide characters, and in the lines of a statement."""
    if not has_libedit():
        return
    terminal = Terminal(columns=40, rows=12, TERM="xterm")
    terminal.settles()
    terminal.keys("mean←+/ ÷ ≢ ⍝ why")
    terminal.shows(0, "      mean←+/ ÷ ≢ ⍝ why", [("", "mean←"), (FUNCTION, "+"), (OPERATOR, "/"), (FUNCTION, "÷"), (FUNCTION, "≢"), (COMMENT, "⍝ why")], 23)
    terminal.keys("\nmean 2 x×•ucs")
    terminal.shows(0, "      mean 2 x×•ucs", [(FUNCTION, "mean"), (LITERAL, "2"), ("", "x"), (FUNCTION, "×•ucs")], 19)
    terminal.keys("\x03g←{⍶ ⍵} ⋄ mean g")
    terminal.shows(0, "      g←{⍶ ⍵} ⋄ mean g", [("", "g←{"), (FUNCTION, "⍶"), ("", "⍵} ⋄"), (FUNCTION, "mean"), (OPERATOR, "g")])
    terminal.keys("\x031 2) 3+4")
    terminal.shows(0, "      1 2) 3+4", [(LITERAL, "1"), (LITERAL, "2"), (ERROR, ")"), ("", "3+4")])
    terminal.keys("\x03(3←4)+1")
    report.check((ERROR, "3←4") in terminal.screen.pens(terminal.screen.row) or ERROR in str(terminal.screen.pens(terminal.screen.row)),
                 f"a mistake of grouping is drawn as {terminal.screen.pens(terminal.screen.row)}")
    terminal.keys("\x03(1+[2 3]")
    terminal.shows(0, "      (1+[2 3]", [("", "("), (LITERAL, "1"), (FUNCTION, "+"), (PAIR, "["), (LITERAL, "2"), (LITERAL, "3"), (PAIR, "]")])
    terminal.keys("\x03'字' \"x" + "字" * 13 + "👍y\" 字")
    terminal.shows(-1, "      '字' \"x" + "字" * 13, [(LITERAL, "'字'"), (LITERAL, '"x' + "字" * 13)])
    terminal.shows(0, '👍y" 字', [(LITERAL, '👍y"'), ("", "字")], 7)
    terminal.keys("\x1b[D")
    terminal.shows(0, '👍y" 字', None, 5)
    terminal.keys("\x1b[D" * 4)
    terminal.shows(0, '👍y" 字', None, 0)
    terminal.keys("\x1b[D")
    terminal.shows(1, '👍y" 字', None, 37)
    terminal.keys("ab")
    terminal.shows(0, '字👍y" 字', None, 0)
    terminal.keys("\x03]dissect 1+x")
    terminal.shows(0, "      ]dissect 1+x", [(OPERATOR, "]dissect"), (LITERAL, "1"), (FUNCTION, "+"), ("", "x")])
    terminal.keys("\x03")
    terminal.ends()


def test_lines():
    """A statement of several lines is one text: arrows move in it, and it comes back as a whole. Names behind backquotes become glyphs."""
    if not has_libedit():
        return
    terminal = Terminal(columns=40, rows=16, TERM="xterm")
    terminal.settles()
    terminal.keys("f←{\n⍵+1\n}")
    terminal.shows(-1, "⍵+1")
    terminal.keys("\x1b[A⍺×")
    terminal.shows(0, "⍵⍺×+1", None, 3)
    terminal.keys("\x7f\x7f\x1b[F×⍺")
    terminal.shows(0, "⍵+1×⍺", None, 5)
    terminal.keys("\x1b[H\x1b[B\n")
    terminal.types("3 f 2\n", "\r\n5\r\n")
    terminal.keys("\x1b[A\x1b[A")
    terminal.shows(-1, "⍵+1×⍺")
    terminal.keys("\x03`iota 4")
    terminal.shows(0, "      ⍳ 4", [(FUNCTION, "⍳"), (LITERAL, "4")], 9)
    terminal.keys("\x03\"`iota 4\" `plus``each`")
    terminal.shows(0, '      "`iota 4" +¨')
    terminal.types("\x03`iota\n", "\r\n⍳\r\n")
    terminal.listens()
    terminal.types("\x123 f\n\n", "\r\n5\r\n")
    terminal.keys("f←\x1b[5~")
    terminal.shows(-1, "⍵+1×⍺")
    terminal.keys("\x03")
    terminal.ends()


def test_paste():
    """What is pasted is painted once it is there, not anew behind each of its keys."""
    if not has_libedit():
        return
    terminal = Terminal(TERM="xterm")
    terminal.settles()
    before = len(terminal.seen)
    terminal.types("+/" + "1 " * 600 + "\n", "\r\n600\r\n", 60)
    report.check(len(terminal.seen) - before < 200_000, f"{len(terminal.seen) - before} characters are written for a paste of 1200")
    terminal.ends()


def test_no_colours():
    for environment in ({"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}):
        terminal = Terminal(**environment)
        terminal.types("", "]help")
        terminal.types("'字' ≡ (1+2) ⍝ x\n", "$f")
        report.check("\x1b[3" not in terminal.seen and "\x1b[9" not in terminal.seen and "\x1b[0" not in terminal.seen, f"{environment}: {terminal.seen!r}")
        terminal.ends()


def test_interrupts():
    """Ctrl-C wherever it comes keeps the session; what has not begun yet needs another."""
    terminal = Terminal()
    terminal.types("", "]help")
    terminal.types("x←3\n", "x←3")
    os.mkfifo("pipe")
    for waits in ("{∇⍵}1", "⎕", "•load \"pipe\"", "]load pipe", "]time {∇⍵}1", "•delay 60"):
        terminal.types(waits + "\n", waits)
        time.sleep(0.5)
        terminal.types("\x03", "INTERRUPT" if waits != "]load pipe" else "stopped", again=1)
    terminal.types("x×7\n", "21")
    terminal.ends()
    for text in ("{∇⍵}1", "{⌹⍵}⍣1e9⊢¿600 600⍴0", "≢(¿1e7⍴9)⊂¿1e7⍴9", "⎕←1e8⍴1.5"):
        done = subprocess.Popen([COMMAND, "bpl", "-e", text], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(0.5)
        while done.poll() is None:
            done.send_signal(signal.SIGINT)
            time.sleep(1)
        done.communicate(timeout=60)
        report.check(done.returncode == 130, f"{text}, interrupted, ends with {done.returncode}")


def test_commands():
    """]commands in texts, scripts, stdin and requests."""
    report.check("0 1 2" in ran("-e", "]help ⍳").stdout, "]help in a text")
    answers(["-e", "]dissect 1+2\nx←{\n⍵\n}\n]names\nx 3"], "(call 1 + 2)\nx  function\n3\n")
    answers([], "3\n(call - 1)\n", stdin="[1 2\n]\n".replace("[1 2\n]", "1+2") + "]dissect -1\n")
    answers([], "1 2\n", stdin="[1 2\n]\n")
    answers([], "", 1, "nothing is called nonsense", stdin="]help nonsense\n1+2\n")
    answers([], "1\n", 0, stdin="1\n]exit\n2\n")
    answers([], "", 1, "there is no such command", stdin="]nonsense\n")
    answers([], "", 1, "stdin:4:2", stdin="\nx←{⍵\n}\n(÷'a')\n]names\n")
    answers([], "", 1, "stdin:3:2", stdin="x←1\n]save saved2.bpl\n(÷'a')\n")
    answers([], "3\n", stdin="]load saved2.bpl\nx+2\n")
    requests = [{"id": 1, "code": "]dissect 1+2"}, {"id": 2, "code": "]nonsense"}, {"id": 3, "code": "]time {∇⍵}1", "timeout": 0.2}, {"id": 4, "code": "{∇⍵}1", "timeout": 1e-9}]
    done = ran("--worker", stdin="".join(json.dumps(request) + "\n" for request in requests))
    got = [json.loads(line) for line in done.stdout.splitlines()]
    report.check(got[0] == {"wengert": 1, "id": 1, "display": "", "output": "(call 1 + 2)\n", "error": None}, f"worker: {got[0]}")
    report.check([answer["error"]["kind"] for answer in got[1:]] == ["COMMAND", "TIMEOUT", "TIMEOUT"], f"worker: {got[1:]}")


def first_texts(table, macro):
    """The first text of each row of a table of the language."""
    lines = (ROOT / "src" / "bpl" / f"{table}.def").read_text(encoding="utf-8").splitlines()
    found = [re.search(r'"((?:[^"\\]|\\.)*)"', line) for line in lines if line.startswith(macro + "(")]
    return [re.sub(r"\\(.)", r"\1", one.group(1)) for one in found]


def test_all_help():
    """]help of everything, in a script: each is called something, and has an example that runs."""
    words = [*first_texts("glyphs", "GLYPH"), *first_texts("operators", "OPERATOR"), *first_texts("marks", "MARK"), *("•" + name for name in first_texts("system", "SYSTEM"))]
    words += [spelling for signs in first_texts("signs", "SIGN") for spelling in signs.split(" ")] + first_texts("spellings", "SPELLING")
    done = answers([], ran(stdin="".join(f"]help {word}\n" for word in words)).stdout, stdin="".join(f"]help {word}\n" for word in words))
    report.check(" ERROR: " not in done.stdout, f"an example fails: {done.stdout}")
    without = {signs.split(" ")[0] for signs in first_texts("signs", "SIGN")} | set(words[:words.index("←")])
    without -= set(first_texts("examples", "EXAMPLE"))
    report.check(not without, f"]help has no example of {without}")
    answers(["-e", "]help `iota"], ran("-e", "]help ⍳").stdout)
    answers(["-e", "]help"], ran("-e", "]help ").stdout)


def test_help():
    terminal = Terminal()
    terminal.types("]help\n", "]help X")
    terminal.types("]help nonsense\n", "nothing is called nonsense")
    start = len(terminal.seen)
    for glyph in dict.fromkeys(first_texts("examples", "EXAMPLE")):
        terminal.types(f"]help {glyph}\n", f"\n{glyph}")
    terminal.types("1+2\n", "\r\n3\r\n")
    for line in terminal.seen[start:].splitlines():
        report.check(" ERROR: " not in line, f"an example of ]help fails: {line}")
    terminal.ends()


def test_start():
    least = 1e9
    for _ in range(10):
        begin = time.monotonic()
        ran("-e", "1")
        least = min(least, time.monotonic() - begin)
    report.check(least < (1 if cached("WENGERT_SANITIZE") else 0.1), f"starting takes {least:.3f} s")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test()
        os.chdir(ROOT)
    report.finish()


if __name__ == "__main__":
    main()
