"""Whether gradients are recorded changes inside of captured functions: one graph, and every flag and gradient as eager has them.

No measured time decides who runs a graph: replay serves the first calls, the compiled form (where it is exact) all others.
"""

import os
import random

os.environ["SOT_MEASURE"] = "0"

import paddle  # noqa: E402
import pytest  # noqa: E402
import sot  # noqa: E402
from gradients import CALLS, compare, compare_output, linear, seen  # noqa: E402
from paddle.base.dygraph import no_grad as no_grad_of_old  # noqa: E402


def block(x):
    with paddle.no_grad():
        y = linear(x)
    return y, y * x


def decorated(x):
    @paddle.no_grad()
    def inner(x):
        return x * 2

    return inner(x) * x


@paddle.no_grad()
def frozen(x):
    return linear(x) * 2


@no_grad_of_old
def frozen_as_of_old(x):
    return linear(x) * 2


@paddle.enable_grad()
def recorded(x):
    return linear(x) + x


def calls_decorated(x):
    return frozen(x) * x, frozen_as_of_old(x) + linear(x), recorded(x)


def nested(x):
    with paddle.no_grad():
        a = x * 2
        with paddle.enable_grad():
            b = x * 3
            with paddle.set_grad_enabled(False):
                c = b * x
            d = b + c
        e = linear(d)
    return a, b, c, d, e, a * b + c * d + e + x


def leaves_it_changed(x):
    y = x * 2
    paddle.set_grad_enabled(False)
    z = x * 3
    return y, z, y * z


def reads(x):
    modes = [paddle.is_grad_enabled()]
    with paddle.no_grad():
        modes.append(paddle.is_grad_enabled())
        y = x * 2
        modes.append(y.stop_gradient)
        with paddle.enable_grad():
            modes.append(paddle.is_grad_enabled())
    modes.append(paddle.is_grad_enabled())
    modes.append((x * 2).stop_gradient)
    return modes, y


def views(x):
    with paddle.no_grad():
        y = x * 2
        v = y.reshape([3, 1])
    return v.reshape([3]) * x, y


def an_argument_itself(x):
    with paddle.no_grad():
        y = x
        z = x.reshape([3])
    return y, z * x


def many_operations_in_one(x):
    with paddle.no_grad():
        y = paddle.nn.functional.layer_norm(linear(x).reshape([1, 3]), [3])
        z = paddle.nn.functional.gelu(y)
    return z * x


def nothing_computed(x):
    with paddle.no_grad():
        pass
    return x * 2


def an_exception_leaves(x):
    try:
        with paddle.no_grad():
            y = x * 2
            raise KeyError("k")
    except KeyError:
        mode = paddle.is_grad_enabled()
    return y * x, mode


def a_return_leaves(x):
    def inner():
        with paddle.no_grad():
            return x * 2

    return inner() * x, paddle.is_grad_enabled()


def a_loop_leaves(x):
    for i in range(3):
        with paddle.no_grad():
            x2 = x * i
            if i == 1:
                break
    return x2, x2 * x, paddle.is_grad_enabled()


def generated(x):
    with paddle.no_grad():
        yield x * 2
        yield x * 3


def a_generator_holds_it(x):
    modes, out = [], []
    for value in generated(x):
        modes.append(paddle.is_grad_enabled())
        out.append(value * x)
    return modes, out, x * 2, paddle.is_grad_enabled()


@paddle.no_grad()
def generator_of_a_decorator(x):
    yield x * 2


def a_decorated_generator(x):
    return list(generator_of_a_decorator(x)), x * 3


class Kept:
    pass


kept = Kept()


def among_other_effects(x):
    with paddle.no_grad():
        kept.value = x * 2
    kept.mode = paddle.is_grad_enabled()
    return kept.value, x * kept.value


def no_operation_of_the_other_mode(x):
    with paddle.enable_grad():
        y = x * 2
    with paddle.no_grad():
        z = x.detach()
    return y, z


ONE_GRAPH = [
    block,
    calls_decorated,
    nested,
    leaves_it_changed,
    reads,
    views,
    an_argument_itself,
    many_operations_in_one,
    nothing_computed,
    an_exception_leaves,
    a_return_leaves,
    a_loop_leaves,
    a_generator_holds_it,
    among_other_effects,
    no_operation_of_the_other_mode,
]


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize("entered", [True, False])
@pytest.mark.parametrize("function", ONE_GRAPH, ids=lambda f: f.__name__)
def test_one_graph(function, entered, requires_grad):
    compare(function, entered, requires_grad=requires_grad)


@pytest.mark.parametrize("entered", [True, False])
@pytest.mark.parametrize("function", [decorated, a_decorated_generator], ids=lambda f: f.__name__)
def test_as_eager(function, entered):
    wanted = seen(function, entered)
    translated = sot.to_static(function)
    for _ in range(CALLS):
        assert seen(translated, entered) == wanted


def test_a_graph_of_mixed_modes_is_compiled_where_it_records_nothing():
    for function in (block, nested, views, many_operations_in_one):
        (graph,) = sot.explain(function)(paddle.ones([3])).graphs
        assert graph.sir.count("grad_mode") >= 1
        assert graph.replay_only is None, (function.__name__, graph.replay_only)
        translated = sot.to_static(function)
        for _ in range(CALLS):
            translated(paddle.ones([3]))
        (graph,) = sot.explain(translated)(paddle.ones([3])).graphs
        assert graph.replay_only is None, (function.__name__, graph.replay_only)


def test_what_is_entered_without_gradients_and_records_some_is_replayed():
    with paddle.no_grad():
        (graph,) = sot.explain(calls_decorated)(paddle.ones([3])).graphs
    assert graph.replay_only == "gradients are recorded"


# ----- breaks


def prints_inside(x):
    with paddle.no_grad():
        y = x * 2
        print(paddle.is_grad_enabled(), y.stop_gradient)
        z = y * x
    print(paddle.is_grad_enabled())
    return y * x, z


@pytest.mark.parametrize("entered", [True, False])
def test_a_break_finds_the_real_mode(entered, capsys):
    compare_output(prints_inside, entered, capsys)


modes_seen = []


def opaque(x):
    modes_seen.append(paddle.is_grad_enabled())
    return x.numpy().sum() > 0


def raises(x):
    modes_seen.append(paddle.is_grad_enabled())
    raise ValueError(int(x.numpy().sum()))


def a_call_that_breaks(x):
    with paddle.no_grad():
        y = x * 2
        if opaque(y):
            y = y * 3
    return y * x


def a_call_that_raises(x):
    try:
        with paddle.no_grad():
            y = x * 2
            raises(y)
    except ValueError as error:
        return y * x, str(error), paddle.is_grad_enabled()


def an_exception_for_the_caller(x):
    with paddle.no_grad():
        y = x * 2
        raises(y)


@pytest.mark.parametrize("entered", [True, False])
@pytest.mark.parametrize(
    "function", [a_call_that_breaks, a_call_that_raises, an_exception_for_the_caller], ids=lambda f: f.__name__
)
def test_modes_over_breaks(function, entered):
    modes_seen.clear()
    wanted = seen(function, entered), list(modes_seen)
    translated = sot.to_static(function)
    for _ in range(CALLS):
        modes_seen.clear()
        assert (seen(translated, entered), list(modes_seen)) == wanted


def test_a_failing_graph_leaves_the_mode():
    table = paddle.ones([2, 3])

    def f(x, index):
        with paddle.no_grad():
            y = paddle.nn.functional.embedding(index, table)
        return y * x

    translated = sot.to_static(f)
    x = paddle.to_tensor([0.5, -1.0, 2.0], stop_gradient=False)
    for _ in range(3):
        assert not translated(x, paddle.to_tensor([1])).stop_gradient
    with pytest.raises(Exception, match="(?i)embedding|index|id"):
        translated(x, paddle.to_tensor([7]))
    assert paddle.is_grad_enabled()


class Ends:
    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append(paddle.is_grad_enabled())


def test_finalizers_find_the_mode():
    def f(x, log):
        with paddle.no_grad():
            y = x * 2
            Ends(log)
            held = Ends(log)
            kept.other = Ends(log)
        del held
        with paddle.no_grad():
            kept.other = None
        return y * x

    wanted = []
    f(paddle.ones([3]), wanted)
    translated = sot.to_static(f)
    for _ in range(CALLS):
        log = []
        translated(paddle.ones([3]), log)
        assert log == wanted


def test_the_mode_of_the_entry_is_guarded():
    def f(x):
        with paddle.no_grad():
            y = x * 2
        return y, x * 3

    translated = sot.to_static(f)
    x = paddle.ones([3])
    x.stop_gradient = False
    for call in range(8):
        with paddle.set_grad_enabled(call % 2 == 0):
            assert translated(x)[1].stop_gradient == (call % 2 == 1)
    assert sot.stats()["captures"] == 2


# ----- programs by chance


def program(seed):
    """A function of nested modes, and of operations on what there is so far."""
    rng = random.Random(seed)
    lines, depth, made = [], 1, ["x"]
    pad = lambda: "    " * depth
    for _ in range(rng.randint(4, 14)):
        kind = rng.random()
        if kind < 0.25 and depth < 4:
            mode = rng.choice(["no_grad()", "enable_grad()", "set_grad_enabled(False)", "set_grad_enabled(True)"])
            lines.append(f"{pad()}with paddle.{mode}:")
            depth += 1
            name = f"v{len(made)}"
            lines.append(f"{pad()}{name} = {rng.choice(made)} * 1.5")
            made.append(name)
        elif kind < 0.4 and depth > 1:
            depth -= 1
        else:
            name, a, b = f"v{len(made)}", rng.choice(made), rng.choice(made)
            form = rng.choice(
                ["{a} * {b}", "{a} + {b} * 0.5", "linear({a})", "{a}.detach() * {b}", "paddle.tanh({a})", "{a}.clone()"]
            )
            lines.append(f"{pad()}{name} = {form.format(a=a, b=b)}")
            made.append(name)
    outputs = ", ".join(rng.sample(made, min(len(made), rng.randint(1, 5))))
    source = "def f(x):\n" + "\n".join(lines) + f"\n    return {outputs},\n"
    space = {"paddle": paddle, "linear": linear}
    exec(compile(source, f"<program {seed}>", "exec"), space)
    return space["f"], source


@pytest.mark.parametrize("seed", range(60))
def test_programs(seed):
    function, source = program(seed)
    for entered, requires_grad in [(True, True), (True, False), (False, True), (False, False)]:
        wanted = seen(function, entered, requires_grad)
        sot.reset()
        translated = sot.to_static(function)
        for call in range(10):
            assert seen(translated, entered, requires_grad) == wanted, f"call {call} of\n{source}"
        assert not [r for r in sot.stats()["reasons"] if r != "ambient-mode"], source
