//! Containers from before the frame that are asked for single items, and given single ones: nothing else of them is guarded.
//!
//! The first look at such a container, which guards its length or its keys and wraps its items, waits until somebody asks for the whole.
//! Until then what was stored is in the journal alone, and the look adds it to what it finds. What a container loses meanwhile
//! nobody has looked at: it must be of a kind whose end nobody sees.

use super::Executor;
use crate::stop::Stop;
use crate::variables::*;
use sot_sideeffect::{Mutation, Target};

/// Whether something was stored by a key: this value, or `None` for what was deleted.
pub(super) enum Stored {
    Here(Option<VarId>),
    Elsewhere,
    /// No guard can tell the key from others.
    Unknown,
}

/// Items that are stored one by one before somebody looks at the whole: each is compared with all before it.
const MOST_STORED: usize = 48;

impl Executor<'_> {
    /// What a container into which nobody has looked was given and lost since: keys, and values where it has them. All of its entries in
    /// the journal are of that kind, or append, as whatever else is done to it looks into it first.
    pub(super) fn stored_before_look(&mut self, container: VarId) -> Result<Vec<(VarId, Option<VarId>)>, Stop> {
        match self.own_dict_of(container) {
            Some(owner) => self.written_in_dict(owner),
            None => Ok(self.stored_in_itself(container)),
        }
    }

    /// The same of one that is no dict of an instance.
    pub(super) fn stored_in_itself(&self, container: VarId) -> Vec<(VarId, Option<VarId>)> {
        let changes = self.journal.changes_of(Target::Object(Self::var_ref(container)));
        let stored = changes.filter_map(|entry| match &entry.mutation {
            Mutation::SetItem { key, value, .. } => Some((VarId(key.0), Some(VarId(value.0)))),
            Mutation::DelItem { key, .. } | Mutation::DictPop { key, .. } => Some((VarId(key.0), None)),
            _ => None,
        });
        stored.collect()
    }

    /// Whether a container loses this value without a look at more than its type.
    pub(super) fn is_lost_unseen(&mut self, value: VarId) -> bool {
        let Variable { kind, tracker, .. } = self.var(value);
        let tracker = *tracker;
        match (kind, self.known_object(value)) {
            (VarKind::Constant(_) | VarKind::Tensor(_), Some(object)) if self.has_path(tracker) => {
                if !self.is_constant(tracker) {
                    self.guard_type(tracker, object);
                }
                true
            }
            _ => self.ends_unseen(value),
        }
    }

    /// Whether so much was stored that who asks for one key would go through too many.
    pub(super) fn is_stored_to_much(&self, container: VarId) -> bool {
        let written = self.own_dict_of(container).unwrap_or(container);
        self.journal.changes_of(Target::Object(Self::var_ref(written))).nth(MOST_STORED).is_some()
    }

    /// `container[key]` without a look at the whole.
    pub(super) fn subscript_by_key(&mut self, container: VarId, key: VarId) -> Result<Option<VarId>, Stop> {
        if let Some(item) = self.item_at_varying(container, key)? {
            return Ok(Some(item));
        }
        if let Some(item) = self.item_in_part(container, key)? {
            return Ok(Some(item));
        }
        if let Some(items) = self.slice_in_part(container, key)? {
            return Ok(Some(items));
        }
        match self.item_by_key(container, key)? {
            Some(Some(value)) => Ok(Some(value)),
            Some(None) if self.is_dict_of_c(container) => Ok(None),
            Some(None) => Err(self.raise_key_error(key)),
            None => Ok(None),
        }
    }

    /// `container[key] = value`, and `del dict[key]`, of one into which nobody has looked. `false`: it is done as ever.
    pub(super) fn store_by_key(&mut self, container: VarId, key: VarId, value: Option<VarId>) -> Result<bool, Stop> {
        match (&self.var(container).kind, value) {
            (VarKind::List(_), Some(value)) => self.store_in_part(container, key, value),
            (VarKind::Dict(_), _) => self.store_in_dict(container, key, value),
            _ => Ok(false),
        }
    }
}
