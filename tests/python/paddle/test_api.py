"""The Python interface: every function of the module, as its stub describes it."""

import inspect
import logging

import numpy as np
import paddle
import pytest
import sot


def double(x, k=2):
    """What it does."""
    return x * k


def branching(x):
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


BRANCH_LINE = branching.__code__.co_firstlineno + 2


def ones():
    return paddle.ones([2])


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = paddle.nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x) + 1


class TestToStatic:
    def test_as_a_call(self, counting):
        f = sot.to_static(double)
        with counting() as seen:
            assert f(ones()).tolist() == [2.0, 2.0]
            assert f(ones(), k=2).tolist() == [2.0, 2.0]
        assert (seen.captures, seen.hits) == (1, 1)

    def test_as_a_decorator(self):
        @sot.to_static
        def f(x):
            return x + 1

        assert f(ones()).tolist() == [2.0, 2.0]
        assert sot.stats()["graphs"] == 1

    def test_as_a_decorator_with_arguments(self):
        @sot.to_static(full_graph=False)
        def f(x):
            return x + 1

        @sot.to_static()
        def g(x):
            return x + 2

        assert f(ones()).tolist() == [2.0, 2.0]
        assert g(ones()).tolist() == [3.0, 3.0]
        assert sot.stats()["graphs"] == 2

    def test_input_spec_is_accepted(self):
        spec = [paddle.static.InputSpec([None], "float32")]
        assert sot.to_static(double, input_spec=spec)(ones()).tolist() == [2.0, 2.0]

    def test_a_layer_is_returned_as_itself(self):
        net = Net()
        assert sot.to_static(net) is net
        assert sot.to_static(net) is net
        net(paddle.ones([1, 2]))
        assert sot.stats()["graphs"] == 1
        assert isinstance(net, Net) and len(net.parameters()) == 2

    def test_a_layer_class_is_a_class(self):
        assert sot.to_static(Net) is Net

    def test_twice_is_once(self):
        f = sot.to_static(double)
        assert sot.to_static(f) is f

    def test_it_looks_like_the_function(self):
        f = sot.to_static(double)
        assert (f.__name__, f.__doc__, f.__module__) == ("double", "What it does.", __name__)
        assert f.__qualname__ == "double" and f.__wrapped__ is double
        assert inspect.signature(f) == inspect.signature(double)
        assert "double" in repr(f)
        assert callable(f)

    def test_a_method(self):
        class Model:
            k = 3

            @sot.to_static
            def go(self, x):
                return x * self.k

        model = Model()
        assert model.go(ones()).tolist() == [3.0, 3.0]
        assert Model.go(model, ones()).tolist() == [3.0, 3.0]
        assert sot.to_static(model.go)(ones()).tolist() == [3.0, 3.0]

    def test_full_graph_names_the_break(self):
        f = sot.to_static(branching, full_graph=True)
        with pytest.raises(RuntimeError, match="full_graph=True") as caught:
            f(ones())
        text = str(caught.value)
        assert "branch-on-tensor" in text and f"test_api.py:{BRANCH_LINE}" in text

    def test_full_graph_without_a_break(self):
        assert sot.to_static(double, full_graph=True)(ones()).tolist() == [2.0, 2.0]

    def test_symbolic_translate(self, counting):
        with counting() as seen:
            assert sot.symbolic_translate(double)(ones()).tolist() == [2.0, 2.0]
            assert sot.symbolic_translate(double, train=True)(ones()).tolist() == [2.0, 2.0]
        assert seen.graphs == 1


class TestExplain:
    def test_fields(self):
        report = sot.explain(branching)(ones())
        assert isinstance(report, sot.Report)
        assert report.result.tolist() == [3.0, 3.0]
        assert len(report.graphs) == 2
        for graph in report.graphs:
            assert graph.sir.startswith("StatementIR: SIR_")
            assert graph.op_count >= 1
            assert graph.executor in ("compiled", "replay", "measuring")
            assert graph.replay_only is None or isinstance(graph.replay_only, str)
            assert isinstance(graph.program, str)
        (found,) = report.breaks
        assert (found.code, found.family, found.line, found.function) == ("branch-on-tensor", "DDCF", BRANCH_LINE, "branching")
        assert found.file == __file__
        assert not found.fallback
        assert "[branch-on-tensor]" in found.reason
        assert any(g.startswith('tensor(locals["x"]): float32[2]') for g in report.guards)
        assert "POP_JUMP" in report.code and "__resume_fn_" in report.code
        assert report.capture_ms > 0

    def test_text(self):
        report = sot.explain(branching)(ones())
        text = str(report)
        for part in ("2 graphs, 1 breaks", "graph 1: ", "test_api.py", "guards", "report.save("):
            assert part in text
        assert len(text.splitlines()) <= 15
        assert "StatementIR" in repr(report.graphs) and "locals[\"x\"]" in repr(report.guards)
        assert repr(report.code) == report.code and "RETURN_VALUE" in report.original_code
        assert repr(report).startswith("<sot.Report: 2 graphs, 1 breaks")

    def test_of_a_hit(self):
        f = sot.to_static(branching)
        f(ones())
        report = sot.explain(f)(ones())
        assert len(report.graphs) == 2 and len(report.breaks) == 1

    def test_of_a_layer(self):
        report = sot.explain(Net())(paddle.ones([1, 2]))
        assert len(report.graphs) == 1 and not report.breaks

    def test_of_a_fallback(self):
        def f(x):
            sot.psdb.fallback()
            return x

        report = sot.explain(f)(ones())
        assert report.result.tolist() == [1.0, 1.0]
        assert [(b.fallback, b.code) for b in report.breaks] == [(True, "fallback-asked")]
        assert all(b.code in sot.reasons() for b in report.breaks)

    def test_an_exception_is_the_users(self):
        def f(x):
            raise ValueError("mine")

        with pytest.raises(ValueError, match="mine"):
            sot.explain(f)(ones())

    def test_nested(self):
        def outer(x):
            return sot.explain(double)(x).result + 1

        report = sot.explain(outer)(ones())
        assert report.result.tolist() == [3.0, 3.0]


class TestStats:
    KEYS = {"captures", "graphs", "breaks", "fallbacks", "hits", "misses"}

    def test_keys(self):
        stats = sot.stats()
        assert self.KEYS <= set(stats)
        assert all(isinstance(stats[key], int) for key in self.KEYS)

    def test_counting(self):
        f = sot.to_static(branching)
        for _ in range(3):
            f(ones())
        stats = sot.stats()
        assert (stats["graphs"], stats["breaks"], stats["fallbacks"], stats["misses"]) == (2, 1, 0, 2)
        assert stats["hits"] == 4
        assert stats["reasons"] == {"branch-on-tensor": 1}

    def test_it_is_a_copy(self):
        sot.stats()["hits"] = 99
        assert sot.stats()["hits"] == 0

    def test_reset(self, counting):
        f = sot.to_static(double)
        f(ones()), f(ones())
        sot.reset()
        assert all(v == 0 for v in sot.stats().values() if isinstance(v, int))
        with counting() as seen:
            assert f(ones()).tolist() == [2.0, 2.0]
        assert (seen.captures, seen.hits) == (1, 0)

    def test_reset_inside(self):
        @sot.to_static
        def f(x):
            y = x * 2
            sot.reset()
            print(end="")
            return y + 1

        for _ in range(3):
            assert f(ones()).tolist() == [3.0, 3.0]


class TestReasons:
    def test_table(self):
        reasons = sot.reasons()
        assert len(reasons) > 20
        assert "branch-on-tensor" in reasons
        assert {family for family, _ in reasons.values()} == {"DDCF", "UNSPS", "CDBL", "UNIMP"}
        for code, (_, text) in reasons.items():
            assert code == code.lower() and " " not in code
            assert text and text == text.strip()


class TestDisable:
    def test_it_is_not_captured(self):
        @sot.disable
        def f(x):
            return x * 2

        assert sot.to_static(f) is f
        f(ones())
        assert sot.stats()["captures"] == 0

    def test_it_breaks_the_caller(self):
        @sot.disable
        def g(x):
            return x * 2

        def f(x):
            return g(x + 1) + 1

        report = sot.explain(f)(ones())
        assert report.result.tolist() == [5.0, 5.0]
        assert [b.code for b in report.breaks] == ["disabled"]
        assert len(report.graphs) == 2

    def test_of_a_captured_function(self):
        def f(x):
            return x * 2

        g = sot.to_static(f)
        g(ones())
        assert sot.disable(g) is not None
        assert g(ones()).tolist() == [2.0, 2.0]

    def test_of_something_else(self):
        with pytest.raises(TypeError, match="sot.disable"):
            sot.disable(3)


class TestInstall:
    def test_paddles_to_static_uses_this_engine(self, counting):
        sot.install()
        try:
            f = paddle.jit.to_static(double, full_graph=False)
            with counting() as seen:
                assert f(ones()).tolist() == [2.0, 2.0]
                f(ones())
            assert (seen.graphs, seen.hits) == (1, 1)

            @paddle.jit.to_static(full_graph=False)
            def g(x):
                return x + 1

            with counting() as seen:
                assert g(ones()).tolist() == [2.0, 2.0]
            assert seen.graphs == 1
            net = Net()
            assert paddle.jit.to_static(net, full_graph=False) is net
            with counting() as seen:
                net(paddle.ones([1, 2]))
            assert seen.graphs == 1
        finally:
            sot.uninstall()

    def test_uninstall_restores(self, counting):
        before = paddle.jit.to_static
        sot.install()
        sot.install()
        sot.uninstall()
        assert paddle.jit.to_static is before
        sot.uninstall()
        assert paddle.jit.to_static is before

    def test_full_graph_stays_paddles(self, counting):
        sot.install()
        try:
            f = paddle.jit.to_static(double, full_graph=True)
            with counting() as seen:
                assert f(ones()).tolist() == [2.0, 2.0]
            assert seen.captures == 0
        finally:
            sot.uninstall()


class TestHookOfTheUser:
    def test_it_is_kept_around_captured_calls(self):
        seen = []

        def callback(frame):
            seen.append(frame.f_code.co_name)
            return None

        f = sot.to_static(branching)
        f(ones())

        def plain():
            return 1

        before = sot.set_eval_frame(callback)
        try:
            plain()
            f(ones())
            plain()
            sot.to_static(double)(ones())
            plain()
            inside = sot.set_eval_frame(callback)
        finally:
            sot.set_eval_frame(before)
        plain()
        assert seen.count("plain") == 3
        assert inside is callback


class TestModule:
    def test_names(self):
        for name in sot.__all__:
            assert hasattr(sot, name)
        assert sot.__version__.count(".") == 2

    def test_the_order_of_imports_does_not_matter(self):
        import subprocess
        import sys

        for order in ("import sot, paddle", "import paddle, sot"):
            code = f"{order}; print(sot.to_static(lambda x: x + 1)(paddle.ones([1])).tolist())"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
            assert done.stdout.strip() == "[2.0]", done.stderr[-800:]

    def test_passing_through_is_logged(self, caplog):
        with caplog.at_level(logging.INFO, logger="sot"):
            assert sot.to_static(len) is len
        assert "returned unchanged" in caplog.text and "not-python" in caplog.text


def test_results_are_plain_tensors():
    y = sot.to_static(double)(ones())
    assert type(y) is paddle.Tensor and isinstance(y.numpy(), np.ndarray)
