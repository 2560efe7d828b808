"""What a caller handles while captured code runs: it is the context of what that code raises first, and seen where the code asks."""

import sys

import pytest
from toy_framework import toy

t = toy.tensor
unknown = toy.disable(lambda *given: None)


def reads(x):
    try:
        raise KeyError(1)
    except KeyError as error:
        return repr(error.__context__), x + 1


def reads_below(x):
    try:
        try:
            raise KeyError(1)
        except KeyError:
            raise ValueError(2) from None
    except ValueError as error:
        return repr(error.__context__), repr(error.__context__.__context__), error.__suppress_context__, x + 1


def reads_behind_a_call(x):
    try:
        reads_nothing()
    except KeyError as error:
        return repr(error.__context__), x + 1


def reads_nothing():
    raise KeyError(3)


def reads_behind_a_break(x):
    try:
        raise KeyError(1)
    except KeyError as error:
        unknown(error)
        return repr(error.__context__), x + 1


def follows_the_chain(x):
    names = []
    try:
        raise KeyError(1)
    except KeyError as error:
        while error is not None:
            names.append(type(error).__name__)
            error = error.__context__
    return names, x + 1


def asks_the_system(x):
    return repr(sys.exc_info()[1]), x + 1


def makes_and_does_not_raise(x):
    return repr(KeyError(1).__context__), x + 1


FUNCTIONS = [
    reads,
    reads_below,
    reads_behind_a_call,
    reads_behind_a_break,
    follows_the_chain,
    asks_the_system,
    makes_and_does_not_raise,
]


def called(f, handles):
    """`f`, by callers that handle nothing, one exception or one within another."""
    if handles == 0:
        return f(t([1.0]))
    try:
        raise (ZeroDivisionError if handles == 1 else OSError)(handles)
    except Exception:
        return f(t([1.0])) if handles == 1 else called(f, 1)


def seen(result):
    return [part if isinstance(part, (str, bool, list)) else part.tolist() for part in result]


@pytest.mark.parametrize("order", [(0, 0, 1, 1, 0, 2), (1, 1, 0, 2, 0), (2, 0, 1, 1)], ids=str)
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_context_is_what_the_caller_handles(f, order):
    expected = [seen(called(f, handles)) for handles in order]
    toy.reset()
    captured = toy.to_static(f)
    assert [seen(called(captured, handles)) for handles in order] == expected


def test_who_handles_nothing_has_one_graph():
    for f in FUNCTIONS:
        if f is not reads_behind_a_break:
            toy.reset()
            captured = toy.to_static(f)
            captured(t([1.0]))
            captured(t([1.0]))
            stats = toy.stats()
            assert (stats["captures"], stats["breaks"], stats["hits"]) == (1, 0, 1), f.__name__
