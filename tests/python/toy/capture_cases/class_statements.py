"""Class statements of many kinds: what the class is like, who hears of it and when, what its instances do."""

import abc
import collections
import collections.abc
import dataclasses
import enum
import gc
import typing
import weakref

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
simulated = case(captures=1, breaks=0, reasons=())


def x1():
    return (t([1.0, 2.0]),)


@open_case
def what_a_class_statement_leaves():
    def f(x):
        class Local:
            """Told."""

            value: int = 3
            other: "text"

            def go(self):
                self.kept = 1
                return __class__

        names = sorted(name for name in vars(Local) if name != "__dict__" and name != "__weakref__")
        return (
            names,
            Local.__doc__,
            Local.__annotations__,
            Local.__name__,
            Local.__qualname__,
            Local.__module__,
            Local().go() is Local,
            vars(Local).get("__firstlineno__") is not None,
            vars(Local).get("__static_attributes__"),
            Local.go.__qualname__,
            x + 1,
        )

    return {"f": f, "args": x1}


def known_base():
    class Base:
        factor = 2

        def __init__(self, value):
            self.value = value

        def go(self):
            return self.value * self.factor

    return Base


@simulated
def base_of_the_program():
    Base = known_base()

    def f(x):
        class Local(Base):
            factor = 5

            def go(self):
                return super().go() + 1

        return Local(x).go(), issubclass(Local, Base), isinstance(Local(x), Base)

    return {"f": f, "args": x1}


class Module:
    def __init__(self, value):
        self.value = value

    def go(self):
        return self.value * 2


@simulated
def base_of_the_module():
    def f(x):
        class Local(Module):
            def go(self):
                return super().go() + 1

        return Local(x).go(), issubclass(Local, Module), isinstance(Local(x), Module), Local.__base__ is Module

    return {"f": f, "args": x1}


@case(graphs=3, captures=3, breaks=0, reasons=())
def listed_among_subclasses():
    Base = known_base()
    kept = []

    def f(x):
        class Local(Base):
            pass

        kept.append(Local)
        return Local(x).go() + 1

    return {"f": f, "args": x1, "watch": lambda: [[c.__name__ for c in Base.__subclasses__()], len(kept), len(set(kept))]}


@open_case
def listed_among_subclasses_though_nobody_keeps_it():
    Base = known_base()

    def f(x):
        class Local(Base):
            pass

        return Local(x).go() + 1

    def g(x):
        gc.collect()
        gc.disable()
        try:
            return f(x), len(Base.__subclasses__())
        finally:
            gc.enable()

    return {"f": g, "args": x1}


@open_case
def subclasses_asked_inside():
    Base = known_base()

    def f(x):
        class Local(Base):
            pass

        return Local(x).go() + 1, Local in Base.__subclasses__()

    return {"f": f, "args": x1}


@open_case
def base_that_is_abstract():
    class Base(abc.ABC):
        @abc.abstractmethod
        def go(self, y): ...

        def twice(self, y):
            return self.go(y) * 2

    def f(x):
        class Local(Base):
            def go(self, y):
                return y + 1

        class Open(Base):
            pass

        try:
            Open()
        except TypeError as error:
            told = str(error)
        return Local().twice(x), told, isinstance(Local(), Base), sorted(Open.__abstractmethods__)

    return {"f": f, "args": x1}


@simulated
def base_of_the_library():
    def f(x):
        class Local(collections.abc.Sequence):
            def __len__(self):
                return 2

            def __getitem__(self, at):
                if at >= 2:
                    raise IndexError(at)
                return x * at

        local = Local()
        return [item + 1 for item in local], len(local), isinstance(local, collections.abc.Sequence)

    return {"f": f, "args": x1}


@simulated
def base_that_is_a_dict():
    def f(x):
        class Local(dict):
            def __missing__(self, key):
                return x + key

        local = Local(a=1)
        local["b"] = 2
        return local[3], local["a"], local, len(local)

    return {"f": f, "args": x1}


@simulated
def base_that_is_an_int():
    def f(x):
        class Local(int):
            def twice(self):
                return self * 2

        local = Local(4)
        return x * local.twice(), local, local + 1

    return {"f": f, "args": x1}


@simulated
def base_that_is_a_str():
    def f(x):
        class Local(str):
            def loud(self):
                return self.upper() + "!"

        return x + 1, Local("a").loud(), Local("b")

    return {"f": f, "args": x1}


@simulated
def two_bases():
    class Mixin:
        def more(self):
            return self.go() + 10

    Base = known_base()

    def f(x):
        class Local(Mixin, Base):
            pass

        return Local(x).more(), [c.__name__ for c in Local.__mro__]

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("builtin",))
def bases_that_do_not_agree():
    def f(x):
        class A:
            pass

        class B(A):
            pass

        try:

            class C(A, B):
                pass
        except TypeError as error:
            return x + 1, str(error)

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("builtin",))
def base_that_refuses():
    def f(x):
        y = x + 1
        try:

            class C(bool):
                pass
        except TypeError as error:
            return y, str(error)

    return {"f": f, "args": x1}


class Named:
    def __set_name__(self, owner, name):
        self.name = name
        self.owner = owner.__name__

    def __get__(self, instance, owner=None):
        return self if instance is None else (self.name, self.owner, instance.value)


@case(captures=1, breaks=0, reasons=())
def descriptor_that_is_told_its_name():
    def f(x):
        class Local:
            field = Named()
            other = Named()

            def __init__(self, value):
                self.value = value

        return Local(x).field[2] + 1, Local.other.name, Local.other.owner

    return {"f": f, "args": x1}


@open_case
def base_that_hears_of_subclasses():
    heard = []

    class Base:
        def __init_subclass__(cls, scale=1, **rest):
            super().__init_subclass__(**rest)
            heard.append(cls.__name__)
            cls.scale = scale

        def go(self, y):
            return y * self.scale

    def f(x):
        class Local(Base, scale=3):
            pass

        return Local().go(x) + len(heard)

    return {"f": f, "args": x1, "watch": lambda: heard}


@open_case
def effects_between_class_statements():
    log = []
    Base = known_base()

    def f(x):
        class A(Base):
            log.append("A")
            factor = len(log)

        log.append(len(Base.__subclasses__()) > 0)

        class B(A):
            log.append("B")

        return B(x).go() + A(x).go()

    return {"f": f, "args": x1, "watch": lambda: log}


@case()
def class_body_that_raises():
    log = []

    def f(x):
        try:

            class Local:
                log.append(1)
                {}["lacking"]
        except KeyError as error:
            return x + 1, error.args

    return {"f": f, "args": x1, "watch": lambda: log}


@case(captures=1, breaks=1, reasons=("would-raise",))
def class_body_that_raises_to_the_caller():
    def f(x):
        y = x + 1

        class Local:
            z = y.shape[0] // 0

        return Local

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def class_body_that_prints():
    def f(x):
        y = x + 1

        class Local:
            print("in the body")
            z = 2

        return y * Local.z

    return {"f": f, "args": x1}


@simulated
def class_body_with_loops_and_conditions():
    def f(x):
        class Local:
            total = 0
            for i in range(4):
                if i % 2:
                    total += i
            del i

        return x * Local.total, hasattr(Local, "i")

    return {"f": f, "args": x1}


@open_case
def class_body_with_comprehensions():
    def f(x):
        class Local:
            squares = [k * k for k in range(3)]
            names = {name: len(name) for name in ("a", "bb")}

        return x * Local.squares[2], Local.squares, Local.names

    return {"f": f, "args": x1}


@simulated
def nested_classes():
    def f(x):
        class Outer:
            class Inner:
                factor = 3

                def go(self, y):
                    return y * self.factor

            inner = Inner()

            def go(self, y):
                return self.inner.go(y) + self.Inner().go(y)

        return Outer().go(x), Outer.Inner.__qualname__

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=0, reasons=())
def class_that_registers_itself():
    registry = {}

    def register(cls):
        registry[cls.__name__] = cls
        return cls

    def f(x):
        @register
        class Local:
            def go(self, y):
                return y + 2

        return registry["Local"]().go(x), registry["Local"] is Local

    return {"f": f, "args": x1, "watch": lambda: sorted(registry)}


@simulated
def class_changed_after_its_statement():
    def f(x):
        class Local:
            count = 0

            def __init__(self):
                Local.count += 1
                type(self).last = self

        first, second = Local(), Local()
        Local.go = lambda self, y: y * self.count
        setattr(Local, "extra", 4)
        return second.go(x), Local.count, Local.last is second, first.extra

    return {"f": f, "args": x1}


@case(captures=1, breaks=0, reasons=())
def attribute_deleted_from_a_class():
    def f(x):
        class Local:
            a = 1
            b = 2

        del Local.a
        return x + Local.b, hasattr(Local, "a")

    return {"f": f, "args": x1}


@simulated
def class_in_two_calls_of_type():
    def f(x):
        A = type("A", (), {"k": 2})
        B = type("B", (A,), dict(go=lambda self, y: y * self.k))
        return B().go(x), B.__name__, A.__module__, B.__mro__[1] is A, type(B) is type

    return {"f": f, "args": x1}


@open_case
def weak_references_to_a_class():
    def inner(x):
        class Local:
            def go(self, y):
                return y + 1

        return weakref.ref(Local), Local().go(x)

    def f(x):
        watch, y = inner(x)
        return y, watch() is not None

    return {"f": f, "args": x1}


@open_case
def class_with_slots_and_defaults():
    def f(x):
        class Local:
            __slots__ = ["a", "b"]

            def __init__(self, a):
                self.a = a

        local = Local(x)
        try:
            local.c = 1
        except AttributeError as error:
            told = str(error)
        return local.a + 1, told, hasattr(local, "__dict__"), sorted(k for k in vars(Local) if len(k) == 1)

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=None)
def data_class_that_is_frozen():
    def f(x):
        @dataclasses.dataclass(frozen=True, order=True)
        class Data:
            a: int
            b: int = 3

        one, two = Data(1), Data(2)
        return x * one.b, one < two, one == Data(1), hash(one) == hash(Data(1)), repr(two)

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("builtin",))
def typed_tuple():
    def f(x):
        class Pair(typing.NamedTuple):
            a: object
            b: int = 2

            def both(self):
                return self.a * self.b

        return Pair(x).both(), Pair(x, 3)[1], Pair._fields, Pair(1)

    return {"f": f, "args": x1}


@open_case
def enumeration_of_a_statement():
    def f(x):
        class Color(enum.Enum):
            RED = 1
            BLUE = 2

            def go(self, y):
                return y * self.value

        return Color.BLUE.go(x), Color(1), [c.name for c in Color], Color["RED"] is Color.RED

    return {"f": f, "args": x1}


@open_case
def flags_of_a_statement():
    def f(x):
        class Bits(enum.IntFlag):
            A = 1
            B = 2

        return x * int(Bits.A | Bits.B), bool(Bits.A & Bits.B)

    return {"f": f, "args": x1}
