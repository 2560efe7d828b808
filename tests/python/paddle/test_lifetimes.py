"""Captured functions and layers of Paddle: what they leave when they are dropped, and signals while they are captured."""

import gc
import os
import signal
import weakref

import paddle
import pytest

import sot

x = paddle.ones([2])


@pytest.fixture(autouse=True)
def forget():
    sot.reset()
    yield
    sot.reset()


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Net(paddle.nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.linear = paddle.nn.Linear(size, size)

    def forward(self, x):
        y = self.linear(x)
        print(end="")
        return y + 1


def run_and_drop(make, shape):
    layer = make()
    weight = weakref.ref(next(iter(layer.parameters())))
    translated = sot.to_static(layer)
    with paddle.no_grad():
        for _ in range(2):
            translated(paddle.ones(shape))
    return weakref.ref(layer), weight


@pytest.mark.parametrize("make", [lambda: paddle.nn.Linear(8, 8), lambda: Net(8)], ids=["leaf", "with a break"])
def test_a_dropped_layer_is_freed(make, capsys):
    alive = run_and_drop(make, [2, 8])
    assert sot.stats()["captures"] > 0
    gc.collect()
    assert [reference() for reference in alive] == [None, None]


def test_dropped_layers_leave_no_weights(capsys):
    for _ in range(3):
        run_and_drop(lambda: Net(1024), [2, 1024])
    gc.collect()
    before = resident()
    for _ in range(20):
        run_and_drop(lambda: Net(1024), [2, 1024])
        gc.collect()
    # Twenty weights are 80 MB. Paddle itself keeps some hundred kilobytes of each program.
    assert resident() - before < 40_000_000


def test_dropped_functions_and_their_code(capsys):
    died = []
    for n in range(30):
        namespace = {}
        exec(f"def f(x):\n    y = x * {n}\n    print(end='')\n    return y + 1\n", namespace)
        weakref.finalize(namespace["f"].__code__, died.append, n)
        assert sot.to_static(namespace["f"])(x).tolist() == [n + 1.0] * 2
        del namespace
    gc.collect()
    assert len(died) == 30


class Late(Exception):
    pass


def deep(x):
    for _ in range(40):
        x = paddle.nn.functional.relu(x * 2 - x) + 0
    return x


@pytest.mark.parametrize("error", [Late, KeyboardInterrupt])
def test_a_handler_that_raises_while_capturing(error):
    def handler(number, frame):
        raise error("now")

    before = signal.signal(signal.SIGALRM, handler)
    raised = 0
    try:
        for n in range(25):
            sot.reset()
            translated = sot.to_static(deep)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0005 + n * 0.003)
                try:
                    assert translated(x).tolist() == [1.0, 1.0]
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except error:
                raised += 1
            assert paddle.in_dynamic_mode()
            assert translated(x).tolist() == [1.0, 1.0]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert raised
    assert sot.stats()["hook_failures"] == 0
