"""Numbers that vary as positions: in a tensor that is read, in one that is written, in a tuple of several; in range, from behind, and out of
range. Two captures serve all of them, as eager computes."""

import numpy as np
import paddle
import pytest
import sot

TABLE = np.arange(48, dtype="float32").reshape([8, 3, 2])


def told(f, *args):
    """All that can be told of a call."""
    try:
        result = f(*args)
    except Exception as error:
        return type(error).__name__, str(error)
    parts = result if isinstance(result, (list, tuple)) else [result]
    return [(part.numpy().tobytes(), part.shape, str(part.dtype), part.stop_gradient) for part in parts]


def read(x, n):
    return x[n] * 2


def read_between(x, n):
    return x[:, n] + n


def read_at_two(x, n):
    return x[n, n - 1], x[n - 1, 0]


def read_behind_an_axis(x, n):
    return x[..., None, n]


def read_in_turn(x, n):
    return x[n][n - 1][0] + x[0, n]


def read_what_was_computed(x, n):
    y = x * 2
    return y[n] - y[n - 1, 0]


def read_by_an_array_beside(x, n):
    return x[paddle.to_tensor([0, 2]), n]


def write(x, n):
    y = paddle.zeros([8, 3, 2])
    y[n] = x[0]
    y[0, n] = 5.0
    y[:, :, n] = x[:, :, 0] * n
    return y


def ask_its_shape(x, n):
    y = x[n]
    return y.reshape([-1]) if y.shape[0] == 3 else y


PROGRAMS = [
    read,
    read_between,
    read_at_two,
    read_behind_an_axis,
    read_in_turn,
    read_what_was_computed,
    read_by_an_array_beside,
    write,
    ask_its_shape,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_two_captures_serve_all(program, counting):
    captured = sot.to_static(program)
    x = paddle.to_tensor(TABLE)
    with counting() as seen:
        for n in (1, 0, 1, -1, 1, -2, 0):
            assert told(program, x, n) == told(captured, x, n), n
    assert (seen.captures, seen.breaks, seen.fallbacks) == (2, 0, 0)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_out_of_range_is_eagers_error_and_leaves_nothing_behind(program, counting):
    captured = sot.to_static(program)
    x = paddle.to_tensor(TABLE)
    for n in (1, 0, 8, 1, -9, -1, 3, 1):
        assert told(program, x, n) == told(captured, x, n), n


@pytest.mark.parametrize("wrong", [1.5, 2.0, True, None, "a"], ids=repr)
def test_what_is_no_position(wrong):
    captured = sot.to_static(read)
    x = paddle.to_tensor(TABLE)
    for n in (1, 0, wrong, 1, wrong, 0):
        assert told(read, x, n) == told(captured, x, n), n


class Cache(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.position = 0
        self.register_buffer("table", paddle.to_tensor(TABLE))

    def forward(self, x):
        found = self.table[self.position] * x
        self.position += 1
        return found


def test_a_position_that_is_counted(counting):
    eager, net = Cache(), Cache()
    sot.to_static(net)
    x = paddle.ones([3, 2])
    with counting() as seen:
        for _ in range(8):
            assert told(eager, x) == told(net, x)
    assert (seen.captures, seen.breaks) == (2, 0)
    assert eager.position == net.position == 8


def test_gradients_flow_to_where_it_was_read():
    captured = sot.to_static(read_at_two)
    for n in (1, 2, -1, 1):
        grads = []
        for f in (read_at_two, captured):
            x = paddle.to_tensor(TABLE, stop_gradient=False)
            sum(part.sum() for part in f(x, n)).backward()
            grads.append(x.grad.numpy().tobytes())
        assert grads[0] == grads[1]


def read_a_part_of_a_row(x, n):
    y = x[n, :n]
    return y.sum() * y.shape[0]


def test_a_position_that_is_a_bound_as_well_is_a_constant(counting):
    captured = sot.to_static(read_a_part_of_a_row)
    x = paddle.to_tensor(TABLE)
    with counting() as seen:
        for n in (1, 2, 3, 2, 1):
            assert told(read_a_part_of_a_row, x, n) == told(captured, x, n), n
    assert (seen.captures, seen.graph_failures) == (3, 0)
