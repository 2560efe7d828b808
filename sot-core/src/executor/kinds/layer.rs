//! Layers of the framework: pinned by identity, so that all their state hangs off a constant.

use super::*;

impl Operations for LayerVar {
    fn class<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get_ref(ex.py, self.object).get_type().into_any())
    }

    fn truth(&self, ex: &mut Executor<'_>, me: VarId) -> Result<bool, Stop> {
        ex.truth_by_protocol(me)
    }

    fn length(&self, ex: &mut Executor<'_>, me: VarId) -> Result<usize, Stop> {
        ex.length_by_protocol(me)
    }

    fn getattr(&self, ex: &mut Executor<'_>, me: VarId, name: &str) -> Result<Option<VarId>, Stop> {
        let object = ex.objects.get(ex.py, self.object);
        ex.attribute_of_instance(me, Some(&object), &object.get_type().into_any(), name)
    }

    fn subscript(&self, ex: &mut Executor<'_>, me: VarId, key: VarId) -> Result<VarId, Stop> {
        ex.call_special(me, "__getitem__", vec![key])
    }

    fn iterate(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        ex.iterate_by_protocol(me)
    }

    fn call(&self, ex: &mut Executor<'_>, me: VarId, args: &Args) -> Result<Called, Stop> {
        let layer = ex.objects.get(ex.py, self.object);
        ex.call_layer(me, &layer, args)
    }

    fn as_argument<'py>(&self, ex: &mut Executor<'py>, _me: VarId) -> Result<Bound<'py, PyAny>, Stop> {
        Ok(ex.objects.get(ex.py, self.object))
    }

    fn look(&self, ex: &mut Executor<'_>, _me: VarId, at: Place) -> Result<(), Stop> {
        ex.look_at_identity(Nature::pinned(self), at, true);
        Ok(())
    }

    fn reversed(&self, ex: &mut Executor<'_>, me: VarId) -> Result<VarId, Stop> {
        ex.call_special(me, "__reversed__", vec![])
    }

    fn set_attribute(&self, ex: &mut Executor<'_>, me: VarId, name: &str, new: VarId) -> Result<(), Stop> {
        let class = ex.class_of(me)?;
        let own = ex.class_lookup(&class, "__setattr__")?;
        if let Some(writer) = ex.backend.clone().layers().writer(ex.py)
            && !own.is_some_and(|own| own.is(&writer))
        {
            return Err(Stop::brk(Reason::UserCode, "__setattr__"));
        }
        ex.set_layer_attribute(me, name, new)
    }
}
