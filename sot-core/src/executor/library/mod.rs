//! Functions of C modules of the standard library: those that are pure over constants are folded, those that say something about the
//! process are asked by their path, and a method may be made by its class. Below: objects of C with a state of their own.

mod arrays;
mod caches;
mod json;
mod locks;
mod objects;
mod per_thread;
mod weak_references;

pub(super) use weak_references::upgraded;

use super::Executor;
use super::calls::name_of;
use crate::objects_of_c;
use crate::process;
use crate::stop::{Reason, Stop};
use crate::type_facts;
use crate::variables::*;
use pyo3::prelude::*;
use pyo3::types::*;
use sot_tracker::{Access, ObjectId};

/// Functions that are pure, where they are given constants alone.
const PURE: &[(&str, &str)] = &[
    ("_bisect", "bisect_left"),
    ("_bisect", "bisect_right"),
    ("_json", "encode_basestring"),
    ("_json", "encode_basestring_ascii"),
    ("_stat", "S_IMODE"),
    ("_stat", "S_ISDIR"),
    ("_stat", "S_ISLNK"),
    ("_stat", "S_ISREG"),
    ("_struct", "calcsize"),
    ("_struct", "pack"),
    ("_struct", "unpack"),
    ("_struct", "unpack_from"),
    ("binascii", "a2b_base64"),
    ("binascii", "b2a_base64"),
    ("binascii", "crc32"),
    ("binascii", "hexlify"),
    ("binascii", "unhexlify"),
    ("nt", "_path_normpath"),
    ("nt", "_path_splitroot"),
    ("nt", "_path_splitroot_ex"),
    ("nt", "fspath"),
    ("posix", "_path_normpath"),
    ("posix", "_path_splitroot"),
    ("posix", "_path_splitroot_ex"),
    ("posix", "fspath"),
    ("sys", "intern"),
    ("zlib", "adler32"),
    ("zlib", "crc32"),
];

impl<'py> Executor<'py> {
    /// A function of a C module; `None`: it is none of these.
    pub(in crate::executor) fn call_of_c_module(
        &mut self,
        callee: &Bound<'py, PyAny>,
        module: &str,
        name: &str,
        args: &Args,
    ) -> Result<Option<Called>, Stop> {
        if !callee.is_exact_instance_of::<PyCFunction>() {
            return Ok(None);
        }
        if PURE.contains(&(module, name)) && self.are_constants(args)? {
            return self.fold_call(callee, args).map(|result| Some(Called::Value(result)));
        }
        if objects_of_c::is_maker(module, name)
            && let Some(made) = self.make_object(callee, args)?
        {
            return Ok(Some(Called::Value(made)));
        }
        if let Some(entered) = self.enter_heap_or_bisect(module, name, args)? {
            return Ok(Some(entered));
        }
        let nothing = args.positional.is_empty() && args.keywords.is_empty();
        if !nothing {
            return Ok(None);
        }
        if let Some(said) = self.ask_clock(callee, module, name)? {
            return Ok(Some(Called::Value(said)));
        }
        if !process::is_asked(module, name) {
            return Ok(None);
        }
        // A tuple that is made for who asks: all of it is `None`, or there is an exception.
        let handled = matches!(name, "exc_info" | "exception");
        let question = process::question(callee, (name == "exc_info").then_some(1));
        let question = question.map_err(|e| self.internal(&e))?.into_bound(self.py);
        let answer = process::answer(&question).ok_or_else(|| Stop::brk(Reason::WouldRaise, name_of(callee)))?;
        // Who handles an exception is the caller of the frame, or else it is known.
        if handled && (self.handled().is_some() || !answer.is_none()) {
            return Ok(None);
        }
        let answer = self.answered_by_path(&question, &answer);
        if handled {
            self.constant_value(answer);
        }
        Ok(Some(Called::Value(match name {
            "exc_info" => self.virtual_var(TupleVar::new(vec![answer; 3])),
            _ => answer,
        })))
    }

    /// A dict is asked for a key and given it in one step, and so is an item found and taken, which no other thread comes between; the
    /// journal does it later. A break where another thread may have the container.
    pub(in crate::executor) fn no_thread_comes_between(&mut self, container: VarId) -> Result<(), Stop> {
        match self.is_sourced_container(container) {
            true => self.has_no_threads_beside(),
            false => Ok(()),
        }
    }

    /// The same of an iterator that the program advances by hand.
    pub(in crate::executor) fn look_to_advance(&mut self, iterator: VarId) -> Result<VarKind, Stop> {
        let kind = self.look(iterator)?;
        if let VarKind::Generator(generator) = &kind
            && generator.disguise() == Some("_token")
        {
            return Err(Stop::brk(Reason::WouldRaise, "next() of a token"));
        }
        if let VarKind::Iterator(IteratorVar { state: Iteration::Real { .. } }) = &kind
            && !self.frame().is_hidden()
        {
            self.has_no_threads_beside()?;
        }
        Ok(kind)
    }

    pub(in crate::executor) fn advance(&mut self, iterator: VarId) -> Result<Option<VarId>, Stop> {
        self.look_to_advance(iterator)?;
        self.next_item(iterator)
    }

    pub(in crate::executor) fn has_no_threads_beside(&mut self) -> Result<(), Stop> {
        if self.alone {
            return Ok(());
        }
        let question = process::is_alone(self.py).map_err(|e| self.internal(&e))?.into_bound(self.py);
        let alone = process::answer(&question).filter(|alone| alone.is_truthy().unwrap_or(false));
        let alone = alone.ok_or(Stop::brk(Reason::Mutation, "what is one step, and there are other threads"))?;
        let alone = self.answered_by_path(&question, &alone);
        self.constant_value(alone);
        self.alone = true;
        Ok(())
    }

    /// What the callers of the capture handle, where that is nothing: it would be the context of what is raised here.
    pub(in crate::executor) fn handled_by_callers(&mut self) -> Result<VarId, Stop> {
        let handled = || Stop::brk(Reason::OpaqueValue, "the exception that a caller handles");
        let sys = crate::cpython::module(self.py, "sys").and_then(|sys| sys.getattr("exc_info"));
        let question = sys.and_then(|exc_info| process::question(&exc_info, Some(1)));
        let question = question.map_err(|e| self.internal(&e))?.into_bound(self.py);
        let answer = process::answer(&question).filter(|answer| answer.is_none()).ok_or_else(handled)?;
        let answer = self.answered_by_path(&question, &answer);
        self.constant_value(answer);
        Ok(answer)
    }

    /// What a question is answered now, known by the path to it.
    pub(in crate::executor) fn answered_by_path(
        &mut self,
        question: &Bound<'py, PyAny>,
        answer: &Bound<'py, PyAny>,
    ) -> VarId {
        let question = self.objects.add(question);
        let base = self.constant_tracker(question);
        let at = self.trackers.step(base, Access::IterSource);
        self.wrap(answer, at)
    }

    /// Whether a class is one of C's records: of what is found of it, the items tell all.
    pub(in crate::executor) fn is_record_of_c(&self, class: ObjectId) -> bool {
        self.objects.get_ref(self.py, class).cast::<PyType>().is_ok_and(type_facts::is_record_of_c)
    }

    /// Whether both are lists, or both are tuples, of these very types.
    pub(in crate::executor) fn are_sequences(&mut self, left: VarId, right: VarId) -> Result<bool, Stop> {
        Ok(match (self.look(left)?, self.look(right)?) {
            (VarKind::List(left), VarKind::List(right)) => left.class.is_none() && right.class.is_none(),
            (VarKind::Tuple(left), VarKind::Tuple(right)) => left.class.is_none() && right.class.is_none(),
            _ => false,
        })
    }

    /// Whether arguments are constants, or lists and tuples of such: nothing that C code asks of them runs code.
    pub(in crate::executor) fn are_constants(&mut self, args: &Args) -> Result<bool, Stop> {
        let keywords = args.keywords.iter().map(|(_, value)| *value);
        let mut asked: Vec<VarId> = args.positional.iter().copied().chain(keywords).collect();
        let mut left = 1024;
        while let Some(value) = asked.pop() {
            left -= 1;
            match self.look(value)? {
                _ if left == 0 => return Ok(false),
                VarKind::Constant(_) if !self.is_scalar_of_numpy(value) => {}
                VarKind::Tuple(TupleVar { items, class: None }) => asked.extend(items.iter()),
                VarKind::List(ListVar { items, class: None, .. }) => asked.extend(items.iter()),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}
