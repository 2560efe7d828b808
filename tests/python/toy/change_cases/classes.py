"""Classes, their instances, and what decides about both."""

import abc
import collections
import collections.abc
import dataclasses
import enum
import types
import unittest.mock

from changing import change


class Base:
    n = 2

    def scale(self, x):
        return x * self.n


class Other:
    n = 5

    def scale(self, x):
        return x * self.n


def text(f):
    """A function that gives its exception as a value."""

    def call(x):
        try:
            return f(x)
        except Exception as error:
            return type(error).__name__

    return call


@change
def registration_with_an_abstract_class():
    class Shape(abc.ABC):
        pass

    obj = Base()

    def f(x):
        return x * (10 if isinstance(obj, Shape) else 1), issubclass(Base, Shape)

    return f, lambda: Shape.register(type(obj))


@change
def registration_of_others_with_another_abstract_class():
    class Shape(abc.ABC):
        pass

    class Unrelated(abc.ABC):
        pass

    obj = Base()

    def f(x):
        return x * (10 if isinstance(obj, Shape) else 1), isinstance(obj, collections.abc.Iterable), issubclass(Base, Shape)

    return f, lambda: Unrelated.register(Other)


@change
def registration_with_a_class_of_the_standard_library():
    cls = type("Own", (Base,), {})
    obj = cls()

    def f(x):
        return x * (10 if isinstance(obj, collections.abc.Sequence) else 1)

    return f, lambda: collections.abc.Sequence.register(cls)


@change
def registration_of_a_base():
    class Shape(abc.ABC):
        pass

    base = type("Own", (Base,), {})
    obj = type("Sub", (base,), {})()

    def f(x):
        return x * (10 if isinstance(obj, (int, Shape)) else 1)

    return f, lambda: Shape.register(base)


@change
def the_metaclass_that_makes():
    class Two(type):
        def __call__(cls):
            return 2.0

    class Three(type):
        def __call__(cls):
            return 3.0

    class Number(metaclass=Two):
        pass

    def f(x):
        return x * Number()

    return f, lambda: setattr(Number, "__class__", Three)


@change
def the_metaclass_that_leaves_it_to_type():
    class Plain(type):
        pass

    class Ten(type):
        def __call__(cls):
            return 10.0

    class Number(metaclass=Plain):
        def __rmul__(self, other):
            return other * 2

    def f(x):
        return Number().__rmul__(x) if type(Number) is Plain else x * Number()

    return f, lambda: setattr(Number, "__class__", Ten)


@change
def bases_and_isinstance():
    cls = type("Sub", (Base,), {})
    obj = cls()

    def f(x):
        return x * (10 if isinstance(obj, Base) else 1)

    return f, lambda: setattr(cls, "__bases__", (Other,))


@change
def bases_and_issubclass():
    cls = type("Sub", (Base,), {})

    def f(x):
        return x * (10 if issubclass(cls, Other) else 1)

    return f, lambda: setattr(cls, "__bases__", (Other,))


@change
def bases_and_super():
    class Sub(type("Base2", (Base,), {})):
        def scale(self, x):
            return super().scale(x) + 1

    obj = Sub()

    def f(x):
        return obj.scale(x)

    return f, lambda: setattr(Sub, "__bases__", (type("Base3", (Other,), {}),))


@change
def bases_of_a_base_and_super():
    class Middle(type("Base2", (Base,), {})):
        pass

    class Sub(Middle):
        def scale(self, x):
            return super().scale(x) + 1

    obj = Sub()

    def f(x):
        return obj.scale(x)

    return f, lambda: setattr(Middle, "__bases__", (Other,))


@change
def order_of_bases():
    cls = type("Sub", (type("A", (Base,), {}), type("B", (Other,), {})), {})

    def f(x):
        return x, [c.__name__ for c in cls.__mro__], [c.__name__ for c in cls.__bases__]

    return f, lambda: setattr(cls, "__bases__", cls.__bases__[::-1])


@change
def method_between_in_super():
    class Middle(Base):
        pass

    class Sub(Middle):
        def scale(self, x):
            return super().scale(x) + 1

    obj = Sub()

    def f(x):
        return obj.scale(x)

    def go():
        Middle.scale = lambda self, x: x * 50

    return f, go


@change
def name_of_a_class():
    cls = type("Own", (Base,), {})
    obj = cls()

    def f(x):
        return x, cls.__name__, type(obj).__qualname__, obj.__class__.__name__

    def go():
        cls.__name__ = cls.__qualname__ = "Renamed"

    return f, go


@change
def module_of_a_class():
    cls = type("Own", (Base,), {})

    def f(x):
        return x, cls.__module__

    return f, lambda: setattr(cls, "__module__", "elsewhere")


@change
def equality_of_classes():
    meta = type("Meta", (type,), {})
    one, two = meta("One", (), {}), meta("Two", (), {})

    def f(x):
        return x * (10 if one == two else 1), one != two

    def go():
        meta.__eq__ = lambda a, b: True
        meta.__hash__ = type.__hash__

    return f, go


@change
def metaclass_that_compares_already():
    class Meta(type):
        def __eq__(cls, other):
            return True

        __hash__ = type.__hash__

    one, two = Meta("One", (), {}), Meta("Two", (), {})

    def f(x):
        return x * (10 if one == two else 1)

    def go():
        Meta.__eq__ = lambda a, b: False

    return f, go


@change
def name_by_a_metaclass():
    class Meta(type):
        pass

    cls = Meta("Own", (), {})

    def f(x):
        return x, cls.__name__

    def go():
        Meta.__getattribute__ = lambda cls, name: "anything"

    return f, go


@change
def class_as_a_property():
    said = [Base]
    obj = type("Own", (), {"__class__": property(lambda self: said[0])})()

    def f(x):
        return x * (10 if isinstance(obj, Other) else 1), obj.__class__ is Other

    return f, lambda: said.__setitem__(0, Other)


@change
def mock_with_a_spec():
    mock = unittest.mock.Mock(spec=Base)

    def f(x):
        return x * (10 if isinstance(mock, Base) else 1), isinstance(mock, Other)

    def go():
        mock.__class__ = Other

    return f, go


class Slotted:
    __slots__ = ("n", "m")


@change
def empty_slot_is_filled():
    obj = Slotted()
    obj.n = 2

    def f(x):
        return x * obj.n, hasattr(obj, "m"), getattr(obj, "m", 7)

    return f, lambda: setattr(obj, "m", 3)


@change
def filled_slot_is_emptied():
    obj = Slotted()
    obj.n, obj.m = 2, 3

    def f(x):
        return x * obj.n, hasattr(obj, "m")

    return f, lambda: delattr(obj, "m")


@change
def filled_slot_that_is_only_passed_on():
    obj = Slotted()
    obj.m = [1]

    def f(x):
        return x * 2, obj.m

    return text(f), lambda: delattr(obj, "m")


@change
def slot_and_getattr():
    class Own(Slotted):
        __slots__ = ()

        def __getattr__(self, name):
            return 9

    obj = Own()

    def f(x):
        return x * obj.m

    return f, lambda: setattr(obj, "m", 3)


@change
def slot_becomes_a_property():
    class Own:
        __slots__ = ("m",)

    obj = Own()
    obj.m = 3

    def f(x):
        return x * obj.m

    return f, lambda: setattr(Own, "m", property(lambda self: 8))


@change
def attribute_that_is_only_passed_on_moves_to_the_class():
    cls = type("Own", (Base,), {})
    obj = cls()
    obj.k = [1]

    def f(x):
        return x * 2, obj.k

    def go():
        del obj.k
        cls.k = [2]

    return f, go


@change
def getattribute_of_a_class():
    cls = type("Own", (Base,), {})
    obj = cls()

    def f(x):
        return obj.n * x

    def go():
        cls.__getattribute__ = lambda self, name: 50

    return f, go


@change
def getattr_of_a_class():
    cls = type("Own", (Base,), {})
    obj = cls()

    def f(x):
        return x, getattr(obj, "missing", 3), hasattr(obj, "missing")

    def go():
        cls.__getattr__ = lambda self, name: 50

    return f, go


@change
def class_attribute_becomes_a_descriptor():
    class Plain:
        pass

    held = Plain()
    cls = type("Own", (Base,), {"held": held})
    obj = cls()

    def f(x):
        return x, obj.held is held, cls.held is held

    def go():
        Plain.__get__ = lambda self, obj, cls: 7

    return f, go


@change
def class_attribute_becomes_a_data_descriptor():
    class Plain:
        pass

    held = Plain()
    cls = type("Own", (Base,), {"held": held})
    obj = cls()
    obj.held = 5

    def f(x):
        return x, obj.held == 5

    def go():
        Plain.__get__ = lambda self, obj, cls: 7
        Plain.__set__ = lambda self, obj, value: None

    return f, go


@change
def class_becomes_callable():
    cls = type("Own", (Base,), {})
    obj = cls()

    def f(x):
        return x, callable(obj)

    return f, lambda: setattr(cls, "__call__", lambda self: 1)


@change
def bool_of_a_class():
    cls = type("Own", (Base,), {})
    obj = cls()

    def f(x):
        return x * 2 if obj else x * 3

    return f, lambda: setattr(cls, "__bool__", lambda self: False)


@change
def length_of_an_instance_that_had_a_bool():
    cls = type("Own", (Base,), {"__bool__": lambda self: True, "__len__": lambda self: 0})
    obj = cls()

    def f(x):
        return x * 2 if obj else x * 3

    return f, lambda: delattr(cls, "__bool__")


@change
def attribute_added_on_a_base():
    base = type("B", (), {})
    middle = type("M", (base,), {})
    obj = type("Own", (middle,), {})()
    base.n = 2

    def f(x):
        return x * obj.n

    return f, lambda: setattr(middle, "n", 4)


@change
def class_method_and_static_method():
    cls = type("Own", (Base,), {"make": classmethod(lambda cls, x: x * cls.n)})

    def f(x):
        return cls.make(x)

    return f, lambda: setattr(cls, "make", staticmethod(lambda x: x * 70))


@change
def property_is_replaced_by_a_value():
    cls = type("Own", (Base,), {"twice": property(lambda self: 4)})
    obj = cls()

    def f(x):
        return x * obj.twice

    return f, lambda: setattr(cls, "twice", 6)


@change
def setter_is_added():
    cls = type("Own", (Base,), {})
    obj = cls()
    seen = []

    def f(x):
        obj.k = 3
        return x * 2, list(seen)

    def go():
        cls.__setattr__ = lambda self, name, value: seen.append(name)

    return f, go


@change
def field_of_a_named_tuple():
    cls = collections.namedtuple("Pair", "u v")
    pair = cls(1, 2)

    def f(x):
        return x * pair.u

    return f, lambda: setattr(cls, "u", property(lambda self: 40))


@change
def default_of_a_dataclass():
    @dataclasses.dataclass
    class Config:
        n: int = 2

    config = Config()

    def f(x):
        return x * config.n

    return f, lambda: setattr(config, "n", 3)


@change
def frozen_dataclass():
    @dataclasses.dataclass(frozen=True)
    class Config:
        n: int = 2

    config = Config()

    def f(x):
        return x * config.n

    return f, lambda: object.__setattr__(config, "n", 3)


@change
def value_of_an_enum():
    class Kind(enum.Enum):
        A = 2
        B = 3

    held = types.SimpleNamespace(kind=Kind.A)

    def f(x):
        return x * held.kind.value, held.kind is Kind.A

    return f, lambda: setattr(held, "kind", Kind.B)


@change
def class_of_an_instance_in_a_list():
    items = [Base()]

    def f(x):
        return items[0].scale(x)

    return f, lambda: setattr(items[0], "__class__", Other)


@change
def dict_of_an_instance_is_replaced():
    obj = Base()
    obj.n = 3

    def f(x):
        return x * obj.n

    return f, lambda: setattr(obj, "__dict__", {"n": 30})


@change
def new_of_a_class():
    cls = type("Own", (Base,), {})

    def f(x):
        return cls().scale(x)

    def go():
        cls.__new__ = lambda c: Other()

    return f, go


@change
def init_of_a_class():
    cls = type("Own", (Base,), {"__init__": lambda self: setattr(self, "n", 3)})

    def f(x):
        return cls().scale(x)

    return f, lambda: setattr(cls, "__init__", lambda self: setattr(self, "n", 30))


@change
def call_of_a_metaclass():
    meta = type("Meta", (type,), {})
    cls = meta("Own", (Base,), {})

    def f(x):
        return cls().scale(x)

    return f, lambda: setattr(meta, "__call__", lambda c: Other())
