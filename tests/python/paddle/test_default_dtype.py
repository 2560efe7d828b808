"""The default dtype is set within captured functions: an effect in its order, which later operations depend on."""

import os
import threading

os.environ["SOT_MEASURE"] = "0"

import numpy as np  # noqa: E402
import paddle  # noqa: E402
import pytest  # noqa: E402
import sot  # noqa: E402
from gradients import facts, flat  # noqa: E402

CALLS = 8


def seen(function, entered="float32"):
    x = paddle.to_tensor([0.5, -1.0, 2.0], stop_gradient=False)
    paddle.set_default_dtype(entered)
    try:
        result = function(x)
    except Exception as error:
        result = [type(error).__name__, str(error)]
    finally:
        after = paddle.get_default_dtype()
        paddle.set_default_dtype("float32")
    return [(facts(o), str(o.dtype)) if isinstance(o, paddle.Tensor) else o for o in flat(result)], after


def sets_and_gives_back(x):
    before = paddle.get_default_dtype()
    paddle.set_default_dtype("float64")
    y = paddle.ones([3])
    now = paddle.get_default_dtype()
    paddle.set_default_dtype(before)
    return y, x + paddle.ones([3]), now


def leaves_it(x):
    y = x * paddle.full([3], 2.0)
    paddle.set_default_dtype(paddle.float64)
    return y, paddle.zeros([2]), paddle.get_default_dtype()


def by_name(x):
    paddle.set_default_dtype(d="bfloat16")
    y = paddle.ones([3])
    paddle.set_default_dtype("float16")
    return y, paddle.linspace(0, 1, 3), paddle.to_tensor([1.5]), x


def in_a_helper(x):
    def within(dtype):
        before = paddle.get_default_dtype()
        paddle.set_default_dtype(dtype)
        try:
            return paddle.arange(0, 1.5, 0.5), paddle.get_default_dtype()
        finally:
            paddle.set_default_dtype(before)

    return within("float64"), within("float32"), paddle.eye(2), x * 2


@pytest.mark.parametrize("entered", ["float32", "float64"])
@pytest.mark.parametrize("function", [sets_and_gives_back, leaves_it, by_name, in_a_helper], ids=lambda f: f.__name__)
def test_one_graph(function, entered, counting):
    wanted = seen(function, entered)
    translated = sot.to_static(function)
    with counting() as first:
        assert seen(translated, entered) == wanted
    reasons = sot.stats()["reasons"]
    if function is not by_name:  # `to_tensor` of numbers may be none of the graph.
        assert (first.graphs, first.breaks, first.fallbacks) == (1, 0, 0), reasons
    for call in range(CALLS):
        assert seen(translated, entered) == wanted, call


def breaks(x):
    paddle.set_default_dtype("float64")
    y = paddle.ones([3])
    print(paddle.get_default_dtype())
    z = paddle.ones([3])
    paddle.set_default_dtype("float32")
    print(paddle.get_default_dtype())
    return y, z, paddle.ones([3]) + x


def test_a_break_finds_it(capsys):
    wanted = seen(breaks), capsys.readouterr().out
    translated = sot.to_static(breaks)
    for call in range(CALLS):
        assert (seen(translated), capsys.readouterr().out) == wanted, call
    assert sot.stats()["fallbacks"] == 0


@pytest.mark.parametrize("dtype", ["int32", np.float64, np.float32, np.int64, paddle.int32, None, np.dtype("float64")], ids=str)
def test_what_it_takes_and_what_not(dtype):
    def function(x):
        paddle.set_default_dtype(dtype)
        return paddle.ones([3]), x

    wanted = seen(function)
    translated = sot.to_static(function)
    for _ in range(4):
        assert seen(translated) == wanted


def test_with_other_threads():
    found, ends = set(), threading.Event()

    def look():
        while not ends.is_set():
            found.add(paddle.get_default_dtype())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        # Set while the operations of another thread may be made: at its time, or not at all.
        report = sot.explain(sets_and_gives_back)(paddle.ones([3]))
        assert len(report.breaks) > 0
        wanted = [facts(o) for o in sets_and_gives_back(paddle.ones([3]))]
        assert [facts(o) for o in sot.to_static(sets_and_gives_back)(paddle.ones([3]))] == wanted
    finally:
        ends.set()
        thread.join()


def test_scaled_losses(counting):
    linear = paddle.nn.Linear(3, 3)
    for enable in (True, False):
        scaler = paddle.amp.GradScaler(enable=enable)

        def function(x):
            return scaler.scale(linear(x).mean()) * 2  # noqa: B023

        wanted = seen(function)
        translated = sot.to_static(function)
        with counting() as first:
            assert seen(translated) == wanted
        assert (first.graphs, first.breaks, first.fallbacks) == (1, 0, 0), sot.stats()["reasons"]
        for _ in range(CALLS):
            assert seen(translated) == wanted


def test_a_decorated_model(counting):
    paddle.seed(1)
    net = paddle.amp.decorate(paddle.nn.Sequential(paddle.nn.Linear(3, 3), paddle.nn.ReLU()), level="O2", dtype="bfloat16")
    with paddle.amp.auto_cast():
        pass

    def function(x):
        with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
            return net(x)

    wanted = seen(function)
    translated = sot.to_static(function)
    with counting() as first:
        assert seen(translated) == wanted
    assert (first.graphs, first.breaks, first.fallbacks) == (1, 0, 0), sot.stats()["reasons"]
    for _ in range(CALLS):
        assert seen(translated) == wanted
