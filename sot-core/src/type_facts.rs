//! What exact builtin type an object has, for types that pyo3 has no name for.

use crate::cpython::facts;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::*;

struct Types {
    cell: Py<PyType>,
    method: Py<PyType>,
    property: Py<PyType>,
    ordered_dict: Py<PyType>,
    default_dict: Py<PyType>,
    abc_meta: Py<PyType>,
    namespace: Py<PyType>,
    descriptors: Vec<(Py<PyType>, Descriptor)>,
    /// `object.__class__`, `object.__eq__`.
    object_class: Py<PyAny>,
    object_eq: Py<PyAny>,
    /// Gives the dict of a class without asking its metaclass.
    type_dict: Py<PyAny>,
}

/// What a raw class attribute is, as far as binding it goes. By exact type: a subclass may bind as it likes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Descriptor {
    Function,
    StaticMethod,
    ClassMethod,
    /// A method of a type written in C.
    Method,
    /// A special method of a type written in C.
    Wrapper,
    /// A class method of a type written in C.
    CClassMethod,
    /// A C function: does not bind.
    BuiltinFunction,
    Property,
    /// A slot of `__slots__`, or a field of a C struct.
    Member,
    GetSet,
    /// A field of a named tuple.
    TupleGetter,
    /// Not a descriptor: found as it is.
    Plain,
    /// Some other object with a `__get__`.
    Other,
}

fn types(py: Python<'_>) -> &Types {
    static TYPES: PyOnceLock<Types> = PyOnceLock::new();
    TYPES.get_or_init(py, || {
        let found = |module: &str, name: &str| crate::cpython::module(py, module).and_then(|m| m.getattr(name));
        let named = |module: &str, name: &str| -> Py<PyType> {
            let ty = found(module, name).expect("a standard module");
            ty.cast_into::<PyType>().expect("a type").unbind()
        };
        let of = |name: &str| named("types", name);
        let object_type = py.get_type::<PyAny>();
        let raw = |ty: &Bound<'_, PyType>, name: &str| {
            facts::type_lookup(ty, &PyString::intern(py, name)).expect("every class has it").unbind()
        };
        let mut descriptors = vec![
            (of("FunctionType"), Descriptor::Function),
            (named("builtins", "staticmethod"), Descriptor::StaticMethod),
            (named("builtins", "classmethod"), Descriptor::ClassMethod),
            (of("MethodDescriptorType"), Descriptor::Method),
            (of("WrapperDescriptorType"), Descriptor::Wrapper),
            (of("ClassMethodDescriptorType"), Descriptor::CClassMethod),
            (of("BuiltinFunctionType"), Descriptor::BuiltinFunction),
            (named("builtins", "property"), Descriptor::Property),
            (of("MemberDescriptorType"), Descriptor::Member),
            (of("GetSetDescriptorType"), Descriptor::GetSet),
        ];
        if let Ok(getter) = found("_collections", "_tuplegetter")
            && let Ok(getter) = getter.cast_into::<PyType>()
        {
            descriptors.push((getter.unbind(), Descriptor::TupleGetter));
        }
        Types {
            cell: of("CellType"),
            method: of("MethodType"),
            property: named("builtins", "property"),
            ordered_dict: named("collections", "OrderedDict"),
            default_dict: named("collections", "defaultdict"),
            abc_meta: named("abc", "ABCMeta"),
            namespace: of("SimpleNamespace"),
            descriptors,
            object_class: raw(&object_type, "__class__"),
            object_eq: raw(&object_type, "__eq__"),
            type_dict: raw(&py.get_type::<PyType>(), "__dict__"),
        }
    })
}

pub fn is_exact_cell(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().is(&types(object.py()).cell)
}

/// As many new cells as a closure has.
pub fn empty_cells<'py>(closure: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = closure.py();
    let cells = (0..closure.len()?).map(|_| types(py).cell.bind(py).call0()).collect::<PyResult<Vec<_>>>()?;
    Ok(PyTuple::new(py, cells)?.into_any())
}

/// The slice of these parts.
pub fn slice_of<'py>(py: Python<'py>, parts: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    py.get_type::<PySlice>().call1(PyTuple::new(py, parts)?)
}

pub fn is_exact_method(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().is(&types(object.py()).method)
}

/// Classes of dicts that are written in C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DictOfC {
    Ordered,
    Default,
}

pub fn dict_of_c(class: &Bound<'_, PyType>) -> Option<DictOfC> {
    let types = types(class.py());
    match class {
        class if class.is(&types.ordered_dict) => Some(DictOfC::Ordered),
        class if class.is(&types.default_dict) => Some(DictOfC::Default),
        _ => None,
    }
}

/// Whether values of a class are ordered dicts, which have an order of their own.
pub fn is_ordered_dict(class: &Bound<'_, PyType>) -> bool {
    let ordered = &types(class.py()).ordered_dict;
    class.is(ordered) || facts::mro(class).iter().any(|base| base.is(ordered))
}

pub fn is_abc_meta(class: &Bound<'_, PyAny>) -> bool {
    class.is(types(class.py()).abc_meta.bind(class.py()))
}

pub fn property(py: Python<'_>) -> Bound<'_, PyType> {
    types(py).property.bind(py).clone()
}

pub fn extends_property(object: &Bound<'_, PyAny>) -> bool {
    facts::mro(&object.get_type()).iter().any(|base| base.is(&types(object.py()).property))
}

pub fn is_exact_property(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().is(&types(object.py()).property)
}

/// The names that a class and its bases have, each once; `None`: some keys are others.
pub fn names(class: &Bound<'_, PyType>) -> Option<Vec<String>> {
    let dict_of = types(class.py()).type_dict.bind(class.py());
    let mut names = std::collections::BTreeSet::new();
    for base in facts::mro(class).iter() {
        for key in dict_of.call_method1("__get__", (base,)).ok()?.try_iter().ok()? {
            let name = key.ok()?.cast_into_exact::<PyString>().ok()?.to_str().ok()?.to_owned();
            names.insert(name);
        }
    }
    (!names.iter().any(|name| name.contains('\0'))).then(|| names.into_iter().collect())
}

/// How a raw class attribute binds.
pub fn descriptor(object: &Bound<'_, PyAny>) -> Descriptor {
    let ty = object.get_type();
    match types(object.py()).descriptors.iter().find(|(known, _)| ty.is(known)) {
        Some((_, kind)) => *kind,
        None if has(&ty, "__get__") => Descriptor::Other,
        None => Descriptor::Plain,
    }
}

/// The function that an `instancemethod` of C binds as a function of Python binds, in a class that C has made.
pub fn function_of_instance_method<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let ty = object.get_type();
    let named = |attribute: PyResult<Bound<'_, PyString>>, name: &str| attribute.is_ok_and(|own| own == name);
    let is_one = !facts::is_heap_type(&ty) && named(ty.name(), "instancemethod") && named(ty.module(), "builtins");
    is_one.then(|| object.getattr("__func__").ok()).flatten()
}

/// Whether what C has made for the instances of one class is found in another class, or a slot under another name: reading it off an
/// instance raises, or reads something else.
pub fn is_borrowed(found: &Bound<'_, PyAny>, ty: &Bound<'_, PyType>, name: &Bound<'_, PyString>) -> bool {
    let kind = descriptor(found);
    if !matches!(kind, Descriptor::Member | Descriptor::GetSet | Descriptor::Method | Descriptor::Wrapper) {
        return false;
    }
    let is_of = |owner: Bound<'_, PyAny>| facts::mro(ty).iter().any(|class| class.is(&owner));
    let is_called_so = || found.getattr("__name__").is_ok_and(|own| own.eq(name).unwrap_or(false));
    !found.getattr("__objclass__").is_ok_and(is_of) || kind == Descriptor::Member && !is_called_so()
}

/// Whether the MRO of a class has a name. Runs no code of a metaclass.
pub fn has(ty: &Bound<'_, PyType>, name: &str) -> bool {
    raw(ty, name).is_some()
}

/// What reading the items of a tuple goes by.
pub const OF_TUPLES: &[&str] = &[
    "__getitem__",
    "__len__",
    "__iter__",
    "__contains__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__hash__",
    "__add__",
    "__radd__",
    "__mul__",
    "__rmul__",
    "__bool__",
    "__reversed__",
    "__getattribute__",
    "__getattr__",
    "__class__",
    "__index__",
    "__format__",
    "__str__",
];

/// Whether a class is a named tuple whose items are read as those of any tuple.
pub fn is_named_tuple(ty: &Bound<'_, PyType>) -> bool {
    let py = ty.py();
    let tuple = py.get_type::<PyTuple>();
    ty.get_type().is(py.get_type::<PyType>())
        && facts::mro(ty).iter().any(|c| c.is(&tuple))
        && (raw(ty, "_fields").is_some_and(|fields| fields.is_exact_instance_of::<PyTuple>()) || is_record_of_c(ty))
        && agree(ty, &tuple, OF_TUPLES)
}

/// Whether a type is one of C's records (`sys.version_info`), all of whose fields are items.
pub fn is_record_of_c(ty: &Bound<'_, PyType>) -> bool {
    let fields = |name: &str| raw(ty, name).and_then(|count| count.extract::<usize>().ok());
    !facts::is_written_class(ty) && fields("n_sequence_fields").is_some_and(|items| fields("n_fields") == Some(items))
}

/// The place of a field that a descriptor of a named tuple reads.
pub fn place_of_field(getter: &Bound<'_, PyAny>) -> Option<usize> {
    if descriptor(getter) != Descriptor::TupleGetter {
        return None;
    }
    getter.call_method0("__reduce__").ok()?.get_item(1).ok()?.get_item(0).ok()?.extract().ok()
}

/// Whether a `__new__` is the one that `collections.namedtuple` writes.
pub fn is_generated_new(new: &Bound<'_, PyAny>) -> bool {
    // `typing.NamedTuple` and a subclass leave it as a static method.
    let new = match descriptor(new) {
        Descriptor::StaticMethod => new.getattr("__func__").ok(),
        _ => Some(new.clone()),
    };
    let Some(new) = new else { return false };
    let Some(parts) = facts::func_parts(&new) else { return false };
    // 3.8 leaves the function itself among its names.
    parts.globals.get_item("_tuple_new").is_ok() && parts.globals.len().is_ok_and(|n| n <= 4)
}

/// Flags of a class: what `match` takes for a sequence or a mapping, and what a lone pattern of a class stands for.
pub const SEQUENCE: u64 = 1 << 5;
pub const MAPPING: u64 = 1 << 6;
pub const MATCH_SELF: u64 = 1 << 22;

pub fn has_flag(ty: &Bound<'_, PyType>, flag: u64) -> bool {
    let flags = raw(&ty.py().get_type::<PyType>(), "__flags__").and_then(|f| f.call_method1("__get__", (ty,)).ok());
    flags.and_then(|flags| flags.extract::<u64>().ok()).is_some_and(|flags| flags & flag != 0)
}

/// Whether instances of a class have a dict.
pub fn has_dict(ty: &Bound<'_, PyType>) -> bool {
    let py = ty.py();
    let offset = raw(&py.get_type::<PyType>(), "__dictoffset__").and_then(|d| d.call_method1("__get__", (ty,)).ok());
    offset.and_then(|offset| offset.extract::<isize>().ok()).is_some_and(|offset| offset != 0)
}

/// The raw attribute on the MRO of a class.
pub fn raw<'py>(ty: &Bound<'py, PyType>, name: &str) -> Option<Bound<'py, PyAny>> {
    facts::type_lookup(ty, &PyString::intern(ty.py(), name))
}

/// Whether a `__getattribute__` of the program answers for attributes of instances.
pub fn asks_the_program(ty: &Bound<'_, PyType>) -> bool {
    facts::getattr_kind(ty) == facts::GetattrKind::Custom
        && raw(ty, "__getattribute__").is_some_and(|own| facts::is_function(&own))
}

/// Whether an instance's `__dict__` is the dict of its attributes: the class may have another meaning for the name, as a
/// property or a descriptor that belongs to another class.
pub fn reads_own_dict(ty: &Bound<'_, PyType>) -> bool {
    let found = raw(ty, "__dict__").filter(|found| matches!(descriptor(found), Descriptor::GetSet));
    let owner = found.and_then(|found| found.getattr("__objclass__").ok()?.cast_into::<PyType>().ok());
    owner.is_some_and(|owner| facts::mro(ty).iter().any(|class| class.is(&owner)))
}

/// The raw attribute in the dict of this very class.
pub fn own<'py>(ty: &Bound<'py, PyAny>, name: &str) -> Option<Bound<'py, PyAny>> {
    if let Some(dict) = facts::class_dict(ty) {
        return facts::value_of_name(&dict, name);
    }
    let dict = types(ty.py()).type_dict.bind(ty.py()).call_method1("__get__", (ty,)).ok()?;
    dict.get_item(name).ok()
}

/// Whether two classes agree on all of these names.
pub fn agree(a: &Bound<'_, PyType>, b: &Bound<'_, PyType>, names: &[&str]) -> bool {
    names.iter().all(|name| match (raw(a, name), raw(b, name)) {
        (Some(a), Some(b)) => a.is(&b),
        (None, None) => true,
        _ => false,
    })
}

/// Whether a `__setattr__` or `__delattr__` is that of `object`, or one of a class of C that is no other.
pub fn writes_as_object(method: &Bound<'_, PyAny>) -> bool {
    descriptor(method) == Descriptor::Wrapper
        && method
            .getattr("__objclass__")
            .ok()
            .and_then(|class| class.cast_into::<PyType>().ok())
            .is_some_and(|class| facts::writes_attributes_by_default(&class))
}

/// Whether `object.name = value` is what it is for `object`.
pub fn sets_attributes_as_object(ty: &Bound<'_, PyType>) -> bool {
    raw(ty, "__setattr__").is_some_and(|own| writes_as_object(&own))
}

/// Whether `del object.name` is what it is for `object`.
pub fn deletes_attributes_as_object(ty: &Bound<'_, PyType>) -> bool {
    raw(ty, "__delattr__").is_some_and(|own| writes_as_object(&own))
}

/// Whether a class attribute is a slot that `__slots__` made.
pub fn is_slot(attribute: &Bound<'_, PyAny>) -> bool {
    descriptor(attribute) == Descriptor::Member
        && attribute.getattr("__objclass__").is_ok_and(|class| own(&class, "__slots__").is_some())
}

/// Whether `value.__class__` is `type(value)` for values of a class, and asking runs no code of the program. A weak proxy tells
/// the class of what it stands for.
pub fn tells_its_class(ty: &Bound<'_, PyType>) -> bool {
    let asked = raw(ty, "__getattribute__").is_some_and(|found| descriptor(&found) == Descriptor::Wrapper);
    let by_look_up = base_of_c(ty).is_some_and(|base| {
        // A method looks at its own class first.
        let is_method = base.name().is_ok_and(|name| name == "method");
        facts::getattr_kind(&base) != facts::GetattrKind::Custom || is_method
    });
    asked && by_look_up && raw(ty, "__class__").is_some_and(|found| found.is(&types(ty.py()).object_class))
}

/// Whether a class extends none of C but `object`.
pub(super) fn is_of_python_alone(ty: &Bound<'_, PyType>) -> bool {
    let object = ty.py().get_type::<PyAny>();
    facts::mro(ty).iter().all(|base| base.is(&object) || base.cast::<PyType>().is_ok_and(facts::is_heap_type))
}

/// The dict of the first class of the MRO that has an attribute.
pub fn dict_that_has<'py>(class: &Bound<'py, PyType>, name: &str) -> Option<Bound<'py, PyDict>> {
    let bases = facts::mro(class);
    bases.iter().filter_map(|base| facts::class_dict(&base)).find(|dict| dict.contains(name).unwrap_or(false))
}

/// `types.SimpleNamespace`
pub fn namespace(py: Python<'_>) -> Bound<'_, PyType> {
    types(py).namespace.bind(py).clone()
}

/// Whether instances of a class are namespaces.
pub fn is_namespace(class: &Bound<'_, PyType>) -> bool {
    let namespace = namespace(class.py());
    facts::mro(class).iter().any(|base| base.is(&namespace))
}

/// Whose `__new__` makes an instance of a class whose whole state is attributes: `object`, or `SimpleNamespace`. `None`: it has more.
pub fn maker_of_instances<'py>(ty: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
    let (object, namespace) = (ty.py().get_type::<PyAny>(), namespace(ty.py()));
    let mut maker = object.clone();
    for base in facts::mro(ty).iter() {
        if base.is(&namespace) {
            maker = namespace.clone();
        } else if !base.is(&object) && !base.cast::<PyType>().is_ok_and(facts::is_heap_type) {
            return None;
        }
    }
    Some(maker)
}

/// Whether a class is one of `enum`'s.
pub fn is_enumeration(class: &Bound<'_, PyAny>) -> bool {
    let meta = class.get_type();
    meta.name().is_ok_and(|name| matches!(name.to_string().as_str(), "EnumMeta" | "EnumType"))
        && meta.getattr("__module__").is_ok_and(|module| module.eq("enum").unwrap_or(false))
}

/// The builtin type that a class of Python extends, and no other one of C but those that this one is made of.
pub fn extends<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
    let py = class.py();
    let known = [
        py.get_type::<PyDict>(),
        py.get_type::<PyList>(),
        py.get_type::<PyTuple>(),
        py.get_type::<PyString>(),
        py.get_type::<PyInt>(),
        py.get_type::<PyFloat>(),
    ];
    if !facts::is_heap_type(class) || dict_of_c(class).is_some() {
        return None;
    }
    let object = py.get_type::<PyAny>();
    let of_c = facts::mro(class).iter().filter_map(|base| base.cast_into::<PyType>().ok());
    // `defaultdict` is made at run time since 3.12.
    let mut of_c = of_c.filter(|base| (!facts::is_heap_type(base) || dict_of_c(base).is_some()) && !base.is(&object));
    let base = of_c.next()?;
    let made_of = if dict_of_c(&base).is_some() { of_c.next()? } else { base.clone() };
    (known.iter().any(|known| known.is(&made_of)) && of_c.next().is_none()).then_some(base)
}

/// Whether values of a class are equal only if they are the same, and hashing them runs no code of the user.
pub fn compares_by_identity(ty: &Bound<'_, PyType>) -> bool {
    let by_identity = raw(ty, "__eq__").is_some_and(|found| found.is(&types(ty.py()).object_eq));
    let hash = raw(ty, "__hash__").map(|hash| match descriptor(&hash) {
        Descriptor::Wrapper => true,
        // `enum.Enum.__hash__` hashes the name.
        Descriptor::Function => hash.getattr("__module__").is_ok_and(|m| m.eq("enum").unwrap_or(false)),
        _ => false,
    });
    by_identity && hash == Some(true)
}

/// Whether `list(x)` asks `x` for its length before it asks for an iterator (and then once more), as old interpreters do.
pub fn list_asks_for_the_length_first(py: Python<'_>) -> bool {
    static FIRST: PyOnceLock<bool> = PyOnceLock::new();
    *FIRST.get_or_init(py, || {
        let code = c"
class Asked:
    first = None
    def __len__(self):
        self.first = self.first or 'len'
        return 0
    def __iter__(self):
        self.first = self.first or 'iter'
        return iter(())
asked = Asked()
list(asked)
";
        let names = PyDict::new(py);
        let asked = py.run(code, Some(&names), None).and_then(|()| names.as_any().get_item("asked"));
        asked.and_then(|asked| asked.getattr("first")).is_ok_and(|first| first.eq("len").unwrap_or(false))
    })
}

fn is_of_enum(function: &Bound<'_, PyAny>) -> bool {
    function.getattr("__module__").is_ok_and(|module| module.eq("enum").unwrap_or(false))
}

/// Whether looking a key up in a dict runs no code of the program.
pub fn is_quiet_key(key: &Bound<'_, PyAny>) -> bool {
    if let Ok(tuple) = key.cast::<PyTuple>()
        && !tuple.iter().all(|item| is_quiet_key(&item))
    {
        return false;
    }
    if let Ok(set) = key.cast_exact::<PyFrozenSet>()
        && !set.iter().all(|item| is_quiet_key(&item))
    {
        return false;
    }
    let ty = key.get_type();
    let of_program = |name: &str| raw(&ty, name).is_some_and(|found| facts::is_function(&found) && !is_of_enum(&found));
    !of_program("__hash__") && !of_program("__eq__")
}

/// Whether something is a member of a set; `None`: that is no set, or it takes code of the program to tell.
pub fn is_quiet_member(set: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> Option<bool> {
    // To hash it may be what takes code of the program.
    if !is_silent(key) {
        return None;
    }
    let alike = facts::members_of_hash(set, key.hash().ok()?)?;
    if !alike.iter().all(|member| member.is(key) || is_silent(member)) {
        return None;
    }
    Some(alike.iter().any(|member| member.is(key) || member.eq(key).unwrap_or(false)))
}

/// What a dict has for a key that is compared without code of the program. `None`: it is to be compared with a key that is not.
#[inline]
pub fn silent_item<'py>(dict: &Bound<'py, PyDict>, key: &Bound<'py, PyAny>) -> Option<Option<Bound<'py, PyAny>>> {
    if !facts::holds_names_alone(dict) && is_silent(key) && !is_found_silently(dict, key) {
        return None;
    }
    dict.get_item(key).ok()
}

fn is_found_silently(dict: &Bound<'_, PyDict>, key: &Bound<'_, PyAny>) -> bool {
    let alike = key.hash().map(|hash| facts::keys_of_hash(dict, key, hash));
    alike.is_ok_and(|alike| alike.iter().all(|have| have.is(key) || is_silent(have)))
}

/// Whether hashing and comparing a value runs C code that asks nobody, whatever it is compared with that is silent, too.
pub fn is_silent(value: &Bound<'_, PyAny>) -> bool {
    let plain = value.is_none()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyBytes>()
        || value.is_exact_instance_of::<PyComplex>();
    if plain {
        return true;
    }
    if let Ok(set) = value.cast_exact::<PyFrozenSet>() {
        return set.iter().all(|member| is_silent(&member));
    }
    let ty = value.get_type();
    if let Ok(tuple) = value.cast::<PyTuple>() {
        let own = value.py().get_type::<PyTuple>();
        return agree(&ty, &own, &["__eq__", "__hash__"]) && tuple.iter().all(|item| is_silent(&item));
    }
    let py = value.py();
    let bases = [py.get_type::<PyAny>(), py.get_type::<PyInt>(), py.get_type::<PyString>()];
    // The members of an `enum.Enum` hash their names.
    let hashes = |base: &Bound<'_, PyType>| {
        raw(&ty, "__hash__").is_some_and(|hash| {
            raw(base, "__hash__").is_some_and(|own| own.is(&hash)) || facts::is_function(&hash) && is_of_enum(&hash)
        })
    };
    bases.iter().any(|base| agree(&ty, base, &["__eq__"]) && hashes(base))
}

/// Whether this is a set in which looking anything up runs no code of the program.
pub fn has_quiet_members(set: &Bound<'_, PyAny>) -> bool {
    match set.cast_exact::<PySet>() {
        Ok(set) => set.iter().all(|member| is_silent(&member)),
        Err(_) => set.cast_exact::<PyFrozenSet>().is_ok_and(|set| set.iter().all(|member| is_silent(&member))),
    }
}

/// How a class answers `isinstance` and `issubclass`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Membership {
    /// By the MRO.
    Mro,
    /// By the MRO and by what `abc` knows; asking runs no code of the user.
    Abc,
    /// By code of the user.
    User,
}

pub fn membership(class: &Bound<'_, PyType>, method: &str) -> Membership {
    let py = class.py();
    let meta = class.get_type();
    let same = |other: &Bound<'_, PyType>| agree(&meta, other, &[method]);
    if same(&py.get_type::<PyType>()) {
        return Membership::Mro;
    }
    let abc = types(py).abc_meta.bind(py);
    let pure = agree(&meta, abc, &["__instancecheck__", "__subclasscheck__"]) && hooks_are_standard(class, 0);
    if pure { Membership::Abc } else { Membership::User }
}

/// Modules whose `__subclasshook__`s only look at dicts.
const STANDARD_HOOKS: &[&str] =
    &["_collections_abc", "collections.abc", "contextlib", "os", "importlib.abc", "numbers"];

/// An abstract class asks its subclasses, and those that were registered with it, as well.
fn hooks_are_standard(class: &Bound<'_, PyType>, depth: usize) -> bool {
    let py = class.py();
    let hook = raw(class, "__subclasshook__").is_none_or(|hook| match descriptor(&hook) {
        Descriptor::CClassMethod => true,
        Descriptor::ClassMethod => hook
            .getattr("__func__")
            .and_then(|f| f.getattr("__module__"))
            .and_then(|m| m.extract::<String>())
            .is_ok_and(|m| STANDARD_HOOKS.contains(&m.as_str())),
        _ => false,
    });
    // What it asks of the class itself, by name.
    let of_type = agree(&class.get_type(), &py.get_type::<PyType>(), &["__getattribute__", "__subclasses__"])
        && raw(class, "__subclasses__").is_none();
    let quiet = |other: PyResult<Bound<'_, PyAny>>| {
        other.is_ok_and(|other| other.cast::<PyType>().is_ok_and(|other| answers_quietly(other, depth + 1)))
    };
    let subclasses = || py.get_type::<PyType>().call_method1("__subclasses__", (class,));
    hook && of_type
        && depth < 16
        && registered(class).is_ok_and(|all| all.into_iter().all(|other| quiet(Ok(other))))
        && subclasses().is_ok_and(|all| all.try_iter().is_ok_and(|mut all| all.all(quiet)))
}

/// Whether asking for its subclasses runs no code of the program, when an abstract class asks for them.
fn answers_quietly(class: &Bound<'_, PyType>, depth: usize) -> bool {
    let py = class.py();
    let meta = class.get_type();
    meta.is(py.get_type::<PyType>())
        || agree(&meta, types(py).abc_meta.bind(py), &["__subclasscheck__"]) && hooks_are_standard(class, depth)
}

/// The classes that live and were registered with an abstract class; none of any other class.
fn registered<'py>(class: &Bound<'py, PyType>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = class.py();
    if raw(class, "_abc_impl").is_none() {
        return Ok(Vec::new());
    }
    let dump = crate::cpython::module(py, "_abc")?.getattr("_get_dump")?.call1((class,))?;
    let weak = dump.get_item(0)?.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let living = weak.into_iter().map(|weak| weak.call0()).collect::<PyResult<Vec<_>>>()?;
    Ok(living.into_iter().filter(|class| !class.is_none()).collect())
}

/// Whether it is a raw method of a class written in C.
pub fn is_method_of_c(object: &Bound<'_, PyAny>) -> bool {
    matches!(descriptor(object), Descriptor::Method | Descriptor::Wrapper)
}

/// The class of C that a class extends.
pub fn base_of_c<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
    let mro = facts::mro(class);
    mro.iter().filter_map(|c| c.cast_into::<PyType>().ok()).find(|c| !facts::is_heap_type(c))
}
