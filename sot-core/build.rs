//! Passes `cfg(Py_3_x)` on to this crate, and says in one sentence for which interpreters it cannot be built. Of versions
//! `cpython/layout` says so.

use pyo3_build_config::{InterpreterConfig, PythonAbiKind, PythonImplementation};

fn main() {
    match refusal(pyo3_build_config::get()) {
        Some(why) => println!("cargo::error={why}"),
        None => pyo3_build_config::use_pyo3_cfgs(),
    }
}

/// Why nothing can be built. The crate reads the structs of the interpreter, which only CPython has, and which differ by version.
fn refusal(config: &InterpreterConfig) -> Option<String> {
    let implementation = config.implementation();
    if implementation != PythonImplementation::CPython {
        return Some(format!("sot-core is for CPython: {implementation} has no frame evaluation that can be hooked"));
    }
    let stable = matches!(config.target_abi().kind(), PythonAbiKind::Stable(_));
    stable.then(|| {
        "sot-core cannot be built for the stable ABI: it reads structs that differ by version of CPython. Take the features \
         `abi3` and `abi3-py3x` of pyo3 away, and build a wheel for each version"
            .to_owned()
    })
}
