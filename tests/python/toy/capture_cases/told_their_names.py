"""Class statements in a function whose bodies hold values that are told their names (`__set_name__`): descriptors of the program, cached
properties."""

import functools

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
speak = toy.disable(lambda *args: None)


def x1():
    return (t([1.0, 2.0]),)


class Field:
    def __init__(self, default=0.0):
        self.default = default
        self.name = self.owner = None

    def __set_name__(self, owner, name):
        self.name = "_" + name
        self.owner = owner.__name__

    def __get__(self, instance, owner=None):
        return self if instance is None else instance.__dict__.get(self.name, self.default)

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value


class Told:
    """It is told its name, and nothing else."""

    told = []

    def __set_name__(self, owner, name):
        Told.told.append((owner.__name__, name))


def told(**decisions):
    def build(function):
        def world():
            Told.told = []
            return {"f": function, "args": x1, "watch": lambda: [list(Told.told)]}

        world.__name__ = "told_their_names_" + function.__name__
        world.__module__ = __name__
        (case(**decisions) if decisions else open_case)(world)

    return build


one = told(graphs=1, captures=1, breaks=0)


@one
def fields(x):
    class Settings:
        scale = Field(2.0)
        shift = Field()

        def __init__(self, shift):
            self.shift = shift

    settings = Settings(3.0)
    told = Settings.scale.name, Settings.shift.owner, vars(settings)
    settings.scale = 4.0
    return x * settings.scale + settings.shift, told, sorted(name for name in vars(Settings) if name[0] != "_")


@one
def values_that_are_told_in_order(x):
    class Holds:
        b = Told()
        a = Told()
        c = 3

    return x * Holds.c, type(Holds.a).__name__, Holds.a is Holds.__dict__["a"], Holds.a is Holds.b


@one
def a_descriptor_made_here(x):
    class Named:
        def __set_name__(self, owner, name):
            self.key = name

        def __get__(self, instance, owner):
            return self.key + owner.__name__

    class Uses:
        first = Named()
        second = Named()

    return x * 2.0, Uses.first, Uses().second


@told()
def cached_properties(x):
    class Model:
        made = 0

        @functools.cached_property
        def scale(self):
            type(self).made += 1
            return 2.0

    model = Model()
    return x * model.scale * model.scale, Model.made, "scale" in vars(model)


@told()
def classes_that_are_given(x):
    class Settings:
        scale = Field(2.0)

    class Below(Settings):
        shift = Field(1.0)

    return x * Below().scale, Below, Settings.scale, Below().shift


@told()
def classes_around_a_break(x):
    class Settings:
        scale = Field(2.0)

    settings = Settings()
    speak()
    settings.scale = 5.0
    return x * settings.scale, Settings.scale.name, Settings.__dict__["scale"] is Settings.scale


@told()
def who_is_told_and_raises(x):
    class Loud:
        def __set_name__(self, owner, name):
            raise ValueError("told " + name)

    try:

        class Holds:
            value = Loud()

    except Exception as error:
        return x * 2.0, type(error).__name__, str(error), getattr(error, "__notes__", None)
    return x


@told()
def who_keeps_its_class(x):
    class Keeps:
        def __set_name__(self, owner, name):
            self.owner = owner
            setattr(owner, "of_" + name, self)

    class Holds:
        value = Keeps()

    return x * 2.0, Holds.value.owner is Holds, Holds.of_value is Holds.value


@told()
def bases_that_hear_of_it(x):
    heard = []

    class Base:
        def __init_subclass__(cls, **keywords):
            heard.append((cls.__name__, cls.__dict__["scale"].name))

    class Below(Base):
        scale = Field(2.0)
        other = Told()

    return x * Below().scale, heard


@told()
def one_that_was_there_before(x, field=Told()):
    class Holds:
        value = field

    return x * 2.0, Holds.value is field


@told()
def special_names(x):
    class Calls:
        def __set_name__(self, owner, name):
            self.name = name

        def __get__(self, instance, owner):
            return lambda *args: self.name

    class Holds:
        __call__ = Calls()
        __len__ = 3

    return x * 2.0, Holds()()
