//! Classes of C whose values have a state that nothing but their own methods knows: streams in memory, hashes, locks, dates.
//!
//! One that a capture made is known to the capture alone, until it is built. So it is what its history makes of it: the call that made
//! it, and the calls of methods that changed it, all of them of constants. Another one with the same history answers for it.

use crate::cpython::facts;
use pyo3::prelude::*;
use pyo3::types::*;

/// What is known of a class.
pub(crate) struct Known {
    /// Where it is found, by the name that C gives it.
    name: &'static str,
    module: &'static str,
    attribute: &'static str,
    /// Methods that may change a value, and depend on it and their arguments alone.
    pub(crate) changes: &'static [&'static str],
    /// Methods that change nothing.
    pub(crate) asks: &'static [&'static str],
    /// Attributes that are constants.
    pub(crate) fields: &'static [&'static str],
}

const OF_STREAMS: &[&str] =
    &["__next__", "close", "flush", "read", "readline", "readlines", "seek", "truncate", "write"];
const ASKED_OF_STREAMS: &[&str] =
    &["__enter__", "__iter__", "getvalue", "isatty", "readable", "seekable", "tell", "writable"];
const OF_DATES: &[&str] = &["isoformat", "isoweekday", "toordinal", "weekday"];
const OF_LOCKS: &[&str] = &["__enter__", "__exit__", "acquire", "release"];

const KNOWN: &[Known] = &[
    Known {
        name: "_io.StringIO",
        module: "_io",
        attribute: "StringIO",
        changes: OF_STREAMS,
        asks: ASKED_OF_STREAMS,
        fields: &["closed", "line_buffering"],
    },
    Known {
        name: "_io.BytesIO",
        module: "_io",
        attribute: "BytesIO",
        changes: OF_STREAMS,
        asks: ASKED_OF_STREAMS,
        fields: &["closed"],
    },
    Known {
        name: "_hashlib.HASH",
        module: "_hashlib",
        attribute: "HASH",
        changes: &["update"],
        asks: &["copy", "digest", "hexdigest"],
        fields: &["block_size", "digest_size", "name"],
    },
    Known {
        name: "_struct.Struct",
        module: "_struct",
        attribute: "Struct",
        changes: &[],
        asks: &["pack", "unpack"],
        fields: &["format", "size"],
    },
    Known {
        name: "datetime.date",
        module: "datetime",
        attribute: "date",
        changes: &[],
        asks: OF_DATES,
        fields: &["day", "month", "year"],
    },
    Known {
        name: "datetime.datetime",
        module: "datetime",
        attribute: "datetime",
        changes: &[],
        asks: OF_DATES,
        fields: &["day", "hour", "microsecond", "minute", "month", "second", "year"],
    },
    Known {
        name: "datetime.timedelta",
        module: "datetime",
        attribute: "timedelta",
        changes: &[],
        asks: &["total_seconds"],
        fields: &["days", "microseconds", "seconds"],
    },
    Known {
        name: "_thread.lock",
        module: "_thread",
        attribute: "LockType",
        changes: OF_LOCKS,
        asks: &["locked"],
        fields: &[],
    },
    Known {
        name: "_thread.RLock",
        module: "_thread",
        attribute: "RLock",
        changes: OF_LOCKS,
        asks: &["_is_owned"],
        fields: &[],
    },
];

/// Functions that make such a value, beside the classes themselves.
pub(crate) fn is_maker(module: &str, name: &str) -> bool {
    match module {
        "_hashlib" => name == "new" || name.starts_with("openssl_"),
        "_thread" => matches!(name, "allocate_lock" | "allocate"),
        _ => false,
    }
}

/// What is known of the values of this very class.
pub(crate) fn known(class: &Bound<'_, PyType>) -> Option<&'static Known> {
    let name = facts::name_in_messages(class);
    let known = KNOWN.iter().find(|known| known.name == name)?;
    // A class of the program may have any name.
    facts::imported_value(class.py(), known.module, known.attribute)?.is(class).then_some(known)
}
