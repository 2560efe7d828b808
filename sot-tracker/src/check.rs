//! What must hold of the value at the end of a path.
//!
//! A closed set. Every check but [`Check::Unbound`] is false of an empty slot or cell, and none of them runs user
//! code: who cannot answer without (a `__eq__`, a `__len__`) answers "no".

use crate::{Names, ObjectId, TrackerId, TrackerTable};
use std::fmt;

/// A condition on one value. `O`: an object, `N`: a name, `V`: where another value is found, in the form that the evaluator
/// wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Check<O = ObjectId, N = String, V = TrackerId> {
    /// It is this very object.
    Is(O),
    /// Its exact type is this one.
    TypeIs(O),
    /// It has the exact type of this object and equals it (`==`). A NaN equals nothing.
    Equals(O),
    /// A builtin container or string of this length.
    Len(usize),
    /// A dict without this key.
    Lacks(O),
    /// Has no attribute of this name, neither of its own nor from its class.
    LacksAttr(N),
    /// A dict with exactly these keys in this order, each by identity or equality.
    Keys(Vec<O>),
    /// A dict whose keys, or a set whose members, were stored with these hashes, in this order. `alike`: and those of one hash are found in this order, too.
    Hashes { hashes: Vec<i64>, alike: bool },
    /// A set with (without) this member.
    Member { key: O, is: bool },
    /// A set in which looking this up (`None`: anything) runs no code of the program.
    Quiet { key: Option<O> },
    /// A set whose table is this one: its members by their places, each by identity or equality or whatever it is, places that
    /// lost theirs, and what places the next ones.
    Table { members: Vec<(usize, Option<O>)>, lost: Vec<usize>, mask: usize, finger: usize },
    /// Passes the backend check of this number (exact type included).
    Tensor(u32),
    /// It is the same object as the one at that path. Of its own path it says that there is a value.
    SameAs(V),
    /// It and the first `group` of the objects at those paths are pairwise not the same, and none of them is one of the rest.
    Distinct { others: Vec<V>, group: usize },
    /// An exact builtin iterator that is (is not) going to yield one more item.
    HasNext(bool),
    /// An exact builtin iterator that gives no item more, even if what it ran over grows: it has let go of that.
    Ended,
    /// The end of a value, and of what it alone may hold, runs no finalizer of the program.
    EndsUnseen,
    /// The slot or cell is empty.
    Unbound,
    /// It is a type, and looking the name up along its MRO finds exactly this (`None`: finds nothing).
    ClassLookup { name: N, found: Option<O> },
    /// It is a type with exactly these classes as its MRO.
    Mro(Vec<O>),
    /// It is a type that might have been made by the same code as this one, which need not be the same.
    Alike(O),
    /// It is a type, and `issubclass` of this class or not, virtual subclasses included.
    SubclassOf { of: O, holds: bool },
}

impl<O, N, V> Check<O, N, V> {
    /// It and the objects at those paths are pairwise not the same.
    pub fn distinct(others: Vec<V>) -> Check<O, N, V> {
        let group = others.len();
        Check::Distinct { others, group }
    }

    /// Other values that the check needs.
    pub fn others(&self) -> &[V] {
        match self {
            Check::SameAs(other) => std::slice::from_ref(other),
            Check::Distinct { others, .. } => others,
            Check::Is(_)
            | Check::TypeIs(_)
            | Check::Equals(_)
            | Check::Len(_)
            | Check::Lacks(_)
            | Check::LacksAttr(_)
            | Check::Keys(_)
            | Check::Hashes { .. }
            | Check::Member { .. }
            | Check::Quiet { .. }
            | Check::Table { .. }
            | Check::Tensor(_)
            | Check::HasNext(_)
            | Check::Ended
            | Check::EndsUnseen
            | Check::Unbound
            | Check::ClassLookup { .. }
            | Check::Mro(_)
            | Check::Alike(_)
            | Check::SubclassOf { .. } => &[],
        }
    }

    /// The same with objects, names and other values in another form.
    pub fn map<P, M, W>(
        &self,
        mut object: impl FnMut(&O) -> P,
        mut name: impl FnMut(&N) -> M,
        mut other: impl FnMut(&V) -> W,
    ) -> Check<P, M, W> {
        match self {
            Check::Is(o) => Check::Is(object(o)),
            Check::TypeIs(class) => Check::TypeIs(object(class)),
            Check::Equals(o) => Check::Equals(object(o)),
            Check::Len(len) => Check::Len(*len),
            Check::Lacks(key) => Check::Lacks(object(key)),
            Check::LacksAttr(n) => Check::LacksAttr(name(n)),
            Check::Keys(keys) => Check::Keys(keys.iter().map(object).collect()),
            Check::Hashes { hashes, alike } => Check::Hashes { hashes: hashes.clone(), alike: *alike },
            Check::Member { key, is } => Check::Member { key: object(key), is: *is },
            Check::Quiet { key } => Check::Quiet { key: key.as_ref().map(object) },
            Check::Table { members, lost, mask, finger } => Check::Table {
                members: members.iter().map(|(at, member)| (*at, member.as_ref().map(&mut object))).collect(),
                lost: lost.clone(),
                mask: *mask,
                finger: *finger,
            },
            Check::Tensor(number) => Check::Tensor(*number),
            Check::SameAs(v) => Check::SameAs(other(v)),
            Check::Distinct { others, group } => {
                Check::Distinct { others: others.iter().map(other).collect(), group: *group }
            }
            Check::HasNext(has) => Check::HasNext(*has),
            Check::Ended => Check::Ended,
            Check::EndsUnseen => Check::EndsUnseen,
            Check::Unbound => Check::Unbound,
            Check::ClassLookup { name: n, found } => {
                Check::ClassLookup { name: name(n), found: found.as_ref().map(object) }
            }
            Check::Mro(classes) => Check::Mro(classes.iter().map(object).collect()),
            Check::Alike(class) => Check::Alike(object(class)),
            Check::SubclassOf { of, holds } => Check::SubclassOf { of: object(of), holds: *holds },
        }
    }
}

impl Check {
    /// Write the check on a value of this text; `path` gives the text of other paths.
    pub fn write(
        &self,
        f: &mut dyn fmt::Write,
        value: &str,
        names: &dyn Names,
        path: &dyn Fn(TrackerId) -> String,
    ) -> fmt::Result {
        match self {
            Check::Is(object) => write!(f, "{value} is {}", names.object(*object)),
            Check::TypeIs(object) => write!(f, "type({value}) is {}", names.object(*object)),
            Check::Equals(object) => write!(f, "{value} == {}", names.object(*object)),
            Check::Len(len) => write!(f, "len({value}) == {len}"),
            Check::Lacks(key) => write!(f, "{} not in {value}", names.object(*key)),
            Check::LacksAttr(name) => write!(f, "not hasattr({value}, {name:?})"),
            Check::Keys(keys) => {
                let keys: Vec<String> = keys.iter().map(|k| names.object(*k)).collect();
                write!(f, "list({value}) == [{}]", keys.join(", "))
            }
            // The numbers say nothing to a reader.
            Check::Hashes { hashes, alike } => {
                let what = if *alike { "hashes in order" } else { "hashes" };
                write!(f, "{what}({value}): {}", hashes.len())
            }
            Check::Member { key, is } => {
                write!(f, "{} {}in {value}", names.object(*key), if *is { "" } else { "not " })
            }
            Check::Quiet { key: Some(key) } => write!(f, "quiet({value}, {})", names.object(*key)),
            Check::Quiet { key: None } => write!(f, "quiet({value})"),
            // The numbers say nothing to a reader.
            Check::Table { members, .. } => {
                let members: Vec<String> =
                    members.iter().map(|(_, m)| m.map_or("..".into(), |m| names.object(m))).collect();
                write!(f, "list({value}) == [{}]", members.join(", "))
            }
            Check::Tensor(check) => {
                let what = names.tensor(*check);
                write!(f, "tensor({value})")?;
                if what.is_empty() { Ok(()) } else { write!(f, ": {what}") }
            }
            Check::SameAs(other) => {
                let other = path(*other);
                if other == value { write!(f, "present({value})") } else { write!(f, "{value} is {other}") }
            }
            Check::Distinct { others, group } => {
                let (group, rest) = others.split_at((*group).min(others.len()));
                write!(f, "distinct({value}")?;
                for other in group {
                    write!(f, ", {}", path(*other))?;
                }
                f.write_str(")")?;
                match rest {
                    [] => Ok(()),
                    rest => {
                        let rest: Vec<String> = rest.iter().map(|other| path(*other)).collect();
                        write!(f, " from ({})", rest.join(", "))
                    }
                }
            }
            Check::HasNext(true) => write!(f, "has_next({value})"),
            Check::HasNext(false) => write!(f, "not has_next({value})"),
            Check::Ended => write!(f, "ended({value})"),
            Check::EndsUnseen => write!(f, "ends_unseen({value})"),
            Check::Unbound => write!(f, "unbound({value})"),
            Check::ClassLookup { name, found: Some(found) } => {
                write!(f, "lookup({value}, {name:?}) is {}", names.object(*found))
            }
            Check::Mro(classes) => {
                let classes: Vec<String> = classes.iter().map(|c| names.object(*c)).collect();
                write!(f, "mro({value}) == [{}]", classes.join(", "))
            }
            Check::Alike(class) => write!(f, "alike({value}, {})", names.object(*class)),
            Check::SubclassOf { of, holds } => {
                write!(f, "{}subclass({value}, {})", if *holds { "" } else { "not " }, names.object(*of))
            }
            Check::ClassLookup { name, found: None } => write!(f, "lookup({value}, {name:?}) is missing"),
        }
    }

    /// Text of the check on a path.
    pub fn display_on(&self, tracker: TrackerId, table: &TrackerTable, names: &dyn Names) -> String {
        let mut out = String::new();
        let path = |id: TrackerId| table.display(id, names).to_string();
        self.write(&mut out, &path(tracker), names, &path).expect("a String takes any text");
        out
    }
}
