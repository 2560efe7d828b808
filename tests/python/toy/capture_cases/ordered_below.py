"""Moving a key of an ordered dict leaves the dict below in its order: `dict.keys(ordered)` shows it."""

import collections

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0]),)


class Own(collections.OrderedDict):
    pass


class Key:
    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return isinstance(other, Key) and self.name == other.name

    def __repr__(self):
        return self.name


def orders(ordered):
    return list(ordered), list(dict.keys(ordered)), dict.__repr__(ordered), list(reversed(ordered))


def moved(ordered):
    ordered.move_to_end("a")


def moved_to_the_front(ordered):
    ordered.move_to_end("c", last=False)
    ordered["z"] = 3


def put_back(ordered):
    ordered.move_to_end("a")
    del ordered["b"]
    ordered["b"] = 2
    ordered["a"] = 5
    ordered.move_to_end("b", last=False)


def taken(ordered):
    ordered.move_to_end("a")
    ordered["d"] = 4
    ordered.move_to_end("c")
    ordered.popitem(last=False)
    ordered.popitem()


def to_and_fro(ordered):
    ordered.move_to_end("a")
    ordered.move_to_end("a", last=False)


def keys_of_program(ordered):
    key = Key("k")
    ordered[key] = 1
    ordered[Key("l")] = 2
    ordered.move_to_end(key)
    ordered.move_to_end("a")


def ring(ordered):
    ordered["me"] = ordered
    ordered.move_to_end("a")


WAYS = [moved, moved_to_the_front, put_back, taken, to_and_fro, keys_of_program, ring]


def arranged(way, make, name):
    def build():
        def f(x):
            ordered = make(a=1, b=2, c=x)
            way(ordered)
            return x + 1, ordered

        def whole(x):
            y, ordered = f(x)
            return y, [str(order) for order in orders(ordered)]

        # Once the caller looks, and once what runs behind a break.
        return {"f": whole, "args": x1}

    build.__name__ = f"ordered_below_{name}_{way.__name__}"
    build.__module__ = __name__
    case(graphs=None, breaks=None, captures=None, reasons=None)(build)


for way in WAYS:
    arranged(way, collections.OrderedDict, "new")
    arranged(way, Own, "own")


@case(graphs=1, captures=1, breaks=0)
def copied_in_its_own_order():
    def f(x):
        ordered = collections.OrderedDict(a=1, b=2, c=3)
        ordered.move_to_end("a")
        copies = ordered.copy(), collections.OrderedDict(ordered), dict(ordered), Own(ordered)
        return x + 1, copies, list(ordered)

    return {"f": f, "args": x1}
