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
    # Twenty weights are 80 MB.
    assert resident() - before < 40_000_000


def function_round(translate):
    def f(x):
        return (x * 2 + 1).sum()

    translate(f)(x)


def layer_round(translate):
    translate(paddle.nn.Linear(8, 8))(paddle.ones([2, 8]))


def training_round(translate):
    model = paddle.nn.Sequential(paddle.nn.Linear(8, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 8))
    translate(model)(paddle.ones([2, 8])).sum().backward()


def objects_left(a_round, translate, rounds):
    """Objects that the collector knows and bytes that each round leaves, once all that is made once was made."""
    for _ in range(50):
        a_round(translate)
    gc.collect()
    objects, memory = len(gc.get_objects()), resident()
    for _ in range(rounds):
        a_round(translate)
    gc.collect()
    return (len(gc.get_objects()) - objects) / rounds, (resident() - memory) / rounds


@pytest.mark.parametrize("a_round", [function_round, layer_round, training_round])
def test_a_thousand_rounds_leave_nothing(a_round):
    """Made, captured, run and dropped: nothing is left but what eager leaves (Paddle keeps two lists of each layer)."""
    eager, _ = objects_left(a_round, lambda f: f, 100)
    captured, memory = objects_left(a_round, sot.to_static, 1000)
    assert sot.stats()["captures"] >= 1000
    assert captured <= eager + 0.1
    # Of what Paddle's program has interned: a graph that stayed would be some hundred kilobytes.
    assert memory < 30_000


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
