//! Tests that may differ, each with its reason.
//!
//! Only tests that look at what a translator may change belong here, which is what [`Looks`] says. A crash, a wrong value
//! or an exception that plain Python does not raise is a defect, whatever the test is about.

use std::ops::RangeInclusive;

/// What a test looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    /// Frames, and the entries of tracebacks.
    Frames,
    /// Code objects, bytecode.
    Code,
    /// Reference counts, and when exactly objects die.
    References,
    /// How deep calls may nest.
    Depth,
    /// Time.
    Time,
    /// How much memory an object takes.
    Memory,
}

pub(super) struct Excuse {
    /// A test, a class of tests or a module, by its dotted name.
    pub(super) test: &'static str,
    /// Minor versions.
    pub(super) versions: RangeInclusive<u8>,
    pub(super) looks: Looks,
    pub(super) why: &'static str,
}

pub(super) const EXCUSED: &[Excuse] = &[
    Excuse {
        test: "unittest.test.test_case.Test_TestCase.testAssertRaisesRefcount",
        versions: 8..=10,
        looks: Looks::References,
        why: "counts the references to a function that an entry of a cache may hold as well",
    },
    Excuse {
        test: "test.test_enumerate.TestReversed.test_bug1229429",
        versions: 8..=13,
        looks: Looks::References,
        why: "counts the references to an object that guards may hold as well",
    },
    Excuse {
        test: "test.test_list.ListTest.test_free_after_iterating",
        versions: 13..=13,
        looks: Looks::References,
        why: "a reversed iterator keeps an empty list (3.13), which then dies a few instructions after its function has returned",
    },
    Excuse {
        test: "test.test_exceptions.ExceptionTests.testSettingException",
        versions: 8..=11,
        looks: Looks::Frames,
        why: "looks at the first entry of a traceback: an exception that C code leaves to be made by the handler, which fails, has \
              no entry of the handler's frame (up to 3.11), where captured code has one",
    },
    Excuse {
        test: "test.test_descr.ClassPropertiesAndMethods.test_slots",
        versions: 8..=13,
        looks: Looks::References,
        why: "counts all objects that the collector knows, before and after code that is captured in between",
    },
    Excuse {
        test: "test.test_functools.TestLRUC.test_lru_cache_weakrefable",
        versions: 9..=13,
        looks: Looks::References,
        why: "asks whether a method of a local class has died: a function that guards name goes when a call misses next",
    },
    Excuse {
        test: "test.test_functools.TestLRUPy.test_lru_cache_weakrefable",
        versions: 9..=13,
        looks: Looks::References,
        why: "as TestLRUC: a function that guards name goes when a call misses next",
    },
    Excuse {
        test: "test.test_descr.ClassPropertiesAndMethods.test_remove_subclass",
        versions: 11..=13,
        looks: Looks::References,
        why: "asks whether a local class has died: one that guards name goes when a call misses next",
    },
    Excuse {
        test: "test.test_scope.ScopeTests.testLeaks",
        versions: 8..=8,
        looks: Looks::References,
        why: "counts instances that cells of dead functions held: what a frame had before its first break lives to its end (3.8)",
    },
    Excuse {
        test: "test.test_scope.ScopeTests.testCellLeak",
        versions: 8..=8,
        looks: Looks::References,
        why: "as testLeaks",
    },
    Excuse {
        test: "test.test_copy.TestCopy.test_deepcopy_weakvaluedict",
        versions: 8..=8,
        looks: Looks::References,
        why: "counts what a dictionary of weak references still finds, behind a break (3.8)",
    },
    Excuse {
        test: "test.test_coroutines.CoroutineTest.test_for_2",
        versions: 8..=13,
        looks: Looks::References,
        why: "counts the references to a tuple that guards hold as well",
    },
    Excuse {
        test: "test.test_weakref.ReferencesTestCase.test_cfunction",
        versions: 8..=13,
        looks: Looks::References,
        why: "asks whether a function of C has died: one that guards name goes when a call misses next",
    },
    Excuse {
        test: "test.test_re.ReTests.test_search_anchor_at_beginning",
        versions: 8..=13,
        looks: Looks::Time,
        why: "gives a search of ten million characters a tenth of a second, on whatever machine",
    },
    Excuse {
        test: "test.test_asyncgen.AsyncGenAsyncioTest.test_async_gen_asyncio_gc_aclose_09",
        versions: 8..=13,
        looks: Looks::Time,
        why: "waits a tenth of a second for what sleeps a fiftieth: on a busy machine the first captures take the rest",
    },
    Excuse {
        test: "test.test_int.IntStrDigitLimitsTests.test_denial_of_service_prevented_int_to_str",
        versions: 8..=13,
        looks: Looks::Time,
        why: "measures a conversion, and skips itself where the clock is too coarse for what it measured",
    },
    Excuse {
        test: "test.test_int.IntStrDigitLimitsTests.test_denial_of_service_prevented_str_to_int",
        versions: 8..=13,
        looks: Looks::Time,
        why: "as the other direction",
    },
    Excuse {
        test: "test.test_int.IntSubclassStrDigitLimitsTests.test_denial_of_service_prevented_int_to_str",
        versions: 8..=13,
        looks: Looks::Time,
        why: "as IntStrDigitLimitsTests",
    },
    Excuse {
        test: "test.test_int.IntSubclassStrDigitLimitsTests.test_denial_of_service_prevented_str_to_int",
        versions: 8..=13,
        looks: Looks::Time,
        why: "as IntStrDigitLimitsTests",
    },
    Excuse {
        test: "test.test_functools.TestLRUPy.test_lru_recursion",
        versions: 13..=13,
        looks: Looks::Depth,
        why: "calls itself close to the limit of recursion",
    },
    Excuse {
        test: "test.test_dict.DictTest.test_str_nonstr",
        versions: 8..=13,
        looks: Looks::Code,
        why: "compares identities of equal strings, one of them computed: the constants of code objects are interned",
    },
    Excuse {
        test: "test.test_dict.DictTest.test_splittable_popitem",
        versions: 8..=13,
        looks: Looks::Memory,
        why: "measures a dict that shares its keys with others: one whose instance is gone is made without",
    },
    Excuse {
        test: "test.test_descr.SharedKeyTests.test_subclasses",
        versions: 8..=13,
        looks: Looks::Memory,
        why: "measures a dict that shares its keys: how many a class reckons with is told by the instances made so far, and those \
              that nobody has are not made",
    },
];

impl Excuse {
    pub(super) fn covers(&self, test: &str, minor: u8) -> bool {
        let rest = test.strip_prefix(self.test);
        self.versions.contains(&minor) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excuse_is_for_a_test_and_what_is_below_it() {
        let excuse = Excuse { test: "test.test_a.T", versions: 8..=10, looks: Looks::Time, why: "slow" };
        assert!(excuse.covers("test.test_a.T.test_x", 9));
        assert!(excuse.covers("test.test_a.T", 10));
        assert!(!excuse.covers("test.test_a.T.test_x", 11));
        assert!(!excuse.covers("test.test_a.Tx", 9));
    }

    #[test]
    fn each_says_why() {
        // The tests of unittest lie beside it up to 3.11.
        let is_of_tests = |name: &str| name.starts_with("test.") || name.starts_with("unittest.test.");
        assert!(EXCUSED.iter().all(|excuse| is_of_tests(excuse.test) && !excuse.why.is_empty()));
    }
}
