"""What `type` tells of a class (`__dict__`, `__doc__`, `__abstractmethods__`), a module of its names, and a function of its defaults."""

import abc
import collections
import functools
import inspect
import math
import sys
import types
import weakref

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Base:
    """The base."""

    kept = 1

    def method(self, value, scale=2.0, *, flag=False, name="n"):
        return value * scale

    @classmethod
    def of_class(cls):
        return cls.kept


class Below(Base):
    other = 2


class Abstract(abc.ABC):
    @abc.abstractmethod
    def first(self):
        """To be written."""

    @abc.abstractmethod
    def second(self):
        """To be written."""


class Half(Abstract):
    def first(self):
        return 1


class Whole(Half):
    def second(self):
        return 2


SETTINGS = {"scale": 3.0, "flag": True, "unknown": 1}
module = types.ModuleType("told_by_classes_module", "A module.")
module.scale = 2.0


def told(**decisions):
    def build(function):
        def world():
            Base.kept = 1
            module.__dict__.pop("more", None)
            return {"f": function, "args": x1, "watch": lambda: [Base.kept, sorted(vars(module))]}

        world.__name__ = "told_by_classes_" + function.__name__
        world.__module__ = __name__
        (case(**decisions) if decisions else open_case)(world)

    return build


one = told(graphs=1, captures=1, breaks=0)


@one
def names_of_a_class(x):
    own = Below.__dict__
    return x * own["other"], sorted(name for name in own if name[0] != "_"), "kept" in own, own.get("no"), len(own) > 2


@one
def names_of_classes_behind(x):
    found = [cls.__name__ for cls in Below.__mro__ if "kept" in vars(cls)]
    return x * 2.0, found, [name for name in vars(Base) if not name.startswith("__")], "__init__" in object.__dict__


@one
def methods_of_a_class(x):
    return x * 2.0, [name for name, _ in inspect.getmembers(Below, inspect.isfunction)], vars(Base)["method"] is Base.method


base, REFERRED = Base(), Base()
REFERENCE = weakref.ref(REFERRED)


@told()
def members_of_an_instance(x):
    found = [name for name, _ in inspect.getmembers(base) if not name.startswith("__")]
    return base.method(x), found, [name for name, _ in inspect.getmembers(base, inspect.ismethod)], base.__weakref__


@told()
def an_instance_that_somebody_refers_to(x):
    holder = Base()
    reference = weakref.ref(holder)
    return x * 2.0, holder.__weakref__ is reference, reference() is holder, REFERRED.__weakref__ is REFERENCE


@one
def texts_of_classes(x):
    return x * 2.0, Base.__doc__, Below.__doc__, inspect.getdoc(Below), int.__doc__, Base().__doc__


@one
def what_is_abstract(x):
    asked = [getattr(cls, "__abstractmethods__", None) for cls in (Abstract, Half, Whole, Base, int)]
    return x * 2.0, [sorted(names) if names is not None else None for names in asked]


@one
def an_instance_of_an_abstract_class(x):
    try:
        Half()
    except TypeError as error:
        return x * Whole().second(), str(error)


@one
def names_of_modules(x):
    return x * module.__dict__["scale"], "pi" in vars(math), sorted(n for n in vars(module) if n[0] != "_"), vars(module) is module.__dict__


@one
def classes_of_a_module(x):
    here = sys.modules[__name__]
    found = [n for n, v in vars(here).items() if inspect.isclass(v) and issubclass(v, Base)]
    return x * 2.0, found, here.__dict__ is globals()


@one
def defaults_of_a_function(x):
    return Base().method(x), Base.method.__kwdefaults__, Base.method.__defaults__, Base.of_class.__func__.__kwdefaults__


@one
def settings_that_a_function_takes(x):
    taken = inspect.signature(Base.method).parameters
    return Base().method(x, **{name: value for name, value in SETTINGS.items() if name in taken})


@one
def a_signature_bound(x):
    bound = inspect.signature(Base().method).bind(x, flag=True)
    bound.apply_defaults()
    return Base().method(*bound.args, **bound.kwargs), list(bound.arguments), str(bound.signature)


@told()
def what_changes_by_itself(x):
    return x * 2.0, inspect.isabstract(Half), inspect.isabstract(Whole), bool(Below.__flags__ & 1 << 9)


@told()
def a_class_that_is_written_to(x):
    before = Base.__dict__["kept"]
    Base.kept = 5
    return x * before, Base.__dict__["kept"], "kept" in vars(Base)


@told()
def a_proxy_that_shows_what_comes(x):
    shown = Base.__dict__
    Base.kept = 7
    return x * shown["kept"], shown["kept"]


@told()
def a_module_that_is_written_to(x):
    names = module.__dict__
    names["more"] = 4
    return x * module.more, names["more"], "more" in vars(module)


@told()
def a_proxy_that_is_given(x):
    own = Below.__dict__
    return x * 2.0, type(own) is types.MappingProxyType, own["other"], dict(own) == dict(vars(Below)), list(own) == list(Below.__dict__)


@told()
def names_that_are_missing(x):
    said = []
    for ask in (lambda: Below.__dict__["kept"], lambda: Base.__abstractmethods__, lambda: vars(3), lambda: vars(module)["no"]):
        try:
            ask()
        except (KeyError, AttributeError, TypeError) as error:
            said.append((type(error).__name__, str(error)))
    return x * 2.0, said


@told()
def defaults_that_are_written(x):
    def plain(value, *, scale=2.0):
        return value * scale

    first = plain(x)
    plain.__kwdefaults__["scale"] = 3.0
    kept = inspect.unwrap(named)
    before = kept.__kwdefaults__["scale"]
    kept.__kwdefaults__["scale"] = before + 1.0
    try:
        return first, plain(x), kept(x), dict(kept.__kwdefaults__)
    finally:
        kept.__kwdefaults__["scale"] = before


@functools.lru_cache(None)
def named(value, *, scale=2.0):
    return value * scale


@told()
def classes_made_here(x):
    class Made(Base):
        """Made here."""

        extra = 3

        def method(self, value, *, scale=4.0):
            return value * scale

    own = [name for name in vars(Made) if name[0] != "_"]
    return Made().method(x), own, Made.__doc__, Made.__dict__["extra"], inspect.signature(Made.method).parameters["scale"].default


@told()
def dicts_with_methods_of_c(x):
    class Settings(dict):
        __getattr__ = dict.get
        __setattr__ = dict.__setitem__
        __delattr__ = dict.__delitem__

    settings = Settings(scale=2.0)
    settings.shift = 1.0
    del settings.scale
    return x * settings.shift, settings.scale, settings, collections.OrderedDict(settings)
