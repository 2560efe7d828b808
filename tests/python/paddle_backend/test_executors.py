"""Executors of dead graphs are freed, and graphs that live do not notice: `sot-paddle/src/executors.rs`."""

import gc
import operator

import paddle
import pytest


def memory():
    gc.collect()
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@paddle.no_grad()
def test_graphs_that_come_and_go_leave_little(build):
    def one():
        layer = paddle.nn.Linear(8, 8)
        x = paddle.rand([4, 8])
        build(lambda b, v: b.layer(layer, v), x)(x)

    for _ in range(150):
        one()
    before = memory()
    for _ in range(200):
        one()
    assert (memory() - before) / 200 < 60, "kB for each graph; an executor has 150 and more"


@paddle.no_grad()
def test_a_graph_outlives_the_executors_of_others(build):
    layer = paddle.nn.Linear(8, 8)
    x = paddle.rand([4, 8])

    def forward(b, v):
        return b.operator(operator.mul, b.layer(layer, v), 2.0)

    graph = build(forward, x)
    expected = (layer(x) * 2.0).numpy().tobytes()
    earlier = [graph(x) for _ in range(3)]
    for i in range(100):
        build(lambda b, v: b.operator(operator.add, v, float(i)), x)(x)
        if i % 20 == 0:
            assert graph(x).numpy().tobytes() == expected
    assert all(y.numpy().tobytes() == expected for y in earlier)


def test_reset_frees_them(backend):
    sot = pytest.importorskip("sot")

    def program(i):
        translated = sot.to_static(lambda x: (x * 2 + i).tanh().sum())
        for _ in range(4):
            translated(paddle.ones([4]))

    for _ in range(3):
        for i in range(30):
            program(i)
        sot.reset()
    before = memory()
    for i in range(30):
        program(i)
    sot.reset()
    assert (memory() - before) / 30 < 100
