"""The small functions of `test_capture.py` where every frame is captured, those that their operations and C code begin as well."""

import functools

import pytest

from every_case import COMPARED
from known_failures import known
from observe import CASES
from toy_framework import toy

# Every family has cases among these; of some that were wrong there alone, each case is.
ALL_OF = ("filled_in_", "behind_a_handler_", "a_descriptor_is_made_again_", "names_of_classes_")
HOOKED = [c for at, c in enumerate(CASES) if at % 5 == 0 or c.name.startswith(ALL_OF)]


# What an entry is known to do otherwise the hook may do, or not.
HOOKED = [c for c in HOOKED if not known("same:" + c.name) and not known("hook:" + c.name)]


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in HOOKED])
def test_same_under_the_hook(case):
    def door(hooks):
        def translate(f):
            @functools.wraps(f)
            def called(*args, **kwargs):
                toy._capture_all(hooks)
                try:
                    return f(*args, **kwargs)
                finally:
                    toy._capture_all(False)

            return called

        return translate

    toy.reset()
    eager = case.observe(door(False), COMPARED)
    toy.reset()
    hooked = case.observe(door(True), COMPARED)
    for number, (expected, got) in enumerate(zip(eager, hooked), 1):
        assert got == expected, f"call {number}"
    assert toy.stats()["hook_failures"] == 0
