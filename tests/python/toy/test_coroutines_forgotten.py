"""Coroutines that nobody awaits: their end warns, which the program may hear, and may have changed what it hears with."""

import warnings

import pytest
from toy_framework import toy

t = toy.tensor
same = toy.disable(lambda value: value)
LOG = []


async def forgotten():
    pass


def made_and_dropped():
    waiting = forgotten()
    del waiting


def told_at_once(x):
    waiting = forgotten()
    LOG.append("made")
    del waiting
    LOG.append(len(LOG))
    return x * 2


def rebound_behind_a_break(x):
    waiting = same(forgotten())
    LOG.append("made")
    waiting = None
    LOG.append(len(LOG))
    return x * 2, waiting


def a_statement(x):
    forgotten()
    LOG.append(len(LOG))
    return x * 2


def recorded(x):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        made_and_dropped()
    return x * 2, [str(warning.message) for warning in heard]


def recorded_while_it_is_counted(x):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        waiting = same(forgotten())
        before = len(heard)
        waiting = None
        after = len(heard)
    return x * 2, before, after, waiting


def ignored(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made_and_dropped()
    LOG.append("behind")
    return x * 2


def in_a_list(x):
    kept = [forgotten(), same(1)]
    kept.clear()
    LOG.append(len(LOG))
    return x * 2


@pytest.mark.parametrize(
    "function",
    [
        told_at_once,
        rebound_behind_a_break,
        a_statement,
        recorded,
        recorded_while_it_is_counted,
        ignored,
        in_a_list,
    ],
    ids=lambda f: f.__name__,
)
def test_heard_as_in_plain_python(function):
    def told(door):
        LOG.clear()
        call = door(function)
        seen = []
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda message, *rest, **more: LOG.append(str(message))
            for _ in range(4):
                result = call(t([1.0]))
                seen.append([r.tolist() if hasattr(r, "tolist") else r for r in (result if type(result) is tuple else (result,))])
        return seen, list(LOG)

    wanted = told(lambda f: f)
    assert any("never awaited" in str(part) for part in wanted) or function in (ignored, recorded_while_it_is_counted)
    assert told(toy.to_static) == wanted
