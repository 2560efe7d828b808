"""Attribute access that classes, metaclasses and descriptors of the program have overridden."""

import functools
import sys

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Config:
    """As model libraries have it: names that stand for others."""

    attribute_map = {"width": "hidden", "depth": "layers"}

    def __getattribute__(self, key):
        if key != "attribute_map" and key in super().__getattribute__("attribute_map"):
            key = super().__getattribute__("attribute_map")[key]
        return super().__getattribute__(key)

    def __setattr__(self, key, value):
        if key in super().__getattribute__("attribute_map"):
            key = super().__getattribute__("attribute_map")[key]
        super().__setattr__(key, value)

    def __init__(self, hidden=2, layers=3):
        self.hidden = hidden
        self.layers = layers

    def scale(self):
        return self.width * 2


@case()
def attribute_map_of_a_config():
    config = Config()

    def f(x):
        return x * config.width + config.depth * config.scale()

    return {"f": f, "args": x1}


@case()
def attribute_map_of_a_config_in_a_slot():
    def f(x, config):
        return x * config.width + config.depth, config.scale(), config.hidden, hasattr(config, "nothing")

    return {"f": f, "args": lambda: (t([1.0]), Config())}


@case()
def attribute_map_that_changes():
    config = Config()

    def f(x):
        config.hidden = 5
        return x * config.width

    return {"f": f, "args": x1, "watch": lambda: config}


@case()
def attribute_map_that_is_written():
    def f(x, config):
        config.width = x * 2
        config.depth = 7
        del config.layers
        return config.hidden + 1, hasattr(config, "depth"), config

    return {"f": f, "args": lambda: (t([1.0]), Config())}


@case()
def attribute_map_of_a_new_config():
    def f(x):
        config = Config(4)
        config.width = config.width + 1
        return x * config.hidden, config

    return {"f": f, "args": x1}


@case()
def lookup_that_counts():
    seen = []

    class Counted:
        size = 3

        def __init__(self):
            self.own = 4

        def __getattribute__(self, name):
            seen.append(name)
            return object.__getattribute__(self, name)

        def double(self):
            return self.own * 2

    counted = Counted()

    def f(x):
        return x * counted.size + counted.own + counted.double(), getattr(counted, "own"), getattr(counted, "no", 5)

    return {"f": f, "args": x1, "watch": lambda: seen[:], "kwargs": lambda: seen.clear() or {}}


@case()
def lookup_and_hook():
    class Both:
        def __init__(self):
            self.there = 2

        def __getattribute__(self, name):
            if name == "refused":
                raise AttributeError("not this one")
            return super().__getattribute__(name)

        def __getattr__(self, name):
            return name + "?"

    both = Both()

    def f(x):
        return x * both.there, both.refused, both.missing, hasattr(both, "missing"), getattr(both, "refused", 1)

    return {"f": f, "args": x1}


@open_case
def lookup_that_fails():
    class Fails:
        def __getattribute__(self, name):
            if name == "odd":
                raise KeyError(name)
            return object.__getattribute__(self, name)

    fails = Fails()

    def f(x):
        found = []
        for name in ("missing", "odd"):
            try:
                getattr(fails, name)
            except (AttributeError, KeyError) as error:
                found.append((type(error).__name__, str(error), getattr(error, "name", None)))
        return x + 1, found, fails.gone

    return {"f": f, "args": x1}


@case(graphs=2, captures=2, breaks=1, reasons=("builtin-with-output",))
def lookup_that_breaks():
    class Speaks:
        value = 3

        def __getattribute__(self, name):
            if name == "value":
                print("asked")
            return super().__getattribute__(name)

    speaks = Speaks()

    def f(x):
        y = x + 1
        return y * speaks.value

    return {"f": f, "args": x1}


@case()
def lookup_of_slots():
    class Slotted:
        __slots__ = ("a", "b")

        def __init__(self):
            self.a = 3

        def __getattribute__(self, name):
            return object.__getattribute__(self, name.lower())

    slotted = Slotted()

    def f(x, other):
        return x * slotted.A + other.A, hasattr(other, "B")

    return {"f": f, "args": lambda: (t([1.0]), Slotted())}


@case()
def values_below_a_lookup():
    class Holder:
        def __init__(self):
            self.tensor = t([3.0])
            self.items = [1, 2]

        def __getattribute__(self, name):
            if name == "__dict__":
                print("dict")
            return super().__getattribute__(name)

    def f(x, holder):
        holder.items.append(3)
        return x * holder.tensor, holder.items

    return {"f": f, "args": lambda: (t([1.0]), Holder())}


@case()
def metaclass_with_attributes():
    class Meta(type):
        def __getattr__(cls, name):
            return name + "!"

        @property
        def size(cls):
            return len(cls.items)

        def double(cls):
            return cls.size * 2

    class Thing(metaclass=Meta):
        items = [1, 2, 3]

    def f(x):
        return x * Thing.size + Thing.double(), Thing.other, Thing.items[0]

    return {"f": f, "args": x1}


class OnlySet:
    """A descriptor that can be set, and gives itself where it is found."""

    def __init__(self, name):
        self.name = name

    def __set__(self, owner, value):
        owner.__dict__[self.name] = value


@open_case
def what_only_can_be_set_of_a_metaclass_and_a_class():
    class Meta(type):
        of_meta = OnlySet("of_meta")
        alone = OnlySet("alone")

    class Described(metaclass=Meta):
        of_meta = 42
        of_class = OnlySet("of_class")

    def f(x):
        owner = Described()
        first = owner.of_class is Described.__dict__["of_class"]
        owner.of_class = 43
        alone = type(Described.alone).__name__
        return first, owner.of_class, Described.of_meta, getattr(Described, "of_meta"), alone, x + owner.of_class

    return {"f": f, "args": x1}


@case()
def metaclass_with_a_lookup():
    class Meta(type):
        def __getattribute__(cls, name):
            return super().__getattribute__("real" if name == "alias" else name)

    class Thing(metaclass=Meta):
        real = 4

    def f(x):
        return x * Thing.alias + type.__getattribute__(Thing, "real")

    return {"f": f, "args": x1}


class Described:
    """A data descriptor."""

    def __init__(self, start):
        self.start = start

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return getattr(instance, self.name, self.start)

    def __set__(self, instance, value):
        setattr(instance, self.name, value)

    def __delete__(self, instance):
        delattr(instance, self.name)


class Lazy:
    """One without `__set__`: what it has found stays in the instance."""

    def __init__(self, make):
        self.make = make
        self.__name__ = make.__name__

    def __get__(self, instance, owner):
        if instance is None:
            return owner.__name__
        value = self.make(instance)
        instance.__dict__[self.__name__] = value
        return value


class Parts:
    size = Described(2)
    other = Described(5)

    @Lazy
    def found(self):
        return self.size * 10


@case()
def descriptors_of_data():
    parts = Parts()

    def f(x):
        before = parts.size
        parts.size = before + 1
        return x * parts.size + parts.other, before, Parts.size is Parts().__class__.size, Parts.size.start

    return {"f": f, "args": x1, "watch": lambda: parts, "kwargs": lambda: parts.__dict__.clear() or {}}


@open_case
def descriptors_that_delete():
    def f(x):
        parts = Parts()
        parts.size = x
        kept = parts.size
        del parts.size
        try:
            del parts.size
        except AttributeError:
            return kept + parts.size, parts

    return {"f": f, "args": x1}


@open_case
def descriptors_that_keep_what_they_found():
    def f(x, parts):
        return x * parts.found + parts.found, Parts.found

    return {"f": f, "args": lambda: (t([1.0]), Parts())}


@case()
def setters_behind_a_setattr():
    class Checked:
        size = Described(1)

        @property
        def twice(self):
            return self._half * 2

        @twice.setter
        def twice(self, value):
            self._half = value / 2

        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)

        def __delattr__(self, name):
            super().__delattr__(name)

    def f(x):
        checked = Checked()
        checked.size = x
        checked.twice = 6
        checked.plain = 1
        del checked.plain
        return checked.size * checked.twice, checked

    return {"f": f, "args": x1}


@case()
def class_methods_of_properties():
    class Odd:
        size = 3

        @classmethod
        def plain(cls):
            return cls.size

    if (3, 9) <= sys.version_info < (3, 13):

        class Odd(Odd):
            @classmethod
            @property
            def twice(cls):
                return cls.size * 2

    else:
        Odd.twice = 6

    def f(x):
        return x * Odd.twice + Odd().twice, Odd.plain()

    return {"f": f, "args": x1}


class Cached:
    def __init__(self, k):
        self.k = k
        self.made = 0

    @functools.cached_property
    def table(self):
        self.made += 1
        return [self.k, self.k * 2]

    @functools.cached_property
    def scaled(self):
        return self.k * 3


@case()
def cached_properties_of_new_instances():
    def f(x):
        cached = Cached(x)
        first = cached.table
        return first is cached.table, cached.scaled + cached.table[1], cached, hasattr(cached, "scaled")

    return {"f": f, "args": x1}


@case(graphs=1, captures=1)
def cached_properties_of_instances_that_are_given():
    def f(x, cached):
        return x * cached.scaled + cached.scaled, cached.table is cached.table, cached

    return {"f": f, "args": lambda: (t([1.0]), Cached(2))}


@case(graphs=2, captures=2)
def cached_properties_that_are_kept():
    cached = Cached(2)

    def f(x):
        return x * cached.scaled

    return {"f": f, "args": x1, "watch": lambda: vars(cached)}


@open_case
def cached_properties_that_fail():
    class Fails:
        @functools.cached_property
        def part(self):
            raise AttributeError("part")

        def __getattr__(self, name):
            return name

    fails = Fails()

    def f(x):
        return x + 1, fails.part, fails.other, vars(fails)

    return {"f": f, "args": x1}


class Kept(property):
    """A property that reads as any."""


class Odd(property):
    def __get__(self, instance, owner=None):
        return self if instance is None else super().__get__(instance, owner) + 1


class OfSubclasses:
    k = 3

    @Kept
    def kept(self):
        return self.k * 2

    @Odd
    def odd(self):
        return self.k * 5


class Below(OfSubclasses):
    @property
    def kept(self):
        return super().kept + 1


@case()
def subclasses_of_property():
    given = OfSubclasses()

    def f(x):
        return x * given.kept + Below().kept, type(OfSubclasses.kept).__name__

    return {"f": f, "args": x1}


@open_case
def subclasses_of_property_that_read_otherwise():
    given = OfSubclasses()

    def f(x):
        return x * given.odd, hasattr(given, "odd"), OfSubclasses.odd is OfSubclasses.odd

    return {"f": f, "args": x1}


class Listened:
    """Its classes write down which of their names anybody asks for, or sets."""

    def __init__(self):
        seen = self.seen = []

        class Asked:
            def __getattribute__(self, name):
                seen.append(name)
                return super().__getattribute__(name)

            def __setattr__(self, name, value):
                seen.append(("set", name))
                super().__setattr__(name, value)

        def listening(base):
            return type("Listening", (Asked, base), {})

        self.object, self.list, self.dict = listening(type("Plain", (), {})), listening(list), listening(dict)
        self.error = listening(Exception)

    def case(self, f):
        # What is told of a result asks for names as well.
        seen = self.seen

        def told(x):
            results = f(x)
            return results, list(seen)

        return {"f": told, "args": x1, "kwargs": lambda: seen.clear() or {}}


@case()
def names_that_new_code_asks_for():
    own = Listened()

    def f(x):
        value, values, table = own.object(), own.list([1]), own.dict(a=2)
        value.size = x
        names, append, of_table = value.__dict__, values.append, table.values()
        names["more"] = 3
        values.append(4)
        table["b"] = x
        return x + 1, value, names, values, append, of_table, table.items(), vars(value) is names

    return own.case(f)


@case()
def names_of_exceptions_that_new_code_asks_for():
    own = Listened()

    def f(x):
        caught = []
        try:
            try:
                raise KeyError("a")
            except KeyError as cause:
                raise own.error("b") from cause
        except own.error as e:
            caught.append(e)
        try:
            try:
                raise own.error("c")
            except own.error:
                raise own.error("d")
        except own.error as e:
            caught.append((e, e.args, e.__context__))
        return x + 1, caught

    return own.case(f)


@case(breaks=2, captures=3, reasons=("builtin-with-output",))
def names_of_exceptions_that_a_break_asks_for():
    own = Listened()

    class Manager:
        def __enter__(self):
            return self

        def __exit__(self, kind, value, traceback):
            toy.show(2)
            return True

    def f(x):
        with Manager():
            raise own.error("a")
        try:
            toy.show(3)
            raise own.error("b")
        except own.error as e:
            return x + 1, e.args

    return own.case(f)


@open_case
def names_of_classes_whose_metaclass_has_a_lookup():
    asked = []

    class Meta(type):
        def __getattribute__(cls, name):
            if name not in ("__dict__", "__module__") and name in cls.__dict__:
                asked.append(name)
            return super().__getattribute__(name)

    class Thing(metaclass=Meta):
        held = [1]

    def f(x, n):
        asked.clear()
        Thing.__name__ = "Thing%d" % n
        Thing.held = [n] + Thing.held[:1]
        return Thing.__name__, Thing.__qualname__, Thing.__mro__[0] is Thing, Thing.held, asked[:], x + n

    numbers = iter(range(100))
    return {"f": f, "args": lambda: (t([1.0]), next(numbers))}
