"""Gradients that a captured function reads are read by its graph, before and behind backward passes and steps.

What a gradient is, None or a tensor, decides what the program does. So each program runs beside itself as plain Python, through both doors.
What is one graph is said by hand.
"""

import paddle
import paddle.nn.functional as F
import pytest
from training import by_an_entry, by_the_hook, registry, with_optimizer

PROGRAMS, program = registry()


@program(1, 0)
def norm_behind_a_backward_pass():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        total = paddle.zeros([1])
        with paddle.no_grad():
            for parameter in net.parameters():
                total = total + (parameter.grad * parameter.grad).sum()
        optimizer.step()
        optimizer.clear_grad()
        return loss, total.sqrt()

    return f, [net]


@program(1, 0)
def norm_clipped():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        norm = paddle.nn.utils.clip_grad_norm_(net.parameters(), 0.05)
        optimizer.step()
        optimizer.clear_grad()
        return loss, norm

    return f, [net]


@program(1, 0)
def value_clipped():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        paddle.nn.utils.clip_grad_value_(net.parameters(), 0.01)
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program(1, 0)
def scaled_in_place():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        with paddle.no_grad():
            for parameter in net.parameters():
                parameter.grad.scale_(0.5)
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program(1, 0)
def returned():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        gradients = [parameter.grad for parameter in net.parameters()]
        shapes = [gradient.shape for gradient in gradients], gradients[0].stop_gradient, gradients[0].dtype
        optimizer.step()
        return loss, gradients, shapes

    return f, [net]


@program(2, 0)
def whether_there_is_one_decides():
    """None in the first call, a tensor from then on."""
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        before = net.first.weight.grad is None
        if before:
            loss = loss * 2
        loss.backward()
        behind = net.first.weight.grad is None
        optimizer.step()
        return loss, before, behind

    return f, [net]


def cleared_each_third(net):
    def happen(call):
        if call % 3 == 2:
            for parameter in net.parameters():
                parameter.clear_gradient(False)

    return happen


@program(2, 0)
def cleared_from_outside():
    net, optimizer = with_optimizer()

    def f(x, y):
        gradient = net.first.weight.grad
        loss = F.cross_entropy(net(x), y)
        if gradient is not None:
            loss = loss + 0 * gradient.detach().sum()
        loss.backward()
        optimizer.step()
        return loss, gradient

    return f, [net], cleared_each_third(net)


@program()
def not_reached():
    net, optimizer = with_optimizer()
    other = paddle.nn.Linear(4, 2)

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        seen = [parameter.grad is None for parameter in other.parameters()]
        optimizer.step()
        return loss, seen, other.weight.grad

    return f, [net, other]


@program()
def cleared_and_read():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.clear_grad(set_to_zero=False)
        cleared = net.first.weight.grad
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.clear_grad()
        return loss, cleared, net.first.weight.grad

    return f, [net]


@program(1, 0)
def read_between_two_passes():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward(retain_graph=True)
        first = net.first.weight.grad
        once = first.sum()
        loss.backward()
        second = net.first.weight.grad.sum()
        optimizer.step()
        optimizer.clear_grad()
        return once, first, second

    return f, [net]


@program(1, 0)
def of_an_argument_made_a_leaf():
    paddle.seed(1)
    layer = paddle.nn.Linear(4, 3)

    def f(x, y):
        point = x.detach()
        point.stop_gradient = False
        before = point.grad
        F.cross_entropy(layer(point), y).backward()
        return layer.weight.grad * 2, layer.bias.grad, before, x + 0.1 * point.grad.sign()

    return f, [layer]


@program(1, 0)
def set_to_none():
    net, optimizer = with_optimizer()

    def f(x, y):
        for parameter in net.parameters():
            parameter.grad = None
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return f, [net]


@program(1, 0)
def steps_by_hand():
    net, _ = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        with paddle.no_grad():
            for parameter in net.parameters():
                parameter.subtract_(0.1 * parameter.grad)
                parameter.clear_gradient()
        return loss

    return f, [net]


@program()
def set_to_something_else():
    net, _ = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        net.first.weight.grad = 3
        return loss

    return f, [net]


@program()
def dense_and_sparse_in_turn():
    paddle.seed(1)
    table = paddle.nn.Embedding(4, 3)
    other = paddle.nn.Embedding(4, 3, sparse=True)
    other.weight = table.weight

    def f(x, y):
        gradient = table.weight.grad
        return gradient is None or (gradient.is_selected_rows(), gradient.shape)

    def train(call):
        table.weight.clear_gradient(False)
        (table, other)[call % 2](paddle.to_tensor([1, 2])).sum().backward()

    return f, [], train


@program(2, 0)
def a_trainer():
    class Trainer:
        def __init__(self):
            self.net, self.optimizer = with_optimizer()
            self.count, self.mean = 0, {}

        def step(self, x, y):
            self.net.train()
            self.count += 1
            loss = F.cross_entropy(self.net(x), y)
            loss.backward()
            norm = paddle.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.clear_grad()
            with paddle.no_grad():
                for name, parameter in self.net.named_parameters():
                    self.mean[name] = parameter.clone() if self.count == 1 else self.mean[name] * 0.9 + parameter * 0.1
            return {"loss": loss, "norm": norm, "count": self.count, "mean": list(self.mean.values())}

    trainer = Trainer()
    return trainer.step, [trainer.net]


@program()
def scaled_losses():
    net, optimizer = with_optimizer()
    scaler = paddle.amp.GradScaler(init_loss_scaling=1024)

    def f(x, y):
        with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
            loss = F.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program(1, 0)
def of_a_computed_leaf():
    paddle.seed(1)
    layer = paddle.nn.Linear(4, 3)

    def f(x, y):
        point = paddle.to_tensor([[1.0, 2.0, 3.0, 4.0]], stop_gradient=False)
        layer(point).sum().backward()
        return point.grad, layer.weight.grad

    return f, [layer]


@program()
def intermediate():
    net, optimizer = with_optimizer()

    def f(x, y):
        hidden = net.first(x)
        loss = F.cross_entropy(net.second(F.relu(hidden)), y)
        loss.backward()
        return loss, hidden.grad, net.second.weight.grad

    return f, [net]


@program()
def sparse():
    paddle.seed(1)
    table = paddle.nn.Embedding(4, 3, sparse=True)

    def f(x, y):
        loss = table(y).sum()
        loss.backward()
        gradient = table.weight.grad
        return loss, gradient.is_selected_rows()

    return f, [table]


@program(1, 0)
def in_a_helper():
    net, optimizer = with_optimizer()

    def norms():
        return [p.grad.abs().max() for p in net.parameters() if p.grad is not None]

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        found = norms()
        optimizer.step()
        optimizer.clear_grad()
        return loss, found

    return f, [net]


@program(1, 0)
def only_read():
    """The training is elsewhere."""
    net, optimizer = with_optimizer()

    def train(call):
        paddle.seed(call)
        net(paddle.randn([3, 4])).sum().backward()

    def f(x, y):
        return sum((p.grad**2).sum() for p in net.parameters() if p.grad is not None)

    return f, [net], train


@program()
def a_hook_replaces_it():
    net, optimizer = with_optimizer()
    net.first.weight.register_hook(lambda gradient: gradient * 2)

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        found = net.first.weight.grad
        optimizer.step()
        optimizer.clear_grad()
        return loss, found

    return f, [net]


@program(1, 0)
def set_by_the_program():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        for parameter in net.parameters():
            parameter.grad = parameter.grad * 0.5
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def behind_a_print():
    net, optimizer = with_optimizer()

    def f(x, y):
        before = net.first.weight.grad
        loss = F.cross_entropy(net(x), y)
        print(before is None)
        loss.backward()
        print(net.first.weight.grad is None, before is None)
        return loss, net.first.weight.grad

    return f, [net]


@program()
def scaled_where_it_may_not():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        net.first.weight.grad.scale_(0.5)
        return loss

    return f, [net]


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_read_by_an_entry(name):
    by_an_entry(*PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_read_by_the_hook(name):
    by_the_hook(PROGRAMS[name][0])
