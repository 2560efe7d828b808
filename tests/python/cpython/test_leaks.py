"""No reference is lost or kept over 100,000 calls, in any way a frame can be run."""

import gc
import sys

import pytest

from eval_frame_helpers import callback, swap

CALLS = 100_000


def old(a, b=2, *args, k=3, **kw):
    return a


def new(a, b=2, *args, k=3, **kw):
    c = (a, b)
    return c


def bigger(a, b=2, *args, k=3, **kw):
    v0 = v1 = v2 = v3 = v4 = v5 = a
    return [v0, v1, v2, v3, v4, v5, b, args, k, kw]


def capturing(a, b=2, *args, k=3, **kw):
    g = lambda: (a, args)  # noqa: E731
    return g()


def raising(a, b=2, *args, k=3, **kw):
    raise KeyError(a)


def misfit(a):
    return a


def closure_pair():
    cell = object()

    def first(a, b=2, *args, k=3, **kw):
        return cell

    def second(a, b=2, *args, k=3, **kw):
        return cell, a

    return first, second


def run(function, token, calls):
    for _ in range(calls // 4):
        function(token)
        function(token, 5)
        function(token, 5, token)
        function(token, k=token, z=token)


def run_raising(function, token, calls):
    for _ in range(calls):
        try:
            function(token)
        except KeyError:
            pass


def counts(objects):
    gc.collect()
    return [sys.getrefcount(obj) for obj in objects]


def check(function, watched, token, runner=run):
    runner(function, token, 2000)  # caches and free lists fill
    before, blocks = counts(watched), sys.getallocatedblocks()
    runner(function, token, CALLS)
    after, now = counts(watched), sys.getallocatedblocks()
    assert after == before
    assert now - blocks < 200


@pytest.mark.parametrize(
    "make",
    [
        lambda: (old, old),
        lambda: (old, new),
        lambda: (old, bigger),
        lambda: (bigger, new),
        lambda: (old, capturing),
        lambda: (capturing, old),
        lambda: (capturing, capturing),
        closure_pair,
    ],
    ids="same fits bigger smaller boxes unboxes cells closure".split(),
)
def test_replacement(sot, make):
    target, replacement = make()
    token = object()
    watched = [
        token,
        target,
        target.__code__,
        replacement.__code__,
        target.__globals__,
        None.__class__,
        *(target.__closure__ or ()),
    ]
    custom = sot.CustomCode(replacement.__code__, True)
    code = target.__code__
    with callback(lambda frame: custom if frame.f_code is code else None):
        check(target, watched, token)


def test_passing_and_muting(sot):
    token = object()
    for answer in (None, sot.CustomCode(None, True), sot.CustomCode(None, False)):
        with callback(lambda frame: answer):
            check(old, [token, old, old.__code__], token)


def test_raising_replacement(sot):
    token = object()
    with callback(swap(old, raising)):
        check(old, [token, old, raising.__code__], token, run_raising)


def test_refused_replacement(sot):
    token = object()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with callback(swap(old, misfit)):
            check(old, [token, old, misfit.__code__], token)


def test_tokens(sot):
    token = object()
    seen = []

    def body():
        run(old, token, 2000)
        seen.clear()
        before, blocks = counts([token, old.__code__, new.__code__]), sys.getallocatedblocks()
        for _ in range(CALLS // 2000):
            run(old, token, 2000)
            seen.clear()
        assert counts([token, old.__code__, new.__code__]) == before
        assert sys.getallocatedblocks() - blocks < 200

    sot._probe_with_hook(body, old.__code__, new.__code__, seen)


def test_entries(sot):
    token = object()
    target = lambda *slots: None  # noqa: E731
    entry = sot._probe_entry(old, target)
    check(entry, [token, entry, old, target], token)
    bound = sot._probe_entry(old, target, token)
    check(bound, [token, bound, old, target], token)


def test_entry_binding_errors(sot):
    entry = sot._probe_entry(lambda a, *, k: None)
    token = object()

    def fails(*args, **kw):
        try:
            entry(*args, **kw)
        except TypeError:
            pass

    check(fails, [token, entry], token)


def test_natives(sot):
    token = object()
    native = sot._probe_native(lambda *args: None)

    def call(a, *args, **kw):
        return native(a, *args)

    check(call, [token, native], token)


def test_making_and_dropping(sot):
    token = object()

    def cycle(a, *args, **kw):
        entry = sot._probe_entry(old, cycle)
        entry.note = a
        sot._probe_entry_share(entry)
        sot._probe_native(cycle)

    check(cycle, [token, old], token)


def test_installing_and_removing(sot):
    token = object()
    answer = lambda frame: None  # noqa: E731

    def region(a, *args, **kw):
        sot.set_eval_frame(answer)
        sot.set_eval_frame(None)

    check(region, [token, answer], token)
