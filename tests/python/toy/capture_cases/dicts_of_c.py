"""`collections.OrderedDict` and `defaultdict`: made by the call and found by it."""

import collections
from collections import OrderedDict, defaultdict

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def tried(way, *args):
    try:
        return way(*args)
    except (KeyError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)


@case()
def new_ordered_dicts():
    def f(x):
        a = OrderedDict()
        a["x"], a["y"] = x, 2
        b = OrderedDict([("k", 1), ("l", x)])
        c = collections.OrderedDict(a, z=3)
        d = OrderedDict({"m": x}, n=1)
        e = OrderedDict(zip("abc", range(3)))
        g = OrderedDict((k, k * 2) for k in "ab")
        a.move_to_end("x")
        c.move_to_end("z", last=False)
        e.move_to_end("b", False)
        popped = e.popitem(), e.popitem(last=False), b.popitem(False)
        b.update(p=1)
        del d["m"]
        kinds = type(a) is OrderedDict, isinstance(c, dict), type(a.copy()) is OrderedDict
        texts = tried(e.move_to_end, "nope"), tried(OrderedDict().popitem), tried(lambda: a["q"]), a.get("q")
        return x + len(c), a, b, c, d, e, g, popped, kinds, texts, list(reversed(a)), list(c.items()), e == {"b": 1}

    return {"f": f, "args": x1}


@case()
def given_ordered_dicts():
    def f(x, a):
        a["new"] = x
        a.move_to_end("b")
        a.move_to_end("c", last=False)
        last = a.popitem()
        first = a.popitem(last=False)
        a.pop("d")
        return x + len(a), last, first, list(a)

    return {"f": f, "args": lambda: (t([1.0]), OrderedDict.fromkeys("abcdef"))}


GLOBAL = OrderedDict()


@case(graphs=2, captures=2)
def a_global_ordered_dict():
    def f(x, keys):
        for key in keys:
            GLOBAL.setdefault(key, []).append(len(GLOBAL))
            GLOBAL.move_to_end("a")
        return x + len(GLOBAL), list(GLOBAL.items())

    GLOBAL.clear()
    return {"f": f, "args": lambda: (t([1.0]), "abac"), "watch": lambda: list(GLOBAL.items())}


@case()
def default_dicts():
    def f(x):
        a = defaultdict(list)
        for key, value in [("a", x), ("b", 2), ("a", 3)]:
            a[key].append(value)
        b = defaultdict(int, {"z": 5}, y=1)
        for c in "abca":
            b[c] += 1
        c = defaultdict(lambda: x * len(b))
        d = defaultdict(None, k=1)
        e = defaultdict(dict)
        e["a"]["b"] = c["q"]
        g = defaultdict(lambda: defaultdict(int), (p for p in []))
        g["m"]["n"] += 2
        same = "zz" in a, a.get("zz"), len(a), a.default_factory is list, d.default_factory
        texts = tried(lambda: d["x"]), tried(lambda: defaultdict()["x"]), tried(a.pop, "nope")
        return a, b, d, e, g, same, texts, c["r"], a.copy()["new"], type(a.copy()) is defaultdict, sorted(b)

    return {"f": f, "args": x1}


@case()
def given_default_dicts():
    def f(x, a, b):
        a["new"].append(x)
        a["old"].append(len(a))
        b["k"] += 1
        return x * len(a), b["other"], a.default_factory is list

    return {"f": f, "args": lambda: (t([1.0]), defaultdict(list, old=[1]), defaultdict(lambda: 7, k=1))}


@case(graphs=2, captures=3, breaks=2, reasons=("builtin-with-output",))
def default_dicts_over_breaks():
    def f(x):
        def make():
            y = x + 1
            print("make")
            return [y]

        a, o = defaultdict(make), OrderedDict(b=1, a=x)
        o.move_to_end("b")
        a["k"].append(2)
        print("break")
        o.popitem(last=False)
        a["k"].append(x * 3)
        return a["k"], list(a), a.default_factory is make, o, len(a)

    return {"f": f, "args": x1}


@case(graphs=0, captures=2)
def a_factory_that_changes():
    a = defaultdict(int)
    calls = []

    def f(x):
        return x, a["k"]

    def args():
        calls.append(None)
        a.clear()
        a.default_factory = int if len(calls) < 3 else float
        return x1()

    return {"f": f, "args": args, "watch": lambda: dict(a)}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def what_cannot_be_made():
    def f(x):
        return x + 1, [
            tried(lambda: defaultdict(3)),
            tried(lambda: OrderedDict(3)),
            tried(lambda: OrderedDict([(1, 2, 3)])),
            tried(lambda: OrderedDict([1])),
            tried(lambda: OrderedDict({}, {})),
            tried(lambda: OrderedDict((1,) for _ in "a")),
            tried(lambda: defaultdict(list, [(1,)])),
        ]

    return {"f": f, "args": x1}
