"""Builtins that ask several of their arguments, or refuse one: who is asked first, who is not asked at all, and what is said."""

import itertools
import sys

from observe import case
from toy_framework import toy

t = toy.tensor
LOG = []


class Items:
    def __iter__(self):
        LOG.append("iter")
        return iter((1, 2))

    def __index__(self):
        LOG.append("index")
        return 1

    def __bool__(self):
        LOG.append("bool")
        return True


class Number:
    def __init__(self, number):
        self.number = number

    def __index__(self):
        LOG.append(self.number)
        return self.number


class Refuses:
    def __iter__(self):
        LOG.append("refuses")
        raise KeyError("iter")

    def __bool__(self):
        LOG.append("no truth")
        raise KeyError("bool")


class Text:
    def __format__(self, spec):
        LOG.append(spec)
        return "text"


def told(call):
    try:
        made = call()
        LOG.append((type(made).__name__, list(made) if hasattr(made, "__next__") else made))
    except Exception as error:
        LOG.append((type(error).__name__, str(error)))


ENUMERATED = [
    lambda: enumerate(Items(), "a"),
    lambda: enumerate(Items(), Items()),
    lambda: enumerate(3, Items()),
    lambda: enumerate(Refuses(), "a"),
    lambda: enumerate(Items(), start=Items()),
    lambda: enumerate(Items(), 7),
    lambda: enumerate(Items(), start=7),
    lambda: enumerate(Items(), 1, 2),
    lambda: enumerate(Items(), k=2),
    lambda: enumerate(start=2, iterable=Items()),
]
CUT = [
    lambda: itertools.islice(Items(), "a"),
    lambda: itertools.islice(Items(), Items()),
    lambda: itertools.islice(3, Number(1)),
    lambda: itertools.islice(Items(), Number(1), Number(2), Number(3)),
    lambda: itertools.islice(Items(), -1),
    lambda: itertools.islice(Items(), Number(1), Number(-2), Number(0)),
    lambda: itertools.islice(Items(), 1, 2, 0),
    lambda: itertools.islice(Items(), 1, None, "x"),
    lambda: itertools.islice(Items(), None, None, None),
    lambda: itertools.islice(Items(), 1),
    lambda: itertools.islice(Items(), 0, 2, 1),
    lambda: itertools.islice(Items()),
    lambda: itertools.islice(Refuses(), 1, 2, "a"),
    lambda: itertools.islice(Refuses(), 1, 2, 1),
    lambda: itertools.islice(Items(), 10**30),
    lambda: itertools.islice(Items(), k=1),
]
TOGETHER = [
    lambda: zip(Items(), strict=Items()),
    lambda: zip(Items(), 3, strict=Items()),
    lambda: zip(Items(), 3, strict=Refuses()),
    lambda: zip(Items(), Items(), strict=True),
    lambda: zip(Items(), k=Items()),
    lambda: zip(Items(), Items(), 3),
    lambda: map(3, Items(), 3),
    lambda: filter(None, Items()),
    lambda: itertools.zip_longest(Items(), k=3),
    lambda: itertools.zip_longest(Items(), fillvalue=Items()) and 0,
]
COMBINED = [
    lambda: itertools.combinations(Items(), "a"),
    lambda: itertools.combinations(Items(), Number(-1)),
    lambda: itertools.combinations(Items(), 2),
    lambda: itertools.combinations(Items(), r=1),
    lambda: itertools.combinations_with_replacement(Items(), Number(2)),
    lambda: itertools.permutations(Items(), "a"),
    lambda: itertools.permutations(Items(), -1),
    lambda: itertools.permutations(Items()),
    lambda: itertools.product(Items(), repeat="a"),
    lambda: itertools.product(Items(), repeat=-1),
    lambda: itertools.product(Items(), repeat=2),
    lambda: itertools.product(Items(), k=2),
    lambda: itertools.accumulate(Items(), initial=Items()) and 0,
    lambda: itertools.accumulate(Items(), k=1),
    lambda: itertools.takewhile(Items(), Items(), Items()),
    lambda: itertools.compress(Items(), 3),
    lambda: itertools.cycle(Items(), 3),
    lambda: itertools.starmap(abs, [3]),
    lambda: itertools.starmap(abs, [(3, 4)]),
]


def asks(name, calls):
    def build():
        def f(x):
            LOG.clear()
            for call in calls() if callable(calls) else calls:
                told(call)
            return x + 1.0, list(LOG)

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = build.__qualname__ = name
    build.__module__ = __name__
    case(graphs=None, breaks=None, captures=None, reasons=None)(build)


asks("asked_in_order_by_enumerate", ENUMERATED)
asks("asked_in_order_by_islice", CUT)
asks("asked_in_order_by_zip", TOGETHER)
asks("asked_in_order_by_itertools", COMBINED)

HUGE = 10**30


def indexes(number):
    held = [1, 2]

    def store():
        held[Number(number)] = 3

    def delete():
        del held[Number(number)]

    return [
        lambda: [1][Number(number)],
        lambda: (1, 2)[Number(number)],
        lambda: "ab"[Number(number)],
        lambda: b"ab"[Number(number)],
        lambda: bytearray(b"ab")[Number(number)],
        lambda: range(3)[Number(number)],
        lambda: [1, 2][Number(number) :],
        lambda: range(3)[: Number(number)],
        lambda: hex(Number(number)),
        store,
        delete,
    ]


for name, number in (
    ("one", 1),
    ("a_huge_one", HUGE),
    ("a_huge_one_below", -HUGE),
    ("just_too_much", sys.maxsize + 1),
    ("a_text", "a"),
    ("none", None),
    ("a_float", 1.0),
):
    asks("an_index_that_is_" + name, lambda number=number: indexes(number))


@case(graphs=None, breaks=None, captures=None, reasons=None)
def a_format_that_is_no_text():
    def f(x):
        LOG.clear()
        for spec in (5, None, b"a", ["a"], "a"):
            told(lambda: format(Text(), spec))
        return x + 1.0, list(LOG)

    return {"f": f, "args": lambda: (t([1.0]),)}
