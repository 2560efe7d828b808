"""What a program can ask an output for is the same on every call, whoever executes the graph.

No measured time decides who that is: replay serves the first calls, the compiled form all others.
"""

import os
import subprocess
import sys
import warnings

os.environ["SOT_MEASURE"] = "0"

import paddle  # noqa: E402
import pytest  # noqa: E402

import sot  # noqa: E402


def facts(t):
    return {
        "class": type(t),
        "dtype": t.dtype,
        "shape": list(t.shape),
        "strides": t.strides,
        "contiguous": t.is_contiguous(),
        "stop_gradient": t.stop_gradient,
        "is_leaf": t.is_leaf,
        "node": t.grad_fn is not None,
        "persistable": t.persistable,
        "version": t.inplace_version,
        "place": str(t.place),
        "name": t.name.rstrip("0123456789"),
    }


linear = paddle.nn.Linear(4, 4)

FUNCTIONS = {
    "plain": lambda x: (x * 2, x.sum()),
    "layer": lambda x: linear(x),
    "mixed": lambda x: (linear(x), x * 2, (x * 3).astype("int64"), linear(x).detach()),
    "transposed": lambda x: (x * 2).transpose([1, 0]) + 1,
    "transposed_result": lambda x: (x * 2).transpose([1, 0]),
    "sliced": lambda x: (x + 1)[1:, ::2],
    "created": lambda x: (x + 1, paddle.zeros([2]), paddle.arange(3), paddle.to_tensor([1.0]), paddle.full([2], 3)),
    "filled": lambda x: (x + 1, paddle.zeros([2]), paddle.arange(3), paddle.full([2], 3)),
    "random": lambda x: (paddle.rand([2]) + x.sum(), paddle.randint(0, 5, [3])),
    "compared": lambda x: (x > 0.5, x.argmax(), paddle.topk(x, 2)),
    "itself": lambda x: (x, x + 1),
    "cast": lambda x: (x.astype("float64"), x.astype("float32")),
}


def flat(y):
    return [t for i in y for t in flat(i)] if isinstance(y, (list, tuple)) else [y]


@pytest.mark.parametrize("mode", ["plain", "grad", "no_grad"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_attributes(name, mode):
    f = FUNCTIONS[name]
    translated = sot.to_static(f)
    for _ in range(16):
        x = paddle.rand([4, 4])
        x.stop_gradient = mode != "grad"
        with paddle.set_grad_enabled(mode != "no_grad"):
            expected, got = flat(f(x)), flat(translated(x))
        assert [facts(t) for t in got] == [facts(t) for t in expected]


def test_names_are_unique():
    translated = sot.to_static(lambda x: (x * 2, x + 1))
    names = [t.name for _ in range(20) for t in translated(paddle.rand([4]))]
    assert len(set(names)) == len(names)


def test_a_plain_graph_is_compiled_all_the_same():
    for name in ("plain", "transposed", "filled", "random", "compared"):
        translated = sot.to_static(FUNCTIONS[name])
        for _ in range(10):
            translated(paddle.rand([4, 4]))
        (graph,) = sot.explain(translated)(paddle.rand([4, 4])).graphs
        assert graph.replay_only is None, (name, graph.replay_only)


def test_gradients():
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.scale = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 4), self.create_parameter([4])

        def forward(self, x, z):
            return self.b(self.a(x) * self.scale) * z

    net = Net()
    translated = sot.to_static(net.forward)
    for i in range(16):
        seen = []
        for function in (net.forward, translated):
            x, leaf = paddle.ones([2, 4]) * (i + 1), paddle.ones([4])
            leaf.stop_gradient = False
            z = leaf * 2
            z.retain_grads()
            function(x, z).sum().backward()
            if i % 3 == 0:
                function(x, leaf).sum().backward()
            grads = [p.grad for p in [*net.parameters(), leaf, z]]
            seen.append([(facts(g), g.tolist()) for g in grads])
            net.clear_gradients(set_to_zero=False)
        assert seen[0] == seen[1]


def test_gradients_that_stay_none():
    used, unused = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 4)

    def f(x):
        return used(x), unused(x)

    translated = sot.to_static(f)
    for _ in range(12):
        translated(paddle.rand([2, 4]))[0].sum().backward()
        assert used.weight.grad.stop_gradient is False
        assert unused.weight.grad is None or not unused.weight.grad.stop_gradient
        used.clear_gradients(set_to_zero=False)


def test_warnings_of_layers_are_heard_on_every_call():
    norm = paddle.nn.BatchNorm1D(4)
    norm.eval()
    shuffle = paddle.nn.Sequential(paddle.nn.BatchNorm1D(4, use_global_stats=False))

    def heard(f, *args):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            f(*args)
        return [(w.category, str(w.message), w.filename.rsplit("/", 1)[-1]) for w in caught]

    cases = {
        "train": (paddle.nn.BatchNorm1D(4), paddle.rand([3, 4])),
        "eval": (norm, paddle.rand([3, 4])),
        "sequence": (shuffle, paddle.rand([3, 4])),
        "pool": (paddle.nn.MaxPool2D(2, return_mask=False), paddle.rand([1, 1, 4, 4])),
    }
    some = False
    for name, (layer, x) in cases.items():
        translated = sot.to_static(lambda x: layer(x) * 2)
        for _ in range(14):
            expected = heard(layer, x)
            assert heard(translated, x) == expected, name
            some |= bool(expected)
    assert some, "none of these warns: take others"


EMPTY = paddle.zeros([0, 4])
WRITTEN = {
    "sum": lambda x: x * 2 + 1,
    "layer": lambda x: linear(x),
    "two": lambda x: (x * 2, x.sum()),
    "same_twice": lambda x: ((x + 1),) * 2,
    "detached": lambda x: linear(x).detach(),
    "created": lambda x: (x + 1, paddle.zeros([2])),
    "empty": lambda x: (x + 1, EMPTY * 2),
    "transposed": lambda x: (x * 2).transpose([1, 0]),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_in_place_writes_are_counted_for_each_result(name):
    def seen(f):
        told, kept = [], []
        with paddle.no_grad():
            for i in range(14):
                results = flat(f(paddle.rand([4, 4])))
                told.append([t.inplace_version for t in results])
                for t in results[: i % 3]:
                    t.add_(paddle.ones_like(t))
                kept.append(results)
                told.append([t.inplace_version for results in kept for t in results])
        return told

    assert seen(sot.to_static(WRITTEN[name])) == seen(WRITTEN[name])


def test_a_result_that_is_written_spoils_no_other_for_its_gradient():
    """One call's result is needed for gradients while that of the next is written in place."""
    teacher = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 4))
    for parameter in teacher.parameters():
        parameter.stop_gradient = True
    student = paddle.nn.Linear(4, 4)

    def gradients(teacher):
        paddle.seed(3)
        told = []
        for _ in range(16):
            x = paddle.rand([2, 4])
            first, second = teacher(x), teacher(x + 1)
            second.subtract_(second.mean(0))
            ((student(x) * first).sum() + (student(x) * second).sum()).backward()
            told.append(student.weight.grad.numpy().tobytes())
            student.clear_gradients()
        return told

    assert gradients(sot.to_static(teacher)) == gradients(teacher)


LOOKED_AT = {
    "nothing": lambda x: linear(linear(x)) * 2,
    "a_number_that_is_none": lambda x: (x.log() + 1, x.sum()),
}


@pytest.mark.parametrize("name", LOOKED_AT)
@pytest.mark.parametrize("how", ["statistics", "check", "check_and_back"])
def test_what_paddle_tells_of_each_operation(name, how, capfd):
    """Operations are counted, or looked at for what is not finite, as eager runs them."""

    def told(f):
        seen = []
        with paddle.no_grad():
            for i in range(14):
                checks = how == "check" or how == "check_and_back" and i % 4 > 1
                paddle.set_flags({"FLAGS_check_nan_inf": checks, "FLAGS_check_nan_inf_level": 1})
                try:
                    if how == "statistics":
                        with paddle.amp.debugging.collect_operator_stats():
                            f(paddle.full([2, 4], -1.0))
                    else:
                        f(paddle.full([2, 4], -1.0))
                finally:
                    paddle.set_flags({"FLAGS_check_nan_inf": False})
                # Addresses and times of day.
                out, err = capfd.readouterr()
                seen.append((out.count("\n"), err.count("\n"), out if how == "statistics" else ""))
        return seen

    assert told(sot.to_static(LOOKED_AT[name])) == told(LOOKED_AT[name])


def test_names_of_tensors_are_counted_as_plain():
    """In a process of its own: what captures for the first time makes tensors of its own."""
    program = (
        "import sys, paddle, sot\n"
        "f = lambda: (paddle.to_tensor(1.0).name, paddle.to_tensor([2.0]).name)\n"
        "f = sot.to_static(f) if sys.argv[1] == 'captured' else f\n"
        "print([f() for _ in range(4)])"
    )
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    told = [
        subprocess.run([sys.executable, "-W", "ignore", "-c", program, door], env=environment, capture_output=True, text=True).stdout
        for door in ("plain", "captured")
    ]
    assert told[0] == told[1] and "generated_tensor_0" in told[0]
