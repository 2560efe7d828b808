"""What a single function does not show: deep loops, threads, tracebacks, limits, and what is kept alive."""

import gc
import inspect
import itertools
import sys
import threading
import traceback
import weakref

import pytest

from known_failures import known
from toy_framework import toy

t = toy.tensor


@pytest.fixture(autouse=True)
def known_of_it(request):
    for mark in known(request.node.name):
        request.applymarker(mark)


@pytest.fixture
def little_stack():
    """Room for a few dozen frames: a loop that nests one for each break runs out of it."""
    before = sys.getrecursionlimit()
    depth = len(inspect.stack(0))
    sys.setrecursionlimit(depth + 60)
    yield
    sys.setrecursionlimit(before)


def test_ten_thousand_breaks_on_a_branch(little_stack):
    def f(x):
        while x.sum() < 10_000:
            x = x + 1
        return x

    assert toy.to_static(f)(t([0.0])).item() == 10_000
    stats = toy.stats()
    assert stats["continuations"] >= 10_000
    assert stats["captures"] <= 8, "a loop that breaks each time round reuses its continuations"


def test_ten_thousand_breaks_with_a_counter(little_stack, capsys):
    def f(x, n):
        while n > 0:
            x = x + 1
            print(end="")
            n -= 1
        return x

    assert toy.to_static(f)(t([0.0]), 10_000).item() == 10_000


def test_ten_thousand_breaks_in_a_for_loop(little_stack, capsys):
    def f(x):
        for i in range(10_000):
            x = x + 1
            print(end="")
        return x, i

    result, last = toy.to_static(f)(t([0.0]))
    assert (result.item(), last) == (10_000, 9_999)


def test_ten_thousand_breaks_two_calls_deep(little_stack, capsys):
    def leaf(x):
        y = x + 1
        print(end="")
        return y

    def middle(x):
        return leaf(x) + 1

    def f(x):
        while x.sum() < 20_000:
            x = middle(x)
        return x

    assert toy.to_static(f)(t([0.0])).item() == 20_000
    assert toy.stats()["captures"] <= 12


def test_deep_recursion_is_the_same_error():
    def down(x, n):
        return down(x + 1, n + 1)

    with pytest.raises(RecursionError):
        toy.to_static(down)(t([0.0]), 0)


def test_recursion_through_the_translated_function():
    @toy.to_static
    def power(x, n):
        return x if n == 0 else power(x, n - 1) * 2

    assert power(t([1.0]), 10).tolist() == [1024.0]


# ----- tracebacks


def lines(function, *args):
    with pytest.raises(Exception) as raised:
        function(*args)
    chain = [(e.filename, e.lineno) for e in traceback.extract_tb(raised.value.__traceback__)]
    return [line for file, line in chain if file == __file__ and line not in HERE]


HERE = range(lines.__code__.co_firstlineno, lines.__code__.co_firstlineno + 4)


def test_all_lines_of_a_traceback_when_the_graph_raises():
    def inner(x):
        y = x * 2
        return toy.log(y)

    def f(x):
        y = x - 5
        return inner(y) + 1

    expected = lines(f, t([1.0]))
    assert len(expected) == 2
    for _ in range(3):
        assert lines(toy.to_static(f), t([1.0])) == expected


def test_all_lines_of_a_traceback_after_a_break(capsys):
    def inner(x):
        y = x * 2
        print("break")
        return {}[y.ndim]

    def f(x):
        y = x - 5
        return inner(y) + 1

    expected = lines(f, t([1.0]))
    assert len(expected) == 2
    assert lines(toy.to_static(f), t([1.0])) == expected


def test_line_numbers_seen_by_the_callee(capsys):
    seen = []

    @toy.disable
    def where():
        seen.append(sys._getframe(1).f_lineno)

    def f(x):
        y = x * 2
        where()
        z = y + 1

        where()
        return z

    f(t([1.0]))
    toy.to_static(f)(t([1.0]))
    assert seen[:2] == seen[2:]


# ----- threads


def in_threads(count, work):
    failures = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_threads_share_what_was_captured():
    def f(x, n):
        y = x * 2
        if y.sum() > n:
            y = y - 1
        return y + n

    translated = toy.to_static(f)
    expected = {n: f(t([1.0, 2.0]), n).tolist() for n in range(8)}

    def work(number):
        for _ in range(50):
            for n in range(8):
                assert translated(t([1.0, 2.0]), n).tolist() == expected[n]

    in_threads(4, work)
    assert toy.stats()["hook_failures"] == 0


def test_threads_capture_at_once():
    def work(number):
        for scale in range(20):

            def f(x):
                y = x * scale
                print(end="")
                return y + number

            assert toy.to_static(f)(t([1.0])).tolist() == [scale + number]

    in_threads(4, work)


def test_a_mode_of_another_thread_is_its_own():
    x = t([1.0], requires_grad=True)
    translated = toy.to_static(lambda x: x * 2)
    translated(x)

    def work(number):
        toy.set_grad_enabled(False)
        assert not translated(x).requires_grad

    in_threads(2, work)
    assert translated(x).requires_grad


# ----- the hook, tools and limits


class Opaque(itertools.starmap):
    """A subclass in the place of what is simulated."""


def test_frames_below_a_break_are_captured(capsys):
    seen = []

    def helper(x):
        y = x * 2
        seen.append((y + 1).tolist())
        return 1

    def f(x):
        return list(Opaque(helper, [[x], [x + 1]]))[0] * x * 2

    for _ in range(2):
        assert toy.to_static(f)(t([1.0])).tolist() == [2.0]
    assert seen == [[3.0], [5.0]] * 2
    assert toy.stats()["frames"] > 0


def test_a_tracer_turns_capture_off():
    translated = toy.to_static(lambda x: x * 2)
    before = sys.gettrace()
    sys.settrace(lambda *args: None)
    try:
        assert translated(t([1.0])).tolist() == [2.0]
    finally:
        sys.settrace(before)
    assert toy.stats()["captures"] == 0
    assert "tracing" in toy.stats()["reasons"]


def test_full_graph_makes_a_break_an_error():
    def f(x):
        print("break")
        return x * 2

    with pytest.raises(RuntimeError, match="full_graph=True"):
        toy.to_static(f, full_graph=True)(t([1.0]))
    assert toy.to_static(lambda x: x * 2, full_graph=True)(t([1.0])).tolist() == [2.0]


def test_a_full_cache_serves_what_it_holds():
    translated = toy.to_static(lambda x, key: x * len(key))
    keys = ["k" * n for n in range(1, 101)]
    for key in keys + keys:
        assert translated(t([1.0]), key).tolist() == [len(key)]
    stats = toy.stats()
    assert stats["captures"] <= 64
    assert stats["hits"] >= 64


ONCE = []


def once(build):
    ONCE.append(pytest.param(build, id=build.__name__, marks=known("captured_once:" + build.__name__)))
    return build


@once
def function_made_in_the_frame():
    def f(x, n):
        def inner(y):
            return y * n

        print(end="")
        return inner(x)

    return f, lambda call: 2


@once
def bound_method_made_in_the_frame():
    def f(x, n):
        out = []
        add = out.append
        print(end="")
        add(x * n)
        return out

    return f, lambda call: 2


@once
def instance_made_in_the_frame():
    class Box:
        def __init__(self, x):
            self.x = x

        def get(self):
            return self.x

    def f(x, n):
        get = Box(x * n).get
        print(end="")
        return get() + 1

    return f, lambda call: 2


@once
def not_a_number():
    def f(x, n):
        return x * n

    return f, lambda call: float("nan")


@once
def texts_and_big_numbers():
    def f(x, pair):
        return x * len(pair[0]), pair[1] + 1

    return f, lambda call: ("".join(["a", "b"]), 2**70)


@once
def instance_argument():
    class Box:
        def __init__(self, n):
            self.n = n

    def f(x, box):
        return x * box.n

    return f, lambda call: Box(3)


@once
def function_argument():
    def f(x, g):
        print(end="")
        return g(x)

    return f, lambda call: toy.relu


@once
def number_of_a_tensor():
    def f(x, n):
        y = (x + n).item()
        return x * y

    return f, lambda call: t([float(call)])


@once
def counter():
    def f(x, n):
        return x * n

    return f, lambda call: call


@pytest.mark.parametrize("build", ONCE)
def test_captures_come_to_an_end(build, capsys):
    f, argument = build()
    translated = toy.to_static(f)
    for call in range(10):
        assert repr(translated(t([1.0]), argument(call))) == repr(f(t([1.0]), argument(call)))
    assert toy.stats()["captures"] <= 4


def test_the_hook_is_gone_afterwards(capsys):
    def f(x):
        print("break")
        return x * 2

    toy.to_static(f)(t([1.0]))
    assert toy.set_eval_frame(None) is None


def test_arguments_are_not_kept_alive(capsys):
    def f(x, items):
        y = x * 2
        print(end="")
        items.append(y)
        if y.sum() > 0:
            y = y + 1
        return y

    class Items(list):
        pass

    translated = toy.to_static(f)
    for items_class in (list, Items):
        for _ in range(3):
            x = t([1.0])
            alive = weakref.ref(x)
            result = translated(x, items_class())
            del x, result
            gc.collect()
            assert alive() is None


def test_raised_exceptions_do_not_keep_arguments_alive():
    translated = toy.to_static(lambda x: toy.log(x - 5) + 1)
    for _ in range(3):
        x = t([1.0])
        alive = weakref.ref(x)
        with pytest.raises(ValueError):
            translated(x)
        del x
        gc.collect()
        assert alive() is None


def test_memory_does_not_grow_with_calls(capsys):
    def f(x):
        y = x * 2
        print(end="")
        return [y, {"y": y}]

    translated = toy.to_static(f)
    for _ in range(20):
        translated(t([1.0]))
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(200):
        translated(t([1.0]))
    gc.collect()
    assert len(gc.get_objects()) - before < 50


# ----- what may be translated


def test_what_passes_through_unchanged():
    def generator():
        yield 1

    async def coroutine():
        return 1

    for given in (generator, coroutine, toy.relu, int):
        assert toy.to_static(given) is given
    with pytest.raises(TypeError):
        toy.to_static(5)


def test_the_translated_function_looks_like_the_function():
    def f(x, *, scale: int = 2):
        """Doc."""
        return x * scale

    translated = toy.to_static(f)
    assert (translated.__name__, translated.__doc__, translated.__wrapped__) == ("f", "Doc.", f)
    assert inspect.signature(translated) == inspect.signature(f)
    assert toy.to_static(translated) is translated


def test_wrong_arguments_raise_as_for_the_function():
    def f(x, n, *, k=1):
        return x * n * k

    translated = toy.to_static(f)
    for args, kwargs in [((), {}), ((1,), {}), ((1, 2, 3), {}), ((1, 2), {"z": 1}), ((1, 2), {"n": 1})]:
        with pytest.raises(TypeError) as expected:
            f(*args, **kwargs)
        with pytest.raises(TypeError) as raised:
            translated(*args, **kwargs)
        assert str(raised.value) == str(expected.value)


def test_a_full_cache_starts_anew_after_reset():
    f = toy.to_static(lambda x, n: x * n)
    for n in range(2, 80):
        assert f(t([1.0]), n).item() == n
    captures = toy.stats()["captures"]
    f(t([1.0]), 100)
    assert toy.stats()["captures"] == captures, "full"
    toy.reset()
    f(t([1.0]), 3)
    f(t([1.0]), 3)
    stats = toy.stats()
    assert (stats["captures"], stats["hits"]) == (1, 1)


def test_what_computes_long_without_tensors_is_left_to_python():
    def count(n):
        total = 0
        for i in range(n):
            total += i % 7
        return total

    def f(x, n):
        y = x * 2
        return y + count(n)

    translated = toy.to_static(f)
    for n in (30_000, 30_001, 30_002, 30_003, 30_004, 30_005, 30_006):
        assert translated(t([1.0]), n).item() == 2 + count(n)
    stats = toy.stats()
    assert set(stats["reasons"]) == {"budget"}
    assert stats["captures"] <= 12, "a cache whose captures come to no end is closed"
