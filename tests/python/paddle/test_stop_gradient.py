"""`stop_gradient` is read and set inside of captured functions: one graph, with the flags and gradients that eager has."""

import os

os.environ["SOT_MEASURE"] = "0"

import paddle  # noqa: E402
import pytest  # noqa: E402
import sot  # noqa: E402
from gradients import CALLS, compare, compare_output, linear, seen  # noqa: E402


def of_a_result(x):
    y = x * 2
    y.stop_gradient = True
    return y, y * x, y.stop_gradient, (y + 1).stop_gradient


def of_a_result_with_a_layer(x):
    y = linear(x)
    y.stop_gradient = True
    return linear(y) + x, y


def to_and_fro(x):
    y = linear(x)
    a = y * 2
    y.stop_gradient = True
    b = y * 3
    y.stop_gradient = False
    c = y * 4
    return a, b, c, y


def at_the_end(x):
    y = linear(x)
    z = y * 2
    y.stop_gradient = True
    z.stop_gradient = True
    return y, z


def of_what_stops(x):
    with paddle.no_grad():
        y = linear(x)
    y.stop_gradient = False
    return y * 2, y * x


def of_an_argument(x):
    before = x.stop_gradient
    x.stop_gradient = False
    y = x * 2
    return y, before, x.stop_gradient, linear(x)


def of_an_argument_that_is_not_used(x):
    x.stop_gradient = False
    return linear(paddle.ones([3]))


def of_an_argument_for_a_while(x):
    a = x * 2
    was = x.stop_gradient
    x.stop_gradient = not was
    b = x * 3
    x.stop_gradient = was
    return a, b, x * a


def of_what_the_graph_makes(x):
    y = paddle.ones([3])
    y.stop_gradient = False
    return y * x, y


def to_what_it_is(x):
    y = linear(x)
    y.stop_gradient = y.stop_gradient
    x.stop_gradient = x.stop_gradient
    return y * x


def in_both_modes(x):
    y = x * 2
    with paddle.no_grad():
        y.stop_gradient = False
        z = y * x
    return z, y * x, z.stop_gradient


def decides(x):
    y = linear(x)
    y.stop_gradient = not x.stop_gradient
    return y * 2 if y.stop_gradient else y * x


FUNCTIONS = [
    of_a_result,
    of_a_result_with_a_layer,
    to_and_fro,
    at_the_end,
    of_what_stops,
    of_an_argument,
    of_an_argument_that_is_not_used,
    of_an_argument_for_a_while,
    of_what_the_graph_makes,
    to_what_it_is,
    in_both_modes,
    decides,
]


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize("entered", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_one_graph(function, entered, requires_grad):
    compare(function, entered, requires_grad=requires_grad)


def of_a_parameter(x):
    linear.weight.stop_gradient = True
    y = linear(x)
    linear.weight.stop_gradient = False
    return y, linear(x)


def test_of_a_parameter_of_a_layer_that_is_one_statement():
    compare(of_a_parameter)
    assert not linear.weight.stop_gradient


def test_a_parameter_that_stays_so():
    def f(x):
        linear.bias.stop_gradient = True
        return linear(x)

    wanted = seen(f, True)
    linear.bias.stop_gradient = False
    translated = sot.to_static(f)
    for _ in range(CALLS):
        assert seen(translated, True) == wanted
        assert linear.bias.stop_gradient
        linear.bias.stop_gradient = False


def prints_between(x):
    y = linear(x)
    y.stop_gradient = True
    x.stop_gradient = False
    print(y.stop_gradient, x.stop_gradient)
    z = y * x
    x.stop_gradient = True
    print(z.stop_gradient, x.stop_gradient)
    return y, z, x * 2


def test_a_break_finds_the_flags(capsys):
    compare_output(prints_between, True, capsys)


def sets_two(x):
    y = linear(x)
    z = y * 2
    # One step, of which the second half cannot be captured.
    list(map(setattr, (y, y), ("stop_gradient", "label"), (True, "second")))
    return z, y, y.stop_gradient


def sets_one_that_was_set(x):
    y = linear(x)
    y.stop_gradient = True
    z = y * x
    list(map(setattr, (y, y), ("stop_gradient", "label"), (False, "second")))
    return z, y, y * x


def sets_an_argument(x):
    y = x * 2
    list(map(setattr, (x, x), ("stop_gradient", "label"), (True, "second")))
    return y, linear(x)


@pytest.mark.parametrize("function", [sets_two, sets_one_that_was_set, sets_an_argument], ids=lambda f: f.__name__)
@pytest.mark.parametrize("requires_grad", [True, False])
def test_a_step_that_is_taken_back(function, requires_grad):
    wanted = seen(function, True, requires_grad)
    translated = sot.to_static(function)
    for call in range(CALLS):
        assert seen(translated, True, requires_grad) == wanted, f"call {call}"
    assert sot.stats()["breaks"] > 0


def test_a_failing_graph_leaves_the_flags():
    table = paddle.ones([4, 3])

    def f(x, index):
        y = x * 1
        x.stop_gradient = False
        z = paddle.nn.functional.embedding(index, table) * x
        return y, z

    translated = sot.to_static(f)
    for _ in range(6):
        x = paddle.ones([3])
        y, z = translated(x, paddle.to_tensor([1]))
        assert (y.stop_gradient, z.stop_gradient, x.stop_gradient) == (True, False, False)
        x = paddle.ones([3])
        with pytest.raises(Exception):
            translated(x, paddle.to_tensor([9]))
        # As the plain function leaves it: set, and then the failure.
        assert not x.stop_gradient


def test_two_arguments_that_may_be_one():
    def f(x, y):
        x.stop_gradient = False
        return y * 2, y.stop_gradient

    translated = sot.to_static(f)
    for call in range(8):
        x, y = paddle.ones([2]), paddle.ones([2])
        if call % 3 == 2:
            y = x
        z, stops = translated(x, y)
        assert z.stop_gradient == stops == (y is not x)


@pytest.mark.parametrize("value", [1, 0, "yes"])
def test_what_is_no_bool_is_paddles_affair(value):
    def f(x):
        y = x * 2
        try:
            y.stop_gradient = value
        except TypeError as error:
            return type(error).__name__
        return y.stop_gradient

    x = paddle.ones([2])
    translated = sot.to_static(f)
    for _ in range(3):
        assert translated(x) == f(x)
