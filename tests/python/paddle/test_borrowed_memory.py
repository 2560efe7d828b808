"""What the program borrows of a tensor (`value().get_tensor()`) lives as long as the variable that holds the tensor, also where nothing
behind a break needs the variable; and what einsum gives may be the memory that it was given."""

import os

os.environ["SOT_MEASURE"] = "0"

import paddle  # noqa: E402
import pytest  # noqa: E402
from paddle import nn  # noqa: E402

import sot  # noqa: E402


def borrows(x):
    made = x * 2
    borrowed = made.value().get_tensor()
    junk = [paddle.zeros([4]) for _ in range(3)]
    return str(borrowed), len(junk)


def borrows_behind_a_break(x):
    made = x * 2
    borrowed = made.value().get_tensor()
    sot.graph_break()
    junk = [paddle.zeros([4]) for _ in range(3)]
    sot.graph_break()
    return str(borrowed), len(junk)


def borrows_in_a_call(x):
    def inner(y):
        made = y + 1
        borrowed = made.value().get_tensor()
        sot.graph_break()
        return str(borrowed), [paddle.ones([4])]

    return inner(x)[0], x * 2


def borrows_of_what_another_borrows(x):
    made = x * 2
    again = made.detach()
    borrowed = again.value().get_tensor()
    junk = [paddle.rand([4]) for _ in range(4)]
    return str(borrowed), borrowed._is_initialized(), len(junk)


@pytest.mark.parametrize(
    "f", [borrows, borrows_behind_a_break, borrows_in_a_call, borrows_of_what_another_borrows], ids=lambda f: f.__name__
)
def test_borrowed(f):
    captured = sot.to_static(f)
    for _ in range(6):
        assert str(captured(paddle.ones([4]))) == str(f(paddle.ones([4])))


@pytest.mark.parametrize("made", [lambda: nn.Linear(4, 4), lambda: nn.LayerList([nn.Linear(4, 4), nn.Linear(4, 4)])], ids=["layer", "list"])
def test_a_layer_gets_another_type(made):
    def run(captures):
        paddle.seed(4)
        layer = made()

        def f(x):
            layer.to(dtype="float64")
            layer.to(dtype="float32")
            return x + 1

        call = sot.to_static(f) if captures else f
        results = [call(paddle.ones([4])).tolist() for _ in range(4)]
        return results, [(str(p.dtype), p.numpy().tolist()) for p in layer.parameters()]

    assert run(True) == run(False)


@pytest.mark.parametrize("equation", ["...->...", "ij->ij", "ij->ji", "ij->i"])
def test_what_einsum_gives_may_be_what_it_was_given(equation):
    """The caller writes what came back, in calls that a compiled form would serve, too."""

    def f(x):
        return paddle.einsum(equation, x)

    def written(call):
        x = (paddle.arange(9, dtype="float32").reshape([3, 3]) + 1)
        y = call(x)
        y.zero_()
        return x.numpy().tolist(), x.inplace_version, y.numpy().tolist()

    captured = sot.to_static(f)
    for _ in range(45):
        assert written(captured) == written(f)
