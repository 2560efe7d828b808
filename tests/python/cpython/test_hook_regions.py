"""Nesting, exceptions, threads, tracing: the hook is exactly where it was set, and nowhere else."""

import sys
import threading
import time

import pytest

from eval_frame_helpers import callback, swap


def leaf(x):
    return x + 1


def leaf_new(x):
    return ("new", x)


def middle(x):
    return leaf(x)


def names(seen):
    return [name for name in seen if name in ("leaf", "middle", 7)]


def test_with_hook_runs_finish_with_the_token(sot):
    seen = []
    result = sot._probe_with_hook(lambda: middle(1), leaf.__code__, leaf_new.__code__, seen)
    assert result == (7, ("new", 1))
    assert names(seen) == ["middle", "leaf", 7]
    assert sot._probe_slot_is_default()


def test_finish_sees_exceptions(sot):
    def fails(x):
        raise KeyError(x)

    seen = []
    with pytest.raises(KeyError):
        sot._probe_with_hook(lambda: leaf(1), leaf.__code__, fails.__code__, seen)
    assert names(seen) == ["leaf", 7]
    assert sot._probe_slot_is_default()


def test_a_refused_replacement_runs_the_original(sot):
    def two(x, y):
        return None

    before = sot._hook_failures()
    seen = []
    assert sot._probe_with_hook(lambda: leaf(1), leaf.__code__, two.__code__, seen) == 2
    assert names(seen) == ["leaf"]
    assert sot._hook_failures() == before + 1


def test_a_panicking_hook_disturbs_nothing(sot, capfd):
    before = sot._hook_failures()
    assert sot._probe_with_hook(lambda: middle(1), leaf.__code__, leaf.__code__, [], True) == 2
    assert sot._hook_failures() >= before + 2
    assert sot._probe_slot_is_default()


def test_exceptions_restore(sot):
    with pytest.raises(ZeroDivisionError):
        sot._probe_with_hook(lambda: 1 / 0, leaf.__code__, leaf.__code__, [])
    assert sot._probe_slot_is_default()
    assert leaf(1) == 2


def test_regions_nest(sot):
    outer_seen, inner_seen = [], []

    def inner():
        return sot._probe_with_hook(lambda: leaf(1), leaf.__code__, leaf_new.__code__, inner_seen)

    def outer():
        first = leaf(0)
        second = inner()
        third = leaf(5)
        return first, second, third

    assert sot._probe_with_hook(outer, middle.__code__, middle.__code__, outer_seen) == (
        1,
        (7, ("new", 1)),
        6,
    )
    assert names(outer_seen) == ["leaf", "leaf"]
    assert names(inner_seen) == ["leaf", 7]
    assert sot._probe_slot_is_default()


def test_region_inside_a_callback_region(sot):
    shown, seen = [], []
    with callback(lambda frame: shown.append(frame.f_code.co_name)):
        leaf(1)
        sot._probe_with_hook(lambda: leaf(1), leaf.__code__, leaf_new.__code__, seen)
        leaf(1)
    assert names(shown) == ["leaf", "leaf"] and names(seen) == ["leaf", 7]


def test_callback_changes_inside_a_region_end_with_it(sot):
    shown = []

    def body():
        sot.set_eval_frame(lambda frame: shown.append(frame.f_code.co_name))
        leaf(1)

    sot._probe_with_hook(body, middle.__code__, middle.__code__, [])
    assert names(shown) == ["leaf"]
    assert sot._probe_slot_is_default()
    leaf(1)
    assert names(shown) == ["leaf"]

    def removes():
        sot.set_eval_frame(None)
        leaf(1)

    seen = []
    sot._probe_with_hook(removes, middle.__code__, middle.__code__, seen)
    assert names(seen) == [] and sot._probe_slot_is_default()


def test_without_hook(sot):
    shown = []
    with callback(lambda frame: shown.append(frame.f_code.co_name)):
        sot._probe_without_hook(lambda: leaf(1))
        assert names(shown) == []
        with pytest.raises(ZeroDivisionError):
            sot._probe_without_hook(lambda: 1 / 0)
        leaf(1)
    assert names(shown) == ["leaf"]


def test_threads(sot):
    """Four threads, each with its own hook and results; a fifth without one."""

    def work(result, index, hooked):
        seen = []
        for n in range(300):
            if hooked:
                value = sot._probe_with_hook(
                    lambda: middle(n), leaf.__code__, leaf_new.__code__, seen
                )
                expected = (7, ("new", n))
            else:
                value, expected = middle(n), n + 1
            if value != expected:
                result[index] = (value, expected)
                return
        result[index] = len(names(seen))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        result = [None] * 5
        threads = [
            threading.Thread(target=work, args=(result, index, index < 4)) for index in range(5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert result == [900] * 4 + [0]
    assert sot._probe_slot_is_default()


def test_threads_with_deep_replaced_frames(sot):
    """Replaced frames of several threads cross chunks of the data stack at once."""
    source = "def wide(n):\n" + "".join("    w%d = n\n" % i for i in range(60))
    source += "    return 0 if w3 == 0 else 1 + step(n - 1)\n"
    namespace = {}
    exec("def step(n):\n    return 0 if n == 0 else 1 + step(n - 1)\n", namespace)
    exec(source, namespace)
    step, wide = namespace["step"], namespace["wide"]
    wrong = []

    def work():
        with callback(swap(step, wide)):
            for depth in range(1, 150, 11):
                if step(depth) != depth:
                    wrong.append(depth)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_thread_that_ends_with_a_callback(sot):
    thread = threading.Thread(target=lambda: sot.set_eval_frame(lambda frame: None))
    thread.start()
    thread.join()
    deadline = time.monotonic() + 10
    while not sot._probe_slot_is_default() and time.monotonic() < deadline:
        time.sleep(0.001)  # the operating system's thread ends a little later than Python's
        assert leaf(1) == 2  # the next frame gives the slot back
    assert sot._probe_slot_is_default()


def test_settrace_sees_the_replacement(sot):
    events = []

    def tracer(frame, event, arg):
        if frame.f_code in (leaf.__code__, leaf_new.__code__):
            events.append((frame.f_code.co_name, event))
        return tracer

    old = sys.gettrace()
    with callback(swap(leaf, leaf_new)):
        sys.settrace(tracer)
        try:
            assert sot._probe_fact("tracing", None) is True
            result = leaf(1)
        finally:
            sys.settrace(old)
    assert result == ("new", 1)
    assert events == [("leaf_new", "call"), ("leaf_new", "line"), ("leaf_new", "return")]


def test_setprofile_sees_the_replacement(sot):
    events = []

    def profiler(frame, event, arg):
        if frame.f_code in (leaf.__code__, leaf_new.__code__):
            events.append((frame.f_code.co_name, event))

    with callback(swap(leaf, leaf_new)):
        sys.setprofile(profiler)
        try:
            leaf(1)
        finally:
            sys.setprofile(None)
    assert events == [("leaf_new", "call"), ("leaf_new", "return")]


def test_trace_functions_themselves_are_not_shown(sot):
    shown = []

    def tracer(frame, event, arg):
        leaf(0)
        return tracer

    old = sys.gettrace()
    with callback(lambda frame: shown.append(frame.f_code.co_name)):
        sys.settrace(tracer)
        try:
            middle(1)
        finally:
            sys.settrace(old)
    assert "tracer" not in shown
    assert names(shown) == ["middle", "leaf"]


def test_deep_recursion_under_a_passing_hook(sot):
    def count(n):
        return 0 if n == 0 else 1 + count(n - 1)

    with callback(lambda frame: None):
        # 3.12 spends C recursion on each hooked call (CPYTHON.md, section 1).
        assert count(300) == 300
        with pytest.raises(RecursionError):
            count(10 ** 6)
    assert count(300) == 300


def test_callback_calling_c_code_that_calls_python(sot):
    shown = []

    class Key:
        def __lt__(self, other):
            return False

    def decide(frame):
        sorted([Key(), Key()])
        shown.append(frame.f_code.co_name)

    with callback(decide):
        sorted([3, 1, 2], key=leaf)
        list(map(leaf, [1, 2]))
    assert shown.count("leaf") == 5 and "__lt__" not in shown


def test_finalizers_and_gc_under_the_hook(sot):
    import gc

    class Cycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            leaf(1)

    shown = []

    def decide(frame):
        gc.collect()
        shown.append(frame.f_code.co_name)

    with callback(decide):
        for _ in range(5):
            Cycle()
            leaf(1)
    assert names(shown).count("leaf") >= 5
