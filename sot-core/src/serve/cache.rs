//! What was captured of one code object or continuation: guards, and what to run when they hold.
//!
//! Invariants
//! - What a cache holds is served until it is reset; when it is full nothing is added. An entry that can never be served again,
//!   because an object that it names is gone, makes room ([`super::orphans`]). Where everything is captured, what no call has met
//!   gives way when it is full, to captures that leave to run time what varies ([`CodeCache::generalises`]).
//! - Guards are checked without a lock: a check may let another thread run.

use super::function::function_for;
use super::misses::{self, Counts, Miss};
use super::policy::{self, Generality, Losses, Worth};
use super::resume_point::ResumePoint;
use super::trial::{Balance, Server, Trial, Turn, Unguarded};
use crate::backend::AmbientCheck;
use crate::capture::{Became, Break, Capture, Subject};
use crate::capture_all;
use crate::captured::Captured;
use crate::cpython::holders::{self, Holders};
use crate::cpython::{Slots, gc};
use crate::executor::Found;
use crate::graph_fn::{Choice, GraphFunction, Stage};
use crate::guards::{Asked, GuardText, NativeGuards, Root, in_words};
use crate::occupants::Shared;
use crate::replay::WRONG_SHAPE;
use crate::stats::{STATS, count};
use crate::stop::{Reason, Stop, Why};
use crate::user_frames::{self, Shown};
use crate::varying::Varying;
use pyo3::exceptions::{PyAttributeError, PyIndexError, PyKeyError, PyUnboundLocalError};
use pyo3::prelude::*;
use pyo3::types::PyCode;
use sot_opcodes::Op;
use sot_tracker::Origin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock, Weak};

/// Entries of one cache.
const LIMIT: usize = 64;
/// Entries of one cache whose captures gave up after too many instructions: the next would, too.
const TOO_LONG: usize = 4;

/// Guards of entries that no call has met again: of one cache, before nothing is added any more. What is large and new each time
/// takes long to capture, and is kept for nothing.
const UNMET_GUARDS: usize = 50_000;

/// Calls of an entry that its graph may take for the choice who runs it; it may also fail each time.
const WAITS: u32 = 32;

/// What a cache entry runs.
pub enum Action {
    /// Rewritten code, as a function of the slots. `shown`: the user's frames that it stands for in a traceback.
    Run {
        function: Py<PyAny>,
        code: Py<PyCode>,
        calls_out: bool,
        shown: Shown,
        /// So many of its instructions, the first, do nothing that anybody sees.
        quiet: usize,
    },
    /// The original code.
    Original { calls_out: bool },
}

/// What a capture found, for reports.
pub struct EntryReport {
    /// The graph is owned by the rewritten code.
    pub graph: Option<Weak<GraphFunction>>,
    pub breaks: Vec<Break>,
    pub guards: Vec<String>,
    /// Where the program asked for each guard.
    pub read_at: Vec<Option<Origin>>,
    /// What the program calls what their paths begin with.
    pub roots: Vec<Option<Root>>,
    pub code: String,
    /// Where the code may go on. They are owned by the rewritten code.
    pub points: Vec<Weak<ResumePoint>>,
    pub capture_ns: u64,
    /// Why extents of tensors that vary have a capture each.
    pub fixed_extents: Option<Why>,
    /// The program has said of a tensor that they vary.
    pub marked: bool,
}

impl EntryReport {
    /// Bytes that its texts hold.
    fn bytes(&self) -> usize {
        let roots = self.roots.iter().map(|root| root.as_ref().map_or(0, Root::bytes));
        self.guards.iter().map(|guard| size_of::<String>() + guard.len()).sum::<usize>()
            + roots.map(|root| size_of::<Option<Root>>() + root).sum::<usize>()
            + self.read_at.len() * size_of::<Option<Origin>>()
            + self.code.len()
    }

    /// A guard in the words of the program.
    pub(super) fn said(&self, number: usize) -> Option<String> {
        let root = self.roots.get(number).and_then(Option::as_ref);
        Some(in_words(self.guards.get(number)?, root))
    }
}

/// Guards, and what is served where they hold. A call that is served needs the latter alone: what only guards name may die
/// while it runs.
pub struct Guarded {
    pub guards: NativeGuards,
    pub entry: Arc<Entry>,
}

/// What to run.
pub struct Entry {
    pub ambient: Arc<dyn AmbientCheck>,
    pub action: Action,
    pub report: EntryReport,
    /// Frames that eager would have open at a time: with less room the original code runs, and raises its own
    /// `RecursionError`.
    pub deepest: usize,
    pub hits: AtomicU64,
    /// What it has cost to capture: instructions that were simulated, and guards.
    pub work: usize,
    /// What the program is to be told instead of a result.
    pub complaint: Option<String>,
    /// Whether serving it pays.
    pub trial: Trial,
    /// So many calls may still wait for its graph to choose who runs it.
    waits: AtomicU32,
    /// Calls that the original code has served since the capture did.
    spared: AtomicU64,
    /// Whether what is captured behind its breaks pays: of all entries of a cache together.
    behind: OnceLock<Arc<Worth>>,
    /// It leaves to run time what varies.
    pub general: bool,
    /// Extents of its tensors vary.
    pub extents_vary: bool,
    /// Some are numbers of the program.
    shaped_by_numbers: bool,
    /// Its graph is not what it was built to be: the original code serves.
    pub broken: AtomicBool,
    /// How the program goes on where operations of its graph act.
    pub again: Option<Arc<Again>>,
}

/// How the program goes on behind an operation that acts.
pub struct Again {
    /// What the call is captured from once more.
    pub found: Found,
    /// What is asked behind one that acts on more than memory: the guards of the entry.
    pub guards: Option<NativeGuards>,
    /// Nothing is to act any more in what is captured of the call from now on.
    pub gives_way: AtomicBool,
}

impl Guarded {
    /// Bytes that it holds, and its graph.
    fn bytes(&self, py: Python<'_>) -> (usize, Option<Arc<GraphFunction>>) {
        let entry = &self.entry;
        let code = match &entry.action {
            Action::Run { code, .. } => code.bind(py).as_any().call_method0("__sizeof__").and_then(|n| n.extract()),
            Action::Original { .. } => Ok(0),
        };
        let held = size_of::<Entry>() + self.guards.bytes() + entry.report.bytes() + code.unwrap_or(0);
        (held, entry.report.graph.as_ref().and_then(Weak::upgrade))
    }

    /// The entry that serves what was captured. `point_of`: where a callable asks to go on. An error: its guards cannot be checked.
    pub fn of(
        py: Python<'_>,
        capture: Capture,
        subject: &Subject<'_, '_>,
        general: bool,
        point_of: impl Fn(&Bound<'_, PyAny>) -> Option<Weak<ResumePoint>>,
    ) -> Result<Guarded, Stop> {
        let guards = match (NativeGuards::compile(py, &capture.captured, &capture.ambient), &capture.became) {
            (Ok(guards), _) => guards,
            // Without guards it holds always, which is what running the original code allows.
            (Err(_), Became::Fallback) => NativeGuards::always(),
            (Err(stop), _) => return Err(stop),
        };
        let mut report = EntryReport {
            graph: None,
            guards: GuardText::lines(py, &capture.captured, &capture.slots),
            roots: GuardText::roots(py, &capture.captured, &capture.slots),
            read_at: capture.captured.guards.iter().map(|guard| guard.origin.clone()).collect(),
            breaks: capture.breaks,
            code: String::new(),
            points: Vec::new(),
            capture_ns: 0,
            fixed_extents: capture.captured.needs_fixed_extents.clone(),
            marked: capture.captured.marked,
        };
        let on_state = capture.captured.graph.acts_on_state();
        let again = match capture.again {
            Some(found) => {
                let guards = on_state
                    .then(|| NativeGuards::compile_seeing_all(py, &capture.captured, &capture.ambient))
                    .transpose()?;
                Some(Again { found: *found, guards, gives_way: AtomicBool::new(false) })
            }
            None => None,
        };
        let action = match capture.became {
            Became::Fallback => Action::Original { calls_out: true },
            Became::Nothing(rewritten) => {
                STATS.note(Reason::NoTensor);
                report.code = rewritten.text;
                Action::Original { calls_out: false }
            }
            Became::Code(rewritten) => {
                let function = function_for(py, subject, rewritten.code.bind(py))?;
                report.graph = rewritten.graph.as_ref().map(Arc::downgrade);
                report.code = rewritten.text;
                report.points = rewritten.requests.iter().filter_map(|asks| point_of(asks.bind(py))).collect();
                Action::Run {
                    function: function.unbind(),
                    code: rewritten.code,
                    calls_out: rewritten.calls_out,
                    shown: rewritten.shown,
                    quiet: rewritten.quiet,
                }
            }
        };
        report.capture_ns = capture.started.elapsed().as_nanos() as u64;
        let deepest = capture.captured.deepest;
        let work = capture.work + report.guards.len();
        let (complaint, hits) = (capture.complaint, AtomicU64::new(0));
        let ambient = capture.ambient;
        let behind = OnceLock::new();
        let (extents_vary, broken) = (capture.captured.extents_vary(), AtomicBool::new(false));
        let (trial, waits) = (Trial::new(extents_vary), AtomicU32::new(WAITS));
        let shaped_by_numbers = !capture.captured.graph.own.is_empty();
        let entry = Entry {
            ambient,
            action,
            report,
            deepest,
            hits,
            work,
            complaint,
            trial,
            waits,
            spared: AtomicU64::new(0),
            behind,
            general,
            extents_vary,
            shaped_by_numbers,
            broken,
            again: again.map(Arc::new),
        };
        Ok(Guarded { guards, entry: Arc::new(entry) })
    }
}

impl Entry {
    /// Behind a break of this one, another one serves: it was captured now, or met again.
    pub(super) fn leads_to(&self, other: &Entry) {
        let Some(behind) = self.behind.get() else { return };
        match other.hits.load(Ordering::Relaxed) {
            0 => behind.made(other.work),
            hits => behind.met(other.work, hits == 1),
        }
    }

    /// Who serves the next call, by measurement.
    pub(super) fn turn(&self) -> Turn {
        let Action::Run { .. } = self.action else {
            return Turn::settled(if self.is_original() { Server::Original } else { Server::Captured });
        };
        let waits = self.waits.load(Ordering::Relaxed);
        if waits > 0 {
            let graph = self.graph();
            match graph.map(|graph| graph.stage()) {
                Some(Stage::Waits) => {}
                Some(Stage::Tries) => {
                    self.waits.store(waits - 1, Ordering::Relaxed);
                    self.trial.skip(1);
                    return Turn::settled(Server::Captured);
                }
                Some(Stage::Chosen(choice)) => {
                    self.waits.store(0, Ordering::Relaxed);
                    if choice == Choice::Compiled && self.trial.verdict().is_some() {
                        self.trial.renew();
                    }
                }
                None => self.waits.store(0, Ordering::Relaxed),
            }
        }
        self.trial.turn()
    }

    /// A call is served, and the original code serves so many more at which nobody looks.
    pub(super) fn is_served(&self, by: Server, more: u32) {
        let spared = u64::from(more) + u64::from(by == Server::Original);
        if spared > 0 {
            self.spared.store(self.spared.load(Ordering::Relaxed) + spared, Ordering::Relaxed);
            self.trial.skip(u64::from(more));
        }
    }

    /// The capture serves: the calls since it did so last, this one included.
    pub(super) fn stands_for(&self) -> u64 {
        1 + self.spared.swap(0, Ordering::Relaxed)
    }

    /// Whether the original code is all that it serves.
    pub(super) fn is_original(&self) -> bool {
        self.complaint.is_none() && matches!(self.action, Action::Original { calls_out: false })
    }

    /// It runs rewritten code.
    pub(super) fn is_rewritten(&self) -> bool {
        matches!(self.action, Action::Run { .. })
    }

    /// A call has ended. What calls functions of the program, or does not find what it had read, is to be captured with breaks.
    pub(super) fn note_if_it_gives_way(&self) {
        if self.again.as_ref().is_some_and(|again| again.gives_way.load(Ordering::Relaxed)) {
            self.broken.store(true, Ordering::Relaxed);
        }
    }

    /// Its graph has failed: whether it is closed for good.
    pub(super) fn note_if_broken(&self) {
        if self.graph().is_some_and(|graph| graph.choice() == Choice::Closed) {
            self.broken.store(true, Ordering::Relaxed);
        }
    }

    /// Whether its code has not found what it reads, where it does nothing that anybody sees: the program can run as if there had been no
    /// new code, as it does from then on. What else is raised there may come from elsewhere, without a frame of its own: from another
    /// thread, or a signal that is handled by C.
    pub(super) fn fails_quietly(&self, py: Python<'_>, error: &PyErr) -> bool {
        let Action::Run { code, quiet, .. } = &self.action else { return false };
        let class = error.get_type(py);
        let found_nothing = |op: &Op| match op {
            Op::LoadAttr(_) | Op::LoadMethod(_) => class.is(py.get_type::<PyAttributeError>()),
            Op::BinarySubscr => class.is(py.get_type::<PyKeyError>()) || class.is(py.get_type::<PyIndexError>()),
            Op::LoadFast { .. } => class.is(py.get_type::<PyUnboundLocalError>()),
            _ => false,
        };
        let fails =
            *quiet > 0 && user_frames::raised_within(py, error, code, *quiet).is_some_and(|op| found_nothing(&op));
        if fails {
            self.broken.store(true, Ordering::Relaxed);
            STATS.note(Reason::InternalError);
            capture_all::failed(&Why::new(Reason::InternalError, "new code has raised what the program does not"));
        }
        fails
    }

    /// Whether its graph is closed because shapes were not what the framework had inferred.
    fn is_of_wrong_shapes(&self) -> bool {
        let graph = self.graph();
        graph.is_some_and(|graph| graph.replay_only().is_some_and(|why| why.starts_with(WRONG_SHAPE)))
    }

    /// Its graph, while new code holds it.
    pub(super) fn graph(&self) -> Option<Arc<GraphFunction>> {
        self.report.graph.as_ref().and_then(Weak::upgrade)
    }

    /// Names the calls of the rewritten code: by its graph, which says when it has run.
    pub(super) fn mark(&self) -> usize {
        self.report.graph.as_ref().map_or(0, |graph| graph.as_ptr() as usize)
    }
}

impl Guarded {
    /// Why it does not serve this call. `None`: it does.
    fn missed(&self, py: Python<'_>, slots: Slots<'_>, entry: usize) -> Option<Miss> {
        let report = &self.entry.report;
        if !self.entry.ambient.matches(py) {
            let guard = format!("the state of the framework ({})", self.entry.ambient.describe().join(", "));
            return Some(Miss { guard, found: "another one".to_owned(), read_at: None, entry });
        }
        let blame = self.guards.blame(py, slots)?;
        let number = blame.guard.map(|number| number as usize);
        let guard = number.and_then(|number| report.said(number)).unwrap_or_else(|| "a fact".to_owned());
        let read_at = number.and_then(|number| report.read_at.get(number)?.as_ref().map(ToString::to_string));
        Some(Miss { guard, found: blame.found.said(py), read_at, entry })
    }

    /// Whether a call has met it again.
    fn is_met(&self) -> bool {
        self.entry.hits.load(Ordering::Relaxed) > 0
    }
}

/// The entries of one code object, or of one continuation.
#[derive(Default)]
pub struct CodeCache {
    /// Replaced as a whole: guards are checked without a lock, because a check may let another thread run.
    entries: RwLock<Arc<Vec<Arc<Guarded>>>>,
    /// Nothing is captured here any more, and why.
    closed: RwLock<Option<Why>>,
    pub(super) unguarded: Unguarded,
    /// Whether that pays, of all its entries.
    pub(super) balance: Balance,
    /// The most entries for which [`CodeCache::has_grown_to`] was asked.
    grown: AtomicUsize,
    /// Entries that were dead before a call met them again.
    losses: Losses,
    /// Whether capturing pays, where everything is captured.
    worth: Worth,
    /// The same of all that is captured behind the breaks of this.
    behind: Arc<Worth>,
    /// It is closed, and keeps only what calls have met.
    trimmed: AtomicBool,
    /// That it is closed was told.
    told: AtomicBool,
    /// What calls have missed by that were captured again.
    missed: Mutex<Counts>,
    /// Captures that were made when it was full.
    general: Generality,
    /// Where captures have found numbers.
    numbers: RwLock<Arc<Varying>>,
    /// What they have found in which places; together with whoever led here.
    occupants: Shared,
}

impl CodeCache {
    /// The entry whose guards hold.
    pub(super) fn lookup(&self, py: Python<'_>, slots: Slots<'_>) -> Option<Arc<Entry>> {
        let entries = self.entries.read().ok()?.clone();
        let mut asked = Asked::default();
        let found = &entries.iter().find(|e| e.guards.check(py, slots, &mut asked))?.entry;
        let first = count(&found.hits) == 0;
        self.worth.met(found.work, first);
        policy::met_by_any(found.work, first);
        if first {
            self.losses.regain();
        }
        Some(found.clone())
    }

    /// Looks for the entry whose guards hold, as a lookup does, and makes nothing of it.
    pub(super) fn only_looks(&self, py: Python<'_>, slots: Slots<'_>) {
        let Ok(entries) = self.entries.read().map(|entries| entries.clone()) else { return };
        let mut asked = Asked::default();
        let _ = entries.iter().find(|entry| entry.guards.check(py, slots, &mut asked));
    }

    /// How many entries there are, the bytes that they hold, and their graphs.
    pub(super) fn weigh(&self, py: Python<'_>) -> (usize, usize, Vec<Arc<GraphFunction>>) {
        let entries = self.entries.read().map(|entries| entries.clone()).unwrap_or_default();
        let (bytes, graphs): (Vec<usize>, Vec<_>) = entries.iter().map(|entry| entry.bytes(py)).unzip();
        (entries.len(), bytes.iter().sum(), graphs.into_iter().flatten().collect())
    }

    /// Why a call that no entry serves has missed the entry that was made last, or each of them, that one first. What is dead is
    /// asked as well, so before it goes: it may be the very reason.
    pub(super) fn why_missed(&self, py: Python<'_>, slots: Slots<'_>, each: bool) -> Vec<Miss> {
        if self.closed.read().is_ok_and(|closed| closed.is_some()) {
            return Vec::new();
        }
        let entries = self.entries.read().map(|entries| entries.clone()).unwrap_or_default();
        let asked = entries.iter().enumerate().rev().take(if each { usize::MAX } else { 1 });
        asked.filter_map(|(at, entry)| entry.missed(py, slots, at + 1)).collect()
    }

    /// A call was captured again for this.
    pub(super) fn count_missed(&self, missed: &[Miss]) {
        if let Ok(mut counts) = self.missed.lock() {
            misses::count(missed, &mut counts);
        }
    }

    /// What calls have missed by, the most frequent first.
    pub(super) fn missed_most(&self) -> Vec<(String, u64)> {
        self.missed.lock().map(|counts| misses::ordered(&counts)).unwrap_or_default()
    }

    /// An entry serves a call, and not in a trial: whether the next calls may be plain Python, without a look at the guards. They are where
    /// nothing is better: of each entry there was nothing to rewrite, or it has lost its trial. And where that is faster, all in all.
    pub(super) fn frees_the_next(&self, entry: &Entry) -> bool {
        let gains = match entry.is_original() {
            true => Some(0),
            false => entry.trial.plain_gains(),
        };
        self.balance.note(gains);
        if gains.is_none() {
            return false;
        }
        let has_lost = |entry: &Entry| entry.is_original() || entry.trial.verdict() == Some(Server::Original);
        let all_have = || self.entries.read().is_ok_and(|all| all.iter().all(|other| has_lost(&other.entry)));
        self.balance.is_for_plain() || has_lost(entry) && all_have()
    }

    /// An empty one of a continuation, to which captures of a cache with these led first.
    pub(super) fn led_to(occupants: &Shared) -> CodeCache {
        CodeCache { occupants: occupants.clone(), ..CodeCache::default() }
    }

    /// What captures have found in which places.
    pub(super) fn occupants(&self) -> &Shared {
        &self.occupants
    }

    /// The numbers that captures have found so far.
    pub(super) fn numbers(&self) -> Arc<Varying> {
        self.numbers.read().map(|numbers| numbers.clone()).unwrap_or_default()
    }

    /// What one more capture has found.
    pub(super) fn learn(&self, py: Python<'_>, captured: &Captured) {
        if let Ok(mut occupants) = self.occupants.lock() {
            occupants.learn(py, captured);
        }
        let Ok(mut numbers) = self.numbers.write() else { return };
        if Arc::get_mut(&mut numbers).is_none() {
            *numbers = Arc::new(numbers.copied(py));
        }
        if let Some(numbers) = Arc::get_mut(&mut numbers) {
            numbers.learn(py, captured, capture_all::on());
        }
    }

    pub(super) fn add(&self, guarded: Guarded) {
        self.unguarded.revoke();
        self.worth.made(guarded.entry.work);
        policy::made_by_any(guarded.entry.work);
        let _ = guarded.entry.behind.set(self.behind.clone());
        if let Ok(mut entries) = self.entries.write() {
            let entries = Arc::make_mut(&mut entries);
            let unmet = entries.iter().filter(|e| !e.is_met());
            let guards: usize = unmet.map(|e| e.entry.report.guards.len()).sum();
            entries.push(Arc::new(guarded));
            let given_up = |guarded: &&Arc<Guarded>| {
                guarded.entry.report.breaks.first().is_some_and(|at| at.why.reason == Reason::Budget)
            };
            if entries.iter().filter(given_up).count() >= TOO_LONG {
                self.close(Why::new(Reason::Budget, format!("{TOO_LONG} captures came to no end")));
            }
            if guards > UNMET_GUARDS {
                let why = format!("{guards} guards that no call has met again");
                self.close(Why::new(Reason::CacheFull, why));
            }
            if entries.len() >= LIMIT {
                self.close(Why::new(Reason::CacheFull, format!("{LIMIT} entries")));
            }
        }
        // Where everything is captured, values that never come again would be captured for nothing. What was captured stays: it
        // owns the continuations, which know by themselves that they are vain.
        if capture_all::on() && self.worth.is_vain() {
            self.close(Why::new(Reason::CacheFull, "captures that no call has met again"));
        }
    }

    /// A call has missed, and this is why it is not captured: whether it is captured in general, and after how many answers a
    /// fact varies.
    pub(super) fn generalises(&self, why: &Why) -> Option<usize> {
        let full = capture_all::on() && why.reason == Reason::CacheFull;
        full.then(|| self.general.next()).flatten()
    }

    /// Entries that no call has met serve no more: guards that never hold cost each call.
    fn keep_what_is_met(&self) {
        self.unguarded.revoke();
        let old = self.entries.write().map(|mut entries| {
            let kept = entries.iter().filter(|entry| entry.is_met() || entry.entry.general).cloned().collect();
            std::mem::replace(&mut *entries, Arc::new(kept))
        });
        // What it held may die here, and run code of the program.
        drop(old);
    }

    /// A general capture.
    pub(super) fn add_general(&self, guarded: Guarded) {
        self.general.made(guarded.entry.work);
        if let Action::Original { .. } = guarded.entry.action {
            return;
        }
        self.unguarded.revoke();
        let _ = guarded.entry.behind.set(self.behind.clone());
        if let Ok(mut entries) = self.entries.write() {
            Arc::make_mut(&mut entries).push(Arc::new(guarded));
        }
    }

    /// The entries whose guards will not hold again.
    pub(super) fn dead(&self, py: Python<'_>, holders: Option<&Holders>) -> Vec<Arc<Guarded>> {
        let Ok(entries) = self.entries.read().map(|entries| entries.clone()) else { return Vec::new() };
        entries.iter().filter(|entry| entry.guards.are_dead(py, holders)).cloned().collect()
    }

    /// Serve these entries no more, and capture again where they had filled the cache. What they held may die here, and run
    /// code of the program.
    pub(super) fn remove(&self, dead: Vec<Arc<Guarded>>) {
        if dead.is_empty() {
            return;
        }
        self.unguarded.revoke();
        let unmet = dead.iter().filter(|guarded| !guarded.is_met()).count();
        if self.losses.lose(unmet, self.worth.hits()) {
            STATS.note(Reason::ShortLived);
        }
        if capture_all::on() && self.worth.is_vain() {
            self.close(Why::new(Reason::CacheFull, "captures of what dies before a call meets them"));
        } else if let Ok(mut closed) = self.closed.write() {
            if closed.take_if(|why| why.reason == Reason::CacheFull).is_some() {
                self.told.store(false, Ordering::Relaxed);
            }
            self.trimmed.store(false, Ordering::Relaxed);
        }
        // It may grow again.
        self.grown.store(0, Ordering::Relaxed);
        let is_dead = |entry: &&Arc<Guarded>| dead.iter().any(|dead| Arc::ptr_eq(dead, entry));
        let old = self.entries.write().map(|mut entries| {
            let kept = entries.iter().filter(|entry| !is_dead(entry)).cloned().collect();
            std::mem::replace(&mut *entries, Arc::new(kept))
        });
        drop(old);
    }

    /// Whether so many entries are more than when that was asked last.
    pub(super) fn has_grown_to(&self, entries: usize) -> bool {
        self.grown.fetch_max(entries, Ordering::Relaxed) < entries
    }

    /// A call was served by an entry. If its graph is closed since then, as the framework was wrong about shapes whose extents vary, it
    /// serves no more, and from now on each extent has a capture.
    pub(super) fn note_if_broken(&self, py: Python<'_>, entry: &Arc<Entry>) {
        entry.note_if_it_gives_way();
        if !entry.broken.load(Ordering::Relaxed) {
            return;
        }
        if entry.again.is_some() {
            self.give_way(py, entry, Varying::act_no_more);
        } else if entry.extents_vary && entry.is_of_wrong_shapes() {
            self.give_way(py, entry, |numbers| match entry.shaped_by_numbers {
                true => numbers.fix_numbers(),
                false => numbers.fix_extents(Why::new(Reason::BackendFailed, WRONG_SHAPE)),
            });
        }
    }

    /// The entry goes, and the next capture is another one by what was learned.
    fn give_way(&self, py: Python<'_>, broken: &Arc<Entry>, learn: impl FnOnce(&mut Varying)) {
        self.unguarded.revoke();
        if let Ok(mut numbers) = self.numbers.write() {
            if Arc::get_mut(&mut numbers).is_none() {
                *numbers = Arc::new(numbers.copied(py));
            }
            if let Some(numbers) = Arc::get_mut(&mut numbers) {
                learn(numbers);
            }
        }
        let old = self.entries.write().map(|mut entries| {
            let kept = entries.iter().filter(|entry| !Arc::ptr_eq(&entry.entry, broken)).cloned().collect();
            std::mem::replace(&mut *entries, Arc::new(kept))
        });
        drop(old);
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.read().map_or(0, |entries| entries.len())
    }

    /// Why nothing is captured here any more, or for some time.
    pub(super) fn closed(&self) -> Option<Why> {
        let pause = || self.losses.is_pause().then(|| Why::new(Reason::ShortLived, ""));
        self.closed.read().ok()?.clone().or_else(pause)
    }

    /// A call has missed: whether it is not captured, and why.
    pub(super) fn refuses(&self) -> Option<Why> {
        if capture_all::on() && self.behind.is_vain_behind() {
            self.close(Why::new(Reason::CacheFull, "captures behind its breaks that no call has met again"));
        }
        let why = self.closed().filter(|why| why.reason != Reason::ShortLived || !self.losses.tries_again())?;
        if capture_all::on() && why.reason == Reason::CacheFull && !self.trimmed.swap(true, Ordering::Relaxed) {
            self.keep_what_is_met();
        }
        Some(why)
    }

    /// Why nothing is captured here any more, the first time that it is asked for since then. Where everything is captured nobody is
    /// told.
    pub(super) fn closed_now(&self) -> Option<Why> {
        let why = self.closed.read().ok()?.clone()?;
        (!capture_all::on() && !self.told.swap(true, Ordering::Relaxed)).then_some(why)
    }

    /// Capture nothing here any more. The first reason stays.
    pub(super) fn close(&self, why: Why) {
        if let Ok(mut closed) = self.closed.write() {
            closed.get_or_insert(why);
        }
    }

    /// Visit what the entries hold, each reference once. What somebody else holds too is left out: it is alive anyway.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        if holders::following() {
            return;
        }
        let Ok(entries) = self.entries.try_read() else { return };
        let is_ours = |count: usize| count == 1 || holders::counting();
        for guarded in entries.iter().filter(|guarded| is_ours(Arc::strong_count(guarded))) {
            guarded.guards.traverse(visit);
            if is_ours(Arc::strong_count(&guarded.entry))
                && let Some(guards) = guarded.entry.again.as_ref().and_then(|again| again.guards.as_ref())
            {
                guards.traverse(visit);
            }
            if is_ours(Arc::strong_count(&guarded.entry))
                && let Action::Run { function, code, shown, .. } = &guarded.entry.action
            {
                gc::visit_owned_function(function, code, visit);
                shown.traverse(visit);
            }
        }
    }

    /// As if nothing had been captured.
    pub fn clear(&self) {
        self.unguarded.revoke();
        if let Ok(mut closed) = self.closed.write() {
            *closed = None;
            self.told.store(false, Ordering::Relaxed);
        }
        if let Ok(mut missed) = self.missed.lock() {
            missed.clear();
        }
        if let Ok(mut numbers) = self.numbers.write() {
            *numbers = Arc::default();
        }
        self.losses.forget();
        self.general.forget();
        self.trimmed.store(false, Ordering::Relaxed);
        let old = self.entries.write().map(|mut e| std::mem::take(&mut *e));
        drop(old);
    }
}
