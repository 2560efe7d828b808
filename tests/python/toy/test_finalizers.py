"""Finalizers: when they run, and what they may do.

A finalizer may run captured functions itself, at any moment at which a value can die: while rewritten code hands over to
its continuation, while an exception tears down frames, while the collector runs.
"""

import gc
import sys
import weakref

import pytest

from doors import opaque
from toy_framework import toy

t = toy.tensor


def breaks_twice(x):
    y = x + 1
    opaque(y)
    y = y * 2
    opaque(y)
    return y + 3


captured_twice = toy.to_static(breaks_twice)


class Runs:
    """Runs a captured function that breaks when it dies."""

    log = []

    def __init__(self, number=1.0):
        self.number = number

    def __del__(self):
        Runs.log.append(captured_twice(t([self.number])).tolist())


@pytest.fixture(autouse=True)
def clean_log():
    Runs.log.clear()


def dies_at_a_break(x, make):
    made = make()
    y = x * 2
    opaque(made)
    made = None
    opaque(y)
    return y + 1


def dies_at_the_return(x, make):
    made = make()
    opaque(x)
    y = x * 2
    opaque(made)
    return y + 1


def dies_as_a_temporary(x, make):
    opaque(make())
    y = x * 2
    opaque(make(), [make()])
    return y + 1


def dies_in_a_loop(x, make):
    for _ in range(5):
        made = make()
        x = x + 1
        opaque(made)
    return x


def dies_inlined(x, make):
    def inner(x):
        made = make()
        opaque(made)
        return x * 2

    return inner(inner(x)) + 1


ALL = [dies_at_a_break, dies_at_the_return, dies_as_a_temporary, dies_in_a_loop, dies_inlined]


@pytest.mark.parametrize("f", ALL)
def test_a_finalizer_that_runs_a_captured_function(f):
    expected = f(t([1.0]), Runs).tolist()
    log = list(Runs.log)
    translated = toy.to_static(f)
    for _ in range(4):
        Runs.log.clear()
        assert translated(t([1.0]), Runs).tolist() == expected
        assert Runs.log == log
    assert toy.stats()["continuations"] > 0


@pytest.mark.parametrize("f", ALL)
def test_a_weak_reference_whose_callback_runs_a_captured_function(f):
    class Plain:
        pass

    log, references = [], []

    def make():
        plain = Plain()
        references.append(weakref.ref(plain, lambda _: log.append(captured_twice(t([1.0])).tolist())))
        return plain

    expected = f(t([1.0]), make).tolist()
    wanted = list(log)
    translated = toy.to_static(f)
    for _ in range(4):
        log.clear()
        assert translated(t([1.0]), make).tolist() == expected
        assert log == wanted


def test_a_collector_callback_that_runs_a_captured_function():
    def callback(phase, info):
        assert captured_twice(t([1.0])).tolist() == [7.0]

    class Cycle:
        def __init__(self):
            self.me = self

    @toy.disable
    def collect():
        Cycle()
        gc.collect(0)

    def f(x):
        for _ in range(20):
            x = x + 1
            collect()
        return x

    translated = toy.to_static(f)
    captured_twice(t([1.0]))
    gc.callbacks.append(callback)
    threshold = gc.get_threshold()
    gc.set_threshold(20)
    try:
        for _ in range(5):
            assert translated(t([0.0])).tolist() == [20.0]
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(callback)


def test_a_failing_graph_with_a_finalizer_that_fails_as_well():
    fails = toy.to_static(lambda x: toy.log(x - 5))

    class Fails:
        def __del__(self):
            with pytest.raises(ValueError):
                fails(t([1.0]))
            Runs.log.append("failed")

    def f(x, make):
        made = make()
        opaque(made)
        y = toy.log(x - 5)
        return y + 1

    translated = toy.to_static(f)
    for _ in range(3):
        Runs.log.clear()
        with pytest.raises(ValueError):
            translated(t([1.0]), Fails)
        gc.collect()
        assert Runs.log == ["failed"]
    assert translated(t([7.0]), Fails).shape == (1,)


def test_an_unrelated_error_of_a_finalizer_is_no_failure_of_a_graph(capsys):
    class Raises:
        def __del__(self):
            raise ValueError("from __del__")

    def f(x, make):
        made = make()
        y = x * 2
        opaque(made)
        return y

    import sys

    before, sys.unraisablehook = sys.unraisablehook, lambda error: None
    try:
        translated = toy.to_static(f)
        for _ in range(3):
            assert translated(t([1.0]), Raises).tolist() == [2.0]
    finally:
        sys.unraisablehook = before
    assert toy.stats()["graph_failures"] == 0


def test_the_request_is_never_seen():
    kept = []

    class Looks:
        def __del__(self):
            kept.extend(o for o in gc.get_objects() if type(o).__name__ == "_Request")

    for f in ALL:
        toy.to_static(f)(t([1.0]), Looks)
    assert kept == []
    # A list of all objects has the frame in it that has the list: who looks again must not do so in the middle of another test,
    # whose frames and generators would be in its list.
    while gc.collect():
        pass


# ----- when


class Loud:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __del__(self):
        self.log.append(self.name)


ORDER = []


def order(f):
    ORDER.append(pytest.param(f, id=f.__name__))
    return f


@order
def overwritten(x, log, make):
    a = make("a")
    y = x * 2
    a = None
    log.append("after a")
    make("b")
    log.append("after b")
    return y


@order
def deleted(x, log, make):
    a = make("a")
    y = x * 2
    del a
    log.append("after")
    opaque()
    log.append("end")
    return y


@order
def kept_to_the_end(x, log, make):
    a = make("a")
    y = x * 2
    log.append("middle")
    opaque()
    log.append("end")
    return y


@order
def two_of_them(x, log, make):
    a = make("a")
    b = make("b")
    log.append("made")
    a = b
    log.append("a is b")
    opaque()
    b = None
    log.append("a lives")
    a = None
    log.append("gone")
    return x * 2


@order
def in_a_list(x, log, make):
    items = [make("a"), make("b")]
    log.append("made")
    items.pop()
    log.append("popped")
    opaque()
    items = None
    log.append("gone")
    return x * 2


@order
def of_a_callee(x, log, make):
    def inner(x):
        a = make("a")
        log.append("inside")
        return x * 2

    y = inner(x)
    log.append("outside")
    opaque()
    log.append("end")
    return y


@order
def an_argument_of_a_call(x, log, make):
    @toy.disable
    def take(value):
        log.append("taken")

    take(make("a"))
    log.append("after")
    return x * 2


@order
def dropped_at_once_and_the_log_is_read(x, log, make):
    y = x * 2
    log.append("before")
    make("a")
    log.append(len(log))
    make("b")
    log.append(list(log))
    return y


@order
def an_item_of_a_loop(x, log, make):
    for n in range(3):
        a = make(n)
        log.append(("made", n))
        x = x + 1
    log.append("end")
    return x


@order
def half_used_generator(x, log, make):
    def numbers():
        try:
            for i in range(10):
                log.append(i)
                yield i
        finally:
            log.append("closed")

    for i in numbers():
        x = x + i
        if i == 2:
            break
    log.append("after")
    return x


@order
def weak_reference(x, log, make):
    a = make("a")
    reference = weakref.ref(a)
    y = x * 2
    log.append(reference() is None)
    del a
    log.append(reference() is None)
    return y


def who_holds_the_living():
    """For the message of a failure: what still lives, and what refers to it."""
    lines = []
    for living in gc.get_objects():
        if isinstance(living, Loud) or getattr(living, "__name__", "") == "numbers" and not callable(living):
            lines.append(f"{sys.getrefcount(living) - 3} references to {living!r}")
            for holder in gc.get_referrers(living):
                if holder is not sys._getframe():
                    lines.append(f"    {type(holder).__name__}: {holder!r:.300}")
                    lines.extend(f"        {type(of).__name__}: {of!r:.100}" for of in gc.get_referrers(holder)[:5])
    return "\n".join(lines)


@pytest.mark.parametrize("f", ORDER)
@pytest.mark.parametrize("door", ["entry", "hook"])
def test_finalizers_run_when_they_would(f, door, request):
    if sys.version_info < (3, 11) and f is an_argument_of_a_call and door == "entry":
        # Not in every order of the tests: its cause is not known.
        request.applymarker(pytest.mark.xfail(reason="up to 3.10 the argument may live until the call returns", strict=False))
    def once(function):
        log = []
        result = function(t([1.0]), log, lambda name: Loud(log, name))
        log.append("returned")
        return log, result.tolist()

    expected = once(f)
    if door == "hook":

        @toy.disable
        def call(*args):
            return f(*args)

        translated = toy.to_static(lambda *args: call(*args))
    else:
        translated = toy.to_static(f)
    for _ in range(4):
        got = once(translated)
        assert got == expected, who_holds_the_living()
    assert toy.stats()["fallbacks"] == 0


def test_results_die_with_their_owner():
    """What a continuation no longer needs does not wait for the end of the call."""
    alive = []

    class Big:
        count = 0

        def __init__(self):
            Big.count += 1

        def __del__(self):
            Big.count -= 1

    @toy.disable
    def look():
        alive.append(Big.count)

    def f(x):
        for _ in range(6):
            big = Big()
            x = x + 1
            look()
        big = None
        look()
        return x

    f(t([0.0]))
    expected = list(alive)
    translated = toy.to_static(f)
    for _ in range(3):
        alive.clear()
        translated(t([0.0]))
        assert alive == expected


def c_function():
    return pytest.importorskip("_testcapi").create_cfunction()


@pytest.mark.parametrize("make", [Runs, lambda: weakly_referenced(), lambda: [].append, lambda: c_function()])
def test_a_guard_keeps_nothing_alive(make):
    """A comparison of identity is a guard on an object that the program could see die."""
    translated = toy.to_static(lambda x, a, b: x * 2 if a is b else x * 3)
    for _ in range(2):
        one = make()
        died = weakref.ref(one)
        for _ in range(3):
            assert translated(t([1.0]), one, one).item() == 2
            assert translated(t([1.0]), one, None).item() == 3
        del one
        assert died() is None


def weakly_referenced():
    class Plain:
        pass

    made = Plain()
    Plain.reference = weakref.ref(made)
    return made
