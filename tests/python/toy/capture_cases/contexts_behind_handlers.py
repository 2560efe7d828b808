"""Exceptions that leave frames behind a handler in which an end was told: their context is what plain Python sets, whatever finalizers
have been told since."""

import itertools

from capture_cases.worlds import LOUD, WITHIN
from observe import open_case, world_of
from toy_framework import toy

t = toy.tensor

WORLD = """
import sys

told = []
TABLE = {}
COUNT = 0

def risky(n):
    if n:
        raise ValueError(n)
    return n

opaque = toy.disable(lambda *given: None)
"""

PROGRAM = """
def below(x, held):
    global COUNT
    FIRST
    WITH
        try:
            RAISED
        except Exception as error:
            ENDS
        LEAVES

def f(x, held):
    try:
        below(x, held)
    except Exception as error:
        return type(error), type(error.__context__), error.__suppress_context__, x + 1
    return x + 1
"""

FIRST = {"behind_a_break": "opaque(x)", "at_once": "pass", "behind_two": "opaque(x); opaque(held)"}
WITH = {"within": "with Within(OSError):", "plainly": "if x is not None:"}
RAISED = {"an_end": "next(iter([]))", "a_number": "int('p')", "below": "risky(2)", "said": "raise KeyError(Loud('argument'))"}
ENDS = {
    "counts": "COUNT += 100",
    "lets_go": "held = None",
    "stores": "TABLE['a'] = held; held = None",
    "takes_away": "TABLE['a'] = 3; TABLE.pop('a')",
    "drops": "made = Loud('made'); made = None",
    "keeps": "TABLE['error'] = error",
}
LEAVES = {
    "a_key": "TABLE['none']",
    "unbound": "del held; held",
    "raised": "raise RuntimeError(3)",
    "raised_below": "risky(5)",
    "from_none": "raise RuntimeError(3) from None",
    "an_index": "[][1]",
}


def leaving(name, parts):
    def build():
        text = PROGRAM
        for line, code in zip(("FIRST", "WITH", "RAISED", "ENDS", "LEAVES"), parts):
            indent = {"FIRST": "    ", "WITH": "", "RAISED": "            ", "ENDS": "            ", "LEAVES": "        "}[line]
            text = text.replace(line, code.replace("; ", "\n" + indent))
        world = world_of(name, WORLD + LOUD + WITHIN + text)
        return {
            "f": world["f"],
            "args": lambda: (t([1.0, 2.0]), world["Loud"]("given")),
            "watch": lambda: [(str(entry), entry.__class__) for entry in world["told"]],
        }

    build.__name__ = name
    open_case(build)


for parts in itertools.product(FIRST.items(), WITH.items(), RAISED.items(), ENDS.items(), LEAVES.items()):
    names, codes = zip(*parts)
    leaving("context_%s_%s_%s_%s_%s" % names, codes)
