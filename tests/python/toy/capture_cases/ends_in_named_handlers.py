"""Values that end while an exception is handled that ends itself, in a loop and over a break: each exception is there for as long as
somebody is told it, and what stays for that is told its own."""

import itertools

from capture_cases.worlds import LOUD
from observe import case, world_of
from toy_framework import toy

t = toy.tensor

WORLD = """
import sys

told = []

class NoLength:
    def __len__(self):
        return -1

class Owner:
    def __init__(self):
        self.part = {str: "part"}
    def binds(self):
        part = self.part
        return 3
    def gives(self):
        part = self.part
        return part
    def binds_below(self):
        self.binds()
        return self.gives()

def kept(part):
    return len(part)
"""

LOOP = """
class Walker:
    def go(self, x, owner):
        for value in ["text", -1, 1 << 32]:
            class Local:
                def __len__(self):
                    return value
            try:
                OUTER
            except Exception as first:
                try:
                    INNER
                except Exception as second:
                    ENDS
        return x + 1

walker = Walker()
walker.owner = Owner()

def f(x):
    return walker.go(x, walker.owner)
"""

ENDS = {
    "bound_anew": "part = owner.part; part = 3",
    "deleted": "part = owner.part; del part",
    "bound_in_a_call": "owner.binds()",
    "given_by_a_call": "owner.gives()",
    "bound_by_a_call": "part = owner.gives()",
    "below_a_call": "owner.binds_below()",
    "handed_to_a_call": "kept(owner.part)",
    "loud": "part = Loud('part'); part = 3",
    "loud_in_a_list": "part = [Loud('a'), owner.part]; del part",
    "an_exception": "part = second; part = first; part = 3",
    "kept_over_the_round": "part = [owner.part, value]",
}

RAISED = {
    "length": "bool(LENGTHS())",
    "number": "int('p')",
    "raised": "raise ValueError(2)",
    "raised_loud": "raise ValueError(Loud('argument'))",
}

INNER = {"length": "len(LENGTHS())", "raised_from": "raise KeyError(1) from first", "length_behind_a_value": "held = Loud('held'); len(LENGTHS())",
}


def ending(name, ends, outer, inner, lengths):
    def build():
        text = LOOP.replace("OUTER", outer).replace("INNER", inner).replace("ENDS", ends).replace("LENGTHS", lengths)
        world = world_of(name, WORLD + LOUD + text)
        return {"f": world["f"], "args": lambda: (t([1.0, 2.0]),), "watch": lambda: list(world["told"])}

    build.__name__ = name
    case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)(build)


for (ends, first), (outer, second), (inner, third) in itertools.product(ENDS.items(), RAISED.items(), INNER.items()):
    for lengths in ("Local", "NoLength"):
        ending(f"ends_in_named_handlers_{ends}_{outer}_{inner}_{lengths}", first, second, third, lengths)
