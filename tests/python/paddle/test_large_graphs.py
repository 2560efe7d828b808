"""Graphs of many operations: they are captured whole, and start in seconds."""

import paddle
import pytest

import sot


def loop(rounds):
    def f(x):
        for _ in range(rounds):
            x = x * 1.0001 + 0.001
        return x

    return f


@pytest.mark.parametrize("rounds, compiled", [(200, True), (2500, False)])
def test_one_graph_whatever_its_size(rounds, compiled):
    f, x = loop(rounds), paddle.ones([2, 2])
    captured = sot.to_static(f)
    with paddle.no_grad():
        for _ in range(3):
            assert captured(x).numpy().tobytes() == f(x).numpy().tobytes()
        (graph,) = sot.explain(f)(x).graphs
    assert sot.stats()["captures"] == 1
    # Paddle's executor would take minutes to make ready.
    assert ("would take too long to start" in repr(graph.replay_only)) != compiled
