"""`paddle.amp.auto_cast` inside of captured functions: one graph, and all that a program can tell of it as eager has it.

On a CPU Paddle casts nothing and says so, once for each place: a call that is the first to say it breaks there. From then on nobody hears
of it, until the filters of warnings change; so what is tested here as one graph has been called before under the filters of the test.
"""

import os
import sys
import warnings

os.environ["SOT_MEASURE"] = "0"

import paddle  # noqa: E402
import pytest  # noqa: E402
import sot  # noqa: E402
from gradients import facts, flat  # noqa: E402
from models import amp  # noqa: E402
from paddle.base.framework import _dygraph_tracer  # noqa: E402
from paddle.nn import functional as F  # noqa: E402

CALLS = 10
linear = paddle.nn.Linear(3, 3)
state = sys.modules["paddle.amp.auto_cast"]


@pytest.fixture(autouse=True)
def said_before():
    """Nobody hears of the warning any more."""
    with paddle.amp.auto_cast():
        pass
    yield
    of_tracer()  # It can be asked.
    assert paddle.amp.auto_cast.__module__ == "paddle.amp.auto_cast" and state.amp_state() is None


def of_tracer():
    """All that `auto_cast` changes, as it is now."""
    tracer = _dygraph_tracer()
    lists = [sorted(names) for names in tracer._get_amp_op_list()]
    read = str(tracer._amp_level), tracer._amp_dtype, tracer._use_promote, lists
    return read, state.amp_state(), vars(state.amp_global_state()).copy()


def seen(function, requires_grad=True):
    """All that a call shows."""
    x = paddle.to_tensor([0.5, -1.0, 2.0], stop_gradient=not requires_grad)
    linear.clear_gradients(set_to_zero=False)
    state.amp_global_state().amp_dtype = "float32"
    try:
        result = function(x)
    except Exception as error:
        result = [type(error).__name__, str(error)]
    after = of_tracer()
    outputs = flat(result)
    found = [(facts(o), str(o.dtype)) if isinstance(o, paddle.Tensor) else o for o in outputs]
    sums = [o.astype("float32").sum() for o in outputs if isinstance(o, paddle.Tensor) and not o.stop_gradient]
    if sums:
        paddle.add_n(sums).backward()
    gradients = [t.grad for t in (x, linear.weight, linear.bias)]
    return found, after, [g if g is None else (str(g.dtype), g.numpy().tolist()) for g in gradients]


def compare(function, counting, graphs=1, breaks=0, requires_grad=True):
    """Eager's results at each call, and these decisions at the first; from the second on there are hits alone."""
    wanted = seen(function, requires_grad)
    translated = sot.to_static(function)
    with counting() as first:
        assert seen(translated, requires_grad) == wanted, "first call"
    reasons = sot.stats()["reasons"]
    assert (first.graphs, first.breaks, first.fallbacks) == (graphs, breaks, 0), reasons
    with counting() as rest:
        for call in range(CALLS):
            assert seen(translated, requires_grad) == wanted, f"call {call}"
    assert (rest.captures, rest.fallbacks) == (0, 0), sot.stats()["missed"]


# ----- one graph


def block(x):
    with paddle.amp.auto_cast():
        y = linear(x)
    return y, y * x


def bfloat16(x):
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
        return F.softmax(linear(x)) @ x


def o2(x):
    with paddle.amp.auto_cast(level="O2", dtype="float16"):
        return F.gelu(linear(x))


def o2_without_promotion(x):
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16", use_promote=False):
        y = linear(x)
        promotes = _dygraph_tracer()._use_promote
    return y + x, promotes, _dygraph_tracer()._use_promote


def o0(x):
    with paddle.amp.auto_cast(level="O0"):
        return linear(x) + x


def od(x):
    with paddle.amp.auto_cast(level="OD"):
        return linear(x) + x


def small_letters(x):
    with paddle.amp.auto_cast(level="o1", dtype="FLOAT16"):
        return linear(x) + x


def off(x):
    with paddle.amp.auto_cast(enable=False):
        return linear(x) + x


def off_of_another_type(x):
    with paddle.amp.auto_cast(enable=False, dtype="float16", level="O2"):
        return linear(x) + x


def lists(x):
    with paddle.amp.auto_cast(custom_white_list={"gelu", "exp"}, custom_black_list=["linear_v2"]):
        return F.gelu(linear(x)).exp()


def lists_of_tuples(x):
    with paddle.amp.auto_cast(True, ("tanh",), ("matmul_v2", "conv2d"), "O2", "bfloat16"):
        return F.tanh(linear(x))


def by_another_name(x):
    with paddle.amp.amp_guard(level="O1"):
        y = linear(x)
    with paddle.amp.autocast("cpu", "bfloat16"):
        z = y * x
    return y, z


def nested(x):
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
        a = linear(x)
        with paddle.amp.auto_cast(enable=False):
            b = a.exp()
            with paddle.amp.auto_cast(level="O2"):
                c = linear(b)
            d = c + a
        e = linear(d)
    return a, b, c, d, e * x


def reads(x):
    found = [paddle.is_autocast_enabled(), paddle.get_autocast_dtype(), state.amp_state() is None]
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        y = linear(x)
        found += [paddle.is_autocast_enabled(), paddle.get_autocast_dtype(), paddle.amp.is_bfloat16_supported()]
        found += [str(_dygraph_tracer()._amp_level), _dygraph_tracer()._amp_dtype, sorted(state.amp_state())]
        found += [state.amp_state()["level"], state.amp_global_state().amp_dtype, str(y.dtype)]
        found += [state._in_amp_guard(), state._in_pure_fp16_guard()]
    found += [state.amp_state() is None, state.amp_global_state().amp_dtype]
    return found, y * x


@paddle.amp.auto_cast(level="O1", dtype="bfloat16")
def decorated_one(x):
    return linear(x) + x


def calls_decorated(x):
    return decorated_one(x), decorated_one(x * 2) * x


def leaves_by_return(x):
    def inner(x):
        with paddle.amp.auto_cast():
            return linear(x)

    return inner(x) * x


def leaves_by_exception(x):
    try:
        with paddle.amp.auto_cast(level="O2"):
            y = linear(x)
            raise KeyError("k")
    except KeyError as error:
        return y * x, str(error), str(_dygraph_tracer()._amp_level)


def in_a_loop(x):
    for i in range(4):
        with paddle.amp.auto_cast(enable=i % 2 == 0, dtype="bfloat16"):
            if i == 3:
                break
            x = linear(x) + i
    return x


def on_condition(x, wanted=True):
    context = paddle.amp.auto_cast(level="O2") if wanted else paddle.no_grad()
    with context:
        y = linear(x)
    return y + x


def entered_by_hand(x):
    context = paddle.amp.auto_cast()
    context.__enter__()
    y = linear(x)
    context.__exit__(None, None, None)
    return y * x


def nothing_computed(x):
    with paddle.amp.auto_cast():
        pass
    return x * 2


def without_gradients(x):
    with paddle.amp.auto_cast(dtype="bfloat16"), paddle.no_grad():
        y = linear(x)
    return y, y * x


def named(x, settings={"level": "O1", "dtype": "bfloat16", "enable": True}):  # noqa: B006
    with paddle.amp.auto_cast(**settings):
        return linear(x) * x


def types_of_its_own(x):
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
        low = x.astype("bfloat16")
        y = low * 2 + low
        z = linear(x) + y.astype("float32")
    return low, y, z


ONE_GRAPH = [
    block, bfloat16, o2, o2_without_promotion, o0, od, small_letters, off, off_of_another_type, lists, lists_of_tuples,
    by_another_name, nested, reads, calls_decorated, leaves_by_return, leaves_by_exception, in_a_loop, on_condition,
    entered_by_hand, nothing_computed, without_gradients, named, types_of_its_own, decorated_one,
]  # fmt: skip


@pytest.mark.parametrize("requires_grad", [True, False], ids=["grad", "stop"])
@pytest.mark.parametrize("function", ONE_GRAPH, ids=lambda f: f.__name__)
def test_one_graph(function, requires_grad, counting):
    compare(function, counting, requires_grad=requires_grad)


@pytest.mark.parametrize("settings", [{"level": "O1"}, {"level": "O2", "dtype": "bfloat16"}, {"enable": False}])
def test_below_a_context_of_the_caller(settings, counting):
    """It is put back what was in force, whatever that is."""

    def within(function):
        def call(x):
            with paddle.amp.auto_cast(**settings):
                return function(x), of_tracer()

        return call

    wanted = seen(within(nested))
    translated = sot.to_static(nested)
    with counting() as first:
        assert seen(within(translated)) == wanted
    assert (first.graphs, first.breaks, first.fallbacks) == (1, 0, 0), sot.stats()["reasons"]
    for _ in range(CALLS):
        assert seen(within(translated)) == wanted
    # And without one.
    assert seen(translated) == seen(nested)


@pytest.mark.parametrize("decorate", [lambda f: paddle.amp.auto_cast(level="O2")(f), lambda f: f])
def test_a_forward(decorate, counting):
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.use_amp = True

        @decorate
        def forward(self, x):
            with paddle.amp.auto_cast(enable=self.use_amp, dtype="bfloat16"):
                return linear(x)

    eager, net = Net(), Net()
    sot.to_static(net)
    wanted = seen(eager)
    with counting() as first:
        assert seen(net) == wanted
    assert (first.graphs, first.breaks, first.fallbacks) == (1, 0, 0), sot.stats()["reasons"]
    for _ in range(CALLS):
        assert seen(net) == wanted
    eager.use_amp = net.use_amp = False
    assert seen(net) == seen(eager)


@pytest.mark.parametrize("name", ["O1", "O2", "off"])
def test_a_model(name, counting):
    def make():
        paddle.seed(5)
        return amp.AmpModel(use_amp=name != "off", level="O1" if name == "off" else name)

    def results(model):
        paddle.seed(5)
        x = paddle.randn([2, 4, 8])
        out = model(x)
        loss = sum(o.astype("float32").mean() for o in out.values())
        loss.backward()
        found = [facts(o) for o in out.values()], [p.grad.numpy().tolist() for p in model.parameters()]
        model.clear_gradients()
        return found

    eager, net = make(), make()
    sot.to_static(net)
    wanted = results(eager)
    with counting() as first:
        assert results(net) == wanted
    assert (first.graphs, first.breaks, first.fallbacks) == (1, 0, 0), sot.stats()["reasons"]
    for _ in range(CALLS):
        assert results(net) == wanted


def test_frames_below_plain_python(counting):
    """The other door: what the hook captures."""

    def plain(x):
        return [block(x), nested(x)]

    wanted = seen(plain)
    with counting() as first:
        assert seen(lambda x: sot.symbolic_translate(plain)(x)) == wanted
    assert (first.breaks, first.fallbacks) == (0, 0), sot.stats()["reasons"]


# ----- breaks


def breaks_inside(x):
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        y = linear(x)
        print(of_tracer()[0], paddle.get_autocast_dtype())
        z = y * x
    print(of_tracer()[0])
    return y, z


def breaks_in_a_loop(x):
    for i in range(3):
        with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
            x = linear(x)
            print(i, of_tracer()[0])
            if i == 1:
                continue
        x = x + 1
    return x


def returns_behind_a_break(x):
    with paddle.amp.auto_cast(custom_white_list={"tanh"}):
        print(of_tracer()[0])
        return linear(x) * x


def raises_behind_a_break(x):
    try:
        with paddle.amp.auto_cast(level="O2"):
            y = linear(x)
            print(of_tracer()[0])
            raise KeyError(1)
    except KeyError:
        print(of_tracer()[0])
    return y * x


def raises_for_the_caller(x):
    with paddle.amp.auto_cast(level="O2"):
        y = linear(x)
        raise KeyError(float(y.sum()))


def breaks_in_a_decorated_one(x):
    @paddle.amp.auto_cast(level="O2")
    def inner(x):
        y = linear(x)
        print(of_tracer()[0])
        return y * 2

    return inner(x) + x


def breaks_in_nested_ones(x):
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
        with paddle.amp.auto_cast(level="O2"):
            y = linear(x)
            print(of_tracer()[:2])
        print(of_tracer()[:2])
        y = y * x
    print(of_tracer()[:2])
    return y


@pytest.mark.parametrize(
    "function",
    [
        breaks_inside, breaks_in_a_loop, returns_behind_a_break, raises_behind_a_break, raises_for_the_caller,
        breaks_in_a_decorated_one, breaks_in_nested_ones,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_breaks(function, capsys):
    wanted = seen(function), capsys.readouterr().out
    translated = sot.to_static(function)
    for call in range(CALLS):
        assert (seen(translated), capsys.readouterr().out) == wanted, f"call {call}"
    assert sot.stats()["fallbacks"] == 0


# ----- what eager refuses


@pytest.mark.parametrize(
    "settings",
    [
        {"level": "O7"},
        {"dtype": "float64"},
        {"dtype": "float32"},
        {"custom_white_list": {"exp"}, "custom_black_list": {"exp"}},
        {"enable": False, "dtype": "float64"},
        {"enable": False, "dtype": "float64", "level": "O0"},
        {"dtype": 3},
        {"level": None},
    ],
    ids=str,
)
def test_what_is_refused(settings):
    def function(x):
        with paddle.amp.auto_cast(**settings):
            y = linear(x)
        return y * x

    wanted = seen(function)
    state._g_amp_state_ = None
    translated = sot.to_static(function)
    for _ in range(4):
        assert seen(translated) == wanted
        state._g_amp_state_ = None


# ----- warnings


def texts(function, action, calls=4):
    """What is recorded of each of some calls."""
    found = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter(action)
        for _ in range(calls):
            function(paddle.to_tensor([0.5, -1.0, 2.0]))
            found.append([(str(w.message), w.category, w.filename, w.lineno) for w in told])
            del told[:]
    return found


@pytest.mark.parametrize("action", ["always", "default", "once", "module", "ignore"])
@pytest.mark.parametrize("function", [block, nested, in_a_loop, off], ids=lambda f: f.__name__)
def test_warnings(function, action):
    translated = sot.to_static(function)
    for captured in range(3):
        assert texts(translated, action) == texts(function, action), captured
    # And captured where nobody hears of it.
    for _ in range(3):
        translated(paddle.ones([3]))
    assert texts(translated, action) == texts(function, action)


@pytest.mark.parametrize("captured", [False, True])
def test_a_warning_that_is_an_error(captured):
    translated = sot.to_static(block)
    if captured:
        for _ in range(3):
            translated(paddle.ones([3]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in (block, translated, translated):
            with pytest.raises(UserWarning, match="it makes no effect"):
                function(paddle.ones([3]))
            state._g_amp_state_ = None
    assert seen(translated) == seen(block)


def test_filters_that_the_program_changes_itself():
    def function(x, told):
        with warnings.catch_warnings(record=True) as own:
            warnings.simplefilter("always")
            with paddle.amp.auto_cast():
                y = linear(x)
        told.append(len(own))
        return y

    def counts(function):
        told = []
        for _ in range(4):
            function(paddle.ones([3]), told)
        return told

    assert counts(sot.to_static(function)) == counts(function) == [1] * 4


def test_ignored_for_each_call(counting):
    """A caller that changes the filters each time, so that each one is as if it were the first."""
    translated = sot.to_static(block)

    def call():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return translated(paddle.ones([3]))

    call()
    with counting() as rest:
        for _ in range(CALLS):
            call()
    assert (rest.captures, rest.breaks, rest.fallbacks) == (0, 0, 0)


def test_warnings_of_the_program(counting):
    def function(x):
        warnings.warn("a warning of the program", DeprecationWarning)
        return x * 2

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        function(paddle.ones([3]))
        translated = sot.to_static(function)
        with counting() as first:
            translated(paddle.ones([3]))
    assert [str(w.message) for w in told] == ["a warning of the program"]
    assert (first.graphs, first.breaks) == (1, 0), sot.stats()["reasons"]
    assert texts(translated, "always") == texts(function, "always")


# ----- the state that is set by hand


def sets_a_level(x):
    tracer = _dygraph_tracer()
    before = tracer._amp_level
    tracer._amp_dtype, tracer._use_promote = "bfloat16", True
    y = linear(x)
    found = str(tracer._amp_level), tracer._amp_dtype, tracer._use_promote
    tracer._amp_dtype, tracer._use_promote, tracer._amp_level = "float32", False, before
    return y * x, found, tracer._amp_level == before


def reads_lists(x):
    with paddle.amp.auto_cast(custom_white_list=["tanh"]):
        white, black = _dygraph_tracer()._get_amp_op_list()
        y = linear(x)
    return y, sorted(white), sorted(black), type(white).__name__


@pytest.mark.parametrize("function", [sets_a_level, reads_lists], ids=lambda f: f.__name__)
def test_by_hand(function):
    wanted = seen(function)
    translated = sot.to_static(function)
    for _ in range(CALLS):
        assert seen(translated) == wanted


def test_its_own_dict(counting):
    """What the state that Paddle keeps for the process does, in a class of the program."""

    class State:
        def __setattr__(self, name, value):
            self.__dict__[name] = value

    kept = State()

    def function(x):
        kept.a = 1
        kept.b = "b"
        first = kept.a, kept.b, list(kept.__dict__)
        kept.__dict__["a"] = 3
        kept.c = kept.a + 1
        return x * kept.c, first, vars(kept).copy()

    def call(function):
        kept.__dict__.clear()
        return seen(function), list(vars(kept).items())

    wanted = call(function)
    translated = sot.to_static(function)
    for _ in range(CALLS):
        assert call(translated) == wanted


def test_the_first_call_of_all_warns():
    """The warning is heard once: a break in that call, and one graph from the next one on."""
    module = sys.modules["paddle.amp.auto_cast"]

    def function(x):
        with paddle.amp.auto_cast():
            return linear(x)

    heard = []
    for door in (lambda f: f, sot.to_static):
        vars(module).pop("__warningregistry__", None)
        called = door(function)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("default")
            called(paddle.ones([2, 3]))
            called(paddle.ones([2, 3]))
            before = sot.stats()
            for _ in range(3):
                called(paddle.ones([2, 3]))
            after = sot.stats()
            report = sot.explain(function)(paddle.ones([2, 3]))
        heard.append(len(told))
    assert heard == [1, 1]
    assert (after["captures"] - before["captures"], after["hits"] - before["hits"]) == (0, 3)
    assert (len(report.graphs), list(report.breaks)) == (1, [])
