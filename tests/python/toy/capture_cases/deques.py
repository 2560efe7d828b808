"""`collections.deque`: made by the call, found by it, iterated while it changes."""

import collections
from collections import deque

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def tried(way, *args):
    try:
        return way(*args)
    except (IndexError, ValueError, TypeError, RuntimeError) as error:
        return type(error).__name__, str(error)


@case()
def deque_methods():
    def f(x):
        d = deque([1, 2], maxlen=4)
        d.append(x)
        d.appendleft("left")
        d.append("more")
        e = collections.deque(range(5))
        e.rotate(2)
        e.rotate(-1)
        e.rotate()
        e.insert(2, "in")
        e[0] = "first"
        del e[-1]
        e.reverse()
        g = deque(v * 2 for v in [1, 2])
        g.extend([3, 4])
        g.extendleft("ab")
        g.extend(g)
        popped = g.pop(), g.popleft(), deque("abc").pop()
        h = g.copy()
        h.clear()
        h.extend((i for i in range(3)))
        none = deque([1, 2, 3], 0)
        sizes = len(d), d.maxlen, e.maxlen, len(none), bool(none), bool(d), none.maxlen
        found = e[1], e[-1], "in" in e, list(reversed(e)), sorted(h), [v for v in h], h.index(1), h.count(2), max(h)
        texts = tried(deque().pop), tried(deque().popleft), tried(lambda: e[50]), tried(deque([1], 1).insert, 0, 1)
        a, *b = h
        kinds = type(d) is deque, isinstance(d, deque), type(iter(d)).__name__, type(h.copy()) is deque
        return x * len(e), d, e, g, h, popped, sizes, found, texts, a, b, kinds, sum(h), tuple(h), repr(h), h == deque([0, 1, 2])

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def a_deque_over_a_break():
    def f(x):
        d = deque([x, x + 1], maxlen=2)
        e = [d, d]
        print("break")
        y = x * 2
        return y, e[0] is e[1], d

    return {"f": f, "args": x1}


@case()
def a_deque_that_changes_under_its_iterator():
    def f(x):
        out = []
        for change in [
            lambda d: d.append(9),
            lambda d: d.pop(),
            lambda d: d.rotate(1),
            lambda d: d.reverse(),
            lambda d: d.__setitem__(2, "set") if False else None,
            lambda d: d.clear(),
        ]:
            d, seen = deque([1, 2, 3]), []
            try:
                for v in d:
                    seen.append(v)
                    if v == 2:
                        change(d)
            except RuntimeError as error:
                seen.append(str(error))
            out.append(seen)
        d = deque([1, 2, 3])
        for v in d:
            d[-1] = v
        window = deque(maxlen=2)
        for i in range(4):
            window.append(x * i)
        return out, d, sum(window)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def loops_over_deques_that_break():
    def f(x):
        d = deque([1, 2, 3])
        for v in d:
            print(v)
            x = x + v
        it = iter(d)
        a = next(it)
        print(type(it).__name__)
        for v in reversed(d):
            print(v)
        return x, a, list(it)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def given_deques():
    def f(x, d):
        d.append(x)
        y = x * len(d)
        d.rotate(1)
        return y, d[0], [v for v in d], d.maxlen

    return {"f": f, "args": lambda: (t([1.0]), deque([1, 2], maxlen=3))}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def what_deques_refuse():
    def f(x):
        d = deque([1, 2])
        out = [
            tried(lambda: d[0:1]),
            tried(lambda: d["a"]),
            tried(lambda: deque(3)),
            tried(lambda: deque([], -1)),
            tried(d.remove, 5),
            tried(d.index, 5),
            tried(lambda: d + [1]),
            d + deque([3]),
            d * 2,
        ]
        d += [7]
        d.remove(1)
        search = deque(v for v in d)
        search *= 2
        return x + 1, out, d, search

    return {"f": f, "args": x1}
