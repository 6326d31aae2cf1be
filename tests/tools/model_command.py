# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the tests of `wengert model ...` share: small models, a run of the command, and what it must answer."""
import pathlib
import resource
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "house"))
from house import BUILD, Report  # noqa: E402

COMMAND = BUILD / "wengert"
MODELS = ROOT / "tests" / "model" / "data"
TIED = MODELS / "llama" / "tied"
STORIES = MODELS / "stories260K.bin"
report = Report()


def run(*words, stdin=None, full=False):
    """With `full` no file may grow beyond 256 bytes, as on a full disk."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))

    return subprocess.run([str(COMMAND), "model", *map(str, words)], input=stdin, capture_output=True, text=True, errors="replace", timeout=300, preexec_fn=limit if full else None)


def good(*words, stdin=None):
    done = run(*words, stdin=stdin)
    report.check(done.returncode == 0, f"wengert model {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def refused(code, *words, mentions, full=False, text=False):
    """One line on stderr that mentions something; nothing on stdout, but with `text` for what was generated before."""
    done = run(*words, full=full)
    what = f"wengert model {' '.join(map(str, words))}: exit {done.returncode}, stdout {done.stdout[:200]!r}, stderr {done.stderr[:600]!r}, not {mentions!r}"
    report.check(done.returncode == code and (text or not done.stdout) and len(done.stderr.splitlines()) == 1 and mentions in done.stderr, what)
