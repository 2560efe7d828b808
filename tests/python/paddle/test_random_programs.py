"""Random programs, eager and captured, through the equivalence harness of `tests/driver`.

`programs.source(seed)` gives the program of a seed, to look at and to shrink.
"""

import pathlib
import sys

import pytest

DRIVER = pathlib.Path(__file__).parents[2] / "driver"
sys.path.insert(0, str(DRIVER))

import programs  # noqa: E402
import sot  # noqa: E402
from snippet import run  # noqa: E402

SEEDS = range(150)
# Seeds that fail today, with the reason; strict.
KNOWN: dict = {}


def cases():
    for seed in SEEDS:
        marks = [pytest.mark.xfail(reason=KNOWN[seed], strict=True)] if seed in KNOWN else []
        yield pytest.param(seed, marks=marks)


@pytest.mark.parametrize("seed", cases())
def test_captured_is_eager(seed):
    source, file = programs.source(seed), f"programs/{seed}.py"
    eager = run(source, file, lambda target: target, captured=False)
    sot.reset()
    captured = run(source, file, sot.to_static, captured=True)
    found = [f"call {i}: {text}" for i, (a, b) in enumerate(zip(eager, captured)) for text in a.differences(b)]
    assert not found, "\n".join([*found, source])
    assert sot.stats()["misses"] > 0


def test_the_programs_are_worth_it():
    """They do what they are for: breaks, effects, loops and exceptions occur often."""
    text = [programs.source(seed) for seed in SEEDS]
    for what in ("for v", "if ", "try:", "shout(", "check(", ".append(", "def v", "sum() >", "box.v =", "bump("):
        assert sum(what in body.split("def f(")[1] for body in text) > 15, what
