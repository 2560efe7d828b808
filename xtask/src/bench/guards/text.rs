//! The tables of `cargo xtask bench guards`: slopes and differences round by round, their medians with spread, targets.

use super::{ByKind, Entries, Facts, Measured, Results, Times};
use crate::bench::table::{Middle, aligned, cell, met, middle};
use std::fmt::Write as _;

/// Guards of all of resnet50, in us.
const RESNET50: f64 = 3.0;
/// Two tensors above an empty call of plain Python, in us.
const TWO_TENSORS: f64 = 0.3;

pub(super) fn of(results: &Results) -> String {
    let mut out = String::from("\n");
    let about: Vec<String> = results.about.iter().map(|(what, which)| format!("{what} {which}")).collect();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}; {} rounds; medians ± half the interquartile range", about.join(", "), results.rounds);
    let _ = writeln!(out, "times are of the thread alone, with data that is warm in the caches");
    out += &format!("\none more fact, ns (as plain Python: the same lines, uncaptured)\n{}", by_kind(&results.kinds));
    out += &format!("\nguards of a whole, us\n{}", whole(results));
    if let Some(entries) = &results.entries.found {
        out += &format!("\na call by entries of its cache, us\n{}", by_entries(entries));
    }
    let facts: Vec<(&str, &Facts)> = found(&results.facts).collect();
    if !facts.is_empty() {
        out += &format!("\na call by facts, us\n{}", by_facts(&facts));
        out += &format!("\nits capture, ms (once)\n{}", captures(&facts));
    }
    for (name, error) in errors(results) {
        let _ = writeln!(out, "\n{name}: {error}");
    }
    out
}

fn found<T>(measured: &[Measured<T>]) -> impl Iterator<Item = (&str, &T)> {
    measured.iter().filter_map(|m| Some((m.name.as_str(), m.found.as_ref()?)))
}

fn errors(results: &Results) -> Vec<(&str, &str)> {
    fn of<T>(measured: &Measured<T>) -> Option<(&str, &str)> {
        Some((measured.name.as_str(), measured.error.as_deref()?))
    }
    let mut errors: Vec<_> = results.kinds.iter().filter_map(of).collect();
    errors.extend(of(&results.swap));
    errors.extend(results.models.iter().filter_map(of));
    errors.extend(of(&results.entries));
    errors.extend(results.facts.iter().filter_map(of));
    errors
}

fn strings(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

fn by_kind(kinds: &[Measured<ByKind>]) -> String {
    let mut lines = vec![strings(&["kind", "guards a fact", "sot", "plain Python", "sot / plain"])];
    for kind in kinds {
        let mut line = vec![kind.name.clone()];
        match &kind.found {
            Some(found) => {
                let guards = slope(&found.facts, &found.guards);
                let (captured, eager) = (slopes(&found.facts, &found.captured), slopes(&found.facts, &found.eager));
                line.push(format!("{guards:.1}"));
                line.extend([captured, eager].map(|m| m.map_or_else(String::new, cell)));
                line.push(captured.zip(eager).map_or_else(String::new, |(captured, eager)| ratio(captured, eager)));
            }
            None => line.extend(strings(&["failed"])),
        }
        lines.push(line);
    }
    aligned(&lines)
}

fn ratio(captured: Middle, eager: Middle) -> String {
    // What is not told from nothing has none.
    if captured.median <= captured.spread { "~0".to_owned() } else { format!("{:.2}", captured.median / eager.median) }
}

fn whole(results: &Results) -> String {
    let mut lines = vec![strings(&["what", "guards", "us", "target"])];
    for model in &results.models {
        let target = (model.name == "resnet50").then_some(RESNET50);
        let found = model.found.as_ref();
        let guards = found.map(|found| found.guards.to_string());
        lines.push(line(&model.name, guards, found.and_then(|found| above(&found.with, &found.without)), target));
    }
    let swap = results.swap.found.as_ref();
    let above_empty = swap.and_then(|swap| above(&swap.captured, &swap.empty));
    lines.push(line("two tensors returned, above an empty call", None, above_empty, Some(TWO_TENSORS)));
    let plain = swap.and_then(|swap| above(&swap.eager, &swap.empty));
    lines.push(line("the same as plain Python", None, plain, None));
    // A yardstick: it tells a machine that does other things from one that does not.
    let empty = swap.and_then(|swap| middle(&swap.empty)).map(in_us);
    lines.push(vec!["an empty call".to_owned(), String::new(), empty.unwrap_or_else(|| "failed".to_owned())]);
    aligned(&lines)
}

fn line(what: &str, guards: Option<String>, us: Option<Middle>, target: Option<f64>) -> Vec<String> {
    let told = us.map_or_else(|| "failed".to_owned(), cell);
    let target = us.zip(target).map(|(us, target)| met(target, us.median));
    vec![what.to_owned(), guards.unwrap_or_default(), told, target.unwrap_or_default()]
}

fn by_entries(entries: &Entries) -> String {
    let mut lines = vec![strings(&["entries"])];
    lines[0].extend(entries.series.keys().cloned());
    for (at, count) in entries.counts.iter().enumerate() {
        let mut line = vec![count.to_string()];
        line.extend(entries.series.values().map(|times| microseconds(&times[at])));
        lines.push(line);
    }
    let mut more = strings(&["one more"]);
    more.extend(entries.series.values().map(|times| slopes(&entries.counts, times).map_or_else(String::new, in_us)));
    lines.push(more);
    aligned(&lines)
}

fn by_facts(facts: &[(&str, &Facts)]) -> String {
    // Plain Python reads the same lines, whatever was written before: told once for each way.
    let eager: Vec<_> = facts.iter().filter(|(name, _)| !name.contains(',')).collect();
    let mut lines = vec![strings(&["facts"])];
    lines[0].extend(facts.iter().map(|(name, _)| (*name).to_owned()));
    lines[0].extend(eager.iter().map(|(name, _)| format!("{name}, plain")));
    let columns = || facts.iter().map(|(_, f)| &f.captured).chain(eager.iter().map(|(_, f)| &f.eager));
    let counts = &facts[0].1.counts;
    for (at, count) in counts.iter().enumerate() {
        let mut line = vec![count.to_string()];
        line.extend(columns().map(|times| microseconds(&times[at])));
        lines.push(line);
    }
    if let [.., before, last] = last_decade(counts)[..] {
        let mut growth = vec![format!("{} / {}", counts[last], counts[before])];
        growth.extend(columns().map(|times| {
            let grown =
                middle(&times[last]).zip(middle(&times[before])).map(|(last, before)| last.median / before.median);
            grown.map_or_else(String::new, |grown| format!("{grown:.1}x"))
        }));
        lines.push(growth);
    }
    aligned(&lines)
}

/// Where the last count is, and before it that of a tenth of it.
fn last_decade(counts: &[f64]) -> Vec<usize> {
    let last = counts.last().copied().unwrap_or_default();
    (0..counts.len()).filter(|at| counts[*at] == last || counts[*at] * 10.0 == last).collect()
}

fn captures(facts: &[(&str, &Facts)]) -> String {
    let mut lines = vec![strings(&["facts"])];
    lines[0].extend(facts.iter().map(|(name, _)| (*name).to_owned()));
    for (at, count) in facts[0].1.counts.iter().enumerate() {
        let mut line = vec![count.to_string()];
        line.extend(facts.iter().map(|(_, f)| format!("{:.1}", f.capture_ms[at])));
        lines.push(line);
    }
    aligned(&lines)
}

fn in_us(ns: Middle) -> String {
    cell(Middle { median: ns.median / 1e3, spread: ns.spread / 1e3 })
}

fn microseconds(times: &[f64]) -> String {
    middle(times).map_or_else(String::new, in_us)
}

/// How much one is above the other, round by round, in us.
fn above(times: &[f64], others: &[f64]) -> Option<Middle> {
    let differences: Times = times.iter().zip(others).map(|(time, other)| (time - other) / 1e3).collect();
    middle(&differences)
}

/// The time of one more, by rounds: `times` has one list for each count.
fn slopes(counts: &[f64], times: &[Times]) -> Option<Middle> {
    let rounds = times.iter().map(Vec::len).min().unwrap_or(0);
    let of_round = |round: usize| slope(counts, &times.iter().map(|times| times[round]).collect::<Times>());
    middle(&(0..rounds).map(of_round).collect::<Times>())
}

/// Of the line through the points that is nearest by least squares.
fn slope(xs: &[f64], ys: &[f64]) -> f64 {
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (x_mean, y_mean) = (mean(xs), mean(ys));
    let together: f64 = xs.iter().zip(ys).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    together / xs.iter().map(|x| (x - x_mean).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::super::{OfModel, Swap};
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_slope_is_the_time_of_one_more() {
        assert!((slope(&[0.0, 10.0, 50.0], &[100.0, 120.0, 200.0]) - 2.0).abs() < 1e-9);
        let rounds = [vec![100.0, 300.0], vec![120.0, 320.0], vec![200.0, 400.0]];
        assert_eq!(slopes(&[0.0, 10.0, 50.0], &rounds), Some(Middle { median: 2.0, spread: 0.0 }));
    }

    #[test]
    fn growth_is_told_over_the_last_decade() {
        assert_eq!(last_decade(&[10.0, 30.0, 100.0, 300.0, 1000.0]), [2, 4]);
        assert_eq!(last_decade(&[1.0]), [0]);
    }

    #[test]
    fn targets_are_met_or_missed_and_what_failed_is_told() {
        fn measured<T>(name: &str, found: Option<T>) -> Measured<T> {
            let error = found.is_none().then(|| "it died".to_owned());
            Measured { name: name.to_owned(), found, error }
        }
        let kind = ByKind {
            facts: vec![0.0, 10.0],
            captured: vec![vec![500.0], vec![600.0]],
            eager: vec![vec![50.0], vec![90.0]],
            guards: vec![9.0, 29.0],
        };
        let facts = Facts {
            counts: vec![10.0, 100.0],
            captured: vec![vec![1e3], vec![12e3]],
            eager: vec![vec![1e3], vec![10e3]],
            guards: vec![20, 200],
            capture_ms: vec![0.5, 1.5],
        };
        let results = Results {
            about: BTreeMap::new(),
            rounds: 1,
            kinds: vec![measured("list item", Some(kind)), measured("set member", None)],
            swap: measured("swap", Some(Swap { captured: vec![400.0], eager: vec![150.0], empty: vec![150.0] })),
            models: vec![measured("resnet50", Some(OfModel { with: vec![9e3], without: vec![1e3], guards: 1800 }))],
            entries: measured("entries", None),
            facts: vec![measured("list items", Some(facts))],
        };
        let text = of(&results);
        let line =
            |what: &str| text.lines().find(|line| line.trim_start().starts_with(what)).unwrap_or_default().to_owned();
        for (what, parts) in [
            ("list item", &["2.0", "10.0 ±0.0", "4.00 ±0.00", "2.50"][..]),
            ("set member", &["failed"]),
            ("resnet50", &["1800", "8.00 ±0.00", "<= 3 missed"]),
            ("two tensors", &["0.25 ±0.00", "<= 0.3 met"]),
            ("100 / 10", &["12.0x", "10.0x"]),
            ("entries: it died", &[]),
        ] {
            assert!(!line(what).is_empty(), "{what} in {text}");
            for part in parts {
                assert!(line(what).contains(part), "{part} in {}", line(what));
            }
        }
    }
}
