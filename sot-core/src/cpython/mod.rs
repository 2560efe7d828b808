//! The door to CPython: all unsafe code, all struct layouts and all version conditions of the project.
//!
//! Everything exported is safe to call with a `Python` token. What is here, by concept:
//!
//! - calls: [`slots`] (argument slots), [`call`], [`held`] (arguments that the callee takes over), [`native`] (callables made in Rust), [`entry`] (the
//!   callable that stands for a function);
//! - frames: [`hook`] (PEP 523; its state and installation are `hook_state` and `hook_install`), [`frame`] (what a hook sees), `replace` (running other code),
//!   [`copies`] (of this crate in one process: whose frames are whose);
//! - facts: [`facts`] (what guards read), [`signature`], [`code`], [`thread`], `native_stack`, [`traceback`],
//!   [`symbols`];
//! - processes: [`fork`];
//! - safety: [`mod@trampoline`] (panics), [`signals`] and [`gc`] (what waits for the end of a capture), [`holders`] (what only caches
//!   hold), [`offsets`] (layouts against headers), [`python_api`].
//!
//! **Invariant:** nothing outside this module uses `unsafe`, `cfg(Py_3_x)` or a foreign struct.

mod bind;
mod caches;
pub mod call;
mod capi;
pub mod code;
pub mod collections;
pub mod copies;
mod cxx_layout;
pub mod cxx_tensor;
pub mod entry;
mod entry_attributes;
mod entry_call;
mod entry_object;
mod eval_slot;
pub mod facts;
pub mod fork;
pub mod frame;
pub mod gc;
mod heap_type;
pub mod held;
pub mod holders;
pub mod hook;
mod hook_eval;
mod hook_install;
mod hook_state;
mod layout;
pub mod modules;
pub mod native;
mod native_stack;
pub mod offsets;
mod probe;
pub mod python_api;
mod quiet_class;
mod rebuilt_frame;
mod replace;
#[cfg(Py_3_11)]
mod replace_in_place;
#[cfg(not(Py_3_11))]
mod replace_shadow;
pub mod signals;
pub mod signature;
pub mod slots;
pub(crate) mod streams;
pub mod symbols;
pub mod thread;
pub mod traceback;
pub mod trampoline;
pub mod warnings;

pub use caches::{
    call_with_function, function_of_cache, has_room, information_of_cache, is_cache, is_unlimited,
    own_function_of_cache, result_in_cache, table_of_cache, take_back_miss,
};
pub use call::{call_method_vectorcall, call_slots, call_slots_kw};
pub use code::{VERSION, build_code, new_function, read_code, set_builtins};
pub use entry::{EntryBody, EntryParts, entry_parts, new_entry};
pub use frame::FrameView;
pub use hook::{Decision, FrameHook, Misfit, Token};
pub use hook_install::{set_global, with_hook, without_hook};
pub use hook_state::armed as hook_is_armed;
pub use modules::{builtin, module, operator, prepare as prepare_modules};
pub use native::{NativeBody, body_of, new_native};
pub use python_api::{add_python_api, add_test_probes};
pub use quiet_class::{quiet_class, unlisted_quiet_class};
pub use slots::{OwnedSlots, Slots};
pub use trampoline::{Panic, hook_failures, trampoline};
pub use warnings::warn;
