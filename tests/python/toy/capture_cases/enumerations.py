"""Enumerations, and what else operators ask of classes: their metaclasses answer."""

import abc
import enum

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Color(enum.Enum):
    RED = 1
    BLUE = 2
    ALIAS = 1

    def shout(self):
        return self.name + "!"

    @property
    def twice(self):
        return self.value * 2

    @classmethod
    def first(cls):
        return cls.RED


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


class Access(enum.Flag):
    READ = 4
    WRITE = 2
    RUN = 1
    BOTH = 6


class Bits(enum.IntFlag):
    LOW = 1
    HIGH = 2
    BOTH = 3


class Word(str, enum.Enum):
    A = "a"
    B = "b"


class Point(enum.Enum):
    ORIGIN = (0, 0)
    ONE = (1, 1)

    def __init__(self, x, y):
        self.x = x
        self.y = y


@case()
def enumeration_values_and_names():
    def f(x):
        return x * Color.RED.value + Color.BLUE.twice, Color.BLUE.name, Color.RED.shout(), Color.first(), Point.ONE.x

    return {"f": f, "args": x1}


@case()
def enumeration_members_compared():
    def f(x, color=Color.BLUE):
        same = Color.RED == Color.BLUE, Color.RED is Color.ALIAS, Color.RED != Color.ALIAS, color is Color.BLUE
        if color == Color.BLUE:
            x = x * 3
        return x + 1, same, 1 if Color.RED else 0, color in (Color.RED, Color.BLUE), color in [1, "2"]

    return {"f": f, "args": x1}


@case()
def enumeration_found_by_value_and_name():
    def f(x):
        return x + Color(2).value, Color(1) is Color["ALIAS"], Color["RED"], Number(2), Word("b"), Point((1, 1))

    return {"f": f, "args": x1}


@case()
def enumeration_not_found():
    def f(x):
        found = []
        for wrong in (77, "RED"):
            try:
                found.append(Color(wrong))
            except ValueError as error:
                found.append(str(error))
        try:
            Color["NOTHING"]
        except KeyError as error:
            found.append(str(error))
        return x + 1, found

    return {"f": f, "args": x1}


@case()
def enumeration_iterated():
    def f(x):
        for color in Color:
            x = x * color.value
        names = [c.name for c in Color], list(Color), tuple(reversed(Color)), sorted(c.value for c in Number)
        return x, names, len(Color), bool(Color), {c.name: c.value for c in Color}

    return {"f": f, "args": x1}


@case()
def enumeration_members_inside():
    def f(x, color):
        return x + 1, color in Color, isinstance(color, Color), isinstance(color, enum.Enum), isinstance(2, Number)

    return {"f": f, "args": lambda: (t([1.0]), Color.RED)}


@case()
def enumeration_of_numbers():
    def f(x):
        numbers = Number.ONE + 1, Number.ONE < Number.TWO, Number.TWO == 2, 3 > Number.TWO, Number.TWO * 2.5, -Number.TWO
        more = int(Number.TWO), [5, 6, 7][Number.ONE], "abc" * Number.TWO, float(Number.ONE), divmod(7, 2)[Number.ONE]
        return x * Number.TWO + Number.ONE, numbers, more, 1 if Number.ONE else 0, list(range(Number.TWO))

    return {"f": f, "args": x1}


@case()
def enumeration_of_flags():
    def f(x):
        both = Access.READ | Access.WRITE
        if both & Access.READ:
            x = x + 1
        if both & Access.RUN:
            x = x * 100
        kept = both is Access.BOTH, Access.READ in both, both ^ Access.READ, both.value, bool(both & Access.RUN)
        return x, kept, both & ~Access.READ

    return {"f": f, "args": x1}


@open_case
def enumeration_of_flags_that_are_numbers():
    def f(x):
        both = Bits.LOW | Bits.HIGH
        return x + int(both), both is Bits.BOTH, both & Bits.LOW, bool(both & 4), both == 3, both & 1, 2 & both

    return {"f": f, "args": x1}


@case()
def enumeration_of_flags_that_are_numbers_in_conditions():
    def f(x):
        both = Bits.LOW | Bits.HIGH
        if both & Bits.LOW:
            x = x + 1
        return x * 2 if not Bits.HIGH else x * int(Bits.HIGH), both is Bits.BOTH, both == 3, Bits.LOW < both

    return {"f": f, "args": x1}


@open_case
def enumeration_of_words():
    def f(x):
        return x + 1, Word.A == "a", Word.A.value, Word.A.upper(), Word.B > "a", len(Word.A), Word.A + "b", f"{Word.A.value}"

    return {"f": f, "args": x1}


@open_case
def enumeration_members_and_texts():
    def f(x):
        members = list(Color.__members__), Color.__members__["RED"], Color.__name__
        return x + 1, members, str(Color.RED), repr(Color.BLUE), f"{Color.RED}", f"{Number.ONE:>3}"

    return {"f": f, "args": x1}


class Registry(type):
    """A class that is a container of what it has made."""

    made = {"a": 1, "b": 2}

    def __iter__(cls):
        return iter(cls.made)

    def __len__(cls):
        return len(cls.made)

    def __getitem__(cls, key):
        return cls.made[key]

    def __setitem__(cls, key, value):
        cls.made[key] = value

    def __delitem__(cls, key):
        del cls.made[key]

    def __contains__(cls, key):
        return key in cls.made

    def __bool__(cls):
        return False

    def __call__(cls, *args):
        return super().__call__(*args), "called"

    def __instancecheck__(cls, instance):
        return hasattr(instance, "registered")

    def __subclasscheck__(cls, subclass):
        return subclass.__name__.startswith("Reg")


class Thing(metaclass=Registry):
    registered = True

    def __class_getitem__(cls, key):
        return "never asked"


class Generic:
    def __class_getitem__(cls, key):
        return cls.__name__, key


@case()
def classes_that_are_containers():
    def f(x):
        found = list(Thing), len(Thing), Thing["a"], "b" in Thing, "c" in Thing, [k for k in Thing], *Thing
        return x + (2 if Thing else 3), found, sorted(Thing), {**{k: 1 for k in Thing}}

    return {"f": f, "args": x1}


@case(graphs=1, captures=1)
def classes_that_are_written():
    def f(x):
        Thing["c"] = 3
        size = len(Thing)
        del Thing["c"]
        return x + size, len(Thing)

    return {"f": f, "args": x1, "watch": lambda: Registry.made}


@case()
def classes_that_are_called():
    def f(x):
        thing, how = Thing()
        return x + 1, how, thing.registered

    return {"f": f, "args": x1}


@case()
def classes_that_say_who_belongs():
    class Plain:
        pass

    plain = Plain()

    def f(x):
        other = Plain()
        other.registered = 1
        checks = isinstance(plain, Thing), isinstance(other, Thing), isinstance(other, (int, Thing)), isinstance(3, (int, Thing))
        return x + 1, checks, issubclass(Plain, Thing), issubclass(Registry, (str, Thing))

    return {"f": f, "args": x1}


@case()
def classes_with_parameters():
    def f(x):
        return x + 1, Generic["a"], Generic[1, 2]

    return {"f": f, "args": x1}


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...


class Square(Shape):
    def area(self):
        return 4


@Shape.register
class Virtual:
    pass


class OwnMeta(abc.ABCMeta):
    pass


class OfOwnMeta(metaclass=OwnMeta):
    pass


@case()
def abstract_classes_are_asked():
    def f(x):
        square, virtual = Square(), Virtual()
        checks = isinstance(square, Shape), isinstance(virtual, Shape), isinstance(3, Shape), issubclass(Virtual, Shape)
        return x + square.area(), checks, isinstance(square, OfOwnMeta), isinstance(square, (OfOwnMeta, Shape))

    return {"f": f, "args": x1}


class Masked:
    """Its instances say that they are of another class."""

    @property
    def __class__(self):
        return Square


@open_case
def instances_that_say_they_are_others():
    masked = Masked()

    def f(x):
        return x + 1, isinstance(masked, Square), isinstance(masked, Shape), isinstance(masked, int), isinstance(masked, Masked)

    return {"f": f, "args": x1}
