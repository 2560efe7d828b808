"""`functools.singledispatch`: classes of which it does not know yet whom they are given to, and of which it knows."""

import collections
import collections.abc
import functools
import weakref

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def dispatcher():
    @functools.singledispatch
    def told(value):
        return "other"

    @told.register(int)
    def _(value):
        return value + 1

    @told.register(list)
    def _(value):
        return [told(item) for item in value]

    return told


def known_to(told):
    """Whom it has been asked about, which nothing else tells."""
    cells = dict(zip(told.dispatch.__code__.co_freevars, told.dispatch.__closure__))
    cache = cells["dispatch_cache"].cell_contents
    return [(kind.__name__, function.__name__) for kind, function in cache.items()]


# The first call finds that nobody knows the class yet.
@case(captures=2, graphs=2)
def dispatched_by_a_number():
    told = dispatcher()
    return {"f": lambda x: x * told(1), "args": x1, "watch": lambda: known_to(told)}


@open_case
def dispatched_by_what_is_not_registered():
    told = dispatcher()
    return {"f": lambda x: (x * told(True), told("text"), told([1, 2.5])), "args": x1, "watch": lambda: known_to(told)}


@open_case
def dispatched_by_arguments():
    told, calls = dispatcher(), [0]
    given = [1, "text", 2.0, [1], (1,), None]

    def args():
        calls[0] += 1
        return (*x1(), given[calls[0] % len(given)])

    return {"f": lambda x, value: (x * 2.0, told(value)), "args": args, "watch": lambda: known_to(told)}


@open_case
def dispatched_by_a_tensor():
    told = dispatcher()
    told.register(toy.Tensor)(lambda value: value * 3.0)
    return {"f": lambda x: told(x) + told(1), "args": x1, "watch": lambda: known_to(told)}


@open_case
def dispatched_by_a_class_of_the_program():
    class Point:
        pass

    class Below(Point):
        pass

    told = dispatcher()
    told.register(Point)(lambda value: 5)
    point, below = Point(), Below()
    return {"f": lambda x: (x * told(point), told(below)), "args": x1, "watch": lambda: known_to(told)}


@open_case
def dispatched_by_a_class_of_the_call():
    told = dispatcher()

    def f(x):
        class Local:
            pass

        return x * 2.0, told(Local()), told(1)

    return {"f": f, "args": x1, "watch": lambda: [entry for entry in known_to(told) if entry[0] != "Local"]}


@open_case
def dispatched_anew_when_somebody_registers():
    told, calls = dispatcher(), [0]

    def args():
        calls[0] += 1
        if calls[0] == 4:
            told.register(str)(lambda value: value + "!")
        return x1()

    return {"f": lambda x: (x * 2.0, told("text"), told(1)), "args": args, "watch": lambda: known_to(told)}


@open_case
def dispatched_by_an_abstract_class():
    told = dispatcher()
    told.register(collections.abc.Mapping)(lambda value: "mapping")
    return {"f": lambda x: (x * 2.0, told({}), told("text")), "args": x1, "watch": lambda: known_to(told)}


@open_case
def dispatched_methods():
    class Teller:
        @functools.singledispatchmethod
        def told(self, value):
            return value

        @told.register(int)
        def _(self, value):
            return value + 1

    teller = Teller()
    return {"f": lambda x: (x * teller.told(1), teller.told("text")), "args": x1}


@open_case
def dispatched_and_failing():
    told = dispatcher()

    @told.register(dict)
    def _(value):
        raise KeyError("refused")

    def f(x):
        y = x * told(1)
        try:
            told({})
        except KeyError as error:
            return y, error.args
        return y

    return {"f": f, "args": x1, "watch": lambda: known_to(told)}


@open_case
def dispatched_around_a_break():
    told = dispatcher()

    def f(x):
        first = told(1)
        toy.show(0)
        return x * first, told(2), told(None)

    return {"f": f, "args": x1, "watch": lambda: known_to(told)}


class Kept:
    pass


# The first call finds it without the key.
@case(captures=2)
def stored_by_a_class():
    table = weakref.WeakKeyDictionary()

    def f(x):
        try:
            return x * table[Kept]
        except KeyError:
            table[Kept] = 2.0
            return x

    return {"f": f, "args": x1, "watch": lambda: [list(table.items())]}


@open_case
def stored_by_a_class_and_asked():
    table = weakref.WeakKeyDictionary()

    def f(x):
        seen = [Kept in table, len(table)]
        table[Kept] = x * 2.0
        seen += [Kept in table, len(table), list(table)]
        table[int] = 3.0
        y = table[Kept] + table[int]
        toy.show(len(table))
        return y, seen, table.pop(int), table.get(int), table.setdefault(str, 4)

    return {"f": f, "args": x1, "watch": lambda: [sorted(kind.__name__ for kind in table)]}


@open_case
def references_to_a_class_that_tell():
    log = []

    def f(x):
        one, other = weakref.ref(Kept, log.append), weakref.ref(Kept, lambda reference: log.append(1))
        third = weakref.ref(Kept, lambda reference: log.append(2))
        seen = [one() is Kept, other() is Kept, one is other, other is third, other == third, hash(other) == hash(third)]
        seen += [type(third).__name__, other.__callback__ is None, len({other, third}), {other: 1}[third]]
        return x * 2.0, seen, other

    return {"f": f, "args": x1, "watch": lambda: [log]}


@open_case
def a_table_by_class_of_the_call():
    def f(x):
        table = weakref.WeakKeyDictionary()
        table[Kept] = x * 2.0
        table[int] = 1
        return table[Kept] + table[int], len(table), Kept in table, list(table) == [Kept, int], table

    return {"f": f, "args": x1}
