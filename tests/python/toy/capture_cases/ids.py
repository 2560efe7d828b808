"""Ids of objects that the frame makes or is given: keys, members, comparisons, and numbers that the program sees."""

import copy
import dataclasses
import functools
import itertools
import sys

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


@case()
def made_in_the_frame():
    def f(x):
        a, b = [1], [1]
        seen = {id(a): x, id(b): x * 2}
        again = a
        return seen[id(again)] + seen[id(b)], len(seen), id(a) in seen, id([]) in seen, id(a) == id(again), id(a) != id(b)

    return {"f": f, "args": x1}


@case()
def members_of_sets():
    def f(x, given):
        seen = set()
        for item in given:
            if id(item) in seen:
                continue
            seen.add(id(item))
            x = x + item[0]
        return x, len(seen)

    def args():
        one, other = [1.0], [1.0]
        return t([1.0]), [one, other, one]

    return {"f": f, "args": args}


@case()
def kinds_of_objects():
    class Plain:
        pass

    def f(x):
        def inner():
            return x

        things = [(1, 2), [1], {1: 2}, {1}, Plain(), inner, ValueError("a"), 1.5, "text", None, True, Plain, len]
        seen = {}
        for at, thing in enumerate(things):
            seen[id(thing)] = at
        return x + len(seen), [seen[id(thing)] for thing in reversed(things)], seen.pop(id(None)), seen.get(id(x))

    return {"f": f, "args": x1}


@case(captures=None, breaks=None, reasons=("opaque-value",), graphs=1)
def the_number_is_seen():
    # New code asks for the number of the very object.
    def f(x):
        a = [1]
        number = id(a)
        return x + 1.0, number % 1 == 0, isinstance(number, int), number == id(a), a

    return {"f": f, "args": x1}


class Shared:
    def __init__(self):
        self.items = [1, 2]
        self.again = self.items
        self.me = self


@case()
def deep_copies():
    tree = {"a": [1, {"b": (1, [2])}], "text": "t", "number": 1.5}

    def f(x):
        made = [[1, 2], {"k": 3}, (4, [5]), (6, 7), {8}]
        first, second = copy.deepcopy(tree), copy.deepcopy(made)
        first["a"].append(3)
        second[0].append(6)
        return x + len(first["a"]), first, tree, second, made, second[3] is made[3], second[2] is made[2]

    return {"f": f, "args": x1}


@case()
def shared_parts():
    def f(x):
        part = [1]
        both = [part, part]
        twin = copy.deepcopy(both)
        ring = [2]
        ring.append(ring)
        round = copy.deepcopy(ring)
        return x + 1.0, twin[0] is twin[1], twin[0] is part, round[1] is round, round is ring, len(round)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None)
def copies_of_instances():
    given = Shared()

    def f(x):
        flat, deep = copy.copy(given), copy.deepcopy(given)
        deep.items.append(3)
        made = Shared()
        made.more = x
        twin = copy.copy(made)
        twin.items.append(4)
        return (
            x + len(deep.items),
            (flat.items is given.items, flat.me is given, deep.me is deep, deep.items is deep.again),
            (made.items is twin.items, twin.more is x, vars(flat).keys(), type(deep) is Shared),
            given.items,
        )

    return {"f": f, "args": x1}


@case(graphs=None, captures=None)
def copies_of_extended_builtins():
    class Table(dict):
        pass

    class Items(list):
        pass

    def f(x):
        table, items = Table(a=[1]), Items([[1], 2])
        table.name = "n"
        flat, deep = copy.copy(table), copy.deepcopy(table)
        more = copy.deepcopy(items)
        deep["a"].append(2)
        more[0].append(5)
        return x + len(deep["a"]), flat["a"] is table["a"], deep.name, type(deep) is Table, table, more, items, type(more) is Items

    return {"f": f, "args": x1}


@case(graphs=None, captures=None)
def hooks_of_copies():
    class Own:
        def __init__(self, n):
            self.n = n

        def __copy__(self):
            return Own(self.n + 1)

        def __deepcopy__(self, memo):
            return Own(copy.deepcopy(self.n, memo) + 2)

    class State:
        def __init__(self):
            self.a, self.b = 1, 2

        def __setstate__(self, state):
            self.__dict__.update(state)
            self.set = True

    def f(x):
        state = copy.copy(State())
        return x + copy.copy(Own(1)).n, copy.deepcopy(Own(1)).n, state.set, state.a

    return {"f": f, "args": x1}


@dataclasses.dataclass
class Inner:
    v: float = 2.0
    names: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Outer:
    a: int = 1
    inner: Inner = dataclasses.field(default_factory=Inner)
    many: tuple = (1, 2)


# From 3.12 on it looks for the class in a set of atomic types, beside one that C compares in a way of its own: a break.
until_312 = case() if sys.version_info < (3, 12) else open_case


@until_312
def dataclasses_as_others():
    given = Outer()

    def f(x):
        as_dict, as_tuple = dataclasses.asdict(given), dataclasses.astuple(Outer(3))
        other = dataclasses.replace(given, a=5)
        as_dict["inner"]["names"].append("n")
        return x * other.a, as_dict, as_tuple, other == given, given.inner.names, [v.name for v in dataclasses.fields(given)]

    return {"f": f, "args": x1}


@case()
def functions_bound_by_hand():
    class Powers:
        def power(self, base, exponent):
            return base * exponent

        double = functools.partialmethod(power, exponent=2)
        of_two = functools.partialmethod(power, 2)

    powers = Powers()

    def f(x):
        bound = Powers.power.__get__(powers, Powers)
        free = Powers.power.__get__(None, Powers)
        return powers.double(x) + Powers().of_two(x), bound(x, 3), free is Powers.power, bound.__self__ is powers

    return {"f": f, "args": x1}


@open_case
def ids_of_objects_that_died():
    # CPython gives the address of one that has died to the next of its kind.
    def f(x):
        reused = len(set(map(id, itertools.combinations("abcde", 3))))
        kept = len(set(map(id, list(itertools.combinations("abcde", 3)))))
        return x + 1.0, reused, kept, id(x) == id(x)

    return {"f": f, "args": x1}


@open_case
def ids_kept_by_containers():
    def f(x):
        held, ids = [], set()
        for n in range(4):
            part = [n]
            held.append({"part": part})
            ids.add(id(part))
        return x + len(ids), held, id(held[2]["part"]) in ids, id(held) in ids

    return {"f": f, "args": x1}


@open_case
def taken_apart():
    class Plain:
        pass

    class Items(list):
        pass

    class Slotted:
        __slots__ = ("a", "__dict__")

    given, filled = Items([3]), Plain()
    filled.a = 1

    def f(x):
        made, items, slotted = Plain(), Items([1]), Slotted()
        states = [one.__reduce_ex__(protocol)[2] for one in (made, items, slotted, given, filled) for protocol in (2, 4)]
        made.a, slotted.a = 1, 2
        states += [one.__reduce_ex__(2)[2] for one in (made, slotted)]
        del made.a
        made.__dict__
        return x + 1.0, states, list(items.__reduce_ex__(2)[3])

    return {"f": f, "args": x1}


@open_case
def ids_of_empty_frozen_sets():
    # Up to 3.9 there is but one.
    def f(x):
        empty = [frozenset(), frozenset([]), frozenset(""), frozenset(range(0)), frozenset(frozenset())]
        full = [frozenset([1]), frozenset((1,))]
        return x + 1.0, len(set(map(id, empty))), len(set(map(id, full))), empty[0] is empty[1], id(empty[0]) == id(empty[2])

    return {"f": f, "args": x1}


class Remembered:
    pass


def asked_twice(one, other):
    def build():
        def f(x, a, b):
            same = id(a) == id(b)
            return x + 1.0, same, len({a, b}), {b: 1}.get(a), a in (b,)

        return {"f": f, "args": lambda: (t([1.0]), one, other)}

    build.__name__ = f"ids_and_members_of_{'one' if one is other else 'two'}"
    case()(build)


HELD = Remembered(), Remembered()
asked_twice(HELD[0], HELD[1])
asked_twice(HELD[0], HELD[0])


@case()
def members_twice_of_what_is_pinned():
    def f(x, a):
        one, other = HELD
        return x + 1.0, one is other, len({one, other, a}), len({a, other}), {a: 1, one: 2}[other]

    return {"f": f, "args": lambda: (t([1.0]), HELD[1])}


@case()
def ids_and_members_of_tensors():
    def f(x, y):
        seen = set()
        for given in (x, y):
            if id(given) not in seen:
                seen.add(id(given))
        return x + y, len(seen), len({x, y}), {x: 0, y: 1}[y]

    return {"f": f, "args": lambda: (t([1.0]), t([2.0]))}


KEYS_OF_IDS = {
    "bare": lambda it: id(it),
    "in_a_tuple": lambda it: ("c", id(it)),
    "two_deep": lambda it: ("c", (id(it), 1)),
    "in_a_set": lambda it: frozenset([id(it)]),
}
REMEMBER = {"dict": (dict, lambda seen, key: seen.__setitem__(key, 1)), "set": (set, set.add), "list": (list, list.append)}


def remembered(name, key, kind, make, add):
    def build():
        things = [Remembered(), [1], {}]
        seen = make()

        def f(x, *given):
            found = []
            for thing in (*things, *given):
                wanted = key(thing)
                found.append(wanted in seen)
                add(seen, wanted)
            return x * 2.0, found, len(seen)

        again = [3]
        return {"f": f, "args": lambda: (t([1.0]), things[0], again)}

    build.__name__ = f"ids_{name}_remembered_in_a_{kind}"
    open_case(build)


for named_key in KEYS_OF_IDS.items():
    for kind, (make, add) in REMEMBER.items():
        remembered(*named_key, kind, make, add)
