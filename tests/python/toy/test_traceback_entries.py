"""Which frames a traceback shows where a builtin or an operator calls the program, and that raises inside.

The caller catches the exception, and looks at the entries of its traceback: those of the frames that the builtin has called,
and none of its own.
"""

import sys

import pytest

from toy_framework import toy

t = toy.tensor


class Boom(Exception):
    pass


class Items:
    """Raises when it is asked for its iterator, or what has taken some for its next items."""

    def __init__(self, taken=0):
        self.taken = taken

    def __iter__(self):
        if self.taken == 0:
            raise Boom("iter")
        return self

    def __next__(self):
        self.taken += 1
        if self.taken > 2:
            raise Boom("next")
        return self.taken


class Inner:
    """Calls another frame that raises."""

    def __iter__(self):
        return iter(Items())


def fail():
    raise Boom


class Truth:
    def __bool__(self):
        raise Boom


class Compared:
    __hash__ = None

    def __eq__(self, other):
        raise Boom

    def __lt__(self, other):
        raise Boom


class Hashed:
    def __hash__(self):
        raise Boom


class Sized:
    def __len__(self):
        raise Boom


class Written:
    def __repr__(self):
        raise Boom

    def __format__(self, how):
        raise Boom


class Number:
    def __index__(self):
        raise Boom

    __int__ = __float__ = __index__


class Container:
    def __contains__(self, item):
        raise Boom

    def __getitem__(self, item):
        raise Boom


def generator():
    yield 1
    raise Boom


CALLS = {
    "enumerate": lambda: list(enumerate(Items())),
    "enumerate_next": lambda: list(enumerate(Items(1))),
    "enumerate_deeper": lambda: list(enumerate(Inner())),
    "zip": lambda: list(zip(Items(), [1])),
    "zip_the_second": lambda: list(zip([1], Items())),
    "zip_next": lambda: list(zip([1, 2, 3], Items(1))),
    "zip_deeper": lambda: zip([1], Inner()),
    "map": lambda: list(map(str, Items())),
    "map_next": lambda: list(map(str, Items(1))),
    "map_deeper": lambda: map(str, Inner()),
    "filter": lambda: list(filter(None, Items())),
    "filter_next": lambda: list(filter(None, Items(1))),
    "filter_deeper": lambda: filter(None, Inner()),
    "iter": lambda: iter(Items()),
    "iter_deeper": lambda: iter(Inner()),
    "list": lambda: list(Items(1)),
    "tuple": lambda: tuple(Items(1)),
    "sum": lambda: sum(Items(1)),
    "star": lambda: [*Items(1)],
    "set": lambda: set(Items(1)),
    "any": lambda: any(map(lambda item: False, Items(1))),
    "min": lambda: min(Items(1)),
    "sorted": lambda: sorted(Items(1)),
    "arguments": lambda: (lambda a, b: 0)(*Items(1)),
    "join": lambda: "".join(Items(1)),
    "extend": lambda: [].extend(Items(1)),
    "next": lambda: next(Items(2)),
    "next_default": lambda: next(Items(2), None),
    "function_of_map": lambda: list(map(lambda item: fail(), [1])),
    "function_of_filter": lambda: list(filter(lambda item: fail(), [1])),
    "key_of_sorted": lambda: sorted([1, 2], key=lambda item: fail()),
    "key_of_max": lambda: max([1, 2], key=lambda item: fail()),
    "bool": lambda: bool(Truth()),
    "not": lambda: not Truth(),
    "any_truth": lambda: any([Truth()]),
    "all_truth": lambda: all([Truth()]),
    "filter_truth": lambda: list(filter(None, [Truth()])),
    "equal_lists": lambda: [Compared()] == [1],
    "in": lambda: 1 in [Compared()],
    "count": lambda: [Compared()].count(1),
    "index": lambda: [Compared()].index(1),
    "sorted_items": lambda: sorted([Compared(), Compared()]),
    "max": lambda: max(Compared(), Compared()),
    "key": lambda: {Hashed(): 1},
    "hash": lambda: hash(Hashed()),
    "len": lambda: len(Sized()),
    "repr": lambda: repr(Written()),
    "repr_of_a_list": lambda: repr([Written()]),
    "str": lambda: str(Written()),
    "format": lambda: f"{Written()}",
    "subscript": lambda: [1][Number()],
    "slice": lambda: [1, 2][Number() :],
    "range": lambda: range(Number()),
    "int": lambda: int(Number()),
    "float": lambda: float(Number()),
    "times": lambda: "a" * Number(),
    "contains": lambda: 1 in Container(),
    "getitem": lambda: Container()[1],
    "list_of_a_generator": lambda: list(generator()),
    "comprehension": lambda: [item for item in generator()],
    "zip_of_a_generator": lambda: list(zip(generator(), [1, 2])),
    "map_of_a_generator": lambda: list(map(str, generator())),
    "enumerate_of_a_generator": lambda: list(enumerate(generator())),
}


def caught(x, call):
    try:
        call()
    except Boom as error:
        return error


def left(x, call):
    return call()


def entries(function, call):
    try:
        error = function(t([1.0]), call)
    except Boom as other:
        error = other
    found, entry = [], error.__traceback__
    while entry is not None:
        found.append((entry.tb_frame.f_code.co_name, entry.tb_lineno))
        entry = entry.tb_next
    return [entry for entry in found if entry[0] != "entries"]


@pytest.mark.parametrize("function", [caught, left])
@pytest.mark.parametrize("name", CALLS)
def test_entries(name, function):
    eager = entries(function, CALLS[name])
    assert len(eager) > 2
    captured = toy.to_static(function)
    for _ in range(3):
        assert entries(captured, CALLS[name]) == eager


# Tables in which no instruction has a line, of 3.10 and later.
NO_LINES = {10: b"\xff\x80\xff\x80"}.get(sys.version_info[1], b"\xff" * 8)


def divides():
    return 1 / 0


def calls_one_without_lines():
    return divides()


@pytest.mark.skipif(sys.version_info < (3, 10), reason="each instruction has a line")
@pytest.mark.parametrize("function", [divides, calls_one_without_lines])
def test_no_lines(function):
    def seen(call):
        try:
            call()
        except ZeroDivisionError as error:
            entry, found = error.__traceback__, []
        while entry is not None:
            found.append((entry.tb_frame.f_code.co_name, entry.tb_lineno, entry.tb_frame.f_lineno))
            entry = entry.tb_next
        return found[1:]

    before = divides.__code__
    divides.__code__ = before.replace(co_linetable=NO_LINES)
    try:
        eager = seen(function)
        assert eager[-1][0] == "divides" and eager[-1][2] is None
        captured = toy.symbolic_translate(function)
        for _ in range(3):
            assert seen(captured) == eager
    finally:
        divides.__code__ = before
