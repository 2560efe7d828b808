//! Functions that look at the variables of their callers.
//!
//! A call that is not simulated may ask for the frames below it, and a frame of rewritten code has the right name and line, but not
//! the variables of the user's. Who asks for them says `f_locals` (or has the library say it), and how it comes to the frame (that
//! of a traceback shows what it has): in its own code, or in that of functions that it calls or is called by.
//!
//! What a call may come to is searched breadth first, from the operands of the instruction: functions, what containers, closures,
//! partials and defaults hold, and the names that code says, looked up in its globals, in its modules and classes, and in the
//! classes of what it is given. Nothing of it runs code of the program, and nothing of it is remembered but what code says: names
//! are bound anew. What comes with the interpreter or with a framework looks at variables only where it is told to.

use crate::captured::Captured;
use crate::code_unit::CodeUnit;
use crate::code_unit::words::{ANY, methods_of};
use crate::cpython::facts;
use crate::frame::Frame;
use crate::libraries::{comes_with_python, of_framework};
use crate::variables::{ClassVar, FunctionVar, GeneratorState, InstanceVar, VarId, VarKind};
use hashbrown::{HashMap, HashSet};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;
use sot_opcodes::Op;
use std::cell::OnceCell;
use std::sync::Arc;

/// So many functions are read: behind them nobody is expected to look.
const READ: usize = 96;
/// So many values are looked at on the way.
const VALUES: usize = 4096;
/// So many items of a container, and as many names' owners in one function.
const ITEMS: usize = 32;

/// So many names that were followed are guarded: to be bound to something else is to be asked again.
const BOUND: usize = 32;

/// A value in which names are looked up.
#[derive(Clone)]
enum Scope<'py> {
    Module(Bound<'py, PyModule>),
    Class(Bound<'py, PyType>),
    Instance(Bound<'py, PyAny>),
}

/// A function, or a frame from which the search sets out.
struct Node<'py> {
    is_root: bool,
    /// None of a root that runs one instruction, and of code that is nobody's business.
    unit: Option<Arc<CodeUnit>>,
    globals: Option<Bound<'py, PyDict>>,
    function: Option<Bound<'py, PyAny>>,
    scopes: Vec<Scope<'py>>,
    asks: bool,
    /// How far above its own the frames are that it comes to.
    finds: u32,
    calls: Vec<usize>,
}

struct Search<'a, 'py> {
    py: Python<'py>,
    captured: &'a Captured,
    nodes: Vec<Node<'py>>,
    known: HashMap<(usize, usize), usize>,
    held: HashSet<(usize, usize)>,
    values: usize,
    read: usize,
    climbing: OnceCell<Vec<Bound<'py, PyAny>>>,
    bound: Vec<Followed<'py>>,
    /// It sets out from frames, not from an instruction.
    of_frames: bool,
}

/// A global name that led to a function of the program: what is bound to it decided.
pub(crate) struct Followed<'py> {
    pub(crate) globals: Bound<'py, PyDict>,
    pub(crate) name: Bound<'py, PyString>,
    pub(crate) function: Bound<'py, PyAny>,
}

/// Whether the instruction that the innermost frame stands at comes to code that may look at the variables of its callers.
/// `dies`: what it does is over when something has died.
/// And the names that were followed.
pub(crate) fn is_looked_at<'py>(
    py: Python<'py>,
    captured: &Captured,
    operands: &[VarId],
    dies: bool,
) -> (bool, Vec<Followed<'py>>) {
    let Some(frame) = captured.frames.last() else { return (false, Vec::new()) };
    let Some(instruction) = frame.unit.code.instrs.get(frame.ip) else { return (false, Vec::new()) };
    let mut search = Search::new(py, captured, false);
    let root = search.root(None, None);
    for operand in operands {
        search.reach_var(root, *operand, 0);
    }
    let mut methods = methods_of(&instruction.op, true).to_vec();
    if dies {
        methods.push("__del__");
        frame.locals.iter().flatten().chain(&frame.stack).for_each(|var| search.reach_var(root, *var, 0));
    }
    let scopes = search.nodes[root].scopes.clone();
    for scope in &scopes {
        methods.iter().for_each(|name| search.look_up(root, scope, &PyString::intern(py, name)));
        if let Op::LoadAttr(name) | Op::LoadMethod(name) | Op::StoreAttr(name) | Op::DeleteAttr(name) = instruction.op {
            let name = &frame.unit.code.names[name.0 as usize];
            search.look_up_property(root, scope, &PyString::intern(py, name));
        }
    }
    search.run(&scopes);
    (search.verdict(root) > 0, search.bound)
}

/// Which of the frames name, or hold in their variables, a function that may look at their variables when it is called.
/// And the names in the code of the others that were followed.
pub(crate) fn frames_looked_at<'py>(py: Python<'py>, captured: &Captured) -> (Vec<bool>, Vec<Followed<'py>>) {
    let mut search = Search::new(py, captured, true);
    let frames = &captured.frames;
    let roots: Vec<Option<usize>> = frames.iter().map(|frame| search.root_of_frame(frame)).collect();
    search.run(&[]);
    // Those that a frame calls are called by who waits for it, too, one call further away.
    let mut above = 0_u32;
    let mut looked_at: Vec<bool> = Vec::with_capacity(frames.len());
    for root in roots.iter().rev() {
        let own = root.map_or(0, |root| search.verdict(root));
        above = if above == ANY { ANY } else { above.saturating_sub(1) }.max(own);
        looked_at.push(root.is_some() && above > 0);
    }
    looked_at.reverse();
    (looked_at, search.bound)
}

impl<'a, 'py> Search<'a, 'py> {
    fn new(py: Python<'py>, captured: &'a Captured, of_frames: bool) -> Self {
        let (nodes, known, held) = (Vec::new(), HashMap::new(), HashSet::new());
        Search {
            py,
            captured,
            nodes,
            known,
            held,
            values: 0,
            read: 0,
            climbing: OnceCell::new(),
            bound: Vec::new(),
            of_frames,
        }
    }

    fn root(&mut self, unit: Option<Arc<CodeUnit>>, globals: Option<Bound<'py, PyDict>>) -> usize {
        let (function, scopes, calls) = (None, Vec::new(), Vec::new());
        let node = Node { is_root: true, unit, globals, function, scopes, asks: false, finds: 0, calls };
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn root_of_frame(&mut self, frame: &Frame) -> Option<usize> {
        if frame.is_hidden() {
            return None;
        }
        let globals = self.captured.objects.get(self.py, frame.globals).cast_into().ok();
        // What a frame of the framework names is the framework's; what it holds need not be.
        let foreign = is_foreign_file(self.py, &frame.unit.file);
        let root = self.root((!foreign).then(|| frame.unit.clone()), globals);
        let held = frame.locals.iter().chain(&frame.cells).flatten().chain(&frame.stack);
        held.for_each(|var| self.reach_var(root, *var, 0));
        Some(root)
    }

    /// Read what was reached, breadth first. `given`: what any of it may have been given.
    fn run(&mut self, given: &[Scope<'py>]) {
        let mut next = 0;
        while next < self.nodes.len() && self.read < READ && self.values < VALUES {
            self.read_node(next, given);
            next += 1;
        }
    }

    fn read_node(&mut self, at: usize, given: &[Scope<'py>]) {
        let node = &self.nodes[at];
        if let Some(function) = node.function.clone() {
            self.read_parts(at, &function);
        }
        let node = &self.nodes[at];
        let Some(unit) = node.unit.clone() else { return };
        self.read += usize::from(!node.is_root);
        let words = unit.words(self.py);
        if let Some(globals) = self.nodes[at].globals.clone() {
            for name in &words.globals {
                let Some(value) = value_in(&globals, name.bind(self.py)) else {
                    // Of the builtins one lets others look.
                    if name.bind(self.py) == "breakpoint"
                        && let Some(builtin) = facts::imported_value(self.py, "builtins", "breakpoint")
                    {
                        self.reach(at, &builtin, 0);
                    }
                    continue;
                };
                self.reach(at, &value, 0);
                // What others are called by the functions that a frame names is asked when it comes to that.
                let decides = self.nodes[at].is_root || !self.of_frames;
                let known = self.known.get(&(value.as_ptr() as usize, usize::MAX));
                if decides && self.bound.len() < BOUND && known.is_some_and(|known| self.nodes[*known].unit.is_some()) {
                    let name = name.bind(self.py).clone();
                    self.bound.push(Followed { globals: globals.clone(), name, function: value });
                }
            }
        }
        for name in &words.imports {
            if let Some(module) = facts::imported(self.py, name) {
                self.reach(at, &module, 0);
            }
        }
        // Looking names up in modules and objects finds more of them.
        let mut looked_in = 0;
        let given = given.iter().cloned();
        let mut scopes: Vec<Scope<'py>> = given.collect();
        while looked_in < ITEMS {
            let found = std::mem::take(&mut self.nodes[at].scopes);
            scopes.extend(found);
            let Some(scope) = scopes.get(looked_in).cloned() else { break };
            looked_in += 1;
            for name in &words.attributes {
                self.look_up(at, &scope, name.bind(self.py));
            }
        }
    }

    /// What a function holds: closures and defaults, whosoever code it is.
    fn read_parts(&mut self, at: usize, function: &Bound<'py, PyAny>) {
        let Some(parts) = facts::func_parts(function) else { return };
        let (closure, defaults) = (parts.closure.map(|c| c.to_owned()), parts.defaults.map(|d| d.to_owned()));
        let kwdefaults = parts.kwdefaults.map(|d| d.to_owned());
        for cell in closure.and_then(|closure| closure.cast_into::<PyTuple>().ok()).iter().flatten() {
            if let Some(content) = facts::cell_contents(&cell) {
                self.reach(at, &content, 0);
            }
        }
        for held in [defaults, kwdefaults].into_iter().flatten() {
            self.reach(at, &held, 0);
        }
    }

    fn look_up(&mut self, at: usize, scope: &Scope<'py>, name: &Bound<'py, PyString>) {
        self.values += 1;
        let found = match scope {
            Scope::Module(module) => facts::module_dict(module).and_then(|names| value_in(&names, name)),
            Scope::Class(class) => facts::type_lookup(class, name),
            Scope::Instance(instance) => facts::type_lookup(&instance.get_type(), name).or_else(|| {
                let dict = facts::existing_dict(instance).filter(|_| self.nodes[at].unit.is_some())?;
                value_in(&dict, name)
            }),
        };
        let Some(found) = found else { return };
        let before = self.nodes.len();
        self.reach(at, &found, 0);
        // What a method calls is called of the same receiver.
        if let (true, Scope::Class(_) | Scope::Instance(_)) = (self.nodes.len() > before, scope) {
            self.nodes[before].scopes.push(scope.clone());
        }
    }

    /// The getter and the setter behind an attribute: a plain method is not called by being read.
    fn look_up_property(&mut self, at: usize, scope: &Scope<'py>, name: &Bound<'py, PyString>) {
        let class = match scope {
            Scope::Instance(instance) => instance.get_type(),
            Scope::Class(class) => class.get_type(),
            Scope::Module(_) => return,
        };
        let found = facts::type_lookup(&class, name).filter(|found| !facts::is_function(found));
        let Some(found) = found else { return };
        let class = found.get_type();
        if let Some(get) = facts::type_lookup(&class, pyo3::intern!(self.py, "__get__")) {
            self.reach(at, &get, 0);
        }
        self.reach(at, &found, 0);
    }

    /// A variable of the capture: what it was before, and what the simulation has made of it.
    fn reach_var(&mut self, from: usize, var: VarId, nesting: usize) {
        let new = self.held.insert((from, var.0 as usize));
        if !new || nesting > 3 || self.values >= VALUES {
            return;
        }
        self.values += 1;
        let (captured, py) = (self.captured, self.py);
        match &captured.var(var).kind {
            VarKind::Constant(_) | VarKind::Tensor(_) | VarKind::Null(_) | VarKind::Previous(_) => return,
            VarKind::Function(FunctionVar::Object(object)) => {
                return self.reach(from, captured.objects.get_ref(py, *object), nesting);
            }
            VarKind::Function(FunctionVar::Made(made)) => {
                let globals = captured.objects.get(py, made.globals).cast_into().ok();
                if let Some(node) =
                    self.add((made.code.0 as usize, var.0 as usize), from, Some(made.unit.clone()), globals)
                {
                    captured.parts(var).iter().for_each(|part| self.reach_var(node, *part, nesting + 1));
                }
                return;
            }
            VarKind::Generator(generator) => {
                let globals = match &generator.state {
                    GeneratorState::New(frame) | GeneratorState::Suspended(frame) => {
                        captured.objects.get(py, frame.globals).cast_into().ok()
                    }
                    _ => None,
                };
                let key = (generator.unit.address(), var.0 as usize);
                if let Some(node) = self.add(key, from, Some(generator.unit.clone()), globals) {
                    captured.parts(var).iter().for_each(|part| self.reach_var(node, *part, nesting + 1));
                }
                return;
            }
            VarKind::Class(ClassVar { object, .. }) => self.reach(from, captured.objects.get_ref(py, *object), nesting),
            VarKind::Instance(InstanceVar { class, object: None, .. }) => {
                // Its class answers for it.
                if let Ok(class) = captured.objects.get_ref(py, *class).cast::<PyType>() {
                    self.reach_class(from, class, &["__call__"]);
                }
            }
            _ => {}
        }
        if let Some(object) = captured.known_object(var) {
            self.reach(from, captured.objects.get_ref(py, object), nesting);
        }
        let parts = captured.parts(var);
        parts.iter().take(ITEMS).for_each(|part| self.reach_var(from, *part, nesting + 1));
    }

    /// A class in which names are looked up, and whose methods of these names are called with it.
    fn reach_class(&mut self, from: usize, class: &Bound<'py, PyType>, called: &[&str]) {
        if !facts::is_heap_type(class) || !self.held.insert((from, class.as_ptr() as usize)) {
            return;
        }
        let scope = Scope::Class(class.clone());
        called.iter().for_each(|name| self.look_up(from, &scope, &PyString::intern(self.py, name)));
        self.nodes[from].scopes.push(scope);
    }

    /// A value that a function has in hand.
    fn reach(&mut self, from: usize, value: &Bound<'py, PyAny>, nesting: usize) {
        self.values += 1;
        if self.values >= VALUES || nesting > 3 {
            return;
        }
        if facts::is_function(value) {
            return self.reach_function(from, value);
        }
        let class = value.get_type();
        if let Ok(class) = value.cast::<PyType>() {
            self.reach_class(from, class, &["__new__", "__init__"]);
        } else if let Some(wrapper) = wrappers(self.py).iter().find(|wrapper| wrapper.class.bind(self.py).is(&class)) {
            for part in wrapper.parts {
                let name = PyString::intern(self.py, part);
                let found = match facts::field(value, &name) {
                    facts::Field::Value(found) => Some(found),
                    _ if wrapper.in_dict => facts::existing_dict(value).and_then(|dict| value_in(&dict, &name)),
                    _ => None,
                };
                let Some(found) = found else { continue };
                self.reach(from, &found, nesting + 1);
            }
        } else if facts::is_heap_type(&class) {
            if self.held.insert((from, value.as_ptr() as usize)) {
                let scope = Scope::Instance(value.clone());
                self.look_up(from, &scope, pyo3::intern!(self.py, "__call__"));
                self.nodes[from].scopes.push(scope);
            }
        } else if let Ok(module) = value.cast::<PyModule>() {
            if self.held.insert((from, value.as_ptr() as usize)) {
                self.nodes[from].scopes.push(Scope::Module(module.clone()));
            }
        } else if let Ok(items) = value.cast_exact::<PyTuple>() {
            items.iter().take(ITEMS).for_each(|item| self.reach(from, &item, nesting + 1));
        } else if let Ok(items) = value.cast_exact::<PyList>() {
            items.iter().take(ITEMS).for_each(|item| self.reach(from, &item, nesting + 1));
        } else if let Ok(items) = value.cast_exact::<PyDict>() {
            // Whoever has globals has the builtins, and calls none of them by that.
            let builtins = facts::imported(self.py, "builtins").and_then(|module| facts::module_dict(&module));
            if builtins.is_some_and(|builtins| builtins.is(items)) {
                return;
            }
            // Reading makes objects, and so may have the collector change the dict.
            let items: Vec<_> = items.iter().take(ITEMS).map(|(_, item)| item).collect();
            items.iter().for_each(|item| self.reach(from, item, nesting + 1));
        } else if value.is_exact_instance_of::<PyCFunction>() {
            self.note_of_library(from, value);
        }
    }

    /// What a function of the library does to who calls it.
    fn note_of_library(&mut self, from: usize, function: &Bound<'py, PyAny>) {
        let looks = self.looks(function);
        self.nodes[from].asks |= looks;
        if looks || self.climbs(function) {
            self.nodes[from].finds = ANY;
        }
    }

    /// Whether a function of the library comes to the frames of who calls it.
    fn climbs(&self, function: &Bound<'py, PyAny>) -> bool {
        const CLIMBING: [(&str, &str); 5] = [
            ("sys", "_getframe"),
            ("sys", "_current_frames"),
            ("inspect", "currentframe"),
            ("inspect", "stack"),
            ("traceback", "walk_stack"),
        ];
        let of_library = |(module, name): &(&str, &str)| facts::imported_value(self.py, module, name);
        let climbing = self.climbing.get_or_init(|| CLIMBING.iter().filter_map(of_library).collect());
        climbing.iter().any(|known| known.is(function))
    }

    /// Whether a function of the library lets somebody look at the variables of who calls it: those of debuggers.
    fn looks(&self, function: &Bound<'py, PyAny>) -> bool {
        const LOOKING: [(&str, &str); 5] = [
            ("builtins", "breakpoint"),
            ("sys", "breakpointhook"),
            ("pdb", "set_trace"),
            ("bdb", "set_trace"),
            ("ipdb", "set_trace"),
        ];
        const METHODS: [(&str, &str); 2] = [("pdb", "Pdb"), ("bdb", "Bdb")];
        let of_library = |(module, name): &(&str, &str)| facts::imported_value(self.py, module, name);
        let of_class = |class: &(&str, &str)| {
            let class = of_library(class)?.cast_into::<PyType>().ok()?;
            facts::type_lookup(&class, pyo3::intern!(self.py, "set_trace"))
        };
        let known = LOOKING.iter().filter_map(of_library).chain(METHODS.iter().filter_map(of_class));
        known.into_iter().any(|known| known.is(function))
    }

    fn reach_function(&mut self, from: usize, function: &Bound<'py, PyAny>) {
        let Some(parts) = facts::func_parts(function) else { return };
        let (code, globals) = (parts.code.to_owned(), parts.globals.to_owned());
        let Ok(code) = code.cast::<PyCode>() else { return };
        if let Some(known) = self.known.get(&(function.as_ptr() as usize, usize::MAX)) {
            self.nodes[from].calls.push(*known);
            return;
        }
        let foreign = is_foreign(code);
        if foreign {
            self.note_of_library(from, function);
        }
        // What others have wrapped is still the program's.
        if foreign && parts.closure.is_none() {
            return;
        }
        let unit = if foreign { None } else { CodeUnit::of(code.as_any()).ok() };
        let node = self.add((function.as_ptr() as usize, usize::MAX), from, unit, globals.cast_into().ok());
        if let Some(node) = node {
            self.nodes[node].function = Some(function.clone());
        }
    }

    /// A function that is called from another. `None`: it was there before.
    fn add(
        &mut self,
        key: (usize, usize),
        from: usize,
        unit: Option<Arc<CodeUnit>>,
        globals: Option<Bound<'py, PyDict>>,
    ) -> Option<usize> {
        if let Some(known) = self.known.get(&key) {
            self.nodes[from].calls.push(*known);
            return None;
        }
        let (asks, finds) = unit.as_ref().map_or((false, 0), |unit| {
            let words = unit.words(self.py);
            (words.asks, words.finds)
        });
        let at = self.nodes.len();
        let (function, scopes, calls) = (None, Vec::new(), Vec::new());
        self.nodes.push(Node { is_root: false, unit, globals, function, scopes, asks, finds, calls });
        self.nodes[from].calls.push(at);
        self.known.insert(key, at);
        Some(at)
    }

    /// How many frames up the variables are, at most, that what a root reaches looks at: 1 for the frame itself, 0 for none.
    fn verdict(&self, root: usize) -> u32 {
        let nodes = &self.nodes;
        if !nodes.iter().any(|node| node.asks) || !nodes.iter().any(|node| node.finds > 0) {
            return 0;
        }
        // How many calls lie between each of them and the frame, at least.
        let mut calls: HashMap<usize, u32> = HashMap::from_iter([(root, 0)]);
        let mut reached = vec![root];
        let mut next = 0;
        while let Some(at) = reached.get(next).copied() {
            next += 1;
            let of_callees = if at == root { 0 } else { calls[&at] + 1 };
            for callee in &nodes[at].calls {
                calls.entry(*callee).or_insert_with(|| {
                    reached.push(*callee);
                    of_callees
                });
            }
        }
        let height = |at: usize| match nodes[at].finds {
            ANY => ANY,
            finds => finds.saturating_sub(calls[&at]),
        };
        // What each of them comes to by all that it calls.
        let mut whole: HashMap<usize, (bool, u32)> =
            reached.iter().map(|at| (*at, (nodes[*at].asks, height(*at)))).collect();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for at in reached.iter().rev() {
                let joined = nodes[*at].calls.iter().fold(whole[at], |(asks, height), callee| {
                    let (more, higher) = whole[callee];
                    (asks || more, height.max(higher))
                });
                changed |= whole.insert(*at, joined) != Some(joined);
            }
        }
        // A frame that one function finds is asked by itself, by who has called it, by whom it calls, or by one that is called
        // beside it: that others reach both is no sign of it.
        let looks = |at: usize| {
            let node = &nodes[at];
            let beside = node.calls.iter().map(|callee| height(*callee)).max().unwrap_or(0);
            let found = if node.asks { whole[&at].1 } else { 0 };
            let handed_on = if whole[&at].0 { height(at) } else { 0 };
            let both = if node.calls.iter().any(|callee| nodes[*callee].asks) { beside } else { 0 };
            found.max(handed_on).max(both)
        };
        reached.iter().map(|at| looks(*at)).max().unwrap_or(0)
    }
}

/// What holds a function, and where.
struct Wrapper {
    class: Py<PyAny>,
    parts: &'static [&'static str],
    in_dict: bool,
}

/// Classes of the library whose values stand for functions.
fn wrappers(py: Python<'_>) -> &'static [Wrapper] {
    static WRAPPERS: PyOnceLock<Vec<Wrapper>> = PyOnceLock::new();
    const CLASSES: [(&str, &str, &[&str], bool); 8] = [
        ("types", "MethodType", &["__func__", "__self__"], false),
        ("builtins", "property", &["fget", "fset", "fdel"], false),
        ("builtins", "staticmethod", &["__func__"], false),
        ("builtins", "classmethod", &["__func__"], false),
        ("functools", "partial", &["func", "args", "keywords"], false),
        ("functools", "partialmethod", &["func", "args", "keywords"], true),
        ("functools", "cached_property", &["func"], true),
        ("functools", "_lru_cache_wrapper", &["__wrapped__"], true),
    ];
    WRAPPERS.get_or_init(py, || {
        let found = |(module, name, parts, in_dict): &(&str, &str, &'static [&'static str], bool)| {
            let class = crate::cpython::module(py, module).and_then(|module| module.getattr(*name)).ok()?;
            Some(Wrapper { class: class.unbind(), parts, in_dict: *in_dict })
        };
        CLASSES.iter().filter_map(found).collect()
    })
}

/// Its code is nobody's who looks at variables unasked.
fn is_foreign(code: &Bound<'_, PyCode>) -> bool {
    let py = code.py();
    let file = code.getattr(pyo3::intern!(py, "co_filename")).ok().and_then(|file| file.cast_into::<PyString>().ok());
    is_foreign_file(py, file.as_ref().and_then(|file| file.to_str().ok()).unwrap_or_default())
}

fn is_foreign_file(py: Python<'_>, file: &str) -> bool {
    comes_with_python(py, file) || of_framework(py, file)
}

/// The value of a name, without asking a key of the program's whether it is equal to it.
fn value_in<'py>(dict: &Bound<'py, PyDict>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    match facts::holds_names_alone(dict) {
        true => dict.get_item(name).ok().flatten(),
        false => facts::value_of_name(dict, name.to_str().ok()?),
    }
}
