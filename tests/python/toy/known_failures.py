"""Tests that fail today, each with its reason. They are strict: one that starts to pass must be removed here.

A name is that of a case (for its decisions, or `same:` and the name for its result), or of a test.
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


note("layer_with_state translated_layer", "writing an attribute of a layer breaks")
note("slots descriptor", "writing to slots, and descriptors in Python")
note("enums named_tuples partial default_dict ordered_dict_and_deque", "classes of the standard library")
note("comprehensions sets in_displays", "sets")
note("import_in_the_frame", "import")
note("list_methods slice_assignment_and_deletion", "some builtins and methods of lists")
note("tensors_that_are_one_object", "identity of computed tensors")
note("test_what_does_not_matter_costs_nothing[another_entry]", "one look at a dict guards all of its keys")
note("captured_once:number_of_a_tensor captured_once:counter", "a number that changes is captured for each of its values")

# Up to 3.10 the stack of the calling frame holds arguments until the call is over.
UP_TO_310 = ALL[:3]
for how in ("by_itself", "two_deep", "behind_a_break"):
    for what in ("arguments_and_locals", "a_recursion", "what_is_returned_lives_on", "what_is_taken_in_hand_again"):
        note("same:%s_%s" % (what, how), "arguments that the caller holds die before locals of the callee", UP_TO_310)
note(
    "an_exception_ends_in_a_context_manager an_exception_goes_through_a_context_manager",
    "throw() with a traceback breaks up to 3.10, where what is raised again takes it from the stack",
    UP_TO_310,
)
for what in ("list", "tuple", "nest"):
    for how in ("asked_by_code", "asked_for_real", "asked_and_failing"):
        note("held_%s_%s held_%s_%s_deep" % (what, how, what, how), "a fallback on 3.8", ALL[:1])
