"""What the program is told of a result that is computed behind an operation that acts, also where the framework infers something else.

What such an operation did stays done, so a run that finds the framework wrong goes on behind the operation.
"""

import paddle
import pytest
from test_told_of_results import EXPRESSIONS, READS, outcome, x_of
from training import Net, by_an_entry, by_the_hook, registry, told

import sot

PROGRAMS, program = registry()


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_what_is_told_behind_a_write(name, read):
    expression, dtypes = EXPRESSIONS[name]

    def world():
        count = paddle.zeros([2])
        log = []

        def f(x):
            log.append(len(log))
            count.add_(paddle.ones([2]))
            y = READS[read](expression(x))
            return *y, count * 2, *log

        return f, count

    for dtype in dtypes:
        x = x_of(dtype)
        (plain, of_plain), (captured, of_captured) = world(), world()
        captured = sot.to_static(captured)
        for _ in range(3):
            assert outcome(captured, x) == outcome(plain, x)
            assert told(of_captured) == told(of_plain)


@program(1, 0)
def a_shape_behind_a_step():
    paddle.seed(1)
    net = Net()
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())

    def f(x, y):
        net(x).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
        hidden = net.first(x)
        rows = hidden.shape[0]
        loss = hidden.reshape([rows, -1]).mean() * len(hidden) / hidden.shape[1]
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, rows

    return f, [net]


@program(1, 0)
def two_players():
    paddle.seed(1)
    maker, judge = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 1)
    of_maker = paddle.optimizer.Adam(0.01, parameters=maker.parameters())
    of_judge = paddle.optimizer.Adam(0.01, parameters=judge.parameters())

    def f(x, y):
        batch = x.shape[0]
        false = maker(paddle.ones([batch, 4]))
        of_real, of_false = judge(x), judge(false.detach())
        loss = of_false.mean() - of_real.mean()
        loss.backward()
        of_judge.step()
        of_judge.clear_grad()
        false = maker(paddle.ones([batch, 4]))
        loss_of_maker = -judge(false).reshape([false.shape[0]]).sum() / batch
        loss_of_maker.backward()
        of_maker.step()
        of_maker.clear_grad()
        of_judge.clear_grad()
        return loss, loss_of_maker

    return f, [maker, judge]


@pytest.mark.parametrize("name", PROGRAMS)
def test_told_behind_acts_by_an_entry(name):
    by_an_entry(*PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_told_behind_acts_by_the_hook(name):
    by_the_hook(PROGRAMS[name][0])
