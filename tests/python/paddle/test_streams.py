"""Numbers that Python and numpy draw, around tensors: what the program gets, and where the streams stand afterwards."""

import random

import numpy as np
import paddle
import pytest
import sot


def streams():
    return random.getstate(), [part.tolist() if hasattr(part, "tolist") else part for part in np.random.get_state()]


def shown(value):
    if isinstance(value, paddle.Tensor):
        return value.shape, str(value.dtype), value.tolist()
    if isinstance(value, (list, tuple)):
        return [shown(v) for v in value]
    return type(value).__name__, repr(value)


def calls(function, times=6):
    """What so many calls come to, from the same state of the streams, and that state behind them."""
    random.seed(1)
    np.random.seed(2)
    paddle.seed(3)
    seen = []
    for at in range(times):
        try:
            seen.append(shown(function(paddle.ones([2]) * (at + 1))))
        except (IndexError, ValueError) as error:
            seen.append(str(error).splitlines()[-1])
        seen.append(streams())
    return seen


def scaled(x):
    return x * random.random() + np.random.rand(), random.random()


def kept_and_compared(x):
    a = np.random.uniform(0.0, 1.0)
    return x * a, a == a, a + 0.0, np.random.randint(3, 9), np.random.normal(), np.random.standard_normal()


def whole(x):
    n = random.randint(1, 6)
    return x * n, n % 2, random.randrange(100), random.getrandbits(70)


ONE_GRAPH = [scaled, kept_and_compared, whole]


def decides(x):
    return x * 2 if random.random() < 0.5 else x * np.random.rand()


def layers_left_out(x):
    for _ in range(4):
        if random.uniform(0, 1) < 0.3:
            continue
        x = x * 2
    return x


def chooses(x):
    return x * random.choice([1.0, 2.0]), int(np.random.choice(4)), np.random.permutation(3).tolist()


def gives_it_to_the_framework(x):
    return paddle.nn.functional.dropout(x, random.uniform(0.1, 0.2), training=False) + paddle.full([2], np.random.rand())


def arrays(x):
    return x + float(np.random.rand(2).sum()), np.random.rand(), np.random.randint(5, size=2).tolist()


def sets_states(x):
    before = np.random.get_state()
    a = np.random.rand()
    np.random.set_state(before)
    random.seed(5)
    return x * a + np.random.rand(), random.random()


@pytest.mark.parametrize("function", ONE_GRAPH)
def test_one_graph(function):
    plain = calls(function)
    sot.reset()
    assert calls(sot.to_static(function)) == plain
    stats = sot.stats()
    assert (stats["captures"], stats["graphs"], stats["breaks"]) == (1, 1, 0)


@pytest.mark.parametrize(
    "function", [decides, layers_left_out, chooses, gives_it_to_the_framework, arrays, sets_states]
)
def test_the_same_with_breaks(function):
    plain = calls(function)
    sot.reset()
    assert calls(sot.to_static(function)) == plain
    assert "internal-error" not in sot.stats()["reasons"]


def test_a_graph_that_fails_draws_once():
    """What is in bounds is known only when it runs: the original runs, from streams that nobody has moved."""

    def f(x):
        a = random.random()
        picked = paddle.gather(x, paddle.to_tensor([0]).astype("int64") + (x[0] > 3.5).astype("int64") * 7)
        return picked * a, np.random.rand()

    plain = calls(f)
    sot.reset()
    assert calls(sot.to_static(f)) == plain
