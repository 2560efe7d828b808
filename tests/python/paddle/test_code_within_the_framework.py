"""Code of the program that Paddle's own code would call, and Paddle's own helpers.

While operations are built no code of the program runs: a layer that was given a function, and an operation that calls one, are
simulated. What Paddle does in Python beside computing is one break at most.
"""

import functools
import os

os.environ["SOT_MEASURE"] = "0"

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402
import pytest  # noqa: E402
import sot  # noqa: E402
from paddle import distribution, nn  # noqa: E402

CALLS = 4


def picture(value):
    if isinstance(value, paddle.Tensor):
        return (type(value).__name__, str(value.dtype), value.numpy().tolist(), value.stop_gradient)
    if isinstance(value, (list, tuple)):
        return [type(value).__name__] + [picture(v) for v in value]
    return value


def observed(f, x, log):
    log.clear()
    paddle.seed(5)
    try:
        result = f(x)
    except Exception as error:
        result = [type(error).__name__, str(error)]
    return picture(result), [picture(v) for v in log], picture(paddle.rand([2]))


def agree(make, x, graphs, breaks, between=lambda call, made: None):
    """`make(log)` gives a function and what may be changed between calls; each door has a world of its own."""
    found = []
    for door in (lambda f: f, sot.to_static):
        log = []
        paddle.seed(3)
        f, made = make(log)
        called = door(f)
        rounds = []
        for call in range(CALLS):
            between(call, made)
            rounds.append(observed(called, x, log))
        found.append(rounds)
    assert found[1] == found[0]
    sot.reset()
    f, made = make([])
    try:
        f(x)
        report = sot.explain(f)(x)
    except KeyError:
        return
    assert (len(report.graphs), [b.code for b in report.breaks]) == (graphs, breaks)


def encoder(activation):
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0)
    layer.activation = activation
    return layer


def a_function(log):
    def act(t):
        log.append(len(log))
        return F.relu(t)

    return encoder(act)


def a_lambda_with_a_tensor(log):
    slope = paddle.ones([1]) * 3
    return encoder(lambda t: t * slope)


def a_bound_method(log):
    class Act:
        n = 0

        def act(self, t):
            self.n += 1
            log.append(self.n)
            return t * self.n

    return encoder(Act().act)


def an_object_that_is_called(log):
    class Act:
        def __call__(self, t):
            log.append("called")
            return F.gelu(t)

    return encoder(Act())


def a_partial(log):
    def act(by, t):
        log.append(by)
        return t * by

    return encoder(functools.partial(act, 2.0))


def one_that_raises(log):
    def act(t):
        log.append("raises")
        raise KeyError("of the activation")

    return encoder(act)


def one_that_keeps_what_it_is_given(log):
    def act(t):
        log.append(t)
        return t

    return encoder(act)


def in_a_decoder(log):
    layer = nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0)

    def act(t):
        log.append(len(log))
        return F.relu(t)

    layer.activation = act
    decoder = layer
    return lambda x: decoder(x, x)


def within_a_stack(log):
    stack = nn.TransformerEncoder(encoder(F.relu), 2)

    def act(t):
        log.append("second")
        return F.relu(t)

    stack.layers[1].activation = act
    return stack


def of_a_cell(log):
    cell = nn.SimpleRNNCell(4, 4)

    def act(t):
        log.append("cell")
        return paddle.tanh(t)

    cell._activation_fn = act
    return lambda x: cell(x[:, 0], x[:, 1])


def a_number_of_a_class(log):
    class Rate(float):
        def __eq__(self, other):
            log.append("compared")
            return float(self) == other

        __hash__ = float.__hash__

    layer = nn.Dropout(0.0)
    layer.p = Rate(0.0)
    return layer


LAYERS = [
    a_function,
    a_lambda_with_a_tensor,
    a_bound_method,
    an_object_that_is_called,
    a_partial,
    one_that_raises,
    one_that_keeps_what_it_is_given,
    in_a_decoder,
    within_a_stack,
    of_a_cell,
]


@pytest.mark.parametrize("make", LAYERS)
def test_a_layer_calls_code_of_the_program(make):
    def world(log):
        layer = make(log)
        return (lambda x: layer(x)), layer

    agree(world, paddle.ones([2, 3, 4]), graphs=1, breaks=[])


def test_a_layer_holds_a_number_of_the_program():
    found = []
    for door in (lambda f: f, sot.to_static):
        log = []
        layer = a_number_of_a_class(log)
        called = door(lambda x: layer(x))
        found.append([observed(called, paddle.ones([2, 4]), log) for _ in range(CALLS)])
    assert found[1] == found[0]


def test_code_comes_later_and_goes_again():
    def world(log):
        layer = encoder(F.relu)
        return (lambda x: layer(x)), (layer, log)

    def between(call, made):
        layer, log = made

        def act(t):
            log.append(call)
            return t * 2

        layer.activation = act if call % 2 else F.relu

    agree(world, paddle.ones([2, 3, 4]), graphs=1, breaks=[], between=between)


@pytest.mark.parametrize("name", ["linear", "dropout"])
def test_a_function_of_the_framework_is_replaced(name, monkeypatch):
    layer = nn.Linear(4, 4) if name == "linear" else nn.Dropout(0.0)
    log, real = [], getattr(F, name)
    monkeypatch.setattr(F, name, lambda *args, **kwargs: (log.append(1), real(*args, **kwargs))[1])
    called = sot.to_static(lambda x: layer(x))
    for call in range(CALLS):
        called(paddle.ones([2, 4]))
        assert len(log) == call + 1


def test_a_forward_is_replaced(monkeypatch):
    log, real = [], nn.Linear.forward
    monkeypatch.setattr(nn.Linear, "forward", lambda self, x: (log.append(1), real(self, x))[1])
    layer = nn.Linear(4, 4)
    called = sot.to_static(lambda x: layer(x))
    for call in range(CALLS):
        called(paddle.ones([2, 4]))
        assert len(log) == call + 1


def test_a_loss_is_given_a_distance():
    def world(log):
        def distance(a, b):
            log.append("distance")
            return (a - b).abs().sum(-1)

        return (lambda x: F.triplet_margin_with_distance_loss(x, x + 1, x * 2, distance_function=distance)), None

    # It asks whether the distances are positive.
    agree(world, paddle.rand([3, 4]), graphs=2, breaks=["value-kind"])


class Distance(nn.Layer):
    def __init__(self, log):
        super().__init__()
        self.log = log

    def forward(self, a, b):
        self.log.append("layer")
        return (a - b).abs().sum(-1)


def distance_of(log):
    def distance(a, b):
        log.append("function")
        return (a - b).abs().sum(-1)

    return distance


def class_of(log):
    class Made:
        def __new__(cls, a, b):
            log.append("class")
            return (a - b).abs().sum(-1)

    return Made


CALLED = {
    "a layer of the program": Distance,
    "what a decorator of the framework gives": lambda log: paddle.no_grad()(distance_of(log)),
    "the wrapper of a method": lambda log: distance_of(log).__call__,
    "a class": class_of,
    "a layer of the framework": lambda log: nn.PairwiseDistance(2),
}


@pytest.mark.parametrize("name", CALLED)
def test_whatever_an_operation_is_given_to_call(name):
    found = []
    x = paddle.rand([3, 4])
    for door in (lambda f: f, sot.to_static):
        log = []
        given = CALLED[name](log)
        called = door(
            lambda x: F.triplet_margin_with_distance_loss(x, x + 1, x * 2, distance_function=given)  # noqa: B023
        )
        found.append([observed(called, x, log) for _ in range(CALLS)])
    assert found[1] == found[0]


# What writes tensors of its own in place.
WRITES = {
    "isin": lambda x: paddle.isin(x, x[:1]),
    "isin of a method": lambda x: x.isin(x[:1]) | (x > 0),
    "vander": lambda x: paddle.vander(x, 3) + 1,
    "vander, increasing": lambda x: paddle.vander(x, 4, increasing=True),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_writes_its_own_tensors(name):
    agree(lambda log: (WRITES[name], None), paddle.to_tensor([1.0, 2.0, -3.0]), graphs=1, breaks=[])


def normal(x):
    return distribution.Normal(x, x * x + 1)


DISTRIBUTIONS = {
    "Normal": lambda x: normal(x).log_prob(x + 1),
    "Normal, sampled": lambda x: normal(x).sample([2]),
    "Normal, with gradients": lambda x: normal(x).rsample(),
    "Normal, entropy": lambda x: normal(x).entropy(),
    "divergence": lambda x: distribution.kl_divergence(normal(x), normal(x + 1)),
    "Categorical": lambda x: distribution.Categorical(x).entropy(),
    "Categorical, of one": lambda x: distribution.Categorical(x * x).log_prob(paddle.to_tensor([1])),
    "Bernoulli": lambda x: distribution.Bernoulli(F.sigmoid(x)).sample(),
    "Uniform": lambda x: distribution.Uniform(x, x + 2).sample([3]),
    "Beta": lambda x: distribution.Beta(x * x + 1, x * x + 2).log_prob(F.sigmoid(x)),
    "Gamma": lambda x: distribution.Gamma(x * x + 1, x * x + 2).log_prob(x * x + 1),
    "Dirichlet": lambda x: distribution.Dirichlet(x * x + 1).entropy(),
    "Laplace": lambda x: distribution.Laplace(x, x * x + 1).log_prob(x),
    "LogNormal": lambda x: distribution.LogNormal(x, x * x + 1).log_prob(x * x + 1),
    "Independent": lambda x: distribution.Independent(normal(x), 1).log_prob(x),
    "MultivariateNormal": lambda x: distribution.MultivariateNormal(x, paddle.eye(3)).log_prob(x),
    "transformed": lambda x: distribution.TransformedDistribution(
        normal(x), [distribution.ExpTransform()]
    ).log_prob(x * x + 1),
    "Exponential": lambda x: distribution.Exponential(x * x + 1).log_prob(x * x),
    "Poisson": lambda x: distribution.Poisson(x * x + 1).log_prob(x * x),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_distribution(name):
    agree(lambda log: (DISTRIBUTIONS[name], None), paddle.to_tensor([0.5, -1.0, 2.0]), graphs=1, breaks=[])


def test_a_distribution_of_numbers():
    def f(x):
        return distribution.Normal(0.0, 1.0).log_prob(x)

    agree(lambda log: (f, None), paddle.to_tensor([0.5, -1.0]), graphs=1, breaks=["value-kind"])


def converts(log):
    layer = nn.Linear(2, 2)

    def f(x):
        layer.to(dtype="float64")
        layer.to(dtype="float32")
        return layer(x)

    return f, None


def summarises(log):
    layer = nn.Linear(2, 2)

    def f(x):
        log.append(sorted(layer.state_dict()))
        return layer(x)

    return f, None


def measures(log):
    def f(x):
        metric = paddle.metric.Accuracy()
        metric.update(metric.compute(x, paddle.to_tensor([[0], [1]])))
        log.append(round(float(metric.accumulate()), 4))
        return x * 2

    return f, None


# How many breaks: one for each call of the framework's that does more than compute.
@pytest.mark.parametrize(("make", "most"), [(converts, 2), (summarises, 1), (measures, 4)])
def test_helpers_break_once(make, most):
    found = []
    x = paddle.to_tensor([[1.0, -2.0], [3.0, 4.0]])
    for door in (lambda f: f, sot.to_static):
        log = []
        paddle.seed(3)
        called = door(make(log)[0])
        found.append([observed(called, x, log) for _ in range(CALLS)])
    assert found[1] == found[0]
    sot.reset()
    report = sot.explain(make([])[0])(x)
    assert len(report.breaks) <= most, report


def test_constructors_of_layers_are_not_captured():
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            # What only eager makes.
            self.first = nn.Linear(2, 2, weight_attr=nn.initializer.Assign([[1.0, 2.0], [3.0, 4.0]]))
            self.second = nn.Linear(2, 2)

        def forward(self, x):
            return self.second(F.relu(self.first(x)))

    def f(x):
        return Net()(x)

    x = paddle.ones([1, 2])
    found = []
    for door in (lambda f: f, sot.to_static):
        called = door(f)
        paddle.seed(3)
        found.append([called(x).numpy().tolist() for _ in range(CALLS)])
    assert found[1] == found[0]
    sot.reset()
    report = sot.explain(f)(x)
    assert (len(report.graphs), [(b.code, b.fallback) for b in report.breaks]) == (
        1,
        [("framework-function", False)],
    )
    assert sot.stats()["fallbacks"] == 0


@pytest.mark.parametrize("name", ["len", "isinstance", "getattr", "zip", "range"])
def test_builtins_are_replaced(name, monkeypatch):
    """Paddle calls them while it builds: eager runs, and is asked again when they are back."""
    import builtins

    real, log = getattr(builtins, name), []

    def f(x):
        n = 0
        for a, b in zip([1, 2], range(2)):
            n += a + b if isinstance(a, int) else len("ab")
        return x * (n + len("abc")) if getattr(x, "shape") else x

    x = paddle.ones([2])
    found = []
    for door in (lambda f: f, sot.to_static):
        called = door(f)
        rounds = []
        for call in real_range(4):
            log.clear()
            if call % 2:
                monkeypatch.setattr(builtins, name, lambda *args: (log.append(1), real(*args))[1])
            try:
                result = called(x)
            finally:
                monkeypatch.undo()
            rounds.append((result.numpy().tolist(), len(log)))
        found.append(rounds)
    assert found[1] == found[0]


real_range = range


WRITES_TO_A_MODULE = {
    "an item of its dict": lambda mine: vars(F).__setitem__("gelu", mine),
    "a statement": lambda mine: exec("F.gelu = mine", {"F": F, "mine": mine}),
    "setattr": lambda mine: setattr(F, "gelu", mine),
    "update": lambda mine: F.__dict__.update(gelu=mine),
}


@pytest.mark.parametrize("name", WRITES_TO_A_MODULE)
def test_a_function_is_replaced_on_the_way(name, monkeypatch):
    monkeypatch.setattr(F, "gelu", F.gelu)
    own, write, layer = F.gelu, WRITES_TO_A_MODULE[name], nn.GELU()

    def mine(x, *args):
        return x * 17

    def by_item(x):
        vars(F)["gelu"] = mine
        return layer(x), F.gelu(x)

    def f(x):
        write(mine)
        return layer(x), F.gelu(x)

    x = paddle.ones([2])
    for function in (f, by_item):
        found = []
        for door in (lambda f: f, sot.to_static):
            called = door(function)
            rounds = []
            for _ in range(CALLS):
                rounds.append(picture(called(x)))
                F.gelu = own
            found.append(rounds)
        assert found[1] == found[0]
