//! A report as one HTML page that needs nothing else: the source with its breaks marked, graphs, guards, and the bytecode before and
//! after.

use std::fmt::Write;

/// The source of a function, and the lines of it at which graphs break.
#[derive(Default)]
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) first_line: u32,
    pub(crate) lines: Vec<String>,
}

/// One break, for the page.
pub(crate) struct Mark<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: u32,
    pub(crate) code: &'a str,
    pub(crate) text: &'a str,
}

/// What a page shows.
pub(crate) struct Page<'a> {
    pub(crate) summary: &'a str,
    pub(crate) source: &'a Source,
    pub(crate) marks: Vec<Mark<'a>>,
    /// Title and text of each graph.
    pub(crate) graphs: Vec<(String, String)>,
    /// Owner and guards of each group.
    pub(crate) guards: Vec<(String, Vec<String>)>,
    pub(crate) before: &'a str,
    pub(crate) after: &'a str,
}

const STYLE: &str = "
.sot { font: 14px/1.45 system-ui, sans-serif; color: #1b1f24; background: #fff; max-width: 1200px; margin: 1.5em auto; padding: 0 1em }
.sot pre { font: 12px/1.5 ui-monospace, Menlo, Consolas, monospace; background: #f6f8fa; border-radius: 6px; padding: .8em; margin: .4em 0; overflow-x: auto }
.sot h1 { font-size: 1.3em } .sot h2 { font-size: 1.05em; margin: 1.4em 0 .3em }
.sot summary { cursor: pointer; padding: .2em 0 } .sot summary small { color: #57606a }
.sot .line { display: block; white-space: pre } .sot .line i { color: #8c959f; font-style: normal; user-select: none }
.sot .break { background: #ffebe9 } .sot .why { color: #a40e26; white-space: pre-wrap; display: block; padding-left: 5em }
.sot .two { display: grid; grid-template-columns: 1fr 1fr; gap: 1em } .sot .two > div { min-width: 0 }
@media (max-width: 800px) { .sot .two { grid-template-columns: 1fr } }
@media (prefers-color-scheme: dark) { .sot { color: #e6edf3; background: #0d1117 } .sot pre { background: #161b22 } .sot .break { background: #67060c66 } .sot .why { color: #ff7b72 } }
";

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter => safe.push(letter),
        }
    }
    safe
}

impl Page<'_> {
    /// The part that a notebook shows.
    pub(crate) fn fragment(&self) -> String {
        let mut html = format!("<style>{STYLE}</style><div class=\"sot\">");
        write!(html, "<pre>{}</pre>", escaped(self.summary)).ok();
        self.write_source(&mut html);
        write!(html, "<h2>Graphs</h2>").ok();
        for (title, text) in &self.graphs {
            write!(html, "<details open><summary>{}</summary><pre>{}</pre></details>", escaped(title), escaped(text))
                .ok();
        }
        write!(html, "<h2>Guards</h2>").ok();
        for (owner, guards) in &self.guards {
            let count = guards.len();
            write!(html, "<details><summary>{} <small>{count}</small></summary>", escaped(owner)).ok();
            write!(html, "<pre>{}</pre></details>", escaped(&guards.join("\n"))).ok();
        }
        let (before, after) = (escaped(self.before), escaped(self.after));
        write!(html, "<h2>Bytecode</h2><div class=\"two\"><div>before<pre>{before}</pre></div>").ok();
        write!(html, "<div>after<pre>{after}</pre></div></div></div>").ok();
        html
    }

    /// The whole page.
    pub(crate) fn document(&self, title: &str) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head><body>\
             <div class=\"sot\"><h1>{title}</h1></div>{}</body></html>\n",
            self.fragment(),
            title = escaped(title),
        )
    }

    fn write_source(&self, html: &mut String) {
        let Source { file, first_line, lines } = self.source;
        let here = |mark: &&Mark<'_>| {
            mark.file == file && (*first_line..*first_line + lines.len() as u32).contains(&mark.line)
        };
        write!(html, "<h2>Source</h2>").ok();
        if !lines.is_empty() {
            write!(html, "<small>{}</small><pre>", escaped(file)).ok();
        }
        for (number, line) in (*first_line..).zip(lines) {
            let marks: Vec<&Mark<'_>> = self.marks.iter().filter(|mark| here(mark) && mark.line == number).collect();
            let class = if marks.is_empty() { "line" } else { "line break" };
            write!(html, "<span class=\"{class}\"><i>{number:>5} </i>{}</span>", escaped(line)).ok();
            for mark in marks {
                write!(html, "<span class=\"why\">[{}]</span>", escaped(mark.code)).ok();
            }
        }
        if !lines.is_empty() {
            html.push_str("</pre>");
        }
        for mark in &self.marks {
            write!(html, "<pre class=\"why\">{}</pre>", escaped(mark.text)).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_marks_the_lines_of_breaks_and_escapes_text() {
        let source =
            Source { file: "a<b>.py".into(), first_line: 7, lines: vec!["def f(x):".into(), "    g(x < 1)".into()] };
        let text = "break at a<b>.py:8";
        let page = Page {
            summary: "1 graphs",
            source: &source,
            marks: vec![Mark { file: "a<b>.py", line: 8, code: "opaque-call", text }],
            graphs: vec![("graph 1".into(), "x & y".into())],
            guards: vec![("locals[\"x\"]".into(), vec!["tensor(locals[\"x\"])".into()])],
            before: "LOAD_FAST",
            after: "CALL",
        };
        let html = page.document("f");
        assert!(html.starts_with("<!DOCTYPE html>"));
        assert_eq!(html.matches("class=\"line break\"").count(), 1);
        assert!(html.contains("<i>    8 </i>    g(x &lt; 1)</span><span class=\"why\">[opaque-call]"));
        assert!(html.contains("x &amp; y") && html.contains("locals[&quot;x&quot;]") && !html.contains("a<b>"));
        assert!(!html.contains("http"), "a page needs nothing else");
    }
}
