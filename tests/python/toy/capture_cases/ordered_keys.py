"""Ordered dicts with keys whose `__hash__` and `__eq__` are code of the program: an ordered dict asks more often than a dict, and its
iterators ask, too."""

from collections import OrderedDict, defaultdict

from capture_cases.loud import Key, Point
from observe import case
from toy_framework import toy

t = toy.tensor

# What three calls come to where hashes, or comparisons, print. Comprehensions are frames of their own before 3.12.
DECISIONS = {
    ("stored", "hash"): dict(captures=10, breaks=9, reasons=("builtin-with-output",)),
    ("stored", "eq"): dict(captures=12, breaks=11, reasons=("builtin-with-output",)),
    # One more comparison on the way before 3.11; and what lives on differs from run to run.
    ("taken_out", "hash"): dict(graphs=None, captures=None, breaks=None, reasons=("builtin-with-output", "opaque-call")),
    ("taken_out", "eq"): dict(captures=None, breaks=None, reasons=("builtin-with-output",)),
    ("moved", "hash"): dict(captures=28, breaks=24, reasons=("builtin-with-output", "opaque-value", "user-code")),
    # Behind a break the dict below has an order of its own, and its hashes are not read.
    ("moved", "eq"): dict(captures=None, breaks=None, reasons=("builtin-with-output", "opaque-value", "user-code")),
    ("set_by_default", "hash"): dict(captures=6, breaks=5, reasons=("builtin-with-output",)),
    ("set_by_default", "eq"): dict(captures=2, breaks=1, reasons=("builtin-with-output",)),
    ("walked", "hash"): dict(graphs=None, captures=None, breaks=None, reasons=None),
    ("walked", "eq"): dict(graphs=None, captures=None, breaks=None, reasons=None),
    ("compared", "hash"): dict(captures=10, breaks=9, reasons=("builtin-with-output",)),
    ("compared", "eq"): dict(captures=11, breaks=10, reasons=("builtin-with-output",)),
    # `{**a}` asks before the instruction in 3.8.
    ("made_of_others", "hash"): dict(captures=None, breaks=None, reasons=("builtin-with-output",)),
    ("made_of_others", "eq"): dict(captures=8, breaks=7, reasons=("builtin-with-output",)),
}


def member_of_family(function, loud):
    def build():
        def args():
            log = []
            return (t([1.0]), lambda n: Key(log, n, loud), log)

        return {"f": lambda x, key, log: function(x, key), "args": args}

    build.__name__ = "ordered_" + function.__name__ + (f"_loud_{loud}" if loud else "")
    case(**(DECISIONS[function.__name__, loud] if loud else {}))(build)


def family(function):
    for loud in ("", "hash", "eq"):
        member_of_family(function, loud)
    return function


def seen(table):
    return [(key if isinstance(key, str) else key.n, value) for key, value in table.items()]


@family
def stored(x, key):
    d = OrderedDict()
    d[key(1)] = x
    d[key(2)] = 2
    d[key(5)] = 3
    d[key(2)] = 4
    d["a"] = 5
    return x + len(d), d, key(5) in d, key(6) in d, d.get(key(1)) is x, d[key(2)], d.get("a"), d.get(key(9), 8)


@family
def taken_out(x, key):
    d = OrderedDict([(key(n), n) for n in (1, 2, 3, 6)])
    out = [d.pop(key(2)), d.pop(key(7), None), d.popitem(), d.popitem(last=False)]
    del d[key(3)]
    for way in (d.pop, d.__delitem__, d.move_to_end, d.__getitem__):
        try:
            way(key(3))
        except KeyError as error:
            out.append(error.args[0].n)
    return x + 1, [n if isinstance(n, (int, type(None))) else n[1] for n in out], d


@family
def moved(x, key):
    first = key(1)
    d = OrderedDict({first: 1, key(2): 2, key(3): x})
    d.move_to_end(first)
    d.move_to_end(first)
    d.move_to_end(key(3), last=False)
    d.move_to_end(key(2))
    return x + 1, d, [k.n for k in d], [k.n for k in reversed(d)]


@family
def set_by_default(x, key):
    d = OrderedDict()
    return x + 1, d.setdefault(key(1), x) is x, d.setdefault(key(1), 2) is x, d.setdefault(key(6)), d


@family
def walked(x, key):
    d = OrderedDict([(key(1), x), (key(2), 2), (key(5), 3)])
    names = [k.n for k in d]
    for value in d.values():
        x = x + value
    pairs = [(k.n, v) for k, v in d.items() if k.n == 2]
    a, *rest = d
    return x, names, pairs, a.n, len(rest), len(list(d)), len(sorted(d, key=lambda k: k.n)), seen(d)[1:]


@family
def compared(x, key):
    a, b = OrderedDict([(key(1), 1), (key(2), 2)]), OrderedDict([(key(2), 2), (key(1), 1)])
    plain = {key(2): 2, key(1): 1}
    return x + 1, a == b, a != b, a == plain, plain == b, a == a.copy(), b == OrderedDict([(key(2), 2)])


@family
def made_of_others(x, key):
    a = OrderedDict([(key(1), x), (key(1), 2), (key(3), 3)])
    b = OrderedDict(a)
    b.update({key(3): 4, "k": 5}, more=6)
    b.update(a)
    c = OrderedDict.fromkeys([key(1), key(4), key(1)], x)
    d = defaultdict.fromkeys([key(1), key(1)], 7)
    return x + 1, a, b, c, d, len(dict(b)), len({**a}), len(a.copy())


def given(loud=""):
    log = []
    d = OrderedDict()
    for n in (1, 2, 7):
        d[Key(log, n)] = n
    d["a"] = 4
    return t([1.0]), d, lambda n: Key(log, n, loud), log


@case()
def ordered_a_given_one():
    def f(x, d, key, log):
        d[key(1)] = x
        d[key(4)] = 5
        d.move_to_end(key(2))
        d.move_to_end("a", last=False)
        last = d.popitem()
        d.pop(key(7))
        return x + len(d), last[1], seen(d), len(log)

    return {"f": f, "args": given}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def ordered_a_given_one_over_a_break():
    def f(x, d, key, log):
        d[key(1)] = x
        del d[key(2)]
        x = x + 1
        print("break")
        d.pop("a")
        d[key(8)] = 2
        return x + len(d), seen(d)

    return {"f": f, "args": given}


@case()
def ordered_with_frozen_dataclasses():
    def f(x):
        d = OrderedDict()
        for n in (1, 2, 1, 3, 2):
            d[Point(n)] = d.get(Point(n), 0) + 1
            d.move_to_end(Point(n))
        return x + d[Point(1)], d, d.popitem(last=False)

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(captures=8, breaks=7, reasons=("opaque-call", "opaque-value", "user-code"))
def ordered_changed_on_the_way():
    def f(x, d, key, log):
        out = []
        try:
            for k in d:
                out.append(k if isinstance(k, str) else k.n)
                d[key(20)] = 1
        except RuntimeError as error:
            out.append(str(error))
        try:
            for k in d:
                d.move_to_end(k)
        except RuntimeError as error:
            out.append(str(error))
        return x + 1, out, len(d)

    return {"f": f, "args": given}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def ordered_many_of_one_hash():
    def f(x, key):
        d = OrderedDict()
        for n in range(0, 28, 2):
            d[key(n)] = n
        for n in (8, 2, 12):
            del d[key(n)]
        d[key(30)] = 5
        return x + len(d), seen(d)

    def args():
        log = []
        return t([1.0]), lambda n: Key(log, n)

    return {"f": f, "args": args}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def ordered_compared_with_dicts_of_all_kinds():
    """Whose items are asked: those of the left, unless the class of the right extends its class."""

    class Item:
        def __init__(self, log, name):
            self.log, self.name = log, name

        def __eq__(self, other):
            self.log.append((self.name, other.name))
            return True

        __hash__ = None

    class Extends(OrderedDict):
        pass

    def f(x):
        log = []
        kinds = dict, OrderedDict, lambda items: defaultdict(None, items), Extends
        made = [kind({1: Item(log, index), 2: Item(log, -index)}) for index, kind in enumerate(kinds)]
        equal = [left == right for left in made for right in made if left is not right]
        return x + 1, equal, log

    return {"f": f, "args": lambda: (t([1.0]),)}


class Growing:
    """Another hash each time that it is asked."""

    def __init__(self, log):
        self.log = log

    def __hash__(self):
        self.log.append("hash")
        return len(self.log)


class Own(OrderedDict):
    pass


def not_found(class_, walk):
    def build():
        asked, table = [], class_()
        for i in range(3):
            table[Growing(asked)] = i

        def f(x, log):
            try:
                log.append(walk(table))
            except KeyError as error:
                log.append((type(error.args[0]).__name__, len(asked)))
            return x * 2

        return {"f": f, "args": lambda: (t([1.0]), [])}

    build.__name__ = f"not_found_{class_.__name__}_{walk.__name__}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


def walked_keys(table):
    return list(table)


def walked_values(table):
    return list(table.values())


def walked_items(table):
    return [item for item in table.items()]


def walked_backwards(table):
    return list(reversed(table))


def copied(table):
    # Its own keys are not found, either: nobody walks it.
    return len(table.copy())


for class_ in (OrderedDict, Own):
    for walk in (walked_keys, walked_values, walked_items, walked_backwards, copied):
        not_found(class_, walk)


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def many_keys_whose_hash_breaks():
    def f(x, table, log):
        class Loud:
            def __init__(self, number):
                self.number = number

            def __hash__(self):
                print("hash")
                return self.number % 7

            def __eq__(self, other):
                log.append((self.number, other.number))
                return self is other

        for i in range(70):
            table[Loud(i)] = i
        return x * len(table)

    return {"f": f, "args": lambda: (t([1.0]), Own(), [])}
