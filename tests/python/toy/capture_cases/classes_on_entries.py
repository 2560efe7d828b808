"""Classes on bases that are no classes, but say which classes stand for them (`__mro_entries__`)."""

import sys
import typing

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
T = typing.TypeVar("T")
S = typing.TypeVar("S")


def x1():
    return (t([1.0, 2.0]),)


class Base:
    k = 3


class Told:
    heard = []

    def __init_subclass__(cls, **keywords):
        Told.heard.append((cls.__name__, cls.__orig_bases__, sorted(keywords)))


class Entries:
    def __init__(self, *entries):
        self.entries = entries

    def __mro_entries__(self, bases):
        return self.entries


@case()
def a_class_on_a_base_that_stands_for_another():
    def f(x):
        stands = Entries(Base)

        class Own(stands):
            def go(self, x):
                return x * self.k

        own = Own()
        return own.go(x), Own.__bases__, Own.__orig_bases__ == (stands,), own.__orig_bases__[0] is stands

    return {"f": f, "args": x1}


@case()
def a_class_on_a_base_that_stands_for_nothing():
    def f(x):
        class Own(Entries(), Base, Entries(Told)):
            pass

        return x * Own.k, Own.__bases__, len(Own.__orig_bases__)

    return {"f": f, "args": x1, "watch": lambda: [len(Told.heard), Told.heard.clear()]}


@case()
def what_a_class_has_that_the_capture_makes():
    def f(x):
        class Own(Base):
            n = 1

            def go(self):
                return self.n

        shown = Own.__dict__
        before = "n" in shown, "k" in shown, "later" in shown, shown.get("n"), shown["go"] is Own.go, len(shown)
        Own.later = x
        Own.n = 2
        names = [name for name in shown if name in ("n", "go", "later")]
        return x * shown["n"], before, "later" in shown, shown["later"] is x, names, len(shown)

    return {"f": f, "args": x1}


@open_case
def what_a_class_has_that_is_given_back():
    def f(x):
        class Own(Entries(Base)):
            n = 1

        shown = vars(Own)
        print(len(shown), "n" in shown)
        Own.later = 2
        # The proxy alone keeps the dict, which the end of the class empties.
        return Own, shown, shown["later"], list(shown)[-1], type(shown).__name__, [shown], Own.__dict__ == shown

    return {"f": f, "args": x1}


@open_case
def what_a_class_has_by_the_word_of_its_metaclass():
    class Meta(type):
        @property
        def __dict__(cls):
            return {"of": "meta"}

    def f(x):
        class Own(metaclass=Meta):
            n = 1

        return x * 2, "n" in Own.__dict__, Own.__dict__["of"]

    return {"f": f, "args": x1}


@open_case
def what_is_deleted_from_a_class_that_the_capture_makes():
    def f(x):
        class Own(Base):
            n = 1

        shown = Own.__dict__
        del Own.n
        try:
            return x, "n" in shown, shown["n"]
        except KeyError as error:
            return x * 2, str(error), shown.items() is shown, repr(shown)[:12]

    return {"f": f, "args": x1}


@open_case
def bases_that_stand_for_what_is_no_tuple():
    class Wrong:
        def __mro_entries__(self, bases):
            print("asked", len(bases))
            return [Base]

    def f(x):
        try:

            class Own(Wrong()):
                print("never")

        except TypeError as error:
            return x * 2, str(error)

    return {"f": f, "args": x1}


@open_case
def bases_that_look_at_the_frame_of_the_statement():
    class Looks:
        def __mro_entries__(self, bases):
            return (Base,) if sys._getframe(1).f_locals.get("seen") == 7 else ()

    def f(x, base):
        seen = 7

        class Own(base):
            pass

        return x * seen, Own.__bases__

    return {"f": f, "args": lambda: (t([1.0]), Looks())}


@open_case
def bases_that_stand_for_nothing_they_know_of():
    def f(x):
        try:

            class Own(Base(), 3):
                print("never")

        except TypeError as error:
            return x * 2, str(error)

    return {"f": f, "args": x1}


@open_case
def bases_that_raise_when_they_are_asked():
    class Raises:
        @property
        def __mro_entries__(self):
            raise AttributeError("__mro_entries__")

    class RaisesOther:
        def __mro_entries__(self, bases):
            raise ValueError("none")

    def f(x, base):
        try:

            class Own(base):
                pass

        except (TypeError, ValueError) as error:
            return x * 2, type(error).__name__, str(error).count("none")

    calls = []

    def args():
        calls.append(1)
        return (t([1.0]), [Raises, RaisesOther][len(calls) % 2]())

    return {"f": f, "args": args}


@open_case
def bases_that_break_when_they_are_asked():
    class Loud:
        def __mro_entries__(self, bases):
            print("asked")
            return (Base,)

    def f(x):
        class Own(Loud()):
            pass

        return x * Own.k

    return {"f": f, "args": x1}


@open_case
def a_body_that_breaks_below_a_base_that_stands_for_another():
    def f(x):
        class Own(Entries(Base)):
            print("body")
            seen = "__orig_bases__" in locals()

        return x * Own.k, Own.seen

    return {"f": f, "args": x1}


@open_case
def a_metaclass_of_a_base_that_stands_for_another():
    class Meta(type):
        def __new__(meta, name, bases, names, **keywords):
            made = super().__new__(meta, name, bases, names)
            made.given = sorted(name for name in names if name != "__firstlineno__"), sorted(keywords)
            return made

        def __init__(cls, name, bases, names, **keywords):
            super().__init__(name, bases, names)

    class OfMeta(metaclass=Meta):
        pass

    def f(x):
        class Own(Entries(OfMeta), word=1):
            pass

        class Other(Entries(Base), metaclass=Meta, word=2):
            pass

        return x * 2, "__orig_bases__" in Own.given[0], Own.given[1], type(Other) is Meta, Other.given[1], Other.k

    return {"f": f, "args": x1}


# Up to 3.12 `typing_extensions`, where it is imported, looks at the frames of `typing`, which makes the statement a break.
@open_case
def generic_classes():
    def f(x):
        class Own(typing.Generic[T]):
            def __init__(self, k):
                self.k = k

            def go(self, x):
                return x * self.k

        return Own(3).go(x), Own.__parameters__ == (T,), Own.__mro__[1:] == (typing.Generic, object)

    return {"f": f, "args": x1}


@open_case
def generic_classes_on_others():
    class Outer(typing.Generic[T, S]):
        k = 4

    def f(x):
        class Own(Outer[int, S], Base, typing.Generic[S]):
            pass

        class Closed(Outer[int, str]):
            pass

        return x * Own.k, Own.__parameters__ == (S,), Closed.__parameters__, Own.__orig_bases__[0] == Outer[int, S]

    return {"f": f, "args": x1}


@open_case
def generic_classes_that_are_refused():
    def f(x):
        try:

            class Own(typing.Generic[T], typing.Generic[S]):
                pass

        except TypeError as error:
            return x * 2, str(error)

    return {"f": f, "args": x1}


@open_case
def generic_containers():
    def f(x):
        class Own(typing.List[int]):
            def total(self):
                return sum(self)

        class Table(typing.Dict[str, T]):
            pass

        own, table = Own([1, 2]), Table(a=3)
        return x * own.total(), table["a"], Own.__mro__[1] is list

    return {"f": f, "args": x1}


@open_case
def protocols():
    def f(x):
        class Goes(typing.Protocol):
            def go(self, x):
                """None."""

        class Own:
            def go(self, x):
                return x * 2

        return Own().go(x), Goes.__name__

    return {"f": f, "args": x1}


@open_case
def typed_dicts_and_named_tuples():
    def f(x):
        class Table(typing.TypedDict):
            a: int

        class Pair(typing.NamedTuple):
            a: int
            b: int = 2

        return x * Table(a=3)["a"], Pair(4).b, Pair(4)._asdict(), sorted(Table.__annotations__)

    return {"f": f, "args": x1}
