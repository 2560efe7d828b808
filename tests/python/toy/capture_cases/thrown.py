"""`throw` of generators with a type, a value and a traceback, as `contextlib` of 3.8 to 3.11 does it."""

import contextlib
import sys
import traceback

from observe import case
from toy_framework import toy

t = toy.tensor


def entries(error):
    return [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)]


def managers(log, loud):
    """Generators of context managers, by what they do with an exception."""

    def note(what):
        log.append(what)
        if loud:
            print(what)

    def lets_out():
        note("in")
        yield 1
        note("never after an exception")

    def cleans_up():
        note("in")
        try:
            yield 2
        finally:
            note("out")

    def swallows():
        try:
            yield 3
        except KeyError as error:
            note(f"swallowed {error!r}")

    def raises_again():
        try:
            yield 4
        except KeyError:
            note("again")
            raise

    def raises_another():
        try:
            yield 5
        except KeyError as error:
            note("another")
            raise ValueError("another") from error

    def asks():
        try:
            yield 6
        except KeyError as error:
            note(len(entries(error)))
            note(sys.exc_info()[0])
            raise

    def goes_on():
        try:
            yield 7
        except KeyError:
            yield 8

    return lets_out, cleans_up, swallows, raises_again, raises_another, asks, goes_on


def one(manager, log, what):
    with manager() as value:
        log.append(value)
        raise what
    log.append("behind")


def two(manager, log, what):
    def inner():
        with manager() as value, manager():
            log.append(value)
            raise what("made here")

    inner()
    return "result"


def directly(manager, log, what):
    # Types beside values are warned about from 3.12 on.
    if sys.version_info >= (3, 12):
        return
    generator = manager.__wrapped__()
    log.append(next(generator))
    try:
        raise what("first")
    except KeyError as error:
        held = error, error.__traceback__
    try:
        log.append(generator.throw(type(held[0]), held[0], held[1]))
    except (KeyError, ValueError) as error:
        log.append((repr(error), error is held[0], entries(error)))
    except StopIteration as end:
        log.append(("end", end.value))


def without_a_traceback(manager, log, what):
    if sys.version_info >= (3, 12):
        return
    for more in ((), (None,)):
        generator = manager.__wrapped__()
        next(generator)
        try:
            raise what("first")
        except KeyError as error:
            held = error
        try:
            log.append(generator.throw(what, held, *more))
        except (KeyError, ValueError) as error:
            log.append((repr(error), error is held, entries(error)))
        except StopIteration as end:
            log.append(("end", end.value))


def traceback_is_set(manager, log, what):
    def thrower():
        raise what("set")

    def passer():
        thrower()

    for keep in (True, False):
        try:
            passer()
        except KeyError as error:
            first = error.__traceback__ if keep else None
            try:
                raise error
            except KeyError:
                log.append(len(entries(error)))
            error.__traceback__ = first
            log.append(entries(error))


WAYS = one, two, directly, without_a_traceback, traceback_is_set


def register(way, loud, first, last):
    def build():
        def f(x):
            log = []
            for manager in managers(log, loud)[first:last]:
                manager = contextlib.contextmanager(manager)
                for what in (KeyError, ValueError) if manager.__name__ == "cleans_up" else (KeyError,):
                    log.append((manager.__name__, what))
                    try:
                        log.append(way(manager, log, what))
                    except (KeyError, ValueError, RuntimeError) as error:
                        chain = error.__cause__, error.__context__
                        log.append((repr(error), entries(error), [repr(other) for other in chain]))
            return x + 1, log

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = f"thrown_{way.__name__}_{first}{'_and_a_break' if loud else ''}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(build)


for _way in WAYS:
    for _loud in (False, True):
        for _first, _last in ((0, 3), (3, 5), (5, 7)) if _way is not traceback_is_set else ((0, 1),):
            register(_way, _loud, _first, _last)


@contextlib.contextmanager
def noted(log):
    log.append("in")
    try:
        yield
    except KeyError as error:
        log.append(error.args)
    finally:
        log.append("out")


@case()
def an_exception_ends_in_a_context_manager():
    def f(x):
        log = []
        with noted(log):
            raise KeyError(5)
        return x + 1, log

    return {"f": f, "args": lambda: (t([1.0]),)}


@case()
def an_exception_goes_through_a_context_manager():
    def f(x):
        log = []
        try:
            with noted(log):
                raise ValueError(5)
        except ValueError as error:
            log.append(error.args)
        return x + 1, log

    return {"f": f, "args": lambda: (t([1.0]),)}
