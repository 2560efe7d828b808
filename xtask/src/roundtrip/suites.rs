//! Test modules of the standard library that `--test` runs, and what may fail when code is padded.

/// For `--test` without names: code of every kind. What a version does not have is left out.
pub(super) const CHOSEN: &[&str] = &[
    // The language, construct by construct.
    "test_grammar",
    "test_scope",
    "test_generators",
    "test_genexps",
    "test_listcomps",
    "test_setcomps",
    "test_dictcomps",
    "test_coroutines",
    "test_asyncgen",
    "test_yield_from",
    "test_exceptions",
    "test_exception_variations",
    "test_except_star",
    "test_exception_group",
    "test_raise",
    "test_with",
    "test_contextlib",
    "test_contextlib_async",
    "test_class",
    "test_super",
    "test_descr",
    "test_decorators",
    "test_fstring",
    "test_unpack",
    "test_unpack_ex",
    "test_extcall",
    "test_call",
    "test_keywordonlyarg",
    "test_positional_only_arg",
    "test_named_expressions",
    "test_patma",
    "test_type_params",
    "test_augassign",
    "test_compare",
    "test_slice",
    "test_global",
    "test_syntax",
    // Programs of some size.
    "test_json",
    "test_re",
    "test_collections",
    "test_functools",
    "test_heapq",
    "test_copy",
    "test_enum",
    "test_dataclasses",
    "test_typing",
    "test_argparse",
    "test_decimal",
    "test_pickle",
    "test_ast",
    "test_asyncio.test_futures",
    "test_asyncio.test_locks",
    "test_asyncio.test_queues",
    "test_asyncio.test_taskgroups",
    "test_asyncio.test_timeouts",
    "test_traceback",
    // What looks at code itself: line events and jumps of tracing, positions, frames.
    "test_sys_settrace",
    "test_sys_setprofile",
    "test_monitoring",
    "test_frame",
    "test_code",
    "test_dis",
    "test_inspect",
    "test_peepholer",
    "test_compile",
    "test_opcodes",
    "test_bdb",
];

/// Few and quick, for the matrix: each construct once, line events and jumps, positions.
pub(super) const QUICK: &[&str] = &[
    "test_grammar",
    "test_scope",
    "test_generators",
    "test_coroutines",
    "test_exceptions",
    "test_except_star",
    "test_with",
    "test_contextlib",
    "test_unpack_ex",
    "test_extcall",
    "test_fstring",
    "test_patma",
    "test_type_params",
    "test_json",
    "test_collections",
    "test_functools",
    "test_dataclasses",
    "test_sys_settrace",
    "test_monitoring",
    "test_dis",
];

/// Tests that see more in code than what it does, and why.
const SEES_MORE: &[(&str, &str)] = &[
    ("test.test_compile.TestSpecifics.test_merge_code_attrs", SHARED),
    ("test.test_compile.TestSpecifics.test_merge_constants", SHARED),
];

/// As [`SEES_MORE`], when code is padded as well.
const SEES_PADDING: &[(&str, &str)] = &[
    ("test.test_dis", PRINTED),
    ("test.test_peepholer", COUNTED),
    ("test.test_compile.TestSpecifics.test_consts_in_conditionals", COUNTED),
    ("test.test_compile.TestSpecifics.test_dead_blocks_do_not_generate_bytecode", COUNTED),
    ("test.test_compile.TestSpecifics.test_false_while_loop", COUNTED),
    ("test.test_monitoring.TestBranchAndJumpEvents", OFFSETS),
    ("test.test_monitoring.TestInstallIncrementally", OFFSETS),
    ("test.test_monitoring.TestLineAndInstructionEvents", OFFSETS),
    ("test.test_sys_settrace.JumpTestCase.test_no_jump_into_bare_except_block", EXCEPT),
    ("test.test_sys_settrace.JumpTestCase.test_no_jump_into_bare_except_block_from_try_block", EXCEPT),
    ("test.test_sys_settrace.JumpTestCase.test_no_jump_into_qualified_except_block", EXCEPT),
    ("test.test_sys_settrace.JumpTestCase.test_no_jump_into_qualified_except_block_from_try_block", EXCEPT),
    ("test.test_sys_settrace.JumpTestCase.test_no_jump_out_of_bare_except_block", EXCEPT),
    ("test.test_sys_settrace.JumpTestCase.test_no_jump_out_of_qualified_except_block", EXCEPT),
    ("test.test_sys_settrace.JumpTestCase.test_no_jump_to_except_1", EXCEPT),
    ("test.test_sys_settrace.JumpTestCase.test_no_jump_to_except_2", EXCEPT),
    ("test.test_sys_settrace.JumpTestCase.test_no_jump_to_except_3", EXCEPT),
    ("test.test_sys_settrace.JumpTestCase.test_no_jump_to_except_4", EXCEPT),
    ("test.test_sys_settrace.*.test_18_except_with_name", HANDLER),
    ("test.test_sys_settrace.*.test_no_line_event_after_creating_generator", SPECIALISES),
];

const SHARED: &str = "the compiler lets code objects share equal parts, `CodeType` does not";
const PRINTED: &str = "compares listings of `dis`";
const COUNTED: &str = "counts instructions";
const OFFSETS: &str = "compares offsets of events";
const EXCEPT: &str = "3.8 knows an `except` line by the DUP_TOP or POP_TOP that it begins with";
/// Seen with code that was padded by hand as well.
const HANDLER: &str = "3.9 makes a line event when a handler in the middle of a line begins with a NOP";
/// INSTRUMENTED_LINE keeps the instruction it stands for from being specialised, and the line now begins with a NOP.
const SPECIALISES: &str = "FOR_ITER begins no line, is specialised while traced and then tells of StopIteration";

/// Why a test may fail with re-encoded code. Names of the lists are of tests, classes or modules, `*` any part.
pub(super) fn excuse(test: &str, padded: bool) -> Option<&'static str> {
    let lists = [SEES_MORE, if padded { SEES_PADDING } else { &[] }];
    let within = |name: &str| {
        let mut parts = test.split('.');
        name.split('.').all(|wanted| parts.next().is_some_and(|part| wanted == "*" || wanted == part))
    };
    lists.into_iter().flatten().find(|(name, _)| within(name)).map(|(_, why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excuse_is_for_a_test_and_what_is_below_it() {
        let name = SEES_MORE[0].0;
        assert_eq!(excuse(name, false), Some(SEES_MORE[0].1));
        assert!(excuse(&format!("{name}.more"), false).is_some());
        assert!(excuse(&format!("{name}_more"), false).is_none());
        assert!(excuse("test.test_json", true).is_none());
        let traced = "test.test_sys_settrace.TraceTestCase.test_no_line_event_after_creating_generator";
        assert!(excuse(traced, true).is_some());
        assert!(excuse(traced, false).is_none());
    }

    #[test]
    fn the_quick_ones_are_of_the_chosen() {
        assert!(QUICK.iter().all(|name| CHOSEN.contains(name)));
    }
}
