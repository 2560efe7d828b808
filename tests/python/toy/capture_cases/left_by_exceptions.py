"""Iterators and operands that stand on the stacks of frames when an exception leaves them: they go from the tops, the innermost frame
first, before the handler runs."""

import gc
import itertools

from doors import opaque
from observe import open_case, world_of
from toy_framework import toy

t = toy.tensor

WORLD = """
told = []

class Loud:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        told.append(("gone", self.name))
    def __iter__(self):
        return self
    def __next__(self):
        return self.name

def counting(name):
    try:
        yield name
        yield name
    finally:
        told.append(("closed", name))

class Iterates:
    def __init__(self, name):
        self.name = name
    def __iter__(self):
        return counting(self.name)

def fails(*given, **named):
    raise ValueError("fails")

fails_unseen = toy.disable(fails)
"""

OVER = {"objects": "Loud({})", "generators": "counting({})", "made": "Iterates({})", "items": "[Loud({}), 1]"}
RAISES = {
    "raise": "raise ValueError(1)",
    "item": "{}[opaque(0)]",
    "function": "fails(a, b)",
    "unseen": "fails_unseen(a, b)",
    "number": "int(opaque('a'))",
    "operands": "fails(Loud(7), [Loud(8)], opaque(0), k=Loud(9))",
}
PLACES = {
    "nobody": """
def f(x):
    for a in {one}:
        for b in {two}:
            {before}
            {raises}
""",
    "itself": """
def f(x):
    try:
        for a in {one}:
            for b in {two}:
                {before}
                {raises}
    except (ValueError, KeyError, TypeError):
        return x + 1, list(told)
""",
    "caller": """
def inner(x):
    for a in {one}:
        for b in {two}:
            {before}
            {raises}

def f(x):
    for a in {three}:
        try:
            for b in {four}:
                inner(x)
        except (ValueError, KeyError, TypeError):
            return x + 1, list(told)
""",
    "callers_finally": """
def inner(x):
    for a in {one}:
        for b in {two}:
            {before}
            {raises}

def f(x):
    for a in {three}:
        try:
            for b in {four}:
                inner(x)
        finally:
            told.append("finally")
""",
    "operand": """
def f(x):
    return [Loud(3), (Loud(4), opaque(5)), [1 for a in {one} for b in {two} if {condition}]]
""",
}


def left(name, text):
    def build():
        world = world_of(name, WORLD + text)
        world["opaque"] = opaque
        told = world["told"]

        # Who observes keeps an exception that nobody handles in a cycle: what the collector finds later is not of this call.
        def args():
            gc.disable()
            told.clear()
            return (t([1.0, 2.0]),)

        def watch():
            seen = [str(entry) for entry in told]
            gc.enable()
            return seen

        return {"f": world["f"], "args": args, "watch": watch}

    build.__name__ = name
    open_case(build)


for (place, text), (over, made), (how, raises), breaks in itertools.product(
    PLACES.items(), OVER.items(), RAISES.items(), (False, True)
):
    if place == "operand" and how == "raise":
        continue
    parts = {name: made.format(number) for number, name in enumerate(("one", "two", "three", "four"), 1)}
    before = "opaque(x)" if breaks else "pass"
    condition = f"[opaque(x), {raises}]" if breaks else raises
    filled = text.format(before=before, raises=raises, condition=condition, **parts)
    left(f"left_by_an_exception_{place}_over_{over}_by_{how}{'_behind_a_break' if breaks else ''}", filled)
