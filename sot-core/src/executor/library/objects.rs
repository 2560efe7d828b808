//! Objects of C that the simulation made, each with its history ([`Native::Made`]): what one of the same history answers and becomes.

use super::Executor;
use super::locks::Taking;
use crate::locks;
use crate::natives::Native;
use crate::objects_of_c::known;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use std::rc::Rc;

/// Steps of a history, each of which is done again where the object is built.
const STEPS: usize = 256;

impl<'py> Executor<'py> {
    /// What a class, or a function, makes of constants; `None`: that is left to Python.
    pub(in crate::executor) fn make_object(
        &mut self,
        maker: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        if !self.are_constants(args)? {
            return Ok(None);
        }
        let (positional, keywords) = self.convert_arguments(args, Self::require_plain)?;
        let object = maker.call(positional, keywords.as_ref()).map_err(|e| self.would_raise(&e))?;
        if known(&object.get_type()).is_none() {
            return Ok(None);
        }
        let maker = self.pin(maker);
        let given = self.virtual_var(TupleVar::new(args.positional.clone()));
        self.object_with(&object, [maker, given].into(), args.keywords.clone().into()).map(Some)
    }

    fn object_with(
        &mut self,
        object: &Bound<'py, PyAny>,
        history: Rc<[VarId]>,
        keywords: Rc<[(String, VarId)]>,
    ) -> Result<VarId, Stop> {
        let class = self.objects.add(object.get_type().as_any());
        let positional = history.clone();
        let var = self.virtual_var(NativeVar {
            native: Native::Made,
            class,
            object: None,
            positional,
            keywords,
            pinned: false,
        });
        self.made.insert(var, (history, object.clone()));
        Ok(var)
    }

    fn plain_arguments(&mut self, tuple: VarId) -> Result<Vec<Bound<'py, PyAny>>, Stop> {
        let VarKind::Tuple(tuple) = self.look(tuple)? else { return Ok(Vec::new()) };
        tuple.items.iter().map(|item| self.require_plain(*item)).collect()
    }

    /// An object with the history of this one, which nobody else has.
    pub(in crate::executor) fn object_made(&mut self, me: VarId, made: &NativeVar) -> Result<Bound<'py, PyAny>, Stop> {
        if let Some((history, object)) = self.made.get(&me)
            && Rc::ptr_eq(history, &made.positional)
        {
            return Ok(object.clone());
        }
        let object = self.object_anew(made)?;
        self.made.insert(me, (made.positional.clone(), object.clone()));
        Ok(object)
    }

    fn object_anew(&mut self, made: &NativeVar) -> Result<Bound<'py, PyAny>, Stop> {
        let [maker, given, steps @ ..] = &made.positional[..] else {
            unreachable!("its maker, and what that was given")
        };
        let kind = self.look(*maker)?;
        let maker = self.object_of(*maker, &kind);
        let given = self.plain_arguments(*given)?;
        let keywords = PyDict::new(self.py);
        for (name, value) in made.keywords.iter() {
            let value = self.require_plain(*value)?;
            keywords.set_item(name, value).map_err(|e| self.internal(&e))?;
        }
        let given = PyTuple::new(self.py, given).map_err(|e| self.internal(&e))?;
        let object = maker.call(given, Some(&keywords)).map_err(|e| self.internal(&e))?;
        for step in steps.chunks_exact(2) {
            let kind = self.look(step[0])?;
            let method = self.object_of(step[0], &kind);
            let mut all = vec![object.clone()];
            all.extend(self.plain_arguments(step[1])?);
            let all = PyTuple::new(self.py, all).map_err(|e| self.internal(&e))?;
            method.call1(all).map_err(|e| self.internal(&e))?;
        }
        Ok(object)
    }

    fn object_of(&self, var: VarId, kind: &VarKind) -> Bound<'py, PyAny> {
        let object = kind.pinned().or_else(|| self.known_object(var)).expect("it was pinned");
        self.objects.get(self.py, object)
    }

    /// `owner.name(me, *args)`, a method of C, of an object whose state is followed; `None`: it is none, or that is left to Python.
    pub(in crate::executor) fn method_of_object_of_c(
        &mut self,
        method: &Bound<'py, PyAny>,
        owner: &Bound<'py, PyAny>,
        name: &str,
        me: VarId,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        if self.is_made_array(me) {
            return self.method_of_array(method, name, me, args);
        }
        if let VarKind::Native(made) = self.look(me)?
            && made.native == Native::Made
        {
            return self.method_of_made(method, name, me, &made, args);
        }
        if let Some(called) = self.method_of_cache(owner, name, me, args)? {
            return Ok(Some(called));
        }
        if let Some(called) = self.method_of_context_variable(name, me, args)? {
            return Ok(Some(called));
        }
        match self.is_lock(owner) {
            true => self.method_of_lock(name, me, args),
            false => Ok(None),
        }
    }

    /// The same, of an instance of such a class from before the frame, by the name of the method; or of a pattern.
    pub(in crate::executor) fn method_of_instance_of_c(
        &mut self,
        me: VarId,
        name: &str,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        if let VarKind::Instance(InstanceVar { object: Some(_), part: None, .. }) = self.look(me)? {
            let class = self.class_of(me)?;
            if let Some(method) = self.class_lookup(&class, name)?.filter(type_facts::is_method_of_c)
                && let Some(called) = self.method_of_object_of_c(&method, &class, name, me, args)?
            {
                return Ok(Some(called));
            }
        }
        self.method_of_pattern(me, name, args)
    }

    fn method_of_made(
        &mut self,
        method: &Bound<'py, PyAny>,
        name: &str,
        me: VarId,
        made: &NativeVar,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        let class =
            self.objects.get(self.py, made.class).cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let Some(known) = known(&class) else { return Ok(None) };
        if let Some(lock) = locks::lock(&class) {
            let object = self.object_made(me, made)?;
            let Some(count) = locks::held(&object).and_then(|count| count.extract::<i64>().ok()) else {
                return Ok(None);
            };
            let result = match self.taking(lock, count, name, args)? {
                None => return Ok(None),
                Some(Taking::Taken) => self.changed_by(me, made, &class, "acquire", &[])?,
                Some(Taking::Released) => self.changed_by(me, made, &class, "release", &[])?,
                Some(Taking::Refused) => self.fold_bool(false)?,
                Some(Taking::Held(held)) => self.fold_bool(held)?,
            };
            return Ok(Some(Called::Value(result)));
        }
        if name == "__exit__" && known.changes.contains(&"close") {
            return self.changed_by(me, made, &class, "close", &[]).map(|result| Some(Called::Value(result)));
        }
        let (changes, asks) = (known.changes.contains(&name), known.asks.contains(&name));
        if !changes && !asks || !args.keywords.is_empty() || !self.are_constants(args)? {
            return Ok(None);
        }
        if made.positional.len() > 2 * STEPS {
            return Ok(None);
        }
        if changes {
            return self.changed_by(me, made, &class, name, &args.positional).map(|result| Some(Called::Value(result)));
        }
        let object = self.object_made(me, made)?;
        let given = self.virtual_var(TupleVar::new(args.positional.clone()));
        let mut all = vec![object.clone()];
        all.extend(self.plain_arguments(given)?);
        let all = PyTuple::new(self.py, all).map_err(|e| self.internal(&e))?;
        let result = method.call1(all).map_err(|e| self.would_raise(&e))?;
        let value = if result.is(&object) {
            me
        } else if result.get_type().is(&class) {
            self.object_with(&result, made.positional.clone(), made.keywords.clone())?
        } else {
            self.fold(&result)?
        };
        Ok(Some(Called::Value(value)))
    }

    /// Whether an object is a stream, which gives its lines.
    pub(in crate::executor) fn gives_lines(&mut self, made: &NativeVar) -> Result<bool, Stop> {
        let class = self.objects.get(self.py, made.class);
        Ok(class.cast::<PyType>().ok().and_then(known).is_some_and(|known| known.changes.contains(&"__next__")))
    }

    /// A stream that was closed refuses to be iterated.
    pub(in crate::executor) fn may_give_lines(&mut self, me: VarId, made: &NativeVar) -> Result<(), Stop> {
        let stream = self.object_made(me, made)?;
        stream.call_method0("__iter__").map(drop).map_err(|e| self.would_raise(&e))
    }

    /// `next(stream)`; `None`: it has come to its end.
    pub(in crate::executor) fn next_line(&mut self, me: VarId) -> Result<Option<VarId>, Stop> {
        let made = match self.look(me)? {
            VarKind::Native(made) if made.native == Native::Made && self.gives_lines(&made)? => made,
            _ => return Err(Stop::brk(Reason::UserCode, "__next__")),
        };
        let class =
            self.objects.get(self.py, made.class).cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let before = self.object_made(me, &made)?.call_method0("tell").map_err(|e| self.would_raise(&e))?;
        let object = self.object_made(me, &made)?;
        let line = object.call_method0("readline").map_err(|e| self.would_raise(&e))?;
        object.call_method1("seek", (before,)).map_err(|e| self.internal(&e))?;
        match line.is_truthy() {
            Ok(true) => self.changed_by(me, &made, &class, "__next__", &[]).map(Some),
            _ => Ok(None),
        }
    }

    /// A method that changes the object.
    fn changed_by(
        &mut self,
        me: VarId,
        made: &NativeVar,
        class: &Bound<'py, PyType>,
        name: &str,
        args: &[VarId],
    ) -> Result<VarId, Stop> {
        let object = self.object_made(me, made)?;
        let method = class.getattr(name).map_err(|e| self.internal(&e))?;
        let given = self.virtual_var(TupleVar::new(args.to_vec()));
        let mut all = vec![object.clone()];
        all.extend(self.plain_arguments(given)?);
        let all = PyTuple::new(self.py, all).map_err(|e| self.internal(&e))?;
        // What it has become is not known until it has.
        self.made.remove(&me);
        let result = method.call1(all).map_err(|e| self.would_raise(&e))?;
        let value = self.fold(&result)?;
        let method = self.pin(&method);
        let history: Rc<[VarId]> = made.positional.iter().copied().chain([method, given]).collect();
        if let VarKind::Native(native) = &mut self.var_mut(me).kind {
            native.positional = history.clone();
        }
        self.made.insert(me, (history, object));
        Ok(value)
    }

    /// An attribute of such an object.
    pub(in crate::executor) fn field_of_object(
        &mut self,
        me: VarId,
        made: &NativeVar,
        name: &str,
    ) -> Result<Option<VarId>, Stop> {
        let class =
            self.objects.get(self.py, made.class).cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        if !known(&class).is_some_and(|known| known.fields.contains(&name)) {
            return Ok(None);
        }
        let object = self.object_made(me, made)?;
        let value = object.getattr(name).map_err(|e| self.would_raise(&e))?;
        self.fold(&value).map(Some)
    }

    /// `print(.., file=stream)` of constants, into a stream of text that the capture made.
    pub(in crate::executor) fn print_to_object(
        &mut self,
        print: &Bound<'py, PyAny>,
        args: &Args,
    ) -> Result<Option<VarId>, Stop> {
        let Some((_, file)) = args.keywords.iter().find(|(name, _)| name == "file") else { return Ok(None) };
        let VarKind::Native(made) = self.look(*file)? else { return Ok(None) };
        if made.native != Native::Made {
            return Ok(None);
        }
        let class =
            self.objects.get(self.py, made.class).cast_into::<PyType>().map_err(|e| self.internal(&e.into()))?;
        let others = args.keywords.iter().filter(|(name, _)| name != "file").cloned().collect();
        let given = Args { positional: args.positional.clone(), keywords: others };
        if crate::cpython::facts::name_in_messages(&class) != "_io.StringIO" || !self.are_constants(&given)? {
            return Ok(None);
        }
        let (positional, keywords) = self.convert_arguments(&given, Self::require_plain)?;
        let keywords = keywords.unwrap_or_else(|| PyDict::new(self.py));
        let page = class.call1(("", "")).map_err(|e| self.internal(&e))?;
        keywords.set_item("file", &page).map_err(|e| self.internal(&e))?;
        print.call(positional, Some(&keywords)).map_err(|e| self.would_raise(&e))?;
        let text = page.call_method0("getvalue").map_err(|e| self.internal(&e))?;
        // One at the end of a text and one at the beginning of the next are one end of a line, where they are translated.
        if text.cast::<PyString>().is_ok_and(|text| text.to_string_lossy().contains('\r')) {
            return Ok(None);
        }
        let text = self.fold(&text)?;
        self.changed_by(*file, &made, &class, "write", &[text])?;
        self.fold_none().map(Some)
    }
}
