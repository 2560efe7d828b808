"""Running a function and writing down everything that its caller can see."""

import contextlib
import gc
import inspect
import io
import sys
import traceback
import types
import warnings

from doors import opaque
from toy_framework import toy


def freeze(value, seen=None):
    """A comparable picture of a value: contents, types, order, and which parts are one object."""
    seen = {} if seen is None else seen
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, range, frozenset)):
        return (type(value).__name__, repr(value))
    if id(value) in seen:
        return ("same as", seen[id(value)])
    seen[id(value)] = len(seen)
    name = type(value).__name__
    if isinstance(value, toy.Tensor):
        return (name, value.shape, str(value.dtype), value.requires_grad, repr(value.tolist()))
    if isinstance(value, (list, tuple)):
        return (name, [freeze(v, seen) for v in value])
    if isinstance(value, set):
        members = list(map(repr, value))
        # Where addresses decide, the order is another one each time.
        by_value = all(isinstance(member, (type(None), bool, int, float, str, bytes)) for member in value)
        return (name, members if by_value else sorted(members), sys.getsizeof(value))
    if isinstance(value, bytearray):
        return (name, sorted(map(repr, value)))
    if isinstance(value, (dict, types.MappingProxyType)):
        return (name, [(freeze(k, seen), freeze(v, seen)) for k, v in value.items()])
    if isinstance(value, (type(freeze), type, type(len), type(toy))):
        return (name, getattr(value, "__qualname__", value.__name__))
    if name == "ndarray":
        return (name, str(value.dtype), value.shape, repr(value.tolist()), value.flags.writeable)
    if type(value).__module__ in ("numpy", "datetime"):
        # Scalars, types of items, dates: values of C.
        return (name, repr(value))
    if name in ("StringIO", "BytesIO") and not value.closed:
        return (name, value.getvalue(), value.tell())
    state = dict(getattr(value, "__dict__", {}))
    for slot in getattr(type(value), "__slots__", ()):
        if hasattr(value, slot):
            state[slot] = getattr(value, slot)
    return (name, [(k, freeze(v, seen)) for k, v in state.items()])


class Observed:
    """What one call came to. `seen` is what is compared."""

    def __init__(self, function, args, kwargs, watched):
        out = io.StringIO()
        result = raised = None
        with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                raised = error
        told = [(one.category.__name__, str(one.message), one.filename, one.lineno) for one in caught]
        self.result, self.raised = result, raised
        # Identity is kept across all parts: a result that is an argument must be that argument.
        values = freeze([result, list(args), kwargs, watched()])
        self.seen = {"values": values, "stdout": out.getvalue(), "warnings": told, "raised": None}
        if raised is not None:
            frames = [(f.name, f.lineno) for f in traceback.extract_tb(raised.__traceback__) if "cases" in f.filename]
            context = type(raised.__context__).__name__ if raised.__context__ else None
            self.seen["raised"] = (type(raised).__name__, str(raised), [line for _, line in frames[-1:]], context)


class Case:
    """A function under test.

    `build` makes a fresh world: a dict of the function `f`, and optionally a maker of its arguments (fresh for each
    call), of its keyword arguments, and a reader of state outside of it. If `build` takes an argument, that is what
    translates, and `f` itself is called as it is.
    """

    def __init__(self, build, expect):
        self.build, self.expect, self.name = build, expect, build.__name__

    def observe(self, translate, times):
        inner = bool(inspect.signature(self.build).parameters)
        world = self.build(translate) if inner else self.build()
        function = world["f"] if inner else translate(world["f"])
        args, kwargs, watch = (world.get(part, tuple) for part in ("args", "kwargs", "watch"))
        return [Observed(function, args(), dict(kwargs()), watch).seen for _ in range(times)]


def world_of(name, source):
    """The globals of a case that is written as text, run."""
    world = {"toy": toy, "opaque": opaque, "__name__": name}
    exec(compile(source, f"<capture_cases of {name}>", "exec"), world)
    return world


def told_case(name, source, alone=False):
    """Register a case of `f(x)`, written as text, that tells its list `told` what happens. `alone`: what the collector finds of earlier
    calls is left out, as of exceptions that nobody handles, which the observer keeps in a cycle."""

    def build():
        world = world_of(name, source)
        told = world["told"]

        def args():
            if alone:
                gc.disable()
                told.clear()
            return (toy.tensor([1.0, 2.0]),)

        def watch():
            seen = [str(entry) for entry in told]
            if alone:
                gc.enable()
            return seen

        return {"f": world["f"], "args": args, "watch": watch}

    build.__name__ = name
    open_case(build)


def called_between(name, world, body, between, names, seen):
    """The builder of a case of `f(x, n)`, written as text: `between` is run before each call, and may bind these names of `world` anew;
    `seen` tells what is compared beside the result. What was `told` is told once."""

    def lines(text):
        return "".join(f"    {line}\n" for line in text.split("\n"))

    globals_of = f"    global {names}\n    n = next(calls)\n"
    source = f"{world}\ndef f(x, n):\n{lines(body)}\ndef args():\n{globals_of}{lines(between)}    return n\n"

    def build():
        made = world_of(name, source)

        def watch():
            told = list(made["told"])
            made["told"].clear()
            return *seen(made), told

        return {"f": made["f"], "args": lambda: (toy.tensor([1.0, 2.0]), made["args"]()), "watch": watch}

    build.__name__ = name
    return build


CASES = []


def case(graphs=1, captures=1, breaks=0, fallbacks=0, reasons=()):
    """Register a case, with the decisions that three captured calls come to; `None` leaves one open.

    The default is the best that can be: one capture, one graph, no break, and two hits.
    """
    expect = {"graphs": graphs, "captures": captures, "breaks": breaks, "fallbacks": fallbacks, "reasons": reasons}

    def register(build):
        CASES.append(Case(build, {name: value for name, value in expect.items() if value is not None}))
        return build

    return register


def open_case(build):
    """Register a case that leaves its decisions open."""
    return case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)
