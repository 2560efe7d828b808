"""Containers that hold nothing when a break hands them on, and are filled behind it: they let go of what they hold where the program
lets go of them, however many variables and unfinished calls have them."""

import itertools

from capture_cases.worlds import GONE
from observe import told_case

TEXT = GONE + """
told = []

def each(items):
    opaque(items)
    for item in items:
        yield item

def one_by_one(items):
    opaque(items)
    yield items[0]
    yield items[1]
    yield items[2]

def pairs(items):
    opaque(items)
    for item in items:
        yield item.name, item

def same(items):
    opaque(items)
    return items

def f(x):
    items = [Loud(0), Loud(1), Loud(2)]
    made = MADE
    CHANGED
    LET_GO
    told.append("made is gone")
    items.clear()
    return x + 1, len(told)
"""

LISTS = (
    "list(each(items))",
    "list(one_by_one(items))",
    "list(each(tuple(items)))",
    "[item for item in each(items)]",
    "[item for item in one_by_one(list(items))]",
    "[*each(items)]",
    "list(map(same, items))",
    "sorted(each(items), key=lambda item: item.name)",
)
DICTS = ("dict(pairs(items))", "{name: item for name, item in pairs(items)}", "dict(zip((0, 1, 2), each(items)))")
CHANGED = {
    "list": ("pass", "made.reverse()", "made.sort(key=lambda item: -item.name)", "made[0], made[2] = made[2], made[0]", "made.insert(0, made.pop())"),
    "dict": ("pass", "made[0] = made.pop(0)", "made[0], made[2] = made[2], made[0]"),
}
LET_GO = {"deleted": "del made", "rebound": "made = None", "emptied": "made.clear()"}


def filled(name, made, changed, let_go):
    told_case(name, TEXT.replace("MADE", made).replace("CHANGED", changed).replace("LET_GO", let_go))


for kind, texts in (("list", LISTS), ("dict", DICTS)):
    for (number, made), (way, changed), (end, let_go) in itertools.product(
        enumerate(texts), enumerate(CHANGED[kind]), LET_GO.items()
    ):
        filled(f"a_{kind}_{number}_filled_over_a_break_changed_{way}_and_{end}", made, changed, let_go)

# Of several levels, filled below what is handed on.
NESTED = GONE + """
told = []

class Holds:
    def __init__(self, part):
        self.part = part

def f(x):
    w = MADE
    opaque(w)
    FILLED
    w = None
    told.append("w is gone")
    return x + 1, len(told)
"""
LEVELS = {
    "[[], []]": ("w[0]", "w[1]"),
    "([], [])": ("w[0]", "w[1]"),
    "{'a': [], 'b': []}": ("w['a']", "w['b']"),
    "[Holds([]), Holds([])]": ("w[0].part", "w[1].part"),
    "Holds(Holds([]))": ("w.part.part", "w.part.part"),
    "[[[]], []]": ("w[0][0]", "w[1]"),
}
FILLING = {
    "each": "ONE.append(Loud(0))\n    TWO.append(Loud(1))",
    "the_second": "TWO.append(Loud(1))",
    "backwards": "TWO.append(Loud(1))\n    ONE.append(Loud(0))",
    "with_a_name": "first = ONE\n    first.append(Loud(0))\n    TWO.append(Loud(1))",
    "and_let_go": "first = ONE\n    first.append(Loud(0))\n    first = None\n    told.append('first is none')\n    TWO.extend([Loud(1), Loud(2)])",
    "nested": "ONE.append([Loud(0), Loud(1)])\n    TWO.append((Loud(2),))",
}
for (number, (made, (one, two))), (way, filling) in itertools.product(enumerate(LEVELS.items()), FILLING.items()):
    text = NESTED.replace("MADE", made).replace("FILLED", filling).replace("ONE", one).replace("TWO", two)
    told_case(f"levels_{number}_filled_over_a_break_{way}", text)
