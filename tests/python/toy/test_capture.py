"""Small functions, each run eagerly and captured: what the caller sees must be the same.

Each case is run as plain Python and captured, on worlds made anew: the first captured call captures, the second is a hit, the third
runs the other executor of the graph, and those behind them meet what the later captures leave to run time. `test_capture_decisions.py`
holds what was decided, `test_capture_hooked.py` looks at the same functions under the hook.
"""

import pytest

from every_case import COMPARED, params
from observe import CASES
from toy_framework import toy


@pytest.mark.parametrize("case", params("same:"))
def test_same_as_eager(case):
    toy.reset()
    eager = case.observe(lambda f: f, COMPARED)
    toy.reset()
    captured = case.observe(toy.to_static, COMPARED)
    for number, (expected, got) in enumerate(zip(eager, captured), 1):
        assert got == expected, f"call {number}"


def test_names_are_unique():
    names = [c.name for c in CASES]
    assert len(names) == len(set(names))
