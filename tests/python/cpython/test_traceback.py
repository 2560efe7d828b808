"""Traceback entries show frames that never ran: in front of others, or in their place."""

import gc
import inspect
import sys
import traceback

import pytest


def fails():
    raise KeyError("x")


def outer():
    fails()


def invented(a, b=2):
    c = a
    return c, b


def with_cells(a, b):
    c = 3

    def inner():
        return a, c

    return inner


def closes_over():
    free, other = 1, 2

    def inner(x):
        y = x
        return lambda: (free, y, other)

    return inner


def comprehends(n):
    return [k for k in range(n)]


def cell_of(value):
    return (lambda: value).__closure__[0]


def frame(function, offset=None, line=None, locals=(), cells=(), globals=None):
    code = function.__code__
    line = code.co_firstlineno + 1 if line is None else line
    return (code, function.__globals__ if globals is None else globals, offset, line, list(locals), list(cells))


def raised(sot, frames, instead=0, raises=outer):
    with pytest.raises(KeyError) as caught:
        sot._probe_traceback(raises, frames, instead)
    return caught.value


def entries(error):
    shown, entry = [], error.__traceback__
    while entry is not None:
        shown.append(entry)
        entry = entry.tb_next
    return shown


def names(error):
    return [entry.tb_frame.f_code.co_name for entry in entries(error)]


def test_prepended_frame_is_outermost(sot):
    error = raised(sot, [frame(invented)])
    assert names(error)[-3:] == ["invented", "outer", "fails"]
    entry = traceback.extract_tb(error.__traceback__)[-3]
    assert entry.filename == __file__ and entry.lineno == invented.__code__.co_firstlineno + 1
    assert entry.line == "c = a"
    text = "".join(traceback.format_exception(KeyError, error, error.__traceback__))
    assert "in invented" in text


@pytest.mark.parametrize("count, left", [(1, ["fails"]), (2, [])])
def test_replaced_entries(sot, count, left):
    error = raised(sot, [frame(invented), frame(closes_over)], count)
    assert names(error)[-2 - len(left):] == ["invented", "closes_over"] + left


def test_frames_are_linked(sot):
    error = raised(sot, [frame(invented), frame(closes_over)], 1)
    _, first, second, real = entries(error)
    assert second.tb_frame.f_back is first.tb_frame
    assert first.tb_frame.f_back.f_code.co_name == "raised"
    assert real.tb_frame.f_back is second.tb_frame, "a real frame was called by the one that replaced its caller"


def test_variables(sot):
    error = raised(sot, [frame(invented, locals=[(0, "a"), (2, [1])])])
    shown = entries(error)[1].tb_frame
    assert dict(shown.f_locals) == {"a": "a", "c": [1]}
    assert shown.f_code is invented.__code__ and shown.f_globals is globals()
    other = {"other": 1}
    assert entries(raised(sot, [frame(invented, globals=other)]))[1].tb_frame.f_globals is other


@pytest.mark.parametrize("make", [with_cells, closes_over(), closes_over()(1), comprehends])
def test_every_frame_can_be_looked_at(sot, make):
    """Nothing is known of it: cells and free variables included."""
    code = make.__code__
    instructions = [0, 2, len(code.co_code) // 2 // 2 * 2, len(code.co_code) - 2, 10 ** 6]
    for offset in [None] + instructions:
        shown = entries(raised(sot, [frame(make, offset)]))[1].tb_frame
        assert dict(shown.f_locals) == {}
        assert shown.f_lineno >= code.co_firstlineno and shown.f_lasti < len(code.co_code)
        inspect.getframeinfo(shown)
        str(shown)
        shown.clear()
        assert dict(shown.f_locals) == {}


def test_cells(sot):
    cells = [(0, cell_of("in a")), (1, cell_of("in c"))]
    shown = entries(raised(sot, [frame(with_cells, locals=[(1, "b")], cells=cells)]))[1].tb_frame
    assert dict(shown.f_locals) == {"a": "in a", "b": "b", "c": "in c"}
    inner = closes_over()
    free = [(i, cell_of(name)) for i, name in enumerate(inner.__code__.co_cellvars + inner.__code__.co_freevars)]
    shown = entries(raised(sot, [frame(inner, locals=[(0, 7)], cells=free)]))[1].tb_frame
    assert dict(shown.f_locals) == {"x": 7, "free": "free", "other": "other", "y": "y"}


def test_what_fits_nowhere_is_left_out(sot):
    wrong = frame(with_cells, locals=[(99, 1)], cells=[(0, "no cell"), (99, cell_of(1))])
    shown = entries(raised(sot, [wrong]))[1].tb_frame
    assert dict(shown.f_locals) == {}


def test_the_instruction_finds_line_and_columns(sot):
    with pytest.raises(KeyError) as caught:
        outer()
    real = entries(caught.value)[1]
    assert real.tb_frame.f_code is outer.__code__
    error = raised(sot, [frame(outer, real.tb_lasti, real.tb_lineno)], 1)
    shown = entries(error)[1]
    assert shown.tb_frame is not real.tb_frame and shown.tb_frame.f_code is outer.__code__
    assert (shown.tb_lasti, shown.tb_lineno) == (real.tb_lasti, real.tb_lineno)
    assert (shown.tb_frame.f_lasti, shown.tb_frame.f_lineno) == (real.tb_frame.f_lasti, real.tb_frame.f_lineno)
    mine = traceback.extract_tb(error.__traceback__)[1]
    eager = traceback.extract_tb(caught.value.__traceback__)[1]
    assert mine == eager
    if sys.version_info >= (3, 11):
        assert (mine.colno, mine.end_colno) == (eager.colno, eager.end_colno) != (None, None)


def test_capture_of_locals(sot):
    error = raised(sot, [frame(closes_over())])
    shown = traceback.TracebackException(KeyError, error, error.__traceback__, capture_locals=True)
    assert "inner" in "".join(shown.format())


def test_an_exception_that_nobody_raises(sot):
    kept = ValueError("kept")
    assert sot._probe_traceback(lambda: kept, [frame(invented), frame(closes_over)], 0) is kept
    assert names(kept) == ["invented", "closes_over"]
    sot._probe_traceback(lambda: kept, [frame(outer)], 0)
    assert names(kept) == ["outer", "invented", "closes_over"]
    with pytest.raises(TypeError):
        sot._probe_traceback(lambda: "no exception", [frame(outer)], 0)


def test_frames_own_what_they_show(sot):
    class Value:
        pass

    def counts():
        gc.collect()
        return sum(isinstance(o, Value) for o in gc.get_objects())

    value = Value()
    value.me = value
    error = raised(sot, [frame(with_cells, locals=[(1, value)], cells=[(0, cell_of(value))])])
    del value
    assert counts() == 1
    traceback.clear_frames(error.__traceback__)
    assert counts() == 0
    del error
    cycle = Value()
    cycle.error = raised(sot, [frame(invented, locals=[(0, cycle)])])
    del cycle
    assert counts() == 0, "a cycle through the frame is collected"
