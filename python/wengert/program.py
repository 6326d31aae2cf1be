# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Programs in text, their plans, and sessions that run them."""

import collections
import os

from . import _core
from ._core import array

__all__ = ["Node", "Parameters", "Plan", "Program", "Session"]

Node = collections.namedtuple("Node", "position name op dtype shape required")
Node.__doc__ = (
    "A node of a program: its place, its name or None, its row, its kind and shape, and whether it is an input that every run must feed."
)


class _Entry:
    def __init__(self, program, name):
        self.handle, self.results = _core.network_entry(program._handle, name)
        self.names = [program.nodes[place].name or f"%{place}" for place in self.results]


class Program:
    """A program from its text: a sealed network with its entries.

    >>> p = wg.Program("wengert 1\\ninput x f64 [2]\\ny = x * x\\nentry main: y\\n")
    >>> p.call("main", x=[1.0, 3.0])
    wengert.array([1., 9.])
    """

    def __init__(self, text, name="program"):
        self._handle = _core.network_parse(text, name)
        self.nodes = [Node(*facts) for facts in _core.network_nodes(self._handle)]
        self.inputs = [node for node in self.nodes if node.op == "input"]
        self.parameter_nodes = [node for node in self.nodes if node.op == "parameter"]
        self.entries = _core.network_entries(self._handle)
        self.extents = _core.network_extents(self._handle)
        self._named = {node.name: node for node in self.nodes if node.name}
        self._entries = {}

    @classmethod
    def load(cls, path):
        """The program of a file."""
        with open(path, encoding="utf-8") as file:
            return cls(file.read(), os.fspath(path))

    def __str__(self):
        return _core.network_text(self._handle)

    def __repr__(self):
        return f"<wengert.Program of {len(self.nodes)} nodes, entries {', '.join(self.entries) or 'none'}>"

    def describe(self):
        """The nodes, one a line."""
        return _core.network_describe(self._handle)

    def identity(self):
        """SHA-256 of the canonical text."""
        return _core.network_identity(self._handle)

    def _entry(self, name):
        name = self._one(name)
        if name not in self._entries:
            self._entries[name] = _Entry(self, name)
        return self._entries[name]

    def _one(self, name):
        if name is None:
            if len(self.entries) != 1:
                raise _core.UnknownName(f"the program has the entries {', '.join(self.entries) or '(none)'}: name one")
            return self.entries[0]
        return name

    def _place(self, what):
        """The position of a node by its name, its number, or as results without a name are called ("%7")."""
        if isinstance(what, Node):
            return what.position
        if isinstance(what, str) and what[:1] == "%" and what[1:].isdigit():
            what = int(what[1:])
        if isinstance(what, int) and 0 <= what < len(self.nodes):
            return what
        if what in self._named:
            return self._named[what].position
        raise _core.UnknownName(
            f"the program has no node {what!r}; its inputs are {', '.join(node.name or str(node.position) for node in self.inputs)}"
        )

    def _parameter(self, what):
        """The position of a parameter."""
        if isinstance(what, str) and what not in self._named and not what.startswith("%"):
            names = ", ".join(node.name or f"%{node.position}" for node in self.parameter_nodes)
            raise _core.UnknownName(f"the program has no parameter {what!r}; its parameters are {names or '(none)'}")
        place = self._place(what)
        if self.nodes[place].op != "parameter":
            raise _core.UnknownName(f"{what!r} is no parameter of the program")
        return place

    def _check_input(self, what):
        place = self._place(what)
        if self.nodes[place].op != "input":
            raise _core.UnknownName(f"{what!r} is no input of the program")
        return place

    def parameters(self):
        """The initial parameters, as a table that can be changed."""
        return Parameters(self)

    def plan(self, entry=None, **extents):
        """The plan of an entry, extents bound."""
        return Plan(self, entry, extents)

    def call(self, entry=None, parameters=None, **inputs):
        """An entry as a function of arrays: it waits, has derivatives, can be mapped and compiled. parameters: a table
        (without one the initial ones). Answers one array, or a tuple in the order of the entry's results."""
        chosen = self._entry(entry)
        given = {self._check_input(name): value for name, value in inputs.items()}
        arrays = [None if node.position not in given else array(given[node.position], node.dtype) for node in self.inputs]
        results = _core.entry_call(chosen.handle, None if parameters is None else parameters._handle, arrays, len(chosen.results))
        return results[0] if len(results) == 1 else tuple(results)


class Parameters:
    """The parameters of a program by name, as a table: table[name], table[name] = items."""

    def __init__(self, program, _handle=None):
        self.program = program
        self._handle = _core.parameters_new(program._handle) if _handle is None else _handle

    def __iter__(self):
        return iter([node.name or f"%{node.position}" for node in self.program.parameter_nodes])

    def __len__(self):
        return len(self.program.parameter_nodes)

    def keys(self):
        return list(self)

    def items(self):
        return [(name, self[name]) for name in self]

    def __getitem__(self, name):
        return _core.parameters_get(self._handle, self.program._handle, self.program._parameter(name))

    def __setitem__(self, name, items):
        _core.parameters_set(self._handle, self.program._handle, self.program._parameter(name), items)

    def copy(self):
        """A table of its own."""
        return Parameters(self.program, _core.parameters_copy(self._handle))

    def __repr__(self):
        return f"<wengert.Parameters {', '.join(self) or 'none'}>"


class Plan:
    """The schedule of an entry: what is computed, in which order and memory. It holds no items, and threads may share it."""

    def __init__(self, program, entry=None, extents=None):
        self.program, self._entry = program, program._entry(entry)
        self._handle = _core.plan_new(self._entry.handle, extents or {})
        self.results = tuple(self._entry.names)

    def describe(self):
        """The scheduled nodes with their liveness."""
        return _core.plan_describe(self._handle)

    def report(self):
        """Elections, stages and layout, as `wengert plan` prints them."""
        return _core.plan_report(self._handle)

    __str__ = report

    def figures(self):
        """Counts and bytes, a dict."""
        return _core.plan_figures(self._handle)

    def patterns(self):
        """What the catalogue matched, a dict a row."""
        return _core.plan_patterns(self._handle)

    def session(self):
        """A place to run it."""
        return Session(self)


class Session:
    """Where a plan runs: its memory and its carried values. One thread at a time; sessions of one plan run side by side.

    >>> p = wg.Program("wengert 1\\ninput x f64 [2]\\ny = x * x\\nentry main: y\\n")
    >>> p.plan().session().run(x=[1.0, 3.0])
    {'y': wengert.array([1., 9.])}
    """

    def __init__(self, plan):
        self.plan, self.program = plan, plan.program
        self._handle = _core.session_new(plan._handle)

    def bind(self, **extents):
        """Binds named extents for the next runs."""
        _core.session_bind(self._handle, extents)
        return self

    def run(self, parameters=None, **feeds):
        """One run: a dict of results by name. Ctrl-C stops it, and carried values stay as before."""
        given = [(self.program._check_input(name), items) for name, items in feeds.items()]
        _core.session_run(self._handle, self.program._handle, None if parameters is None else parameters._handle, given)
        entry = self.plan._entry
        return {
            name: _core.session_take(self._handle, self.program._handle, place, False) for name, place in zip(entry.names, entry.results)
        }

    def carried(self, name):
        """The carried value of an input, as the next run will read it."""
        return _core.session_take(self._handle, self.program._handle, self.program._place(name), True)

    def carry(self, name, items):
        """Replaces a carried value."""
        _core.session_carry(self._handle, self.program._handle, self.program._place(name), items)

    def reset(self):
        """Forgets carried values."""
        _core.session_reset(self._handle)

    def stop(self):
        """From any thread: the run under way fails with Cancelled."""
        _core.session_stop(self._handle)
