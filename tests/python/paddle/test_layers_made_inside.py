"""Layers that are made within captured functions: what their constructors do is simulated. Of parameters: test_layers_made.py."""

import gc
import os
import weakref

os.environ["SOT_MEASURE"] = "0"

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
import pytest  # noqa: E402
import sot  # noqa: E402
from gradients import facts, flat  # noqa: E402
from paddle import nn  # noqa: E402

CALLS = 5


def batch():
    return paddle.to_tensor([[0.5, -1.0, 2.0], [3.0, 0.25, -2.0]], stop_gradient=False)


def labels():
    return paddle.to_tensor([0, 2])


class Scaled(nn.Layer):
    def __init__(self, by, inner=None):
        super().__init__()
        self.by = by
        self.inner = nn.GELU() if inner is None else inner

    def forward(self, x):
        return self.inner(x) * self.by


class Keeper(nn.Layer):
    def __init__(self):
        super().__init__()
        self.kept = None

    def forward(self, x):
        self.kept = nn.Softmax(axis=-1)
        self.add_sublayer("later", nn.Tanh())
        return self.kept(x) + self.later(x)


class WithParameters(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.LayerNorm(4)
        self.rest = nn.LayerList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x):
        x = self.norm(F.relu(self.first(x)))
        for layer in self.rest:
            x = layer(x)
        return x


def activation(x):
    return nn.ReLU()(x)


def losses(x):
    return nn.CrossEntropyLoss()(x, labels()), nn.MSELoss(reduction="sum")(x, x * 2), nn.L1Loss()(x, x + 1)


def in_a_row(x):
    return nn.Sequential(nn.ReLU(), nn.Softmax(axis=-1), nn.Identity())(x)


def drops(x):
    return nn.Dropout(0.5)(x), nn.Dropout(0.5).eval()


def pads(x):
    return nn.Pad1D([1, 2])(x.unsqueeze(0)), nn.AvgPool1D(2)(x.unsqueeze(0)), nn.Flatten()(x.unsqueeze(0))


def of_the_program(x):
    return Scaled(2.0)(x), Scaled(3.0, nn.Sigmoid())(x)


def gives_it(x):
    made = nn.LeakyReLU(0.2)
    return made(x), made, made.full_name(), made.training


def names(x):
    return nn.ReLU().full_name(), nn.ReLU().full_name(), x


def in_a_loop(x):
    for act in (nn.ReLU, nn.Tanh, nn.Sigmoid):
        x = act()(x)
    return x


def in_a_comprehension(x):
    return sum(layer(x) for layer in [nn.ReLU(), nn.ELU(alpha=0.5)])


def told(value):
    if isinstance(value, paddle.Tensor):
        return facts(value), str(value.dtype)
    if isinstance(value, nn.Layer):
        own = {k: v for k, v in vars(value).items() if k != "forward"}
        named = [p.name for p in value.parameters()]
        return type(value).__name__, repr(value), named, sorted(own), {k: repr(v) for k, v in own.items() if isinstance(v, (str, int, float, bool, dict, type(None)))}
    return value


def seen(function):
    paddle.seed(11)
    with paddle.utils.unique_name.guard():
        results = []
        for _ in range(CALLS):
            x = batch()
            out = flat(function(x))
            ends = [o.sum() for o in out if isinstance(o, paddle.Tensor) and not o.stop_gradient]
            if ends:
                paddle.add_n(ends).backward()
            results.append(([told(o) for o in out], None if x.grad is None else facts(x.grad)))
        return results


@pytest.mark.parametrize(
    "function",
    [
        activation,
        losses,
        in_a_row,
        drops,
        pads,
        of_the_program,
        gives_it,
        names,
        in_a_loop,
        in_a_comprehension,
    ],
    ids=lambda f: f.__name__,
)
def test_without_parameters(function, counting):
    wanted = seen(function)
    translated = sot.to_static(function)
    with counting() as counted:
        assert seen(translated) == wanted
    assert counted.breaks == 0
    # Once as it is found, once with the number that names layers for any number.
    assert counted.graphs <= 3


def test_kept_by_a_layer(counting):
    def run(door):
        with paddle.utils.unique_name.guard():
            layer = Keeper()
            call = door(layer)
            return [(facts(call(batch())), told(layer), [name for name, _ in layer.named_sublayers()]) for _ in range(CALLS)]

    wanted = run(lambda layer: layer)
    with counting() as counted:
        assert run(sot.to_static) == wanted
    assert counted.breaks <= 3


@pytest.mark.parametrize("make", [lambda: nn.Linear(3, 2), lambda: WithParameters()], ids=["Linear", "of the program"])
def test_with_parameters(make, counting):
    def function(x):
        x = x * 2
        layer = make()
        return layer(x), layer

    wanted = seen(function)
    translated = sot.to_static(function)
    with counting() as counted:
        assert seen(translated) == wanted
    assert counted.breaks == 0


def test_a_constructor_that_raises():
    class Refuses(nn.Layer):
        def __init__(self, size):
            super().__init__()
            if size < 0:
                raise ValueError("a size below zero: %d" % size)
            self.act = nn.ReLU()

        def forward(self, x):
            return self.act(x)

    def function(x, size):
        try:
            return Refuses(size)(x)
        except ValueError as error:
            return str(error), x

    translated = sot.to_static(function)
    for size in (1, -2, 3, -4):
        wanted, got = flat(function(batch(), size)), flat(translated(batch(), size))
        assert [told(o) for o in got] == [told(o) for o in wanted]


def test_local_classes_of_layers_die():
    died = []

    def function(x):
        class Local(nn.Layer):
            def forward(self, x):
                return x * 2

        weakref.finalize(Local, died.append, "class")
        return Local()(x)

    translated = sot.to_static(function)
    for _ in range(3):
        translated(batch())
    del translated
    sot.reset()
    gc.collect()
    assert len(died) == 3
