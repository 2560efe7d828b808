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


OLD = ((3, 8), (3, 9), (3, 10))
COMPREHENSION_IN_FRAME = ((3, 12), (3, 13))

note("same:with_two_uses_of_one_iterator", "zip of one iterator with itself is rebuilt as two", ((3, 8), (3, 9), (3, 10), (3, 11)))
note(
    """same:item_in_a_while_loop same:bool_float_int_of_tensors same:in_place_tensor same:in_place_through_a_view
    same:in_a_method_of_a_tensor same:with_a_loop_iterator_below same:in_a_recursive_closure
    item_in_a_while_loop bool_float_int_of_tensors in_place_tensor in_place_through_a_view
    printed_tensors wrong_shapes grad_mode_is_changed
    test_a_function_that_asks_to_run_eagerly_breaks test_writing_in_place_breaks_and_happens_once[method]
    test_an_operation_that_is_refused_raises_at_its_line test_reason_of_a_break[item] test_reason_of_a_break[tolist]""",
    "below 3.11 a resume function cannot push the NULL under a method call",
    OLD,
)
note("test_frames_below_a_break_are_captured", "below 3.11 the hook has no function for a frame", OLD)
note("break_in_a_comprehension with_two_uses_of_one_iterator", "a break in an inlined comprehension", COMPREHENSION_IN_FRAME)
note("try_without_exception return_in_finally", "finally blocks of 3.8", ((3, 8),))
note(
    """break_in_try break_in_with with_statement raise_in_with swallowed_in_with contextmanager_generator raise_from
    try_with_exception exception_after_a_break_in_try exception_in_a_callee_is_caught nested_finally_with_breaks""",
    "exceptions and breaks in protected regions run the whole frame as plain Python",
)
note("layer_with_state translated_layer", "writing an attribute of a layer breaks")
note("operator_protocols dataclass", "== and in through __eq__ and __contains__")
note("property_setter slots descriptor", "writing through descriptors, and descriptors in Python")
note("enums named_tuples partial default_dict ordered_dict_and_deque", "classes of the standard library")
note("comprehensions sets in_displays", "sets")
note("getattr_hook import_in_the_frame attribute_is_deleted", "hasattr through __getattr__, import, del of attributes")
note("list_methods zip_enumerate_map list_is_sorted_in_place slice_assignment_and_deletion", "some builtins and methods of lists")
note("with_other_iterators_below", "a reversed or map iterator cannot be rebuilt after a break")
note("tensors_that_are_one_object", "identity of computed tensors")
note("in_a_method_of_a_tensor in_a_recursive_closure with_a_loop_iterator_below", "bound methods on the stack across a break")
note("in_a_property_and_a_constructor", "a special method that breaks")
note("test_what_does_not_matter_costs_nothing[another_entry]", "one look at a dict guards all of its keys")
