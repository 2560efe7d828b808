"""What the program is told of a result is what eager has, also where a program of the framework infers something else."""

import warnings

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

import sot


def x_of(dtype, shape=(2, 3)):
    return paddle.arange(1, 1 + int(np.prod(shape))).reshape(list(shape)).astype(dtype)


EXPRESSIONS = {
    "unique": (lambda x: x.unique(), ["int32", "int64", "float64", "float32"]),
    "floor_divide": (lambda x: x // paddle.to_tensor(2), ["int32", "float32", "uint8"]),
    "floor_divide_of_floats": (lambda x: paddle.floor_divide(x, paddle.to_tensor(2.0)), ["bfloat16", "float64"]),
    "where": (lambda x: paddle.where(x > 0, x, paddle.to_tensor(1.0, "float64")), ["float32", "float64"]),
    "where_the_other_way": (lambda x: paddle.where(x > 0, paddle.to_tensor(1.0, "float64"), x), ["float32", "float64"]),
    "complex_items": (lambda x: paddle.to_tensor([1j, 2]) * x, ["float32"]),
    "complex_items_of_numpy": (lambda x: paddle.to_tensor([np.complex128(1j)]).abs(), ["float32"]),
    "linear": (lambda x: F.linear(x, paddle.ones([3, 2], "complex64")), ["float32"]),
    "sum_of_nothing": (lambda x: paddle.sum(x[:0], dtype="float64"), ["float32", "int32"]),
    "product": (lambda x: x * 2.5, ["int32", "float32", "float64"]),
}
READS = {
    "dtype": lambda y: (y, y.dtype),
    "its_name": lambda y: (y, str(y.dtype)),
    "as_operand": lambda y: (y.astype("int32").astype(y.dtype), paddle.zeros([2], y.dtype)),
    "branch": lambda y: (y * 2 if y.dtype == paddle.float32 else y,),
    "is_floating": lambda y: (y, paddle.is_floating_point(y), y.is_floating_point()),
    "stop_gradient": lambda y: (y, y.stop_gradient),
    "size": lambda y: (y, y.element_size()),
}


def seen(results):
    def one(value):
        if isinstance(value, paddle.Tensor):
            return str(value.dtype), value.shape, value.stop_gradient, value.astype("complex128").numpy().tolist()
        return str(value)

    return [one(value) for value in results]


def outcome(f, x):
    """What a call gives, or what it raises: eager refuses some of these."""
    try:
        return seen(f(x))
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_what_is_told(name, read):
    expression, dtypes = EXPRESSIONS[name]
    for dtype in dtypes:
        x = x_of(dtype)

        def f(x):
            return READS[read](expression(x))

        captured = sot.to_static(f)
        for _ in range(12):
            assert outcome(captured, x) == outcome(f, x), dtype


def test_an_embedding_of_indices_that_do_not_stop_gradients():
    def f(ids):
        y = F.embedding(ids, paddle.ones([4, 2]))
        return y, y.stop_gradient

    ids = paddle.to_tensor([1, 2])
    ids.stop_gradient = False
    captured = sot.to_static(f)
    for _ in range(4):
        assert seen(captured(ids)) == seen(f(ids))


@pytest.mark.parametrize("other", [1.0, 2])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64", "uint8", "int64"])
def test_operands_of_two_types_do_not_end_the_process(dtype, other):
    x = x_of(dtype)

    def f(x):
        return paddle.where(x > 0, other, x), paddle.where(x > 0, x, paddle.to_tensor(other))

    captured = sot.to_static(f)
    for _ in range(12):
        assert outcome(captured, x) == outcome(f, x)


def deprecated(x):
    return F.zeropad2d(x, [1, 1, 1, 1])


def twice(x):
    y = deprecated(x)
    z = F.zeropad2d(y, [0, 1, 0, 1])
    return y + 1, z * 2


def inside_a_loop(x):
    for _ in range(2):
        x = deprecated(x)
    return (x,)


class Padded(paddle.nn.Layer):
    def forward(self, x):
        y = x + 1
        y = deprecated(y)
        y = F.zeropad2d(y, [0, 1, 0, 1])
        return y * 2


class Around(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = paddle.nn.Sequential(Padded(), Padded())

    def forward(self, x):
        return self.inner(x)


def captured_inside(layer):
    """A layer whose `forward` is captured, and which Paddle calls."""
    layer.forward = sot.to_static(layer.forward)
    return layer


@pytest.mark.parametrize("filter", ["always", "default"])
@pytest.mark.parametrize("capture", [sot.to_static, captured_inside])
@pytest.mark.parametrize("layer", [Padded, Around])
def test_warnings_of_layers_name_the_line_of_the_program(layer, capture, filter):
    assert heard(capture(layer()), filter) == heard(layer(), filter)


def heard(call, filter):
    told = []
    globals().pop("__warningregistry__", None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(filter)
        warnings.onceregistry.clear()
        for _ in range(12):
            call(paddle.ones([1, 1, 2, 2]))
            told.append([(w.filename, w.lineno, w.category) for w in caught])
    assert any(told), "it does not warn: take another"
    return told


@pytest.mark.parametrize("filter", ["always", "default", "once"])
@pytest.mark.parametrize("f", [twice, inside_a_loop])
def test_warnings_name_the_line_of_the_program(f, filter):
    assert heard(sot.to_static(f), filter) == heard(f, filter)


def test_what_eager_has_is_captured():
    """What the framework infers rightly costs no graph, and what it does not costs one."""

    def stats(f, x):
        sot.reset()
        captured = sot.to_static(f)
        for _ in range(4):
            captured(x)
        return sot.stats()

    right = stats(lambda x: (x * 2.5, (x * 2.5).dtype), x_of("float32"))
    assert (right["graphs"], right["breaks"], right["captures"], right["hits"]) == (1, 0, 1, 3)
    wrong = stats(lambda x: (x.unique(), x.unique().dtype), x_of("int64"))
    assert wrong["captures"] == 1
