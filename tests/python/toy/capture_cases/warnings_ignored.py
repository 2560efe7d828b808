"""Warnings that the filters ignore: what was given before is forgotten for them, if the filters have changed since."""

import types
import warnings

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


SOURCE = """
import warnings

def warned(x):
    warnings.warn("old", DeprecationWarning)
    return x * 2

def warned_twice(x):
    warnings.warn("old", DeprecationWarning)
    warnings.warn("older", DeprecationWarning)
    return x * 2

def warned_and_looked(x):
    warnings.warn("old", DeprecationWarning)
    return x * 2, sorted(map(str, __warningregistry__))

def looked_and_warned(x):
    before = sorted(map(str, __warningregistry__))
    warnings.warn("old", DeprecationWarning)
    return x * 2, before, sorted(map(str, __warningregistry__))

def warned_and_breaks(x):
    warnings.warn("old", DeprecationWarning)
    print("between")
    return x * 2

def warned_and_written(x):
    warnings.warn("old", DeprecationWarning)
    __warningregistry__["new"] = 1
    return x * 2

def warned_at_last(x):
    y = x * 2
    if y.shape[0] > 1:
        warnings.warn("old", DeprecationWarning)
    raise ValueError("raised")
"""


def registry(module):
    """What is written down; the count of changes of the filters is another one in each run."""
    return sorted(str(key) for key in module.__dict__["__warningregistry__"])


def forgets(name):
    def build(translate):
        module = types.ModuleType("warning_module")
        exec(SOURCE, module.__dict__)
        module.__warningregistry__ = {}
        function = translate(getattr(module, name))
        seen = []

        def call(x):
            module.__warningregistry__["given", len(seen)] = True
            try:
                result = function(x)
            except ValueError as error:
                result = str(error)
            seen.append(registry(module))
            return result

        def f(x):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                # The filters have changed, and then they have not.
                return call(x), call(x), call(x)

        return {"f": f, "args": x1, "watch": lambda: seen}

    build.__name__ = f"an_ignored_warning_forgets_{name}"
    return build


open_case(forgets("warned"))
open_case(forgets("warned_twice"))
open_case(forgets("warned_and_looked"))
open_case(forgets("looked_and_warned"))
open_case(forgets("warned_and_breaks"))
open_case(forgets("warned_and_written"))
open_case(forgets("warned_at_last"))


# Both ways are captured, and nothing breaks.
@case(graphs=2, captures=2)
def an_ignored_warning_is_no_break(translate):
    module = types.ModuleType("warning_module")
    exec(SOURCE, module.__dict__)
    module.__warningregistry__ = {}
    function = translate(module.warned)

    def f(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return function(x), function(x)

    return {"f": f, "args": x1, "watch": lambda: registry(module)}
