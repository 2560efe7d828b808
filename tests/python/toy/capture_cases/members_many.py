"""Sets of many members whose `__hash__` and `__eq__` are code of the program: where each is asked anew, or found by its place, there is
an end to it. What a step that is taken back has hashed is hashed again."""

from observe import case
from toy_framework import toy

t = toy.tensor


class Key:
    def __init__(self, n, log=None):
        self.n, self.log = n, log

    def __hash__(self):
        if self.log is not None:
            self.log.append(self.n)
        return self.n * 7919

    def __eq__(self, other):
        return self.n == other.n

    def __repr__(self):
        return f"Key({self.n})"


class Turns(Key):
    """Its hash is what it is told to be."""

    def __hash__(self):
        return self.n


class Loud(Key):
    def __hash__(self):
        print("hashed", self.n)
        return self.n


def given(count):
    return lambda: (t([1.0]), {Key(n) for n in range(count)})


def sizes(x, s):
    return x + len(s), Key(3) in s, Key(-3) in s, sorted(k.n for k in s)[:5]


@case()
def a_given_set_of_some_members():
    return {"f": sizes, "args": given(20)}


@case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=("value-kind",))
def a_given_set_of_many_members():
    return {"f": sizes, "args": given(400)}


@case()
def an_operation_that_asks_some():
    def f(x):
        log = []
        s = set([Key(n, log) for n in range(20)])
        return x + len(s), sorted(k.n for k in s), log

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=("user-code",))
def an_operation_that_asks_many():
    def f(x):
        log = []
        s = set([Key(n, log) for n in range(100)])
        return x + len(s), sorted(k.n for k in s), log

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_hash_of_what_was_taken_back():
    def f(x):
        key, s = Turns(1), set()
        y = x + 1
        s.update([key, Loud(2)])
        s.clear()
        key.n = 5
        d, other = {key: y}, {key, Turns(6)}
        return y, 5 in [hash(k) for k in d], Turns(5) in d, Turns(1) in d, Turns(5) in other, Turns(1) in other

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def a_set_made_of_what_was_taken_back():
    def f(x, loud):
        key = Turns(1)
        y = x + 1
        try:
            s = {*[key, Loud(2) if loud else Turns(2)]} | {Turns(3)}
        finally:
            key.n = 5
        return y, len(s), [k.n for k in s], {key: 1}[Turns(5)], key in {key}, Turns(5) in frozenset([key, Turns(9)])

    return {"f": f, "args": lambda: (t([1.0]), True)}
