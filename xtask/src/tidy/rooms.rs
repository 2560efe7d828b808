//! The rooms of a crate, and what each may know of the others.
//!
//! A *room* is a file, or a directory with all that is in it. The rooms of one directory form no circle: each uses only
//! those below it, so that a reader may take them from the bottom, one at a time. What a room uses is read off its paths
//! (`crate::room::..`, `super::super::room::..`, and names that the module above exports again); test modules do not
//! count, and a module may know all rooms that are in it.

use super::Violation;
use super::sources::{Source, Sources, Token};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};

/// Where a room is first seen to use another one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    file: String,
    line: usize,
}

/// By the rooms that use, what they use.
type Uses = BTreeMap<String, BTreeMap<String, Place>>;

pub(super) fn no_circles(sources: &Sources) -> Result<Vec<Violation>> {
    Ok(check(sources))
}

fn check(sources: &Sources) -> Vec<Violation> {
    let mut found = Vec::new();
    let roots = sources.rust().filter_map(|file| crate_of(&file.path).filter(|_| is_root(&file.path)));
    for name in roots.collect::<BTreeSet<&str>>() {
        let mut uses = Uses::new();
        for level in levels(sources, name) {
            uses.extend(uses_of(sources, name, &level));
        }
        while let Some(circle) = circle(&uses) {
            found.push(told(&circle, &uses));
            // The circle is cut to look for another one.
            uses.get_mut(&circle[0]).and_then(|uses| uses.remove(&circle[1]));
        }
    }
    found
}

fn told(circle: &[String], uses: &Uses) -> Violation {
    let steps = circle.iter().zip(circle.iter().cycle().skip(1));
    let steps: Vec<String> = steps
        .map(|(from, to)| {
            let Place { file, line } = &uses[from][to];
            format!("{from} uses {to} at {file}:{line}")
        })
        .collect();
    let Place { file, line } = uses[&circle[0]][circle.get(1).unwrap_or(&circle[0])].clone();
    Violation { file, line, what: format!("rooms in a circle: {}", steps.join(", ")) }
}

/// `sot-core` of `sot-core/src/guards/mod.rs`
fn crate_of(path: &str) -> Option<&str> {
    path.split_once("/src/").map(|(name, _)| name)
}

fn is_root(path: &str) -> bool {
    path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs")
}

/// The modules from the root to a file: `guards`, `steps`.
fn module_of(path: &str) -> Vec<String> {
    let (_, inside) = path.split_once("/src/").unwrap_or(("", path));
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let mut module: Vec<String> = inside.split('/').map(str::to_owned).collect();
    module.pop_if(|last| last == "mod");
    module
}

/// The modules that have files below them, the root first.
fn levels(sources: &Sources, name: &str) -> BTreeSet<Vec<String>> {
    let files = sources.rust().filter(|file| crate_of(&file.path) == Some(name) && !is_root(&file.path));
    files
        .flat_map(|file| {
            let module = module_of(&file.path);
            (0..module.len()).map(move |length| module[..length].to_vec())
        })
        .collect()
}

/// Uses among the modules right below one.
fn uses_of(sources: &Sources, name: &str, level: &[String]) -> Uses {
    let files: Vec<(Vec<String>, &Source)> = sources
        .rust()
        .filter(|file| crate_of(&file.path) == Some(name))
        .map(|file| (if is_root(&file.path) { Vec::new() } else { module_of(&file.path) }, file))
        .filter(|(module, _)| module.starts_with(level))
        .collect();
    let room = |path: &[String]| path.get(level.len()).filter(|_| path.starts_with(level)).cloned();
    let rooms: BTreeSet<String> = files.iter().filter_map(|(module, _)| room(module)).collect();
    // What the module above exports again, and whose it is.
    let mut exported: BTreeMap<String, String> = BTreeMap::new();
    for (module, above) in files.iter().filter(|(module, _)| module == level) {
        let tokens = above.tokens();
        let start = |at: usize| (tokens[at].text == "use").then_some(at + 1);
        for path in (0..tokens.len()).filter_map(start).flat_map(|at| paths(&tokens, at)) {
            let absolute = resolve(module, &path);
            if let (Some(first), Some(last)) = (room(&absolute), absolute.last())
                && rooms.contains(&first)
            {
                exported.insert(last.clone(), first);
            }
        }
    }
    let shown = |room: &str| level.iter().map(String::as_str).chain([room]).collect::<Vec<_>>().join("/");
    let mut uses = Uses::new();
    for (module, file) in &files {
        let Some(own) = room(module) else { continue };
        let tokens = file.tokens();
        for at in 0..tokens.len() {
            let token = &tokens[at];
            let goes_on = at > 0 && tokens[at - 1].text == ":";
            if token.test || goes_on || !["crate", "super"].contains(&token.text.as_str()) {
                continue;
            }
            for path in paths(&tokens, at) {
                let Some(first) = room(&resolve(module, &path)) else { continue };
                let Some(other) = rooms.get(&first).or_else(|| exported.get(&first)) else { continue };
                if *other != own {
                    let place = Place { file: file.path.clone(), line: token.line };
                    uses.entry(shown(&own)).or_default().entry(shown(other)).or_insert(place);
                }
            }
        }
    }
    uses
}

/// A path as it is from the root.
fn resolve(module: &[String], path: &[String]) -> Vec<String> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    let base = match path.first().map(String::as_str) {
        Some("crate") => &[],
        _ => &module[..module.len().saturating_sub(ups)],
    };
    let rest = path.iter().skip(ups).skip_while(|part| *part == "crate" || *part == "self");
    base.iter().chain(rest).cloned().collect()
}

/// The paths that start here: one, or in braces several.
fn paths(tokens: &[Token], start: usize) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    tree(tokens, start, &mut Vec::new(), &mut found);
    found
}

/// Read a tree of paths; where it ends.
fn tree(tokens: &[Token], mut at: usize, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let length = before.len();
    loop {
        if text(at) == "{" {
            at += 1;
            while !["}", ""].contains(&text(at)) {
                let next = tree(tokens, at, before, found);
                at = if text(next) == "," { next + 1 } else { next.max(at + 1) };
            }
            at += 1;
            break;
        }
        let is_name = text(at).starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '*');
        if !is_name {
            break;
        }
        before.push(text(at).to_owned());
        at += 1;
        if !(text(at) == ":" && text(at + 1) == ":") {
            found.push(before.clone());
            // `as other`
            if text(at) == "as" {
                at += 2;
            }
            break;
        }
        at += 2;
    }
    before.truncate(length);
    at
}

/// Rooms each of which uses the next, and the last the first; the shortest such circle through the first room that is in one.
fn circle(uses: &Uses) -> Option<Vec<String>> {
    uses.keys().filter_map(|start| back_to(uses, start)).min_by_key(Vec::len)
}

/// The shortest way from a room to itself.
fn back_to(uses: &Uses, start: &str) -> Option<Vec<String>> {
    let mut from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(room) = queue.pop_front() {
        for next in uses.get(room).into_iter().flat_map(|uses| uses.keys()) {
            if next == start {
                let mut way = vec![room.to_owned()];
                let mut at = room;
                while at != start {
                    at = from[at];
                    way.push(at.to_owned());
                }
                way.reverse();
                return Some(way);
            }
            if !from.contains_key(next.as_str()) {
                from.insert(next, room);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: (&str, &str) = ("x/src/lib.rs", "mod a; mod b; pub use b::{deep::Thing, Other};");

    fn told_of(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(&str, &str)> = [ROOT].iter().chain(files).copied().collect();
        check(&Sources::of(&files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_circle_is_told_with_its_places() {
        let files = [
            ("x/src/a.rs", "use std::fmt;\nuse crate::{b::One, Unknown};\n"),
            ("x/src/b/mod.rs", "mod deep;\n"),
            ("x/src/b/deep.rs", "fn f() { super::super::a::g() }\n"),
        ];
        let what = "x/src/a.rs:2: rooms in a circle: a uses b at x/src/a.rs:2, b uses a at x/src/b/deep.rs:1";
        assert_eq!(told_of(&files), [what]);
    }

    #[test]
    fn names_that_the_root_exports_again_are_their_rooms() {
        for name in ["Thing", "Other"] {
            let a = format!("use crate::{name};");
            let files = [("x/src/a.rs", a.as_str()), ("x/src/b/mod.rs", "use crate::a;")];
            assert_eq!(told_of(&files).len(), 1, "{name}");
        }
    }

    #[test]
    fn tests_children_and_one_way_are_no_circle() {
        let files = [
            ("x/src/a.rs", "use crate::b;\n#[cfg(test)]\nmod tests { use super::*; use crate::c::f; }"),
            ("x/src/b/mod.rs", "mod deep; use self::deep::Thing;"),
            ("x/src/b/deep.rs", "use super::Other; use crate::b::Third;"),
            ("x/src/c.rs", "use crate::a::b;"),
        ];
        assert!(told_of(&files).is_empty());
    }

    #[test]
    fn files_of_one_directory_form_none_either() {
        let files = [
            ("x/src/b/mod.rs", "mod deep; mod low; pub use deep::Thing;"),
            ("x/src/b/deep.rs", "use super::low;"),
            ("x/src/b/low.rs", "use std::fmt;\nuse crate::b::Thing;"),
        ];
        let what = "x/src/b/deep.rs:1: rooms in a circle: b/deep uses b/low at x/src/b/deep.rs:1, \
                    b/low uses b/deep at x/src/b/low.rs:2";
        assert_eq!(told_of(&files), [what]);
    }
}
