"""Subclasses of builtin types: what they override counts."""

import collections
import typing

from observe import open_case
from toy_framework import toy

t = toy.tensor


class OddList(list):
    def __len__(self):
        return 7

    def __bool__(self):
        return False

    def __getitem__(self, index):
        return "got"

    def __iter__(self):
        return iter(["it"])

    def __contains__(self, item):
        return True


class OddDict(dict):
    def __missing__(self, key):
        return "missing"

    def __getitem__(self, key):
        return "got", key

    def keys(self):
        return ["k1", "k2"]

    def __len__(self):
        return 3


class OddTuple(tuple):
    def __len__(self):
        return 9

    def __getitem__(self, index):
        return "got"

    def __iter__(self):
        return iter("ab")

    def __bool__(self):
        return False


class OddText(str):
    def __len__(self):
        return 4

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class OddInt(int):
    def __add__(self, other):
        return "added"

    def __bool__(self):
        return False


class OddPair(collections.namedtuple("OddPair", "a b")):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return "got"

    def __iter__(self):
        return iter("xyz")

    def __bool__(self):
        return False


class Made(collections.namedtuple("Made", "a b")):
    def __new__(cls, a, b):
        return super().__new__(cls, a * 2, b * 3)


class Sub(collections.namedtuple("Sub", "a b")):
    pass


class Typed(typing.NamedTuple):
    a: int
    b: int = 4

    def total(self):
        return self.a + self.b


class Renamed(collections.namedtuple("Renamed", "a b")):
    @property
    def a(self):
        return "property"


MAKERS = {
    "list": lambda: OddList([1, 2]),
    "dict": lambda: OddDict({0: 2}),
    "tuple": lambda: OddTuple([1, 2]),
    "text": lambda: OddText("ab"),
    "int": lambda: OddInt(3),
    "named_tuple": lambda: OddPair(1, 2),
    "made_tuple": lambda: Made(1, 2),
    "plain_named_tuple": lambda: Sub(1, 2),
    "typed_tuple": lambda: Typed(1),
    "counter": lambda: collections.Counter("aab"),
    "default_dict": lambda: collections.defaultdict(list, {0: 1}),
}
USES = {
    "length": lambda o: len(o),
    "truth": lambda o: "yes" if o else "no",
    "item": lambda o: o[0],
    "missing_item": lambda o: o["no"],
    "loop": lambda o: [i for i in o],
    "membership": lambda o: 5 in o,
    "tuple_of": lambda o: tuple(o),
    "list_of": lambda o: list(o),
    "star": lambda o: [*o],
    "two_stars": lambda o: {**o},
    "dict_of": lambda o: dict(o),
    "equality": lambda o: o == [1],
    "sum": lambda o: o + o,
    "kind": lambda o: (isinstance(o, list), isinstance(o, tuple), isinstance(o, dict), type(o).__name__),
}


def given(name, make, use, body):
    def build():
        def f(x, value):
            y = x + 1
            return body(value), y

        return {"f": f, "args": lambda: (t([1.0]), make())}

    build.__name__ = f"{use}_of_odd_{name}"
    open_case(build)


for maker in MAKERS.items():
    for use in USES.items():
        given(*maker, *use)


@open_case
def named_tuples_made_in_the_frame():
    def f(x):
        a, b, c, d = Sub(1, b=2), Made(1, 2), Typed(1), Renamed(1, 2)
        return a, b, c, d, a.a + b.b, c.total(), d.a, d.b, len(a), x + a.a, a._fields, a == (1, 2), a + (3,)

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def named_tuple_with_a_dict():
    def f(x, pair):
        return pair.tag, pair.a, hasattr(pair, "other"), x + 1

    def args():
        pair = Sub(1, 2)
        pair.tag = "tag"
        return t([1.0]), pair

    return {"f": f, "args": args}


@open_case
def ordered_dicts():
    def f(x, table):
        copy = table.copy()
        copy["z"] = x + 1
        views = list(copy), list(reversed(table)), list(table.items()), list(reversed(table.values()))
        return copy, type(copy).__name__, table, views, table == copy, table.get("a"), "a" in copy, copy.pop("b")

    return {"f": f, "args": lambda: (t([1.0]), collections.OrderedDict(b=1, a=2))}


@open_case
def keywords_from_a_subclass_of_dict():
    def g(**kwargs):
        return kwargs

    def f(x, table):
        y = x + 1
        return g(q=1, **table), {"z": 1, **table, "y": 2}, y

    return {"f": f, "args": lambda: (t([1.0]), collections.defaultdict(int, {"a": 1}))}


@open_case
def arguments_from_a_generator():
    def g(*args):
        return args

    def f(x, items):
        y = x + 1
        return g(*(1, *(i * 2 for i in items))), [*items, *(i for i in items)], y

    return {"f": f, "args": lambda: (t([1.0]), [1, 2])}


class SilentDict(dict):
    def __eq__(self, other):
        return NotImplemented

    __ne__ = __lt__ = __eq__


class SilentList(list):
    def __eq__(self, other):
        return NotImplemented

    __ne__ = __lt__ = __gt__ = __eq__


class SilentTuple(tuple):
    def __eq__(self, other):
        return NotImplemented

    __ne__ = __lt__ = __gt__ = __eq__
    __hash__ = tuple.__hash__


class SilentText(str):
    def __eq__(self, other):
        return NotImplemented

    __ne__ = __lt__ = __gt__ = __eq__
    __hash__ = str.__hash__


class SilentInt(int):
    def __eq__(self, other):
        return NotImplemented

    __ne__ = __lt__ = __gt__ = __eq__
    __hash__ = int.__hash__


class SilentSet(frozenset):
    def __eq__(self, other):
        return NotImplemented

    __ne__ = __lt__ = __gt__ = __eq__
    __hash__ = frozenset.__hash__


class Silent:
    def __eq__(self, other):
        return NotImplemented

    __ne__ = __lt__ = __gt__ = __eq__


SILENT = {
    "dict": lambda: (SilentDict(a=1), {"a": 1}, {"a": 2}),
    "counter": lambda: (collections.Counter("aab"), {"a": 2, "b": 1}, {"a": 2}),
    "list": lambda: (SilentList([1]), [1], [2]),
    "tuple": lambda: (SilentTuple([1]), (1,), (2,)),
    "named_tuple": lambda: (SilentTuple([1, 2]), Sub(1, 2), Sub(1, 3)),
    "text": lambda: (SilentText("a"), "a", "b"),
    "int": lambda: (SilentInt(1), 1, 2),
    "float": lambda: (SilentInt(1), 1.0, 2.0),
    "set": lambda: (SilentSet([1]), frozenset([1]), {1, 2}),
    "object": lambda: (Silent(), {"a": 1}, 3),
}


def compared(name, make):
    """A builtin has the word when the method of a class that extends it says NotImplemented."""

    def build():
        def f(x, silent, same, other):
            y = x + 1
            found = [silent == same, same == silent, silent != same, same != silent, silent == other, other != silent]
            if silent == same:
                found.append("equal")
            for ordered in (lambda: silent < other, lambda: other < silent, lambda: same > silent):
                try:
                    found.append(ordered())
                except TypeError as error:
                    found.append(str(error))
            return found, y

        return {"f": f, "args": lambda: (t([1.0]), *make())}

    build.__name__ = f"silent_{name}_compared"
    open_case(build)


for silent in SILENT.items():
    compared(*silent)
