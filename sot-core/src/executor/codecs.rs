//! Codecs and error handlers by name: Python looks them up where a program may have registered its own, or exchanged one.
//!
//! Facts about which names are answered in C without a look: `Objects/unicodeobject.c` of CPython 3.8 to 3.13.

use super::Executor;
use super::copies::Copies;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;

/// Encodings of which some errors are treated in C, as [`normalized`].
const TREATED: [&str; 9] =
    ["ascii", "iso8859_1", "iso_8859_1", "latin", "latin1", "latin_1", "us_ascii", "utf8", "utf_8"];

/// Further encodings that Python itself registers before any program could.
const OF_PYTHON: [&str; 17] = [
    "cp1252",
    "raw_unicode_escape",
    "unicode_escape",
    "utf16",
    "utf_16",
    "utf_16_be",
    "utf_16_le",
    "utf_16be",
    "utf_16le",
    "utf32",
    "utf_32",
    "utf_32_be",
    "utf_32_le",
    "utf_32be",
    "utf_32le",
    "utf7",
    "utf_7",
];

/// The name by which Python looks for an encoding.
fn normalized(encoding: &str) -> String {
    encoding.to_lowercase().replace(['-', ' '], "_")
}

/// Whether neither the codec nor its error handler may be code of a program. No encoding is UTF-8.
fn is_known(encoding: Option<&str>, errors: Option<&str>, encodes: bool) -> bool {
    let encoding = normalized(encoding.unwrap_or("utf-8"));
    let is_treated = TREATED.contains(&encoding.as_str());
    match errors {
        None | Some("strict") => is_treated || OF_PYTHON.contains(&encoding.as_str()),
        Some("ignore" | "replace" | "surrogateescape") => is_treated,
        Some("backslashreplace" | "xmlcharrefreplace") => is_treated && encodes,
        Some(_) => false,
    }
}

impl<'py> Executor<'py> {
    /// Break where a call asks for a codec or for a treatment of errors that may be the program's.
    pub(super) fn knows_codec(
        &mut self,
        callee: &Bound<'py, PyAny>,
        positional: &[VarId],
        keywords: &[(String, VarId)],
    ) -> Result<(), Stop> {
        let Some((encodes, before)) = converts(callee) else { return Ok(()) };
        let given = positional.get(before..).unwrap_or_default();
        let of = |name: &str| keywords.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        // What is no text is refused by Python.
        let mut text = |value: Option<VarId>| value.and_then(|value| self.constant_str(value));
        let encoding = text(given.first().copied().or(of("encoding")));
        let errors = text(given.get(1).copied().or(of("errors")));
        let (encoding, errors) = (encoding.as_deref(), errors.as_deref());
        if is_known(encoding, errors, encodes) {
            return Ok(());
        }
        // Nobody is asked for what makes no errors.
        if is_known(encoding, None, encodes) {
            let named = ["object", "source", "string"].iter().find_map(|name| of(name));
            let subject = match (before, positional.first().copied().or(named)) {
                (0, _) => callee.getattr("__self__").map_err(|e| self.internal(&e))?,
                (_, Some(subject)) => self.plain_copy(subject, &mut Copies::default())?,
                // There is nothing to convert.
                (_, None) => return Ok(()),
            };
            let method = if encodes { "encode" } else { "decode" };
            if is_converted_by_python(&subject) && subject.call_method1(method, (encoding.unwrap_or("utf-8"),)).is_ok()
            {
                return Ok(());
            }
        }
        Err(Stop::brk(Reason::Builtin, "a codec that the program may have registered"))
    }
}

/// Whether no class of the program says how a value is converted.
fn is_converted_by_python(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBytes>()
        || value.is_exact_instance_of::<PyByteArray>()
}

/// Of a callable that asks for a codec: whether it encodes, and how many arguments come before the codec's name.
fn converts(callee: &Bound<'_, PyAny>) -> Option<(bool, usize)> {
    let py = callee.py();
    let (text, bytes, array) = (py.get_type::<PyString>(), py.get_type::<PyBytes>(), py.get_type::<PyByteArray>());
    if callee.is_instance_of::<PyType>() {
        return match () {
            () if callee.is(&text) => Some((false, 1)),
            () if callee.is(&bytes) || callee.is(&array) => Some((true, 1)),
            () => None,
        };
    }
    let name = callee.getattr("__name__").and_then(|name| name.extract::<String>()).ok()?;
    let encodes = match name.as_str() {
        "encode" => true,
        "decode" => false,
        _ => return None,
    };
    if let Ok(me) = callee.cast::<PyCFunction>() {
        let me = me.getattr("__self__").ok()?;
        let is_text =
            me.is_instance_of::<PyString>() || me.is_instance_of::<PyBytes>() || me.is_instance_of::<PyByteArray>();
        return is_text.then_some((encodes, 0));
    }
    let of = callee.getattr("__objclass__").ok()?;
    (of.is(&text) || of.is(&bytes) || of.is(&array)).then_some((encodes, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_spellings_that_python_knows_are_known() {
        for known in ["utf-8", "UTF_8", "utf8", "latin-1", "ISO-8859-1", "ascii", "utf-16-le"] {
            assert!(is_known(Some(known), None, true), "{known}");
        }
        for unknown in ["u-tf8", "la tin1", "mine", ""] {
            assert!(!is_known(Some(unknown), None, true), "{unknown}");
        }
    }

    #[test]
    fn what_is_looked_up_may_be_the_programs() {
        assert!(is_known(None, Some("replace"), true));
        assert!(is_known(Some("ascii"), Some("backslashreplace"), true));
        assert!(!is_known(Some("ascii"), Some("backslashreplace"), false));
        assert!(!is_known(Some("utf-16"), Some("replace"), true));
        assert!(!is_known(Some("utf-8"), Some("namereplace"), true));
    }
}
