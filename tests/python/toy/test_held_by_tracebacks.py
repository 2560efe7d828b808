"""What the frames of a traceback hold: the variables of each frame that an exception has left, and how long they live.

A program that looks at `tb_frame.f_locals`, that prints a traceback with its variables, or whose values have finalizers finds
in the frames that were inlined what it would find in plain Python, whether somebody needs the values any more or not.
"""

import contextlib
import gc
import traceback

import pytest

from toy_framework import toy

t = toy.tensor
DEAD = []
LOG = []


def entry(f, captured=toy.to_static):
    return captured(f)


def inlined(f, captured=toy.to_static):
    return captured(lambda x: f(x))


def hook(f, captured=toy.to_static):
    def outer(x):
        toy._psdb.fallback()
        return f(x)

    return captured(outer)


def after_a_break(f, captured=toy.to_static):
    def outer(x):
        note("before")
        return f(x)

    return captured(outer)


DOORS = [entry, inlined, hook, after_a_break]


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        DEAD.append(self.name)

    def __repr__(self):
        return "Loud " + self.name


class Boom(Exception):
    pass


class Keeps:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, entries):
        self.kept = entries


def text(value, depth=0):
    if isinstance(value, toy.Tensor):
        return repr(value.tolist())
    if isinstance(value, (list, tuple)):
        return type(value).__name__ if depth > 2 else [text(item, depth + 1) for item in value]
    if isinstance(value, (int, str)) or value is None:
        return repr(value)
    return type(value).__name__


@toy.disable
def picture(error):
    """Name, line and variables of each frame, from the one of this file's program on."""
    shown = []
    entries = error.__traceback__
    while entries is not None:
        frame = entries.tb_frame
        if frame.f_globals is globals() and frame.f_code.co_name != "outcome":
            variables = {name: text(value) for name, value in sorted(frame.f_locals.items())}
            shown.append((frame.f_code.co_name, entries.tb_lineno, variables))
        entries = entries.tb_next
    return shown


@toy.disable
def note(*values):
    """A break, which notes who has died by then."""
    LOG.append((values, list(DEAD)))


def captured_all(door):
    stats = toy.stats()
    # What calls the program where the hook is the door is plain Python.
    assert stats["fallbacks"] == (door is hook) and stats["hits"] > 0, stats["reasons"]


# ----- programs: they return what they have seen, or an exception


def raises(x, n):
    made = [n, n + 1]
    y = x + n
    del n
    if made:
        raise Boom(made)


def between(x, k=7):
    nested = [1, {2: x}]
    return raises(x * 2, k)


def caught_and_kept(x):
    try:
        between(x)
    except Boom as error:
        kept = error
        later = 5
    return kept


def nobody_catches(x):
    made = [3]
    between(x)


def raised_again(x):
    made = [4]
    try:
        between(x)
    except Boom as error:
        later = 3
        raise


def another_is_raised(x):
    made = [4]
    try:
        between(x)
    except Boom as error:
        raise KeyError(made) from error


def with_cells(x):
    made = [4]

    def inner():
        own = made
        error = Boom(x)
        itself = [error]
        raise error

    try:
        inner()
    except Boom as error:
        kept = [error]
    return kept[0]


def items(x):
    made = [x + 1]
    yield made
    raise Boom("in a generator")


def of_a_generator(x):
    out = []
    try:
        for item in items(x):
            out.append(item)
    except Boom as error:
        return error


def of_an_operation(x):
    made = {}
    unused = x + 2
    made["missing"]


def deep(n):
    made = [n]
    if n == 0:
        return made[5]
    return deep(n - 1)


def recursive(x):
    y = x + 1
    deep(3)


def with_a_manager(x):
    keeps = Keeps()
    try:
        with keeps:
            between(x)
    except Boom as error:
        kept = error, keeps.kept
    return kept[0]


def in_a_loop(x):
    kept = []
    for n in range(3):
        try:
            raises(x, n)
        except Boom as error:
            kept.append(error)
    return kept


def looked_at_in_the_handler(x):
    try:
        between(x)
    except Boom as error:
        return picture(error)[-2:]


def printed_in_the_handler(x):
    try:
        between(x)
    except Boom as error:
        lines = traceback.TracebackException.from_exception(error, capture_locals=True).format()
        return [line.replace(" ", "") for line in lines][-2:]


SEEN = [
    (caught_and_kept, 0),
    (nobody_catches, 1),
    (raised_again, 0),
    (another_is_raised, 0),
    (with_cells, 0),
    (of_a_generator, 0),
    (of_an_operation, 1),
    (recursive, 1),
    (with_a_manager, 0),
    (in_a_loop, 0),
    (looked_at_in_the_handler, 1),
    (printed_in_the_handler, None),
]


def shown(value):
    if isinstance(value, BaseException):
        cause = value.__cause__ or value.__context__
        return picture(value), cause and picture(cause)
    return [shown(item) for item in value] if isinstance(value, list) else value


def outcome(call, x):
    try:
        return shown(call(x))
    except (Boom, LookupError) as error:
        return shown(error)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("function", [function for function, _ in SEEN])
def test_what_frames_hold(function, door):
    eager = outcome(door(function, lambda f: f), t([1.0, 2.0]))
    run = door(function)
    for _ in range(3):
        assert outcome(run, t([1.0, 2.0])) == eager
    captured_all(door)


@pytest.mark.parametrize("function, breaks", [case for case in SEEN if case[1] is not None])
def test_breaks(function, breaks):
    run = toy.to_static(function)
    for _ in range(3):
        outcome(run, t([1.0, 2.0]))
    assert toy.stats()["breaks"] == breaks


# ----- lifetimes


def holds_a_local(x):
    held = Loud("local")
    raise Boom


def holds_an_argument(x, given):
    again = given
    given = None
    raise Boom


def with_an_argument(x):
    raise Boom(Loud("argument"))


def while_the_handler_runs(x):
    try:
        holds_a_local(x)
    except Boom:
        note("handler")
    note("after")


def while_it_has_a_name(x):
    try:
        holds_an_argument(x, Loud("given"))
    except Boom as error:
        note("handler")
        dead = len(DEAD)
    return dead, len(DEAD)


def without_a_break_in_the_handler(x):
    try:
        holds_an_argument(x, Loud("given"))
    except Boom as error:
        dead = len(DEAD)
    return dead, len(DEAD)


def arguments(x):
    try:
        with_an_argument(x)
    except Boom as error:
        note("handler")
    note("after")


def as_a_cause(x):
    try:
        try:
            with_an_argument(x)
        except Boom as error:
            note("inner")
            raise KeyError from error
    except KeyError:
        note("outer")
    note("after")


def in_each_round(x):
    for name in "ab":
        try:
            mine = Loud(name)
            with_an_argument(x)
        except Boom as error:
            note("handler")
        note("round")
    note("after")


def the_handler_lets_go(x):
    mine = Loud("mine")
    try:
        with_an_argument(x)
    except Boom as error:
        mine = None
        note("handler")
    note("after")


def frames_are_cleared(x):
    try:
        holds_a_local(x)
    except Boom as error:
        traceback.clear_frames(error.__traceback__)
        note("handler")
    note("after")


def kept_for_a_while(x):
    kept = None
    try:
        with_an_argument(x)
    except Boom as error:
        kept = error
    note("kept")
    kept = None
    note("after")


LIVES = [
    while_the_handler_runs,
    while_it_has_a_name,
    without_a_break_in_the_handler,
    arguments,
    as_a_cause,
    in_each_round,
    the_handler_lets_go,
    frames_are_cleared,
    kept_for_a_while,
]


def life(call):
    gc.collect()
    DEAD.clear()
    LOG.clear()
    result = call(t([1.0, 2.0]))
    return result, [entry for entry in LOG if entry[0] != ("before",)], list(DEAD)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("function", LIVES)
def test_how_long_it_lives(function, door):
    eager = life(door(function, lambda f: f))
    run = door(function)
    for _ in range(3):
        assert life(run) == eager
    captured_all(door)


def caught_often(x):
    found = 0
    for n in range(500):
        try:
            if n % 2:
                raise Boom([n])
        except Boom:
            found += 1
    return x + found


def test_what_nobody_sees_is_not_built():
    run = toy.to_static(caught_often)
    for _ in range(3):
        assert run(t([1.0])).tolist() == [251.0]
    stats = toy.stats()
    assert (stats["graphs"], stats["breaks"], stats["fallbacks"]) == (1, 0, 0)


def told_again(value):
    try:
        note(value.name)
        raise ValueError(value.name)
    except ValueError as error:
        raise Boom("again") from error


def told_by_a_break(value):
    try:
        fail(value.name)
    except ValueError as error:
        raise Boom("again") from error


def raised_under_finally(value):
    try:
        fail(value.name)
    finally:
        LOG.append("finally")


def raised_in_a_generator(value):
    def items():
        held = value
        yield 1
        fail(held.name)

    return list(items())


def raised_two_deep(value):
    def callee(held):
        try:
            note(held.name)
        finally:
            raise Boom(held.name)

    callee(value)


@toy.disable
def fail(name):
    raise ValueError(name)


LEAVES = [told_again, told_by_a_break, raised_under_finally, raised_in_a_generator, raised_two_deep]


def below_a_generator(f, captured=toy.to_static):
    def items(x):
        yield f(x)

    return captured(lambda x: next(items(x)))


@pytest.mark.parametrize("door", [*DOORS, below_a_generator])
@pytest.mark.parametrize("function", LEAVES)
def test_who_drops_the_exception_drops_the_frames(function, door):
    """The frames that a traceback shows, and the code that runs in their place, hold nothing in a circle."""
    run = door(lambda x: function(Loud("held")))
    gc.collect()
    gc.disable()
    try:
        for _ in range(4):
            DEAD.clear()
            with contextlib.suppress(Boom, ValueError):
                run(t([1.0]))
            assert DEAD == ["held"]
    finally:
        gc.enable()


# ----- a break while an exception is handled: its traceback holds the frame that goes on


def goes_on_in_a_handler(x):
    loud = Loud("handler")
    try:
        raise Boom(1)
    except Boom:
        note(x)
        raise


def goes_on_in_a_finally(x):
    loud = Loud("finally")
    try:
        raise Boom(1)
    finally:
        note(x)


def goes_on_twice(x):
    loud = Loud("outer")
    try:
        goes_on_in_a_finally(x)
    finally:
        note("twice")


def called_by_a_handler(x):
    try:
        goes_on_in_a_handler(x)
    except Boom:
        note("caught")
    note("after")
    return x + 1


def called_by_a_named_handler(x):
    try:
        goes_on_in_a_finally(x)
    except Boom as error:
        note("caught", type(error).__name__)
    note("after")
    return x + 1


def called_through_a_finally(x):
    try:
        goes_on_twice(x)
    except Boom:
        note("caught")
    note("after")
    return x + 1


def kept_for_a_while(x):
    try:
        goes_on_in_a_handler(x)
    except Boom as error:
        kept = error
    note("kept")
    kept = None
    note("gone")
    return x + 1


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "f", [called_by_a_handler, called_by_a_named_handler, called_through_a_finally, kept_for_a_while]
)
def test_what_a_frame_holds_that_goes_on_while_its_exception_is_handled(f, door):
    def deaths(run):
        del LOG[:], DEAD[:]
        run(t([1.0]))
        return [(repr(values[-1]), dead) for values, dead in LOG if not isinstance(values[-1], toy.Tensor)], list(DEAD)

    wanted = deaths(f)
    captured = door(f)
    assert [deaths(captured)[1] for _ in range(3)] == [wanted[1]] * 3
    found = deaths(captured)
    assert [entry for entry in found[0] if entry[0] != "'before'"] == wanted[0]
    assert toy.stats()["captures"] > 0
