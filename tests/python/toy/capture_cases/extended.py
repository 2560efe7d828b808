"""Instances of classes of the program that extend a builtin type."""

import collections
from collections import Counter, namedtuple
from typing import NamedTuple

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def tried(way, *args):
    try:
        return way(*args)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        return type(error).__name__, str(error)


class Table(dict):
    """An attribute map."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)

    def __setattr__(self, name, value):
        self[name] = value


class Logged(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.log = []

    def __setitem__(self, key, value):
        self.log.append(("set", key))
        super().__setitem__(key, value)

    def __getitem__(self, key):
        self.log.append(("get", key))
        return dict.__getitem__(self, key)

    def __delitem__(self, key):
        self.log.append(("del", key))
        dict.__delitem__(self, key)

    def __contains__(self, key):
        self.log.append(("in", key))
        return super().__contains__(key)


class Missing(dict):
    def __missing__(self, key):
        self[key] = value = key * 2
        return value


class Walked(dict):
    def __iter__(self):
        yield "first"
        yield from super().__iter__()

    def keys(self):
        return ["k"]


class Stack(list):
    def push(self, item):
        self.append(item)
        return self

    def append(self, item):
        list.append(self, item)
        super().append(item)

    def top(self):
        return self[-1]


class Sized(list):
    def __init__(self, items=(), extra=0):
        list.__init__(self, items)
        self.extra = extra

    def __len__(self):
        return super().__len__() + self.extra


class Pair(tuple):
    def __new__(cls, left, right):
        return super().__new__(cls, (left, right))

    @property
    def left(self):
        return self[0]

    def swap(self):
        return type(self)(self[1], self[0])


class Word(str):
    def shout(self):
        return self.upper() + "!"

    def __len__(self):
        return 100


class Metres(int):
    def __new__(cls, value, unit="m"):
        made = int.__new__(cls, value)
        made.unit = unit
        return made


class Ratio(float):
    pass


@case()
def dicts():
    def f(x):
        a = Table(size=x, rate=2)
        a.late = a.size * a.rate
        a["item"] = 1
        del a["rate"]
        b = Logged({"k": 1}, l=x)
        b["m"] = b["k"] + 1
        del b["k"]
        c = Missing()
        found = c["ab"], c["ab"], c.get("zz"), "zz" in c, len(c)
        b.update(late=2)
        inside = "k" in b, "m" in b, b.get("m"), b.pop("late"), list(b), list(b.items()), b.setdefault("q", 3)
        texts = tried(lambda: a.nope), tried(lambda: b["nope"]), tried(b.__delitem__, "nope"), hasattr(a, "nope")
        kinds = type(a) is Table, isinstance(a, dict), bool(Table()), bool(a), len(a), dict(a)["item"], {**c}
        return a, b, b.log, c, found, inside, texts, kinds, [k for k in a], list(Walked(a=1)), dict(Table(p=x))

    return {"f": f, "args": x1}


@case()
def lists():
    def f(x):
        s = Stack([x])
        s.push(1).push(x + 2)
        s[0] = x * 3
        s.insert(1, "in")
        popped = s.pop(), s.top()
        del s[1]
        s[1:2] = [7, 8]
        s.reverse()
        z = Sized([1, 2], extra=3)
        z.extend([4, 5])
        total = 0
        for item in z:
            total += item
        return s, z, len(s), len(z), popped, total, z.index(4), 5 in z, s[0], list(reversed(z)), z[1:3], type(z) is Sized, bool(Sized())

    return {"f": f, "args": x1}


@case()
def what_cannot_change():
    def f(x):
        p = Pair(x, 2)
        q = p.swap()
        w, m, r = Word("ab"), Metres(3, unit="km"), Ratio(0.5)
        a, b = p
        return p, q.left, p.left * p[1], len(p), [v for v in q], a + b, w.shout(), w.upper(), len(w), w, m.unit, m, r, w.strip()

    return {"f": f, "args": x1}


@case(graphs=2, captures=None, breaks=None, reasons=None)
def extended_over_a_break():
    def f(x):
        a, s, p, w, m = Logged(k=x), Stack([1]), Pair(x, 2), Word("ab"), Metres(4)
        s.append(a)
        a["self"] = s
        first = a["k"] * 2
        it = iter(Sized([x, 1]))
        next(it)
        items = Table(v=1).items()
        print("break")
        return a.log, s[1] is a, p, w.shout(), m.unit, first, next(it), list(items), dict.__getitem__(a, "self") is s, x + 1

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def breaks_inside_of_methods():
    class Loud(dict):
        def __setitem__(self, key, value):
            print("set", key)
            super().__setitem__(key, value * 2)

        def __missing__(self, key):
            print("missing")
            return key

    class LoudList(list):
        def append(self, item):
            print("append")
            super().append(item)

        def __iter__(self):
            print("iter")
            return super().__iter__()

    def f(x):
        a, b = Loud(p=1), LoudList([x])
        a["k"] = x
        b.append(x + 1)
        return a, b, a["nope"], [v for v in b], list(b)

    return {"f": f, "args": x1}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def given_ones():
    def f(x, a, b, s, p):
        a.late = 1
        b["m"] = b["k"]
        s.push(x)
        return a.size, b.log, s.top(), p.left, len(s), list(a), x + 1

    return {"f": f, "args": lambda: (t([1.0]), Table(size=2), Logged(k=1), Stack([1]), Pair(1, 2))}


@case()
def counters():
    def f(x):
        a = Counter("abracadabra")
        b = Counter({"a": 2}, z=1)
        b.update(["a", "q"])
        b["new"] += 3
        c = Counter()
        for word in ["x", "y", "x"]:
            c[word] += 1
        a.subtract("ab")
        del a["nope"]
        return x * len(a), a, b, c, a["nope"], a.most_common(), list(c.elements()), sum(b.values()), sorted(a.items()), b + c, type(b - c) is Counter

    return {"f": f, "args": x1}


Point = namedtuple("Point", ["a", "b"], defaults=[5])


class Named(NamedTuple):
    a: object
    b: int = 2

    def total(self):
        return self.a + self.b

    @classmethod
    def of(cls, value):
        return cls._make([value, 7])


class Checked(Point):
    __slots__ = ()

    def __new__(cls, a, b=1):
        return super().__new__(cls, a * 2, b)

    @property
    def both(self):
        return self.a, self.b


@case()
def tuples_with_names():
    def f(x, given):
        p = Point(x)
        q = p._replace(b=3)
        r = Point._make([1, x])
        n = Named(x).total(), Named.of(x), Named(x, b=4)._replace(a=1)
        c = Checked(x, b=2)
        return p, q, r, n, c, c.both, given._replace(a=x), q._fields, given.total(), type(q) is Point

    return {"f": f, "args": lambda: (t([1.0]), Named(1, 2))}


CONFIG = Table(size=3, inner=Table(rate=2, names=["a"]), bias=t([1.0]))
SHAPE = Pair(2, 3)


class Shapes(list):
    def first(self):
        return self[0]


@case()
def configurations():
    def f(x, given, shapes):
        total = x * CONFIG.size + CONFIG.inner.rate + CONFIG["bias"] + given.size
        known = "size" in CONFIG, CONFIG.get("nope"), list(CONFIG), len(given), hasattr(CONFIG, "nope"), CONFIG.inner.names
        tuples = SHAPE[0], SHAPE.left, len(SHAPE), [v for v in SHAPE], shapes.first(), shapes[1:], len(shapes)
        return total, known, tuples, {k: v for k, v in given.items()}, dict(**{**given}), bool(given), CONFIG.inner is CONFIG["inner"]

    return {"f": f, "args": lambda: (t([1.0]), Table(size=2, more=[1]), Shapes([1, 2, 3]))}


@case(graphs=2, captures=2)
def a_configuration_that_changes():
    config = Table(size=2)
    calls = []

    def f(x):
        return x * config.size

    def args():
        calls.append(None)
        if len(calls) == 2:
            dict.__setitem__(config, "size", 5)
        return x1()

    return {"f": f, "args": args}


@case(graphs=0)
def standard_ones():
    def f(x):
        u = collections.UserDict(a=1)
        u["k"] = x
        v = collections.UserList([1, x])
        v.append(2)
        chain = collections.ChainMap({"a": 1}, {"b": x})
        return u["k"], u.data, v[1], len(v), "a" in u, chain["b"], chain["a"]

    return {"f": f, "args": x1}


@case()
def bare_objects():
    def f(x):
        a, b = object(), object()
        found = {"k": 1}.get("nope", a)
        return x + 1, a is b, found is a, a is not None, type(a) is object, a, Counter("abca").most_common(1), bool(a)

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def a_bare_object_over_a_break():
    def f(x):
        a = object()
        held, y = [a, a], x + 1
        print("break")
        return held[0] is a, held[1] is held[0], y * 2

    return {"f": f, "args": x1}


def of_its_own(base):
    """Three classes that extend a builtin type: with nothing of their own, with `__init__`, with `__new__`."""

    class Bare(base):
        pass

    class Begun(base):
        def __init__(self, *args, extra=None):
            self.extra = extra

    class Made(base):
        def __new__(cls, *args, extra=None):
            made = super().__new__(cls, *args)
            made.extra = extra
            return made

        def __init__(self, *args, extra=None):
            pass

    return Bare, Begun, Made


CLASSES = [
    (made, value)
    for base, value in (
        (tuple, (1, 2)),
        (list, [1, 2]),
        (dict, {"k": 1}),
        (set, {1, 2}),
        (frozenset, {1, 2}),
        (float, 2.5),
        (int, 3),
        (str, "ab"),
        (bytes, b"ab"),
        (complex, 1j),
        (collections.deque, [1, 2]),
    )
    for made in of_its_own(base)
]


@case(captures=None, breaks=None, fallbacks=None, reasons=None, graphs=None)
def keywords_of_classes_that_extend_builtins():
    def told(made, value, **more):
        found = made(value, **more)
        base = made.__mro__[1]
        return type(found) is made, base(found), getattr(found, "extra", "none")

    def f(x):
        return x + 1, [
            (tried(told, made, value), tried(lambda: told(made, value, extra=3)), tried(lambda: made(sequence=())))
            for made, value in CLASSES
        ]

    return {"f": f, "args": x1}


@open_case
def ranges_of_extended_numbers():
    # Up to 3.9 a range keeps the very numbers that it was given.
    class Number(int):
        pass

    given = Number(4)

    def f(x):
        made = Number(6)
        ranges = range(made), range(given), range(1, made, True), range(given, made)
        kinds = [[type(part).__name__ for part in (r.start, r.stop, r.step)] for r in ranges]
        return x + len(ranges[0]), kinds, ranges[1].stop is given, ranges[0].stop is made, [list(r) for r in ranges]

    return {"f": f, "args": x1}


class Items(list):
    pass


class Filled(list):
    def __init__(self, items=()):
        super().__init__(items)


def initialised_again(name, make, again):
    def build():
        given = make()

        def f(x, other):
            made = make()
            for one in (given, other, made):
                again(one)
            return x * 2.0, made, other, len(given)

        return {"f": f, "args": lambda: (t([1.0]), make()), "watch": lambda: list(given)}

    build.__name__ = "initialised_again_" + name
    open_case(build)


AGAIN = {
    "by_text": (lambda: Items([1, 2]), lambda one: one.__init__("cd")),
    "by_nothing": (lambda: Items([1, 2]), lambda one: one.__init__()),
    "by_the_base": (lambda: Items([1, 2]), lambda one: list.__init__(one, (3,))),
    "by_a_generator": (lambda: Items([1, 2]), lambda one: one.__init__(item for item in range(2))),
    "by_super": (lambda: Filled([1, 2]), lambda one: one.__init__([3])),
    "a_list": (lambda: [1, 2], lambda one: one.__init__("cd")),
    "a_dict": (lambda: {"a": 1}, lambda one: one.__init__({"b": 1})),
    "a_set": (lambda: {1}, lambda one: one.__init__([5])),
}
for name, (make, again) in AGAIN.items():
    initialised_again(name, make, again)
