"""Scalars of numpy, and its functions over numbers, around tensors: values like any other, folded."""

import operator
import warnings

import numpy as np
import paddle
import pytest
import sot


def shown(value):
    if isinstance(value, paddle.Tensor):
        return "tensor", str(value.dtype), value.tolist()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(v) for v in value]
    return type(value).__name__, repr(value)


def same(function, *calls, **expected):
    """Plain and captured, the same; and how many graphs, breaks, captures."""
    plain = [shown(function(*args)) for args in calls]
    sot.reset()
    captured = sot.to_static(function)
    assert [shown(captured(*args)) for args in calls] == plain
    stats = sot.stats()
    assert "internal-error" not in stats["reasons"]
    assert {name: stats[name] for name in expected} == expected


def x():
    return paddle.to_tensor([1.0, 2.0])


def test_functions_of_shapes_are_one_graph():
    def f(x):
        count = int(np.prod(x.shape))
        scale = np.sqrt(x.shape[-1])
        mean = np.mean([1, 2, 3])
        return x / scale * count, mean, np.float64(1) / 3, np.max([4, 5]), np.log2(8.0)

    same(f, (x(),), (x(),), (x(),), graphs=1, breaks=0, captures=1)


def test_scalars_are_numbers():
    def f(x):
        n, h = np.int64(2), np.float32(0.1)
        return (
            x * 2, n + 1, h * 2, n == 2, bool(n > 1), list(range(n)), [1, 2, 3][n], f"{n} {h:.2f}", n.item(),
            {n: 1}[2], n in (1, 2), min(n, 3), type(n + h), h.astype("float64"), -n, abs(n), n // 3, divmod(n, 2),
        )

    same(f, (x(),), (x(),), (x(),), graphs=1, breaks=0, captures=1)


def test_scalars_that_are_given_are_guarded_by_value_and_type():
    def f(x, n):
        return x * 2, n + 1, n * 2

    nan, zero = np.float64("nan"), np.float64(0.0)
    calls = [np.int64(1), np.int64(1), np.int32(1), 1, nan, nan, zero, -zero, np.float32(1)]
    same(f, *[(x(), n) for n in calls], captures=7)


OPERATORS = [operator.mul, operator.add, operator.sub, operator.truediv, operator.lt, operator.eq, operator.pow]


@pytest.mark.parametrize("number", [np.float64(0.1), np.float32(0.1), np.int64(3), np.float16(0.5), np.bool_(True)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_operators_of_tensors_and_scalars(number, dtype):
    def f(x):
        done = []
        for operate in OPERATORS:
            try:
                done.append(operate(x, number))
            except Exception as error:
                done.append(type(error).__name__)
        return done

    same(f, *[(x().astype(dtype),) for _ in range(6)])


def test_a_scalar_on_the_left_is_asked_for_real():
    def f(x, n):
        try:
            return n * x
        except TypeError as error:
            return str(error)

    same(f, *[(x(), np.float64(2)) for _ in range(3)])


def test_what_would_warn_is_left_to_numpy():
    def f(x):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            root = np.sqrt(-1.0)
            over = np.float32(3e38) * np.float32(10)
        return x * 2, root, over, [str(w.message) for w in caught]

    same(f, *[(x(),) for _ in range(3)])


def test_arrays_are_not_folded():
    table = np.arange(6).reshape(2, 3)

    def f(x):
        roots = np.sqrt([1.0, 4.0])
        roots[0] = 7
        repeated, longer = np.int64(2) * [1, 2], [1, 2] * np.int64(2)
        return x * 2, roots.tolist(), list(repeated), list(longer), np.add.reduce([1, 2]), table[0, 1], table.shape

    same(f, *[(x(),) for _ in range(3)])


def test_functions_that_numpy_makes_of_others_are_called():
    count = [0]

    def counted(n):
        count[0] += 1
        return n + count[0]

    made = np.frompyfunc(counted, 1, 1)

    def f(x):
        return x * 2, made(3)

    plain = [shown(f(x())) for _ in range(4)]
    count[0] = 0
    captured = sot.to_static(f)
    assert [shown(captured(x())) for _ in range(4)] == plain


LOUD = {
    "where": lambda x, v: paddle.where(x > 1, x, v),
    "to_tensor": lambda x, v: x * paddle.to_tensor(v, dtype="float32"),
    "of_a_list": lambda x, v: x + paddle.to_tensor([v, 1.0], dtype="float32"),
}


@pytest.mark.parametrize("name", LOUD)
def test_what_numpy_warns_of_is_heard_once_a_call(name):
    form = LOUD[name]

    def f(x, v):
        return form(x, v) * 2

    def told(function, v):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            result = function(paddle.ones([2]), v)
        return result.tolist(), [(w.category, str(w.message), w.filename, w.lineno) for w in heard]

    captured = sot.to_static(f)
    for v in (1e300, 1e300, 0.5, 1e300, *[1e300] * 12, 0.25):
        assert told(captured, v) == told(f, v)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (f, captured):
            with pytest.raises(RuntimeWarning):
                function(paddle.ones([2]), 1e300)


def given_arrays():
    constants = [
        np.array([1.0, 2.0], dtype="float32"), np.array([[1, 2], [3, 4]]), np.array([True, False]), np.arange(3),
        np.zeros((2, 2), "float32"), np.array(3), np.array([0.5]), np.array([1, 2], "int32"), np.array([], "float32"),
        np.array([1.0, np.inf]), np.array([0.1], "float16"), np.array([2**40, -1]),
    ]
    return [(a.tolist(), str(a.dtype)) for a in constants]


@pytest.mark.parametrize("values, dtype", given_arrays())
@pytest.mark.parametrize("make", [paddle.to_tensor, paddle.assign])
def test_arrays_of_constants_become_tensors(values, dtype, make):
    def f(x):
        made = make(np.array(values, dtype))
        return made, x + 1.0, made.shape, str(made.dtype), made.stop_gradient

    same(f, (x(),), (x(),), (x(),), (x(),))


def test_arrays_of_constants_become_tensors_in_one_graph():
    def f(x):
        made = paddle.to_tensor(np.array([1.0, 2.0]).astype("float32"))
        table = paddle.to_tensor(np.arange(4, dtype="float32").reshape(2, 2), dtype="float32")
        return x + made, paddle.matmul(table, x), np.array(x.shape), paddle.assign(np.ones([2], "float32")) * x

    same(f, (x(),), (x(),), (x(),), (x(),), graphs=1, breaks=0, captures=1)


def test_tensors_made_of_an_array_are_apart_from_it():
    def f(x):
        array = np.array([1.0, 2.0], dtype="float32")
        made = paddle.to_tensor(array)
        made.add_(x)
        again = paddle.to_tensor(array)
        return made, again, array.tolist(), paddle.to_tensor(array, stop_gradient=False).stop_gradient

    same(f, (x(),), (x(),), (x(),), (x(),))


def test_texts_of_types_and_arrays_given_back():
    def f(x):
        one, other = np.array(0.5).astype("float32"), np.array([2])
        both = np.broadcast_arrays(one, one)
        said = str(one.dtype), repr(other.dtype), f"{other.dtype}", str(np.dtype("float16")), len(both), both[0] is one
        return x + paddle.assign(both[1]), said

    same(f, (x(),), (x(),), (x(),), graphs=1, breaks=0, captures=1)


def test_arrays_of_several_shapes_are_broadcast_for_real():
    def f(x):
        both = np.broadcast_arrays(np.array([1.0, 2.0]), np.array([[1.0], [2.0]]))
        return x * 2.0, [array.tolist() for array in both], [array.shape for array in both]

    same(f, (x(),), (x(),), (x(),))


def test_a_place_is_made_in_the_graph():
    def f(x):
        return x + paddle.to_tensor([1.0, 2.0], place=paddle.CPUPlace())

    same(f, (x(),), (x(),), (x(),), graphs=1, breaks=0, captures=1)


def test_a_device_and_places():
    def f(x):
        place = paddle.CPUPlace()
        return x + paddle.to_tensor([1.0, 2.0], place=place), x.device == "cpu", str(x.device), str(place)

    def g(x):
        return x * 2.0, x.device, paddle.CPUPlace()

    def h(x):
        one, other = paddle.CPUPlace(), paddle.CPUPlace()
        return x, one is other, one is one, one == one, one == other, one.is_cpu_place() if hasattr(one, "is_cpu_place") else 0

    for function in (f, g, h):
        same(function, (x(),), (x(),), (x(),))
