//! Passes `cfg(Py_3_x)` on to this crate.
fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
