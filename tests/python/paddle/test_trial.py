"""Never slower than eager: whoever serves a call, capture or original code, with or without a look at the guards."""

import paddle
import pytest
import sot

scale = 2.0


@pytest.fixture(autouse=True)
def fresh():
    sot.reset()
    yield
    sot.reset()


def tiny(x, y):
    return x * scale + y


def in_a_loop(x, limit):
    while x < limit:
        x = x + 1.0
    return x


def served(stats):
    return stats["hits"] + stats["misses"]


@pytest.mark.parametrize("size", [1, 4096])
def test_every_call_is_right_and_counted(size):
    """Enough calls for every trial to end, of kinds that come and go, while a global changes."""
    global scale
    captured = sot.to_static(tiny)
    calls = 0
    try:
        for scale in (2.0, 3.0):
            for shape in ([size], [size, 2], [size]):
                x, y = paddle.rand(shape), paddle.rand(shape)
                for _ in range(80):
                    assert (captured(x, y) == tiny(x, y)).all()
                    calls += 1
    finally:
        scale = 2.0
    assert served(sot.stats()) == calls
    assert sot.stats()["fallbacks"] == 0


def settled(function, *arguments):
    """Calls until the trial has ended; who won."""
    for _ in range(40):
        function(*arguments)
    return {graph.executor for graph in sot.explain(function)(*arguments).graphs}


def test_a_loser_is_seldom_asked():
    """A loop that leaves its graph at every round has nothing to win."""
    captured = sot.to_static(in_a_loop)
    arguments = paddle.to_tensor(0.0), paddle.to_tensor(50.0)
    # The other outcome is fine, too, but then there is nothing to see here.
    lost = settled(captured, *arguments) == {"original"}
    before = sot.stats()["unguarded"]
    for _ in range(64):
        assert captured(*arguments).item() == 50.0
    free = sot.stats()["unguarded"] - before
    assert free == 62 if lost else free == 0


def test_explain_looks_at_the_guards():
    captured = sot.to_static(in_a_loop)
    arguments = paddle.to_tensor(0.0), paddle.to_tensor(50.0)
    settled(captured, *arguments)
    for _ in range(3):
        report = sot.explain(captured)(*arguments)
        assert report.graphs and report.breaks and report.guards


def test_a_reset_forgets_the_verdict():
    captured = sot.to_static(in_a_loop)
    arguments = paddle.to_tensor(0.0), paddle.to_tensor(50.0)
    captured(*arguments)
    captures = sot.stats()["captures"]
    settled(captured, *arguments)
    captured(*arguments)
    sot.reset()
    captured(*arguments)
    assert sot.stats()["captures"] == captures
    assert sot.stats()["unguarded"] == 0
