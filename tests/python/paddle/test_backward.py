"""Whoever goes back from what a graph gave finds what eager would: also twice, in parts, with hooks, after a write, for second
derivatives, and long after the first calls, when graphs have been chosen a way to run."""

import paddle
import paddle.nn.functional as F
import pytest

import sot

CALLS = 14


def net(depth=3, width=4):
    layers = [layer for _ in range(depth) for layer in (paddle.nn.Linear(width, width), paddle.nn.Tanh())]
    return paddle.nn.Sequential(*layers)


def two_sums(a, b, x):
    return a(x).sum(), b(x).sum()


def one_mean(a, b, x):
    return a(x).mean()


def output_and_sum(a, b, x):
    y = a(x)
    return y, y.sum()


def shared(a, b, x):
    y = a(x)
    z = a(y)
    return (y * z).sum() + a[0].weight.pow(2).sum() + a[0].weight.abs().sum()


def penalties(a, b, x):
    loss = b(a(x)).mean()
    for parameter in (*a.parameters(), *b.parameters()):
        loss = loss + 1e-3 * parameter.abs().sum() + 1e-3 * parameter.pow(2).sum()
    return loss


def unreached_is_none(f, a, b, x):
    u, v = f(x)
    u.backward()


def back_through_both(f, a, b, x):
    u, v = f(x)
    u.backward()
    v.backward()


def asks_for_unreached(f, a, b, x):
    u, v = f(x)
    parameter = b.parameters()[0]
    found = [paddle.grad(u, [parameter], retain_graph=True, allow_unused=True)[0]]
    try:
        paddle.grad(u, [parameter])
    except ValueError as error:
        found.append(str(error)[:40])
    return found


def twice(f, a, b, x):
    loss = f(x)
    loss.backward(retain_graph=True)
    loss.backward()


def twice_without_leave(f, a, b, x):
    loss = f(x)
    loss.backward()
    try:
        loss.backward()
    except SystemError as error:
        return str(error)


def with_a_hook(f, a, b, x):
    y, total = f(x)
    y.register_hook(lambda gradient: gradient * 2)
    total.backward()


def with_retained_gradients(f, a, b, x):
    y, total = f(x)
    y.retain_grads()
    total.backward()
    return y.grad


def for_an_output(f, a, b, x):
    y, total = f(x)
    return paddle.grad(total, [y])


def after_a_write(f, a, b, x):
    loss = f(x)
    with paddle.no_grad():
        a[2].weight.add_(paddle.ones([4, 4]))
    try:
        loss.backward()
    except RuntimeError as error:
        return "inplace" in str(error)
    finally:
        with paddle.no_grad():
            a[2].weight.subtract_(paddle.ones([4, 4]))


def second_derivatives(f, a, b, x):
    loss = f(x)
    gradients = paddle.grad(loss, a.parameters(), create_graph=True)
    sum((g * g).sum() for g in gradients).backward()


def hooks_of_parameters(f, a, b, x):
    hook = a[0].weight.register_hook(lambda gradient: gradient * 3)
    f(x).backward()
    hook.remove()
    return a[0].weight.grad.stop_gradient


def more_uses_outside(f, a, b, x):
    loss = f(x) + a[0].weight.abs().sum() + (a[0].weight * 0.37).sin().sum()
    (f(x * 2) * loss).backward()


def names_of_nodes(f, a, b, x):
    return f(x).grad_fn.name()


def trains_what_is_reached(f, a, b, x):
    optimizer = paddle.optimizer.AdamW(0.1, parameters=[*a.parameters(), *b.parameters()], weight_decay=0.5)
    u, v = f(x)
    u.backward()
    optimizer.step()
    optimizer.clear_grad()
    return [p.clone() for p in (*a.parameters(), *b.parameters())]


PROGRAMS = [
    (two_sums, unreached_is_none),
    (two_sums, back_through_both),
    (two_sums, asks_for_unreached),
    (two_sums, trains_what_is_reached),
    (one_mean, twice),
    (one_mean, twice_without_leave),
    (one_mean, after_a_write),
    (one_mean, second_derivatives),
    (one_mean, hooks_of_parameters),
    (one_mean, more_uses_outside),
    (one_mean, names_of_nodes),
    (output_and_sum, with_a_hook),
    (output_and_sum, with_retained_gradients),
    (output_and_sum, for_an_output),
    (shared, twice),
    (shared, more_uses_outside),
    (penalties, twice),
]


def plain(value):
    if isinstance(value, paddle.Tensor):
        return value.dtype, value.stop_gradient, value.numpy().tobytes()
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def run(function, goes_back, depth, translate):
    paddle.seed(7)
    a, b = net(depth), net(depth)
    f = translate(lambda x: function(a, b, x))
    seen = []
    for call in range(CALLS):
        paddle.seed(call)
        x = paddle.rand([3, 4])
        result = plain(goes_back(f, a, b, x))
        seen.append((result, [plain(p.grad) for p in (*a.parameters(), *b.parameters())]))
        a.clear_gradients(set_to_zero=False)
        b.clear_gradients(set_to_zero=False)
    return seen


@pytest.mark.parametrize("depth", [2, 12], ids=["small", "deep"])
@pytest.mark.parametrize("function, goes_back", PROGRAMS, ids=lambda part: part.__name__)
def test_gradients_are_those_of_eager(function, goes_back, depth):
    expected = run(function, goes_back, depth, lambda f: f)
    found = run(function, goes_back, depth, sot.to_static)
    for call in range(CALLS):
        assert found[call] == expected[call], f"call {call}"


def test_what_records_gradients_says_that_it_is_replayed():
    layer = net()
    (graph,) = sot.explain(lambda x: layer(x).sum())(paddle.rand([3, 4])).graphs
    assert graph.replay_only == "gradients are recorded"
    with paddle.no_grad():
        (graph,) = sot.explain(lambda x: layer(x).sum())(paddle.rand([3, 4])).graphs
    assert graph.replay_only is None


def good(index):
    return paddle.to_tensor(index, dtype="int64")


UNUSED = {
    "gather": lambda x, i: paddle.gather(x, i),
    "index_select": lambda x, i: paddle.index_select(x, i),
    "take_along_axis": lambda x, i: paddle.take_along_axis(x, i.reshape([2, 1]), 0),
    "embedding": lambda x, i: F.embedding(i, x),
    "one_hot": lambda x, i: F.one_hot(i, 4),
    "cross_entropy": lambda x, i: F.cross_entropy(x[:2], i),
    "nll_loss": lambda x, i: F.nll_loss(x[:2], i),
    "inverse": lambda x, i: paddle.linalg.inv((x + 4 * paddle.eye(4)) * (i[1] < 7).astype("float32")),
}


@pytest.mark.parametrize("name", UNUSED)
def test_what_nobody_uses_raises_as_in_eager(name):
    """Indexes are out of range from the twelfth call on."""

    def f(x, i):
        UNUSED[name](x, i)
        return x * 2

    def handles(x, i):
        try:
            UNUSED[name](x, i)
        except (ValueError, IndexError, RuntimeError, OSError) as error:
            return x * 0, type(error).__name__
        return x * 2, None

    for function in (f, handles):
        translated = sot.to_static(function)
        for call in range(14):
            x, i = paddle.rand([4, 4]), good([0, 7 if call > 11 else 1])
            seen = []
            for called in (function, translated):
                try:
                    seen.append(plain(called(x, i)))
                except (ValueError, IndexError, RuntimeError, OSError) as error:
                    seen.append(type(error).__name__)
            assert seen[0] == seen[1], f"call {call}"
