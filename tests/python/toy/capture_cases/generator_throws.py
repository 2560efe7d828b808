"""Exceptions thrown into generators that wait in `yield from`, and the ends of such."""

import contextlib

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]), [])


def inner(log):
    try:
        got = yield 1
        log.append(("got", got))
        yield 2
    except ValueError as error:
        log.append(str(error))
        yield "caught"
        return "returned"
    finally:
        log.append("inner ends")


def outer(log, of):
    try:
        result = yield from of
        log.append(("result", result))
        yield "after"
    except KeyError as error:
        log.append(("outer caught", type(error.__context__).__name__))
        yield "outer caught"
    finally:
        log.append("outer ends")


def deep(n):
    if n:
        result = yield from deep(n - 1)
    else:
        try:
            yield 0
        except ValueError as error:
            result = f"got {error}"
        else:
            result = "nothing"
    return n, result


def failing():
    try:
        yield 1
    finally:
        raise KeyError("at its end")


def returning(log):
    try:
        yield 1
    except GeneratorExit:
        log.append("returning")
        return 5


def tried(way, *args):
    try:
        return way(*args)
    except (TypeError, ValueError, KeyError, GeneratorExit, RuntimeError, StopIteration) as error:
        return type(error).__name__, str(error), type(error.__context__).__name__, type(error.__cause__).__name__


def thrown(name, make, raised, **decisions):
    def build():
        def f(x, log):
            g = outer(log, make(log))
            log.append(next(g))
            log.append(tried(g.throw, raised()))
            log.append(list(g))
            return x * len(log)

        return {"f": f, "args": x1}

    build.__name__ = name
    case(**decisions)(build)


thrown("caught_by_the_inner_one", inner, lambda: ValueError("v"))
thrown("caught_by_the_outer_one", inner, lambda: KeyError("k"))
thrown("caught_by_nobody", inner, lambda: TypeError("t"))
thrown("an_exit_is_no_throw", inner, lambda: GeneratorExit("end"))
thrown("stop_into_a_generator", inner, lambda: StopIteration(3))
thrown("into_a_list", lambda log: [1, 2], lambda: KeyError("k"))
thrown("into_a_map", lambda log: map(abs, [1, 2]), lambda: TypeError("t"))
unstated = dict(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
thrown("stop_into_a_list", lambda log: [1, 2], lambda: StopIteration(3), **unstated)


@case()
def closed_from_without():
    def f(x, log):
        g = outer(log, inner(log))
        next(g)
        log.append((g.close(), list(g)))
        g = outer(log, [1, 2])
        next(g)
        log.append((g.close(), list(g)))
        g = outer(log, returning(log))
        next(g)
        log.append((g.close(), list(g)))
        return x * 2

    return {"f": f, "args": x1}


@open_case
def closed_while_the_inner_one_fails():
    def f(x, log):
        g = outer(log, failing())
        next(g)
        log.append(tried(g.close))
        return x * 2

    return {"f": f, "args": x1}


@case()
def through_several():
    def f(x, log):
        g = deep(3)
        next(g)
        log.append(tried(g.throw, ValueError("v")))
        g = deep(2)
        next(g)
        log.append(g.close())
        return x * 2

    return {"f": f, "args": x1}


@open_case
def while_something_is_handled():
    def handling(log):
        try:
            raise OSError("handled")
        except OSError:
            yield from inner(log)

    def f(x, log):
        g = handling(log)
        next(g)
        log.append(tried(g.throw, TypeError("t")))
        try:
            raise LookupError("around")
        except LookupError:
            g = outer(log, inner(log))
            next(g)
            log.append(tried(g.throw, KeyError("k")))
            log.append(g.close())
        return x * 2

    return {"f": f, "args": x1}


@case()
def a_manager_that_delegates():
    def within(log, value):
        try:
            yield value
        except ValueError as error:
            log.append(str(error))
        finally:
            log.append("left")

    @contextlib.contextmanager
    def manager(log, value):
        yield from within(log, value)

    def f(x, log):
        with manager(log, x + 1) as y:
            y = y * 2
            raise ValueError("inside")
        return y

    return {"f": f, "args": x1}


def speak(value):
    print("speak", value)
    return value


@open_case
def a_break_in_the_inner_one():
    def speaking(log):
        try:
            yield 1
        except ValueError as error:
            log.append(speak(str(error)))
            yield 2

    def f(x, log):
        g = outer(log, speaking(log))
        next(g)
        log.append(tried(g.throw, ValueError("v")))
        log.append(list(g))
        return x * 2

    return {"f": f, "args": x1}
