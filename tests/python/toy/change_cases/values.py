"""Plain values, containers, and tensors: equal is not the same, and the same is not unchanged."""

import collections
import math
import types

from changing import change
from toy_framework import toy

t = toy.tensor


def swaps(*values):
    """One case for each neighbouring pair of values that a program can tell apart."""
    for old, new in list(zip(values, values[1:])) + [(values[-1], values[0])]:

        def build(old=old, new=new):
            held = [old]

            def f(x):
                value = held[0]
                return x * 2, value, repr(value), type(value).__name__, value == old

            return f, lambda: held.__setitem__(0, new)

        build.__name__ = f"value_{old!r}_and_{new!r}".replace(" ", "")
        change(build)


class Text(str):
    pass


class Number(int):
    pass


swaps(1, True, 1.0, 1 + 0j, Number(1))
swaps(0.0, -0.0, 0, False, 0j, -0j, complex(0.0, -0.0))
swaps(float("nan"), float("inf"), -float("inf"))
swaps("a", Text("a"), b"a", ("a",))
swaps((1, 2), (1, 2.0), (1, True), [1, 2])
swaps(range(0, 3, 2), range(0, 4, 2), range(3))
swaps(frozenset([1]), frozenset([True]), frozenset([1.0]))
swaps(slice(0, 1), slice(0, True), slice(0, 1, None), slice(1))
swaps({"a": 1}, {"a": True}, {"a": 1.0})
swaps({1: "a"}, {True: "a"}, {1.0: "a"})
swaps(None, (), [], {}, "", Ellipsis, NotImplemented)
swaps(2**62, 2**63, 2**64, -(2**63))


@change
def stop_of_a_range():
    held = [range(0, 3, 2)]

    def f(x):
        return x * held[0].stop, len(held[0])

    return f, lambda: held.__setitem__(0, range(0, 4, 2))


@change
def key_of_equal_value():
    table = {1: "a", "k": 2}

    def f(x):
        return x, [type(key).__name__ for key in table], table[1]

    def go():
        table.clear()
        table.update({True: "a", "k": 2})

    return f, go


@change
def order_of_keys():
    table = {"a": 1, "b": 2}

    def f(x):
        return x, list(table.items())

    def go():
        table["a"] = table.pop("a")

    return f, go


@change
def order_of_an_ordered_dict():
    table = collections.OrderedDict(a=1, b=2)

    def f(x):
        return x, list(table.items()), table["a"]

    return f, lambda: table.move_to_end("a")


@change
def item_by_item():
    items = [1, [2, {"k": (3, [4])}]]

    def f(x):
        return x * items[1][1]["k"][1][0]

    return f, lambda: items[1][1]["k"][1].__setitem__(0, 9)


@change
def two_names_become_two_lists():
    one = [1]
    held = types.SimpleNamespace(a=one, b=one)

    def f(x):
        held.a.append(1)
        return x * len(held.b)

    return f, lambda: setattr(held, "b", [1])


@change
def two_lists_become_one():
    held = types.SimpleNamespace(a=[1], b=[1])

    def f(x):
        held.a.append(1)
        held.a.pop()
        held.a.append(2)
        return x * len(held.b)

    return f, lambda: setattr(held, "b", held.a)


@change
def shape_of_a_tensor():
    held = [t([1.0])]

    def f(x):
        return held[0] * 2, held[0].shape

    return f, lambda: held.__setitem__(0, t([1.0, 2.0]))


@change
def element_type_of_a_tensor():
    held = [t([1.0])]

    def f(x):
        return x + held[0], str(held[0].dtype)

    return f, lambda: held.__setitem__(0, t([1]))


@change
def gradient_of_a_tensor():
    held = [t([1.0])]

    def f(x):
        y = x + held[0]
        return y, y.requires_grad

    return f, lambda: setattr(held[0], "requires_grad", True)


@change
def subclass_of_a_tensor():
    held = [t([1.0])]

    def f(x):
        return x + held[0], type(held[0]).__name__

    return f, lambda: held.__setitem__(0, 3.0)


@change
def tensors_become_one():
    held = [t([1.0]), t([1.0])]

    def f(x):
        return x + held[0], held[0] is held[1]

    return f, lambda: held.__setitem__(1, held[0])


def other_nan(name, ask):
    """A NaN is one with itself only: containers ask who it is before they ask whether it is equal."""

    def build():
        held = [math.nan, (math.nan, 1), {1: math.nan}]

        def f(x):
            return x * 2, ask(*held)

        def other():
            n = float("nan")
            held[:] = [n, (n, 1), {1: n}]

        return f, other

    build.__name__ = f"who_a_nan_is_{name}"
    change(build)


other_nan("in_lists", lambda n, t, d: (math.nan in [n], [n].count(math.nan), n in [1, math.nan], [1, n].index(n)))
other_nan("of_equal_lists", lambda n, t, d: ([n] == [math.nan], [n, 2] > [math.nan, 1], [[n]] != [[math.nan]]))
other_nan("of_equal_tuples", lambda n, t, d: (t == (math.nan, 1), t <= (math.nan, 2), (t,) == ((math.nan, 1),)))
other_nan("of_equal_dicts", lambda n, t, d: (d == {1: math.nan}, {"a": n} != {"a": math.nan}))
other_nan("in_values", lambda n, t, d: (math.nan in d.values(), (1, math.nan) in list(d.items()), t in [(math.nan, 1)]))
other_nan("as_a_key", lambda n, t, d: (n in {math.nan: 1}, {math.nan: 1}.get(n), {(math.nan, 1): 2}.get(t), {n: 1} == {math.nan: 1}))
other_nan("behind_a_walk", lambda n, t, d: (math.nan in (v for v in [n]), math.nan in map(lambda v: v, [n])))
