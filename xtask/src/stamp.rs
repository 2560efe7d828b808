//! Stamps: a small file that says from what something was made, so that it is not made again.
//!
//! Contents are hashed, not times: a fresh checkout and a touched file are not changes. The hash is no promise to
//! anyone; after a new toolchain it may differ, and then things are made once more.

use anyhow::{Context, Result};
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

pub(crate) fn of_text(parts: &[&str]) -> String {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Of all files under `paths` (directories or files, relative to `root`): their names and contents. What an
/// interpreter leaves beside its sources is not a source.
pub(crate) fn of_files(root: &Path, paths: &[&str]) -> Result<String> {
    let mut files = Vec::new();
    for path in paths {
        collect(&root.join(path), &mut files)?;
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(root).unwrap_or(&file).hash(&mut hasher);
        fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        for entry in path.read_dir().with_context(|| format!("cannot list {}", path.display()))? {
            let entry = entry?;
            if entry.file_name() != "__pycache__" {
                collect(&entry.path(), files)?;
            }
        }
    } else if path.is_file() && !path.extension().is_some_and(|e| e == "so" || e == "pyd") {
        files.push(path.to_path_buf());
    }
    Ok(())
}

pub(crate) fn matches(file: &Path, stamp: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.trim() == stamp)
}

pub(crate) fn write(file: &Path, stamp: &str) -> Result<()> {
    fs::write(file, format!("{stamp}\n")).with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_and_names_count() {
        let root = std::env::temp_dir().join(format!("sot-stamp-{}", std::process::id()));
        fs::create_dir_all(root.join("src")).expect("temp dir");
        fs::write(root.join("src/a.rs"), "one").expect("write");
        let first = of_files(&root, &["src", "missing"]).expect("hash");
        assert_eq!(first, of_files(&root, &["src"]).expect("hash"));
        fs::write(root.join("src/a.rs"), "two").expect("write");
        assert_ne!(first, of_files(&root, &["src"]).expect("hash"));
        fs::remove_dir_all(&root).expect("clean up");
    }
}
