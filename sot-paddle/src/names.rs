//! Names of functions and operations.

/// The name of a function without its module. Those that Paddle generates begin with an underscore.
pub(crate) fn bare(name: &str) -> &str {
    let name = name.rsplit('.').next().unwrap_or(name);
    name.strip_prefix('_').filter(|rest| !rest.starts_with('_')).unwrap_or(name)
}

/// Whether what a method of tensors of this name gives uses the memory of the tensor without holding it.
pub(crate) fn borrows_memory(name: &str) -> bool {
    matches!(name, "data_ptr" | "get_tensor")
}

/// Whether a module is one of these, or below one.
pub(crate) fn within(module: &str, list: &[&str]) -> bool {
    list.iter().any(|m| module == *m || module.strip_prefix(m).is_some_and(|rest| rest.starts_with('.')))
}

/// Whether an operation gives the tensor itself where it has nothing to do.
pub(crate) fn may_do_nothing(name: &str) -> bool {
    matches!(bare(name), "astype" | "cast" | "contiguous" | "cpu" | "to" | "type_as")
}
