"""What the program asks of the translator: breaks, plain Python, lists, and promises that are checked."""

import math
import types
import warnings

import pytest

from toy_framework import toy

psdb = toy._psdb
t = toy.tensor


@pytest.fixture(autouse=True)
def forget():
    toy.reset()
    yield
    toy.reset()


def stops(function, *args):
    """The report of a first call, which must equal plain Python's, and its stops."""
    report = toy.explain(function)(*args)
    expected = function(*args)
    assert [v.tolist() for v in flat(report.result)] == [v.tolist() for v in flat(expected)]
    return len(report.graphs), [(b.code, b.line - function.__code__.co_firstlineno, b.fallback) for b in report.breaks]


def flat(value):
    return value if isinstance(value, tuple) else (value,)


def test_a_break_that_is_asked_for():
    def f(x):
        y = x + 1
        toy.graph_break()
        z = y * 2
        psdb.breakgraph()
        return z + 1

    assert stops(f, t([1.0])) == (3, [("break-asked", 2, False), ("break-asked", 4, False)])
    assert toy.graph_break() is None


def test_a_break_inside_of_a_try_keeps_the_frame():
    def f(x):
        try:
            toy.graph_break()
            return (x + 1)["a"]
        except TypeError:
            return x * 2

    graphs, found = stops(f, t([1.0]))
    assert found[0] == ("break-asked", 2, False) and not any(fallback for *_, fallback in found)


def test_plain_python_that_is_asked_for():
    def inner(x):
        psdb.fallback()
        return x * 3

    def f(x):
        return inner(x + 1) * 2

    assert stops(inner, t([1.0])) == (0, [("fallback-asked", 1, True)])
    toy.reset()
    graphs, found = stops(f, t([1.0]))
    # The call breaks; inside, the frame is plain.
    assert graphs == 2 and ("fallback-asked", 1, False) in found


def helper(x):
    return x + 1


class Maker:
    def __init__(self, value):
        self.value = value

    def method(self, x):
        return x * self.value


def test_break_apis():
    def f(x):
        made = Maker(3)
        return made.method(helper(x)), x * math.gcd(4, 6)

    assert stops(f, t([1.0])) == (1, [])
    toy.reset()
    toy.add_break_apis([helper, Maker, Maker.method, math.gcd])
    try:
        _, found = stops(f, t([1.0]))
        shown = [(code, line) for code, line, fallback in found if not fallback]
        assert shown == [("break-api", 1), ("break-api", 2), ("break-api", 2), ("break-api", 2)]
    finally:
        assert toy.to_static(helper) is helper


def module(name):
    made = types.ModuleType(name)
    exec("def twice(x):\n    return x * 2\n", made.__dict__)
    return made


def test_ignored_modules():
    one, below, other = module("ignored_one"), module("ignored_one.part"), module("ignored_other")

    def f(x):
        return one.twice(below.twice(other.twice(x)))

    assert stops(f, t([1.0])) == (1, [])
    toy.reset()
    toy.ignore_module([one])
    graphs, found = stops(f, t([1.0]))
    assert graphs == 1
    assert [code for code, _, fallback in found if not fallback] == ["ignored-module", "ignored-module"]
    # Nor is such a function captured by itself.
    report = toy.explain(one.twice)(t([1.0]))
    assert [(b.code, b.fallback) for b in report.breaks] == [("ignored-module", True)]


@pytest.mark.parametrize("mark", [toy.disable, toy.not_to_static, toy.not_to_static()])
def test_functions_that_stay_plain(mark):
    @mark
    def plain(x):
        return x * 3

    def f(x):
        return plain(x + 1) * 2

    assert stops(f, t([1.0])) == (2, [("disabled", 1, False)])
    assert toy.to_static(plain) is plain


def test_promises():
    @psdb.check_no_breakgraph
    def breaks(x):
        toy.graph_break()
        return x

    @psdb.check_no_fallback
    def falls(x):
        psdb.fallback()
        return x

    def calls(x):
        return breaks(x) + 1

    @psdb.check_no_breakgraph
    @psdb.check_no_fallback
    def keeps(x):
        return x + 1

    line = breaks.__code__.co_firstlineno + 2
    with pytest.raises(RuntimeError, match=rf"check_no_breakgraph: the graph breaks at .*:{line} in breaks\(\)"):
        toy.to_static(breaks)(t([1.0]))
    # Where it is inlined, too, at each call.
    entry = toy.to_static(calls)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=rf"check_no_breakgraph: .*:{line} "):
            entry(t([1.0]))
    with pytest.raises(RuntimeError, match="check_no_fallback: it runs as plain Python at"):
        toy.to_static(falls)(t([1.0]))
    assert toy.to_static(keeps)(t([1.0])).tolist() == [2.0]
    # Without a capture there is nothing to tell.
    assert breaks(t([1.0])).tolist() == falls(t([1.0])).tolist() == [1.0]


def test_a_promise_in_a_frame_that_the_hook_takes_warns():
    @psdb.check_no_breakgraph
    def breaks(x):
        toy.graph_break()
        return x

    @toy.disable
    def between(x):
        return breaks(x)

    # The frame of a disabled function turns the hook off below it; one that breaks does not.
    def f(x, functions):
        return functions[0](x) + 1

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert toy.to_static(f)(t([1.0]), [between]).tolist() == [2.0]
    assert not seen


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: toy.add_break_apis([3]), r"toy_backend.add_break_apis: expected a list of functions, builtin functions or classes, as in .*, not int"),
        (lambda: toy.add_break_apis(None), r"toy_backend.add_break_apis: expected a list of functions, builtin functions or classes, as in .*, not NoneType"),
        (lambda: toy.add_break_apis([list.append]), r"toy_backend.add_break_apis: expected a list of .*, not method_descriptor"),
        (lambda: toy.ignore_module("re"), r"toy_backend.ignore_module: expected a list of modules, as in .*, not str"),
        (lambda: toy.ignore_module([len]), r"toy_backend.ignore_module: expected a list of modules, as in .*, not builtin_"),
        (lambda: toy.not_to_static(3), r"toy_backend.not_to_static: expected a Python function, not int"),
        (lambda: psdb.check_no_breakgraph(len), r"toy_backend.psdb.check_no_breakgraph: expected a Python function, not builtin_"),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(TypeError, match=text):
        call()
