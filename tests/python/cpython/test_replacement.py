"""Running other code in a frame: arguments, cells, closures, stack size, tracebacks."""

import gc
import sys
import traceback

import pytest

from eval_frame_helpers import callback, swap, with_code

# (definition, call): every kind of parameter, and names that closures capture.
KINDS = {
    "none": ("def f():\n    return BODY(())", "f()"),
    "positional": ("def f(a, b):\n    return BODY((a, b))", "f(1, 2)"),
    "posonly": ("def f(a, b, /, c):\n    return BODY((a, b, c))", "f(1, 2, c=3)"),
    "default": ("def f(a, b=2, c=[]):\n    return BODY((a, b, c))", "f(1)"),
    "star": ("def f(a, *args):\n    return BODY((a, args))", "f(1, 2, 3)"),
    "kwonly": ("def f(a, *, k, m=4):\n    return BODY((a, k, m))", "f(1, k=3)"),
    "kwargs": ("def f(a, **kw):\n    return BODY((a, kw))", "f(1, x=3, y=4)"),
    "all": (
        "def f(a, b=2, *args, k, m=5, **kw):\n    return BODY((a, b, args, k, m, kw))",
        "f(1, 7, 8, k=9, z=3)",
    ),
}
CELL = {
    "cell_all": (
        "def f(a, b=2, *args, k, m=5, **kw):\n"
        "    g = lambda: (a, b, args, k, m, kw)\n"
        "    return BODY(g())",
        "f(1, 7, 8, k=9, z=3)",
    ),
    "cell_some": (
        "def f(a, b, c):\n    g = lambda: (b,)\n    x = 5\n    h = lambda: x\n"
        "    return BODY((a, g(), c, h()))",
        "f(1, 2, 3)",
    ),
    "cell_written": (
        "def f(a):\n    def inc():\n        nonlocal a\n        a += 1\n    inc()\n    inc()\n"
        "    return BODY((a,))",
        "f(1)",
    ),
}


def make(source, wrap):
    namespace = {"BODY": wrap}
    exec(source, namespace)
    return namespace


@pytest.mark.parametrize("kind", [*KINDS, *CELL])
def test_each_signature(sot, kind):
    source, call = {**KINDS, **CELL}[kind]
    old = make(source, lambda values: ("old", values))
    # Same globals for both, as a replacement runs in the frame's globals: mark by a constant.
    new_source = source.replace("BODY(", "('new', ").replace("('new', (", "('new', (")
    exec(new_source.replace("def f(", "def g("), old)
    expected = eval(call.replace("f(", "g(", 1), old)
    assert expected[0] == "new"
    with callback(swap(old["f"], old["g"])):
        result = eval(call, old)
    assert result == expected
    assert eval(call, old)[0] == "old"


def capturing(a, b, c):
    g = lambda: (a, c)  # noqa: E731
    extra = 4
    h = lambda: extra  # noqa: E731
    return "capturing", g(), b, h()


def capturing_other(a, b, c):
    g = lambda: (b,)  # noqa: E731
    return "other", a, g(), c


def straight(a, b, c):
    d = (a, b)
    return "straight", d, c


@pytest.mark.parametrize("old", [capturing, capturing_other, straight])
@pytest.mark.parametrize("new", [capturing, capturing_other, straight])
def test_cells_of_either_code(sot, old, new):
    with callback(swap(old, new)):
        assert old([1], [2], [3]) == with_code(old, new.__code__)([1], [2], [3])


def test_closures_and_nonlocal(sot):
    def make_pair(start):
        total = start

        def add(n):
            nonlocal total
            total += n
            return total

        def add_twice(n):
            nonlocal total
            total += n
            total += n
            return ("twice", total)

        return add, add_twice, lambda: total

    first, twice, read_first = make_pair(0)
    second, _, read_second = make_pair(100)
    assert first.__code__ is second.__code__
    with callback(swap(first, twice)):
        assert first(1) == ("twice", 2)
        assert second(5) == ("twice", 110)
        assert first(1) == ("twice", 4)
    assert (read_first(), read_second()) == (4, 110)


def test_method_and_super(sot):
    class Base:
        def who(self, x):
            return "base", x

    class Derived(Base):
        def who(self, x):
            return "derived", super().who(x)

        def other(self, x):
            return "other", super().who(x), __class__

    with callback(swap(Derived.who, Derived.other)):
        assert Derived().who(1) == ("other", ("base", 1), Derived)


def big(a):
    v0 = v1 = v2 = v3 = v4 = v5 = v6 = v7 = v8 = v9 = a
    return sum([v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, *[a for _ in range(10)]])


def test_larger_and_smaller_frames(sot):
    names = ["v%d" % i for i in range(200)]
    source = "def huge(a):\n" + "".join("    %s = a\n" % n for n in names)
    source += "    return [" + ", ".join(names) + "]\n"
    namespace = {}
    exec(source, namespace)

    def small(a):
        return a

    for old, new in ((small, big), (big, small), (small, namespace["huge"]), (namespace["huge"], small)):
        expected = with_code(old, new.__code__)(3)
        with callback(swap(old, new)):
            assert [old(3) for _ in range(20)] == [expected] * 20


def test_deep_chain_of_growing_frames(sot):
    """Frames cross the chunks of the data stack at every possible place."""

    names = ["w%d" % i for i in range(37)]
    source = "def wide(n, words):\n" + "".join("    %s = words\n" % n for n in names)
    source += "    return 0 if n == 0 else 1 + step(n - 1, %s)\n" % names[-1]
    globals_of = {}
    exec("def step(n, words):\n    return 0 if n == 0 else 1 + step(n - 1, words)\n", globals_of)
    exec(source, globals_of)
    token = object()
    with callback(swap(globals_of["step"], globals_of["wide"])):
        for depth in range(1, 400, 3):
            assert globals_of["step"](depth, token) == depth
    before = sys.getrefcount(token)
    with callback(swap(globals_of["step"], globals_of["wide"])):
        for depth in range(1, 300, 7):
            globals_of["step"](depth, token)
    assert sys.getrefcount(token) == before


def test_globals_and_builtins_are_those_of_the_frame(sot):
    namespace = {"name": "theirs"}
    exec("def f(): return name, len", namespace)

    def g():
        return "g", name, len  # noqa: F821

    with callback(swap(namespace["f"], g)):
        assert namespace["f"]() == ("g", "theirs", len)


def raising(a):
    x = a
    raise ValueError(x)


def raising_new(a):
    y = a

    raise KeyError(y)


def calls(a):
    return raising(a)


def test_traceback_shows_the_replacement(sot):
    with callback(swap(raising, raising_new)):
        with pytest.raises(KeyError) as caught:
            calls(5)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [f.name for f in frames[-2:]] == ["calls", "raising_new"]
    first = raising_new.__code__.co_firstlineno
    assert frames[-1].lineno == first + 3
    assert "raise KeyError(y)" in frames[-1].line
    tb = caught.value.__traceback__
    while tb.tb_next:
        tb = tb.tb_next
    assert tb.tb_frame.f_locals == {"a": 5, "y": 5}
    assert tb.tb_frame.f_back.f_code is calls.__code__


def test_exception_context(sot):
    def handler(a):
        try:
            raising(a)
        except KeyError as error:
            raise OSError("outer") from error

    with callback(swap(raising, raising_new)):
        with pytest.raises(OSError) as caught:
            handler(1)
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.__context__ is caught.value.__cause__


def test_kept_frame_object(sot):
    def old(a):
        return None

    def new(a):
        kept = a
        import sys

        return sys._getframe()

    marker = object()
    with callback(swap(old, new)):
        frame = old(marker)
    assert frame.f_code is new.__code__
    assert frame.f_locals["kept"] is marker and frame.f_locals["a"] is marker
    assert frame.f_lineno == new.__code__.co_firstlineno + 4
    gc.collect()
    assert frame.f_locals["kept"] is marker


def test_arguments_die_as_in_a_plain_call(sot):
    class Noted:
        def __init__(self, log):
            self.log = log

        def __del__(self):
            self.log.append("died")

    def old(a):
        return None

    def new(a):
        log = a.log
        a = None
        log.append("after")
        return log

    def plain():
        return new(Noted([]))

    def hooked():
        return old(Noted([]))

    # From 3.11 a call under a hook is not inlined, so the caller holds the argument longer.
    with callback(lambda frame: None):
        expected = plain()
    with callback(swap(old, new)):
        assert hooked() == expected
    assert sorted(expected) == ["after", "died"]


def test_recursion_and_recursion_error(sot):
    namespace = {}
    exec("def count(n): return 0 if n == 0 else 1 + count(n - 1)", namespace)
    exec("def new(n):\n  x = y = z = n\n  return 0 if z == 0 else 1 + count(z - 1)", namespace)
    with callback(swap(namespace["count"], namespace["new"])):
        assert namespace["count"](200) == 200
        with pytest.raises(RecursionError):
            namespace["count"](10 ** 6)
        assert namespace["count"](200) == 200


def test_yielding_code_is_never_replaced(sot):
    def gen(n):
        for i in range(n):
            got = yield i
            if got:
                return got

    def not_gen(n):
        return "wrong"

    async def coro(n):
        return n

    async def agen(n):
        yield n

    shown = []

    def decide(frame):
        shown.append(frame.f_code)
        return sot.CustomCode(not_gen.__code__, False) if frame.f_code.co_name in wanted else None

    wanted = {"gen", "coro", "agen"}
    with callback(decide):
        assert list(gen(3)) == [0, 1, 2]
        g = gen(5)
        next(g)
        with pytest.raises(StopIteration) as stop:
            g.send("value")
        assert stop.value.value == "value"
        g = gen(5)
        next(g)
        with pytest.raises(KeyError):
            g.throw(KeyError)
        gen(2).close()
        try:
            coro(4).send(None)
        except StopIteration as end:
            assert end.value == 4
        ait = agen(6).__anext__()
        with pytest.raises(StopIteration) as stop:
            ait.send(None)
        assert stop.value.value == 6
        assert [x for x in (i * 2 for i in range(3))] == [0, 2, 4]
    assert not {gen.__code__, coro.__code__, agen.__code__} & set(shown)


def test_calls_from_a_generator_are_hooked(sot):
    def helper(x):
        return "old", x

    def helper_new(x):
        return "new", x

    def gen():
        yield helper(1)
        yield helper(2)

    with callback(swap(helper, helper_new)):
        assert list(gen()) == [("new", 1), ("new", 2)]


def test_module_and_class_bodies_are_not_shown(sot):
    shown = []
    with callback(lambda frame: shown.append(frame.f_code.co_name)):
        exec("x = 1\nclass C:\n    y = 2\n", {})
    assert "<module>" not in shown and "C" not in shown
