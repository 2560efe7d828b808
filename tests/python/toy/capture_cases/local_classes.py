"""Classes that are made in the frame, by a statement or a call: others at each call, of the same code.

A plain one is made by the simulation. Making another one is a break; what follows finds the class by its path and knows it by
what it is like, so that it is captured once.
"""

import abc
import collections
import dataclasses
import typing
import weakref

from observe import case
from toy_framework import toy

t = toy.tensor
made = case(captures=2, breaks=1, reasons=("builtin",))
simulated = case(captures=1, breaks=0, reasons=())


def x1():
    return (t([1.0, 2.0]),)


@simulated
def instance_of_a_local_class():
    def f(x):
        class Local:
            factor = 3

            def __init__(self, value):
                self.value = value

            def scaled(self):
                return self.value * self.factor

        return Local(x).scaled() + 1

    return {"f": f, "args": x1}


@simulated
def local_class_that_is_returned():
    def f(x):
        class Local:
            def go(self, y):
                return y + 1

        local = Local()
        local.value = local.go(x)
        return local, Local, type(local) is Local

    return {"f": f, "args": x1}


@simulated
def local_class_and_its_base():
    def f(x):
        class Base:
            def __init__(self, value):
                self.value = value

            def go(self):
                return self.value * 2

        class Derived(Base):
            def go(self):
                return super().go() + 1

            @property
            def half(self):
                return self.value / 2

            @staticmethod
            def more(y):
                return y + 1

            @classmethod
            def of(cls, y):
                return cls(y)

        made = Derived(x)
        return (
            made.go() + made.half + Derived.more(x) + Derived.of(x).go(),
            isinstance(made, Base),
            issubclass(Base, Derived),
            Derived is Base,
            Derived.__mro__[1] is Base,
        )

    return {"f": f, "args": x1}


@case(captures=1, breaks=0, reasons=())
def methods_that_close_over_values():
    def f(x):
        y = x * 2

        class Local:
            def go(self, z=x):
                return y + z

        return Local().go()

    return {"f": f, "args": x1}


@simulated
def special_methods_of_a_local_class():
    def f(x):
        class Local:
            def __init__(self, value):
                self.value = value

            def __add__(self, other):
                return Local(self.value + other.value)

            def __getitem__(self, key):
                return self.value * key

            def __len__(self):
                return 4

            def __contains__(self, item):
                return item == 1

            def __call__(self, by):
                return self.value - by

            def __bool__(self):
                return False

            def __iter__(self):
                yield self.value
                yield self.value * 2

        both = Local(x) + Local(x)
        first, second = both
        return both[2] + both(1) + first + second, len(both), 1 in both, bool(both)

    return {"f": f, "args": x1}


@simulated
def local_class_with_slots():
    def f(x):
        class Local:
            __slots__ = ("a", "b")

            def __init__(self, a):
                self.a = a

        local = Local(x)
        return local.a + 1, hasattr(local, "b"), local

    return {"f": f, "args": x1}


@simulated
def local_exception_class():
    def f(x):
        class Local(ValueError):
            pass

        try:
            raise Local(x)
        except KeyError:
            return None
        except Local as error:
            return error.args[0] + 1

    return {"f": f, "args": x1}


@case(captures=1, breaks=1, reasons=("would-raise",))
def local_exception_that_leaves():
    def f(x):
        class Local(ValueError):
            def __str__(self):
                return "told"

        if x.shape[0] == 2:
            raise Local(x * 2)

    return {"f": f, "args": x1}


@simulated
def local_class_of_lists():
    def f(x):
        class Local(list):
            def first(self):
                return self[0] + 1

        local = Local([x, 2])
        local.append(3)
        return local.first(), local, len(local)

    return {"f": f, "args": x1}


# Nobody has looked at the number that is appended to the list, which could be anything: new code makes the class.
@simulated
def containers_in_a_local_class():
    def f(x):
        class Local:
            items = [1, 2]
            names = {"a": 1}
            pair = (3, "b")

            def go(self):
                self.items.append(self.pair[0])
                return x * self.names["a"]

        result = Local().go()
        return result, Local.items, Local.pair

    return {"f": f, "args": x1}


@simulated
def class_of_a_call_of_type():
    def f(x):
        Local = type("Local", (), {"k": 2, "go": lambda self: x * self.k})
        return Local().go()

    return {"f": f, "args": x1}


def make(k):
    class Made:
        factor = k

        def go(self, y):
            return y * self.factor

    return Made


@simulated
def class_of_a_factory():
    def f(x):
        return make(2)().go(x)

    return {"f": f, "args": x1}


@simulated
def classes_of_a_factory_that_differ_by_a_value():
    def f(x):
        return make(2)().go(x) + make(3)().go(x)

    return {"f": f, "args": x1}


@simulated
def local_class_in_a_loop():
    def f(x):
        for _ in range(5):

            class Local:
                def go(self):
                    return x + 1

            x = Local().go()
        return x

    return {"f": f, "args": x1}


@made
def named_tuple_of_a_call():
    def f(x):
        Pair = collections.namedtuple("Pair", "a b", defaults=[4])
        pair = Pair(x, b=x * 2)
        return pair.a + pair.b * Pair(x).b, pair, pair[1], len(pair)

    return {"f": f, "args": x1}


@made
def named_tuple_of_a_statement():
    def f(x):
        class Pair(typing.NamedTuple):
            a: object
            b: int = 2

        pair = Pair(x)
        return pair.a * pair.b, pair, pair._replace(b=3)

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("builtin",))
def local_data_class():
    def f(x):
        @dataclasses.dataclass
        class Data:
            a: object
            b: int = 3
            c: list = dataclasses.field(default_factory=list)

            def go(self):
                return self.a * self.b

        data = Data(x)
        data.c.append(data.go())
        return data, Data(x, 4).go()

    return {"f": f, "args": x1}


class Registered(type):
    def __new__(meta, name, bases, namespace):
        return super().__new__(meta, name, bases, namespace)

    def double(cls, y):
        return y * cls.factor


@case(captures=1, breaks=0, reasons=())
def local_class_of_a_metaclass():
    def f(x):
        class Local(metaclass=Registered):
            factor = 2

            def go(self):
                return type(self).double(x)

        return Local().go(), Local.double(x)

    return {"f": f, "args": x1}


@simulated
def local_class_of_an_abstract_class():
    class Base(abc.ABC):
        @abc.abstractmethod
        def go(self, y): ...

        def twice(self, y):
            return self.go(y) * 2

    def f(x):
        class Local(Base):
            def go(self, y):
                return y + 1

        return Local().twice(x)

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("builtin-with-output",))
def instance_over_a_break():
    def f(x):
        class Local:
            def go(self):
                return self.value + 1

        local = Local()
        local.value = x
        print("between")
        return local.go(), isinstance(local, Local)

    return {"f": f, "args": x1}


@case(captures=2, breaks=1, reasons=("builtin-with-output",))
def instance_alone_over_a_break():
    def made(x):
        class Local:
            def go(self):
                return self.value + 1

        local = Local()
        local.value = x
        return local

    def f(x):
        local = made(x)
        print("between")
        again = type(local)()
        again.value = x * 2
        return local.go() + again.go()

    return {"f": f, "args": x1}


@simulated
def annotations_and_names_of_a_local_class():
    def f(x):
        class Local:
            """Told."""

            value: int = 3

        return x * Local.value, Local.__name__, Local.__qualname__, Local.__module__, Local.__bases__

    return {"f": f, "args": x1}


@simulated
def local_class_in_a_dict():
    def f(x):
        class Local:
            def go(self):
                return x + 1

        table = {"one": Local, "other": [Local, Local()]}
        return table["one"]().go() + table["other"][1].go(), table["one"] is table["other"][0]

    return {"f": f, "args": x1}


@simulated
def descriptors_in_a_local_class():
    def f(x):
        class Local:
            def __init__(self):
                self.kept = x

            def _get(self):
                return self.kept

            def _set(self, value):
                self.kept = value * 2

            value = property(_get, _set)

        local = Local()
        local.value = x
        return local.value + 1

    return {"f": f, "args": x1}


@simulated
def hooks_of_a_local_class():
    def f(x):
        class Local:
            def __getattr__(self, name):
                return name + "!"

            def __setattr__(self, name, value):
                object.__setattr__(self, name + "_", value)

        local = Local()
        local.value = x
        return local.value_ + 1, local.other

    return {"f": f, "args": x1}


class Noted:
    pass


@case(captures=2, breaks=1, reasons=("opaque-call",))
def value_that_a_local_class_holds():
    def inner(x):
        noted = Noted()
        watch = weakref.ref(noted)

        class Local:
            def go(self, y):
                return y, noted

        Local().go(x)
        return watch

    def f(x):
        watch = inner(x)
        return x + 1, watch() is None

    return {"f": f, "args": x1}


@case(captures=1, breaks=0, reasons=())
def local_classes_of_two_calls():
    def call(x):
        class Local:
            def go(self, y):
                return y + 1

        return Local, Local().go(x)

    def f(x):
        first, y = call(x)
        second, z = call(y)
        return first is second, first == second, len({first, second}), z, isinstance(first(), second)

    return {"f": f, "args": x1}


# The list that hears grows.
@case(captures=1, breaks=0, reasons=())
def local_base_that_hears_of_subclasses():
    heard = []

    def f(x):
        class Base:
            def __init_subclass__(cls, **options):
                heard.append((cls.__name__, sorted(options)))

        class Derived(Base):
            def go(self, y):
                return y + 1

        return Derived().go(x)

    return {"f": f, "args": x1, "watch": lambda: heard}
