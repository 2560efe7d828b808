"""Backward passes, steps of optimizers and what clears gradients are operations of the graph.

They change what the framework keeps. So each program here runs beside itself as plain Python, through both doors: results, errors, parameters
and gradients are the same at each call; and what is one graph is said by hand. Of hooks see test_training_hooks.
"""

import gc
import weakref

import paddle
import paddle.nn.functional as F
import pytest
from training import OPTIMIZERS, by_an_entry, by_the_hook, registry, sgd, with_optimizer

import sot

PROGRAMS, program = registry()


def of_optimizer(make_optimizer):
    def make():
        net, optimizer = with_optimizer(make_optimizer)

        def f(x, y):
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        return f, [net]

    return make


for name, make in OPTIMIZERS.items():
    PROGRAMS[f"step_of_{name}"] = of_optimizer(make), 1, 0


@program(1, 0)
def gradients_kept():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward(retain_graph=True)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad(set_to_zero=False)
        return loss

    return f, [net]


@program(1, 0)
def two_optimizers():
    paddle.seed(1)
    made, judge = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 1)
    of_made = paddle.optimizer.Adam(0.01, parameters=made.parameters())
    of_judge = paddle.optimizer.Adam(0.01, parameters=judge.parameters())

    def f(x, y):
        fake = made(x)
        judged = F.softplus(judge(fake.detach())).mean() + F.softplus(-judge(x)).mean()
        judged.backward()
        of_judge.step()
        of_judge.clear_grad()
        fooled = F.softplus(-judge(fake)).mean()
        fooled.backward()
        of_made.step()
        of_made.clear_grad()
        of_judge.clear_grad()
        return judged, fooled

    return f, [made, judge]


@program(1, 0)
def what_is_computed_behind_the_step():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, net.first.weight.sum(), net(x)

    return f, [net]


@program(1, 0)
def several_steps_of_one_call():
    net, optimizer = with_optimizer()

    def f(x, y):
        losses = []
        for _ in range(3):
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(loss)
        return losses

    return f, [net]


@program(1, 0)
def a_moving_average_behind_the_step():
    net, optimizer = with_optimizer()
    averages = [parameter.clone().detach() for parameter in net.parameters()]

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        with paddle.no_grad():
            for average, parameter in zip(averages, net.parameters()):
                average.scale_(0.9).add_(parameter * 0.1)
        return loss, [average * 1 for average in averages]

    return f, [net]


@program(2, 0)
def a_trainer_that_counts():
    class Trainer:
        def __init__(self):
            self.net, self.optimizer = with_optimizer()
            self.steps, self.history = 0, []

        def update(self, loss):
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()

        def train(self, x, y):
            loss = F.cross_entropy(self.net(x), y)
            self.update(loss)
            self.steps += 1
            self.history.append(self.steps)
            return {"loss": loss, "steps": self.steps}

    trainer = Trainer()
    return trainer.train, [trainer.net]


@program(2, 0)
def a_schedule():
    net, _ = with_optimizer()
    schedule = paddle.optimizer.lr.StepDecay(0.1, step_size=2)
    optimizer = paddle.optimizer.Momentum(schedule, parameters=net.parameters())

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        return loss

    return f, [net]


@program(1, 0)
def lower_precision():
    net, optimizer = with_optimizer()

    def f(x, y):
        with paddle.amp.auto_cast(dtype="bfloat16"):
            loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def a_scaler():
    net, optimizer = with_optimizer()
    scaler = paddle.amp.GradScaler(init_loss_scaling=16.0)

    def f(x, y):
        with paddle.amp.auto_cast(dtype="bfloat16"):
            loss = F.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program(2, 0)
def a_count_before_the_step():
    net, optimizer = with_optimizer()

    def f(x, y):
        net.count += 1
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        net.log.append(net.count)
        return loss, net.count

    return f, [net]


STEPS = 0


@program(2, 0)
def counts_in_many_places_before_the_step():
    net, optimizer = with_optimizer()
    state, history, calls = {"steps": 0}, [], 0

    def f(x, y):
        global STEPS
        nonlocal calls
        STEPS += 1
        calls += 1
        state["steps"] += 1
        loss = F.cross_entropy(net(x), y)
        history.append(loss)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, calls, dict(state), len(history)

    return f, [net]


@program()
def a_rate_that_is_set_before_the_step():
    net, optimizer = with_optimizer()

    def f(x, y):
        net.count += 1
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.set_lr(0.1 / net.count)
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def a_schedule_before_the_step():
    net, _ = with_optimizer()
    schedule = paddle.optimizer.lr.ExponentialDecay(0.1, 0.5)
    optimizer = paddle.optimizer.SGD(schedule, parameters=net.parameters())

    def f(x, y):
        schedule.step()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def groups_that_are_changed_before_the_step():
    net, _ = with_optimizer()
    parameters = net.parameters()
    groups = [{"params": parameters[:2], "learning_rate": 0.5}, {"params": parameters[2:]}]
    optimizer = paddle.optimizer.SGD(0.1, parameters=groups)

    def f(x, y):
        groups[0]["learning_rate"] = groups[0]["learning_rate"] * 0.5
        optimizer._param_groups[1]["learning_rate"] = 0.25
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def a_parameter_is_frozen_before_the_step():
    net, optimizer = with_optimizer()

    def f(x, y):
        net.count += 1
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        net.first.weight.stop_gradient = net.count % 2 == 0
        optimizer.step()
        net.first.weight.stop_gradient = False
        optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def gradients_that_are_read():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        norm = net.first.weight.grad.norm()
        optimizer.step()
        optimizer.clear_grad()
        return loss, norm, net.first.weight.grad is None

    return f, [net]


@program()
def accumulated_gradients():
    net, optimizer = with_optimizer()
    state = {"calls": 0}

    def f(x, y):
        loss = F.cross_entropy(net(x), y) / 2
        loss.backward()
        state["calls"] += 1
        if state["calls"] % 2 == 0:
            optimizer.step()
            optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def gradients_of_an_argument():
    net, optimizer = with_optimizer()

    def f(x, y):
        x = x.detach()
        x.stop_gradient = False
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        return loss, x.grad

    return f, [net]


@program()
def an_optimizer_of_the_program():
    calls = []

    class Mine(paddle.optimizer.SGD):
        def step(self):
            calls.append(len(calls))
            super().step()

    net, optimizer = with_optimizer(lambda parameters: Mine(0.1, parameters=parameters))

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, len(calls)

    return f, [net]


@program()
def a_step_that_is_replaced():
    net, optimizer = with_optimizer()
    calls = []

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, len(calls)

    def happens(call):
        if call == 2:
            step = optimizer.step
            optimizer.step = lambda: (calls.append(1), step())

    return f, [net], happens


@program()
def an_optimizer_for_each_call():
    net, _ = with_optimizer()

    def f(x, y):
        optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def a_pass_that_was_made_already():
    net, optimizer = with_optimizer()

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        try:
            loss.backward()
        except RuntimeError:
            again = "refused"
        else:
            again = "made"
        optimizer.step()
        optimizer.clear_grad()
        return loss, again

    return f, [net]


@program()
def a_loss_without_gradient():
    net, optimizer = with_optimizer()

    def f(x, y):
        with paddle.no_grad():
            loss = F.cross_entropy(net(x), y)
        try:
            loss.backward()
        except Exception as error:
            return type(error).__name__
        return loss

    return f, [net]


@program()
def a_function_with_its_own_derivative():
    net, optimizer = with_optimizer()

    class Cube(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensor()
            net.count += 1
            return 3 * x * x * gradient

    def f(x, y):
        loss = F.cross_entropy(Cube.apply(net(x)), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, net.count

    return f, [net]


@program()
def batch_statistics():
    paddle.seed(1)
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.BatchNorm1D(8), paddle.nn.Dropout(0.3), paddle.nn.Linear(8, 3))
    optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


def read_before(read, make_optimizer=sgd):
    """What the framework changes itself is read before and behind."""

    def make():
        net, optimizer = with_optimizer(make_optimizer)

        def f(x, y):
            before = read(net, optimizer)
            loss = F.cross_entropy(net(x), y) * (2.0 if before else 1.0)
            loss.backward()
            between = read(net, optimizer)
            optimizer.step()
            behind = read(net, optimizer)
            optimizer.clear_grad(False)
            return loss, before, between, behind, read(net, optimizer)

        return f, [net]

    return make


READ = {
    "gradient": lambda net, optimizer: net.first.weight.grad is None,
    "all_gradients": lambda net, optimizer: any(one.grad is not None for one in net.parameters()),
    "accumulators": lambda net, optimizer: len(optimizer._accumulators),
    "helper": lambda net, optimizer: optimizer.helper is None,
    "names": lambda net, optimizer: len(optimizer._opti_name_list),
    "version": lambda net, optimizer: net.first.weight.inplace_version,
}
for name, read in READ.items():
    PROGRAMS[f"reads_{name}"] = read_before(read, OPTIMIZERS["adam"]), None, None


@program()
def gradients_are_cleared_at_the_start():
    net, optimizer = with_optimizer()

    def f(x, y):
        if net.first.weight.grad is not None:
            optimizer.clear_grad(set_to_zero=False)
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return f, [net]


def written_before(write, make_optimizer=sgd):
    """What the optimizer reads when it steps is written before, by a way of its own."""

    def make():
        net, optimizer = with_optimizer(make_optimizer)
        writes = write(net, optimizer)
        calls = 0

        def f(x, y):
            nonlocal calls
            calls += 1
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            writes(calls)
            optimizer.step()
            optimizer.clear_grad()
            return loss

        return f, [net]

    return make


def rate_of_a_parameter(net, optimizer):
    weight = net.first.weight

    def writes(calls):
        weight.optimize_attr["learning_rate"] = 1.0 / calls

    return writes


def alias_of_rates(net, optimizer):
    rates = net.first.weight.optimize_attr

    def writes(calls):
        rates["learning_rate"] = 1.0 / calls

    return writes


def alias_of_groups(net, optimizer):
    defaults = optimizer._param_groups[0]

    def writes(calls):
        defaults["learning_rate"] = 0.5 / calls

    return writes


def alias_of_parameters(net, optimizer):
    parameters = optimizer._parameter_list

    def writes(calls):
        if calls % 2:
            parameters.append(parameters.pop(0))
        elif calls == 4:
            parameters.pop()

    return writes


def state_of_a_schedule(net, optimizer):
    schedule = paddle.optimizer.lr.StepDecay(0.1, 100)
    optimizer.set_lr_scheduler(schedule)
    state = vars(schedule)

    def writes(calls):
        state["last_lr"] = 0.5 / calls

    return writes


def bound_of_a_clip(net, optimizer):
    class Clip(paddle.nn.ClipGradByValue):
        max = 0.01

        def __init__(self):
            self.min = -0.01

    optimizer._grad_clip = Clip()

    def writes(calls):
        Clip.max = 0.01 / calls

    return writes


def names_that_decay(net, optimizer):
    names = []
    optimizer._apply_decay_param_fun = names.__contains__

    def writes(calls):
        names.append(net.first.weight.name)

    return writes


WRITES = {
    rate_of_a_parameter: sgd,
    alias_of_rates: sgd,
    alias_of_groups: OPTIMIZERS["groups"],
    alias_of_parameters: sgd,
    state_of_a_schedule: sgd,
    bound_of_a_clip: sgd,
    names_that_decay: OPTIMIZERS["adamw"],
}
for write, make_optimizer in WRITES.items():
    PROGRAMS[f"writes_{write.__name__}"] = written_before(write, make_optimizer), None, None


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_by_an_entry(name):
    by_an_entry(*PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_by_the_hook(name):
    by_the_hook(PROGRAMS[name][0])


def test_an_optimizer_goes_with_its_last_owner():
    net, optimizer = with_optimizer()

    def f(x, optimizer):
        net(x).mean().backward()
        optimizer.step()
        optimizer.clear_grad()

    f = sot.to_static(f)
    f(paddle.ones([2, 4]), optimizer)
    f(paddle.ones([2, 4]), sgd(net.parameters()))
    assert (sot.stats()["graphs"], sot.stats()["breaks"]) == (1, 0)
    gone = weakref.ref(optimizer)
    del optimizer
    gc.collect()
    assert gone() is None


NET, OPTIMIZER = with_optimizer()
COUNT = 0


def a_step_of_a_script(x, y):
    global COUNT
    COUNT += 1
    loss = F.cross_entropy(NET(x), y)
    loss.backward()
    OPTIMIZER.step()
    OPTIMIZER.clear_grad()
    return loss


def test_what_is_global_is_as_good():
    f = sot.to_static(a_step_of_a_script)
    for _ in range(4):
        f(paddle.randn([6, 4]), paddle.randint(0, 3, [6]))
    assert sot.stats()["breaks"] == 0
