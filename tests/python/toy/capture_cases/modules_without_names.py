"""Modules that were made without `__init__`: up to 3.10 they have no `__dict__`, and nobody may make one by a look."""

from observe import open_case, world_of
from toy_framework import toy

WORLD = """
import sys, types
class Sub(types.ModuleType):
    pass
M = KIND.__new__(KIND)
sys.modules["toy_module_without_names"] = M
"""

ASKED = {
    "read": "M.foo",
    "called": "M.foo()",
    "asked_for_a_name": "got = hasattr(M, 'a'), getattr(M, '__name__', 3)",
    "imported_from": "from toy_module_without_names import foo",
    "imported": "import toy_module_without_names as got; got = type(got)",
    "written": "M.foo = 3",
    "deleted": "del M.foo",
    "compared": "got = M is M, M == M, bool(M), isinstance(M, types.ModuleType)",
}

BODIES = {
    "by_itself": "ASKED",
    "in_a_called_function": "got = called(x)",
    "behind_a_break": "opaque(x)\n        ASKED",
    "in_a_function_that_a_break_calls": "got = refused(x)",
}

FUNCTIONS = """
def called(x):
    got = None
    opaque(x)
    try:
        ASKED
    except (AttributeError, ImportError, TypeError) as error:
        got = type(error), str(error)
    return got
def refused(x):
    return called(x)
toy.disable(refused)
def f(x):
    got = None
    y = x + 1
    try:
        BODY
    except (AttributeError, ImportError, TypeError) as error:
        got = type(error), str(error)
    return got, y * 2, type(M.__dict__)
"""


def without_names(name, kind, asked, body):
    def build():
        text = FUNCTIONS.replace("BODY", body).replace("ASKED", asked)
        world = world_of(name, WORLD.replace("KIND", kind) + text)
        return {"f": world["f"], "args": lambda: (toy.tensor([1.0, 2.0]),), "watch": lambda: sorted(vars(world["M"]) or ())}

    build.__name__ = name
    open_case(build)


for kind, class_of in {"plain": "types.ModuleType", "derived": "Sub"}.items():
    for what, asked in ASKED.items():
        for where, body in BODIES.items():
            without_names(f"{kind}_module_without_names_{what}_{where}", class_of, asked, body)
