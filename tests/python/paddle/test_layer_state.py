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


class Told(nn.Layer):
    """A `__setattr__` of the program's own, which ends in that of layers."""

    def __init__(self, how):
        object.__setattr__(self, "told", [])
        super().__init__()
        object.__setattr__(self, "how", how)
        self.inner = Own()
        self.count = 0

    def __setattr__(self, name, value):
        self.told.append((name, type(value).__name__))
        if name == "refused":
            raise ValueError("not that: %s" % name)
        if name == "doubled":
            value = value * 2
        return super(Told, self).__setattr__(name, value)

    def forward(self, x):
        return self.how(self, x)


class Own(nn.Layer):
    def forward(self, x):
        return x * 2


def sets_a_number(layer, x):
    layer.count = layer.count + 1
    return x * layer.count


def sets_a_layer(layer, x):
    layer.inner = Own()
    return layer.inner(x)


def sets_a_tensor(layer, x):
    layer.last = x * 3
    return layer.last + 1


def sets_a_parameter_again(layer, x):
    layer.doubled = 4
    layer.doubled = layer.doubled + 1
    return x * layer.doubled


def sets_by_name(layer, x):
    setattr(layer, "mode", "fast")
    layer.inner.flag = True
    return layer.inner(x), layer.mode, layer.inner.flag


def is_refused(layer, x):
    try:
        layer.refused = 1
    except ValueError as error:
        return str(error), hasattr(layer, "refused"), x
    return x


@pytest.mark.parametrize(
    "how",
    [sets_a_number, sets_a_layer, sets_a_tensor, sets_a_parameter_again, sets_by_name, is_refused],
    ids=lambda f: f.__name__,
)
def test_a_setattr_of_the_program(how, counting):
    def told(value):
        # What `sot.to_static` gives is set as any attribute is.
        if isinstance(value, list):
            return [entry for entry in value if entry[0] != "forward"]
        return value.numpy().tolist() if isinstance(value, paddle.Tensor) else value

    def run(door):
        layer = Told(how)
        call = door(layer)
        seen = []
        for _ in range(4):
            result = call(paddle.ones([2]))
            seen.append([told(v) for v in (result if isinstance(result, tuple) else (result,))])
            state = {k: told(v) for k, v in vars(layer).items() if isinstance(v, (int, str, list)) or k == "last"}
            seen.append((state, sorted(layer._buffers), sorted(layer._sub_layers)))
        return seen

    with paddle.utils.unique_name.guard():
        wanted = run(lambda layer: layer)
    with counting() as counted, paddle.utils.unique_name.guard():
        assert run(sot.to_static) == wanted
    assert counted.breaks == 0
