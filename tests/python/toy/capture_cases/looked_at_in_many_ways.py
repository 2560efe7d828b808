"""Ways to look at the variables of callers, and ways to be reached by who looks: what is seen is the user's. And functions that only
seem to look: who calls them keeps its capture."""

from observe import case, open_case, world_of
from toy_framework import toy

t = toy.tensor

# How `look` comes to the variables of the frame so many calls up.
LOOKS = {
    "by_level": "return sorted(sys._getframe(DEPTH).f_locals)",
    "by_climbing": """frame = sys._getframe()
    for _ in range(DEPTH):
        frame = frame.f_back
    return sorted(frame.f_locals)""",
    "by_another_name": "return sorted(get(DEPTH).f_locals)",
    "by_an_import": """from sys import _getframe as own
    return sorted(own(DEPTH).f_locals)""",
    "by_currentframe": "return sorted(up(inspect.currentframe(), DEPTH).f_locals)",
    "by_getattr": "return sorted(getattr(sys._getframe(DEPTH), 'f_locals'))",
    "by_getargvalues": "return sorted(inspect.getargvalues(sys._getframe(DEPTH)).locals)",
    "by_a_helper": "return sorted(found(DEPTH).f_locals)",
    "by_handing_on": "return shown(sys._getframe(DEPTH))",
    "by_a_summary": """frames = traceback.walk_stack(sys._getframe(DEPTH))
    return sorted(traceback.StackSummary.extract(frames, capture_locals=True, limit=1)[0].locals)""",
}

WORLD = """
import functools
import inspect
import sys
import traceback

get = sys._getframe

def up(frame, levels):
    for _ in range(levels):
        frame = frame.f_back
    return frame

def found(level):
    return sys._getframe(level + 1)

def shown(frame):
    return sorted(frame.f_locals)

def looking():
    LOOK

def nothing():
    return 0

def run(function=None):
    return function()
toy.disable(run)

look = FIRST
"""

F = """
def f(x):
    w = 5
    BREAK
    y = x + 1
    return EXPRESSION, y
"""

# How `look` is reached: what is defined, what `f` does, and how many calls there are between.
WAYS = {
    "a_function": ("toy.disable(looking)", "look()", 1),
    "a_method": ("class A:\n    def m(self): return look()\ntoy.disable(A.m)\na = A()", "a.m()", 2),
    "a_method_of_its_own": (
        "class A:\n    def m(self): return look()\n    def n(self): return self.m()\ntoy.disable(A.n)\na = A()",
        "a.n()",
        3,
    ),
    "a_part_of_the_receiver": (
        "class A:\n    def m(self): return look()\nclass B:\n    def __init__(self): self.part = A()\n"
        "    def m(self): return self.part.m()\ntoy.disable(B.m)\nb = B()",
        "b.m()",
        3,
    ),
    "a_static_method": ("class A:\n    m = staticmethod(look)\ndef call(): return A.m()\ntoy.disable(call)", "call()", 2),
    "a_class": ("class A:\n    def __init__(self): self.seen = look()\ntoy.disable(A.__init__)", "A().seen", 2),
    "an_instance": ("class A:\n    def __call__(self): return look()\ntoy.disable(A.__call__)\na = A()", "a()", 2),
    "a_partial": ("p = functools.partial(run, look)", "p()", 2),
    "a_wrapper": (
        "def deco(fn):\n    @functools.wraps(fn)\n    def wrapper(): return fn()\n    return toy.disable(wrapper)\n"
        "@deco\ndef wrapped(): return look()",
        "wrapped()",
        3,
    ),
    "a_default": ("def call(function=look): return function()\ntoy.disable(call)", "call()", 2),
    "a_property": ("class A:\n    @property\n    def p(self): return look()\ntoy.disable(A.p.fget)\na = A()", "a.p", 2),
    "an_operator": ("class A:\n    def __add__(self, o): return look()\ntoy.disable(A.__add__)\na = A()", "a + 1", 2),
    "an_item": ("class A:\n    def __getitem__(self, i): return look()\ntoy.disable(A.__getitem__)\na = A()", "a[0]", 2),
    "a_text": ("class A:\n    def __str__(self): return str(look())\ntoy.disable(A.__str__)\na = A()", "f'{a}'", 2),
    "an_iterator": (
        "class A:\n    def __iter__(self): return iter([look()])\ntoy.disable(A.__iter__)\na = A()",
        "[*a]",
        2,
    ),
    "an_argument": ("", "run(look)", 2),
    "a_list": ("def first(them): return them[0]()\ntoy.disable(first)", "first([look])", 2),
    "a_dict": ("def first(them): return them['k']()\ntoy.disable(first)", "first({'k': look})", 2),
    "a_list_of_the_module": ("them = [look]\ndef first(): return them[0]()\ntoy.disable(first)", "first()", 2),
    "a_lambda": ("", "run(lambda: look())", 3),
}


def rewritten(look, way, first, break_):
    defined, expression, depth = WAYS[way]
    world = WORLD.replace("LOOK", LOOKS[look]).replace("DEPTH", str(depth)).replace("FIRST", first)
    return world + defined + F.replace("EXPRESSION", expression).replace("BREAK", break_)


def looking(name, look, way, behind=False, later=False):
    def build():
        first = "nothing" if later else "looking"
        world = world_of(name, rewritten(look, way, first, "toy.show(x)" if behind else ""))
        calls = []

        def args():
            calls.append(None)
            if later and len(calls) == 3:
                world["look"] = world["looking"]
            return (t([1.0, 2.0]),)

        return {"f": world["f"], "args": args}

    build.__name__ = name
    open_case(build)


for look in LOOKS:
    looking(f"looks_at_callers_{look}", look, "a_function")
    looking(f"looks_at_callers_{look}_in_a_method", look, "a_method_of_its_own")

for way in WAYS:
    looking(f"looker_reached_by_{way}", "by_level", way)
    looking(f"looker_reached_behind_a_break_by_{way}", "by_climbing", way, behind=True)

LATER = ["a_function", "a_method", "a_method_of_its_own", "a_class", "a_property", "an_argument", "a_lambda"]
for way in LATER:
    looking(f"looker_bound_later_reached_by_{way}", "by_level", way, later=True)
    looking(f"looker_bound_later_behind_a_break_reached_by_{way}", "by_level", way, behind=True, later=True)


def held(name, source):
    def build():
        world = world_of(name, WORLD.replace("LOOK", LOOKS["by_level"]).replace("DEPTH", "1").replace("FIRST", "looking"))
        exec(source, world)
        return {"f": world["f"], "args": lambda: (t([1.0, 2.0]),)}

    build.__name__ = name
    open_case(build)


held(
    "looker_held_by_an_argument_behind_a_break",
    """
def g(fn, x):
    w = 5
    toy.show(x)
    y = x + 1
    return fn(), y
def f(x):
    return g(look, x)
""",
)
held(
    "looker_held_by_a_closure_behind_a_break",
    """
def made():
    held = look
    def f(x):
        w = 5
        toy.show(x)
        y = x + 1
        return held(), y
    return f
f = made()
""",
)

# Functions that do not look at variables of callers, whatever they say: one break, as of any other.
ORDINARY = {
    "stack_of_a_library": """
class Q:
    @staticmethod
    def stack(xs): return xs
def called(xs):
    try:
        return sum(Q.stack(xs))
    except ValueError as error:
        return shown_of(error.__traceback__)
def shown_of(tb):
    frame = tb.tb_frame
    return sorted(frame.f_locals)
""",
    "variables_of_a_traceback": """
def called(xs):
    try:
        return sum(xs) + sys._getframe(1).f_lineno * 0
    except ValueError as error:
        return sorted(error.__traceback__.tb_frame.f_locals), found(1)
""",
    "what_is_no_variable": """
def called(xs):
    where = sys._getframe(1).f_code.co_name, sys._getframe(1).f_globals["__name__"]
    return len(where), shown_if_asked(None)
def shown_if_asked(frame):
    return frame and frame.f_locals
""",
    "variables_of_its_own": """
def called(xs):
    return helper(xs)
def helper(xs):
    return sorted(sys._getframe(0).f_locals), sorted(sys._getframe(1).f_locals)
""",
    "lookers_that_nobody_calls": """
class A:
    def look(self): return sys._getframe(1).f_locals
    def plain(self, xs): return len(xs)
a = A()
def called(xs):
    return a.plain(xs)
""",
    "a_list_of_things": """
class A:
    def look(self): return sys._getframe(1).f_locals
    def __len__(self): return 2
things = [A(), A()]
def called(xs):
    return [len(thing) for thing in things]
""",
}


def ordinary(name, source):
    def build():
        world = world_of(name, WORLD.replace("LOOK", LOOKS["by_level"]).replace("DEPTH", "1").replace("FIRST", "nothing"))
        exec(source + "\ntoy.disable(called)\ndef f(x):\n    y = x + 1\n    return called([1, 2]), y * 2\n", world)
        return {"f": world["f"], "args": lambda: (t([1.0, 2.0]),)}

    build.__name__ = name
    case(graphs=2, captures=2, breaks=1, reasons=("disabled",))(build)


for name, source in ORDINARY.items():
    ordinary(f"no_looker_{name}", source)


@case(graphs=2, captures=2, breaks=1, reasons=("disabled",))
def functions_made_anew_for_each_call_that_no_looker_calls():
    source = """
def called(xs): return hook(xs)
toy.disable(called)
def f(x):
    y = x + 1
    return called([1, 2]), y * 2
"""
    world = world_of("functions_made_anew", source)

    def args():
        world["hook"] = lambda xs: len(xs)
        return (t([1.0, 2.0]),)

    return {"f": world["f"], "args": args}
