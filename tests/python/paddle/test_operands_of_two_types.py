"""Products of tensors of two types, which eager promotes: the same result and no end of the process, also after many calls."""

import itertools
import operator

import paddle
import pytest

import sot

TYPES = ["bfloat16", "float32", "float64", "int32", "complex64"]
PRODUCTS = {
    "matmul": operator.matmul,
    "multiply": operator.mul,
    "dot": paddle.dot,
    "linear": paddle.nn.functional.linear,
    "einsum": lambda a, b: paddle.einsum("ij,jk->ik", a, b),
    "kron": paddle.kron,
    "maximum": paddle.maximum,
}


def outcome(function, a, b):
    try:
        result = function(a, b)
    except Exception as error:
        return type(error).__name__
    exact = result.astype("float64") if result.dtype == paddle.bfloat16 else result
    return str(result.dtype), exact.numpy().tobytes()


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_those_of_eager(name):
    product = PRODUCTS[name]
    for left, right in itertools.product(TYPES, TYPES):
        a = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]).astype(left)
        b = paddle.to_tensor([[2.0, 1.0], [1.0, 2.0]]).astype(right)
        translated = sot.to_static(lambda a, b: product(a, b))
        expected = outcome(product, a, b)
        for call in range(12):
            assert outcome(translated, a, b) == expected, (left, right, call)


BOOLS = {
    "product": lambda x: x * True,
    "reflected": lambda x: False * x,
    "sum": lambda x: x + True,
    "difference": lambda x: (x - True, True - x),
    "of_an_extent": lambda x: x * (x.shape[0] > 3) + (x.ndim == 1),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool", "complex64"])
@pytest.mark.parametrize("name", BOOLS)
def test_a_bool_beside_a_tensor(name, dtype):
    form = BOOLS[name]

    def f(x):
        return form(x)

    def told(function, x):
        x.stop_gradient = "float" not in dtype
        try:
            results = function(x)
        except RuntimeError as error:
            return type(error)
        results = results if isinstance(results, tuple) else (results,)
        return [(str(r.dtype), r.stop_gradient, r.numpy().tobytes()) for r in results]

    sot.reset()
    captured = sot.to_static(f)
    for extent in (2, 2, 5, 4, 4, 3):
        x = paddle.arange(extent, dtype="float32") * -0.75
        assert told(captured, x.astype(dtype)) == told(f, x.astype(dtype))
    if dtype != "bool":
        assert sot.stats()["breaks"] == 0, sot.stats()["reasons"]
