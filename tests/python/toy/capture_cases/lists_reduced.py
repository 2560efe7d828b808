"""`functools.reduce` and unpacking of lists with methods of their own."""

import functools

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Items(list):
    def total(self):
        return functools.reduce(lambda a, b: a + b, self, 0.0)

    def __add__(self, others):
        return Items([*self, *others])


class Doubling(list):
    def __iter__(self):
        return (value * 2 for value in super().__iter__())


@case()
def reduced_items_made_here():
    def f(x):
        items, more = Items([1.0, 2.0]), Items([3.0])
        return x * items.total() + (items + more).total(), [*items, *more], list(items), functools.reduce(max, items)

    return {"f": f, "args": x1}


@case()
def reduced_items_from_before():
    items = Items([1.0, 2.0])

    def f(x):
        return x * items.total() + (items + Items([x])).total(), [*items, *items], functools.reduce(max, items)

    return {"f": f, "args": x1, "watch": lambda: items}


@case()
def reduced_by_another_iterator():
    kept = Doubling([4.0])

    def f(x):
        items = Doubling([1.0, 2.0])
        total = functools.reduce(lambda a, b: a + b, items)
        return x * total, [*kept, *items], list(kept), functools.reduce(lambda a, b: a * b, kept, x)

    return {"f": f, "args": x1}
