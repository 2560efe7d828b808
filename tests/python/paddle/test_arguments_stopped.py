"""Functions of Paddle that stop the gradients of what they are given, as of a shape that is a tensor: the caller sees it afterwards, and
what was computed before has a gradient."""

import paddle
import pytest

import sot

CALLS = {
    "reshape": lambda x, p: x.reshape(p),
    "a_function": lambda x, p: paddle.reshape(x, shape=p),
    "expand": lambda x, p: x.expand(p),
    "full": lambda x, p: paddle.full(p, 1.0),
    "tile": lambda x, p: paddle.tile(x, p),
    "concat": lambda x, p: paddle.concat([x, x], axis=p),
}
DOORS = ["entry", "hook"]


def doors(f, door, args):
    if door == "entry":
        return sot.to_static(f)(*args)
    sot._sot._capture_all(door == "hook")
    try:
        return f(*args)
    finally:
        sot._sot._capture_all(False)


def parameter():
    p = paddle.to_tensor([2.0, 2.0], stop_gradient=False)
    p.persistable = True
    return p


def after(run, make):
    args = make()
    y, said = run(*args)
    if not y.stop_gradient:
        y.sum().backward()
    p = args[1]
    return y.tolist(), said, y.stop_gradient, p.stop_gradient, None if p.grad is None else p.grad.tolist()


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", CALLS)
def test_what_was_computed_before_a_refusal_has_its_gradient(name, door):
    call = CALLS[name]

    def f(x, p):
        y = x * p
        try:
            return y, call(x, p).shape
        except Exception as error:
            return y, type(error).__name__

    def make():
        return paddle.to_tensor([1.0, 2.0]), parameter()

    expected = after(f, make)
    for _ in range(3):
        assert after(lambda *args: doors(f, door, args), make) == expected
    assert sot.stats()["hook_failures"] == 0


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", ["reshape", "a_function"])
def test_a_shape_whose_gradients_stop(name, door):
    call = CALLS[name]

    def f(x, s):
        y = x * 2
        z = call(x, s)
        return y, (z.shape, s.stop_gradient, z.stop_gradient)

    def make():
        return paddle.ones([4]), paddle.to_tensor([2, 2], dtype="int32", stop_gradient=False)

    expected = after(f, make)
    assert expected[1][1] is True
    for _ in range(3):
        assert after(lambda *args: doors(f, door, args), make) == expected
    assert sot.stats()["hook_failures"] == 0
