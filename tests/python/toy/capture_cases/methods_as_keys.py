"""Bound methods that are compared, keys of dicts, members of sets and items that are looked for."""

import operator

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


class Model:
    def __init__(self, k):
        self.k = k

    def go(self):
        return self.k

    def stop(self):
        return -self.k

    @classmethod
    def of_class(cls):
        return cls


class Below(Model):
    def go(self):
        return self.k * 2


class Equal:
    """All are equal, and none can be a key."""

    def __eq__(self, other):
        print("compared")
        return True

    def go(self):
        return 1


class Answering:
    """Says of anything that it is equal."""

    def __eq__(self, other):
        print("asked")
        return True

    __hash__ = None


def x1():
    return (t([1.0, 2.0]),)


@case()
def methods_that_are_compared():
    def f(x):
        one, two = Model(1), Model(2)
        go = one.go
        return x * 2, (
            one.go == one.go,
            one.go != one.go,
            go == one.go,
            go is one.go,
            one.go == two.go,
            one.go != two.go,
            one.go == one.stop,
            one.of_class == two.of_class,
            one.go == Model.go,
            Model.go == one.go,
            one.go == 3,
            None == one.go,
            one.go != "go",
            one.go == [],
            one.go in (1, one.go),
            operator.eq(one.go, one.go),
        )

    return {"f": f, "args": x1}


@case()
def methods_of_what_is_given_that_are_compared():
    one, two = Model(1), Model(2)

    def f(x, given, other):
        return x * 2, given.go == one.go, given.go == other.go, other.go == two.go, two.go == one.go

    return {"f": f, "args": lambda: (t([1.0]), one, two)}


@open_case
def methods_of_what_is_one_or_two_objects():
    one, two = Model(1), Model(2)
    calls = []

    def args():
        calls.append(1)
        return (t([1.0]), one, one if len(calls) % 3 else two)

    def f(x, given, other):
        table = {given.go: 1}
        return x * 2, given.go == other.go, other.go in table, len({given.go, other.go}), [given.go].count(other.go)

    return {"f": f, "args": args}


@open_case
def methods_that_are_held_by_what_is_given():
    one = Model(1)
    calls = []

    def args():
        calls.append(1)
        return (t([1.0]), one.go, one.go if len(calls) % 3 else Model(1).go)

    def f(x, go, other):
        return x * 2, go == other, go != other, {go: 3}.get(other), other in [go], go == one.go

    return {"f": f, "args": args}


@case()
def methods_of_what_says_that_it_is_equal():
    def f(x):
        one, two = Equal(), Equal()
        return x * 2, one.go == one.go, one.go == two.go, [one.go].index(one.go)

    return {"f": f, "args": x1}


@open_case
def methods_beside_what_says_that_it_is_equal():
    def f(x):
        one, two = Model(1), Answering()
        return x * 2, one.go == two, two == one.go, one.go in [two], [two, one.go].index(one.go)

    return {"f": f, "args": x1}


@case()
def methods_as_keys():
    def f(x):
        one, two = Model(3), Below(4)
        table = {one.go: "a", two.go: "b"}
        table[one.stop] = "c"
        table[one.go] = "d"
        names = [key.__func__.__name__ for key in table]
        called = [key() for key in table]
        return x * called[0], names, called, table[one.go], two.go in table, two.stop in table, len(table)

    return {"f": f, "args": x1}


@case(graphs=0)
def methods_as_keys_that_are_given_back():
    def f(x):
        one = Model(x)
        table = {one.go: 1, one.stop: 2}
        del table[one.stop]
        return table, [key() for key in table], table.pop(one.go, "none"), table.pop(one.go, "none"), table

    return {"f": f, "args": x1}


@case()
def methods_as_keys_beside_other_keys():
    def f(x):
        one = Model(3)
        table = {one.go: 1, one: 2, "go": 3, Model.go: 4, (one, Model.go): 5, (one.go, 1): 6}
        return x * table[one.go], table[one], table[Model.go], table[one, Model.go], table[one.go, 1], len(table)

    return {"f": f, "args": x1}


@case()
def methods_as_members():
    def f(x):
        one, two = Model(3), Model(4)
        known = {one.go}
        known.add(one.go)
        known.add(two.go)
        known.discard(one.stop)
        return x * len(known), one.go in known, one.stop in known, two.go in known, known == {two.go, one.go}

    return {"f": f, "args": x1}


@open_case
def methods_as_members_of_what_was_there():
    one, two = Model(3), Model(4)
    known, table = {one.go}, {one.go: 1}

    def f(x):
        seen = one.go in known, two.go in known, one.go in table, two.go in table, table.get(one.go)
        known.add(two.go)
        table[two.go] = len(table)
        return x * 2, seen, len(known), list(table.values())

    return {"f": f, "args": x1, "watch": lambda: [len(known), len(table), two.go in known, table.get(two.go)]}


@case()
def methods_that_hear_of_something():
    class Subject:
        def __init__(self):
            self.listeners = []

        def add(self, listener):
            if listener not in self.listeners:
                self.listeners.append(listener)

        def remove(self, listener):
            self.listeners.remove(listener)

    def f(x):
        subject, one, two = Subject(), Model(1), Model(2)
        subject.add(one.go), subject.add(two.go), subject.add(one.go)
        heard = [listener() for listener in subject.listeners]
        subject.remove(one.go)
        return x * 2, heard, [listener() for listener in subject.listeners], subject.listeners.count(two.go)

    return {"f": f, "args": x1}


@case()
def methods_that_nobody_hears():
    def f(x):
        one = Model(1)
        listeners = [one.go]
        try:
            listeners.remove(one.stop)
        except ValueError as error:
            return x * 2, str(error), listeners.index(one.go)

    return {"f": f, "args": x1}
