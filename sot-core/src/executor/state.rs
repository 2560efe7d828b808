//! The simulated mutable state, with marks.
//!
//! What the simulation changes is: the kinds of variables (items of containers, contents of cells, positions of
//! iterators, suspended frames of generators), the journal, the statements of the graph, the iterators that a combined
//! one claims, which watched values were released, the hashes that keys were stored with, where dicts lost keys, and the frames. All of it
//! returns to what it was at a [`Mark`] by
//! [`Executor::rollback`]: variables by an undo log, what only grows by its length, frames by copies.
//!
//! What is *learned* about the world is no state: guards, trackers, wrapped objects, and what the first look at a sourced
//! variable found. It stays true whatever is rolled back.
//!
//! With debug assertions (so in the tests' builds) a picture of the state is taken at marks, and compared after a rollback
//! (`pictured`).
//!
//! Vocabulary: a *step mark* covers one instruction and copies the innermost frame only, since no instruction writes to
//! another frame that stays; a *full mark* copies all frames, so that two branches can be simulated from it.

use super::{Awaits, Executor, Frame};
use crate::frame::Site;
use crate::variables::{VarId, VarKind, Variable};
use hashbrown::HashSet;
use pyo3::{Py, PyAny};

/// A change that can be taken back.
pub(super) enum Undo {
    /// What a variable was.
    Kind(VarId, VarKind),
    /// A key had no hash.
    Hash(VarId),
    /// A dict had lost no key.
    Gap(VarId),
    /// So many values fewer were appended to a list into which nobody had looked.
    Unseen { list: VarId, count: usize },
    /// A container into which nobody had looked was given one value fewer, or had lost one fewer.
    Stored(VarId),
    /// A prototype had something else under a name, or nothing.
    Prototype { class: Py<PyAny>, name: String, before: Option<Py<PyAny>> },
}

/// What one run of an instruction says of itself to who runs it. A second run begins anew; what a stop is owed to outlives
/// that the instruction is taken back.
#[derive(Default)]
pub(super) struct Step {
    /// What awaits the result of a call that ends the instruction; `None`: the instruction goes on after it.
    pub(super) tail: Option<Awaits>,
    /// What the stop is owed to, in the place of the call under way.
    pub(super) cause: Option<Site>,
    /// The exception that is thrown into a generator, and what becomes its context.
    pub(super) thrown: Option<(VarId, Option<VarId>)>,
    /// Arguments that a call did not take, in the order in which the frame that was to have them lets go.
    pub(super) refused: Option<Vec<VarId>>,
    /// What stands against a call that the framework has refused is in its parts.
    pub(super) refused_inside: bool,
    /// The framework has refused a call.
    pub(super) refused_call: Option<super::bodies::RefusedCall>,
    /// The very tuple that the call hands over as its arguments.
    pub(super) spread: Option<VarId>,
}

/// Which frames a mark can restore.
#[expect(clippy::large_enum_variant, reason = "a box would be an allocation at each step")]
enum Saved {
    Innermost(Option<Frame>),
    All(Vec<Frame>),
}

/// A point to return to.
pub struct Mark {
    log: usize,
    journal: sot_sideeffect::Mark,
    graph: crate::captured::GraphMark,
    claimed: HashSet<usize>,
    released: usize,
    taken_by_steps: usize,
    dropped: bool,
    taken: usize,
    generators: Vec<VarId>,
    depth: usize,
    frames: Saved,
    #[cfg(debug_assertions)]
    picture: Option<super::pictured::Picture>,
}

impl Executor<'_> {
    /// A point to return to from within the next instruction.
    pub(super) fn step_mark(&mut self) -> Mark {
        if self.marks == 0 {
            // Nobody can go back further: no mark is held.
            self.undo.clear();
        }
        let frame = self.captured.frames.last().map(|frame| match self.spare.pop() {
            Some(mut copy) => {
                copy.copy_from(frame);
                copy
            }
            None => frame.clone(),
        });
        self.mark_with(Saved::Innermost(frame))
    }

    /// A step mark is over: its copy serves the next one. (An allocation less for each part of a frame and instruction.)
    pub(super) fn spend(&mut self, mark: Mark) {
        if let Saved::Innermost(Some(frame)) = mark.frames {
            self.spare.push(frame);
        }
    }

    /// A point to return to from anywhere, as often as wanted. To be given back with [`Executor::release`].
    pub fn mark(&mut self) -> Mark {
        self.marks += 1;
        let frames = self.frames.clone();
        self.mark_with(Saved::All(frames))
    }

    fn mark_with(&self, frames: Saved) -> Mark {
        Mark {
            log: self.undo.len(),
            journal: self.journal.mark(),
            graph: self.graph.mark(),
            claimed: self.claimed.clone(),
            released: self.watched.released.len(),
            taken_by_steps: self.watched.taken_by_steps.len(),
            dropped: self.watched.dropped,
            taken: self.watched.taken.len(),
            generators: self.watched.generators.clone(),
            depth: self.frames.len(),
            frames,
            #[cfg(debug_assertions)]
            picture: self.picture(),
        }
    }

    /// Take back everything since the mark.
    pub fn rollback(&mut self, mark: &Mark) {
        while self.undo.len() > mark.log {
            match self.undo.pop() {
                Some(Undo::Kind(var, kind)) => self.vars[var.0 as usize].kind = kind,
                // What has been found in a set or dict of that time had its hash before.
                Some(Undo::Hash(key)) if self.found_hashes.contains(&key) => {}
                Some(Undo::Hash(key)) => {
                    self.hashes.remove(&key);
                    self.shadows.forget(key);
                }
                Some(Undo::Gap(dict)) => drop(self.gaps.remove(&dict)),
                Some(Undo::Unseen { list, count }) => self.take_back_unseen(list, count),
                // Who looks next finds what is in the journal by then.
                Some(Undo::Stored(container)) => self.vars[container.0 as usize].looked = false,
                Some(Undo::Prototype { class, name, before }) => self.take_back_on_prototype(&class, &name, before),
                None => {}
            }
        }
        self.journal.rollback_to(mark.journal);
        self.take_back_dropping();
        self.graph.rollback_to(&mark.graph);
        self.claimed.clone_from(&mark.claimed);
        self.take_back_released(mark.released);
        self.watched.let_go.clear();
        self.take_back_taken(mark.taken_by_steps);
        self.watched.dropped = mark.dropped;
        self.watched.taken.truncate(mark.taken);
        self.watched.generators.clone_from(&mark.generators);
        match &mark.frames {
            Saved::All(frames) => self.frames.clone_from(frames),
            Saved::Innermost(frame) => {
                debug_assert!(self.frames.len() >= mark.depth, "a step that is taken back has left a frame");
                self.frames.truncate(mark.depth);
                if let (Some(frame), Some(place)) = (frame, self.frames.last_mut()) {
                    *place = frame.clone();
                }
            }
        }
        #[cfg(debug_assertions)]
        self.compare_with(mark.picture.as_ref());
    }

    /// What the innermost frame was before a step.
    pub(super) fn frame_before<'a>(&self, mark: &'a Mark) -> Option<(usize, &'a Frame)> {
        match &mark.frames {
            Saved::Innermost(frame) => Some((mark.depth.checked_sub(1)?, frame.as_ref()?)),
            Saved::All(_) => None,
        }
    }

    /// The variables that were changed since a mark, as they were.
    pub(super) fn changed_since(&self, mark: &Mark) -> impl Iterator<Item = (VarId, &VarKind)> {
        self.undo.get(mark.log..).unwrap_or_default().iter().filter_map(|undo| match undo {
            Undo::Kind(var, kind) => Some((*var, kind)),
            Undo::Hash(_) | Undo::Gap(_) | Undo::Unseen { .. } | Undo::Stored(_) | Undo::Prototype { .. } => None,
        })
    }

    /// A full mark is not needed any more.
    pub fn release(&mut self, mark: Mark) {
        drop(mark);
        self.marks = self.marks.saturating_sub(1);
    }

    /// A variable that the simulated program changes.
    pub fn var_mut(&mut self, id: VarId) -> &mut Variable {
        let variable = &mut self.captured.vars[id.0 as usize];
        self.undo.push(Undo::Kind(id, variable.kind.clone()));
        variable
    }

    /// A key or member was found with this hash in something from before the frame. `false`: it has been with another one.
    pub(super) fn find_hash(&mut self, key: VarId, hash: isize) -> bool {
        self.found_hashes.insert(key);
        *self.hashes.entry(key).or_insert(hash) == hash
    }

    /// A key is stored with a hash. `false`: it has been with another one.
    pub(super) fn store_hash(&mut self, key: VarId, hash: isize) -> bool {
        if let Some(before) = self.hashes.get(&key) {
            return *before == hash;
        }
        self.undo.push(Undo::Hash(key));
        self.hashes.insert(key, hash);
        true
    }

    /// A dict loses keys here, for the first time.
    pub(super) fn store_gap(&mut self, dict: VarId, site: Site) {
        if !self.gaps.contains_key(&dict) {
            self.undo.push(Undo::Gap(dict));
            self.gaps.insert(dict, site);
        }
    }

    /// A variable about which something was learned that was true before.
    pub(crate) fn learn(&mut self, id: VarId) -> &mut Variable {
        #[cfg(debug_assertions)]
        self.learned.insert(id);
        &mut self.vars[id.0 as usize]
    }
}
