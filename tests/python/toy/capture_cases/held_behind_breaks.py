"""Who holds a value behind a break: the tuple of a call with a star beside the variable that it was bound to, and the variable of a
generator beside what it was stored in. Its end is seen where the last of them lets go."""

import itertools

from capture_cases.worlds import NUMBERS, WITHIN
from observe import open_case, world_of
from toy_framework import toy

t = toy.tensor

WORLD = """
import sys
import weakref

told = []
TABLE = {}
REFERENCES = []

class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        told.append(("gone", self.name))

class Plain:
    pass

def watched(name):
    made = Plain()
    REFERENCES.append(weakref.ref(made, lambda reference: told.append(("gone", name))))
    return made

def three(*given):
    return 3

three = toy.disable(three)

def with_a_star(func, *args):
    return func(*args)

def with_two_stars(func, *args, **named):
    return func(*args, **named)

def with_a_star_in_a_try(func, *args):
    try:
        return func(*args)
    except ValueError:
        return None

def by_one_more(func, *args):
    return with_a_star(func, *args)

def with_a_list(func, *args):
    given = [*args]
    return func(*given)

def by_itself(func, arg):
    return func(arg)
"""

STARS = """
def low(a):
    BODY

def f(x):
    CALL
    return len(told), x + 1
"""

MADE = {"loud": "Loud('w')", "watched": "watched('w')", "in_a_list": "[Loud('w')]", "twice": "Loud('v'), Loud('w')"}
CALLED = ("with_a_star", "with_two_stars", "with_a_star_in_a_try", "by_one_more", "with_a_list", "by_itself")
BODIES = {
    "a_call": "return three(1)",
    "a_call_that_is_given_it": "return three(a)",
    "a_hash": "return hash(1.5) and three() and 0",
    "two_breaks": "three(1); three(2); return 0",
    "unbound_first": "a = 3; three(1); return 0",
}


def star(name, made, called, body, way):
    def build():
        call = f"{called}(low, {made})"
        text = STARS.replace("BODY", body.replace("; ", "\n    ")).replace("CALL", way.replace("IT", call))
        if made.count("Loud") == 2:
            text = text.replace("def low(a)", "def low(a, b=None)")
        world = world_of(name, WORLD + text)
        return {"f": world["f"], "args": lambda: (t([1.0, 2.0]),), "watch": lambda: list(world["told"])}

    build.__name__ = name
    open_case(build)


for (made, value), called, (body, code) in itertools.product(MADE.items(), CALLED, BODIES.items()):
    if made == "twice" and called == "by_itself":
        continue
    star(f"held_{made}_{called}_behind_{body}", value, called, code, "IT")
    star(f"held_{made}_{called}_behind_{body}_appended", value, called, code, "told.append(IT)")

GENERATORS = """
class Asked:
    def __getattr__(self, name):
        told.append(("asked", name))
        if name.startswith("_"):
            raise AttributeError(name)
        return len(name)

asked = Asked()

def f(x, items):
    waiting = numbers(3)
    FIRST
    BREAK
    TABLE["it"] = waiting
    STORED
    LAST
    return x + 1
"""

FIRST = {"begun": "next(waiting)", "new": "pass", "advanced": "next(waiting); next(waiting)"}
BREAKS = {"a_call": "opaque(x)", "a_number": "items[0] = int(x.sum() > 0)", "none": "pass", "two": "opaque(x); opaque(items)"}
STORED = {
    "replaced": "TABLE['it'] = 3",
    "deleted": "del TABLE['it']",
    "popped": "TABLE.pop('it')",
    "replaced_by_another": "other = (a * 2 for a in range(3)); TABLE['it'] = other",
    "cleared": "TABLE.clear()",
    "unbound": "del waiting; TABLE['it'] = 3",
}
LAST = {"asked": "asked.nothing", "told": "told.append('last')", "a_break": "opaque(x); told.append('last')"}


def generator(name, first, broken, stored, last):
    def build():
        lines = {"FIRST": first, "BREAK": broken, "STORED": stored, "LAST": last}
        text = GENERATORS
        for line, code in lines.items():
            text = text.replace(line, code.replace("; ", "\n    "))
        world = world_of(name, WORLD + NUMBERS + text)
        return {"f": world["f"], "args": lambda: (t([1.0, 2.0]), [1, 2]), "watch": lambda: list(world["told"])}

    build.__name__ = name
    open_case(build)


for parts in itertools.product(FIRST.items(), BREAKS.items(), STORED.items(), LAST.items()):
    names, codes = zip(*parts)
    generator("generator_held_%s_behind_%s_%s_then_%s" % names, *codes)

LEFT = """
import contextlib

def f(x, items):
    waiting = numbers(3)
    next(waiting)
    BLOCK
        BREAK
        ITEM
    LAST

def g(x, items):
    try:
        return f(x, items)
    except LookupError as error:
        told.append("left")
        return x * 2
"""

BLOCKS = {
    "suppress": "with contextlib.suppress(ValueError, LookupError):",
    "within": "with Within(LookupError):",
    "within_another": "with Within(OSError):",
    "nothing": "if x is not None:",
    "loop": "for _ in range(2):",
}
INSIDE = {"a_call": "opaque(x)", "a_length": "len(bytearray(b'abc'))", "none": "pass"}
ITEMS = {"raises": "items[9]", "raises_behind_a_call": "items[three(x)]", "goes_on": "items[0]"}
ENDS = {"falls": "pass", "returns": "return x + 1", "tells": "told.append('last'); return x + 1"}


def left(name, block, broken, item, last):
    def build():
        text = LEFT
        for line, code in {"BLOCK": block, "BREAK": broken, "ITEM": item, "LAST": last}.items():
            text = text.replace(line, code.replace("; ", "\n    "))
        world = world_of(name, WORLD + NUMBERS + WITHIN + text)
        return {"f": world["g"], "args": lambda: (t([1.0, 2.0]), [1, 2]), "watch": lambda: [str(entry) for entry in world["told"]]}

    build.__name__ = name
    open_case(build)


for parts in itertools.product(BLOCKS.items(), INSIDE.items(), ITEMS.items(), ENDS.items()):
    names, codes = zip(*parts)
    left("generator_left_in_%s_behind_%s_%s_and_%s" % names, *codes)
