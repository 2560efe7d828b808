"""Classes that a call makes anew each time: what follows the call knows one by what it is like, and sees what differs."""

import collections

from changing import change
from toy_framework import toy

t = toy.tensor


class Two:
    factor = 2

    def scale(self, x):
        return x * 2


class Five:
    factor = 5

    def scale(self, x):
        return x * 5


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.factor = 7
        return made


class Tells:
    def __get__(self, instance, owner):
        return 11


# The same at each call, but made by the same code as others.
def alike(factor=2):
    class Alike:
        def scale(self, x):
            return x * factor

    return Alike


KEPT = alike()


def differing(name, first, second, use):
    """A function that `use`s what is made by one function, then by another."""

    def build():
        box = [first]

        @toy.not_to_static
        def make():
            return box[0]()

        def f(x):
            return use(make(), x)

        return f, lambda: box.__setitem__(0, second)

    build.__name__ = "local_class_" + name
    change(build)


def of_call(*bases, **namespace):
    return lambda: type("Made", bases, dict(namespace))


def scaled(cls, x):
    return cls().scale(x)


def factor(cls, x):
    return x * cls.factor


def by_instance(cls, x):
    return x * cls().factor


def function(k):
    return eval(f"lambda self, x: x * {k}")


def with_default(k):
    def scale(self, x, by=k):
        return x * by

    return scale


def with_keyword(k):
    def scale(self, x, *, by=k):
        return x * by

    return scale


def with_cell(k):
    def scale(self, x):
        return x * k

    return scale


def with_attribute(k):
    def scale(self, x):
        return x * type(self).scale.by

    scale.by = k
    return scale


for name, first, second in [
    ("of_another_base", of_call(Two), of_call(Five)),
    ("of_bases_in_another_order", of_call(Two, Five), of_call(Five, Two)),
    ("of_a_made_base", lambda: of_call(of_call(Two)())(), lambda: of_call(of_call(Five)())()),
    ("with_another_method", of_call(scale=function(2)), of_call(scale=function(3))),
    ("with_another_default", lambda: of_call(scale=with_default(2))(), lambda: of_call(scale=with_default(3))()),
    ("with_another_keyword", lambda: of_call(scale=with_keyword(2))(), lambda: of_call(scale=with_keyword(3))()),
    ("with_another_cell", lambda: of_call(scale=with_cell(2))(), lambda: of_call(scale=with_cell(3))()),
    ("that_overrides_a_method", of_call(Two), of_call(Two, scale=function(3))),
    ("that_lacks_a_method", of_call(Two, scale=function(3)), of_call(Two)),
    ("with_a_static_method", of_call(scale=lambda x: x * 3), of_call(scale=staticmethod(lambda x: x * 3))),
    (
        "with_another_static_method",
        lambda: of_call(scale=staticmethod(eval("lambda x: x * 2")))(),
        lambda: of_call(scale=staticmethod(eval("lambda x: x * 3")))(),
    ),
    (
        "with_another_class_method",
        lambda: of_call(scale=classmethod(eval("lambda cls, x: x * 2")))(),
        lambda: of_call(scale=classmethod(eval("lambda cls, x: x * 3")))(),
    ),
    ("of_a_kept_class", alike, lambda: KEPT),
    ("of_a_factory", lambda: alike(2), lambda: alike(3)),
]:
    def text(cls, x):
        try:
            return scaled(cls, x)
        except TypeError:
            return "no"

    differing(name, first, second, text if "static" in name else scaled)


for name, first, second in [
    ("with_another_constant", of_call(factor=2), of_call(factor=3)),
    ("with_a_constant_of_another_type", of_call(factor=2), of_call(factor=2.0)),
    ("with_a_constant_and_without", of_call(Two, factor=3), of_call(Two)),
    ("with_a_tensor", lambda: of_call(factor=t([2.0]))(), lambda: of_call(factor=t([3.0]))()),
    ("with_a_tensor_and_a_number", lambda: of_call(factor=t([2.0]))(), of_call(factor=4)),
]:
    differing(name, first, second, factor)
    differing(name + "_by_instance", first, second, by_instance)


for name, first, second in [
    ("of_a_metaclass", of_call(factor=2), lambda: Meta("Made", (), {"factor": 2})),
    ("with_another_property", of_call(factor=property(lambda s: 2)), of_call(factor=property(lambda s: 3))),
    ("with_a_property_and_a_constant", of_call(factor=property(lambda s: 2)), of_call(factor=2)),
    ("with_a_descriptor", of_call(factor=2), of_call(factor=Tells())),
    ("with_a_hook", of_call(Two), of_call(Two, __getattribute__=lambda s, n: 13)),
    ("with_a_missing_hook", of_call(__getattr__=lambda s, n: 3), of_call(__getattr__=lambda s, n: 4)),
    ("with_init", of_call(Two), of_call(Two, __init__=lambda s: setattr(s, "factor", 9))),
    ("with_new", of_call(Two), of_call(Two, __new__=lambda c: Five())),
]:
    differing(name, first, second, by_instance)


def answers(cls, x):
    made = cls()
    return x, bool(made), made == 1, repr(made)[:3], callable(made), isinstance(made, Two), hasattr(made, "__dict__")


for name, namespace in {
    "slots": {"__slots__": ()},
    "truth": {"__bool__": lambda self: False},
    "length": {"__len__": lambda self: 0},
    "equality": {"__eq__": lambda self, other: True},
    "repr": {"__repr__": lambda self: "told"},
    "call": {"__call__": lambda self: 1},
    "nothing": {},
}.items():
    differing("with_" + name, of_call(), of_call(**namespace), answers)
differing("that_is_one", of_call(), of_call(Two), answers)


def message(cls, x):
    try:
        return cls().nothing
    except AttributeError as error:
        return x, str(error), cls.__name__, cls.__qualname__, cls.__module__


differing("of_another_name", of_call(), lambda: type("Other", (), {}), message)
differing("of_another_module", of_call(), of_call(__module__="elsewhere"), message)
differing("of_another_qualified_name", of_call(), of_call(__qualname__="A.B"), message)


def slots(cls, x):
    made = cls()
    made.a = x
    return made.a * 2, hasattr(made, "b")


differing("with_other_slots", of_call(__slots__=("a",)), of_call(__slots__=("a", "b")), slots)
differing("with_an_own_setter", of_call(), of_call(__setattr__=lambda s, n, v: s.__dict__.update(b=v, a=v)), slots)


def items(cls, x):
    return x * len(cls.items), cls.items


differing("with_another_list", lambda: of_call(items=[1])(), lambda: of_call(items=[1, 2])(), items)
differing("with_another_tuple", of_call(items=(1,)), of_call(items=(2,)), items)
differing("with_a_tuple_of_another_type", of_call(items=(1,)), of_call(items=(1.0,)), items)
differing("with_a_tuple_of_another_class", of_call(items=(Two,)), of_call(items=(Five,)), items)


def fields(cls, x):
    made = cls(x, 2)
    return made.a * 3, made, made._replace(a=1), made.b


differing(
    "of_fields_in_another_order",
    lambda: collections.namedtuple("Pair", "a b"),
    lambda: collections.namedtuple("Pair", "b a"),
    fields,
)
differing(
    "of_more_fields",
    lambda: collections.namedtuple("Pair", "a b"),
    lambda: collections.namedtuple("Pair", "a b c", defaults=[3]),
    fields,
)
differing(
    "of_other_defaults",
    lambda: collections.namedtuple("Pair", "a b c", defaults=[3]),
    lambda: collections.namedtuple("Pair", "a b c", defaults=[4]),
    fields,
)


# ----- several of them


def pair(first, second):
    def both():
        one = of_call(factor=2)()
        return one, {"same": one, "other": of_call(factor=2)(), "heir": type("Made", (one,), {"factor": 2})}[second]

    return both


def compared(two, x):
    one, other = two
    made = other()
    return (
        x * one.factor + other.factor,
        one is other,
        one == other,
        isinstance(made, one),
        issubclass(other, one),
        type(made) is one,
        len({one, other}),
    )


for first in ("same", "other", "heir"):
    for second in ("same", "other", "heir"):
        if first != second:
            differing(f"{first}_then_{second}", pair(1, first), pair(1, second), compared)


def raised(two, x):
    one, other = two
    try:
        raise other(1)
    except one:
        return x * 2
    except Exception:
        return x * 3


def errors(second):
    def both():
        one = type("Made", (Exception,), {})
        heir = type("Made", (one,), {})
        return one, {"same": one, "other": type("Made", (Exception,), {}), "heir": heir}[second]

    return both


for first in ("same", "other", "heir"):
    for second in ("same", "other", "heir"):
        if first != second:
            differing(f"raised_{first}_then_{second}", errors(first), errors(second), raised)


def of_kept(made, x):
    return x * (2 if isinstance(made, KEPT) else 3), type(made) is KEPT, isinstance(KEPT(), type(made))


differing("instance_of_a_kept_class", lambda: alike()(), lambda: KEPT(), of_kept)
differing("instance_of_a_class_that_is_not_kept", lambda: KEPT(), lambda: alike()(), of_kept)


def told(made, x):
    return made.scale(x), type(made).__name__


differing("instance_of_another_class", lambda: alike(2)(), lambda: alike(3)(), told)
differing("instance_of_a_class_of_a_module", lambda: alike(2)(), lambda: Five(), told)
