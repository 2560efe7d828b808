"""Mappings of the program: `**m` in calls and displays, `dict(m)`, `update`: keys first, then an item for each."""

import sys

from capture_cases.protected import log_case
from observe import case
from toy_framework import toy

t = toy.tensor


class Mapping:
    """Writes down what it is asked; `loud` breaks there."""

    names = ("a", "b")

    def __init__(self, log, loud=False):
        self.log, self.loud = log, loud

    def note(self, what):
        self.log.append(what)
        if self.loud:
            print(what)

    def keys(self):
        self.note("keys")
        return list(self.names)

    def __getitem__(self, key):
        self.note(key)
        return (key, 1)


class Lazy(Mapping):
    def keys(self):
        for name in self.names:
            self.note("give " + name)
            yield name


class Twice(Mapping):
    names = ("a", "a")


class Numbered(Mapping):
    names = ("a", 1)


class NoKeys(Mapping):
    def keys(self):
        self.note("keys")
        raise AttributeError("keys")


class NoItems(Mapping):
    def __getitem__(self, key):
        self.note(key)
        raise AttributeError(key)


class Missing(Mapping):
    def __getitem__(self, key):
        self.note(key)
        raise KeyError(key)


class MissingMore(Mapping):
    def __getitem__(self, key):
        self.note(key)
        raise KeyError(key, 1)


class FiveKeys(Mapping):
    def keys(self):
        self.note("keys")
        return 5


class OneItem:
    def keys(self):
        return ["a"]


class Nothing:
    pass


class Caller:
    def method(self, **options):
        return options

    def __call__(self, **options):
        return options


def take(*args, **options):
    return args, options


def update(m):
    table = {"z": 0}
    table.update(m)
    return table


def update_with(m):
    table = {}
    table.update(m, c=3)
    return table


def merge(m):
    table = {"a": 0, "z": 1}
    return {**table, **m, "z": 2, **m}


WAYS = {
    "call": lambda m: take(**m),
    "call with more": lambda m: take(1, *(2,), c=3, **m),
    "given before": lambda m: take(a=3, **m),
    "two": lambda m: take(**{"c": 1}, **m),
    "method": lambda m: Caller().method(b=1, **m),
    "type": lambda m: dict(a=1, **m),
    "lambda": lambda m: (lambda **options: options)(**m),
    "display": lambda m: {**m},
    "displays": merge,
    "dict": lambda m: dict(m),
    "dict with more": lambda m: dict(m, c=3),
    "update": update,
    "update with more": update_with,
}
KINDS = (Mapping, Lazy, Twice, Numbered, NoKeys, NoItems, Missing, MissingMore, FiveKeys)


def register(name, way):
    for loud in (False, True):

        def build(loud=loud):
            def f(x, log):
                for kind in KINDS:
                    log.append(kind.__name__)
                    try:
                        log.append(way(kind(log, loud)))
                    except Exception as error:
                        log.append((type(error).__name__, str(error), type(error.__context__).__name__))
                for kind in (OneItem, Nothing):
                    try:
                        log.append(way(kind()))
                    except Exception as error:
                        log.append((type(error).__name__, str(error)))
                return x + 1

            return {"f": f, "args": lambda: (t([1.0]), [])}

        build.__name__ = f"mapping_in_{name.replace(' ', '_')}{'_and_a_break' if loud else ''}"
        case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for _name, _way in WAYS.items():
    register(_name, _way)


class Layers(Mapping):
    def __init__(self, log, x):
        super().__init__(log)
        self.x = x

    def __getitem__(self, key):
        return self.x * len(self.names)


# Up to 3.8 one instruction joins all mappings of a call or display.
@log_case(**({"graphs": None, "captures": None, "breaks": None, "reasons": None} if sys.version_info < (3, 9) else {}))
def mappings_are_inlined():
    def f(x, log):
        m = Layers(log, x)
        return take(1, **m), take(c=x, **m)[1]["a"], {**m, "c": x}, dict(m, d=x), update(m)

    return f


@case()
def merged_and_taken_from():
    def f(x, given):
        table = {"a": x, "b": 2}
        last = table.popitem()
        table.update([("c", 3), ("a", 4)], d=5)
        given.popitem()
        given.update({"n": x}.items())
        made = dict([("k", 1)], m=2), dict(table, a=0), dict({("p", 1)})
        return last, table, list(reversed(table)), list(reversed(table.items())), made, given, x + 1

    return {"f": f, "args": lambda: (t([1.0]), {"q": 1, "w": 2})}


@case(graphs=None, captures=None, breaks=None, reasons=None)
def joined_by_an_operator():
    def f(x, given):
        try:
            table = {"a": x, "b": 2} | {"a": 1, "c": given}
            same = given
            given |= {"z": x}
            return table, same is given, given
        except TypeError as error:
            return str(error)

    return {"f": f, "args": lambda: (t([1.0]), {"q": 1})}


@case()
def many_keys_come_and_go():
    def f(x):
        table = {i: i for i in range(300)}
        for i in range(0, 300, 2):
            del table[i]
        for i in range(50):
            table[i] = -i
        return len(table), list(table)[:10], list(table)[-10:], 2 in table, 298 in table, table.pop(299), x + table[49]

    return {"f": f, "args": lambda: (t([1.0]),)}
