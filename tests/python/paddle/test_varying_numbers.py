"""Numbers that vary as operands of tensors: what the backend promises of operators, and what captured programs make of it."""

import math
import operator

import paddle
import pytest

import sot

OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
]
DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "bool", "complex64"]
INTS = [2, 0, 1, -1, 3, 127, -128, 255, 2**31 - 1]
# Paddle multiplies as often as the exponent says.
EXPONENTS = [2, 0, 1, 3, 4]
FLOATS = [0.5, 0.0, -0.0, 1.0, 2.0, -3.25, 1e30, math.inf, math.nan]


def outcome(op, x, n, reflected):
    try:
        result = op(n, x) if reflected else op(x, n)
    except Exception as error:
        return type(error).__name__
    return str(result.dtype), tuple(result.shape), result.stop_gradient


@pytest.mark.parametrize("reflected", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_no_number_decides_what_comes_out(op, dtype, reflected):
    x = paddle.ones([2, 3]).astype(dtype)
    for numbers in (EXPONENTS if op is operator.pow else INTS, FLOATS):
        outcomes = {outcome(op, x, n, reflected) for n in numbers}
        # Who refuses a number at run time has the original code run.
        assert len({found for found in outcomes if isinstance(found, tuple)}) <= 1


@pytest.mark.parametrize("reflected", [False, True])
@pytest.mark.parametrize("numbers", [INTS, FLOATS], ids=["ints", "floats"])
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_captured_as_eager(op, numbers, reflected):
    def f(x, n):
        return op(n, x) if reflected else op(x, n)

    sot.reset()
    captured = sot.to_static(f)
    if op is operator.pow and numbers is INTS:
        numbers = EXPONENTS
    for dtype in ("float32", "int64"):
        x = paddle.to_tensor([[1, 2, 3], [4, 5, 6]]).astype(dtype)
        for n in numbers * 2:
            try:
                eager = f(x, n)
            except Exception as error:
                with pytest.raises(type(error)):
                    captured(x, n)
                continue
            found = captured(x, n)
            assert found.dtype == eager.dtype
            assert found.numpy().tobytes() == eager.numpy().tobytes(), n


def test_a_rate_that_decays():
    def step(w, grad, rate):
        return w - rate * grad, f"rate {rate:.3f}"

    sot.reset()
    captured = sot.to_static(step)
    w, grad = paddle.ones([4]), paddle.full([4], 0.5)
    plain = w
    for number in range(80):
        rate = 0.1 * 0.95**number
        (w, text), (plain, expected) = captured(w, grad, rate), step(plain, grad, rate)
        assert w.numpy().tobytes() == plain.numpy().tobytes() and text == expected
    assert sot.stats()["captures"] <= 2


def test_gradients_flow_through_a_number_that_varies():
    def f(x, n):
        return (x * n + n).sum()

    captured = sot.to_static(f)
    for n in [1.5, 2.5, 3.5, 4]:
        x, y = (paddle.to_tensor([1.0, 2.0], stop_gradient=False) for _ in range(2))
        f(x, n).backward()
        captured(y, n).backward()
        assert x.grad.numpy().tolist() == y.grad.numpy().tolist()
