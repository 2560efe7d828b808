//! What the environment asks of this process. Each is read once.

use std::sync::OnceLock;

/// `SOT_MEASURE`: whether measured times choose who runs. With 0 no choice depends on a clock: captures serve, and graphs
/// run in their compiled form once it is proved. Which calls do what is then the same in each run.
pub fn by_measurement() -> bool {
    static MEASURED: OnceLock<bool> = OnceLock::new();
    *MEASURED.get_or_init(|| std::env::var_os("SOT_MEASURE").is_none_or(|value| value != "0"))
}
