"""Callables of C that are made of what they are given: partial, itemgetter, attrgetter, methodcaller, methods of C."""

import functools
import operator
from functools import partial
from operator import attrgetter, itemgetter, methodcaller

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def scale(x, *args, by=2, **rest):
    return x * by + sum(args) + sum(rest.values())


def loud(x, by=2):
    y = x * by
    print("loud")
    return y + 1


class Point:
    def __init__(self, x, inner=None):
        self.x, self.inner = x, inner

    def moved(self, by, *, twice=False):
        return Point(self.x + by * (2 if twice else 1), self)

    def __getitem__(self, key):
        return self.x * key


@case()
def partials():
    def f(x):
        p = partial(scale, x, by=3)
        q = partial(p, 1, other=4)
        r = functools.partial(q, by=5)
        bound = partial(Point(x).moved, twice=True)
        new = partial(Point, inner=None)
        return p(), q(2), r(3, by=6), r(other=7), bound(1).x, new(x).x, partial(partial(scale))(x), partial(max, key=lambda v: -v)([1, 2])

    return {"f": f, "args": x1}


@case()
def parts_of_partials():
    def f(x):
        p = partial(scale, x, 1, by=3)
        q = partial(p)
        r = partial(p, 5, by=4, more=1)
        p.keywords["late"] = 10
        parts = p.func is scale, p.args, p.keywords, q.func is scale, q.args is p.args, r.args, r.keywords
        kept = q.keywords is p.keywords, p.keywords is p.keywords, isinstance(p, partial), callable(p), type(p) is partial
        return parts, kept, p(), q(), bool(p), hasattr(p, "__name__"), getattr(p, "__wrapped__", None)

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def partials_over_a_break():
    def f(x):
        p = partial(scale, x, 1, by=3)
        own, keywords = p.args, p.keywords
        g, h, m = itemgetter(1, 0), attrgetter("x", "inner.x"), methodcaller("moved", 2, twice=True)
        one, two = itemgetter(1), attrgetter("x")
        y = x + 1
        print("break")
        keywords["by"] = 4
        point = Point(y, Point(x))
        return p.args is own, p.keywords is keywords, p(), g([x, y]), h(point), m(point).x, one("abc"), two(point), p.func is scale

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def a_partial_of_what_breaks():
    def f(x):
        p = partial(loud, by=3)
        return p(x) * 2

    return {"f": f, "args": x1}


GLOBAL = partial(scale, by=7)
FIRST = itemgetter(0)
NAMES = attrgetter("x", "inner")
MOVE = methodcaller("moved", 1, twice=True)


class Holder:
    def __init__(self):
        self.step = partial(scale, 2, by=5)
        self.pick = itemgetter(1)


HOLDER = Holder()


@case()
def found_in_globals_and_attributes():
    def f(x, holder):
        p = Point(x, 3)
        again = HOLDER.step, holder.step
        return GLOBAL(x), FIRST([x, 1]), NAMES(p)[1], MOVE(p).x, HOLDER.step(1), HOLDER.pick((1, x)), holder.step(2), again

    return {"f": f, "args": lambda: (t([1.0]), Holder())}


@case()
def given_partials():
    def f(x, p, q):
        return p(x), q(x, by=2), p.args, p.func is q.func, p is q, q.keywords["by"]

    return {"f": f, "args": lambda: (t([1.0]), partial(scale, 1), partial(scale, 2, by=3))}


@case(graphs=2, captures=2)
def given_partials_that_vary():
    count = iter(range(10))

    def f(x, p):
        return p(x)

    return {"f": f, "args": lambda: (t([1.0]), partial(scale, by=next(count)))}


@case(graphs=2, captures=2)
def a_partial_whose_keywords_change():
    p = partial(scale, by=2)
    calls = []

    def f(x):
        return p(x)

    def args():
        calls.append(None)
        if len(calls) == 2:
            p.keywords["by"] = 5
        return x1()

    return {"f": f, "args": args}


@case()
def keys_of_sorts():
    def f(x):
        rows = [(2, "b", x), (1, "c", x + 1), (3, "a", x + 2)]
        points = [Point(3), Point(1), Point(2)]
        return (
            sorted(rows, key=itemgetter(1)),
            [r[0] for r in sorted(rows, key=operator.itemgetter(0), reverse=True)],
            [p.x for p in sorted(points, key=attrgetter("x"))],
            max(rows, key=itemgetter(0))[2],
            list(map(methodcaller("upper"), "ab")),
            list(map(itemgetter(slice(0, 2)), rows)),
            [itemgetter("k")({"k": x}), itemgetter(2)(Point(x))],
        )

    return {"f": f, "args": x1}


@case()
def getters_that_raise():
    def f(x):
        out = []
        for way, value in [
            (itemgetter(5), [1]),
            (itemgetter("k"), {}),
            (itemgetter("a", "b"), {"a": 1}),
            (attrgetter("nope"), Point(1)),
            (attrgetter("inner.nope"), Point(1, Point(2))),
            (methodcaller("nope"), Point(1)),
        ]:
            try:
                out.append(way(value))
            except (LookupError, AttributeError) as error:
                out.append((type(error).__name__, str(error)))
        try:
            partial(scale).nope
        except AttributeError as error:
            out.append(str(error))
        try:
            itemgetter(1).nope
        except AttributeError as error:
            out.append(str(error))
        return x + 1, out

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def what_raises_when_it_is_made():
    def f(x):
        out = []
        for way in [
            lambda: partial(),
            lambda: partial(3),
            lambda: itemgetter(),
            lambda: attrgetter(1),
            lambda: methodcaller(),
            lambda: methodcaller(1),
            lambda: itemgetter(1)(),
            lambda: itemgetter(1)([1], 2),
            lambda: itemgetter(1, k=2),
        ]:
            try:
                out.append(way())
            except TypeError as error:
                out.append(str(error))
        return x + 1, out

    return {"f": f, "args": x1}


@case()
def methods_of_c_as_values():
    def f(x, given):
        items = []
        push, pop = items.append, items.pop
        push(x)
        push(x + 1)
        table = {"a": x}
        get = table.get
        pushed = given.append
        pushed(x)
        join = "-".join
        add = x.__add__ if False else x.sum
        return pop(), items, get("a"), get("b", 3), join(["a", "b"]), list(map("{}!".format, [1, 2])), add(), given

    return {"f": f, "args": lambda: (t([1.0, 2.0]), [1])}


KEPT = []
PUSH = KEPT.append


@case(graphs=2, captures=2)
def a_method_of_c_found_in_globals():
    def f(x):
        PUSH(len(KEPT))
        return x + len(KEPT)

    KEPT.clear()
    return {"f": f, "args": x1, "watch": lambda: list(KEPT)}
