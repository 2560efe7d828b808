"""Tests that fail today, each with its reason. They are strict: one that starts to pass must be removed here.

A name is that of a case (for its decisions, or `same:` and the name for its result, `hook:` under the hook), or of a test.
"""

import sys

import pytest

ALL = ((3, 8), (3, 9), (3, 10), (3, 11), (3, 12), (3, 13))

# name: (versions of Python, reason, whether it takes the process down)
KNOWN = {}


def note(names, reason, versions=ALL, crashes=False):
    for name in names.split():
        KNOWN[name] = (versions, reason, crashes)


def known(name):
    versions, reason, crashes = KNOWN.get(name, ((), "", False))
    if sys.version_info[:2] not in versions:
        return []
    return [pytest.mark.xfail(reason=reason, strict=True, run=not crashes)]


note("tensors_that_are_one_object", "identity of computed tensors")

# Up to 3.10 the caller of a function holds what it has given until the call is over.
note("same:dead_at_breaks_given_to_a_function", "a tensor that was given dies with the last variable that holds it", ALL[:3])

# A list that was real before is emptied into the tuple of a call: it lives on in its slot, and holds what the call is given.
for what in ("values_given_with_a_star_by_itself", "values_given_with_a_star_two_deep", "values_given_with_a_star_behind_a_break"):
    note("same:" + what, "a list in a slot goes too late", ALL[4:])
note("same:arguments_that_are_bound_again same:arguments_that_are_bound_again_behind_a_break", "a list in a slot goes too late", ALL[4:])

# From 3.12 on the traceback of what is thrown leads to the frame that throws it, which has it in a local.
for kept in ("triple", "value"):
    for how in ("clear", "pop", "item", "slice"):
        note(f"same:let_go_of_by_a_class_keeps_the_{kept}_by_{how}", "plain Python has it in a cycle with the frame that throws it, for the collector to find", ALL[4:])
        note(f"hook:let_go_of_by_contextlib_keeps_the_{kept}_by_{how}", "the same, where the hook captures what contextlib throws", ALL[4:])

# Up to 3.10 C takes an item out of a subclass of OrderedDict by its `__getitem__` and `__delitem__`.
for what in ("emptied", "taken_from_the_end", "moved"):
    for alike in ("2", "100"):
        for place in ("from_before", "of_the_frame"):
            note("same:extended_%s_%s_%s" % (what, alike, place), "how often keys are asked for their hashes", ALL[:3])
