"""Hooks of layers, walks over what a layer holds, and questions to Paddle about where it runs: one graph, as eager has it."""

import os

os.environ["SOT_MEASURE"] = "0"

import paddle  # noqa: E402
import pytest  # noqa: E402
import sot  # noqa: E402
from paddle import nn  # noqa: E402

CALLS = 10


def picture(value):
    if isinstance(value, paddle.Tensor):
        return (value.numpy().tolist(), value.stop_gradient)
    if isinstance(value, (list, tuple)):
        return [picture(v) for v in value]
    if isinstance(value, dict):
        return [(k, picture(v)) for k, v in value.items()]
    return value


def observed(f, x, log):
    log.clear()
    try:
        result = f(x)
    except Exception as error:
        result = [type(error).__name__, str(error)]
    return picture(result), list(log)


def agree(make, graphs=1, breaks=0, captures=None):
    """`make(log)` gives a function; it is called plain and captured, each on a world of its own."""
    x = paddle.to_tensor([[1.0, -2.0]])
    log = []
    paddle.seed(3)
    f = make(log)
    expected = [observed(f, x, log) for _ in range(CALLS)]
    log = []
    paddle.seed(3)
    translated = sot.to_static(make(log))
    found = [observed(translated, x, log) for _ in range(CALLS)]
    assert found == expected
    stats = sot.stats()
    if captures is not None:
        assert stats["captures"] == captures, stats
    sot.reset()
    paddle.seed(3)
    f = make([])
    f(x)
    report = sot.explain(f)(x)
    assert (len(report.graphs), [(b.code, b.line, b.reason) for b in report.breaks]) == (graphs, [])


def changes_the_input(log):
    net = nn.Linear(2, 2)
    net.register_forward_pre_hook(lambda layer, inputs: (inputs[0] + 1,))
    return lambda x: net(x)


def changes_the_input_without_a_tuple(log):
    net = nn.Linear(2, 2)
    net.register_forward_pre_hook(lambda layer, inputs: inputs[0] * 3)
    return lambda x: net(x)


def changes_the_output(log):
    net = nn.Linear(2, 2)
    net.register_forward_post_hook(lambda layer, inputs, output: output * 2 + inputs[0])
    return lambda x: net(x)


def several_in_order(log):
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    net.register_forward_post_hook(lambda layer, inputs, output: output + 1)
    net.register_forward_post_hook(lambda layer, inputs, output: output * 2)
    net[0].register_forward_pre_hook(lambda layer, inputs: (inputs[0] - 1,))
    net[0].register_forward_post_hook(lambda layer, inputs, output: None)
    return lambda x: net(x) + net[0](x)


def with_keywords(log):
    class Net(nn.Layer):
        def forward(self, x, scale=1):
            return x * scale

    net = Net()
    net.register_forward_pre_hook(lambda layer, args, kwargs: (args, {"scale": kwargs["scale"] + 1}), with_kwargs=True)
    net.register_forward_post_hook(lambda layer, args, kwargs, out: out + kwargs["scale"], with_kwargs=True)
    return lambda x: net(x, scale=2)


def notes_of_the_shape(log):
    net = nn.Linear(2, 2)
    net.register_forward_post_hook(lambda layer, inputs, output: log.append(tuple(output.shape)))
    return lambda x: net(x)


def keeps_the_output(log):
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    kept = {}
    net[0].register_forward_post_hook(lambda layer, inputs, output: kept.update(first=output))
    return lambda x: (net(x), kept["first"] * 2)


def under_no_grad(log):
    net = nn.Linear(2, 2)

    def hook(layer, inputs, output):
        with paddle.no_grad():
            scale = output.abs().max()
        return output / scale

    net.register_forward_post_hook(hook)
    return lambda x: net(x)


def method_of_an_object(log):
    class Counter:
        def __init__(self):
            self.scale = 2

        def __call__(self, layer, inputs, output):
            return output * self.scale

    net = nn.Linear(2, 2)
    net.register_forward_post_hook(Counter())
    return lambda x: net(x)


HOOKS = [
    changes_the_input,
    changes_the_input_without_a_tuple,
    changes_the_output,
    several_in_order,
    with_keywords,
    keeps_the_output,
    under_no_grad,
    method_of_an_object,
]


@pytest.mark.parametrize("make", HOOKS, ids=lambda m: m.__name__)
def test_hooks(make):
    # The first call of a layer with hooks notes in it that it was called.
    agree(make, captures=2 if make is not keeps_the_output else None)


def test_a_hook_that_notes():
    agree(notes_of_the_shape)


def test_hooks_come_and_go():
    net = nn.Linear(2, 2)
    f = lambda x: net(x)
    translated = sot.to_static(f)
    x = paddle.ones([1, 2])
    handles = []
    for step in range(12):
        if step == 2:
            handles.append(net.register_forward_post_hook(lambda layer, inputs, output: output * 2))
        if step == 5:
            handles.append(net.register_forward_pre_hook(lambda layer, inputs: (inputs[0] + 1,)))
        if step == 8:
            handles.pop(0).remove()
        if step == 10:
            handles.pop(0).remove()
        assert picture(translated(x)) == picture(f(x)), step


def test_a_hook_that_raises_and_one_that_is_always_called():
    def make(log):
        net = nn.Linear(2, 2)

        def pre(layer, inputs):
            raise KeyError("no")

        net.register_forward_pre_hook(pre)
        net.register_forward_post_hook(lambda layer, inputs, output: log.append(output is None), always_call=True)
        return lambda x: net(x)

    x, log = paddle.ones([1, 2]), []
    f = make(log)
    expected = [observed(f, x, log) for _ in range(4)]
    log = []
    translated = sot.to_static(make(log))
    assert [observed(translated, x, log) for _ in range(4)] == expected


def test_gradients_through_hooks():
    net = nn.Linear(2, 2)
    net.register_forward_post_hook(lambda layer, inputs, output: output * output)
    f = lambda x: net(x)
    x = paddle.to_tensor([[1.0, 2.0]])

    def grads(function):
        net.clear_gradients(set_to_zero=False)
        function(x).sum().backward()
        return [p.grad.numpy().tolist() for p in net.parameters()]

    expected = grads(f)
    translated = sot.to_static(f)
    for _ in range(CALLS):
        assert grads(translated) == expected


# ----- walks


def nets(log):
    shared = nn.Linear(2, 2)
    net = nn.Sequential(shared, nn.BatchNorm1D(2), nn.Sequential(shared, nn.Linear(2, 2)))
    net.eval()
    return net


def named_parameters(log):
    net = nets(log)

    def f(x):
        names = []
        for name, p in net.named_parameters():
            names.append(name)
            x = x + p.sum()
        return x, names

    return f


def parameters(log):
    net = nets(log)
    return lambda x: (x * len(net.parameters()), sum(p.sum() for p in net.parameters()))


def norm_of_all(log):
    net = nets(log)

    def f(x):
        total = paddle.zeros([])
        for p in net.parameters():
            if not p.stop_gradient and p.ndim > 1:
                total = total + (p * p).sum()
        return total.sqrt() * x

    return f


def buffers(log):
    net = nets(log)
    return lambda x: (x * len(net.buffers()), [name for name, _ in net.named_buffers()])


def sublayers(log):
    net = nets(log)

    def f(x):
        for child in net.children():
            x = child(x)
        names = [name for name, _ in net.named_sublayers(include_self=True)]
        return x, names, [type(layer).__name__ for layer in net.sublayers()], [n for n, _ in net.named_children()]

    return f


def state(log):
    net = nets(log)

    def f(x):
        found = net.state_dict()
        return x * len(found), list(found), found["0.weight"].sum()

    return f


@pytest.mark.parametrize(
    "make", [named_parameters, parameters, norm_of_all, buffers, sublayers, state], ids=lambda m: m.__name__
)
def test_walks(make):
    # Calling a container notes in it that it was called.
    agree(make, captures=1 if make is not sublayers else 2)


def test_another_parameter_is_seen():
    net = nets([])
    f = lambda x: sum((p.sum() for p in net.parameters()), x)
    translated = sot.to_static(f)
    x = paddle.zeros([])
    for step in range(6):
        if step == 2:
            net[1].weight = net.create_parameter([2])
        if step == 4:
            net[2].add_parameter("more", net.create_parameter([3]))
        assert picture(translated(x)) == picture(f(x))


# ----- where Paddle runs


def asks(x):
    place = paddle.framework._current_expected_place()
    return (
        x.astype(paddle.get_default_dtype()),
        paddle.in_dynamic_mode(),
        paddle.is_compiled_with_cuda(),
        paddle.is_compiled_with_xpu(),
        paddle.base.core.is_compiled_with_cuda(),
        paddle.get_device(),
        paddle.device.get_all_custom_device_type(),
        paddle.amp.is_float16_supported(),
        paddle.amp.is_bfloat16_supported(),
        place.is_cpu_place(),
        x.place.is_gpu_place(),
        str(place),
    )


def scopes(x):
    with paddle.static.name_scope("a"), paddle.profiler.RecordEvent("b") as event:
        y = x * 2
        event.end()
    return y, event.name


@pytest.mark.parametrize("function", [asks, scopes], ids=lambda f: f.__name__)
def test_questions(function):
    agree(lambda log: function, captures=1)


def test_another_default_is_another_capture():
    translated = sot.to_static(asks)
    x = paddle.ones([2], dtype="float32")
    try:
        for step in range(6):
            paddle.set_default_dtype(["float32", "float64"][step % 2])
            assert translated(x)[0].dtype == asks(x)[0].dtype
    finally:
        paddle.set_default_dtype("float32")
    assert sot.stats()["captures"] == 2
