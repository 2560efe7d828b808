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


def many_operations(x):
    for _ in range(20):
        x = x * 0.5 + 1.0
    return x


def test_what_is_called_a_few_times_is_not_compiled():
    """To make Paddle's executor takes as long as hundreds of calls."""
    captured = sot.to_static(many_operations)
    x = paddle.ones([2])
    with paddle.no_grad():
        for _ in range(10):
            captured(x)
        (graph,) = sot.explain(captured)(x).graphs
    assert graph.executor == "measuring" and graph.replay_only is None


def test_calls_of_a_rare_kind_do_not_keep_the_guards():
    """An entry that is met too seldom for a verdict is no reason to look at the guards of a loser for ever."""
    captured = sot.to_static(in_a_loop)
    arguments = paddle.to_tensor(0.0), paddle.to_tensor(50.0)
    lost = settled(captured, *arguments) == {"original"}
    rare = paddle.to_tensor(0.0, dtype="float64"), paddle.to_tensor(3.0, dtype="float64")
    for _ in range(2):
        assert captured(*rare).item() == 3.0
    before = sot.stats()
    for _ in range(200):
        assert captured(*arguments).item() == 50.0
    after = sot.stats()
    assert after["captures"] == before["captures"]
    free = after["unguarded"] - before["unguarded"]
    assert free >= 100 if lost else free == 0


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
