//! The three promises: a tree answers like its guards one by one, simplification never changes an answer, and
//! the schedule is safe.

use crate::toy::{State, Stream, guards, paths};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use sot_tracker::{Access, Check, Guard, GuardSet, GuardTree, NothingKnown, Step, TrackerTable};

struct Case {
    state: State,
    others: Vec<State>,
    table: TrackerTable,
    guards: GuardSet,
}

fn case(numbers: &[u32], count: usize) -> Case {
    let mut stream = Stream(numbers.iter());
    let state = State::generate(&mut stream);
    let (table, ids) = paths(&state, &mut stream);
    let guards = guards(&state, &table, &ids, count, &mut stream);
    let others = (0..6).map(|_| state.disturbed(&mut stream)).collect();
    Case { state, others, table, guards }
}

fn one_by_one(case: &Case, guards: &GuardSet, state: &State) -> bool {
    let mut world = state;
    guards.iter().all(|g| g.evaluate(&case.table, &mut world))
}

fn cases() -> impl Strategy<Value = Case> {
    (prop::collection::vec(any::<u32>(), 100..500), 1..25usize).prop_map(|(numbers, count)| case(&numbers, count))
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = sot_tracker::names::Numbered;
        write!(f, "{}{:#?}", self.guards.display(&self.table, &names), self.state)
    }
}

proptest! {
    #[test]
    fn tree_agrees_with_guards(case in cases()) {
        let tree = GuardTree::compile(&case.guards, &case.table).unwrap();
        for state in case.others.iter().chain([&case.state]) {
            let mut world = state;
            let verdict = tree.evaluate(&mut world);
            prop_assert_eq!(verdict.is_ok(), one_by_one(&case, &case.guards, state));
            if let Err(miss) = verdict {
                // The guard to blame does fail.
                let blamed = case.guards.get(miss.guard).unwrap();
                prop_assert!(!blamed.evaluate(&case.table, &mut world), "{:?}", miss);
            }
        }
    }

    #[test]
    fn simplify_keeps_the_verdict(case in cases()) {
        let mut with_knowledge = case.guards.clone();
        with_knowledge.simplify(&case.table, &case.state);
        let mut without = case.guards.clone();
        without.simplify(&case.table, &NothingKnown);
        prop_assert!(with_knowledge.len() <= without.len() && without.len() <= case.guards.len());
        for state in case.others.iter().chain([&case.state]) {
            let verdict = one_by_one(&case, &case.guards, state);
            prop_assert_eq!(one_by_one(&case, &with_knowledge, state), verdict);
            prop_assert_eq!(one_by_one(&case, &without, state), verdict);
        }
        let again = with_knowledge.iter().cloned().collect::<Vec<_>>();
        with_knowledge.simplify(&case.table, &case.state);
        prop_assert!(with_knowledge.iter().eq(again.iter()), "idempotent");
    }

    #[test]
    fn presence_is_kept(case in cases()) {
        let mut guards = case.guards.clone();
        // On the paths of other guards, and on what those paths pass.
        let paths: Vec<_> = case.guards.iter().flat_map(|g| case.table.path(g.tracker)).collect();
        guards.extend(paths.iter().step_by(2).map(|p| Guard::new(*p, Check::SameAs(*p))));
        let mut fewer = guards.clone();
        fewer.drop_implied_presence(&case.table);
        for state in case.others.iter().chain([&case.state]) {
            prop_assert_eq!(one_by_one(&case, &fewer, state), one_by_one(&case, &guards, state));
        }
    }

    #[test]
    fn schedule_is_complete_and_safe(case in cases()) {
        let tree = GuardTree::compile(&case.guards, &case.table).unwrap();
        let at = |step: Step| tree.schedule().iter().position(|s| *s == step);
        let mut steps = 0;
        for node in tree.nodes() {
            let fetched = at(Step::Access(node.id)).unwrap();
            steps += 1 + node.checks.len();
            for (index, check) in node.checks.iter().enumerate() {
                let checked = at(Step::Check(node.id, index as u32)).unwrap();
                prop_assert!(fetched < checked);
                prop_assert_eq!(check.others.len(), check.check.others().len());
                for other in &check.others {
                    prop_assert!(at(Step::Access(*other)).unwrap() < checked);
                }
                if check.others.is_empty() {
                    for child in &node.children {
                        prop_assert!(checked < at(Step::Access(*child)).unwrap(), "own checks before children");
                    }
                }
            }
            if let Some(parent) = node.parent {
                prop_assert!(parent < node.id);
                prop_assert!(tree.node(parent).children.contains(&node.id));
                if node.access == Access::TypeOf {
                    for sibling in tree.node(parent).children.iter().filter(|c| **c != node.id) {
                        let sibling = at(Step::Access(*sibling)).unwrap();
                        prop_assert!(fetched < sibling, "the type first");
                        for (index, check) in node.checks.iter().enumerate().filter(|(_, c)| c.others.is_empty()) {
                            prop_assert!(at(Step::Check(node.id, index as u32)).unwrap() < sibling, "{:?}", check);
                        }
                    }
                }
            }
        }
        prop_assert_eq!(tree.schedule().len(), steps);
    }
}

/// The properties say nothing if every case fails, or none: both verdicts must be common, and rules must apply.
#[test]
fn cases_are_not_vacuous() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = cases();
    let (mut hits, mut misses, mut dropped, mut total) = (0, 0, 0, 0);
    for _ in 0..200 {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        for state in case.others.iter().chain([&case.state]) {
            if one_by_one(&case, &case.guards, state) { hits += 1 } else { misses += 1 }
        }
        let mut simple = case.guards.clone();
        simple.simplify(&case.table, &case.state);
        total += case.guards.len();
        dropped += case.guards.len() - simple.len();
    }
    assert!(hits > 100 && misses > 100, "{hits} hits, {misses} misses");
    assert!(dropped > 50, "{dropped} of {total} guards dropped");
}
