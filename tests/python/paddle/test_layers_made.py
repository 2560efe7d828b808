"""Layers with parameters, and parameters alone, that are made within captured functions: an operation of the graph makes each parameter."""

import os

os.environ["SOT_MEASURE"] = "0"

import numpy as np  # noqa: E402
import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
import pytest  # noqa: E402
import sot  # noqa: E402
from paddle import nn  # noqa: E402
from paddle.base import unique_name  # noqa: E402
from paddle.nn import initializer as I  # noqa: E402

CALLS = 6

MADE = getattr(unique_name, "DygraphParameterNameChecker", None)
pytestmark = pytest.mark.skipif(MADE is None, reason="this release makes parameters otherwise")


def batch(*_):
    return (paddle.to_tensor(np.arange(8, dtype="float32").reshape(2, 4) / 7 - 0.4, stop_gradient=False),)


# Made, called, dropped or kept.


def linear(x):
    fc = nn.Linear(4, 5)
    return fc(x)


def linear_kept(x):
    fc = nn.Linear(4, 5, bias_attr=False)
    return fc(x), fc


def in_a_row(x):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.3), nn.LayerNorm(8), nn.Linear(8, 2))
    return net(x), net


def convolution(x):
    net = nn.Sequential(nn.Conv2D(1, 2, 2), nn.BatchNorm2D(2), nn.ReLU(), nn.Flatten(), nn.Linear(6, 3))
    return net(x.reshape([2, 1, 2, 2]).tile([1, 1, 1, 2])), net


def embedding(x):
    table = nn.Embedding(10, 3)
    return table(paddle.to_tensor([1, 2])), table, x


def attention(x):
    return nn.MultiHeadAttention(4, 2)(x.unsqueeze(0))


class Net(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(4, width)
        self.w = self.create_parameter([width, 2])
        self.b = self.create_parameter([2], is_bias=True)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.fc(x)) @ self.w + self.b


def of_the_program(x):
    net = Net(3)
    return net(x), net


def of_a_local_class(x):
    class Block(nn.Layer):
        def __init__(self, given, gives):
            super().__init__()
            self.fc = nn.Linear(given, gives)
            self.norm = nn.LayerNorm(gives)

        def forward(self, x):
            return F.relu(self.norm(self.fc(x)))

    class Local(nn.Layer):
        def __init__(self):
            super().__init__()
            self.blocks = nn.LayerList([Block(4, 4) for _ in range(2)])
            self.head = nn.Linear(4, 2)

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return self.head(x)

    net = Local()
    return net(x), net, isinstance(net, Local)


def parameter(x):
    w = paddle.create_parameter([4, 3], "float32")
    v = paddle.create_parameter([4, 3], "float32", default_initializer=I.Constant(0.25))
    return x @ w + x @ v, w, v


def list_of_parameters(x):
    held = nn.ParameterList([paddle.create_parameter([4, 4], "float32") for _ in range(2)])
    return x @ held[0] @ held[1], held


OUTER = paddle.ParamAttr(initializer=I.KaimingNormal(), learning_rate=0.25)


def with_attributes(x):
    own = paddle.ParamAttr(initializer=I.Normal(0.0, 2.0), learning_rate=0.5, trainable=False)
    first = nn.Linear(4, 4, weight_attr=own, bias_attr=I.Uniform(-1.0, 1.0))
    second = nn.Linear(4, 4, weight_attr=OUTER, bias_attr=I.Constant(2.0))
    return first(x) + second(x), first, second


def decayed(x):
    own = paddle.ParamAttr(regularizer=paddle.regularizer.L2Decay(0.1))
    fc = nn.Linear(4, 2, weight_attr=own, bias_attr=paddle.regularizer.L1Decay(0.2))
    return fc(x), fc, fc.weight is own


def facts_of_one(x):
    w = nn.Linear(4, 2).weight
    is_one = isinstance(w, paddle.base.framework.EagerParamBase)
    return is_one, type(w).__name__, w.is_leaf, w.persistable, w.trainable, w.stop_gradient, w.shape, str(w.dtype), x


def looked_through(x):
    fc = nn.Linear(4, 2)
    held = list(fc.parameters())
    names = [name for name, _ in fc.named_parameters()]
    return held[0] is fc.weight, fc.weight in set(held), names, sum(p.sum() for p in held), dict(fc.state_dict()), x


def shared(x):
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    second.weight = first.weight
    return second(first(x)), first, second, first.weight is second.weight


def frozen(x):
    fc = nn.Linear(4, 2)
    for p in fc.parameters():
        p.stop_gradient = True
    first = fc(x)
    fc.bias.stop_gradient = False
    return first, fc(x), fc


def in_place(x):
    fc = nn.Linear(4, 2)
    with paddle.no_grad():
        fc.weight.add_(paddle.ones([4, 2]))
    fc.bias.set_value(paddle.full([2], 2.0))
    return fc(x), fc


def without_gradients(x):
    with paddle.no_grad():
        fc = nn.Linear(4, 2)
        first = fc(x)
    return first, fc, fc(x)


def of_another_type(x):
    paddle.set_default_dtype("float64")
    fc = nn.Linear(4, 2)
    paddle.set_default_dtype("float32")
    return fc(x.astype("float64")), fc


def with_draws_between(x):
    first = paddle.rand([4])
    fc = nn.Linear(4, 4)
    return fc(x + first) * paddle.rand([4])


def in_a_loop(x):
    for _ in range(3):
        x = nn.Linear(4, 4)(x)
    return x


def by_a_generator(x):
    def layers():
        for _ in range(3):
            yield nn.Linear(4, 4)

    for layer in layers():
        x = layer(x)
    return x


def not_used(x):
    nn.Linear(4, 2)
    return x * 2


def behind_a_handler(x):
    try:
        nn.Linear(4, 2)
        raise KeyError("a")
    except KeyError:
        fc = nn.Linear(4, 2)
    return fc(x), fc.full_name()


def of_a_default_dtype(x):
    paddle.set_default_dtype("float64")
    try:
        net = nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3), nn.PReLU())
        own = nn.Layer().create_parameter([2])
    finally:
        paddle.set_default_dtype("float32")
    fc = nn.Linear(4, 3)
    return net(x.astype("float64")), net, own, fc(x), fc


ONE_GRAPH = [
    linear,
    of_a_default_dtype,
    linear_kept,
    in_a_row,
    convolution,
    embedding,
    attention,
    of_the_program,
    of_a_local_class,
    parameter,
    list_of_parameters,
    with_attributes,
    decayed,
    facts_of_one,
    looked_through,
    shared,
    frozen,
    in_place,
    without_gradients,
    of_another_type,
    with_draws_between,
    in_a_loop,
    by_a_generator,
    not_used,
    behind_a_handler,
]


# What breaks, and comes to the same.


class OfTheProgram(I.Initializer):
    def __call__(self, p, block=None):
        p.set_value(paddle.ones(p.shape) * 3)


class Below(I.Constant):
    pass


def initializer_of_the_program(x):
    fc = nn.Linear(4, 2, weight_attr=OfTheProgram(), bias_attr=Below(2.0))
    return fc(x), fc


def assigned(x):
    fc = nn.Linear(4, 2, weight_attr=I.Assign(np.ones([4, 2], "float32")))
    return fc(x), fc


def asks_for_names(x):
    fc = nn.Linear(4, 2)
    return fc.weight.name, fc.bias.name, fc.full_name(), fc(x)


def counts_names(x):
    before = unique_name.generate("_eager_param_base")
    fc = nn.Linear(4, 2)
    return before, unique_name.generate("linear_0.w"), unique_name.generate("linear"), fc(x)


def looks_at_counts(x):
    fc = nn.Linear(4, 2)
    return dict(unique_name.generator.ids), sorted(unique_name.dygraph_parameter_name_checker._name_set), fc(x)


def holds_counts(x):
    ids, names = unique_name.generator.ids, unique_name.dygraph_parameter_name_checker._name_set
    fc = nn.Linear(4, 2)
    return dict(ids), sorted(names), fc(x)


def writes_counts(x):
    unique_name.generator.ids["linear_0.w"] = 5
    fc = nn.Linear(4, 2)
    return fc(x), fc


def writes_a_prefix(x):
    unique_name.generator.prefix = "of_the_program_"
    fc = nn.Linear(4, 2)
    return fc(x), fc


def takes_a_name(x):
    taken = unique_name.dygraph_parameter_name_checker("linear_0.w_0")
    return taken, nn.Linear(4, 2)(x)


def with_a_generator_of_its_own(x):
    with unique_name.guard():
        fc = nn.Linear(4, 2)
    return fc(x), fc


def with_initializers_of_the_process(x):
    I.set_global_initializer(I.Constant(0.5), I.Constant(0.25))
    fc = nn.Linear(4, 2)
    I.set_global_initializer(None)
    return fc(x), fc


def with_a_hook(x):
    fc = nn.Linear(4, 2)
    fc.register_forward_post_hook(lambda layer, given, gives: gives * 2)
    return fc(x)


def trained(x):
    fc = nn.Linear(4, 2)
    optimizer = paddle.optimizer.Adam(0.1, parameters=fc.parameters())
    for _ in range(2):
        loss = fc(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    return loss, fc


def with_gradients(x):
    fc = nn.Linear(4, 2)
    loss = fc(x).mean()
    loss.backward()
    return fc.weight.grad, fc


def behind_a_backward_pass(x):
    first = nn.Linear(4, 2)
    first(x).mean().backward()
    second = nn.Linear(4, 2)
    return second(x), first.weight.grad, first


BREAKS = [
    initializer_of_the_program,
    assigned,
    asks_for_names,
    counts_names,
    looks_at_counts,
    holds_counts,
    writes_counts,
    writes_a_prefix,
    takes_a_name,
    with_a_generator_of_its_own,
    with_initializers_of_the_process,
    with_a_hook,
    trained,
    with_gradients,
    behind_a_backward_pass,
]


# What raises.


def of_no_size(x):
    return nn.Linear(4, -1)(x)


def of_no_number(x):
    return nn.Linear("a", 1)(x)


def does_not_fit(x):
    fc = nn.Linear(3, 2)
    return fc(x)


def has_a_name(x):
    fc = nn.Linear(4, 2, weight_attr=paddle.ParamAttr(name="taken"))
    return fc(x), fc


def begins_too_late(x):
    class Late(nn.Layer):
        def __init__(self):
            self.fc = nn.Linear(4, 2)

    return Late()


def raises_behind(x):
    fc = nn.Linear(4, 2)
    fc(x)
    raise KeyError(fc.full_name())


RAISES = [of_no_size, of_no_number, does_not_fit, has_a_name, begins_too_late, raises_behind]


def told(value):
    """All that a program could tell of a value."""
    if isinstance(value, paddle.Tensor):
        grad = None if value.grad is None else value.grad.numpy().tolist()
        parts = [type(value).__name__, str(value.dtype), value.numpy().tolist(), value.stop_gradient, value.persistable, value.is_leaf, grad]
        if isinstance(value, paddle.base.framework.EagerParamBase):
            parts += [value.name, value.optimize_attr, str(value.regularizer), value.need_clip, value.do_model_average]
            parts += [value.is_distributed, value._init_func, sorted(vars(value))]
        return parts
    if isinstance(value, nn.Layer):
        own = {k: repr(v) for k, v in vars(value).items() if isinstance(v, (str, int, float, bool, set, type(None)))}
        parts = [type(value).__name__, repr(value), value.full_name(), list(vars(value)), own]
        parts += [[(name, told(p)) for name, p in value.named_parameters()], [name for name, _ in value.named_sublayers()]]
        return parts + [[(name, told(v)) for name, v in value.state_dict().items()]]
    if isinstance(value, (list, tuple)):
        return [told(v) for v in value]
    if isinstance(value, dict):
        return {k: told(v) for k, v in value.items()}
    return value


def tensors(value):
    if isinstance(value, paddle.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [found for v in value for found in tensors(v)]
    return []


def state():
    """What making parameters moves."""
    names = sorted(unique_name.dygraph_parameter_name_checker._name_set)
    return list(unique_name.generator.ids.items()), names, paddle.rand([2]).numpy().tolist()


def seen(function, arguments=batch, calls=CALLS):
    paddle.seed(7)
    results = []
    with unique_name.guard():
        for call in range(calls):
            given = arguments(call)
            try:
                result = function(*given)
                ends = [t.sum() for t in tensors(result) if not t.stop_gradient and not t.is_leaf]
                if ends:
                    sum(ends[1:], ends[0]).backward()
                results.append((told(result), told(list(given)[0])))
            except Exception as error:
                at, lines = error.__traceback__, []
                while at is not None:
                    code = at.tb_frame.f_code
                    if code.co_filename == __file__ and code.co_name not in ("seen", "hooked", "<lambda>"):
                        lines.append((code.co_name, at.tb_lineno))
                    at = at.tb_next
                results.append((type(error).__name__, str(error).split("[Hint")[0], lines))
            results.append(state())
    return results


@pytest.mark.parametrize("function", ONE_GRAPH, ids=lambda f: f.__name__)
def test_in_one_graph(function, counting):
    wanted = seen(function)
    translated = sot.to_static(function)
    with counting() as counted:
        assert seen(translated) == wanted
    assert counted.breaks == 0
    # Once as it is found, and then with any number in names.
    assert counted.graphs <= 3
    assert counted.hits >= CALLS - 3


@pytest.mark.parametrize("function", BREAKS, ids=lambda f: f.__name__)
def test_with_breaks(function, counting):
    wanted = seen(function)
    translated = sot.to_static(function)
    with counting() as counted:
        assert seen(translated) == wanted
    assert counted.breaks >= 1


def test_a_backward_pass_is_part_of_the_graph(counting):
    translated = sot.to_static(with_gradients)
    with unique_name.guard():
        for _ in range(3):
            translated(*batch())
        with counting() as counted:
            for _ in range(3):
                translated(*batch())
    # The very first layer of a name is counted anew, which the run sees that asks once more what it has read.
    assert (counted.hits, counted.breaks) == (3, 0)


@pytest.mark.parametrize("function", RAISES, ids=lambda f: f.__name__)
def test_what_raises(function):
    wanted = seen(function)
    assert any(isinstance(result[0], str) for result in wanted)
    assert seen(sot.to_static(function)) == wanted


@pytest.mark.parametrize("function", ONE_GRAPH + RAISES, ids=lambda f: f.__name__)
def test_by_the_hook(function):
    def hooked(*given):
        sot._sot._capture_all(True)
        try:
            return function(*given)
        finally:
            sot._sot._capture_all(False)

    wanted = seen(lambda *given: function(*given))
    assert seen(hooked) == wanted


def test_a_run_that_fails_takes_back_what_was_counted(counting):
    def function(x, index):
        fc, table = nn.Linear(4, 4), nn.Embedding(3, 4)
        return fc(x) + table(index), paddle.rand([2])

    def arguments(call):
        return (*batch(), paddle.to_tensor([1, 7 if call % 4 == 3 else 2]))

    wanted = seen(function, arguments, 10)
    assert sum(isinstance(result[0], str) for result in wanted) == 2
    translated = sot.to_static(function)
    with counting() as counted:
        assert seen(translated, arguments, 10) == wanted
    assert counted.breaks == 0


def test_sizes_that_vary():
    def function(y, size):
        return nn.Linear(y.shape[-1], size)(y)

    def arguments(call):
        return paddle.ones([2, 3 + call % 3]), 2 + call % 4

    assert seen(sot.to_static(function), arguments, 10) == seen(function, arguments, 10)


def test_another_generator_of_names():
    translated = sot.to_static(linear_kept)

    def named(function):
        names = []
        for _ in range(4):
            with unique_name.guard("outer_"):
                names.append([p.name for p in function(*batch())[1].parameters()])
            names.append([p.name for p in function(*batch())[1].parameters()])
        return names

    with unique_name.guard():
        wanted = named(linear_kept)
    with unique_name.guard():
        assert named(translated) == wanted


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_the_default_dtype_of_a_function(dtype):
    def function(x):
        before = paddle.get_default_dtype()
        paddle.set_default_dtype(dtype)
        try:
            made = [nn.Linear(4, 2), nn.Embedding(3, 2), nn.LayerNorm(4), Net(2)]
        finally:
            paddle.set_default_dtype(before)
        return x, [(layer._dtype, [(p.name, p.dtype) for p in layer.parameters()]) for layer in made]

    wanted = seen(function)
    assert seen(sot.to_static(function)) == wanted


REPLACED = [
    (paddle.base.framework.EagerParamBase, "__init__"),
    (paddle.base.framework.Block, "create_parameter"),
    (unique_name, "generate"),
    (unique_name.UniqueNameGenerator, "__call__"),
    (unique_name.UniqueNameGenerator, "generate"),
    (paddle.ParamAttr, "__init__"),
    (paddle.ParamAttr, "_to_kwargs"),
    (paddle.ParamAttr, "_set_default_param_initializer"),
    (paddle.base.layer_helper_base.LayerHelperBase, "__init__"),
    (paddle.base.layer_helper_base, "default_main_program"),
    (paddle._C_ops, "uniform"),
]


@pytest.mark.parametrize("owner, name", REPLACED, ids=lambda part: part if isinstance(part, str) else part.__name__)
def test_functions_of_the_framework_that_are_replaced(owner, name, monkeypatch):
    plain = vars(owner)[name]

    def run(door):
        noted = []

        def replaced(*args, **kwargs):
            noted.append(name)
            return plain(*args, **kwargs)

        def function(x):
            fc = nn.Linear(4, 2)
            return fc(x), len(noted)

        called = door(function)
        results = [seen(called, calls=2)]
        monkeypatch.setattr(owner, name, replaced)
        results.append(seen(called, calls=3))
        monkeypatch.setattr(owner, name, plain)
        return results + [seen(called, calls=2), noted]

    assert run(sot.to_static) == run(lambda f: f)


def test_what_is_set_for_the_process():
    def numbers(function):
        found = []
        paddle.seed(3)
        with unique_name.guard():
            for call in range(6):
                if call == 2:
                    I.set_global_initializer(I.Constant(0.5), I.Constant(0.25))
                if call == 4:
                    I.set_global_initializer(None)
                    paddle.set_default_dtype("float64")
                fc = function(*batch())[-1]
                found.append([told(p) for p in fc.parameters()])
        return found

    def function(x):
        fc = nn.Linear(4, 2)
        return x, fc

    try:
        wanted = numbers(function)
        paddle.set_default_dtype("float32")
        assert numbers(sot.to_static(function)) == wanted
    finally:
        paddle.set_default_dtype("float32")


def test_initializers_whose_methods_are_replaced(monkeypatch):
    def run(door):
        noted = []

        def function(x):
            fc = nn.Linear(4, 2)
            return fc(x), len(noted)

        called = door(function)
        results = [seen(called, calls=2)]
        plain = I.XavierUniform.forward

        def forward(self, var, block=None):
            noted.append(list(var.shape))
            return plain(self, var, block)

        with monkeypatch.context() as patch:
            patch.setattr(I.XavierInitializer if hasattr(I, "XavierInitializer") else I.XavierUniform, "forward", forward)
            results.append(seen(called, calls=2))
        results.append(seen(called, calls=2))
        return results, noted

    wanted = run(lambda function: function)
    assert len(wanted[1]) == 2
    assert run(sot.to_static) == wanted


class Lazy(nn.Layer):
    def __init__(self):
        super().__init__()
        self.extra = None
        self.w = None

    def forward(self, x):
        if self.extra is None:
            self.extra = nn.Linear(4, 4)
            self.w = self.create_parameter([4, 4])
        return self.extra(x) @ self.w


@pytest.mark.parametrize("door", [lambda layer: sot.to_static(layer), lambda layer: sot.to_static(lambda x: layer(x))], ids=["layer", "function"])
def test_kept_by_a_layer(door, counting):
    def run(door):
        paddle.seed(5)
        with unique_name.guard():
            layer = Lazy()
            call = door(layer)
            results = []
            for _ in range(CALLS):
                out = call(*batch())
                out.sum().backward()
                results.append((told(out), [told(p) for p in layer.parameters()], [n for n, _ in layer.named_parameters()]))
                results.append(sorted(k for k in vars(layer) if k != "forward"))
            return results, state()

    wanted = run(lambda layer: layer)
    with counting() as counted:
        assert run(door) == wanted
    assert counted.breaks == 0
    assert counted.graphs == 2


def test_a_parameter_that_is_loaded():
    """What is in the layer's dict of loaded values goes into a parameter that the layer is given."""

    class Holder(nn.Layer):
        def forward(self, x):
            self.w = self.create_parameter([4, 4], attr=paddle.ParamAttr(name="loaded"))
            return x @ self.w

    def run(door):
        paddle.seed(5)
        with unique_name.guard():
            layer = Holder()
            layer._loaddict_holder["loaded"] = paddle.ones([4, 4])
            return told(door(layer)(*batch())), told(layer.w)

    assert run(sot.to_static) == run(lambda layer: layer)


def test_a_class_that_broke_may_be_made_later(counting):
    """A constructor that was given what it refuses is simulated again."""
    translated = sot.to_static(of_no_size)
    for _ in range(3):
        with pytest.raises(AssertionError):
            translated(*batch())
    with counting() as counted:
        sot.to_static(linear)(*batch())
    assert counted.breaks == 0


def test_a_layer_behind_a_break_dies_with_its_variable():
    ended = []

    class Ends(nn.Layer):
        def __init__(self):
            super().__init__()
            self.w = self.create_parameter([4, 4])

        def forward(self, x):
            return x @ self.w

        def __del__(self):
            ended.append(len(ended))

    def function(x):
        layer = Ends()
        return layer(x)

    translated = sot.to_static(function)
    for call in range(5):
        translated(*batch())
        assert len(ended) == call + 1
