"""A snippet of the literate suite, and its runs.

A snippet is a Python module. It names what is called and how:

| name | meaning | if absent |
|---|---|---|
| `f` | the function to capture | `make()` |
| `make()` | gives what is captured, such as a layer | `f` |
| `args(i)` or `args()` | positional arguments of call `i`; a dict in last place under `KW(...)` gives keyword arguments | no arguments |
| `call(f, i)` | makes call `i` its own way; its result is what is compared | `f(*args(i))` |
| `calls` | how many calls are made | 3 |

`to_static`, `explain` and `disable` are at hand: the translator's when captured, harmless stand-ins when eager. Each run executes the
snippet anew, in a module called `snippet`, with the same seeds.
"""

import inspect
import linecache
import random
import sys
import types

import numpy as np
import paddle
import sot
from observe import observe

STAND_INS = {"to_static", "disable", "KW", "captured"}


class KW(dict):
    """Keyword arguments in the last place of `args`."""


class Run:
    """One execution of a snippet: `translate` is applied to what it names."""

    def __init__(self, source, file, translate, captured):
        self.file = file
        self.module = types.ModuleType("snippet")
        self.module.__file__ = file
        names = self.module.__dict__
        names["KW"] = KW
        names["captured"] = captured
        names["to_static"] = sot.to_static if captured else (lambda function=None, **_: function or (lambda g: g))
        names["disable"] = sot.disable if captured else (lambda function: function)
        linecache.cache[file] = len(source), None, source.splitlines(True), file
        self.execute(source, names)
        made = names["make"]() if "make" in names else names["f"]
        self.target = made
        self.callee = translate(made)

    def execute(self, source, names):
        paddle.seed(2024)
        np.random.seed(2024)
        random.seed(2024)
        outer = sys.modules.get("snippet")
        sys.modules["snippet"] = self.module
        try:
            exec(compile(source, self.file, "exec", dont_inherit=True), names)
        finally:
            if outer is not None:
                sys.modules["snippet"] = outer

    @property
    def count(self):
        return getattr(self.module, "calls", 3)

    def arguments(self, i):
        make = getattr(self.module, "args", tuple)
        values = make(i) if make is not tuple and inspect.signature(make).parameters else make()
        values = tuple(values)
        if values and type(values[-1]) is KW:
            return values[:-1], dict(values[-1])
        return values, {}

    def observe(self, i):
        call = getattr(self.module, "call", None)
        args, kwargs = ((), {}) if call else self.arguments(i)

        def make_call():
            return call(self.callee, i) if call else self.callee(*args, **kwargs)

        def roots():
            own = {
                name: value
                for name, value in vars(self.module).items()
                if not name.startswith("__") and name not in STAND_INS and name not in ("args", "call", "make", "calls")
            }
            target = {} if callable(self.target) and not isinstance(self.target, paddle.nn.Layer) else {"target": self.target}
            return {"args": args, "kwargs": kwargs, **target, **own}

        return observe(make_call, roots, self.file)


def restore():
    """What a snippet may have changed for the whole process."""
    paddle.set_default_dtype("float32")
    paddle.set_grad_enabled(True)
    paddle.set_device("cpu")


def run(source, file, translate, captured):
    """All calls of one run."""
    with paddle.utils.unique_name.guard():
        try:
            this = Run(source, file, translate, captured)
            return [this.observe(i) for i in range(this.count)]
        finally:
            restore()
