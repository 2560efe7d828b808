"""`paddle.grad` within captured functions: penalties, equations of derivatives, steps of an inner loop, what it refuses."""

import os
import re

os.environ["SOT_MEASURE"] = "0"

import paddle  # noqa: E402
import pytest  # noqa: E402
import sot  # noqa: E402
from gradients import facts, flat  # noqa: E402
from paddle import nn  # noqa: E402

CALLS = 4


def leaf(values):
    return paddle.to_tensor(values, stop_gradient=False)


def pair():
    return leaf([0.5, -1.0, 2.0]), leaf([3.0, 0.25, -2.0])


def one(x, y):
    return paddle.grad((x * y).sum(), x)


def a_list_of_one(x, y):
    (g,) = paddle.grad([(x * y).sum()], [x])
    return g, g.stop_gradient, g.shape, g.dtype


def two(x, y):
    return paddle.grad(outputs=paddle.tanh(x * y).sum(), inputs=(x, y))


def of_no_scalar(x, y):
    return paddle.grad(x * x * y, [y, x])


def weighed(x, y):
    return paddle.grad([x * y, x * 3], [x], grad_outputs=[y, x.detach()])


def weighed_by_one(x, y):
    return paddle.grad(x * y, x, y.detach())


def twice(x, y):
    (g,) = paddle.grad((x * x * y).sum(), [x], create_graph=True)
    (h,) = paddle.grad((g * g).sum(), [x], create_graph=True)
    (k,) = paddle.grad(h.sum(), [y])
    return g, h, k


def with_respect_to_what_was_computed(x, y):
    z = x * y
    w = paddle.exp(z)
    (g,) = paddle.grad(w.sum(), z, retain_graph=True)
    return g, w, paddle.grad(w.sum(), [x])


def asked_again(x, y):
    z = (x * y).sum()
    return paddle.grad(z, [x]), paddle.grad(z, [y]), z


def goes_on(x, y):
    z = (x * y).sum()
    (g,) = paddle.grad(z, [x], create_graph=True)
    return z + (g * g).mean()


def in_a_loop(x, y):
    for step in range(3):
        (g,) = paddle.grad(((x - y) ** 2).sum(), [x])
        x = (x - 0.1 * g).detach()
        x.stop_gradient = False
    return x


def in_a_helper(x, y):
    def derivative(of, at):
        return paddle.grad(of, at, create_graph=True)[0]

    u = x**3 * y
    return derivative(derivative(u, x), x), derivative(u, y)


def enabled_within(x, y):
    with paddle.no_grad():
        with paddle.enable_grad():
            z = (x * y).sum()
            g = paddle.grad(z, [x])
        w = z * 2
    return g, w


# What hooks of the program were called for.
HEARD = []


def seen(function, make):
    HEARD.clear()
    given = make()
    try:
        result = function(*given)
    except Exception as error:
        return [type(error).__name__, re.sub(r"\d+", "0", str(error).strip().splitlines()[0])]
    told = [(facts(o), str(o.dtype)) if isinstance(o, paddle.Tensor) else o for o in flat(result)]
    ends = [o for o in flat(result) if isinstance(o, paddle.Tensor) and not o.stop_gradient]
    if ends:
        sum(o.sum() for o in ends).backward()
    return told, [None if t.grad is None else facts(t.grad) for t in given], list(HEARD)


ALL = [
    one,
    a_list_of_one,
    two,
    of_no_scalar,
    weighed,
    weighed_by_one,
    twice,
    with_respect_to_what_was_computed,
    asked_again,
    goes_on,
    in_a_loop,
    in_a_helper,
    enabled_within,
]


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_one_graph(function, counting):
    wanted = seen(function, pair)
    translated = sot.to_static(function)
    with counting() as counted:
        for _ in range(CALLS):
            assert seen(translated, pair) == wanted
    assert (counted.graphs, counted.breaks) == (1, 0)


def computed():
    """Tensors that have gradients of their own, with a hook on the way, one of which is computed from the other."""
    x = leaf([0.5, -1.0, 2.0])
    y = x * 3
    y.register_hook(lambda g: HEARD.append(len(HEARD)) or g * 10)
    return x, y


def hooked():
    x, y = pair()
    x.register_hook(lambda g: HEARD.append(len(HEARD)) or g * 100)
    return x, y


@pytest.mark.parametrize("make", [computed, hooked], ids=lambda f: f.__name__)
@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_tensors_with_a_history(function, make):
    wanted, wanted_of_leaves = seen(function, make), seen(function, pair)
    translated = sot.to_static(function)
    for _ in range(CALLS):
        assert seen(translated, pair) == wanted_of_leaves
        assert seen(translated, make) == wanted


def unused(x, y):
    return paddle.grad((x * x).sum(), [x, y], allow_unused=True)


def unused_by_place(x, y):
    return paddle.grad(x.sum(), y, None, None, False, True, True)


def nothing_flows(x, y):
    return paddle.grad((x * x).sum(), [y])


def of_an_input(x, y):
    return paddle.grad(x, [x])


def one_input_twice(x, y):
    return paddle.grad((x * x).sum(), [x, x])


def stopped(x, y):
    return paddle.grad((x * y.detach()).sum(), [y])


def of_what_stops(x, y):
    return paddle.grad((x.detach() * 2).sum(), [x])


def of_nothing(x, y):
    return paddle.grad([], [x])


def no_tensor(x, y):
    return paddle.grad((x * y).sum(), [2.0])


def other_length(x, y):
    return paddle.grad([x * y], [x], grad_outputs=[y, y])


def not_only_inputs(x, y):
    return paddle.grad((x * y).sum(), [x], only_inputs=False)


def no_switch(x, y):
    return paddle.grad((x * y).sum(), [x], create_graph=1)


def without_recording(x, y):
    with paddle.no_grad():
        return paddle.grad((x * y).sum(), [x])


def some_left_out(x, y):
    return paddle.grad((x * x * y).sum(), [x], no_grad_vars=[y])


def unknown_keyword(x, y):
    return paddle.grad((x * y).sum(), [x], create=True)


@pytest.mark.parametrize(
    "function",
    [
        unused,
        unused_by_place,
        nothing_flows,
        of_an_input,
        one_input_twice,
        stopped,
        of_what_stops,
        of_nothing,
        no_tensor,
        other_length,
        not_only_inputs,
        no_switch,
        without_recording,
        some_left_out,
        unknown_keyword,
    ],
    ids=lambda f: f.__name__,
)
def test_left_to_eager(function, counting):
    wanted = seen(function, pair)
    translated = sot.to_static(function)
    with counting() as counted:
        for _ in range(CALLS):
            assert seen(translated, pair) == wanted
    # Whether something flows is for the nodes to say: the graph fails, and the frame raises.
    assert counted.breaks == (0 if function in (nothing_flows, stopped) else 1)


def third_through_a_constant(x, y):
    z = x + paddle.ones([3])
    g = z * z * z
    for _ in range(3):
        (g,) = paddle.grad(g.sum(), [x], create_graph=True)
    return g


def third_through_what_stops(x, y):
    g = paddle.tanh(x + y.detach()) * (x.reshape([1, 3]) @ y.detach().reshape([3, 1])).sum()
    for _ in range(3):
        (g,) = paddle.grad(g.sum(), [x], create_graph=True)
    return g


def third_of_a_part(x, y):
    g = x.split(3)[1] ** 4
    for _ in range(3):
        (g,) = paddle.grad(g.sum(), [x], create_graph=True)
    return g


def second_of_a_product(x, y):
    g = paddle.bmm(x.reshape([1, 1, 3]), y.reshape([1, 3, 1])) ** 2
    for _ in range(2):
        (g,) = paddle.grad(g.sum(), [x], create_graph=True)
    return g


def second_of_a_choice(x, y):
    g = paddle.where(x > 0, x**3, y)
    for _ in range(2):
        (g,) = paddle.grad(g.sum(), [x], create_graph=True)
    return g


def in_another_type(x, y):
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
        z = (x.reshape([1, 3]) @ y.reshape([3, 1])).sum()
        (g,) = paddle.grad(z, [x], create_graph=True)
    return g, g.dtype, z.dtype


def through_dropout(x, y):
    paddle.seed(4)
    (g,) = paddle.grad(paddle.nn.functional.dropout(x * y, 0.5).sum(), [x])
    return g, paddle.rand([2])


@pytest.mark.parametrize(
    "function",
    [
        third_through_a_constant,
        third_through_what_stops,
        third_of_a_part,
        second_of_a_product,
        second_of_a_choice,
        in_another_type,
        through_dropout,
    ],
    ids=lambda f: f.__name__,
)
def test_derivatives_of_derivatives(function, counting):
    wanted = seen(function, pair)
    translated = sot.to_static(function)
    for _ in range(CALLS):
        assert seen(translated, pair) == wanted


class World:
    """Networks, their optimizer, and losses that are made of derivatives."""

    def __init__(self, door):
        paddle.seed(3)
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
        self.critic = nn.Sequential(nn.Linear(2, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
        self.parameters = self.net.parameters() + self.critic.parameters()
        self.optimizer = paddle.optimizer.AdamW(learning_rate=0.01, parameters=self.parameters)
        self.losses = [door(self.equation), door(self.penalty), door(self.inner_step)]

    def equation(self, x, y):
        x.stop_gradient = False
        u = self.net(x)
        first = paddle.grad(u, x, create_graph=True)[0]
        second = paddle.grad(first[:, 0:1], x, create_graph=True)[0]
        return ((first[:, 1:2] - 0.1 * second[:, 0:1] + u * first[:, 0:1]) ** 2).mean()

    def penalty(self, real, fake):
        share = paddle.rand([real.shape[0], 1])
        between = share * real + (1 - share) * fake
        between.stop_gradient = False
        score = self.critic(between)
        gradient = paddle.grad(
            outputs=score,
            inputs=between,
            grad_outputs=paddle.ones_like(score),
            create_graph=True,
            retain_graph=True,
            only_inputs=True,
        )[0]
        return ((gradient.norm(2, axis=1) - 1) ** 2).mean()

    def inner_step(self, x, y):
        weights = list(self.net.parameters())
        loss = ((self.net(x) - y) ** 2).mean()
        gradients = paddle.grad(loss, weights, create_graph=True)
        a, b, c, d = [w - 0.1 * g for w, g in zip(weights, gradients)]
        return ((paddle.tanh(x @ a + b) @ c + d - y) ** 2).mean()

    def train(self, steps):
        told = []
        for step in range(steps):
            size = 3 + step % 2
            for loss in self.losses:
                value = loss(paddle.uniform([size, 2]), paddle.uniform([size, 2]))
                value.backward()
                told.append(value.item())
                told += [None if p.grad is None else facts(p.grad) for p in self.parameters]
                self.optimizer.step()
                self.optimizer.clear_grad()
        return told


def test_losses_made_of_derivatives(counting):
    wanted = World(lambda function: function).train(6)
    with counting() as counted:
        assert World(sot.to_static).train(6) == wanted
    assert counted.breaks == 0
    # Two of them take batches of any size from the second size on.
    assert counted.graphs <= 6


MAKERS = {
    "a list": lambda x: paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False),
    "by place": lambda x: paddle.to_tensor([1.0, 2.0, 3.0], "float64", None, False),
    "a tensor": lambda x: paddle.to_tensor(x, stop_gradient=False),
    "a computed tensor": lambda x: paddle.to_tensor(x * 2, stop_gradient=False),
    "tensors": lambda x: paddle.to_tensor([x.sum(), x.mean()], stop_gradient=False),
    "a number": lambda x: paddle.to_tensor(1.5, dtype="float32", stop_gradient=False),
    "stopped": lambda x: paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=True),
    "complex": lambda x: paddle.to_tensor([1, 2, 3], "complex64", stop_gradient=False).real(),
    "zeros": lambda x: paddle.zeros([3], requires_grad=True),
    "ones": lambda x: paddle.ones([3], dtype="float64", requires_grad=True),
    "full": lambda x: paddle.full([3], 2.5, requires_grad=True),
    "zeros_like": lambda x: paddle.zeros_like(x, requires_grad=True),
    "ones_like": lambda x: paddle.ones_like(x, requires_grad=True),
    "full_like": lambda x: paddle.full_like(x, 2.0, requires_grad=True),
    "arange": lambda x: paddle.arange(0.0, 3.0, requires_grad=True),
    "linspace": lambda x: paddle.linspace(0.0, 1.0, 3, requires_grad=True),
    "eye": lambda x: paddle.eye(3, requires_grad=True),
    "rand": lambda x: paddle.rand([3], requires_grad=True),
    "randn": lambda x: paddle.randn([3], requires_grad=True),
    "not required": lambda x: paddle.rand([3], requires_grad=False),
}


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "not recorded"])
@pytest.mark.parametrize("within", [False, True], ids=["", "within no_grad"])
@pytest.mark.parametrize("name", MAKERS)
def test_tensors_that_gradients_flow_to(name, within, recorded, counting):
    maker = MAKERS[name]

    def used(x, y):
        if within:
            with paddle.no_grad():
                made = maker(x)
                doubled = made * 2
        else:
            made = maker(x)
            doubled = made * 2
        return made, made.stop_gradient, doubled, (made * made).sum() + x.sum()

    def told(function):
        paddle.seed(7)
        with paddle.set_grad_enabled(recorded):
            return seen(function, pair)

    wanted = told(used)
    translated = sot.to_static(used)
    with counting() as counted:
        for _ in range(CALLS):
            assert told(translated) == wanted
    # Paddle warns of what is copied from a tensor, and looks into a list of them.
    assert counted.breaks == (1 if "tensor" in name else 0)
