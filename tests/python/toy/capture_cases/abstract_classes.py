"""Abstract classes ask their subclasses, those that were registered, and themselves by name: where one of them is the program's,
`isinstance` and `issubclass` ask it as often as plain Python does, and never while something is captured."""

from abc import ABCMeta

from observe import open_case
from toy_framework import toy

t = toy.tensor


class Asked(type):
    """Counts, and says no."""

    asked = []

    def __subclasscheck__(cls, other):
        Asked.asked.append(other.__name__)
        return False


def registers_one_that_is_asked(abstract):
    # An abstract class does not keep who registers.
    abstract.registered = abstract.register(Asked("Registered", (), {}))


def has_a_subclass_that_is_asked(abstract):
    class Both(Asked, ABCMeta):
        pass

    abstract.kept = Both("Below", (abstract,), {})


def registers_an_abstract_one_that_is_asked(abstract):
    class Other(metaclass=ABCMeta):
        pass

    registers_one_that_is_asked(Other)
    abstract.other = abstract.register(Other)


def lists_its_subclasses(abstract):
    abstract.__subclasses__ = lambda: Asked.asked.append("listed") or []


def lists_others_as_its_subclasses(abstract):
    abstract.__subclasses__ = lambda: [Number]


def fails_to_list(abstract):
    def raises():
        raise KeyError(word)

    word = "from a cell"
    abstract.__subclasses__ = raises


def lists_by_its_metaclass(abstract):
    class Lists(ABCMeta):
        def __subclasses__(cls):
            Asked.asked.append("by the metaclass")
            return []

    abstract.kept = Lists("Listed", (abstract,), {})


def reads_by_its_metaclass(abstract):
    class Reads(ABCMeta):
        def __getattribute__(cls, name):
            Asked.asked.append(name)
            return super().__getattribute__(name)

    abstract.kept = Reads("Read", (abstract,), {})


WAYS = [
    registers_one_that_is_asked,
    has_a_subclass_that_is_asked,
    registers_an_abstract_one_that_is_asked,
    lists_its_subclasses,
    lists_others_as_its_subclasses,
    fails_to_list,
    lists_by_its_metaclass,
    reads_by_its_metaclass,
]


class Number(int):
    pass


def of_a_value(x, abstract):
    return x + 1.0, isinstance(Number(1), abstract)


def of_a_class(x, abstract):
    return x + 1.0, issubclass(Number, abstract)


def of_a_local_class(x, abstract):
    class Local:
        pass

    return x + 1.0, isinstance(Local(), abstract), issubclass(Local, abstract)


def of_several(x, abstract):
    return x + 1.0, isinstance(Number(1), (str, abstract, float))


def asks(way, ask, later):
    def build():
        del Asked.asked[:]
        abstract = ABCMeta("Abstract", (), {})
        calls = []

        def f(x):
            try:
                return ask(x, abstract)
            except KeyError as error:
                return x * 2.0, str(error)

        def args():
            if len(calls) == (2 if later else 0):
                way(abstract)
            calls.append(1)
            return (t([1.0]),)

        return {"f": f, "args": args, "watch": lambda: list(Asked.asked)}

    build.__name__ = f"{way.__name__}_{'later_' if later else ''}{ask.__name__}"
    open_case(build)


for way in WAYS:
    for ask in (of_a_value, of_a_class, of_a_local_class, of_several):
        for later in (False, True):
            asks(way, ask, later)


def made_in_the_function():
    def f(x):
        word = "from a cell"

        def raises():
            raise KeyError(word)

        class Abstract(metaclass=ABCMeta):
            __subclasses__ = raises

        try:
            return issubclass(int, Abstract)
        except KeyError as error:
            return x + 1.0, str(error)

    return {"f": f, "args": lambda: (t([1.0]),)}


open_case(made_in_the_function)
