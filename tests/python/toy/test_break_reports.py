"""What a report says of a stop: its line, the part of it that stopped, the innermost cause, and what to do."""

import sys

import pytest

from toy_framework import toy

t = toy.tensor
KNOWS_COLUMNS = sys.version_info >= (3, 11)


@pytest.fixture(autouse=True)
def forget():
    toy.reset()
    yield
    toy.reset()


def branches(x):
    y = x + 1
    é = "é"; y = y * 2 if y.sum() > 3 else y  # noqa: E702
    return y, é


def test_line_caret_and_cure():
    report = toy.explain(branches)(t([1.0]))
    (found,) = report.breaks
    assert found.code == "branch-on-tensor" and not found.fallback
    assert found.source == 'é = "é"; y = y * 2 if y.sum() > 3 else y  # noqa: E702'
    lines = str(found).split("\n")
    assert lines[0].startswith(f"break at {__file__}:{branches.__code__.co_firstlineno + 2} in branches(): [branch-on-tensor] ")
    assert lines[1] == "    " + found.source
    if KNOWS_COLUMNS:
        assert lines[2] == "    " + "^".rjust(found.source.index("y.sum()") + 1) + "^" * (len("y.sum() > 3") - 1)
    assert lines[-1] == f"    what to do: {found.cure}" and "where" in found.cure
    assert str(found) in str(report)
    assert repr(found) == f"<sot.Break: break [branch-on-tensor] at {found.file}:{found.line}>"


def test_a_line_that_cannot_be_read():
    names = {"toy": toy}
    exec("def f(x):\n    y = x + 1\n    toy.graph_break()\n    return y", names)
    (found,) = toy.explain(names["f"])(t([1.0])).breaks
    assert (found.source, found.line, found.function) == ("", 3, "f")
    assert "what to do" in str(found)


def test_the_innermost_cause():
    import copy

    class Odd:
        def __deepcopy__(self, memo):
            print(end="")
            return self

    def f(x):
        return x + 1, copy.deepcopy(Odd())

    first = toy.explain(f)(t([1.0])).breaks[0]
    # The library's function runs as Python, with one break at its call: what stopped is inside.
    assert first.function in ("f", "__deepcopy__")
    if first.function == "f":
        assert "(at " in first.reason and ":" in first.reason.split("(at ")[1]


def test_what_the_framework_raised():
    def f(x):
        y = x + 1
        try:
            return toy.matmul(y, y)
        except ValueError:
            return y

    (found,) = toy.explain(f)(t([1.0])).breaks
    assert (found.code, found.cause) == ("api-rejected", "ValueError: matmul of [1] and [1]")
    assert toy.explain(branches)(t([1.0])).breaks[0].cause is None
