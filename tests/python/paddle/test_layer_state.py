"""Layers whose `forward` sets attributes of theirs, and layers that are made inside of captured functions."""

import paddle
import pytest
import sot
from paddle import nn


@pytest.fixture(autouse=True)
def forget():
    sot.reset()
    yield
    sot.reset()


class Kept(nn.Layer):
    limit = 3

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.counter, self.last, self.info, self.total = 0, None, {}, None
        self.register_buffer("seen", paddle.zeros([3]))


class Writes(Kept):
    def forward(self, x):
        self.counter = 5
        y = self.inner(x)
        self.last = y
        self.info = {"y": y}
        self.limit = None
        return y * self.counter + self.last


class Carries(Kept):
    """As caches of keys and values do."""

    def forward(self, x):
        k = self.inner(x)
        self.total = k if self.total is None else self.total * 0.5 + k
        return self.total.sum()


class Buffers(Kept):
    def forward(self, x):
        self.seen = self.seen * 0.9 + x
        return self.seen * 2


class Wrong(Kept):
    def forward(self, x):
        self.inner.weight = x
        return x


class OverClass(Kept):
    def forward(self, x):
        """Tensors are kept where the class is asked first."""
        self.limit = x + 1
        return self.limit


class Twice(Kept):
    """A number for what has just become a buffer."""

    def forward(self, x):
        self.mine = x + 1
        try:
            self.mine = 3
        except TypeError:
            return x * 2
        return x


class OwnGetattr(Kept):
    def __getattr__(self, name):
        value = super().__getattr__(name)
        return value * 100 if name == "mine" else value

    def forward(self, x):
        self.mine = x + 1
        return self.mine * 2


class AsksWhatIsSaved(Kept):
    def forward(self, x):
        self.mine = x + 1
        return x * len(self._non_persistable_buffer_names_set), "mine" in self._non_persistable_buffer_names_set


def run(made, translate):
    paddle.seed(1)
    net = made()
    call, seen = translate(net), []
    for number in range(5):
        try:
            result = call(paddle.ones([3]) * (number + 1))
            results = result if isinstance(result, tuple) else (result,)
            seen.append([part.numpy().tolist() if isinstance(part, paddle.Tensor) else part for part in results])
        except TypeError as error:
            seen.append(str(error))
        places = [sorted(set(net.__dict__) - {"forward"}), list(net._buffers), sorted(net._non_persistable_buffer_names_set)]
        values = {name: value.numpy().tolist() for name, value in net._buffers.items()}
        seen.append((places, values, net.counter, [value.numpy().tolist() for value in net.info.values()]))
    return seen


@pytest.mark.parametrize(
    "made, graphs, breaks, captures",
    [(Writes, 1, 0, 1), (Carries, 2, 0, 2), (Buffers, 1, 0, 1), (Wrong, None, None, None), (OverClass, None, None, None)]
    + [(made, None, None, None) for made in (Twice, OwnGetattr, AsksWhatIsSaved)],
)
def test_attributes_that_forward_sets(made, graphs, breaks, captures):
    expected = run(made, lambda net: net)
    assert run(made, sot.to_static) == expected
    stats = sot.stats()
    assert graphs is None or (stats["graphs"], stats["breaks"], stats["captures"]) == (graphs, breaks, captures)
    assert stats["fallbacks"] == 0


def test_gradients_flow_through_what_is_kept():
    grads = []
    for translate in (lambda net: net, sot.to_static):
        paddle.seed(1)
        net = Writes()
        call = translate(net)
        for _ in range(3):
            call(paddle.ones([3]))
            net.last.sum().backward()
            grads.append(net.inner.weight.grad.numpy().tolist())
            net.clear_gradients()
    assert grads[:3] == grads[3:]
