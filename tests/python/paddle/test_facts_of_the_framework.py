"""What programs ask the framework for while they run: the limits of dtypes, and to train or to evaluate."""

import numpy as np
import paddle
import pytest
import sot
from paddle import nn


@pytest.fixture(autouse=True)
def forget():
    sot.reset()
    yield
    sot.reset()


def text(value):
    if isinstance(value, (list, tuple)):
        return [text(item) for item in value]
    return (value.dtype, value.numpy().tobytes()) if isinstance(value, paddle.Tensor) else (type(value), repr(value))


def same_in_one_graph(f, *args, graphs=1):
    eager = [text(f(*args)) for _ in range(3)]
    captured = sot.to_static(f)
    assert [text(captured(*args)) for _ in range(3)] == eager
    stats = sot.stats()
    assert (stats["captures"], stats["graphs"], stats["breaks"], stats["hits"]) == (graphs, graphs, 0, 3 - graphs), stats


X = paddle.to_tensor([1.0, 2.0])


def masked(x):
    mask = paddle.triu(paddle.full([2, 2], paddle.finfo(x.dtype).min), 1)
    return mask + x, paddle.iinfo(paddle.int32).max, paddle.finfo("float16").eps


def all_of_it(x):
    info = paddle.finfo(x.dtype)
    names = ("min", "max", "eps", "resolution", "smallest_normal", "tiny", "bits", "dtype")
    return x + 1, [getattr(info, name) for name in names], hasattr(info, "nothing")


def of_integers(x):
    infos = [paddle.iinfo(dtype) for dtype in (paddle.int8, "uint8", paddle.int64, np.int32)]
    return x + 1, [(info.min, info.max, info.bits, info.dtype) for info in infos]


@pytest.mark.parametrize("f", [masked, all_of_it, of_integers])
def test_limits_of_dtypes(f):
    same_in_one_graph(f, X)


def test_limits_are_new_each_time():
    def f(x):
        info = paddle.finfo(x.dtype)
        return x + 1, info, paddle.finfo(x.dtype), [info, info]

    captured = sot.to_static(f)
    (_, first, second, (third, fourth)), (_, other, *_) = captured(X), captured(X)
    assert type(first) is type(paddle.finfo(paddle.float32)) and first.max == paddle.finfo("float32").max
    assert first is third is fourth and first is not second and first is not other
    assert sot.stats()["breaks"] == 0


def test_limits_that_do_not_exist():
    def f(x):
        try:
            return paddle.iinfo(x.dtype)
        except Exception as e:
            return type(e), x + 1

    kind, value = sot.to_static(f)(X)
    assert (kind, text(value)) == (f(X)[0], text(X + 1))


class Switching(nn.Layer):
    def __init__(self):
        super().__init__()
        self.dropout, self.norm, self.linear = nn.Dropout(0.5), nn.LayerNorm(2), nn.Linear(2, 2)

    def forward(self, x):
        self.eval()
        first = self.dropout(self.norm(self.linear(x.unsqueeze(0))))
        self.train()
        second = self.dropout(x)
        self.dropout.eval()
        return first, second, self.dropout(x), self.training, self.dropout.training


def test_train_and_eval():
    def run(f):
        paddle.seed(3)
        return [(text(f(X)), net.dropout.training, net.norm.training) for _ in range(4)]

    paddle.seed(1)
    net = Switching()
    eager = run(lambda x: net(x))
    net.train()
    assert run(sot.to_static(lambda x: net(x))) == eager
    assert sot.stats()["breaks"] == 0 and sot.stats()["hits"] > 0
    assert paddle.base.framework._dygraph_tracer()._train_mode is False


def test_pairs_with_tensors_are_sorted_by_their_names():
    def f(x):
        losses = {"c": x.sum(), "a": x.mean(), "b": x.max()}
        pairs = list(losses.items())
        pairs.sort(reverse=True)
        return [name for name, _ in pairs], sorted(losses.items()), {k: v for k, v in sorted(losses.items())}["a"]

    same_in_one_graph(f, X)
