"""What a program sees of frames is what eager shows: in tracebacks, and for what looks at its callers.

Each program runs as it is and then several times captured, and must show the same frames: code object, line, column,
instruction's place, globals, caller, variables. `sot.explain` is asked what was captured, because a program that was not
captured shows the right frames, too.
"""

import inspect
import logging
import sys
import traceback
import warnings

import pytest

from toy_framework import toy

t = toy.tensor
MARK = "the globals of this file"


# ----- tracebacks


class Boom(Exception):
    pass


@toy.disable
def explode(value):
    raise Boom(value)


@toy.disable
def nothing(value):
    return value


def plain(value):
    if isinstance(value, toy.Tensor):
        return value.tolist(), value.requires_grad
    return getattr(value, "__qualname__", repr(value))


def entries(error):
    entry = error.__traceback__.tb_next
    while entry is not None:
        yield entry
        entry = entry.tb_next


def picture(error):
    """(code, line, columns, globals are ours, caller) of each frame, and the variables apart."""
    frames, variables = [], []
    summaries = traceback.extract_tb(error.__traceback__)[1:]
    for entry, summary in zip(entries(error), summaries):
        frame = entry.tb_frame
        columns = (getattr(summary, "colno", None), getattr(summary, "end_colno", None))
        lines = (entry.tb_lineno, frame.f_lineno)
        frames.append((frame.f_code, lines, columns, frame.f_globals.get("MARK"), frame.f_back.f_code))
        variables.append({name: plain(value) for name, value in frame.f_locals.items()})
    return frames, variables


def caught(function, args):
    try:
        function(*args())
    except Boom as error:
        return picture(error)
    raise AssertionError("it should have raised")


def same_frames(function, args, graphs, breaks, missing=None):
    """`missing`: for each frame, variables whose values are not kept because nothing needs them any more."""
    frames, variables = caught(function, args)
    captured = toy.to_static(function)
    missing = missing or [""] * len(frames)
    for _ in range(3):
        got_frames, got_variables = caught(captured, args)
        assert got_frames == frames
        lost = [{**eager, **got} == eager and sorted(set(eager) - set(got)) for got, eager in zip(got_variables, variables)]
        assert lost == [sorted(names.split()) for names in missing]
    stats = toy.stats()
    assert (stats["graphs"], stats["breaks"]) == (graphs, breaks)
    assert stats["graph_failures"] == 0 and stats["fallbacks"] == 0 and stats["hits"] > 0


def one(requires_grad=False):
    return (t([1.0, 2.0]), 3)


def single(x, n):
    y = x + n
    return y, [explode(n)]


def test_the_frame_of_rewritten_code():
    same_frames(single, one, graphs=1, breaks=1)


def with_closure(x, n):
    y = x + n

    def inner():
        return y, n

    explode(n)
    return inner


def test_cells_of_the_frame():
    same_frames(with_closure, one, graphs=1, breaks=1)


def make_free():
    free, other = t([5.0, 6.0]), "other"

    def uses_free(x, n):
        y = x + free
        explode(other)
        return y, free

    return uses_free


def test_free_variables():
    same_frames(make_free(), one, graphs=1, breaks=1)


def leaf(y, n):
    z = y * n
    return z, (explode(n + 1), 5)


def branch_of(y, n):
    k = [n]
    q = leaf(y + 1, k[0])
    return q, k


def three_deep(x, n):
    a = x - 1
    text = "text"
    b = branch_of(a, n)
    return a, b, text


def test_inlined_frames():
    same_frames(three_deep, one, graphs=1, breaks=1, missing=["", "", "y", ""])


def leaf_with_cells(y, n):
    z = y * n

    def inner():
        return z

    explode(n)
    return inner


def make_deep_with_free():
    free = t([5.0, 6.0])

    def inlined(y, n):
        w = y + free
        r = leaf_with_cells(w, n)
        return r, free

    def function(x, n):
        a = x + free
        return inlined(a, n)

    return function


def test_inlined_frames_with_cells_and_free_variables():
    same_frames(make_deep_with_free(), one, graphs=1, breaks=1, missing=["a", "w y", "y", ""])


def after_a_break(x, n):
    y = x * 2
    nothing(y)
    z = y + 1
    explode(n)
    return z, y


def test_after_a_break():
    same_frames(after_a_break, one, graphs=2, breaks=2, missing=["x", ""])


def leaf_after_a_break(y, n):
    z = y * n
    nothing(z)
    w = z + 1
    explode(n)
    return w, z


def calls_leaf_after_a_break(x, n):
    a = x - 1
    b = leaf_after_a_break(a, n)
    return a, b, x


def test_inlined_frames_after_a_break():
    same_frames(calls_leaf_after_a_break, one, graphs=2, breaks=2, missing=["n", "y", ""])


def raises_itself(x, n):
    y = x * 2
    if n:
        raise Boom(n)
    return y


def test_the_raise_statement_itself():
    same_frames(raises_itself, one, graphs=1, breaks=1)


def resumes_eagerly(y, n):
    nothing(y)
    k = n + 1
    toy._psdb.fallback()
    try:
        z = [n]
        explode(n)
    finally:
        z = z + [n]
    return z, y, k


def calls_what_resumes_eagerly(x, n):
    a = x - 1
    b = resumes_eagerly(a, n)
    return a, b, x


def test_resume_functions():
    """The rest after the break is not captured: the frame is that of a resume function."""
    for function, missing in ((resumes_eagerly, set()), (calls_what_resumes_eagerly, {"n"})):
        toy.reset()
        frames, variables = caught(function, one)
        captured = toy.to_static(function)
        for _ in range(3):
            got_frames, got_variables = caught(captured, one)
            assert got_frames == frames
            for got, eager in zip(got_variables, variables):
                assert got == {name: eager[name] for name in eager if name in got or name not in missing}
        stats = toy.stats()
        assert stats["breaks"] > 0 and stats["continuations"] > 0
        assert stats["fallbacks"] > 0, "otherwise it is no resume function that raises"


def test_locals_in_a_traceback():
    for function in (with_closure, make_free(), three_deep, make_deep_with_free(), after_a_break):
        captured = toy.to_static(function)
        for _ in range(2):
            with pytest.raises(Boom) as error:
                captured(*one())
            text = traceback.TracebackException(Boom, error.value, error.value.__traceback__, capture_locals=True)
            assert "___" not in "".join(text.format())


def called_eagerly(function, *args):
    return function(*args)


called_eagerly = toy.disable(called_eagerly)


def test_frames_that_the_hook_captured():
    """The function is called from a frame that was not captured."""

    def driver(x, n):
        y = x + 1
        return called_eagerly(three_deep, y, n)

    frames, variables = caught(driver, one)
    captured = toy.to_static(driver)
    for _ in range(3):
        got_frames, got_variables = caught(captured, one)
        assert got_frames == frames
        for got in got_variables:
            assert not [name for name in got if name.startswith("___")]
    assert [set(got) for got in got_variables[-4:]] == [
        set(eager) for eager in variables[-4:]
    ], "the variables of the captured frames"


def test_the_error_is_the_same_object_and_can_be_raised_again():
    captured = toy.to_static(three_deep)
    kept = Boom("kept")

    @toy.disable
    def throw(_):
        raise kept

    def function(x, n):
        y = x + n
        throw(y)
        return y

    captured = toy.to_static(function)
    for length in (2, 2, 2):
        kept.__traceback__ = None
        with pytest.raises(Boom) as error:
            captured(*one())
        assert error.value is kept
        assert len(list(entries(kept))) == length


# ----- who is calling


LOG = []


@toy.disable
def look():
    """Write down the frames from the caller to the one that is called `main`."""
    frame = sys._getframe(1)
    shown = []
    while frame.f_code.co_name != "main":
        code = frame.f_code
        shown.append((code.co_filename, code.co_name, frame.f_lineno, frame.f_globals.get("MARK")))
        frame = frame.f_back
    LOG.append(shown)


class Handler(logging.Handler):
    def emit(self, record):
        LOG.append((record.funcName, record.lineno, record.pathname))


logger = logging.getLogger("toy-frames")
logger.propagate = False
logger.setLevel(logging.INFO)
logger.addHandler(Handler())


def looks(x):
    y = x * 2
    look()
    return y + 1


def looks_twice(x):
    y = x - 1
    z = looks(y)
    look()
    return z


def looks_everywhere(x):
    b = looks_twice(x + 1)
    look()
    return looks_twice(b) + looks(b)


def looks_in_a_loop(x):
    for i in range(3):
        x = looks_twice(x) + i
    return [looks(x) for _ in range(2)]


def warns(x):
    y = x + 1
    warnings.warn("own", stacklevel=1)
    warnings.warn("caller", stacklevel=2)
    return y * 2


def warns_below(x):
    y = warns(x + 1)
    look()
    return warns(y)


def logs(x):
    y = x + 1
    logger.info("first")
    look()
    logger.info("second")
    return y * 2


def logs_below(x):
    y = logs(x * 2)
    return logs(y) + 1


def inspects(x):
    y = x + 1
    look()
    LOG.append(inspect.currentframe().f_back.f_code.co_name)
    LOG.append(sys._getframe(1).f_lineno)
    LOG.append([(frame.function, frame.lineno) for frame in inspect.stack()[:2]])
    LOG.append([(frame.name, frame.lineno) for frame in traceback.extract_stack()[-2:]])
    return y * 2


def inspects_below(x):
    y = inspects(x * 2)
    return y + 1


def in_a_try(x):
    y = x + 1
    look()
    try:
        look()
        y = looks(y)
    finally:
        look()
    return y * 2


def calls_in_a_try(x):
    y = in_a_try(x + 1)
    return in_a_try(y)


class Watched:
    """Operations other than calls look, too."""

    @property
    def seen(self):
        look()
        return 1

    def __getitem__(self, key):
        look()
        return key

    def __add__(self, other):
        look()
        return other

    def __setattr__(self, name, value):
        look()
        object.__setattr__(self, name, value)


def operates(x, watched):
    y = x * 2
    k = watched.seen
    k += watched[2]
    watched.other = k
    k = watched + 3
    look()
    return y + k


def operates_below(x):
    y = operates(x + 1, Watched())
    return y * 2


@pytest.mark.parametrize(
    "function",
    [
        looks_everywhere,
        looks_in_a_loop,
        warns_below,
        logs_below,
        inspects_below,
        calls_in_a_try,
        operates_below,
    ],
)
def test_callers(function):
    def main(f):
        LOG.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = f(t([1.0, 2.0]))
        shown = [(str(w.message), w.filename, w.lineno) for w in caught]
        return list(LOG), shown, [part.tolist() for part in (result if isinstance(result, list) else [result])]

    captured = toy.to_static(function)
    seen = [main(f) for f in (function, captured, captured, captured)]
    assert seen[0][0] or seen[0][1]
    assert seen[1:] == seen[:1] * 3
    stats = toy.stats()
    assert stats["graphs"] > 0 and stats["breaks"] > 0 and stats["hits"] > 0


def test_a_break_below_inlined_frames_costs_no_graph():
    captured = toy.to_static(looks_everywhere)

    def main():
        captured(t([1.0]))

    main()
    stats = toy.stats()
    assert (stats["breaks"], stats["fallbacks"]) == (6, 0)


# ----- own variables


def counted(x, n):
    a, y = n + 1, x * 2
    nothing(y)
    b = y + 1
    return sorted(locals()), a, b


def evaluated(x, n):
    a, y = n + 1, x * 2
    nothing(y)
    return eval("a + n"), y + 1


def formatted(x, n):
    a, y = n + 1, x * 2
    nothing(y)
    return "%(a)s %(n)s" % vars(), y + 1


def listed(x, n):
    a, y = n + 1, x * 2
    nothing(y)
    return dir(), y + 1


def of_the_frame(x, n):
    a, y = n + 1, x * 2

    def inner():
        return a

    nothing(y)
    b = y + 1
    return sorted(sys._getframe().f_locals), sorted(inspect.currentframe().f_locals), b, inner()


def of_the_frame_at_once(x, n):
    a, y = n + 1, x * 2
    return sorted(inspect.currentframe().f_locals), y, a


@pytest.mark.parametrize("function", [counted, evaluated, formatted, listed, of_the_frame, of_the_frame_at_once])
def test_a_function_that_asks_for_its_variables(function):
    captured = toy.to_static(function)

    def run(f):
        return [part.tolist() if isinstance(part, toy.Tensor) else part for part in f(*one())]

    expected = run(function)
    for _ in range(3):
        assert run(captured) == expected


# ----- frames that the simulation leaves out


class Inner(toy.Layer):
    def forward(self, x):
        y = x + 1
        look()
        warnings.warn("own", stacklevel=1)
        warnings.warn("the caller of forward", stacklevel=2)
        warnings.warn("the caller of the layer", stacklevel=3)
        return y * 2


class Outer(toy.Layer):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        y = self.inner(x * 2)
        look()
        return self.inner(y)


class Raises(toy.Layer):
    def forward(self, x, n):
        y = x + 1
        explode(n)
        return y


def calls_layers(x):
    return Outer()(x) + 1


def test_the_call_of_a_layer_is_a_frame():
    net = Outer()

    def main(f):
        LOG.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = f(t([1.0, 2.0]))
        shown = [(str(w.message), w.filename, w.lineno) for w in caught]
        return list(LOG), shown, result.tolist()

    def function(x):
        return net(x) + 1

    captured = toy.to_static(function)
    seen = [main(f) for f in (function, captured, captured, captured)]
    assert any(name == "__call__" for _, name, _, _ in seen[0][0][0]), "the framework's own frame"
    assert seen[1:] == seen[:1] * 3
    assert toy.stats()["graphs"] > 0 and toy.stats()["fallbacks"] == 0


def test_the_call_of_a_layer_is_in_tracebacks():
    net = Raises()

    def function(x, n):
        y = x * 2
        return net(y, n), y

    def caught_by_it(x, n):
        y = x * 2
        try:
            net(y, n)
        except Boom as error:
            return [(entry.tb_frame.f_code, entry.tb_lineno) for entry in [error.__traceback__, *entries(error)]]

    frames, _ = caught(function, one)
    assert [code.co_name for code, *_ in frames] == ["function", "__call__", "forward", "explode"]
    captured = toy.to_static(function)
    for _ in range(3):
        assert caught(captured, one)[0] == frames
    expected = caught_by_it(*one())
    captured = toy.to_static(caught_by_it)
    for _ in range(3):
        assert captured(*one()) == expected
