//! The folder itself: which files in it are ours, and writing them so that each is whole at every instant. A list of our files
//! (`toolcrib.json`) lies beside them: what is not on it is somebody else's and is never touched.

use super::sort::Sort;
use crate::client::encode;
use crate::out::{Failure, Result};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::{Path, PathBuf};

pub(super) const MANIFEST: &str = "toolcrib.json";
pub(super) const USERS: &str = "users.json";
pub(super) const LIMITS: &str = "limits.json";
pub(super) const POLICY: &str = "policy.json";
pub(super) const SECRETS: &str = "secrets.json";

/// The form of the folder that this program writes and reads.
const FORM: i64 = 1;

/// File systems take names of 255 bytes.
const STEM_BYTES_MAX: usize = 200;

/// The file of a thing: its name, with what file systems could mistake written as in addresses.
pub(super) fn file_of(sort: Sort, name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let mut stem = String::new();
    for c in name.chars() {
        match plain(c) {
            true => stem.push(c),
            false => stem.push_str(&encode(&c.to_string())),
        }
    }
    if stem.starts_with('.') {
        stem.replace_range(..1, "%2E");
    }
    if stem.len() > STEM_BYTES_MAX {
        let id = catalog::tool::id_from_name(name).simple().to_string();
        let end = (0..=STEM_BYTES_MAX)
            .rev()
            .find(|at| stem.is_char_boundary(*at));
        stem.truncate(end.unwrap_or_default());
        stem.push_str(&format!("~{}", &id[..12]));
    }
    format!("{}/{stem}.json", sort.folder())
}

/// What a file holds for people and git: indented, with a line's end at its end.
pub(super) fn text_of(value: &Value) -> String {
    format!("{value:#}\n")
}

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// None where nobody has exported into it yet.
    ours: Option<BTreeSet<String>>,
}

/// What an export did.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) files: usize,
    pub(super) changed: Vec<String>,
    pub(super) removed: Vec<String>,
    /// JSON files in our folders that are not ours.
    pub(super) foreign: Vec<String>,
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let manifest = path.join(MANIFEST);
        let ours = match std::fs::read_to_string(&manifest) {
            Ok(text) => Some(listed(&text).map_err(|why| unreadable(&manifest, &why))?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(&manifest, &error)),
        };
        Ok(Folder {
            path: path.to_owned(),
            ours,
        })
    }

    pub(super) fn is_ours(&self) -> bool {
        self.ours.is_some()
    }

    /// Every JSON file where we would look for one, ours or not.
    pub(super) fn found(&self) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        for file in [USERS, LIMITS, POLICY, SECRETS] {
            if self.path.join(file).exists() {
                found.insert(file.to_owned());
            }
        }
        for sort in Sort::ALL {
            let folder = self.path.join(sort.folder());
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(unreadable(&folder, &error)),
            };
            for entry in entries {
                let entry = entry.map_err(|error| unreadable(&folder, &error))?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.ends_with(".json") && !name.starts_with('.') {
                    found.insert(format!("{}/{name}", sort.folder()));
                }
            }
        }
        Ok(found)
    }

    pub(super) fn read(&self, file: &str) -> Result<String> {
        let path = self.path.join(file);
        std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))
    }

    /// Makes the folder hold these files. What was ours and is not among them any more is removed.
    pub(super) fn write(&self, files: &BTreeMap<String, String>) -> Result<Written> {
        let none = BTreeSet::new();
        let ours = self.ours.as_ref().unwrap_or(&none);
        let in_the_way = self.found()?.into_iter().filter(|it| !ours.contains(it));
        let in_the_way: Vec<String> = in_the_way.collect();
        let taken: Vec<&String> = in_the_way
            .iter()
            .filter(|it| files.contains_key(*it))
            .collect();
        if !taken.is_empty() {
            let mut failure = Failure::failed("");
            failure.errors = taken
                .iter()
                .map(|file| {
                    let path = self.path.join(file);
                    format!(
                        "{} is there and was not written by an export",
                        path.display()
                    )
                })
                .collect();
            return Err(failure.hint(format!("nothing was written; move these files away, or have what they say in the registry first (`toolcrib apply` needs {MANIFEST} beside them)")));
        }
        self.make_folders()?;
        let mut written = Written {
            files: files.len(),
            foreign: in_the_way,
            ..Written::default()
        };
        // The list first, with old and new names: whatever comes between, each file of ours is on it.
        let both: BTreeSet<String> = ours.iter().chain(files.keys()).cloned().collect();
        self.put(MANIFEST, &manifest(&both))?;
        for (file, text) in files {
            if self.put(file, text)? {
                written.changed.push(file.clone());
            }
        }
        for gone in ours.iter().filter(|it| !files.contains_key(*it)) {
            let path = self.path.join(gone);
            match std::fs::remove_file(&path) {
                Ok(()) => written.removed.push(gone.clone()),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(unwritable(&path, &error)),
            }
        }
        self.put(MANIFEST, &manifest(&files.keys().cloned().collect()))?;
        Ok(written)
    }

    /// A link in place of a folder would lead our files elsewhere.
    fn make_folders(&self) -> Result {
        for sort in Sort::ALL {
            let folder = self.path.join(sort.folder());
            if std::fs::symlink_metadata(&folder).is_ok_and(|it| !it.is_dir()) {
                return Err(unwritable(&folder, &"it is no folder")
                    .hint("nothing was written; move it away, or export into another folder"));
            }
            std::fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
        }
        Ok(())
    }

    /// Whether the file is another one now.
    fn put(&self, file: &str, text: &str) -> Result<bool> {
        let path = self.path.join(file);
        let is_link = std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_symlink());
        if !is_link && std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
            return Ok(false);
        }
        let aside = path.with_extension("json.new");
        let done = std::fs::write(&aside, text).and_then(|()| std::fs::rename(&aside, &path));
        done.map_err(|error| unwritable(&path, &error))?;
        Ok(true)
    }
}

fn manifest(files: &BTreeSet<String>) -> String {
    text_of(&json!({"format": FORM, "files": files}))
}

/// The files that a list names. One that leads out of the folder is no list of ours.
fn listed(text: &str) -> std::result::Result<BTreeSet<String>, String> {
    let all: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match all["format"].as_i64() {
        Some(FORM) => {}
        Some(newer) if newer > FORM => {
            return Err(format!(
                "it is of form {newer}, this program knows up to {FORM}; use a newer toolcrib"
            ));
        }
        _ => {
            return Err(format!(
                "expected \"format\": {FORM} and \"files\"; it is no list of a registry's files"
            ));
        }
    }
    let files = all["files"]
        .as_array()
        .ok_or("expected \"files\": a list of names")?;
    let known = |file: &str| match file.split_once('/') {
        None => [USERS, LIMITS, POLICY, SECRETS].contains(&file),
        Some((folder, name)) => {
            Sort::ALL.iter().any(|sort| sort.folder() == folder)
                && name.ends_with(".json")
                && !name.contains(['/', '\\', '\0'])
                && !name.starts_with('.')
        }
    };
    let read = files.iter().map(|file| {
        let file = file.as_str().filter(|file| known(file));
        let strange = || "it names a file that no export writes".to_owned();
        file.map(str::to_owned).ok_or_else(strange)
    });
    read.collect()
}

fn unreadable(path: &Path, why: &dyn Display) -> Failure {
    Failure::failed(format!("{} cannot be read: {why}", path.display()))
}

fn unwritable(path: &Path, why: &dyn Display) -> Failure {
    Failure::failed(format!("{} cannot be written: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_names_of_files() {
        assert_eq!(file_of(Sort::Tool, "a.b-c_1"), "tools/a.b-c_1.json");
        assert_eq!(file_of(Sort::Agent, "../x y"), "agents/%2E.%2Fx%20y.json");
        assert_eq!(file_of(Sort::Agent, "비서"), "agents/비서.json");
        let long = file_of(Sort::Agent, &"가".repeat(200));
        assert!(
            long.len() < 255 && long != file_of(Sort::Agent, &"가".repeat(199)),
            "{long}"
        );
    }

    #[test]
    fn a_list_names_only_what_an_export_writes() {
        for strange in [
            "../x.json",
            "tools/../x.json",
            "tools/x",
            "x.json",
            "/a.json",
            "tools/.x.json",
        ] {
            let text = json!({"format": 1, "files": [strange]}).to_string();
            assert!(listed(&text).is_err(), "{strange}");
        }
        let fine = json!({"format": 1, "files": ["tools/a.json", "users.json"]}).to_string();
        assert_eq!(listed(&fine).map(|it| it.len()), Ok(2));
        assert!(listed(r#"{"format": 2, "files": []}"#).is_err());
    }
}
