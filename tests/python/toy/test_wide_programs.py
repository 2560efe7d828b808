"""Random programs about the whole of Python, plain and captured: see `tests/driver/wide_programs.py`.

`python tests/driver/random_programs.py --wide --seeds A:B` runs as many as wanted, `--wide --shrink SEED` makes one small.
"""

import contextlib
import pathlib
import sys

import pytest
from toy_framework import toy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "driver"))
# The framework may have been found in a place of its own.
sys.modules.setdefault("toy_backend", toy)

import random_programs  # noqa: E402
import wide_programs  # noqa: E402

SEEDS = sorted({*range(60), *(seed for name, seed in random_programs.kept() if name == "toy-wide")})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", SEEDS)
def test_captured_is_plain(seed):
    source = random_programs.source_of(seed, "toy-wide")
    try:
        found = random_programs.differences(source, seed, "toy-wide")
    except random_programs.Endless:
        pytest.skip("plain Python does not end")
    assert not found, "\n".join([*found, source.split("\ndef f(")[1]])
    assert toy.stats()["misses"] > 0


def can_be_drawn(template, kind):
    names = wide_programs.Names(["x", "y"], ["n"], ["items"])
    # What is in a format may have quotes of its own, which is nothing before 3.12.
    for seed in range(40):
        made = wide_programs.Wide(seed, "toy").fill(template, names)
        made = made if kind == "effect" else "(%s)" % made
        with contextlib.suppress(SyntaxError):
            compile("def f(x, y, n, items, bag):\n    global TABLE, BYTES, MEMBERS, COUNT, ODD\n    " + made, "program", "exec")
            return True
    return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", sorted(wide_programs.SETS))
def test_each_template_can_be_drawn(kind):
    """What a template is filled with makes Python of it."""
    assert [template for template in wide_programs.SETS[kind] if not can_be_drawn(template, kind)] == []


def test_what_is_open_is_drawn_when_asked_for():
    with_open = [wide_programs.source(seed, "toy", with_open=True) for seed in range(40)]
    assert sum("Noisy('g')" in text for text in with_open) > 2
    assert not any("Noisy('g')" in wide_programs.source(seed, "toy") for seed in range(40))
