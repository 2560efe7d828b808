"""Programs that train, and what becomes of them: for the tests of training steps."""

import os
import traceback

os.environ["SOT_MEASURE"] = "0"

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402

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


def registry():
    """Programs by name, and what adds a maker of a world to them: of a function of a batch, its layers, and what else happens before which
    call. What is one graph is said by hand."""
    programs = {}

    def program(graphs=None, breaks=None):
        def add(make):
            programs[make.__name__] = make, graphs, breaks
            return make

        return add

    return programs, program


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
    own = [(told(net.flag), net.count, told(net.log))] if isinstance(net, Net) else []
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


def by_an_entry(make, graphs, breaks):
    plain = course(make, lambda f: f)
    sot.reset()
    assert course(make, sot.to_static) == plain
    stats = sot.stats()
    if graphs is not None:
        assert (stats["graphs"], stats["breaks"], stats["graph_failures"]) == (graphs, breaks, 0)


def by_the_hook(make):
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
