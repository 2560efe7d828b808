"""What the translator expects of a backend, asked through Python: each test is a promise of `sot_core::backend`.

A framework is asked in the words of `frameworks.py`. Every test compares with eager execution, and says which decision
(graph, break, hit) must have been made: a backend that refuses everything is never wrong, and does not pass.
"""

import functools
import gc
import traceback
import weakref

import pytest

from frameworks import chosen
from known_failures import known

fw = chosen()
sot = fw.sot


@pytest.fixture(autouse=True)
def forget(request):
    for mark in known(request.node.name):
        request.applymarker(mark)
    sot.reset()
    yield
    sot.reset()


def report(function, *args):
    """The report of a call, which must come to what eager execution comes to."""
    expected = picture(function(*args))
    found = sot.explain(function)(*args)
    assert picture(found.result) == expected
    return found


def picture(value):
    if isinstance(value, fw.Tensor):
        return fw.facts(value)
    if isinstance(value, (list, tuple)):
        return [picture(v) for v in value]
    return value


def one_graph(function, *args):
    found = report(function, *args)
    assert [b.code for b in found.breaks] == []
    assert len(found.graphs) == 1
    return found.graphs[0]


def only_break(function, *args):
    found = report(function, *args)
    assert len(found.breaks) == 1, [(b.code, b.reason) for b in found.breaks]
    return found.breaks[0]


def counts(translated, *args):
    """Result, and what the call did to the counters."""
    before = sot.stats()
    result = translated(*args)
    after = sot.stats()
    return result, {name: after[name] - before[name] for name in ("hits", "misses", "graph_failures")}


HIT = {"hits": 1, "misses": 0, "graph_failures": 0}
MISS = {"hits": 0, "misses": 1, "graph_failures": 0}


def vector(*numbers, **kwargs):
    return fw.tensor(list(numbers or (1.0, 2.0)), **kwargs)


def square(**kwargs):
    return fw.tensor([[1.0, 2.0], [3.0, 4.0]], **kwargs)


# ----- classify


def test_a_function_of_the_framework_is_one_statement():
    graph = one_graph(lambda x: fw.add(x, x), vector())
    assert "api" in graph.sir and "add" in graph.sir


def test_methods_and_operators_are_statements():
    graph = one_graph(lambda x: (x * 2).sum(), vector())
    assert "__mul__" in graph.sir and "sum" in graph.sir


def test_a_leaf_layer_is_one_statement():
    layer = fw.linear()
    graph = one_graph(lambda x: layer(x), square())
    assert graph.sir.count("||") == 1 and "Linear" in graph.sir


def test_a_users_layer_is_simulated():
    class Mine(fw.Layer):
        def __init__(self):
            super().__init__()
            self.inner = fw.linear()

        def forward(self, x):
            return self.inner(x) * 2

    layer = Mine()
    graph = one_graph(lambda x: layer(x), square())
    assert "Mine" not in graph.sir and "Linear" in graph.sir


def test_constants_of_the_framework_are_compared_and_not_broken_on():
    def f(x):
        return x * 2 if x.dtype == fw.float64 else x

    graph = one_graph(f, vector())
    assert graph.sir.count("||") == 1


def test_foldable_functions_leave_no_statement():
    graph = one_graph(lambda x: x * 2 if fw.is_tensor(x) and not fw.is_tensor(3) else x, vector())
    assert graph.sir.count("||") == 1


def test_a_function_that_asks_to_run_eagerly_breaks(capsys):
    def f(x):
        y = x * 2
        fw.eager_only(y if fw.name == "toy" else 1)
        return y + 1

    assert only_break(f, vector()).code == fw.eager_only_reason


def test_a_users_function_is_never_taken_for_the_frameworks():
    @functools.wraps(fw.add)
    def add(x, y):
        return fw.relu(x) - y

    graph = one_graph(lambda x: add(x, 1.0), vector())
    assert "relu (" in graph.sir and "add (" not in graph.sir


def test_a_subclass_of_the_tensor_class_is_not_captured_as_a_tensor():
    if fw.name != "toy":
        pytest.skip("instances of subclasses cannot be made here")

    class Loud(fw.Tensor):
        def __add__(self, other):
            return "loud"

    assert sot.to_static(lambda x: x + 1)(Loud([1.0])) == "loud"


# ----- tensor_meta, meta, infer

OPERATIONS = {
    "add": lambda x: x + 1,
    "int_add": lambda x: x.astype(fw.int64) + 2,
    "int_float": lambda x: x.astype(fw.int64) * 1.5,
    "div": lambda x: x.astype(fw.int64) / 2,
    "compare": lambda x: x < 2,
    "matmul": lambda x: fw.matmul(x, x),
    "sum": lambda x: x.sum(),
    "sum_axis": lambda x: x.sum(axis=1),
    "mean": lambda x: x.mean(axis=0),
    "reshape": lambda x: x.reshape([-1]),
    "row": lambda x: x[0],
    "rows": lambda x: x[1:],
    "transpose": lambda x: x.T,
    "concat": lambda x: fw.concat([x, x]),
    "astype": lambda x: x.astype(fw.int64),
    "detach": lambda x: x.detach(),
}


@pytest.mark.parametrize("requires_grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_what_is_known_at_capture_is_what_eager_has(name, requires_grad):
    operation = OPERATIONS[name]

    def f(x):
        y = operation(x)
        return y, fw.meta(y) if fw.name == "toy" else list(y.shape)

    one_graph(f, square(requires_grad=requires_grad))


@pytest.mark.parametrize("name", OPERATIONS)
def test_both_executors_give_what_eager_gives(name):
    operation = OPERATIONS[name]
    translated = sot.to_static(lambda x: operation(x * 1))
    expected = picture(operation(square() * 1))
    for _ in range(10):
        assert picture(translated(square())) == expected


def test_branches_on_meta_data_are_no_breaks():
    def f(x):
        return x + 1 if x.shape[0] == 2 and x.ndim == 2 and len(x) == 2 else x

    one_graph(f, square())


def test_a_mutable_attribute_is_new_at_each_read():
    def f(x):
        first = getattr(x * 1, fw.fresh_attribute)
        y = x * 1
        a, b = getattr(y, fw.fresh_attribute), getattr(y, fw.fresh_attribute)
        a.append(5)
        return list(first), list(a), list(b), a is b, y

    one_graph(f, square())


def test_tensors_are_members_and_keys_by_identity():
    def f(x, y, same):
        z = x * 2
        seen = {x, z}
        names = {x: "x", y: "y", z: "z"}
        found = [t in seen for t in (x, y, z, same)], len({x, y, same, z, z}), names[x], names[same], names.get(x * 2)
        seen.add(y)
        return found, len(seen), z

    x, y = vector(), vector()
    one_graph(f, x, y, x)
    translated = sot.to_static(f)
    for others in ((x, y, x), (x, y, y), (x, x, x), (y, x, x), (x, y, x)):
        assert picture(translated(*others)) == picture(f(*others))


def test_computed_values_have_the_tensor_class():
    def f(x):
        y = x + 1
        return y, isinstance(y, fw.Tensor), isinstance(y, (int, list))

    one_graph(f, vector())


# ----- tensor_check


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(lambda: vector(1.0, 2.0, 3.0), id="shape"),
        pytest.param(lambda: square(), id="rank"),
        pytest.param(lambda: vector(dtype=fw.int64), id="dtype"),
        pytest.param(lambda: vector(requires_grad=True), id="flag"),
        pytest.param(lambda: 5.0, id="no tensor"),
    ],
)
def test_guards_reject_another(other):
    def f(x):
        return x * 2

    translated = sot.to_static(f)
    assert counts(translated, vector())[1] == MISS
    assert counts(translated, vector(3.0, 4.0))[1] == HIT
    result, change = counts(translated, other())
    assert change == MISS
    assert picture(result) == picture(f(other()))
    assert counts(translated, vector())[1] == HIT


def test_a_flag_that_changes_on_the_same_tensor_is_seen():
    x = vector()
    translated = sot.to_static(lambda x: x * 2)
    translated(x)
    fw.set_requires_grad(x, True)
    result, change = counts(translated, x)
    assert change == MISS
    assert picture(result) == picture(x * 2)


def test_a_tensor_of_a_closure_is_an_input_that_is_guarded():
    held = [vector()]

    def f(x):
        return fw.concat([x, held[0]]) * 2

    translated = sot.to_static(f)
    for replacement in (vector(), vector(5.0, 6.0), vector(1.0, 2.0, 3.0)):
        held[0] = replacement
        assert picture(translated(vector())) == picture(f(vector()))


# ----- ambient, unavailable


def test_another_ambient_state_is_another_capture():
    x = vector(requires_grad=True)
    translated = sot.to_static(lambda x: x * 2)
    assert counts(translated, x)[1] == MISS
    with fw.no_grad():
        result, change = counts(translated, x)
        assert change == MISS
        assert picture(result) == picture(x * 2)
        assert counts(translated, x)[1] == HIT
    result, change = counts(translated, x)
    assert change == HIT
    assert picture(result) == picture(x * 2)


def test_ambient_state_is_described():
    found = report(lambda x: x * 2, vector())
    assert any("grad" in line for line in found.guards)


# ----- modes that captured code changes


@pytest.mark.parametrize("entered", [True, False])
def test_operations_run_in_the_mode_in_which_they_are_called(entered):
    def f(x):
        on = fw.grad_enabled()
        a = x * 2
        fw.set_grad_enabled(not on)
        b, inside = x * 3, fw.grad_enabled()
        c = a * b
        fw.set_grad_enabled(on)
        return a, b, c, a * b, fw.grad_enabled(), inside

    x = vector(requires_grad=True)
    fw.set_grad_enabled(entered)
    try:
        graph = one_graph(f, x)
        expected = picture(f(x))
        translated = sot.to_static(f)
        for _ in range(10):
            assert picture(translated(x)) == expected
            assert fw.grad_enabled() == entered
    finally:
        fw.set_grad_enabled(True)
    assert graph.sir.count("grad_mode") == 2
    assert sot.stats()["hits"] >= 9


def test_a_mode_that_nothing_runs_in_is_no_statement():
    def f(x):
        fw.set_grad_enabled(False)
        fw.set_grad_enabled(True)
        return x * 2

    assert "grad_mode" not in one_graph(f, vector(requires_grad=True)).sir


def test_a_mode_that_stays_changed():
    def f(x):
        y = x * 2
        fw.set_grad_enabled(False)
        return y, x * 3

    x = vector(requires_grad=True)
    expected = picture(f(x))
    fw.set_grad_enabled(True)
    translated = sot.to_static(f)
    for _ in range(10):
        assert picture(translated(x)) == expected
        assert not fw.grad_enabled()
        fw.set_grad_enabled(True)


def test_a_break_finds_the_mode_that_the_program_has_made():
    seen = []

    def f(x):
        fw.set_grad_enabled(False)
        y = x * 2
        fw.eager_only(y if fw.name == "toy" else 1)
        seen.append(fw.grad_enabled())
        z = y * x
        fw.set_grad_enabled(True)
        fw.eager_only(y if fw.name == "toy" else 1)
        seen.append(fw.grad_enabled())
        return y, z, x * 2

    x = vector(requires_grad=True)
    expected = picture(f(x))
    translated = sot.to_static(f)
    for _ in range(10):
        assert picture(translated(x)) == expected
    assert seen == [False, True] * 11


def test_a_graph_that_fails_leaves_the_mode_as_it_was():
    def f(x, log):
        y = x * 1
        fw.set_grad_enabled(False)
        try:
            z = fw.fails_when_run(y)
            log.append(fw.grad_enabled())
        finally:
            fw.set_grad_enabled(True)
        return z * 2

    translated = sot.to_static(f)
    good, bad = vector(1.0, 1.0), vector(fw.fails_on, fw.fails_on)
    for _ in range(10):
        log = []
        assert picture(translated(good, log)) == picture(f(good, []))
        assert log == [False]
        with pytest.raises(Exception):
            translated(bad, log)
        assert log == [False]
        assert fw.grad_enabled()


# ----- flags of tensors that captured code sets


@pytest.mark.parametrize("requires_grad", [True, False])
def test_operations_see_the_flags_that_tensors_have_when_they_are_called(requires_grad):
    def f(x):
        y = x * 2
        a, before = y * 3, getattr(y, fw.flag)
        setattr(y, fw.flag, not before)
        b, between = y * 3, getattr(y, fw.flag)
        was = getattr(x, fw.flag)
        setattr(x, fw.flag, not was)
        c = x * 5
        setattr(x, fw.flag, was)
        return y, a, b, c, x * 7, before, between

    graph = one_graph(f, vector(requires_grad=requires_grad))
    assert graph.sir.count(f"set_{fw.flag}") == 3
    x = vector(requires_grad=requires_grad)
    expected = picture(f(x))
    translated = sot.to_static(f)
    for _ in range(10):
        assert picture(translated(x)) == expected
        assert fw.meta(x) == fw.meta(vector(requires_grad=requires_grad))


def test_a_flag_that_stays_set():
    def f(x, y):
        fw.set_requires_grad(x, True)
        return x * 2, y * 2

    translated = sot.to_static(f)
    for others in ([], [vector()], [], [vector()], [], [], []):
        x, again = vector(), vector()
        y, also = (x, again) if not others else (others[0], others[0])
        assert picture(translated(x, y)) == picture(f(again, also))
        assert fw.meta(x) == fw.meta(again)
    assert sot.stats()["captures"] == 2


def test_a_graph_that_fails_leaves_the_flags_as_they_were():
    def f(x, flags):
        y = x * 1
        fw.set_requires_grad(x, True)
        z = x * 2
        fw.set_requires_grad(x, False)
        try:
            return fw.fails_when_run(y), z
        finally:
            flags.append(fw.meta(x))

    translated = sot.to_static(f)
    good, bad = vector(1.0, 1.0), vector(fw.fails_on, fw.fails_on)
    for _ in range(5):
        assert picture(translated(good, [])) == picture(f(good, []))
        flags = []
        with pytest.raises(Exception):
            translated(bad, flags)
        assert flags == [fw.meta(bad)] == [fw.meta(vector(1.0, 1.0))]


def test_a_parameter_of_a_leaf_has_the_flag_that_was_set():
    layer = fw.linear(requires_grad=True)

    def f(x):
        a = layer(x)
        fw.set_requires_grad(layer.weight, False)
        b = layer(x)
        fw.set_requires_grad(layer.weight, True)
        return a, b, layer(x)

    expected = picture(f(square()))
    translated = sot.to_static(f)
    for _ in range(10):
        assert picture(translated(square())) == expected


def test_nothing_is_captured_where_nothing_can_be():
    if fw.name != "toy":
        pytest.skip("eager tensors cannot be computed with in that mode")
    translated = sot.to_static(lambda x: x * 2)
    with fw.nothing_can_be_captured():
        assert picture(translated(vector())) == picture(vector() * 2)
        assert sot.stats()["captures"] == 0
        assert "ambient-mode" in sot.stats()["reasons"]
    assert counts(translated, vector())[1] == MISS
    assert counts(translated, vector())[1] == HIT


# ----- aliasing


def test_a_view_of_an_input_is_replayed():
    def f(x):
        return x.reshape([2, 2])

    x = vector(1.0, 2.0, 3.0, 4.0)
    graph = one_graph(f, x)
    assert graph.replay_only
    assert fw.shares_memory(sot.to_static(f)(x), x)


def test_two_results_of_one_memory_are_replayed():
    def f(x):
        y = x * 2
        return y, y.reshape([4, 1])

    x = vector(1.0, 2.0, 3.0, 4.0)
    assert one_graph(f, x).replay_only
    y, view = sot.to_static(f)(x)
    assert fw.shares_memory(y, view)


def test_a_view_inside_of_the_graph_is_compiled():
    graph = one_graph(lambda x: x.reshape([2, 2]) + 1, vector(1.0, 2.0, 3.0, 4.0))
    assert graph.replay_only is None
    assert graph.program


def test_results_own_their_memory():
    translated = sot.to_static(lambda x: (x * 2, x * 3))
    x = vector()
    for _ in range(10):
        a, b = translated(x)
        c, d = translated(x)
        assert not any(fw.shares_memory(p, q) for p, q in [(a, b), (a, c), (b, d), (a, x)])


def test_a_result_that_is_an_argument_is_that_object():
    def f(x, y):
        return x, fw.add(x, y), y

    x, y = vector(), vector()
    first, _, last = sot.to_static(f)(x, y)
    assert first is x and last is y


# ----- in place


@pytest.mark.parametrize("how", ["method", "operator", "item"])
def test_writing_in_place_breaks_and_happens_once(how):
    def f(x, y):
        z = x * 2
        if how == "method":
            x.add_(y)
        elif how == "operator":
            x += y
        else:
            x[0] = y[1]
        return z, x * 3

    translated = sot.to_static(f)
    for _ in range(3):
        expected, got = vector(), vector()
        expected_result = f(expected, vector(5.0, 6.0))
        result = translated(got, vector(5.0, 6.0))
        assert picture(result) == picture(expected_result)
        assert picture(got) == picture(expected)
    writes = how != "operator" or fw.augmented_assignment_writes
    found = sot.explain(f)(vector(), vector(5.0, 6.0))
    assert [b.code for b in found.breaks] == ["in-place-tensor"] * writes
    assert len(found.graphs) == 1 + writes
    x = before = vector()
    x += vector(5.0, 6.0)
    assert (x is before) == fw.augmented_assignment_writes


# ----- a graph that fails


def test_a_failing_graph_raises_as_the_original_frame_does():
    def f(x, log):
        log.append("called")
        y = x * 1
        z = fw.fails_when_run(y)
        return z * 2

    def line(error):
        return [e.lineno for e in traceback.extract_tb(error.__traceback__) if e.filename == __file__][-1]

    translated = sot.to_static(f)
    good, bad = vector(1.0, 1.0), vector(fw.fails_on, fw.fails_on)
    assert picture(translated(good, [])) == picture(f(good, []))
    for _ in range(3):
        expected_log, log = [], []
        with pytest.raises(Exception) as expected:
            f(bad, expected_log)
        with pytest.raises(Exception) as raised:
            translated(bad, log)
        assert type(raised.value) is type(expected.value)
        assert str(raised.value) == str(expected.value)
        assert line(raised.value) == line(expected.value)
        assert log == expected_log == ["called"]
    assert sot.stats()["graph_failures"] >= 3
    assert picture(translated(good, [])) == picture(f(good, []))


def test_an_operation_that_is_refused_raises_at_its_line():
    def f(x):
        y = x * 2
        return fw.matmul(y, vector(1.0, 2.0, 3.0).reshape([1, 3])) + 1

    with pytest.raises(Exception) as expected:
        f(square())
    for _ in range(3):
        with pytest.raises(Exception) as raised:
            sot.to_static(f)(square())
        assert (type(raised.value), str(raised.value)) == (type(expected.value), str(expected.value))
    assert "api-rejected" in sot.stats()["reasons"]


# ----- layers


def twice_and(change, make=None):
    """Call a captured layer before and after a change; eager must agree, and the change must not go unseen."""
    layer = (make or fw.linear)()
    translated = sot.to_static(lambda x: layer(x) * 2)
    translated(square())
    assert counts(translated, square())[1] == HIT
    change(layer)
    result, count = counts(translated, square())
    assert picture(result) == picture(layer(square()) * 2)
    return count


def test_a_leaf_whose_parameter_is_replaced():
    assert twice_and(fw.replace_weight) == MISS


def test_a_leaf_whose_parameter_is_written_is_a_hit_with_the_new_numbers():
    def change(layer):
        with fw.no_grad():
            layer.weight.add_(fw.tensor([[5.0, 5.0], [5.0, 5.0]]))

    assert twice_and(change) == HIT


def test_a_leaf_whose_parameter_changes_its_flag():
    assert twice_and(lambda layer: fw.set_requires_grad(layer.weight, True)) == MISS


def test_a_leaf_that_gets_a_hook():
    assert twice_and(lambda layer: fw.add_hook(layer, lambda y: y + 100))["misses"] > 0


def test_a_leaf_whose_forward_is_replaced():
    def change(layer):
        layer.forward = lambda x: x - 1

    assert twice_and(change) != HIT


def test_a_leaf_whose_sublayer_changes():
    assert twice_and(lambda s: fw.replace_weight(s[0]), lambda: fw.sequence(fw.linear(), fw.linear())) == MISS


class Scaled(fw.Layer):
    def __init__(self):
        super().__init__()
        self.inner = fw.linear()
        self.scale = 2

    def forward(self, x):
        return self.inner(x) * self.scale


def test_a_users_layer_whose_attribute_changes():
    def change(layer):
        layer.scale = 5

    assert twice_and(change, Scaled) == MISS


def test_a_users_layer_that_gets_a_hook():
    assert twice_and(lambda layer: fw.add_hook(layer, lambda y: y + 100), Scaled)["misses"] > 0


def test_a_users_layer_whose_sublayer_is_replaced():
    def change(layer):
        layer.inner = fw.linear()
        fw.replace_weight(layer.inner)

    assert twice_and(change, Scaled) == MISS


def test_a_layer_class_that_changes():
    class Changing(Scaled):
        pass

    def change(layer):
        Changing.forward = lambda self, x: self.inner(x) - 1

    assert twice_and(change, Changing) == MISS


def test_a_missing_attribute_raises_as_eager_does():
    layer = fw.linear()

    def f(x):
        y = x * 2
        return layer.no_such_attribute * y

    for _ in range(2):
        with pytest.raises(AttributeError) as raised:
            sot.to_static(f)(square())
        assert "no_such_attribute" in str(raised.value)


# ----- break reasons


@pytest.mark.parametrize(
    "use, code",
    [
        pytest.param(lambda y: y.item(), "tensor-to-host", id="item"),
        pytest.param(lambda y: float(y), "tensor-to-scalar", id="float"),
        pytest.param(lambda y: y.tolist(), "tensor-to-host", id="tolist"),
        pytest.param(lambda y: 1 if y else 2, "branch-on-tensor", id="branch"),
        pytest.param(lambda y: print(y), "builtin-with-output", id="print"),
        pytest.param(lambda y: len(repr(y)), "tensor-to-host", id="repr"),
    ],
)
def test_reason_of_a_break(use, code, capsys):
    def f(x):
        y = (x * 2).sum()
        return use(y), x + 1

    found = report(f, vector())
    assert found.breaks[0].code == code
    assert found.breaks[0].file == __file__ and found.breaks[0].line > 0
    assert not any(b.fallback for b in found.breaks)
    assert sot.reasons()[code]


# ----- the framework's own code, and what is kept alive


def test_the_frameworks_own_frames_are_not_captured():
    layer = fw.linear()

    def f(x):
        print(end="")
        return list(map(layer.forward, [x]))[0]

    sot.to_static(f)(square())
    assert sot.stats()["frames"] == 0


def test_what_was_captured_can_be_forgotten():
    if fw.name != "toy":
        pytest.skip("whether tensors can be weakly referenced is the framework's business")
    layer = fw.linear()
    alive = weakref.ref(layer.weight)
    translated = sot.to_static(lambda x: layer(x))
    for _ in range(10):
        translated(square())
    sot.reset()
    del layer, translated
    gc.collect()
    assert alive() is None
