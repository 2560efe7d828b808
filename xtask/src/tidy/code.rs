//! Rules about what code may say, and where.

use super::Violation;
use super::sources::{Source, Sources, Token};
use anyhow::Result;

/// The one directory that knows CPython's insides.
const DOOR: &str = "sot-core/src/cpython/";

/// Frameworks, and what only some of them call so.
const FRAMEWORKS: [&str; 9] =
    ["paddle", "torch", "tensorflow", "mindspore", "mxnet", "oneflow", "stop_gradient", "requires_grad", "no_grad"];

pub(super) fn framework_names(sources: &Sources) -> Result<Vec<Violation>> {
    let named = |token: &Token| {
        let text = token.text.to_lowercase();
        FRAMEWORKS
            .iter()
            .find(|name| text.contains(**name))
            .map(|name| format!("names {name} in {}", short(&token.text)))
    };
    Ok(find(sources.rust().filter(|file| file.path.starts_with("sot-core/")), |tokens, at| named(&tokens[at])))
}

/// The variants of `sot_opcodes::Version`, and comparisons of a minor version. The door may: code objects and frames are
/// made and read there, of the running version only.
pub(super) fn version_matches(sources: &Sources) -> Result<Vec<Violation>> {
    let crates =
        ["sot-tracker/src/", "sot-sideeffect/src/", "sot-sir/src/", "sot-core/src/", "sot-paddle/src/", "sot-py/src/"];
    let watched = |path: &str| crates.iter().any(|dir| path.starts_with(dir)) && !path.starts_with(DOOR);
    let files = sources.rust().filter(|file| watched(&file.path));
    Ok(find(files, |tokens, at| {
        let token = &tokens[at];
        if token.test {
            return None;
        }
        let text = |offset: usize| tokens.get(at + offset).map_or("", |t| t.text.as_str());
        let compared = token.text == "minor" && text(1) == "(" && text(2) == ")" && ["<", ">"].contains(&text(3))
            || token.text == "minor" && text(1) == "(" && text(2) == ")" && text(3) == "=" && text(4) == "=";
        (is_version(&token.text) || compared).then(|| format!("decides by CPython version ({})", token.text))
    }))
}

/// `V38` .. `V399`
fn is_version(text: &str) -> bool {
    text.strip_prefix("V3")
        .is_some_and(|minor| !minor.is_empty() && minor.len() <= 2 && minor.bytes().all(|b| b.is_ascii_digit()))
}

pub(super) fn version_cfgs(sources: &Sources) -> Result<Vec<Violation>> {
    let files = sources.rust().filter(|file| !file.path.starts_with(DOOR) && !file.path.starts_with("xtask/src/tidy/"));
    Ok(find(files, |tokens, at| {
        let text = &tokens[at].text;
        (text.starts_with("Py_3_") || text == "Py_GIL_DISABLED").then(|| format!("{text} outside {DOOR}"))
    }))
}

pub(super) fn unsafe_door(sources: &Sources) -> Result<Vec<Violation>> {
    let outside = sources.rust().filter(|file| !file.path.starts_with(DOOR));
    let mut found = find(outside, |tokens, at| (tokens[at].text == "unsafe").then(|| format!("unsafe outside {DOOR}")));
    for root in sources.rust().filter(|file| is_crate_root(&file.path) && !file.path.starts_with("sot-core/")) {
        let tokens = root.tokens();
        let forbids = tokens.windows(3).any(|w| w[0].text == "forbid" && w[2].text == "unsafe_code");
        if !forbids {
            found.push(Violation {
                file: root.path.clone(),
                line: 0,
                what: "lacks #![forbid(unsafe_code)]".to_owned(),
            });
        }
    }
    Ok(found)
}

/// Statics of sot-core that lock a container. The door's own are of modules and signals, which it must know before there is an engine.
pub(super) fn registries(sources: &Sources) -> Result<Vec<Violation>> {
    const CONTAINERS: [&str; 6] = ["Vec", "VecDeque", "HashMap", "HashSet", "BTreeMap", "BTreeSet"];
    let watched = |path: &str| path.starts_with("sot-core/src/") && !path.starts_with(DOOR);
    Ok(find(sources.rust().filter(|file| watched(&file.path)), |tokens, at| {
        if tokens[at].text != "static" || tokens[at].test {
            return None;
        }
        let declared = || tokens[at..].iter().map(|token| token.text.as_str()).take_while(|text| *text != "=");
        let locks = declared().any(|text| text == "Mutex" || text == "RwLock");
        let text = |offset: usize| tokens.get(at + offset).map_or("", |token| token.text.as_str());
        // Not the lifetime.
        let name = text(1);
        (text(2) == ":" && locks && declared().any(|text| CONTAINERS.contains(&text)))
            .then(|| format!("{name} is a table that the engine does not know: declare it with registries!"))
    }))
}

/// Tables over the kinds of values: a `match` that names more than a dozen of them answers for every kind, and belongs to the trait
/// that each kind answers in a file of its own.
pub(super) fn kinds(sources: &Sources) -> Result<Vec<Violation>> {
    const MOST: usize = 12;
    const KINDS: [&str; 2] = ["sot-core/src/variables/", "sot-core/src/executor/kinds/"];
    // What a value holds, and how new code builds it: questions to data, in rooms that the machine's kinds do not know.
    const TABLES: [&str; 2] = ["sot-core/src/captured/parts.rs", "sot-core/src/rewrite/rebuild.rs"];
    let watched = |path: &str| {
        path.starts_with("sot-core/src/") && !KINDS.iter().any(|room| path.starts_with(room)) && !TABLES.contains(&path)
    };
    Ok(find(sources.rust().filter(|file| watched(&file.path)), |tokens, at| {
        let opens = match tokens[at].text.as_str() {
            "match" => tokens[at..].iter().position(|token| token.text == "{")?,
            "matches" if tokens.get(at + 1).is_some_and(|token| token.text == "!") => 2,
            _ => return None,
        };
        let mut depth = 0;
        let mut named = std::collections::BTreeSet::new();
        for (place, token) in tokens.iter().enumerate().skip(at + opens) {
            match token.text.as_str() {
                "{" | "(" => depth += 1,
                "}" | ")" => depth -= 1,
                "VarKind" => named.extend(tokens.get(place + 3).map(|token| token.text.as_str())),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        (named.len() > MOST)
            .then(|| format!("a table over {} kinds: let each kind answer (executor/kinds)", named.len()))
    }))
}

fn is_crate_root(path: &str) -> bool {
    path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs")
}

/// Every token of these files about which there is something to say.
fn find<'a>(
    files: impl Iterator<Item = &'a Source>,
    complain: impl Fn(&[Token], usize) -> Option<String>,
) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in files {
        let tokens = file.tokens();
        for at in 0..tokens.len() {
            if let Some(what) = complain(&tokens, at) {
                found.push(Violation { file: file.path.clone(), line: tokens[at].line, what });
            }
        }
    }
    found
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(rule: fn(&Sources) -> Result<Vec<Violation>>, file: &str, text: &str) -> Vec<usize> {
        let found = rule(&Sources::of(&[(file, text)])).expect("the rule can be checked");
        found.iter().map(|v| v.line).collect()
    }

    #[test]
    fn a_framework_may_be_named_in_comments_only() {
        let text = "//! like paddle\nfn paddle_add() {}\nconst T: &str = \"torch.add\"; // torch\n";
        assert_eq!(places(framework_names, "sot-core/src/a.rs", text), [2, 3]);
        assert!(places(framework_names, "sot-paddle/src/a.rs", text).is_empty());
    }

    #[test]
    fn a_table_beside_the_engine_is_seen() {
        let text = "static A: Mutex<Option<HashMap<u8, u8>>> = Mutex::new(None);\nstatic B: Mutex<Option<Instant>> = Mutex::new(None);\n\
                    static C: AtomicU8 = AtomicU8::new(0);\nfn f(x: &'static Mutex<Vec<u8>>) {}\n";
        assert_eq!(places(registries, "sot-core/src/a.rs", text), [1]);
        assert!(places(registries, "sot-core/src/cpython/a.rs", text).is_empty());
        assert!(places(registries, "xtask/src/a.rs", text).is_empty());
    }

    #[test]
    fn a_table_over_kinds_is_seen() {
        let arms =
            |count: usize| (0..count).map(|at| format!("VarKind::K{at}(_) => {{ f(at) }}\n")).collect::<String>();
        let text = |count| format!("fn f(kind: VarKind) {{\nmatch kind {{\n{}_ => 1 }}\n}}\n", arms(count));
        assert_eq!(places(kinds, "sot-core/src/executor/a.rs", &text(13)), [2]);
        assert!(places(kinds, "sot-core/src/executor/a.rs", &text(12)).is_empty());
        assert!(places(kinds, "sot-core/src/executor/kinds/a.rs", &text(13)).is_empty());
        let several = (0..13).map(|at| format!("VarKind::K{at}(_) |")).collect::<String>();
        let text = format!("fn f() {{ g();\n matches!(kind, {several} VarKind::K1(_)) }}\n");
        assert_eq!(places(kinds, "sot-core/src/executor/a.rs", &text), [2]);
    }

    #[test]
    fn deciding_by_version_is_seen() {
        let text = "fn f() {\n match v { Version::V311 => 1, _ => 2 };\n if v.minor() >= 12 {}\n if v.minor() == 8 {}\n v.minor();\n}\n\
                    #[cfg(test)]\nmod tests { const V: Version = Version::V38; }\n";
        assert_eq!(places(version_matches, "sot-core/src/a.rs", text), [2, 3, 4]);
        assert!(places(version_matches, "sot-opcodes/src/a.rs", text).is_empty());
    }

    #[test]
    fn layouts_and_unsafe_stay_behind_the_door() {
        let text = "#[cfg(Py_3_11)]\nfn f() { unsafe { g() } }\n";
        assert_eq!(places(version_cfgs, "sot-core/src/guard.rs", text), [1]);
        assert_eq!(places(unsafe_door, "sot-core/src/guard.rs", text), [2]);
        assert!(places(version_cfgs, "sot-core/src/cpython/layout.rs", text).is_empty());
        assert!(places(unsafe_door, "sot-core/src/cpython/layout.rs", text).is_empty());
    }

    #[test]
    fn other_crates_forbid_unsafe() {
        assert_eq!(places(unsafe_door, "sot-sir/src/lib.rs", "//! x\n"), [0]);
        assert!(places(unsafe_door, "sot-sir/src/lib.rs", "#![forbid(unsafe_code)]\n").is_empty());
        assert!(places(unsafe_door, "sot-core/src/lib.rs", "//! x\n").is_empty());
    }
}
