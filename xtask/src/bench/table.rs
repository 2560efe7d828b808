//! The benchmark's tables: medians with spread, ratios, targets.

use super::{Measured, Results, Samples, System, WORKLOADS, Workload};
use std::fmt::Write as _;

/// The middle, and half the distance between the quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Middle {
    pub(super) median: f64,
    pub(super) spread: f64,
}

pub(super) fn middle(samples: &[f64]) -> Option<Middle> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantile = |q: f64| {
        let at = q * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
        low + (high - low) * at.fract()
    };
    (!sorted.is_empty()).then(|| Middle { median: quantile(0.5), spread: (quantile(0.75) - quantile(0.25)) / 2.0 })
}

pub(super) fn text(results: &Results) -> String {
    let mut out = String::from("\n");
    let about: Vec<String> = results.about.iter().map(|(what, which)| format!("{what} {which}")).collect();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}; {} rounds; medians ± half the interquartile range", about.join(", "), results.rounds);
    let _ = writeln!(out, "vs eager, vs Paddle: how many times faster sot is");
    let timed = |title: &str, of: fn(&Samples) -> &[f64], target: &dyn Fn(&Workload) -> Option<f64>| {
        format!("\n{title}\n{}", timing(results, of, target))
    };
    out += &timed("cold: first call, ms", |s| &s.cold_ms, &|w| w.cold_target_ms);
    out += &timed("hit: second to fourth call, us", |s| &s.hit_us, &|_| None);
    out += &timed("steady: later calls, us", |s| &s.steady_us, &|w| w.steady_target_us);
    out += &timed("first capture of a process, ms", |s| &s.first_capture_ms, &|_| None);
    out += &format!("\ngraphs (breaks) of the first call\n{}", counts(results));
    for measured in &results.workloads {
        for (system, samples) in &measured.systems {
            if let Some(error) = &samples.error {
                let _ = writeln!(out, "\n{} under {}: {error}", measured.workload, name(*system));
            }
        }
    }
    out
}

fn timing(results: &Results, of: fn(&Samples) -> &[f64], target: &dyn Fn(&Workload) -> Option<f64>) -> String {
    let with_targets = WORKLOADS.iter().any(|w| target(w).is_some());
    let mut head = vec!["workload", "eager", "Paddle SOT", "sot", "vs eager", "vs Paddle"];
    if with_targets {
        head.push("target");
    }
    let mut lines = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for measured in &results.workloads {
        let of = |system: System| measured.systems.get(&system).and_then(|s| middle(of(s)));
        let [eager, paddle, sot] = System::ALL.map(of);
        let ratio = |other: Option<Middle>| match (other, sot) {
            (Some(other), Some(sot)) => format!("{:.2}x", other.median / sot.median),
            _ => "-".to_owned(),
        };
        let mut line = vec![measured.workload.to_owned()];
        line.extend([eager, paddle, sot].map(|m| m.map_or_else(|| "failed".to_owned(), cell)));
        line.extend([ratio(eager), ratio(paddle)]);
        if with_targets {
            line.push(match (workload(measured).and_then(target), sot) {
                (Some(target), Some(sot)) => met(target, sot.median),
                _ => String::new(),
            });
        }
        lines.push(line);
    }
    aligned(&lines)
}

fn counts(results: &Results) -> String {
    let mut lines = vec![["workload", "Paddle SOT", "sot", "target"].map(str::to_owned).to_vec()];
    for measured in &results.workloads {
        let count = |system: System| measured.systems.get(&system).and_then(|s| s.graphs.zip(s.breaks));
        let text = |counted: Option<(u64, u64)>| {
            counted.map_or_else(|| "failed".to_owned(), |(graphs, breaks)| format!("{graphs} ({breaks})"))
        };
        let target = match (workload(measured).and_then(|w| w.graphs_target), count(System::Sot)) {
            (Some(target), Some((graphs, _))) => {
                // None at all is no capture.
                let met = (1..=target).contains(&graphs);
                let most = if target > 1 { "<= " } else { "" };
                format!("{most}{target} {}", if met { "met" } else { "missed" })
            }
            _ => String::new(),
        };
        lines.push(vec![measured.workload.to_owned(), text(count(System::Paddle)), text(count(System::Sot)), target]);
    }
    aligned(&lines)
}

fn workload(measured: &Measured) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|w| w.name == measured.workload)
}

pub(super) fn name(system: System) -> &'static str {
    match system {
        System::Eager => "eager Paddle",
        System::Paddle => "Paddle SOT",
        System::Sot => "sot",
    }
}

pub(super) fn met(target: f64, value: f64) -> String {
    format!("<= {target} {}", if value <= target { "met" } else { "missed" })
}

pub(super) fn cell(m: Middle) -> String {
    let Middle { median, spread } = m;
    let digits = if median < 10.0 {
        2
    } else if median < 1000.0 {
        1
    } else {
        0
    };
    format!("{median:.digits$} ±{spread:.digits$}")
}

/// The first column to the left, the others to the right.
pub(super) fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |i: usize| lines.iter().filter_map(|l| l.get(i)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for line in lines {
        let mut text = String::new();
        for (i, cell) in line.iter().enumerate() {
            let width = widths[i];
            let _ = if i == 0 { write!(text, "  {cell:<width$}") } else { write!(text, "  {cell:>width$}") };
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_middle_of_samples() {
        assert_eq!(middle(&[]), None);
        assert_eq!(middle(&[3.0]), Some(Middle { median: 3.0, spread: 0.0 }));
        assert_eq!(middle(&[5.0, 1.0, 3.0, 2.0, 4.0]), Some(Middle { median: 3.0, spread: 1.0 }));
    }

    #[test]
    fn ratios_say_how_much_faster_sot_is() {
        let samples =
            |cold: f64| Samples { cold_ms: vec![cold], graphs: Some(1), breaks: Some(0), ..Samples::default() };
        let systems: BTreeMap<_, _> =
            [(System::Eager, samples(1.0)), (System::Paddle, samples(140.0)), (System::Sot, samples(7.0))].into();
        let measured = Measured { workload: "x*2+y", what: "", systems };
        let results = Results { about: BTreeMap::new(), rounds: 1, workloads: vec![measured] };
        let text = text(&results);
        let cold = text.lines().find(|line| line.contains("x*2+y")).expect("a line");
        for part in ["0.14x", "20.00x", "<= 8 met"] {
            assert!(cold.contains(part), "{part} in {cold}");
        }
        assert!(text.contains("1 (0)"), "{text}");
        assert!(text.contains("failed"), "steady was not measured: {text}");
    }
}
