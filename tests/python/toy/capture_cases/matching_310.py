"""The `match` statement."""

import collections
import dataclasses
import enum

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Point:
    x: object
    y: object = 0


class Plain:
    __match_args__ = ("a", "b")

    def __init__(self, **parts):
        for name, value in parts.items():
            setattr(self, name, value)


class Sequence(collections.abc.Sequence):
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


class Mapping(collections.abc.Mapping):
    def __init__(self, **items):
        self.items_ = items

    def __len__(self):
        return len(self.items_)

    def __iter__(self):
        return iter(self.items_)

    def __getitem__(self, key):
        return self.items_[key]


@case()
def match_literals():
    def f(x):
        found = []
        for subject in (1, "a", None, True, 2.5, -1, b"b", 7):
            match subject:
                case None:
                    found.append("none")
                case True:
                    found.append("true")
                case 1 | 2:
                    found.append("small")
                case "a" | b"b":
                    found.append("text")
                case -1:
                    found.append("minus")
                case float(value) if value > 2:
                    found.append(value)
                case other:
                    found.append(("other", other))
        return x + len(found), found

    return {"f": f, "args": x1}


@case()
def match_sequences():
    def f(x):
        found = []
        for subject in ([], [1], [1, 2], (1, 2, 3), "ab", [[1, 2], 3], range(2), {1: 2}, b"ab", [[x], 4]):
            match subject:
                case []:
                    found.append("empty")
                case [only]:
                    found.append(("one", only))
                case [[inner, *_], last]:
                    found.append(("nested", inner, last))
                case [1, *rest]:
                    found.append(("from one", rest))
                case [first, last]:
                    found.append(("two", first, last))
                case _:
                    found.append("other")
        return x + 1, found

    return {"f": f, "args": x1}


@case()
def match_mappings():
    def f(x):
        found = []
        for subject in ({}, {"a": 1}, {"a": 2, "b": x}, {"b": 1}, {1: "x", None: "y", "k": 0}, [1], {"c": {"d": 5}}):
            match subject:
                case {"a": 1}:
                    found.append("a is 1")
                case {"a": a, **rest}:
                    found.append((a, rest))
                case {"c": {"d": deep}}:
                    found.append(deep)
                case {1: one, None: none, **rest}:
                    found.append((one, none, rest))
                case {"b": b}:
                    found.append(b)
                case {}:
                    found.append("any mapping")
                case _:
                    found.append("other")
        return x + 1, found

    return {"f": f, "args": x1}


@case()
def match_classes():
    def f(x, config):
        found = []
        for subject in (Point(1, 2), Point(0), Point("p", 3), 5, "text", [1], Plain(a=1, b=2), Plain(a=1), config, True):
            match subject:
                case Point(0, y=0):
                    found.append("origin")
                case Point(x=1, y=y):
                    found.append(("one", y))
                case Point(_, y) if y == 3:
                    found.append(("guarded", y))
                case Plain(a, b=b):
                    found.append((a, b))
                case Plain():
                    found.append("plain")
                case bool(b):
                    found.append(b)
                case int(number):
                    found.append(number)
                case str() as text:
                    found.append(text)
                case list([item]):
                    found.append(item)
        return x * config.a, found

    return {"f": f, "args": lambda: (t([1.0]), Plain(a=2))}


@case()
def match_members_and_captures():
    def f(x, color):
        match color:
            case Color.RED:
                x = x * 2
            case Color.BLUE as found:
                x = x * found.value
        match (1, (2, [x, 4])):
            case (a, (b, [c, d] as inner)) as whole:
                return c + a + b + d, inner, whole

    return {"f": f, "args": lambda: (t([1.0]), Color.BLUE)}


@case()
def match_sequences_and_mappings_of_the_program():
    ordered = collections.OrderedDict(a=4)

    def f(x):
        found = []
        for subject in (Sequence(1, 2, 3), Mapping(a=1, b=2), Sequence(), ordered):
            match subject:
                case [a, *rest]:
                    found.append((a, rest))
                case {"a": a, "b": b}:
                    found.append((a, b))
                case {"a": a, **rest}:
                    found.append((a, rest))
                case []:
                    found.append("empty")
        return x + 1, found

    return {"f": f, "args": x1}




@open_case
def match_parts_that_speak():
    class Speaks:
        __match_args__ = ("first", "second")

        @property
        def first(self):
            print("first")
            return 1

        @property
        def second(self):
            print("second")
            raise AttributeError("none")

    def f(x):
        y = x + 1
        match Speaks():
            case Speaks(2, 3):
                return 0
            case Speaks(first=1):
                return y * 2

    return {"f": f, "args": x1}


class Few:
    __match_args__ = ("a",)
    a = 1


class Wrong:
    __match_args__ = ["a"]


class Odd:
    __match_args__ = (1,)


@open_case
def match_that_raises():
    def f(x):
        found = []
        for subject in (Few(), Wrong(), Odd(), 3):
            try:
                match subject:
                    case Few(1, 2):
                        pass
                    case Wrong(1):
                        pass
                    case Odd(1):
                        pass
                    case int(1, 2):
                        pass
            except TypeError as error:
                found.append(str(error))
        try:
            match Few():
                case Few(1, a=2):
                    pass
        except TypeError as error:
            found.append(str(error))
        return x + 1, found

    return {"f": f, "args": x1}


@case()
def match_none_of_them():
    def f(x, subject):
        match subject:
            case [1, 2]:
                x = x * 2
            case {"k": 1}:
                x = x * 3
        return x + 1

    return {"f": f, "args": lambda: (t([1.0]), [1, 3])}


@case(graphs=2, captures=2)
def match_that_takes_another_way():
    ways = iter([[1, 2], [1, 2], {"k": t([5.0])}] * 2)

    def f(x, subject):
        match subject:
            case [a, b]:
                return x * a + b
            case {"k": k}:
                return x * k

    return {"f": f, "args": lambda: (t([1.0]), next(ways))}
