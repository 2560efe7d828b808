//! The table of a cache of C (`functools.lru_cache`), which nothing but calls of the cache looks into.
//!
//! Where it lies in the object is not taken from a header: a cache is made and called, and what it then holds is looked for in it. A
//! layout in which that is not found once and for all has no caches.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use std::sync::Mutex;

/// Offsets, in bytes.
struct Places {
    class: Py<PyType>,
    /// Of the dict, in a cache.
    table: usize,
    /// Of a C int, in a cache: whether types of arguments tell keys apart.
    typed: usize,
    /// What the dict of a cache of limited size holds, and where its results are.
    link: Py<PyType>,
    result: usize,
    /// Stands between positional arguments and keywords in a key.
    mark: Py<PyAny>,
    /// Of the function that is asked for what is not remembered, in a cache.
    function: usize,
    /// Of how often it was, in a cache.
    misses: usize,
    /// Of how often what is remembered was asked for, in a cache.
    hits: usize,
    /// Of the class of what it tells of itself, in a cache.
    information: usize,
    /// Of how many results are remembered at most, in a cache; negative: as many as there are.
    most: usize,
}

fn places(py: Python<'_>) -> Option<&Places> {
    static PLACES: PyOnceLock<Option<Places>> = PyOnceLock::new();
    PLACES.get_or_init(py, || find(py).ok().flatten()).as_ref()
}

fn find(py: Python<'_>) -> PyResult<Option<Places>> {
    let class = super::module(py, "_functools")?.getattr("_lru_cache_wrapper")?.cast_into::<PyType>()?;
    let (list, object) = (py.get_type::<PyList>(), py.get_type::<PyAny>());
    let make = |size: Option<usize>, typed: bool| class.call1((&list, size, typed, &object));
    let (plain, typed, limited) = (make(None, false)?, make(None, true)?, make(Some(4), false)?);
    let flags = ints_that_tell(&plain, &typed)?;
    let result = limited.call1(("key",))?;
    let key = "key".into_pyobject(py)?.into_any();
    let (Some(table), Some(of_plain)) = (table_with(&limited, &key)?, {
        plain.call1((&key,))?;
        table_with(&plain, &key)?
    }) else {
        return Ok(None);
    };
    let link = table.get_item(&key)?.expect("just found");
    let keywords = PyDict::new(py);
    keywords.set_item("iterable", &key)?;
    let with_keywords = class.call1((py.get_type::<PyDict>(), py.None(), false, &object))?;
    with_keywords.call((), Some(&keywords))?;
    let mut mark = None;
    for referent in referents(&with_keywords)? {
        if let Ok(dict) = referent.cast_exact::<PyDict>()
            && let Some(key) = dict.keys().iter().next()
            && let Ok(key) = key.cast_exact::<PyTuple>()
            && key.len() == 3
        {
            mark = Some(key.get_item(0)?.unbind());
        }
    }
    let counted = make(None, false)?;
    let fresh = words_of(&counted)?;
    for key in ["a", "b", "c", "a", "b"] {
        counted.call1((key,))?;
    }
    let misses = places_that_tell(&fresh, &words_of(&counted)?, 0, 3);
    let hits = places_that_tell(&fresh, &words_of(&counted)?, 0, 2);
    let information = place_of(&counted, object.as_any())?;
    let most = places_that_tell(&words_of(&make(Some(4), false)?)?, &words_of(&make(Some(9), false)?)?, 4, 9);
    let function = place_of(&counted, list.as_any())?;
    let (Some(function), Some(information), &[misses], &[hits], &[most]) =
        (function, information, &misses[..], &hits[..], &most[..])
    else {
        return Ok(None);
    };
    let places = [place_of(&limited, table.as_any())?, place_of(&plain, of_plain.as_any())?, place_of(&link, &result)?];
    let ([Some(table), Some(of_plain), Some(result)], &[typed], Some(mark)) = (places, &flags[..], mark) else {
        return Ok(None);
    };
    let link = link.get_type().unbind();
    Ok((table == of_plain).then(|| Places {
        class: class.unbind(),
        table,
        typed,
        link,
        result,
        mark,
        function,
        misses,
        hits,
        information,
        most,
    }))
}

fn referents<'py>(object: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    super::module(object.py(), "gc")?.call_method1("get_referents", (object,))?.extract()
}

fn table_with<'py>(cache: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    for referent in referents(cache)? {
        if let Ok(dict) = referent.cast_exact::<PyDict>()
            && dict.contains(key)?
        {
            return Ok(Some(dict.clone()));
        }
    }
    Ok(None)
}

fn bytes_of(object: &Bound<'_, PyAny>) -> PyResult<usize> {
    object.get_type().getattr("__basicsize__")?.extract()
}

/// Where an object holds a pointer to another one; `None`: nowhere, or more than once.
fn place_of(object: &Bound<'_, PyAny>, held: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let width = size_of::<usize>();
    let words = bytes_of(object)? / width;
    // SAFETY: a live object has as many bytes as its type says.
    let found = |at: &usize| unsafe { *object.as_ptr().cast::<usize>().add(*at) == held.as_ptr() as usize };
    let mut places = (0..words).filter(found);
    Ok(match (places.next(), places.next()) {
        (Some(at), None) => Some(at * width),
        _ => None,
    })
}

fn words_of(object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let words = bytes_of(object)? / size_of::<usize>();
    // SAFETY: a live object has as many bytes as its type says.
    Ok((0..words).map(|at| unsafe { *object.as_ptr().cast::<usize>().add(at) }).collect())
}

/// Where one object of a type has this word, and another one that.
fn places_that_tell(first: &[usize], second: &[usize], has: usize, other: usize) -> Vec<usize> {
    let words = first.iter().zip(second).enumerate();
    words.filter(|(_, words)| *words == (&has, &other)).map(|(at, _)| at * size_of::<usize>()).collect()
}

/// Where the first of two objects of a type has a C int that is 0, and the second one that is 1.
fn ints_that_tell(first: &Bound<'_, PyAny>, second: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let width = size_of::<i32>();
    let head = size_of::<ffi::PyObject>() / width;
    let ints = bytes_of(first)? / width;
    // SAFETY: live objects have as many bytes as their type says.
    let int = |object: &Bound<'_, PyAny>, at: usize| unsafe { *object.as_ptr().cast::<i32>().add(at) };
    Ok((head..ints).filter(|at| int(first, *at) == 0 && int(second, *at) == 1).map(|at| at * width).collect())
}

/// Whether a value is a cache of C itself, of no class that extends it.
pub fn is_cache(value: &Bound<'_, PyAny>) -> bool {
    // Nothing is called to find that out of anything else.
    let ty = value.get_type();
    super::facts::is_named_below(&ty, "functools.") && places(value.py()).is_some_and(|places| ty.is(&places.class))
}

/// The places in a cache; `None`: it is none.
fn places_in<'a>(cache: &Bound<'a, PyAny>) -> Option<&'a Places> {
    places(cache.py()).filter(|places| cache.get_type().is(&places.class))
}

/// What a cache has by keys, whether types tell these apart, and what stands before the keywords.
pub fn table_of_cache<'py>(cache: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyDict>, bool, Bound<'py, PyAny>)> {
    let py = cache.py();
    let places = places_in(cache)?;
    // SAFETY: a live cache, in which these are.
    let (table, typed) = unsafe {
        let base = cache.as_ptr().cast::<u8>();
        let table = *base.add(places.table).cast::<*mut ffi::PyObject>();
        (Bound::from_borrowed_ptr_or_opt(py, table)?, *base.add(places.typed).cast::<i32>() != 0)
    };
    Some((table.cast_into_exact::<PyDict>().ok()?, typed, places.mark.bind(py).clone()))
}

/// The result that the table of a cache has for a key: itself, or in a link of the list by which a cache of limited size lets go.
pub fn result_in_cache<'py>(held: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = held.py();
    let places = places(py)?;
    if !held.get_type().is(&places.link) {
        return Some(held.clone());
    }
    // SAFETY: a live link, in which the result is.
    unsafe {
        let result = *held.as_ptr().cast::<u8>().add(places.result).cast::<*mut ffi::PyObject>();
        Bound::from_borrowed_ptr_or_opt(py, result)
    }
}

/// The function that a cache asks for what it does not remember.
pub fn function_of_cache<'py>(cache: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = cache.py();
    let places = places_in(cache)?;
    // SAFETY: a live cache, in which that is.
    unsafe {
        let function = *cache.as_ptr().cast::<u8>().add(places.function).cast::<*mut ffi::PyObject>();
        Bound::from_borrowed_ptr_or_opt(py, function)
    }
}

/// Whether a cache never lets go of a result.
pub fn is_unlimited(cache: &Bound<'_, PyAny>) -> bool {
    let Some(places) = places_in(cache) else { return false };
    // SAFETY: a live cache, in which the number is.
    unsafe { *cache.as_ptr().cast::<u8>().add(places.most).cast::<isize>() < 0 }
}

/// Whether a cache remembers so many results more without letting go of one.
pub fn has_room(cache: &Bound<'_, PyAny>, more: usize) -> bool {
    let (Some(places), Some((table, ..))) = (places(cache.py()), table_of_cache(cache)) else { return false };
    // SAFETY: a live cache, as its table was found in it.
    let most = unsafe { *cache.as_ptr().cast::<u8>().add(places.most).cast::<isize>() };
    usize::try_from(most).map_or(true, |most| table.len() + more <= most)
}

/// What a cache tells of itself.
pub struct CacheInformation<'py> {
    pub class: Bound<'py, PyAny>,
    pub hits: isize,
    pub misses: isize,
    /// `None`: as many as there are.
    pub most: Option<usize>,
    pub length: usize,
}

/// As `cache.cache_info()`, which would make one of Python.
pub fn information_of_cache<'py>(cache: &Bound<'py, PyAny>) -> Option<CacheInformation<'py>> {
    let py = cache.py();
    let (places, (table, ..)) = (places_in(cache)?, table_of_cache(cache)?);
    // SAFETY: a live cache, in which these are.
    unsafe {
        let base = cache.as_ptr().cast::<u8>();
        let number = |at: usize| *base.add(at).cast::<isize>();
        let class = *base.add(places.information).cast::<*mut ffi::PyObject>();
        Some(CacheInformation {
            class: Bound::from_borrowed_ptr_or_opt(py, class)?,
            hits: number(places.hits),
            misses: number(places.misses),
            most: usize::try_from(number(places.most)).ok(),
            length: table.len(),
        })
    }
}

/// Caches whose function something stands in for, by address: their own functions, and how many stand-ins there are. Another thread may
/// come between, and they need not end in turn.
static STOOD_FOR: Mutex<Vec<(usize, Py<PyAny>, usize)>> = Mutex::new(Vec::new());

/// Call a cache while this stands in the place of its function.
pub fn call_with_function<'py>(
    cache: &Bound<'py, PyAny>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = cache.py();
    let address = cache.as_ptr() as usize;
    let Some(before) = exchange_function(cache, function.clone()) else { return cache.call(args, keywords) };
    {
        let mut stood_for = STOOD_FOR.lock().unwrap_or_else(|e| e.into_inner());
        match stood_for.iter_mut().find(|(of, ..)| *of == address) {
            Some((.., count)) => *count += 1,
            None => stood_for.push((address, before.clone().unbind(), 1)),
        }
    }
    let result = cache.call(args, keywords);
    let own = {
        let mut stood_for = STOOD_FOR.lock().unwrap_or_else(|e| e.into_inner());
        let at = stood_for.iter().position(|(of, ..)| *of == address);
        at.and_then(|at| {
            stood_for[at].2 -= 1;
            (stood_for[at].2 == 0).then(|| stood_for.swap_remove(at).1)
        })
    };
    let is_mine = function_of_cache(cache).is_some_and(|now| now.is(function));
    match own {
        // The last one puts back what was there before all.
        Some(own) => drop(exchange_function(cache, own.into_bound(py))),
        None if is_mine => drop(exchange_function(cache, before)),
        None => {}
    }
    result
}

/// The function of a cache itself, whatever stands in for it.
pub fn own_function_of_cache<'py>(cache: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let address = cache.as_ptr() as usize;
    let stood_for = STOOD_FOR.lock().unwrap_or_else(|e| e.into_inner());
    match stood_for.iter().find(|(of, ..)| *of == address) {
        Some((_, own, _)) => Some(own.bind(cache.py()).clone()),
        None => function_of_cache(cache),
    }
}

fn exchange_function<'py>(cache: &Bound<'py, PyAny>, function: Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = cache.py();
    let places = places_in(cache)?;
    // SAFETY: a live cache, which owns a reference to the function that is there: it gets one to the other, and gives its own.
    unsafe {
        let place = cache.as_ptr().cast::<u8>().add(places.function).cast::<*mut ffi::PyObject>();
        Bound::from_owned_ptr_or_opt(py, std::mem::replace(&mut *place, function.into_ptr()))
    }
}

/// A cache was asked for something twice where the program asked once: the function was called once.
pub fn take_back_miss(cache: &Bound<'_, PyAny>) {
    let Some(places) = places_in(cache) else { return };
    // SAFETY: a live cache, in which the number is.
    unsafe {
        let misses = cache.as_ptr().cast::<u8>().add(places.misses).cast::<isize>();
        *misses -= 1;
    }
}
