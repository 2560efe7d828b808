"""Iterators and operands that stand on the stacks of frames when an exception leaves them: they go from the tops, the innermost frame
first, before the handler runs."""

import itertools

from capture_cases.worlds import GONE
from observe import told_case

WORLD = GONE + """
told = []

class Asked(Loud):
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

OVER = {"objects": "Asked({})", "generators": "counting({})", "made": "Iterates({})", "items": "[Loud({}), 1]"}
RAISES = {
    "raise": "raise ValueError(1)",
    "item": "{}[opaque(0)]",
    "function": "fails(a, b)",
    "unseen": "fails_unseen(a, b)",
    "number": "int(opaque('a'))",
    "operands": "fails(Loud(7), [Loud(8)], opaque(0), k=Loud(9))",
}
INNER = """
def inner(x):
    for a in {one}:
        for b in {two}:
            {before}
            {raises}
"""
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
    "caller": INNER + """
def f(x):
    for a in {three}:
        try:
            for b in {four}:
                inner(x)
        except (ValueError, KeyError, TypeError):
            return x + 1, list(told)
""",
    "callers_finally": INNER + """
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


for (place, text), (over, made), (how, raises), breaks in itertools.product(
    PLACES.items(), OVER.items(), RAISES.items(), (False, True)
):
    if place == "operand" and how == "raise":
        continue
    parts = {name: made.format(number) for number, name in enumerate(("one", "two", "three", "four"), 1)}
    before = "opaque(x)" if breaks else "pass"
    condition = f"[opaque(x), {raises}]" if breaks else raises
    filled = text.format(before=before, raises=raises, condition=condition, **parts)
    told_case(f"left_by_an_exception_{place}_over_{over}_by_{how}{'_behind_a_break' if breaks else ''}", WORLD + filled, alone=True)
