"""Operations with several results of which some or none are used: what is dead is removed, and the rest stays right."""

import operator

import paddle
import paddle.nn.functional as F
import pytest

import sot


def pieces(x):
    """Everything that gives several tensors, by name: a function of a [4, 6] tensor that gives them."""
    m = paddle.arange(6, dtype="float32")
    return {
        "split": lambda: paddle.split(x, 2),
        "split_sections": lambda: paddle.split(x, [1, 2, -1], axis=1),
        "method_split": lambda: x.split(2),
        "tensor_split": lambda: paddle.tensor_split(x, 3, axis=1),
        "chunk": lambda: paddle.chunk(x, 2, axis=1),
        "hsplit": lambda: paddle.hsplit(x, 2),
        "unbind": lambda: paddle.unbind(x),
        "unstack": lambda: paddle.unstack(x, axis=1),
        "meshgrid": lambda: paddle.meshgrid(m, m),
        "broadcast_tensors": lambda: paddle.broadcast_tensors([x, m]),
        "topk": lambda: paddle.topk(x, 2),
        "sort": lambda: [paddle.sort(x), paddle.argsort(x)],
        "kthvalue": lambda: paddle.kthvalue(x, 2),
        "mode": lambda: paddle.mode(x),
        "cummax": lambda: paddle.cummax(x, axis=0),
        "max_axis": lambda: [paddle.max(x, axis=0), paddle.argmax(x, axis=0)],
        "frexp": lambda: paddle.frexp(x),
        "einsum": lambda: [paddle.einsum("ij,kj->ik", x, x), x * 2],
        "glu": lambda: [F.glu(x), x * 3],
        "qr": lambda: paddle.linalg.qr(x),
        "svd": lambda: paddle.linalg.svd(x),
        "nested": lambda: paddle.split(paddle.split(x, 2)[0], 2, axis=1),
        "split_of_concat": lambda: paddle.split(paddle.concat(paddle.split(x, 2)), 2),
        "lstm": lambda: cell(x),
    }


cell = paddle.nn.LSTMCell(6, 6)
NAMES = list(pieces(paddle.ones([4, 6])))


def value(y):
    return [value(i) for i in y] if isinstance(y, (list, tuple)) else y.tolist() if isinstance(y, paddle.Tensor) else y


def check(f, grad):
    translated = sot.to_static(f)
    for _ in range(6):
        results, gradients = [], []
        for function in (f, translated):
            paddle.seed(3)
            x = paddle.rand([4, 6])
            x.stop_gradient = not grad
            y = function(x)
            results.append(value(y))
            if grad and isinstance(y, paddle.Tensor) and y.dtype == paddle.float32 and not y.stop_gradient:
                y.sum().backward()
                gradients.append(value(x.grad) if x.grad is not None else None)
        assert results[0] == results[1]
        assert gradients[:1] == gradients[1:]
    return sot.explain(translated)(paddle.rand([4, 6]))


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("name", NAMES)
def test_no_result_is_used(name, grad):
    def f(x):
        pieces(x)[name]()
        return x + 1

    check(f, grad)


@pytest.mark.parametrize("which", [0, -1], ids=["first", "last"])
@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("name", NAMES)
def test_one_result_is_used(name, grad, which):
    if grad and name in ("unstack", "broadcast_tensors", "qr"):
        pytest.skip("the backward of eager Paddle crashes without gradients for all results")

    def f(x):
        y = pieces(x)[name]()[which]
        return (y[0] if isinstance(y, tuple) else y) * 2

    check(f, grad)


@pytest.mark.parametrize("name", ["split", "chunk", "unbind", "topk", "meshgrid", "nested", "split_of_concat"])
def test_it_is_one_graph_without_what_is_dead(name):
    def f(x):
        pieces(x)[name]()
        return x + 1

    found = check(f, False)
    (graph,) = found.graphs
    assert not found.breaks and "split" not in graph.program and graph.op_count == 2


def test_dead_before_and_after_a_break(capsys):
    def f(x):
        a, b = paddle.split(x, 2)
        c, d = paddle.unbind(a)
        print(end="")
        e, g = paddle.split(b, 2)
        return operator.add(b, 1)

    found = check(f, False)
    assert len(found.breaks) == 1
