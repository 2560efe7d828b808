"""Traceback entries can be added in front and hidden."""

import traceback

import pytest


def fails():
    raise KeyError("x")


def outer():
    fails()


def invented():
    pass


def names(error):
    return [entry.name for entry in traceback.extract_tb(error.__traceback__)]


def test_added_entry_is_outermost(sot):
    with pytest.raises(KeyError) as caught:
        sot._probe_traceback(outer, invented.__code__, invented.__code__.co_firstlineno + 1)
    shown = names(caught.value)
    assert shown[-3:] == ["invented", "outer", "fails"]
    entry = traceback.extract_tb(caught.value.__traceback__)[-3]
    assert entry.filename == __file__ and entry.lineno == invented.__code__.co_firstlineno + 1
    assert entry.line == "pass"
    text = "".join(traceback.format_exception(KeyError, caught.value, caught.value.__traceback__))
    assert "in invented" in text


@pytest.mark.parametrize("count, left", [(1, ["fails"]), (2, []), (9, [])])
def test_hidden_entries(sot, count, left):
    with pytest.raises(KeyError) as caught:
        sot._probe_traceback(outer, invented.__code__, -count)
    shown = names(caught.value)
    assert [name for name in shown if name in ("outer", "fails")] == left
