"""Tracebacks that the program sets while the exception is handled: who raises it again up to 3.10 has the old one."""

import sys
import traceback

from capture_cases.iterating import open_case
from toy_framework import toy

t = toy.tensor


def fail(what):
    raise what


def shown(error):
    return [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__) if f.name != "observe"]


def forget(error):
    error.__traceback__ = None


def forget_by_method(error):
    assert error.with_traceback(None) is error


def forget_and_speak(error):
    print("before")
    error.__traceback__ = None
    print("after")


def shorten(error):
    error.__traceback__ = error.__traceback__.tb_next


def keep(error):
    error.__traceback__ = error.__traceback__


def set_and_put_back(error):
    entries = error.__traceback__
    error.__traceback__ = None
    print("between")
    error.__traceback__ = entries


def register_set(how, speaks):
    def build():
        def handles(x):
            y = x * 2
            try:
                fail(ValueError(1))
            except ValueError as error:
                if speaks:
                    print("break")
                how(error)
                raise

        def in_a_finally(x):
            y = x * 2
            try:
                try:
                    fail(ValueError(2))
                finally:
                    how(sys.exc_info()[1])
                    if speaks:
                        print("break")
            except ValueError as error:
                return shown(error), y

        def by_itself(x):
            try:
                fail(KeyError(3))
            except KeyError as error:
                how(error)
                seen = [shown(error), sys.exc_info()[2] is None]
                if speaks:
                    print("break")
                try:
                    raise error
                except KeyError:
                    return seen, shown(error), x + 1

        def f(x):
            try:
                return handles(x)
            except ValueError as error:
                seen = [shown(error)]
            return seen, in_a_finally(x), by_itself(x), x + 1

        return {"f": f, "args": lambda: (t([1.0]),)}

    build.__name__ = "a_traceback_is_set_by_" + how.__name__ + ("_after_a_break" if speaks else "")
    open_case(build)


for _how in (forget, forget_by_method, forget_and_speak, shorten, keep, set_and_put_back):
    for _speaks in (False, True):
        register_set(_how, _speaks)


@open_case
def a_traceback_is_set_and_nobody_handles():
    def f(x):
        y = x * 2
        try:
            fail(ValueError(1))
        except ValueError as error:
            print("break")
            forget(error)
            raise

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def a_traceback_goes_into_a_generator():
    def items():
        try:
            yield 1
        except ValueError as error:
            print(shown(error))
            try:
                yield shown(error)
            finally:
                print("break")
                raise KeyError(2) from error

    def f(x):
        y, seen = x * 2, []
        for breaks in (False, True):
            asked = items()
            next(asked)
            try:
                fail(ValueError(1))
            except ValueError as error:
                if breaks:
                    print("break")
                try:
                    seen.append(asked.throw(ValueError, error, error.__traceback__))
                    seen.append(shown(error))
                    next(asked)
                except KeyError as other:
                    seen += [shown(other), shown(other.__cause__), other.__context__ is error]
                try:
                    raise
                except ValueError as again:
                    seen.append(shown(again))
        return seen, y + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


def register_exit(cleared):
    def build():
        class Sees:
            def __init__(self, told):
                self.told = told

            def __enter__(self):
                return self

            def __exit__(self, kind, error, entries):
                count = 0
                while entries is not None:
                    entries, count = entries.tb_next, count + 1
                self.told.append((kind, count, error.__traceback__ is None))

        def f(x, told):
            y = x + 1
            try:
                with Sees(told):
                    try:
                        fail(ValueError(1))
                    except ValueError as error:
                        cleared(error)
                        raise
            except ValueError:
                pass
            return y, told

        return {"f": f, "args": lambda: (t([1.0]), [])}

    build.__name__ = f"an_exit_is_given_a_traceback_{cleared.__name__}"
    open_case(build)


for _how in (forget, forget_by_method, keep):
    register_exit(_how)
