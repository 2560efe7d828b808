"""Programs that are interrupted anywhere leave nothing half done: see `tests/driver/interrupts.py`, which runs more of them.

Delays depend on the machine. The seed of a round is in the message of what went wrong.
"""

import pathlib
import signal
import sys

import pytest
from toy_framework import toy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "driver"))
# The framework may have been found in a place of its own.
sys.modules.setdefault("toy_backend", toy)

import interrupts  # noqa: E402


@pytest.fixture(autouse=True)
def handlers_as_before():
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", sorted(interrupts.PROGRAMS))
@pytest.mark.parametrize("by", sorted(interrupts.WAYS))
def test_by_a_handler_that_raises(name, by):
    how = interrupts.WAYS[by]()
    wrong, came = [], 0
    for seed in range(4):
        found, met = interrupts.differences(name, toy, how, seed, 30)
        wrong, came = wrong + found, came + met
    assert came, "no round was interrupted"
    torn = [text for text in wrong if interrupts.TORN in text]
    others = [text for text in wrong if interrupts.TORN not in text]
    assert not others, "\n".join(others)
    assert len(torn) <= interrupts.allowed(came), "\n".join(torn)


@pytest.mark.skipif(not interrupts.MEMORY, reason="this interpreter has no _testcapi.set_nomemory")
@pytest.mark.parametrize("name", sorted(interrupts.PROGRAMS))
def test_by_memory_that_ends(name):
    wrong = interrupts.without_memory(name, 0, 60)
    assert not wrong, "\n".join(wrong)


def test_a_difference_is_found():
    """The comparison can fail: a program whose effects come in another order is seen."""
    states, ends = interrupts.as_it_is("effects in order", toy)
    assert len(states[0]) > 8 and len(states) == len(ends) == 2
    module = interrupts.world("effects in order", toy)
    module.THING.count = 1
    assert interrupts.picture(module) not in states[0], "THING is written behind LOG"
