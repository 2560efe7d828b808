"""What cannot be captured works, or passes through unchanged with a stated reason."""

import asyncio
import functools
import math

import paddle
import pytest
import sot


def ones():
    return paddle.ones([2])


def generator(x):
    yield x * 2


async def coroutine(x):
    return x * 2


async def async_generator(x):
    yield x * 2


class Plain:
    def __init__(self, x):
        self.y = x * 2

    def __call__(self, x):
        return x * 3


@pytest.mark.parametrize(
    "thing, reason",
    [
        (generator, "generator"),
        (coroutine, "generator"),
        (async_generator, "generator"),
        (Plain, "not-python"),
        (Plain(1), "not-python"),
        (math.sqrt, "not-python"),
        (len, "not-python"),
        (str.upper, "not-python"),
        ([].append, "not-python"),
        (functools.partial(max, 1), "not-python"),
        (paddle.nn.Linear, "not-python"),
        (int, "not-python"),
    ],
    ids=lambda v: getattr(v, "__name__", None) or (v if isinstance(v, str) else type(v).__name__),
)
def test_passes_through_with_a_reason(thing, reason):
    assert sot.to_static(thing) is thing
    assert sot.to_static()(thing) is thing
    assert sot.stats()["reasons"] == {reason: 2}


@pytest.mark.parametrize("thing", [42, "f", [], ..., {}, 1.5], ids=repr)
def test_what_cannot_be_called_is_a_clear_error(thing):
    with pytest.raises(TypeError, match="expected a function, a method or a layer, not"):
        sot.to_static(thing)


def test_what_passes_through_still_works():
    assert [y.tolist() for y in sot.to_static(generator)(ones())] == [[2.0, 2.0]]
    assert asyncio.run(sot.to_static(coroutine)(ones())).tolist() == [2.0, 2.0]
    assert sot.to_static(Plain)(ones()).y.tolist() == [2.0, 2.0]
    assert sot.to_static(Plain(1))(ones()).tolist() == [3.0, 3.0]
    assert sot.to_static(math.sqrt)(4) == 2.0


def test_a_lambda():
    assert sot.to_static(lambda x: x + 1)(ones()).tolist() == [2.0, 2.0]
    assert sot.stats()["graphs"] == 1


def test_a_function_without_source():
    names = {}
    exec("def f(x):\n    return x * 2 + 1", names)
    assert sot.to_static(names["f"])(ones()).tolist() == [3.0, 3.0]
    assert sot.stats()["graphs"] == 1


def test_a_function_without_a_file():
    code = compile("def f(x):\n    y = x * 2\n    print(end='')\n    return y + 1", "", "exec")
    names = {}
    exec(code, names)
    f = sot.to_static(names["f"])
    for _ in range(2):
        assert f(ones()).tolist() == [3.0, 3.0]


def test_a_function_with_odd_names():
    names = {}
    exec("def f(x, ünï=1, *, λ=2):\n    ___sot_0 = x * λ\n    return ___sot_0 + ünï", names)
    f = sot.to_static(names["f"])
    assert f(ones(), λ=3).tolist() == [4.0, 4.0]
    assert f(ones(), 5).tolist() == [7.0, 7.0]


def test_a_function_without_globals_of_a_module():
    import types

    f = types.FunctionType((lambda x: x * 2).__code__, {})
    assert sot.to_static(f)(ones()).tolist() == [2.0, 2.0]


def test_a_long_function():
    lines = "\n".join(f"    x = x + {i}" for i in range(3000))
    names = {}
    exec(f"def f(x):\n{lines}\n    return x", names)
    f = sot.to_static(names["f"])
    for _ in range(2):
        assert f(paddle.zeros([1], dtype="float64")).tolist() == [sum(range(3000))]


def test_many_arguments():
    text = ", ".join(f"a{i}" for i in range(300))
    names = {}
    exec(f"def f({text}):\n    return {' + '.join(f'a{i}' for i in range(300))}", names)
    f = sot.to_static(names["f"])
    for _ in range(2):
        assert f(*[paddle.ones([1])] * 300).tolist() == [300.0]


def test_wrong_arguments_are_pythons_errors():
    def f(x, *, k):
        return x * k

    g = sot.to_static(f)
    for args, kwargs in [((), {}), ((1, 2), {}), ((1,), {"z": 1}), ((1,), {"k": 1, "x": 2})]:
        with pytest.raises(TypeError) as theirs:
            f(*args, **kwargs)
        with pytest.raises(TypeError) as ours:
            g(*args, **kwargs)
        assert str(ours.value) == str(theirs.value)


def test_to_static_without_anything_is_a_decorator():
    assert callable(sot.to_static())
    with pytest.raises(TypeError):
        sot.to_static()(42)
    with pytest.raises(TypeError):
        sot.to_static(ones, nonsense=True)


def test_a_layer_without_forward():
    class Empty(paddle.nn.Layer):
        pass

    net = sot.to_static(Empty())
    with pytest.raises(NotImplementedError):
        net(ones())


def test_a_layer_with_a_generator_forward():
    class Net(paddle.nn.Layer):
        def forward(self, x):
            yield x

    net = Net()
    assert sot.to_static(net) is net
    assert [y.tolist() for y in net(ones())] == [[1.0, 1.0]]
