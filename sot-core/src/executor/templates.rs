//! `template % values` and `template.format(..)` where numbers vary: the text is put together of what does not vary and of the texts of
//! numbers, by the operations that an f-string would use.
//!
//! Only what both ways of writing say alike is taken apart here. Whatever else a template may say, its values are read for, as of any
//! constants.

use super::Executor;
use crate::stop::Stop;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sot_tracker::Arithmetic;

/// Which value a field of a template writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Which {
    At(usize),
    Named(String),
}

/// How it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    Str,
    Repr,
    /// By `format(value, spec)`; of an int alone where the template would make one of a float.
    Spec {
        spec: String,
        int: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    Field {
        which: Which,
        how: How,
        /// The field alone, as a template of one value.
        alone: String,
    },
}

/// The pieces of a `%` template; `None`: it says something that is not taken apart.
pub(super) fn percent_pieces(template: &str) -> Option<Vec<Piece>> {
    let mut pieces = Pieces::default();
    let mut rest = template.chars().peekable();
    let mut count = 0;
    while let Some(next) = rest.next() {
        if next != '%' {
            pieces.literal(next);
            continue;
        }
        if rest.next_if_eq(&'%').is_some() {
            pieces.literal('%');
            continue;
        }
        let which = match rest.next_if_eq(&'(') {
            Some(_) => {
                let mut name = String::new();
                loop {
                    match rest.next()? {
                        ')' => break,
                        '(' => return None,
                        other => name.push(other),
                    }
                }
                Which::Named(name)
            }
            None => {
                count += 1;
                Which::At(count - 1)
            }
        };
        let mut take = |wanted: fn(char) -> bool| {
            let mut taken = String::new();
            while let Some(one) = rest.next_if(|one| wanted(*one)) {
                taken.push(one);
            }
            taken
        };
        let flags = take(|one| matches!(one, '-' | '+' | ' ' | '0'));
        let width = take(|one| one.is_ascii_digit());
        let point = take(|one| one == '.');
        let digits = take(|one| one.is_ascii_digit());
        let kind = rest.next()?;
        if point.len() > 1 || point.is_empty() && !digits.is_empty() {
            return None;
        }
        let bare = flags.is_empty() && width.is_empty() && point.is_empty();
        let alone = format!("%{flags}{width}{point}{digits}{kind}");
        let left = flags.contains('-');
        let sign = match (flags.contains('+'), flags.contains(' ')) {
            (true, _) => "+",
            (false, true) => " ",
            (false, false) => "",
        };
        let zeros = if flags.contains('0') && !left { "0" } else { "" };
        let begin = format!("{}{sign}{zeros}{width}", if left { "<" } else { "" });
        let how = match kind {
            's' if bare => How::Str,
            'r' if bare => How::Repr,
            'd' | 'i' | 'u' if point.is_empty() => How::Spec { spec: format!("{begin}d"), int: true },
            'x' | 'X' | 'o' if point.is_empty() => How::Spec { spec: format!("{begin}{kind}"), int: true },
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' => {
                // No digits behind the point are none.
                let digits = if !point.is_empty() && digits.is_empty() { "0" } else { &digits };
                How::Spec { spec: format!("{begin}{point}{digits}{kind}"), int: false }
            }
            _ => return None,
        };
        pieces.field(which, how, alone);
    }
    Some(pieces.done())
}

/// The pieces of a template of `str.format`; `None`: it says something that is not taken apart.
pub(super) fn format_pieces(template: &str) -> Option<Vec<Piece>> {
    let mut pieces = Pieces::default();
    let mut rest = template.chars().peekable();
    let (mut counted, mut numbered) = (0, false);
    while let Some(next) = rest.next() {
        match next {
            '{' if rest.next_if_eq(&'{').is_some() => pieces.literal('{'),
            '}' => {
                rest.next_if_eq(&'}')?;
                pieces.literal('}');
            }
            '{' => {
                let mut field = String::new();
                loop {
                    match rest.next()? {
                        '}' => break,
                        '{' => return None,
                        other => field.push(other),
                    }
                }
                let (before, spec) = field.split_once(':').unwrap_or((&field, ""));
                let (name, conversion) = before.split_once('!').map_or((before, None), |(name, how)| (name, Some(how)));
                let how = match (conversion, spec) {
                    (None, "") | (Some("s"), "") => How::Str,
                    (Some("r"), "") => How::Repr,
                    // The locale has a part in it.
                    (None, spec) if !spec.ends_with('n') => How::Spec { spec: spec.to_owned(), int: false },
                    _ => return None,
                };
                let which = if name.is_empty() {
                    counted += 1;
                    Which::At(counted - 1)
                } else if name.bytes().all(|one| one.is_ascii_digit()) {
                    numbered = true;
                    Which::At(name.parse().ok()?)
                } else if name.chars().all(|one| one == '_' || one.is_alphanumeric()) {
                    Which::Named(name.to_owned())
                } else {
                    return None;
                };
                let conversion = conversion.map(|how| format!("!{how}")).unwrap_or_default();
                let spec = if spec.is_empty() { String::new() } else { format!(":{spec}") };
                pieces.field(which, how, format!("{{{conversion}{spec}}}"));
            }
            other => pieces.literal(other),
        }
    }
    (counted == 0 || !numbered).then(|| pieces.done())
}

#[derive(Default)]
struct Pieces {
    done: Vec<Piece>,
    literal: String,
}

impl Pieces {
    fn literal(&mut self, next: char) {
        self.literal.push(next);
    }

    fn field(&mut self, which: Which, how: How, alone: String) {
        self.end_literal();
        self.done.push(Piece::Field { which, how, alone });
    }

    fn end_literal(&mut self) {
        if !self.literal.is_empty() {
            self.done.push(Piece::Literal(std::mem::take(&mut self.literal)));
        }
    }

    fn done(mut self) -> Vec<Piece> {
        self.end_literal();
        self.done
    }
}

impl<'py> Executor<'py> {
    /// `template % right` of which a number varies; `None`: none does, or the template says more.
    pub(super) fn percent_of_varying(&mut self, template: VarId, right: VarId) -> Result<Option<VarId>, Stop> {
        let (positional, named) = match self.look(right)? {
            VarKind::Tuple(TupleVar { items, class: None }) => (items.to_vec(), Vec::new()),
            VarKind::Constant(_) => (vec![right], Vec::new()),
            VarKind::Dict(DictVar { entries, class: None, .. }) => (Vec::new(), self.by_name(&entries)),
            _ => return Ok(None),
        };
        self.written_of_varying(template, percent_pieces, "__mod__", &positional, &named)
    }

    /// `template.format(..)`, likewise.
    pub(super) fn format_of_varying(&mut self, template: VarId, args: &Args) -> Result<Option<VarId>, Stop> {
        self.written_of_varying(template, format_pieces, "format", &args.positional, &args.keywords)
    }

    /// `between.join(texts)`, likewise.
    pub(super) fn join_of_varying(&mut self, between: VarId, texts: &[VarId]) -> Result<Option<VarId>, Stop> {
        let mut varies = false;
        for text in texts {
            let is_varying = self.is_varying(*text);
            if is_varying && self.is_varying_number(*text) || !is_varying && !self.is_plain_text(*text) {
                return Ok(None);
            }
            varies |= is_varying;
        }
        if !varies || self.is_varying(between) || !self.is_plain_text(between) {
            return Ok(None);
        }
        let mut parts = Vec::with_capacity(2 * texts.len());
        for (at, text) in texts.iter().enumerate() {
            parts.extend((at > 0).then_some(between));
            parts.push(*text);
        }
        self.joined_of_varying(&parts)
    }

    fn is_plain_text(&mut self, var: VarId) -> bool {
        self.constant_value(var).is_some_and(|text| text.is_exact_instance_of::<PyString>())
    }

    /// The entries of a dict whose keys are text.
    fn by_name(&mut self, entries: &[(VarId, VarId)]) -> Vec<(String, VarId)> {
        entries.iter().filter_map(|(key, value)| Some((self.constant_str(*key)?, *value))).collect()
    }

    fn written_of_varying(
        &mut self,
        template: VarId,
        pieces: fn(&str) -> Option<Vec<Piece>>,
        method: &str,
        positional: &[VarId],
        named: &[(String, VarId)],
    ) -> Result<Option<VarId>, Stop> {
        let given: Vec<VarId> = positional.iter().copied().chain(named.iter().map(|(_, value)| *value)).collect();
        for value in &given {
            let VarKind::Constant(_) = self.look(*value)? else { return Ok(None) };
        }
        if !given.iter().any(|value| self.is_varying(*value)) || self.is_varying(template) {
            return Ok(None);
        }
        let Some(text) = self.constant_value(template).filter(|text| text.is_exact_instance_of::<PyString>()) else {
            return Ok(None);
        };
        let Some(pieces) = text.extract::<String>().ok().and_then(|text| pieces(&text)) else { return Ok(None) };
        let written = |at: usize| {
            pieces.iter().any(|piece| matches!(piece, Piece::Field { which: Which::At(this), .. } if *this == at))
        };
        // Too many values are an error of `%`.
        if method == "__mod__" && !(0..positional.len()).all(written) {
            return Ok(None);
        }
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in &pieces {
            let part = match piece {
                Piece::Literal(text) => Some(self.fold(PyString::new(self.py, text).as_any())?),
                Piece::Field { which, how, alone } => {
                    let value = match which {
                        Which::At(at) => positional.get(*at).copied(),
                        Which::Named(name) => {
                            named.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value)
                        }
                    };
                    match value {
                        Some(value) => self.field_of_varying(value, how, alone, method)?,
                        None => None,
                    }
                }
            };
            match part {
                Some(part) => parts.push(part),
                None => return Ok(None),
            }
        }
        match parts.as_slice() {
            [only] => Ok(Some(*only)),
            parts => self.joined_of_varying(parts),
        }
    }

    /// The text of one field.
    fn field_of_varying(&mut self, value: VarId, how: &How, alone: &str, method: &str) -> Result<Option<VarId>, Stop> {
        if !self.is_varying(value) {
            let Some(constant) = self.constant_value(value) else { return Ok(None) };
            let template = PyString::new(self.py, alone);
            // A tuple is no one value of `%`.
            let one = pyo3::types::PyTuple::new(self.py, [constant]).map_err(|e| self.internal(&e))?;
            let text = match method {
                "format" => template.call_method1(method, one),
                _ => template.call_method1(method, (one,)),
            };
            return text.ok().map(|text| self.fold(&text)).transpose();
        }
        if !self.is_varying_number(value) {
            // The text of a number.
            return Ok(matches!(how, How::Str).then_some(value));
        }
        match how {
            How::Str => self.arithmetic(Arithmetic::Str, value, None),
            How::Repr => self.arithmetic(Arithmetic::Repr, value, None),
            How::Spec { int: true, .. } if !self.is_varying_int(value) => Ok(None),
            How::Spec { spec, .. } => {
                let spec = self.fold(PyString::new(self.py, spec).as_any())?;
                self.arithmetic(Arithmetic::Format, value, Some(spec))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(which: Which, how: How, alone: &str) -> Piece {
        Piece::Field { which, how, alone: alone.to_owned() }
    }

    fn spec(spec: &str, int: bool) -> How {
        How::Spec { spec: spec.to_owned(), int }
    }

    #[test]
    fn percent() {
        let found = percent_pieces("a%%b %d|%-5d|%+.2f|%s%(k)r").expect("pieces");
        let expected = [
            Piece::Literal("a%b ".to_owned()),
            field(Which::At(0), spec("d", true), "%d"),
            Piece::Literal("|".to_owned()),
            field(Which::At(1), spec("<5d", true), "%-5d"),
            Piece::Literal("|".to_owned()),
            field(Which::At(2), spec("+.2f", false), "%+.2f"),
            Piece::Literal("|".to_owned()),
            field(Which::At(3), How::Str, "%s"),
            field(Which::Named("k".to_owned()), How::Repr, "%r"),
        ];
        assert_eq!(found, expected);
        for odd in ["%", "%*d", "%5s", "%.3d", "%#x", "%c", "%ld", "%(a", "%y"] {
            assert_eq!(percent_pieces(odd), None, "{odd}");
        }
    }

    #[test]
    fn format() {
        let found = format_pieces("{{{}}} {1:>4}").map(|_| ());
        assert_eq!(found, None, "counted and numbered");
        let found = format_pieces("{{{0}}}{name!r}{0:.2f}").expect("pieces");
        let expected = [
            Piece::Literal("{".to_owned()),
            field(Which::At(0), How::Str, "{}"),
            Piece::Literal("}".to_owned()),
            field(Which::Named("name".to_owned()), How::Repr, "{!r}"),
            field(Which::At(0), spec(".2f", false), "{:.2f}"),
        ];
        assert_eq!(found, expected);
        for odd in ["{", "}", "{a.b}", "{a[0]}", "{:{}}", "{:n}", "{!r:>3}", "{!a}"] {
            assert_eq!(format_pieces(odd), None, "{odd}");
        }
    }
}
