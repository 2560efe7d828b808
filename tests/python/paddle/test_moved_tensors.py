"""`cpu`, `to`, `view` and `unbind` stay in the graph where it is known what they do; what they give is what eager gives, also which tensor."""

import paddle
import pytest
from paddle.base.framework import Parameter, Variable

import sot

FORMS = {
    "cpu_of_an_argument": lambda x: (x.cpu(), x.cpu() is x),
    "cpu_of_a_result": lambda x: ((x + 1).cpu() * 2, None),
    "to_its_own_type": lambda x: (x.to("float32"), x.to("float32") is x, x.to(paddle.float32) is x),
    "to_its_own_type_as_a_result": lambda x: ((x + 1).to(paddle.float32) * 2, None),
    "to_another_type": lambda x: (x.to("float64"), (x * 2).to(paddle.int32), x.to("float64").dtype),
    "to_and_back": lambda x: (x.to("int64").to("float32"), None),
    "a_view": lambda x: (x.view([4, 3]) + 1, (x * 2).view((12,)).shape),
    "a_view_that_is_given_back": lambda x: (x.view([-1]), None),
    "a_view_of_a_result": lambda x: ((x * 2).view([2, 6]) * 3, None),
    "taken_apart": lambda x: sum(x.reshape([3, 2, 2]).unbind(0)),
    "taken_apart_at_the_end": lambda x: tuple(part * 2 for part in paddle.unbind(x, axis=-1)),
    "asked_for_its_class": lambda x: (
        x * (2 if isinstance(x, Variable) else 3),
        isinstance(x, Parameter),
        isinstance(3, (str, Variable)),
        isinstance(x, paddle.static.Variable),
    ),
}


def seen(value):
    if isinstance(value, paddle.Tensor):
        return str(value.dtype), value.shape, value.stop_gradient, value.numpy().tolist()
    if isinstance(value, (list, tuple)):
        return [seen(item) for item in value]
    return str(value)


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("name", FORMS)
def test_moved(name, stops, grad):
    form = FORMS[name]

    def f(x):
        return form(x)

    sot.reset()
    captured = sot.to_static(f)
    with paddle.set_grad_enabled(grad):
        for value in range(12):
            x = paddle.arange(12, dtype="float32").reshape([3, 4]) + value
            x.stop_gradient = stops
            assert seen(captured(x)) == seen(f(x))
    # Without gradients only eager says what a cast of what does not stop them is.
    # Which tensor a result is, it says at run time.
    if name != "to_its_own_type" and (grad or stops or "to_" not in name):
        assert sot.stats()["breaks"] == 0


def test_gradients_go_through():
    def f(x):
        return ((x.to("float64") * 2).to("float32").view([12]).cpu() * 3).sum()

    def gradient(call):
        x = paddle.arange(12, dtype="float32").reshape([3, 4])
        x.stop_gradient = False
        call(x).backward()
        return x.grad.numpy().tolist()

    captured = sot.to_static(f)
    for _ in range(10):
        assert gradient(captured) == gradient(f)


def test_a_view_shares_memory():
    def f(x):
        return x.view([12]), (x + 1).view([2, 6])

    captured = sot.to_static(f)
    for _ in range(12):
        x = paddle.zeros([3, 4])
        y, z = captured(x)
        y[0] = 5.0
        assert float(x[0, 0]) == 5.0 and z.shape == [2, 6]


@pytest.mark.parametrize("wrong", [[5, 3], [-1, -1], "float31", 3.5, []])
def test_what_eager_refuses_is_refused(wrong):
    for method in ("view", "to"):

        def f(x):
            return getattr(x * 2, method)(wrong)

        def outcome(call):
            try:
                return seen(call(paddle.ones([3, 4])))
            except Exception as error:
                return type(error).__name__, str(error).splitlines()[:1]

        captured = sot.to_static(f)
        for _ in range(3):
            assert outcome(captured) == outcome(f)


def test_a_tensor_is_taken_apart_along_a_fixed_axis_whatever_its_other_extents():
    def f(x):
        q, k, v = x.reshape([x.shape[0] // 3, 3, -1]).transpose([1, 0, 2]).unbind(0)
        return q + k * v

    sot.reset()
    captured = sot.to_static(f)
    for rows in range(2, 14):
        x = paddle.randn([3 * rows, 4])
        assert seen(captured(x)) == seen(f(x))
    assert sot.stats()["captures"] <= 3


CPU = paddle.CPUPlace()

PLACES = {
    "text": lambda x, y: (x.to("cpu"), x.to("cpu") is x, (x * 2).to("cpu") + 1),
    "place": lambda x, y: (x.to(x.place), (x * 2).to(CPU) + 1),
    "another": lambda x, y: (x.to(y), (x * 2).to(y + 1) + 1),
}


@pytest.mark.parametrize("name", PLACES)
def test_to_a_place_or_another_tensor(name):
    form = PLACES[name]

    def f(x, y):
        return form(x, y)

    sot.reset()
    captured = sot.to_static(f)

    def told(results):
        return [(str(r.dtype), r.tolist()) if isinstance(r, paddle.Tensor) else r for r in results]

    for dtype in ("float32", "float32", "float64", "float64"):
        x, y = paddle.ones([2]), paddle.ones([1], dtype=dtype)
        assert told(captured(x, y)) == told(f(x, y))
    assert sot.stats()["breaks"] == 0, sot.stats()["reasons"]
