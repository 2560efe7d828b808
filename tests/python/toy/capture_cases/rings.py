"""Values that contain themselves: made in the captured function, handed out, carried over a break, and changed there."""

import collections

from doors import opaque
from observe import case
from toy_framework import toy

t = toy.tensor
x1 = lambda: (t([1.0]),)  # noqa: E731


class Node:
    pass


def by_list(outer):
    inner = [1, outer]
    return inner, lambda: inner[1]


def by_tuple(outer):
    inner = (outer, 2)
    return inner, lambda: inner[0]


def by_dict(outer):
    inner = {"outer": outer}
    return inner, lambda: inner["outer"]


def by_deque(outer):
    inner = collections.deque([outer], maxlen=4)
    return inner, lambda: inner[0]


def by_attribute(outer):
    inner = Node()
    inner.outer = outer
    return inner, lambda: inner.outer


def by_cell(outer):
    def inner():
        return outer

    return inner, inner


def by_itself(outer):
    return outer, lambda: outer


WAYS = [by_itself, by_list, by_tuple, by_dict, by_deque, by_attribute, by_cell]


def new_list():
    made = []
    return made, made.append


def new_dict():
    made = {"first": 0}
    return made, lambda inner: made.update(inner=inner)


def new_deque():
    made = collections.deque(maxlen=5)
    return made, made.append


def new_ordered():
    made = collections.OrderedDict(a=1)

    def put(inner):
        made["inner"] = inner

    return made, put


def new_counted():
    made = collections.defaultdict(list)
    return made, lambda inner: made["inner"].append(inner)


KINDS = [new_list, new_dict, new_deque, new_ordered, new_counted]


def rings(new, way):
    name = f"ring_of_{new.__name__[4:]}_{way.__name__}"

    def build():
        def f(x):
            outer, put = new()
            inner, back = way(outer)
            put(inner)
            return x * 2.0, outer, inner, back() is outer

        return {"f": f, "args": x1}

    build.__name__ = name
    case()(build)

    def build():
        kept = []

        def f(x):
            outer, put = new()
            inner, back = way(outer)
            put(inner)
            y = x * 2.0
            kept.append(inner)
            opaque(None)
            put(3)
            return y + 1.0, back() is outer, len(outer)

        return {"f": f, "args": x1, "watch": lambda: list(map(type, kept))}

    build.__name__ = name + "_behind_a_break"
    # What is behind the break meets another world each time where it is known by what it holds.
    case(graphs=None, captures=None, breaks=None, reasons=None)(build)


for new in KINDS:
    for way in WAYS:
        rings(new, way)


@case()
def a_ring_of_many():
    def f(x):
        nodes = [{"at": at} for at in range(20)]
        for one, other in zip(nodes, nodes[1:] + nodes[:1]):
            one["next"], other["before"] = other, one
        return x * 2.0, nodes[7], nodes[7]["next"]["before"] is nodes[7]

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("disabled",))
def a_ring_around_tensors():
    def f(x):
        y = x * 2.0
        ring = [y]
        ring.append(ring)
        ring.append({"y": y + 1.0, "ring": ring})
        opaque(None)
        return ring[0] + ring[1][1][2]["y"], ring

    return {"f": f, "args": x1}


@case()
def a_ring_of_keys_that_code_hashes():
    class Key:
        def __init__(self, value):
            self.value = value

        def __hash__(self):
            return hash(self.value)

        def __eq__(self, other):
            return self.value == other.value

    def f(x):
        table = {}
        table[Key(1)] = table
        table[Key(2)] = [table]
        return x * 2.0, list(table.values())[0] is table, table

    return {"f": f, "args": x1}
