"""Containers that are compared: part by part, as far as the answer is open."""

from capture_cases.definitions import x1
from observe import case
from toy_framework import toy

t = toy.tensor


@case()
def parts_that_no_comparison_reaches():
    def f(x):
        a, b = [1, x], [2, x + 1]
        pairs = [("b", x), ("a", x * 2)]
        return a == b, a < b, a == a, (1, x) != (1, x), {"k": x} == {"l": x}, {"k": [x, 1]} == {"k": [x, 2]}, x in [x, 3], sorted(pairs)

    return {"f": f, "args": x1}


@case(graphs=None, captures=2, breaks=1, reasons=("branch-on-tensor",))
def parts_that_a_comparison_reaches():
    def f(x, y):
        return [1, x] == [1, y], x * 2

    return {"f": f, "args": lambda: (t([1.0]), t([1.0]))}
