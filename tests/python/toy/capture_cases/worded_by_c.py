"""Errors that C words, raised by the simulation: a type is called as C calls it, and what cannot be done is refused."""

import collections
import copy
import itertools
import re
import threading

from observe import case, open_case
from toy_framework import toy

t = toy.tensor
x1 = lambda: (t([1.0]),)  # noqa: E731
DEQUE = collections.deque()


class Made:
    def __init__(self):
        return DEQUE


class Truth:
    def __bool__(self):
        return DEQUE


class Walked:
    def __iter__(self):
        return DEQUE


ASKED = {"init": Made, "bool": lambda: not Truth(), "iter": lambda: iter(Walked()), "for": lambda: [item for item in Walked()]}


def answers(name, ask):
    def build():
        def f(x):
            try:
                ask()
            except TypeError as error:
                return str(error), x * 2.0

        return {"f": f, "args": x1}

    build.__name__ = f"a_deque_is_answered_by_{name}"
    case()(build)


for asked in ASKED.items():
    answers(*asked)


@case()
def starmap_over_what_is_no_sequence():
    def f(x):
        try:
            return list(itertools.starmap(pow, [(2, 3), 1]))
        except TypeError as error:
            return str(error), list(itertools.starmap(pow, [[2, 3], iter((3, 2))])), x * 2.0

    return {"f": f, "args": x1}


@open_case
def objects_of_c_that_cannot_be_taken_apart():
    things = [threading.Lock(), re.compile("a")]

    def f(x):
        seen = []
        for thing in things:
            for take_apart in (lambda it: it.__reduce_ex__(2), lambda it: it.__reduce_ex__(4), copy.copy):
                try:
                    seen.append(type(take_apart(thing)).__name__)
                except TypeError as error:
                    seen.append(str(error))
        return seen, x * 2.0

    return {"f": f, "args": x1}


@open_case
def sets_that_are_taken_apart_by_no_protocol():
    def f(x):
        seen = []
        for args in ((), ([],), ("x",), (2,), (1, 2)):
            for made in ({1}, frozenset([1])):
                try:
                    seen.append(made.__reduce_ex__(*args))
                except TypeError as error:
                    seen.append(str(error))
        return seen, x * 2.0

    return {"f": f, "args": x1}
