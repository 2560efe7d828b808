"""`dir(value)`: the names of instances and classes, and who else may answer."""

import abc
import inspect
import sys

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Base:
    of_base = 1

    def go(self):
        return 1


class Model(Base):
    of_class = 2

    def __init__(self, k):
        self.k = k

    @property
    def size(self):
        return self.k


class Slotted:
    __slots__ = ("a", "b")


class Abstract(abc.ABC):
    @abc.abstractmethod
    def go(self):
        """None."""


class Answers:
    def __dir__(self):
        print("asked")
        return ["b", "a"]


class Hidden:
    def __getattr__(self, name):
        print("asked for", name)
        raise AttributeError(name)


class HiddenSlots:
    __slots__ = ()

    def __getattr__(self, name):
        print("asked for", name)
        raise AttributeError(name)


class Meta(type):
    def __dir__(cls):
        return ["of", "meta"]


class OfMeta(metaclass=Meta):
    pass


class OtherMeta(type):
    @property
    def __bases__(cls):
        print("bases")
        return ()


class OfOtherMeta(metaclass=OtherMeta):
    pass


class OtherDict:
    @property
    def __dict__(self):
        print("dict")
        return {"other": 1}


class OtherClass:
    @property
    def __class__(self):
        print("class")
        return Model


def known(value):
    """The names of the interpreter's own classes differ from version to version."""
    return [name for name in value if not name.startswith("__")], len(value)


@case()
def names_of_a_new_instance():
    def f(x):
        model = Model(3)
        model.added = 1
        return x * 2, known(dir(model)), "go" in dir(model)

    return {"f": f, "args": x1}


@case()
def names_of_a_given_instance():
    model = Model(3)

    def f(x):
        before = dir(model)
        model.added = 1
        between = dir(model)
        del model.added
        return x * 2, known(before), known(between), known(dir(model))

    return {"f": f, "args": x1}


@case()
def names_of_classes():
    def f(x):
        return x * 2, known(dir(Model)), known(dir(Abstract)), known(dir(int)), known(dir(Slotted))

    return {"f": f, "args": x1}


@case()
def names_of_slotted_instances():
    def f(x):
        slotted = Slotted()
        slotted.a = 1
        return x * 2, known(dir(slotted))

    return {"f": f, "args": x1}


def answered(name, make):
    def build():
        def f(x):
            return x * 2, known(dir(make()))

        return {"f": f, "args": x1}

    build.__name__ = f"names_that_are_told_by_{name}"
    open_case(build)


for told in {
    "a_method": Answers,
    "a_hook": Hidden,
    "a_hook_without_a_dict": HiddenSlots,
    "a_metaclass": lambda: OfMeta,
    "an_instance_of_a_metaclass": OfMeta,
    "other_bases": lambda: OfOtherMeta,
    "an_instance_with_other_bases": OfOtherMeta,
    "another_dict": OtherDict,
    "another_class": OtherClass,
    "a_module": lambda: sys,
    "a_function": lambda: x1,
    "a_list": list,
    "a_number": lambda: 3,
    "an_exception": ValueError,
}.items():
    answered(*told)


@open_case
def names_of_a_class_that_changes():
    class Own(Base):
        pass

    calls = []

    def args():
        calls.append(1)
        if len(calls) == 3:
            Own.added = 1
        if len(calls) == 4:
            Base.of_base_alone = 1
        if len(calls) == 5:
            del Own.added
            del Base.of_base_alone
        return (t([1.0]), Own())

    def f(x, own):
        return x * 2, known(dir(own)), known(dir(Own))

    return {"f": f, "args": args}


@open_case
def names_of_a_class_that_the_capture_makes():
    def f(x):
        class Own(Base):
            inner = 1

        own = Own()
        own.k = 3
        Own.later = 2
        return x * 2, known(dir(own)), known(dir(Own))

    return {"f": f, "args": x1}


@open_case
def names_of_a_class_that_the_capture_writes_to():
    class Own(Base):
        pass

    def f(x):
        Own.added = 1
        first = known(dir(Own))
        del Own.added
        return x * 2, first, known(dir(Own()))

    return {"f": f, "args": x1}


@open_case
def names_in_a_dict_that_are_no_names():
    def f(x):
        model = Model(3)
        vars(model)[3] = 1
        try:
            return x * 2, dir(model)
        except TypeError as error:
            return x * 2, str(error)

    return {"f": f, "args": x1}


@open_case
def members_of_an_instance():
    def f(x):
        model = Model(3)
        return x * 2, [(name, value) for name, value in inspect.getmembers(model, lambda v: isinstance(v, int))]

    return {"f": f, "args": x1}
