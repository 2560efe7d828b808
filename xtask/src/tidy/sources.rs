//! The files that the rules look at, and Rust source as tokens.

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::fs;
use std::path::Path;
use std::str::FromStr;

/// Everything that is text in the checkout, except what is made.
pub(super) struct Sources {
    pub(super) files: Vec<Source>,
}

pub(super) struct Source {
    /// Relative to the checkout, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

/// A token of code. Comments and documentation are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) line: usize,
    /// Inside a `#[cfg(test)]` module.
    pub(super) test: bool,
}

const NOT_OURS: [&str; 7] = ["target", ".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".venv", "node_modules"];
const TEXT: [&str; 14] =
    ["rs", "py", "pyi", "md", "toml", "txt", "snap", "sh", "yml", "yaml", "json", "ini", "cfg", "sir"];

impl Sources {
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut files = Vec::new();
        collect(root, root, &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { files })
    }

    pub(super) fn rust(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files =
            files.iter().map(|(path, text)| Source { path: (*path).to_owned(), text: (*text).to_owned() }).collect();
        Self { files }
    }
}

fn collect(root: &Path, dir: &Path, files: &mut Vec<Source>) -> Result<()> {
    for entry in dir.read_dir().with_context(|| format!("cannot list {}", dir.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // `.git` may be a file.
        if NOT_OURS.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            collect(root, &path, files)?;
            continue;
        }
        let extension = path.extension().map(|e| e.to_string_lossy().into_owned());
        let is_text = match extension {
            Some(extension) => TEXT.contains(&extension.as_str()),
            // `.ci/run`, LICENSE, hidden settings
            None => true,
        };
        if is_text && let Ok(text) = fs::read_to_string(&path) {
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            files.push(Source { path: relative, text });
        }
    }
    Ok(())
}

impl Source {
    /// The file's code, groups flattened. What does not lex is rustc's to complain about.
    pub(super) fn tokens(&self) -> Vec<Token> {
        let mut tokens = Vec::new();
        if let Ok(stream) = TokenStream::from_str(&self.text) {
            flatten(stream, false, &mut tokens);
        }
        tokens
    }
}

fn flatten(stream: TokenStream, test: bool, tokens: &mut Vec<Token>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    // Set by `#[cfg(test)]`, until the braces of the item that it stands before.
    let mut test_item = false;
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        if let Some((attribute, length)) = attribute(&trees[at..]) {
            if is_doc(attribute) {
                at += length;
                continue;
            }
            test_item |= attribute.stream().to_string().replace(' ', "") == "cfg(test)";
        }
        match tree {
            TokenTree::Group(group) => {
                let in_test = test || (test_item && group.delimiter() == Delimiter::Brace);
                let (open, close) = delimiters(group.delimiter());
                push(tokens, open, group.span_open().start().line, in_test);
                flatten(group.stream(), in_test, tokens);
                push(tokens, close, group.span_close().start().line, in_test);
                if group.delimiter() == Delimiter::Brace {
                    test_item = false;
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => {
                test_item = false;
                push(tokens, ";", punct.span().start().line, test);
            }
            other => push(tokens, &other.to_string(), other.span().start().line, test),
        }
        at += 1;
    }
}

fn push(tokens: &mut Vec<Token>, text: &str, line: usize, test: bool) {
    if !text.is_empty() {
        tokens.push(Token { text: text.to_owned(), line, test });
    }
}

/// `#[..]` or `#![..]` at the start, with its length in trees.
fn attribute(trees: &[TokenTree]) -> Option<(&Group, usize)> {
    let is = |tree: Option<&TokenTree>, c: char| matches!(tree, Some(TokenTree::Punct(p)) if p.as_char() == c);
    if !is(trees.first(), '#') {
        return None;
    }
    let at = if is(trees.get(1), '!') { 2 } else { 1 };
    match trees.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => Some((group, at + 1)),
        _ => None,
    }
}

fn is_doc(attribute: &Group) -> bool {
    let mut trees = attribute.stream().into_iter();
    matches!(trees.next(), Some(TokenTree::Ident(name)) if name == "doc")
        && matches!(trees.next(), Some(TokenTree::Punct(p)) if p.as_char() == '=')
}

fn delimiters(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        Source { path: "a.rs".to_owned(), text: text.to_owned() }.tokens()
    }

    #[test]
    fn comments_and_documentation_are_not_code() {
        let code = tokens("//! paddle\n/// paddle\n// paddle\nfn f() { /* paddle */ }\n");
        assert!(code.iter().all(|t| !t.text.contains("paddle")), "{code:?}");
        assert_eq!(code[0], Token { text: "fn".to_owned(), line: 4, test: false });
    }

    #[test]
    fn strings_are_code() {
        assert!(tokens("const A: &str = \"paddle\";").iter().any(|t| t.text == "\"paddle\""));
    }

    #[test]
    fn code_of_test_modules_is_marked() {
        let code = tokens("fn a() {}\n#[cfg(test)]\nmod tests { fn b() { c() } }\nfn d() {}");
        let marked: Vec<&str> = code
            .iter()
            .filter(|t| t.test)
            .map(|t| t.text.as_str())
            .filter(|t| t.len() == 1 && *t >= "a" && *t <= "z")
            .collect();
        assert_eq!(marked, ["b", "c"]);
    }
}
