"""The example framework, captured: what a team gets for the backend in examples/arrays/src/backend.rs."""

import pytest

from arrays_framework import arrays


def picture(value):
    if isinstance(value, arrays.Array):
        return value.shape, value.dtype, value.tolist()
    if isinstance(value, (list, tuple)):
        return [picture(item) for item in value]
    return value


def check(function, *args, graphs=1, breaks=()):
    """The report of a first call; that one and fifteen more come to what plain Python does."""
    plain = picture(function(*args))
    report = arrays.explain(function)(*args)
    assert picture(report.result) == plain
    assert [found.code for found in report.breaks] == list(breaks), report
    assert len(report.graphs) == graphs, report
    captured = arrays.to_static(function)
    for _ in range(15):
        assert picture(captured(*args)) == plain
    assert "internal-error" not in arrays.stats()["reasons"]
    return arrays.explain(function)(*args)


def x():
    return arrays.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def row():
    return arrays.array([0.5, 0.25, 0.125])


def test_operators_and_functions_are_one_graph_which_is_compiled():
    def f(a, b):
        c = a * b + 1.0
        d = arrays.exp(-c) / arrays.maximum(a, 2)
        return 2 * d - b, 1 - arrays.sqrt(c)

    report = check(f, x(), row())
    assert report.graphs[0].op_count == 10
    assert report.graphs[0].executor == "compiled"
    assert report.graphs[0].replay_only is None


def test_a_compiled_graph_shows_itself():
    report = check(lambda a: (a * 2).sum(), x())
    assert report.graphs[0].program == "%1 = __mul__(%0, 2)\n%2 = sum(%1)\n"


def test_methods_and_attributes():
    def f(a):
        n = a.shape[0] * a.ndim
        return a.T @ a, a.sum(axis=1), a.sum(0), a.sum() * n, a.reshape((3, 2)), a.dtype, len(a)

    check(f, x())


def test_rows_and_a_loop_over_them():
    def f(a):
        total = a[0]
        for part in a:
            total = total + part
        return total, a[-1]

    check(f, x())


def test_where_and_comparisons():
    def f(a):
        mask = a > 2.5
        return arrays.where(mask, a, -1.0), mask, a < 2

    check(f, x())


def test_outputs_that_are_inputs_or_the_same_twice_keep_their_identity():
    def f(a):
        b = a + 1
        return a, b, b

    check(f, x())
    captured = arrays.to_static(f)
    given = x()
    for _ in range(15):
        a, b, again = captured(given)
        assert a is given and b is again


def test_a_branch_on_a_number_is_a_break():
    def f(a):
        b = a * 2
        if b.sum() > 3:
            return b + 1
        return b - 1

    check(f, x(), graphs=2, breaks=["branch-on-tensor"])


def test_what_writes_output_and_what_leaves_the_graph_break(capsys):
    def f(a):
        b = a + 1
        arrays.show(b)
        return b * b.sum().item()

    check(f, x(), graphs=3, breaks=["builtin-with-output", "tensor-to-host"])


def test_a_write_in_place_is_a_break_and_done():
    def f(a):
        b = a + 1
        b.fill(7.0)
        return b * 2

    check(f, x(), graphs=2, breaks=["in-place-tensor"])


def test_what_eager_raises_when_it_runs_is_raised_at_the_line_of_the_program():
    def f(a):
        return arrays.sqrt(a - 3.5) + 1

    captured = arrays.to_static(f)
    fine = arrays.array([4.5, 7.5])
    for _ in range(15):
        assert captured(fine).tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="the root of a number below 0") as raised:
        captured(arrays.array([1.0, 2.0]))
    assert raised.traceback[-1].name == "f"


def test_what_the_framework_refuses_is_raised_by_plain_python():
    def f(a, b):
        c = a + 1
        return c @ b

    captured = arrays.to_static(f)
    for _ in range(3):
        with pytest.raises(ValueError, match="do not multiply"):
            captured(x(), x())
    report = arrays.explain(lambda a, b: f(a, b) if b is None else a.reshape((3, 2)) + a.shape[0])(x(), 1)
    assert len(report.graphs) == 1


def test_another_shape_is_another_capture():
    captured = arrays.to_static(lambda a: a + 1)
    for shape in ([1.0], [1.0, 2.0], [[1.0]], [1.0], [1.0, 2.0], [[1.0]]):
        assert picture(captured(arrays.array(shape))) == picture(arrays.array(shape) + 1)
    stats = arrays.stats()
    assert (stats["captures"], stats["hits"]) == (3, 3)


def test_programs_without_arrays_are_left_alone():
    captured = arrays.to_static(lambda a, b: a + b)
    assert captured(1, 2) == 3 and captured("a", "b") == "ab"


def test_an_exception_of_the_framework_is_told_in_the_report():
    def f(a, b):
        c = a + 1
        if c is None:
            return a
        try:
            return c["row"]
        except TypeError:
            return c

    report = arrays.explain(f)(x(), x())
    (found,) = report.breaks
    assert (found.code, found.cause) == ("api-rejected", "TypeError: 'str' object cannot be interpreted as an integer")
    assert arrays.explain(lambda a: arrays.show(a + 1))(x()).breaks[0].cause is None


def test_messages_name_the_functions_as_a_program_calls_them():
    with pytest.raises(TypeError, match=r"^arrays\.to_static: .* as in arrays\.to_static\(f\) or @arrays\.to_static$"):
        arrays.to_static(3)
    with pytest.raises(TypeError, match=r"^arrays\.add_break_apis: "):
        arrays.add_break_apis([3])


def test_tensors_in_containers_and_results_that_nobody_needs():
    def f(a, parts):
        total = parts["first"] + parts["rest"][0]
        a + total
        return total * a

    check(f, x(), {"first": x(), "rest": [row()]})


def test_values_of_a_compiled_graph_are_let_go_of_as_in_eager_execution():
    import gc
    import weakref

    def f(a):
        b = a + 1
        return b * 2

    captured = arrays.to_static(f)
    for _ in range(15):
        last = captured(x())
    alive = weakref.ref(last)
    del last
    gc.collect()
    assert alive() is None


def test_an_operation_that_gives_several():
    def f(a):
        low, high = arrays.extrema(a)
        _, again = arrays.extrema(a * 2)
        return (a - low) / (high - low), again

    report = check(f, x())
    assert report.graphs[0].executor == "compiled"
    assert report.graphs[0].program.splitlines()[0].split(".")[-1] == "extrema(%0)"
    assert f(arrays.array([3.0, 3.5]))[0].tolist() == [0.0, 1.0]
