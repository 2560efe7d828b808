//! Compiled patterns of module `re`: what one says of a text depends on the two alone, and nothing changes it.
//!
//! A match is a value that new code makes as the program did, by the method that found it ([`Native::Match`]).

use super::Executor;
use super::calls::name_of;
use super::copies::Copies;
use crate::called_by_code;
use crate::cpython::facts;
use crate::libraries;
use crate::natives::Native;
use crate::stop::{Reason, Stop};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use std::rc::Rc;

/// `re.LOCALE`: which bytes are letters depends on the process.
const LOCALE: u32 = 4;

/// `re.IGNORECASE | re.MULTILINE | re.DOTALL | re.UNICODE | re.VERBOSE | re.ASCII`
const SILENT: u32 = 2 | 8 | 16 | 32 | 64 | 256;

/// Methods of patterns without effect.
const OF_PATTERNS: &[&str] = &["findall", "fullmatch", "match", "search", "split", "sub", "subn"];

/// A match, and where it begins and ends.
type Found = (VarId, (i64, i64));

/// Matches of one text: each is found anew by its number.
const MATCHES: usize = 128;

/// Methods of matches.
const OF_MATCHES: &[&str] = &["__getitem__", "end", "expand", "group", "groupdict", "groups", "span", "start"];

impl<'py> Executor<'py> {
    pub(super) fn is_pattern(&self, class: &Bound<'py, PyAny>) -> bool {
        let pattern = crate::cpython::module(self.py, "re").and_then(|module| module.getattr("Pattern"));
        pattern.is_ok_and(|pattern| pattern.is(class))
    }

    /// What module `re` compiles of a text that it has not compiled before: it depends on the text and the flags alone. `None`: it is
    /// something else, or the library would warn of it or refuse it.
    pub(super) fn compiled_pattern(
        &mut self,
        function: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        let [text, flags] = *args.positional.as_slice() else { return Ok(None) };
        if !args.keywords.is_empty() || !is_compile(function) {
            return Ok(None);
        }
        // Its code, which may be exchanged.
        self.function_object_parts(function)?;
        if self.is_varying(text) || self.is_varying(flags) {
            return Ok(None);
        }
        let Some(value) = self.plain_text(text)? else { return Ok(None) };
        let VarKind::Constant(_) = self.look(flags)? else { return Ok(None) };
        let Some(flags) = self.constant_value(flags).filter(|flags| flags.is_exact_instance_of::<PyInt>()) else {
            return Ok(None);
        };
        let plain = match value.cast_exact::<PyBytes>() {
            Ok(bytes) => is_compiled_silently(&String::from_utf8_lossy(bytes.as_bytes())),
            Err(_) => value.extract::<String>().is_ok_and(|text| is_compiled_silently(&text)),
        };
        // Others ask for the locale, or are shown.
        if !plain || !flags.extract::<u32>().is_ok_and(|flags| flags & !SILENT == 0) {
            return Ok(None);
        }
        match function.call1((value, flags)) {
            Ok(pattern) => Ok(Some(self.pin_for_good(&pattern))),
            Err(_) => Ok(None),
        }
    }

    /// `pattern.name(*args)`; `None`: it is something else.
    pub(super) fn method_of_pattern(&mut self, me: VarId, name: &str, args: &Args) -> Result<Option<Called>, Stop> {
        let VarKind::Instance(InstanceVar { object: Some(object), class, .. }) = self.look(me)? else {
            return Ok(None);
        };
        let class = self.objects.get(self.py, class);
        if name != "finditer" && !OF_PATTERNS.contains(&name) || !args.keywords.is_empty() || !self.is_pattern(&class) {
            return Ok(None);
        }
        self.look_identity(me)?;
        let pattern = self.objects.get(self.py, object);
        let flags: u32 = pattern.getattr("flags").and_then(|flags| flags.extract()).map_err(|e| self.internal(&e))?;
        if flags & LOCALE != 0 {
            return Err(Stop::brk(Reason::Builtin, format!("{name} of a pattern that asks for the locale")));
        }
        let method = class.getattr(name).map_err(|e| self.internal(&e))?;
        match (name, args.positional.as_slice()) {
            ("finditer", [text]) => {
                let Some(found) = self.all_matches(me, &pattern, *text)? else { return Ok(None) };
                let found = found.into_iter().map(|(found, _)| found).collect::<Vec<_>>();
                let found = self.virtual_var(TupleVar::new(found));
                self.in_disguise("_match_iterator__counted", &[found]).map(|found| Some(Called::Value(found)))
            }
            ("finditer", _) => Ok(None),
            ("sub", [function, text, count @ ..]) if self.is_called_for_matches(*function)? => {
                let most = match count {
                    [] => 0,
                    [count] => match self.constant_int(*count) {
                        Some(count) => count,
                        None => return Ok(None),
                    },
                    _ => return Ok(None),
                };
                let Some(mut found) = self.all_matches(me, &pattern, *text)? else { return Ok(None) };
                if let Ok(most @ 1..) = usize::try_from(most) {
                    found.truncate(most);
                }
                let (mut matches, mut spans) = (Vec::with_capacity(found.len()), Vec::with_capacity(found.len()));
                for (one, (begin, end)) in found {
                    matches.push(one);
                    let span = vec![self.fold_int(begin)?, self.fold_int(end)?];
                    spans.push(self.virtual_var(TupleVar::new(span)));
                }
                let [matches, spans] = [matches, spans].map(|items| self.virtual_var(TupleVar::new(items)));
                self.enter("substituted", &[*function, *text, matches, spans]).map(Some)
            }
            _ => self.found_by_pattern(&method, me, &pattern, args).map(|found| Some(Called::Value(found))),
        }
    }

    fn is_called_for_matches(&mut self, value: VarId) -> Result<bool, Stop> {
        Ok(matches!(self.look(value)?, VarKind::Function(_) | VarKind::Method(_)))
    }

    /// All matches in a text and where they are, each made by its number; `None`: there are many, or it is no text.
    fn all_matches(&mut self, me: VarId, pattern: &Bound<'py, PyAny>, text: VarId) -> Result<Option<Vec<Found>>, Stop> {
        let Some(value) = self.plain_text(text)? else { return Ok(None) };
        let Ok(found) = pattern.call_method1("finditer", (&value,)) else { return Ok(None) };
        let found = found.try_iter().and_then(|found| found.collect::<PyResult<Vec<_>>>());
        let found = found.map_err(|e| self.internal(&e))?;
        if found.len() > MATCHES {
            return Ok(None);
        }
        let maker = called_by_code::nth_match(self.py).map_err(|e| self.internal(&e))?;
        let maker = self.pin(&maker);
        let mut matches = Vec::with_capacity(found.len());
        for (at, one) in found.iter().enumerate() {
            let span: (i64, i64) = one.call_method0("span").and_then(|s| s.extract()).map_err(|e| self.internal(&e))?;
            let at = self.fold_int(at as i64)?;
            let class = self.objects.add(one.get_type().as_any());
            let positional = [maker, me, text, at].into();
            let (native, keywords) = (Native::Match, Rc::new([]));
            let made = NativeVar { native, class, object: None, positional, keywords, pinned: false };
            matches.push((self.virtual_var(made), span));
        }
        Ok(Some(matches))
    }

    /// A constant text, or bytes.
    fn plain_text(&mut self, text: VarId) -> Result<Option<Bound<'py, PyAny>>, Stop> {
        if !matches!(self.look(text)?, VarKind::Constant(_)) {
            return Ok(None);
        }
        let value = self.constant_value(text);
        Ok(value.filter(|value| value.is_exact_instance_of::<PyString>() || value.is_exact_instance_of::<PyBytes>()))
    }

    /// `match.name(*args)`
    pub(super) fn method_of_match(&mut self, me: VarId, name: &str, args: &Args) -> Result<VarId, Stop> {
        let kind = self.look(me)?;
        let opaque = || Stop::brk(Reason::Builtin, format!("{name} of a match"));
        let VarKind::Native(NativeVar { native: Native::Match, class, positional, .. }) = &kind else {
            return Err(opaque());
        };
        if !OF_MATCHES.contains(&name) || !args.keywords.is_empty() {
            return Err(opaque());
        }
        let found = self.record(positional)?;
        let method = self.objects.get(self.py, *class).getattr(name).map_err(|e| self.internal(&e))?;
        let of = positional[2];
        let result = self.asked_of_pattern(&method, &found, args)?;
        let text = self.require_plain(of)?;
        if result.0.is(&text) {
            return Ok(of);
        }
        self.fold_result(&result.0, &result.1)
    }

    fn asked_of_pattern(
        &mut self,
        method: &Bound<'py, PyAny>,
        of: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<(Bound<'py, PyAny>, Copies<'py>), Stop> {
        for arg in &args.positional {
            if !matches!(self.look(*arg)?, VarKind::Constant(_)) {
                return Err(Stop::brk(Reason::OpaqueCall, name_of(method)));
            }
        }
        let mut copies = Copies::default();
        let (given, _) = self.convert_arguments(args, |ex, arg| ex.plain_copy(arg, &mut copies))?;
        let asked = name_of(method);
        if let ("sub" | "subn" | "expand", Ok(template)) = (asked.rsplit('.').next().unwrap_or(""), given.get_item(0))
            && names_groups_oddly(&template)
        {
            return Err(Stop::brk(Reason::GivesWarning, "an odd name of a group"));
        }
        let all = std::iter::once(of.clone()).chain(given.iter());
        let all = PyTuple::new(self.py, all.collect::<Vec<_>>()).map_err(|e| self.internal(&e))?;
        let result = method.call1(all).map_err(|e| self.would_raise(&e))?;
        Ok((result, copies))
    }

    fn found_by_pattern(
        &mut self,
        method: &Bound<'py, PyAny>,
        me: VarId,
        pattern: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<VarId, Stop> {
        let (result, copies) = self.asked_of_pattern(method, pattern, args)?;
        let class = result.get_type();
        let is_match = crate::cpython::module(self.py, "re").and_then(|module| module.getattr("Match"));
        if !is_match.is_ok_and(|known| known.is(&class)) {
            for arg in &args.positional {
                if !result.is_none() && self.require_plain(*arg)?.is(&result) {
                    return Ok(*arg);
                }
            }
            return self.fold_result(&result, &copies);
        }
        let maker = self.pin(method);
        let positional: Vec<VarId> = [maker, me].into_iter().chain(args.positional.iter().copied()).collect();
        let class = self.objects.add(class.as_any());
        Ok(self.virtual_var(NativeVar {
            native: Native::Match,
            class,
            object: None,
            positional: positional.into(),
            keywords: Rc::new([]),
            pinned: false,
        }))
    }
}

/// Whether a function is what compiles patterns in the library, and is its own.
fn is_compile(function: &Bound<'_, PyAny>) -> bool {
    let py = function.py();
    let named = facts::func_parts(function).is_some_and(|parts| {
        let text = |name: &str| parts.code.getattr(name).and_then(|text| text.extract::<String>()).unwrap_or_default();
        text("co_name") == "compile" && libraries::is_standard_library(py, &text("co_filename"))
    });
    named
        && ["re._compiler", "sre_compile"]
            .iter()
            .any(|module| facts::imported_value(py, module, "compile").is_some_and(|known| known.is(function)))
}

/// Whether compiling a text warns nobody: of what may become a set in a set, of flags in the middle. Names of characters are imported.
fn is_compiled_silently(text: &str) -> bool {
    let odd = ["[[", "--", "&&", "~~", "||", "\\N"];
    let word = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // Groups without a name, what is looked for ahead and behind, comments, and groups with a plain name.
    let plain = |rest: &str| {
        let name = rest.strip_prefix("P<").and_then(|rest| rest.split_once('>'));
        let named = rest.strip_prefix("P=").and_then(|rest| rest.split_once(')'));
        rest.starts_with([':', '=', '!', '#'])
            || rest.starts_with("<=")
            || rest.starts_with("<!")
            || name.or(named).is_some_and(|(name, _)| word(name))
    };
    !odd.iter().any(|odd| text.contains(odd)) && text.split("(?").skip(1).all(plain)
}

/// Whether a template names a group in a way that some interpreters warn of (`\\g<+1>`), others refuse: they do it in the name of the
/// program's frames.
fn names_groups_oddly(template: &Bound<'_, PyAny>) -> bool {
    let text = match template.cast_exact::<PyBytes>() {
        Ok(bytes) => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
        Err(_) => template.extract().unwrap_or_default(),
    };
    let plain = |name: &str| {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.chars().all(word)
            && (!name.starts_with(|c: char| c.is_ascii_digit()) || name.chars().all(|c| c.is_ascii_digit()))
    };
    text.split("\\g<").skip(1).any(|rest| rest.split_once('>').is_some_and(|(name, _)| !plain(name)))
}
