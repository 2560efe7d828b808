"""What the variables of a frame hold that an exception leaves: its traceback holds the frame, whether the program reads them or not.

Generators that wait, objects with finalizers, and containers of them, of all ways to raise, at every depth.
"""

import itertools

from observe import open_case, world_of
from toy_framework import toy

t = toy.tensor

WORLD = """
dead = []

class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        dead.append(self.name)

class Within:
    def __enter__(self):
        return self
    def __exit__(self, kind, error, trace):
        dead.append(kind)

def numbers(n):
    try:
        for i in range(n):
            yield i
    finally:
        dead.append("closed")

def within(n):
    with Within():
        held = Loud("in a generator")
        yield 1
        yield 2

def delegating(n):
    yield from numbers(n)

def missing():
    raise KeyError("missing")

def plain():
    raise KeyError("plain")

def shown(x):
    toy.show(x)
    raise KeyError("shown")

TABLE = {"b": 1}
KEPT = []
plain = toy.disable(plain)
"""

HELD = {
    "waiting": "v = numbers(3); next(v)",
    "waiting_in_a_with": "v = within(3); next(v)",
    "delegating": "v = delegating(3); next(v)",
    "not_started": "v = numbers(3)",
    "two_generators": "v = numbers(3); next(v); w = (k for k in v); next(w)",
    "in_a_list": "v = [numbers(3)]; next(v[0])",
    "objects": "v = Loud('a'); w = Loud('b')",
    "objects_in_a_list": "v = [Loud('a'), Loud('b')]",
    "between_objects": "u = Loud('a'); v = numbers(3); next(v); w = Loud('b')",
}

RAISED = {
    "item": "TABLE['c']",
    "deletion": "del TABLE['c']",
    "call": "missing()",
    "plain_call": "plain()",
    "break_below": "shown(x)",
    "statement": "raise KeyError('mine')",
    "behind_a_break": "toy.show(x); raise KeyError('mine')",
}

FRAMES = {
    "outermost": """
def f(x):
    {held}
    {raised}
    return x
""",
    "below": """
def g(x):
    {held}
    {raised}
    return x
def f(x):
    k = Loud("outer")
    r = g(x)
    return r
""",
    "caught_by_the_caller": """
def g(x):
    {held}
    {raised}
    return x
def f(x):
    k = Loud("outer")
    try:
        r = g(x)
    except KeyError as e:
        dead.append("caught")
        r = 1
    dead.append("after")
    return r
""",
    "raised_again": """
def f(x):
    {held}
    try:
        {raised}
    except KeyError as e:
        dead.append("caught")
        raise
""",
    "raised_anew": """
def f(x):
    {held}
    try:
        {raised}
    except KeyError as e:
        dead.append("caught")
        raise KeyError(1) from None
""",
    "caught": """
def f(x):
    try:
        {held}
        {raised}
    except KeyError as e:
        dead.append("caught")
    dead.append("after")
    return 1
""",
    "kept": """
def g(x):
    {held}
    {raised}
    return x
def f(x):
    try:
        r = g(x)
    except KeyError as e:
        KEPT.append(e)
    dead.append("after")
    toy.show(x)
    KEPT.clear()
    dead.append("cleared")
    return 1
""",
    "through_a_finally": """
def g(x):
    try:
        {held}
        {raised}
    finally:
        dead.append("finally")
def f(x):
    try:
        r = g(x)
    except KeyError as e:
        dead.append("caught")
    dead.append("after")
    return 1
""",
}


def left_by_an_exception(name, source):
    def build(translate):
        world = world_of(name, WORLD + source)
        captured, dead = translate(world["f"]), world["dead"]

        # What nobody handled is gone, and its frames with it, when the caller looks at who has died.
        def call(x):
            try:
                return captured(x)
            except KeyError as error:
                return str(error), len(dead)

        return {"f": call, "args": lambda: (t([1.0, 2.0]),), "watch": lambda: dead}

    build.__name__ = name
    open_case(build)


for (how, held), (why, raised), (where, frames) in itertools.product(HELD.items(), RAISED.items(), FRAMES.items()):
    left_by_an_exception(f"frames_left_{where}_by_{why}_hold_{how}", frames.format(held=held, raised=raised))
