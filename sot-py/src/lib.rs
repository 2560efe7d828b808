//! The extension module `sot._sot`: sot-core's Python API with the Paddle backend behind it. No logic lives here.
#![forbid(unsafe_code)]

use pyo3::prelude::*;
use std::sync::Arc;

#[pymodule]
fn _sot(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    sot_core::python::register(module, Arc::new(sot_paddle::LazyPaddle::default()))?;
    sot_paddle::install::add_python_api(module)?;
    #[cfg(feature = "test-hooks")]
    {
        let probe = PyModule::new(module.py(), "_probe")?;
        sot_paddle::probe::register(&probe)?;
        module.add("_probe", probe)?;
    }
    Ok(())
}
