"""Tensors that nobody needs any more at a break and that a variable still holds: who refers to them weakly sees them live until the
variable lets go of them, in functions and in generators that run, and a generator that waits shows them."""

import weakref

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0]),)


def at_breaks(program):
    def build():
        seen = []
        f = program(seen)
        return {"f": f, "args": x1, "watch": lambda: seen}

    build.__name__ = "dead_at_breaks_" + program.__name__
    build.__module__ = __name__
    case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)(build)


def in_a_function(seen):
    def f(x):
        held = x * 3
        weak = weakref.ref(held)
        seen.append(weak() is None)
        toy.graph_break()
        seen.append(weak() is None)
        held = 4
        toy.graph_break()
        seen.append(weak() is None)
        return x + held

    return f


def in_an_inlined_function(seen):
    def inner(x):
        held = x * 3
        weak = weakref.ref(held)
        toy.graph_break()
        seen.append(weak() is None)
        held = None
        toy.graph_break()
        seen.append(weak() is None)
        return x

    def f(x):
        return inner(x) + 1

    return f


def in_a_generator(seen):
    def numbers(x):
        held = x * 3
        weak = weakref.ref(held)
        yield weak
        seen.append(weak() is None)
        held = 4
        toy.graph_break()
        seen.append(weak() is None)
        yield weak

    def f(x):
        for weak in numbers(x):
            toy.graph_break()
            seen.append(weak() is None)
        return x + 1

    return f


def given_before(seen):
    def numbers(x):
        for i in range(2):
            made = x * i + 1
            toy.graph_break()
            seen.append([weak() is None for weak in given])
            yield made

    given = []

    def f(x):
        given.clear()
        for made in numbers(x):
            given.append(weakref.ref(made))
            x = x + made
            toy.graph_break()
            seen.append([weak() is None for weak in given])
        return x

    return f


def given_to_a_function(seen):
    def inner(value):
        weak = weakref.ref(value)
        value = None
        toy.graph_break()
        # Up to 3.10 the caller holds it until the call is over.
        seen.append(weak() is None)
        toy.graph_break()
        seen.append(weak() is None)
        return value

    def f(x):
        inner(x * 2)
        return x + 1

    return f


def shown_by_one_that_waits(seen):
    def numbers(x):
        held = x * 3
        made = held + 1
        toy.graph_break()
        yield made

    def f(x):
        asked = numbers(x)
        made = next(asked)
        toy.graph_break()
        seen.append(sorted(asked.gi_frame.f_locals))
        return x + made

    return f


PROGRAMS = [in_a_function, in_an_inlined_function, in_a_generator, given_before, given_to_a_function, shown_by_one_that_waits]

for program in PROGRAMS:
    at_breaks(program)
