"""What programs ask of Paddle's own translator is honoured: markers, lists, the switch, and its symbolic debugger."""

import types

import paddle
import pytest
import sot
from paddle.jit.sot import psdb as theirs


@pytest.fixture(autouse=True)
def forget():
    sot.reset()
    yield
    sot.reset()


def stops(function, *args):
    report = sot.explain(function)(*args)
    assert report.result.numpy().tolist() == function(*args).numpy().tolist()
    return len(report.graphs), [(b.code, b.line - function.__code__.co_firstlineno, b.fallback) for b in report.breaks]


def ones():
    return paddle.ones([2])


def test_not_to_static():
    @paddle.jit.not_to_static
    def plain(x):
        return x * 3

    class Net(paddle.nn.Layer):
        @paddle.jit.not_to_static
        def helper(self, x):
            return x * 5

        def forward(self, x):
            return self.helper(x + 1) * 2

    def f(x):
        return plain(x + 1) * 2

    assert stops(f, ones()) == (2, [("disabled", 1, False)])
    assert sot.to_static(plain) is plain
    report = sot.explain(Net())(ones())
    assert [b.code for b in report.breaks if not b.fallback] == ["disabled"]
    assert report.result.tolist() == [20.0, 20.0]


def test_unified_functions_are_simulated():
    @paddle.jit.marker.unified
    def unified(x):
        return x * 3

    def f(x):
        return unified(x + 1) * 2

    assert stops(f, ones()) == (1, [])


def test_ignore_module():
    module = types.ModuleType("ignored_by_paddle")
    exec("def twice(x):\n    return x * 2\n", module.__dict__)

    def f(x):
        return module.twice(x) + 1

    assert stops(f, ones()) == (1, [])
    sot.reset()
    paddle.jit.ignore_module([module])
    graphs, found = stops(f, ones())
    assert graphs == 1 and found[0] == ("ignored-module", 1, False)


def test_enable_to_static():
    f = sot.to_static(lambda x: x * 2 + 1)
    paddle.jit.enable_to_static(False)
    try:
        assert f(ones()).tolist() == [3.0, 3.0]
        assert sot.stats()["captures"] == 0 and sot.stats()["reasons"] == {"ambient-mode": 1}
        paddle.jit.enable_to_static(True)
        f(ones())
        f(ones())
        assert (sot.stats()["captures"], sot.stats()["hits"]) == (1, 1)
        paddle.jit.enable_to_static(False)
        assert f(ones()).tolist() == [3.0, 3.0]
        assert sot.stats()["hits"] == 1
    finally:
        paddle.jit.enable_to_static(True)


@pytest.mark.parametrize("psdb", [theirs, sot.psdb])
def test_symbolic_debugger(psdb, capsys):
    def breaks(x):
        y = x + 1
        psdb.breakgraph()
        psdb.assert_true(len(y.shape) == 1)
        return y * 2

    def falls(x):
        psdb.fallback()
        return x * 2

    def prints(x):
        y = x + 1
        psdb.print("told")
        return y * 2

    assert stops(breaks, ones()) == (2, [("break-asked", 2, False)])
    assert stops(falls, ones()) == (0, [("fallback-asked", 1, True)])
    assert stops(prints, ones())[0] == 2
    assert capsys.readouterr().out.count("told") == 2


@pytest.mark.parametrize("psdb", [theirs, sot.psdb])
def test_promises(psdb):
    @psdb.check_no_breakgraph
    def breaks(x):
        print(end="")
        return x

    @psdb.check_no_fallback
    def falls(x):
        psdb.fallback()
        return x

    with pytest.raises(RuntimeError, match=r"check_no_breakgraph: the graph breaks at .* in breaks"):
        sot.to_static(breaks)(ones())
    with pytest.raises(RuntimeError, match=r"check_no_fallback: it runs as plain Python at .* in falls"):
        sot.to_static(falls)(ones())


def test_assert_true():
    def f(x):
        sot.psdb.assert_true(x.shape[0] == 3)
        return x

    assert sot.to_static(f)(paddle.ones([3])).shape == [3]
    with pytest.raises(AssertionError, match="sot.psdb.assert_true: the condition is false"):
        sot.to_static(f)(ones())
