//! Classes: pinned by identity. Calling one makes a virtual instance, or folds, by kind of class.

use super::*;

impl Operations for ClassVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get_ref(ex.py, self.object).get_type().into_any())
    }

    fn truth(&self, ex: &mut Executor<'_>, _me: VarId) -> Result<bool, Stop> {
        let class = ex.objects.get(ex.py, self.object);
        if class.get_type().is(ex.py.get_type::<pyo3::types::PyType>()) {
            return Ok(true);
        }
        unanswered(self.kind_name(), "truth")
    }

    fn getattr(&self, ex: &mut Executor<'_>, _me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let class = ex.objects.get(ex.py, self.object);
        ex.attribute_of_class(&class, name)
    }

    fn call(&self, ex: &mut Executor<'_>, _me: VarId, args: &Args) -> Result<Called, Stop> {
        let class = ex.objects.get(ex.py, self.object);
        ex.call_class(&class, args)
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get(ex.py, self.object))
    }
}
