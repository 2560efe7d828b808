"""What was decided for the small functions of `test_capture.py`: graphs, breaks and captures of their first three calls, and that
those of a function which breaks go on in their eager form where capture is turned off."""

import observe
import pytest

from capture_cases import break_positions, definitions, generator_ends, hashed_keys, hashed_members, odd_answers, protected, special_methods
from every_case import params
from known_failures import known
from observe import CASES
from toy_framework import toy

# What decisions are stated for.
CALLS = 3


@pytest.mark.parametrize("case", params(""))
def test_decisions(case):
    case.observe(lambda f: f, 1)
    toy.reset()
    case.observe(toy.to_static, CALLS)
    stats = toy.stats()
    reasons = stats.pop("reasons")
    assert stats["hook_failures"] == 0
    assert "internal-error" not in reasons
    stats["reasons"] = tuple(sorted(reasons))
    assert {name: stats[name] for name in case.expect} == case.expect


SPEAKING = [c for c in CASES if c.build.__globals__.get("speak") or c.build.__module__ == protected.__name__]


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name, marks=known("eager:" + c.name)) for c in SPEAKING])
def test_same_where_a_break_turns_capture_off(case, monkeypatch):
    """What comes after the first break runs in its eager form."""

    def speak(value):
        print("speak", value)
        toy.set_debug_mode(True)
        return value

    class Observed(observe.Observed):
        def __init__(self, *world):
            super().__init__(*world)
            toy.set_debug_mode(False)

    monkeypatch.setattr(observe, "Observed", Observed)
    for module in (definitions, break_positions, special_methods, generator_ends, hashed_keys, hashed_members, odd_answers):
        monkeypatch.setattr(module, "speak", speak)
    toy.reset()
    eager = case.observe(lambda f: f, CALLS)
    toy.reset()
    assert case.observe(toy.to_static, CALLS) == eager
