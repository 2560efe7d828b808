"""The class of an exception that comes out of a break, and what follows from it alone."""

from changing import change
from toy_framework import toy


def raising(kinds):
    """A call that breaks, and the change of what it raises: the first of `kinds`, then the second."""
    kinds = list(kinds)

    def fail():
        raise kinds[0]("made")

    return toy.disable(fail), lambda: kinds.reverse()


def what_is_told(run):
    def f(x):
        try:
            return run(x)
        except Exception as error:
            told = [error, error.__context__, error.__cause__]
            return [type(one).__name__ for one in told], [str(one) for one in told]

    return f


def through(kinds, wrap):
    """A case: what `wrap` makes of a call that raises one of these classes."""
    fail, go = raising(kinds)
    return what_is_told(wrap(fail)), go


def items_of(fail):
    """A class of iterators that are asked in vain."""

    class Items:
        def __iter__(self):
            return self

        def __next__(self):
            try:
                fail()
            finally:
                self.asked = True

    return Items


def in_a_generator(fail):
    """Behind a `finally`, so that the exception is raised again by captured code."""

    def items(x):
        try:
            fail()
        finally:
            x = x + 1
        yield x

    return lambda x: next(items(x))


def in_a_loop(fail):
    Items = items_of(fail)

    def f(x):
        for item in Items():
            x = x * 2
        return x

    return f


def under_map(fail):
    def one(item):
        try:
            fail()
        finally:
            item += 1

    return lambda x: (list(map(one, [1, 2])), x + 1)


def asked_with_a_default(fail):
    Items = items_of(fail)
    return lambda x: (next(Items(), "default"), x + 1)


def delegated(fail):
    Items = items_of(fail)

    def items():
        yield (yield from Items())

    return lambda x: (list(items()), x + 1)


def asked_for_an_attribute(fail):
    class Holder:
        @property
        def part(self):
            try:
                fail()
            finally:
                self.asked = True

    return lambda x: (getattr(Holder(), "part", "default"), hasattr(Holder(), "part"), x + 1)


def written_in_a_handler(fail):
    def f(x):
        try:
            try:
                fail()
            finally:
                x = x * 2
        except (KeyError, StopIteration) as error:
            return type(error).__name__, x + 1

    return f


for wrap in (
    in_a_generator,
    in_a_loop,
    under_map,
    asked_with_a_default,
    delegated,
    asked_for_an_attribute,
    written_in_a_handler,
):
    for first, second in (
        (StopIteration, ValueError),
        (ValueError, StopIteration),
        (AttributeError, StopIteration),
        (KeyError, AttributeError),
    ):

        def build(kinds=(first, second), wrap=wrap):
            return through(kinds, wrap)

        build.__name__ = "%s_%s_then_%s" % (wrap.__name__, first.__name__, second.__name__)
        change(build)
