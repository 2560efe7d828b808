"""Small functions, each run eagerly and captured: what the caller sees must be the same, and so must the decisions.

Each case is run as plain Python and captured, on worlds made anew: the first captured call captures, the second is a hit, the third
runs the other executor of the graph, and those behind them meet what the later captures leave to run time. Decisions are stated for
the first three.
"""

import functools
import sys

import observe
import pytest

from capture_cases import (  # noqa: F401
    abstract_classes,
    answered_plainly,
    appended,
    arguments_of_exceptions,
    arithmetic,
    arrays_of_numpy,
    asked_by_key,
    asked_in_order,
    async_generators_by_hand,
    bound_by_c,
    bound_by_hand,
    break_positions,
    byte_arrays,
    cached_properties,
    caches,
    caches_filled,
    calls,
    calls_in_between,
    calls_in_the_middle,
    calls_to_an_end,
    changed_under_iterators,
    class_hooks,
    class_methods_of_c,
    class_bodies,
    class_statements,
    class_writes,
    classes_on_entries,
    classes_on_bases,
    classes_told_of,
    classes,
    compared,
    compiled_patterns,
    comprehension_cells,
    contexts_behind_handlers,
    containers,
    control,
    copies,
    coroutines_by_hand,
    definitions,
    dead_tensors_at_breaks,
    decided_by_draws,
    deques,
    deques_from_before,
    dict_descriptors,
    dicts_of_c,
    dicts_of_c_extended,
    dicts_of_globals,
    dicts_replaced,
    dicts_with_two_names,
    elsewhere,
    ends,
    ends_below_c,
    ends_in_named_handlers,
    ends_in_other_modules,
    ends_of_calls,
    ends_of_the_unseen,
    ends_of_values_of_keys,
    ends_of_raising,
    enumerations,
    exceptions,
    exceptions_made,
    exit_answers,
    exchanged,
    extended,
    extended_values,
    facts_of_classes,
    filled_by_what_goes_on,
    finalizers,
    filled_over_breaks,
    filled_places,
    finalizers_kept,
    frames_left,
    frames_of_waiting_generators,
    finally_blocks,
    frame_objects,
    frames_asked_at_once,
    function_attributes,
    generator_breaks,
    generator_ends,
    generator_waits,
    generator_throws,
    generators,
    globals_deleted,
    hashed_keys,
    hashed_members,
    hashed_tables,
    heaps,
    held_behind_breaks,
    methods_as_keys,
    methods_of_c_held,
    methods_of_c_refusing,
    held_by_locals,
    hooks_of_c,
    identity,
    ids,
    indexed,
    iterating,
    items_outlive_iterators,
    iterators_held,
    iterators_of_itertools_kept,
    windows,
    context_variables,
    dispatched,
    refused_by_tuples,
    iterators_of_programs,
    iterators_of_two_names,
    ends_in_turn,
    repeated_in_place,
    reversed_by_index,
    sets_that_were_emptied,
    iterators_at_their_end,
    iterators_that_ended,
    joined,
    layer_attributes,
    let_pass,
    listed_names,
    lists_reduced,
    looked_at_by_callees,
    looked_at_in_many_ways,
    library,
    itertools_cases,
    kept_ends_of_iterators,
    lengths,
    local_classes,
    left_by_exceptions,
    limits_of_digits,
    lines_of_finalizers,
    locks,
    longer_once,
    lookups,
    makers,
    mappings,
    matches,
    members_given,
    members_many,
    metaclasses_asked,
    modes,
    module_writes,
    modules_without_names,
    natives,
    numbers_chosen,
    objects_of_c,
    odd_answers,
    ordered_keys,
    ordered_below,
    ordered_rewritten,
    names_of_frames,
    namespaces,
    overridden,
    own_dicts,
    own_frame,
    pairs_that_are_none,
    parts_that_exist,
    raised_by_operations,
    refusals,
    relative_imports,
    refused_operands,
    refused_parts,
    result_tuples,
    rewritten_items,
    rings,
    parts_of_lists,
    patterns,
    positions,
    per_thread,
    protected,
    proxies,
    same_constants,
    scalars_of_numpy,
    searched_and_compared,
    sets,
    shuffled,
    slices,
    slotted,
    sorting,
    special_methods,
    special_methods_that_are_wrapped,
    state,
    streams,
    subclasses,
    supers_refused,
    supers_refused_by_c,
    told_by_classes,
    told_by_getattr,
    told_their_names,
    told_in_the_name_of_c,
    texts,
    texts_extended,
    threads_beside,
    threads_taking,
    thrown,
    told_to_finalizers,
    tracebacks_set,
    values_of_the_library,
    varying_places,
    walked,
    worded_by_c,
    warnings_given,
    where_generators_end,
    warnings_ignored,
    writing,
)

if sys.version_info >= (3, 10):
    from capture_cases import matching_310  # noqa: F401
if sys.version_info >= (3, 11):
    from capture_cases import groups_311  # noqa: F401
from known_failures import known
from observe import CASES
from toy_framework import toy

# What decisions are stated for.
CALLS = 3
# The third capture of a place leaves to run time what varies there: what comes after it is compared, too.
COMPARED = 6


def params(prefix):
    return [pytest.param(c, id=c.name, marks=known(prefix + c.name)) for c in CASES]


@pytest.mark.parametrize("case", params("same:"))
def test_same_as_eager(case):
    toy.reset()
    eager = case.observe(lambda f: f, COMPARED)
    toy.reset()
    captured = case.observe(toy.to_static, COMPARED)
    for number, (expected, got) in enumerate(zip(eager, captured), 1):
        assert got == expected, f"call {number}"


# Every family has cases among these; of some that were wrong there alone, each case is.
ALL_OF = ("filled_in_", "behind_a_handler_", "a_descriptor_is_made_again_", "names_of_classes_")
HOOKED = [c for at, c in enumerate(CASES) if at % 5 == 0 or c.name.startswith(ALL_OF)]


# What an entry is known to do otherwise the hook may do, or not.
@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in HOOKED if not known("same:" + c.name)])
def test_same_under_the_hook(case):
    """Where every frame is captured, those that the program's own operations and C code begin as well."""

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


def test_names_are_unique():
    names = [c.name for c in CASES]
    assert len(names) == len(set(names))
