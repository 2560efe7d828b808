"""Ordered dicts, and what extends them, from which keys were taken and that get others: the table grows, or does not."""

from collections import OrderedDict

from observe import case
from toy_framework import toy

t = toy.tensor
LOG = []


class Key:
    def __init__(self, number, alike):
        self.number, self.alike = number, alike

    def __hash__(self):
        LOG.append(("hash", self.number))
        return self.number % self.alike

    def __eq__(self, other):
        LOG.append(("equal", self.number, other.number))
        return self.number == other.number


class Extended(OrderedDict):
    pass


def emptied(table, key):
    for held in list(table):
        table.pop(held)
    for number in range(4):
        table[key(number)] = number


def taken_from_the_end(table, key):
    for last in (True, False, True):
        held, value = table.popitem(last=last)
        table[held] = value + 10


def moved(table, key):
    table.pop(key(1))
    table[key(1)] = 11
    table.move_to_end(key(0))
    table.setdefault(key(2), 12)
    table.setdefault(key(7), 17)
    del table[key(7)]


def deleted_and_stored(table, key):
    for number in (0, 1, 2):
        del table[key(number)]
        table[key(number + 20)] = number
        table[key(number)] = -number


def filled(table, key):
    for number in range(12):
        table[key(number)] = number
    table.update({key(3): 33, key(30): 30})


def rewritten(name, change, cls, alike, before):
    def build():
        def key(number):
            return Key(number, alike)

        table = cls((key(number), number) for number in range(4))

        def f(x):
            LOG.clear()
            own = table if before else cls((key(number), number) for number in range(4))
            change(own, key)
            LOG.append("asked")
            return x + 1.0, [(held.number, value) for held, value in own.items()], list(LOG)

        return {"f": f, "args": lambda: (t([1.0]),), "watch": lambda: [held.number for held in table]}

    build.__name__ = build.__qualname__ = name
    build.__module__ = __name__
    case(graphs=None, breaks=None, captures=None, reasons=None)(build)


for change in (emptied, taken_from_the_end, moved, deleted_and_stored, filled):
    for cls in (OrderedDict, Extended):
        for alike in (2, 100):
            for before in (True, False):
                place = "from_before" if before else "of_the_frame"
                name = f"{cls.__name__.lower()}_{change.__name__}_{alike}_{place}"
                rewritten(name, change, cls, alike, before)
