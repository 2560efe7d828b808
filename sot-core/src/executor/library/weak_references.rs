//! Weak references (`weakref.ref`): one that has no callback is the same object as long as somebody has it, and what one refers to is a
//! value with a path.

use super::Executor;
use crate::backend::Kind;
use crate::cpython::facts;
use crate::natives::Native;
use crate::stop::{Reason, Stop};
use crate::type_facts::{self, Descriptor};
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{Access, Check};

impl<'py> Executor<'py> {
    /// `weakref.ref(object)` of what is the same object at each call; `None`: that is left to Python.
    pub(in crate::executor) fn refer_weakly(
        &mut self,
        class: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        if !class.is(self.py.get_type::<PyWeakrefReference>()) || !args.keywords.is_empty() {
            return Ok(None);
        }
        let of = match args.positional.as_slice() {
            [of] => of,
            [of, callback] => return self.refer_weakly_to_class(class, *of, *callback),
            _ => return Ok(None),
        };
        let kind = self.look(*of)?;
        let Some(object) = self.pinned(&kind) else { return Ok(None) };
        if self.death_runs_code(&object) || !self.is_compared_by_identity(&object)? {
            return Ok(None);
        }
        let Ok(reference) = class.call1((&object,)) else { return Ok(None) };
        Ok(Some(self.pin(&reference)))
    }

    /// `weakref.ref(of, callback)` of a class that is the same at each call, so that it outlives the new code; `None`: as above. Each is
    /// an object of its own, which new code makes.
    fn refer_weakly_to_class(
        &mut self,
        class: &Bound<'py, PyAny>,
        of: VarId,
        callback: VarId,
    ) -> Result<Option<VarId>, Stop> {
        let (VarKind::Class(referred), VarKind::Function(_)) = (self.look(of)?, self.look(callback)?) else {
            return Ok(None);
        };
        let Some(referred) = VarKind::Class(referred).pinned() else { return Ok(None) };
        let referred = self.objects.get(self.py, referred);
        if !self.is_compared_by_identity(&referred)? {
            return Ok(None);
        }
        let class = self.objects.add(class);
        Ok(Some(self.virtual_var(NativeVar {
            native: Native::Reference,
            class,
            object: None,
            positional: [of, callback].into(),
            keywords: [].into(),
            pinned: false,
        })))
    }

    /// Another reference to what such a one refers to, which is equal to it.
    pub(in crate::executor) fn answerer_of_reference(&self, reference: VarId) -> Option<Bound<'py, PyAny>> {
        let VarKind::Native(NativeVar { native: Native::Reference, positional, .. }) = &self.var(reference).kind else {
            return None;
        };
        let of = self.var(positional[0]).kind.pinned()?;
        let of = self.objects.get(self.py, of);
        PyWeakrefReference::new(&of).ok().map(Bound::into_any)
    }

    pub(in crate::executor) fn is_compared_by_identity(&mut self, object: &Bound<'py, PyAny>) -> Result<bool, Stop> {
        let class = object.get_type();
        let hashed_by_c = !type_facts::raw(&class, "__hash__").is_some_and(|hash| facts::is_function(&hash));
        Ok(hashed_by_c && self.compares_by_identity(&class)?)
    }

    /// What a reference refers to, that is called; `None`: it is no reference of C.
    pub(in crate::executor) fn referent(&mut self, me: VarId, args: &Args) -> Result<Option<VarId>, Stop> {
        let VarKind::Instance(InstanceVar { object: Some(object), class, .. }) = self.var(me).kind else {
            return Ok(None);
        };
        let object = self.objects.get(self.py, object);
        let Ok(reference) = object.cast::<PyWeakrefReference>() else { return Ok(None) };
        if !args.positional.is_empty() || !args.keywords.is_empty() {
            return Ok(None);
        }
        self.look(me)?;
        let class = self.objects.get(self.py, class);
        let own = type_facts::raw(&self.py.get_type::<PyWeakrefReference>(), "__call__");
        if !self.class_lookup(&class, "__call__")?.zip(own).is_some_and(|(found, own)| found.is(&own)) {
            return Ok(None);
        }
        let referent = reference.upgrade().unwrap_or_else(|| self.py.None().into_bound(self.py));
        // In plain Python it has died by now, unless somebody holds it whom nothing here tells of.
        if self.slots_for_nobody(&referent) > 0 {
            return Err(Stop::brk(Reason::Finalizer, "what a weak reference refers to"));
        }
        // A tensor that nothing else here leads to would be held by what is captured.
        let is_known = self.known.contains_key(&(referent.as_ptr() as usize));
        if !is_known && self.backend.classify(&referent) == Kind::Tensor {
            return Err(Stop::brk(Reason::Finalizer, "a tensor that a weak reference refers to"));
        }
        // Who is alive when the guards ask may be dead when new code does, if another thread lets go of it in between.
        if !referent.is_none() {
            self.has_no_threads_beside()?;
        }
        let base = self.base_tracker(me);
        let at = self.trackers.step(base, Access::IterSource);
        let value = self.wrap(&referent, at);
        self.look(value)?;
        Ok(Some(value))
    }

    /// Whether nobody refers weakly to an instance from before the frame, guarded: its `__weakref__` is None.
    pub(in crate::executor) fn refers_nobody(
        &mut self,
        me: VarId,
        object: &Bound<'py, PyAny>,
        descriptor: &Bound<'py, PyAny>,
    ) -> Result<bool, Stop> {
        let base = self.base_tracker(me);
        // What holds a slot's instance for guards refers to it weakly.
        if type_facts::descriptor(descriptor) != Descriptor::GetSet || !self.is_under_constant(base) {
            return Ok(false);
        }
        let facts::Field::Value(first) = facts::field(object, pyo3::intern!(self.py, "__weakref__")) else {
            return Ok(false);
        };
        if !first.is_none() {
            return Ok(false);
        }
        let none = self.objects.add(&first);
        let at = self.trackers.step(base, Access::Attr("__weakref__".into()));
        self.guard(at, Check::Is(none));
        Ok(true)
    }
}

/// What a weak reference refers to, if that is alive.
pub(in crate::executor) fn upgraded<'py>(reference: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    reference.cast::<PyWeakrefReference>().ok()?.upgrade()
}
