//! Facts about live objects that guards read, each in about a nanosecond and without running user code.
//!
//! A *stamp* remembers an object (strong reference) and a value that changes whenever the object's
//! contents do; `fresh()` compares. A stamp that cannot be trusted is never fresh: the caller then
//! compares contents.

mod dicts;
mod functions;
mod hashed;
mod iterators;
mod itertools;
mod lifetimes;
mod ordered;
mod sets;
mod types;

pub use dicts::{
    DictStamp, dict_get_known_hash, dict_version, existing_dict, has_dict, holds_names_alone, imported, imported_value,
    instance_dict, lacks_dict_yet, module_dict, next_of_dict, settle_dict, str_hash, value_of_name, walk,
};
pub use functions::{
    FunctionParts, FunctionStamp, cell_contents, func_parts, is_cell, is_function, is_named_as_its_code,
};
pub use hashed::{has_lost_keys, keys_of_hash, may_meet_twice, stored_hashes, value_of_key};
pub use iterators::{
    IterState, RangeState, backwards_from, calls_have_ended_before, compares_with_nothing, count_on, end_iterator,
    ended_by_index, iterator_state, moves_backwards, set_position,
};
pub use itertools::{Asking, Given, OfItertools, of_itertools};
pub use lifetimes::{
    death_beside_runs_code, death_could_be_seen, death_is_seen, death_runs_code, death_runs_finalizers,
    deaths_run_code, is_held_by_at_most, is_plain_container, may_die_soon, own_death_is_seen,
};
pub use ordered::{
    delete_hashed, hashes_in_order, is_ordered, keys_in_order, move_ordered, nodes_of, ordered_entries, store_hashed,
};
pub use sets::{
    Hash, SetEntry, SetTable, add_hashed, discard_hashed, exchange_members, exchange_tables, members_of_hash,
    new_frozen_set, set_entry, set_of_hashed, set_table, set_with_table,
};
pub use types::{
    ClassForm, Field, GetattrKind, TypeStamp, class_dict, class_form, field, finds_names_by_code, getattr_kind,
    has_mro, is_abstract, is_class_of_context_variables, is_deque, is_heap_type, is_named_below, is_written_class,
    lacks_attribute, makes_plain_instances, mro, name_in_messages, tells_names, type_flags, type_lookup, type_version,
    unlisted, unlisted_class, unlisted_class_of, writes_attributes_by_default,
};
