//! What the environment asks of this process. Each is read once.

use std::sync::OnceLock;

/// `SOT_MEASURE`: what measured times choose. Without it, or with 1: all. With `graphs`: only whether a graph runs in its compiled
/// form or is replayed; captures always serve. With 0 no choice depends on a clock: captures serve, and graphs run in their
/// compiled form once it is proved. Which calls do what is then the same in each run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measured {
    All,
    Graphs,
    Nothing,
}

fn measured() -> Measured {
    static MEASURED: OnceLock<Measured> = OnceLock::new();
    *MEASURED.get_or_init(|| match std::env::var_os("SOT_MEASURE") {
        Some(value) if value == "0" => Measured::Nothing,
        Some(value) if value == "graphs" => Measured::Graphs,
        _ => Measured::All,
    })
}

/// Whether times choose between a capture and the original code.
pub fn captures_by_measurement() -> bool {
    // What runs beside a call is part of its time.
    measured() == Measured::All && !verifies()
}

/// Whether times choose between the compiled form of a graph and replay.
pub fn graphs_by_measurement() -> bool {
    measured() != Measured::Nothing
}

/// `SOT_VERIFY=1`: whether plain Python runs beside each call that a capture serves, and is compared with it.
pub fn verifies() -> bool {
    static VERIFIES: OnceLock<bool> = OnceLock::new();
    *VERIFIES.get_or_init(|| std::env::var_os("SOT_VERIFY").is_some_and(|value| value == "1"))
}
