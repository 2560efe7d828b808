"""Random programs about the language, plain and captured: see `tests/driver/language_programs.py`.

`python tests/driver/random_programs.py --seeds A:B` runs as many as wanted, `--shrink SEED` makes one small.
"""

import pathlib
import sys

import pytest
from toy_framework import toy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "driver"))
# The framework may have been found in a place of its own.
sys.modules.setdefault("toy_backend", toy)

import language_programs  # noqa: E402
import random_programs  # noqa: E402

SEEDS = sorted({*range(120), *(seed for framework, seed in random_programs.kept() if framework == "toy")})


@pytest.mark.parametrize("seed", SEEDS)
def test_captured_is_plain(seed):
    source = language_programs.source(seed, "toy")
    found = random_programs.differences(source, seed, "toy")
    assert not found, "\n".join([*found, source])
    assert toy.stats()["misses"] > 0


def test_the_programs_are_worth_it():
    """They do what they are for: everything that they mix occurs often, and many calls come to an end."""
    bodies = [language_programs.source(seed, "toy").split("def f(")[1] for seed in range(120)]
    wanted = ["map(", "filter(", "zip(", "enumerate(", "any(", "all(", "max(", "key=", "next(", "try:", "with ", "raise ", "yield"]
    for what in [*wanted, "shout(", "SHARED", "bag", "Num(", "numbers(", "globals()", "COUNT", "print("]:
        assert sum(what in body for body in bodies) > 8, what
    ends = [call[2] for seed in range(60) for call in random_programs.run(language_programs.source(seed, "toy"), seed, toy, lambda f: f)]
    assert sum(end is None for end in ends) > len(ends) / 4 and sum(end is not None for end in ends) > 20


def test_a_difference_is_found():
    """The comparison can fail: values, order of effects, identity, output, exceptions."""
    source = language_programs.source(3, "toy").split("def f(")[0]
    tail = "\ndef f(x, y, n, items, bag):\n    {}\n\ncalls = 1\n\ndef args(i):\n    return toy.tensor([1.0]), 2, 3, SHARED, BAG\n"
    base = "return [items, items, n]"
    seen = random_programs.run(source + tail.format(base), 0, toy, lambda f: f)
    others = ["return [items, list(items), n]", "return [items, items, n + 1]", "print(1); " + base, "LOG.append(1); " + base, "raise ValueError", "n = 1.0; " + base]
    for other in others:
        assert random_programs.run(source + tail.format(other), 0, toy, lambda f: f) != seen, other
