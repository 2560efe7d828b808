"""Backward passes, steps of optimizers and what clears gradients are operations of the graph.

They change what the framework keeps, and a backward pass may call hooks of the program, which may do anything. So each program here runs
beside itself as plain Python, through both doors: results, errors, parameters, gradients and what hooks have seen are the same at each
call; and what is one graph is said by hand.
"""

import os
import traceback

os.environ["SOT_MEASURE"] = "0"

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
import pytest  # noqa: E402

import sot  # noqa: E402


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 3)
        self.flag, self.count, self.log = False, 0, []

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


def sgd(parameters):
    return paddle.optimizer.SGD(0.1, parameters=parameters)


def with_optimizer(make=sgd):
    paddle.seed(1)
    net = Net()
    return net, make(net.parameters())


PROGRAMS = {}


def program(graphs=None, breaks=None):
    """A maker of a world: a function of a batch, its layers, and what else happens before which call."""

    def add(make):
        PROGRAMS[make.__name__] = make, graphs, breaks
        return make

    return add


OPTIMIZERS = {
    "sgd": sgd,
    "momentum": lambda parameters: paddle.optimizer.Momentum(0.1, parameters=parameters, use_nesterov=True),
    "adam": lambda parameters: paddle.optimizer.Adam(0.01, parameters=parameters),
    "adamw": lambda parameters: paddle.optimizer.AdamW(0.01, parameters=parameters, weight_decay=0.1),
    "rmsprop": lambda parameters: paddle.optimizer.RMSProp(0.01, parameters=parameters),
    "clipped": lambda parameters: paddle.optimizer.SGD(
        0.1, parameters=parameters, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.05)
    ),
    "groups": lambda parameters: paddle.optimizer.Adam(
        0.01, parameters=[{"params": parameters[:2], "learning_rate": 0.5}, {"params": parameters[2:]}]
    ),
}


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


def seen_by_a_hook(late):
    """What the function has done before a backward pass, a hook sees: one that was there, or one that comes with the fourth call."""

    def make():
        net, optimizer = with_optimizer()
        state = {"steps": 0}
        seen = []

        def hook(gradient):
            seen.append((net.count, len(net.log), dict(state), net.flag))
            net.count += 10

        if not late:
            net.first.weight.register_hook(hook)

        def f(x, y):
            net.count += 1
            state["steps"] += 1
            loss = F.cross_entropy(net(x), y)
            net.log.append(float(len(net.log)))
            net.flag = not net.flag
            loss.backward()
            net.count += 1
            optimizer.step()
            optimizer.clear_grad()
            state["steps"] += 1
            return loss, net.count, dict(state), list(seen)

        def happens(call):
            if call == 3 and late:
                net.first.weight.register_hook(hook)

        return f, [net], happens

    return make


PROGRAMS["a_hook_sees_what_was_done"] = seen_by_a_hook(False), None, None
PROGRAMS["a_late_hook_sees_what_was_done"] = seen_by_a_hook(True), None, None


@program()
def a_hook_that_raises_behind_what_was_done():
    net, optimizer = with_optimizer()

    def hook(gradient):
        if net.count % 3 == 2:
            raise ValueError(f"at {net.count}")

    net.second.bias.register_hook(hook)

    def f(x, y):
        net.count += 1
        net.log.append(net.count)
        try:
            F.cross_entropy(net(x), y).backward()
            net.count += 5
            optimizer.step()
        except ValueError as error:
            net.log.append(str(error).partition("\n")[0])
        except Exception as error:
            net.log.append(type(error).__name__)
        finally:
            optimizer.clear_grad()
        return net.count

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


def hooked(hook, read_before, read_after):
    """A hook that changes what the function reads before and behind the backward pass."""

    def make():
        net, optimizer = with_optimizer()
        net.first.weight.register_hook(lambda gradient: hook(net))

        def f(x, y):
            before = read_before(net)
            loss = F.cross_entropy(net(x), y) * (2.0 if before else 1.0)
            loss.backward()
            after = read_after(net)
            if after:
                loss = loss + 1
            optimizer.step()
            optimizer.clear_grad()
            return loss, before, after, f"{before} {after}"

        return f, [net]

    return make


def flips(net):
    net.flag = not net.flag


def counts(net):
    net.count += 1


def logs(net):
    net.log.append(len(net.log))


def replaces(net):
    net.log = [*net.log, 1]


READS = {
    "nothing": lambda net: None,
    "flag": lambda net: net.flag,
    "count": lambda net: net.count,
    "length": lambda net: len(net.log),
    "list": lambda net: list(net.log),
}
# Hooks, and by what their work is seen.
HOOKS = {flips: ["flag"], counts: ["count"], logs: ["length", "list"], replaces: ["length", "list"]}
for hook, reads in HOOKS.items():
    for before in ["nothing", *reads]:
        for after in ["nothing", *reads]:
            made = hooked(hook, READS[before], READS[after])
            PROGRAMS[f"hook_that_{hook.__name__}_with_{before}_before_and_{after}_after"] = made, None, None


@program()
def a_hook_that_raises():
    net, optimizer = with_optimizer()

    def hook(gradient):
        net.count += 1
        if net.count % 2:
            raise ValueError(f"no {net.count}")

    net.first.weight.register_hook(hook)

    def f(x, y):
        try:
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
        except Exception as error:
            return type(error).__name__, net.count
        finally:
            optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def a_hook_that_raises_out_of_the_function():
    net, optimizer = with_optimizer()

    def hook(gradient):
        net.count += 1
        if net.count == 2:
            raise KeyError("no")

    net.second.weight.register_hook(hook)

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net]


@program()
def a_hook_that_comes_later():
    net, optimizer = with_optimizer()

    def hook(gradient):
        net.flag = True

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        if net.flag:
            optimizer.clear_grad()
            return loss * 5
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return f, [net], lambda call: net.second.weight.register_hook(hook) if call == 3 else None


@program()
def a_hook_that_changes_the_optimizer():
    net, optimizer = with_optimizer()
    box = {"optimizer": optimizer}

    def hook(gradient):
        box["optimizer"] = paddle.optimizer.SGD(0.01, parameters=net.parameters())

    net.first.weight.register_hook(hook)

    def f(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        box["optimizer"].step()
        box["optimizer"].clear_grad()
        return loss

    return f, [net]


@program()
def a_hook_of_the_frame():
    net, optimizer = with_optimizer()

    def f(x, y):
        seen = []
        out = net(x)
        out.register_hook(lambda gradient: seen.append(gradient.sum()))
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, seen

    return f, [net]


@program()
def a_clip_of_the_program():
    net, _ = with_optimizer()

    class Clip(paddle.nn.ClipGradByGlobalNorm):
        def _dygraph_clip(self, given):
            net.flag = not net.flag
            return super()._dygraph_clip(given)

    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters(), grad_clip=Clip(0.5))

    def f(x, y):
        before = net.flag
        loss = F.cross_entropy(net(x), y) * (3.0 if before else 1.0)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, before, net.flag

    return f, [net]


@program()
def a_clip_that_comes_later():
    net, optimizer = with_optimizer()

    class Clip(paddle.nn.ClipGradByGlobalNorm):
        def _dygraph_clip(self, given):
            net.count += 1
            return super()._dygraph_clip(given)

    def f(x, y):
        before = net.count
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, before, net.count

    def happens(call):
        if call == 3:
            optimizer._grad_clip = Clip(0.5)

    return f, [net], happens


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


def told(value):
    if isinstance(value, paddle.Tensor):
        kind = type(value).__name__, str(value.dtype), tuple(value.shape), value.stop_gradient, value.is_leaf
        return (*kind, value.astype("float32").numpy().tobytes())
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [told(item) for item in value]
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    return repr(value)


def raised(error):
    lines = [(frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__) if frame.name == "f"]
    # Behind its first line Paddle tells of its own stack.
    return type(error).__name__, str(error).partition("\n")[0], lines


def state(net):
    own = [(net.flag, net.count, told(net.log))] if isinstance(net, Net) else []
    parameters = [(told(parameter), told(parameter.grad)) for parameter in net.parameters()]
    return own, parameters, [told(buffer) for buffer in net.buffers()]


def course(make, captured):
    """What becomes of a program, call by call."""
    f, nets, *happens = make()
    paddle.seed(5)
    batches = [(paddle.randn([6, 4]), paddle.randint(0, 3, [6])) for _ in range(6)]
    f = captured(f)
    became = []
    for call, batch in enumerate(batches):
        for happen in happens:
            happen(call)
        try:
            result = told(f(*batch))
        except Exception as error:
            result = raised(error)
        became.append((result, [state(net) for net in nets], told(paddle.rand([1]))))
    return became


@pytest.mark.parametrize("name", PROGRAMS)
def test_by_an_entry(name):
    make, graphs, breaks = PROGRAMS[name]
    plain = course(make, lambda f: f)
    sot.reset()
    assert course(make, sot.to_static) == plain
    stats = sot.stats()
    if graphs is not None:
        assert (stats["graphs"], stats["breaks"], stats["graph_failures"]) == (graphs, breaks, 0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_by_the_hook(name):
    make, *_ = PROGRAMS[name]
    plain = course(make, lambda f: f)
    sot.reset()

    def seen(f):
        def call(*batch):
            sot._sot._capture_all(True)
            try:
                return f(*batch)
            finally:
                sot._sot._capture_all(False)

        return call

    assert course(make, seen) == plain


def test_an_optimizer_goes_with_its_last_owner():
    import gc
    import weakref

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
