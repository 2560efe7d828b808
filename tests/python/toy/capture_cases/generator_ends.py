"""Generators that are closed, and that exceptions are thrown into, at their start, at a yield, and after their end."""

import sys

from capture_cases.protected import Manager, chain
from observe import case
from toy_framework import toy

t = toy.tensor


def speak(value):
    print("speak", value)
    return value


def plain(log):
    log.append("start")
    yield 1
    log.append("end")


def cleans_up(log):
    try:
        yield 1
        yield 2
    finally:
        log.append("finally")


def cleans_up_aloud(log):
    try:
        yield speak(1)
    finally:
        log.append(speak("finally"))


def sees_the_exit(log):
    try:
        yield 1
    except GeneratorExit as exit:
        log.append(chain(exit))
        raise


def swallows_the_exit(log):
    try:
        yield 1
    except GeneratorExit:
        log.append("swallowed")
    return 3


def yields_at_the_exit(log):
    try:
        yield 1
    finally:
        yield 2


def raises_at_the_exit(log):
    try:
        yield 1
    except GeneratorExit:
        raise ValueError("other")


def within_with(log):
    with Manager(log):
        yield 1
        yield 2


def delegates(log):
    try:
        yield from cleans_up(log)
    finally:
        log.append("outer")


def goes_on(log):
    while True:
        try:
            log.append((yield len(log)))
        except ValueError as error:
            log.append(("caught", chain(error)))


def handles(log):
    try:
        raise IndexError("own")
    except IndexError:
        try:
            yield 1
        except ValueError as error:
            log.append(chain(error))
            yield 2


def answers(log):
    try:
        yield 1
    except ValueError:
        yield 5
    return 7


GENERATORS = [
    plain,
    cleans_up,
    cleans_up_aloud,
    sees_the_exit,
    swallows_the_exit,
    yields_at_the_exit,
    raises_at_the_exit,
    within_with,
    delegates,
    goes_on,
    handles,
    answers,
]


def tried(log, function, *args):
    try:
        log.append(function(*args))
    except BaseException as error:
        log.append(chain(error))


class Custom(ValueError):
    def __init__(self, code):
        super().__init__("custom", code)


def started(generator):
    next(generator)
    return generator


def close_new(g, log):
    tried(log, g.close)
    tried(log, next, g)


def close_started(g, log):
    next(g)
    tried(log, g.close)
    tried(log, next, g)
    tried(log, g.close)


def close_while_handling(g, log):
    next(g)
    try:
        raise KeyError("handled")
    except KeyError:
        tried(log, g.close)


def throw_into_new(g, log):
    tried(log, g.throw, ValueError("v"))
    tried(log, next, g)


def throw_forms(*forms):
    def throw(g, log):
        next(g)
        for form in forms:
            tried(log, g.throw, *form())
        tried(log, next, g)

    return throw


throw_an_instance = throw_forms(lambda: (ValueError("v"),))
throw_a_class = throw_forms(lambda: (ValueError,))
throw_twice = throw_forms(lambda: (ValueError("v"),), lambda: (ValueError,), lambda: (KeyError("k"),))
throw_the_exit = throw_forms(lambda: (GeneratorExit,))
throw_stop_iteration = throw_forms(lambda: (StopIteration(3),))
throw_of_the_program = throw_forms(lambda: (Custom(3),))


def throw_parts(g, log):
    next(g)
    tried(log, g.throw, ValueError, "v")
    tried(log, g.throw, ValueError, (1, 2), None)
    tried(log, g.throw, ValueError, ValueError("w"))
    tried(log, g.throw, ValueError, KeyError("w"), None)
    tried(log, g.throw, LookupError, KeyError("w"), None)
    tried(log, g.throw, ValueError, None, None)
    tried(log, g.throw, ValueError("a"), None)


def throw_while_handling(g, log):
    next(g)
    given = ValueError("given")
    try:
        raise KeyError("handled")
    except KeyError:
        tried(log, g.throw, given)
        tried(log, g.throw, ValueError)
    log.append(repr(given.__context__))


def throw_what_has_a_context(g, log):
    next(g)
    try:
        try:
            raise KeyError("first")
        except KeyError:
            raise ValueError("second")
    except ValueError as error:
        given = error
    try:
        raise IndexError("handled")
    except IndexError:
        tried(log, g.throw, given)
    log.append(repr(given.__context__))


def throw_after_a_break(g, log):
    next(g)
    speak("before")
    tried(log, g.throw, ValueError("v"))


WAYS = [
    close_new,
    close_started,
    close_while_handling,
    throw_into_new,
    throw_an_instance,
    throw_a_class,
    throw_twice,
    throw_the_exit,
    throw_stop_iteration,
    throw_of_the_program,
    throw_parts,
    throw_while_handling,
    throw_what_has_a_context,
    throw_after_a_break,
]


def ending_case(generator, way, name):
    def world():
        def f(x):
            y = x + 1
            log = []
            way(generator(log), log)
            return repr(log), y * 2

        return {"f": f, "args": lambda: (t([1.0]),)}

    world.__name__ = f"{name}_of_{generator.__name__}"
    case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)(world)


for _name, _way in [(name, way) for name, way in globals().items() if way in WAYS]:
    for _generator in GENERATORS:
        ending_case(_generator, _way, _name)


@case(graphs=2, captures=None, breaks=None, reasons=None)
def a_generator_that_has_ended_keeps_its_name():
    def f(x):
        def inner(log):
            yield 1

        y = x + 1
        seen = []
        for generator in (plain([]), inner([])):
            list(generator)
            speak("ended")
            # Before 3.11 code does not know the whole of its name.
            shown = repr(generator).split(" at ")[0] if sys.version_info >= (3, 11) else None
            seen.append((generator.__name__, shown, generator.gi_frame))
        return seen, y * 2

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=1)
def closing_and_throwing_cost_nothing():
    def f(x):
        log = []
        first, second = cleans_up(log), answers(log)
        y = x + next(first) + next(second)
        first.close()
        y = y * second.throw(ValueError)
        log.extend(second)
        swallowed = swallows_the_exit(log)
        next(swallowed)
        swallowed.close()
        return y, log

    return {"f": f, "args": lambda: (t([1.0]),)}
