# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What can be asked of arrays: events of reads, and computing several together."""

import contextlib

from . import _core


def version():
    """The version of the library, as text."""
    return _core.version


def run(*arrays):
    """Computes arrays together, so that shared work is done once; answers them."""
    _core.run(arrays)
    return arrays[0] if len(arrays) == 1 else arrays


def events():
    """What happened since `explain` began, a dict a row: runs, plans, what was stored and why, rewrites, traces, fallbacks."""
    return _core.events()


class _Rows(list):
    """Rows of events; as text they are a table."""

    def __str__(self):
        return self.text

    def __repr__(self):
        return self.text


@contextlib.contextmanager
def explain():
    """Keeps what happens inside as rows, dicts, filled in when it ends.

    >>> with wg.explain() as rows:
    ...     text = str(wg.arange(3.0) + 1)
    >>> [row["what"] for row in rows if row["what"] == "run"]
    ['run']
    """
    rows = _Rows()
    rows.text = ""
    _core.explain(True)
    try:
        yield rows
    finally:
        rows.extend(_core.events())
        rows.text = _core.explained(False)
        _core.explain(False)
