//! The registry that a folder describes: every file read and checked, and the values that are kept elsewhere.

use super::folder::{Folder, LIMITS, MANIFEST, POLICY, SECRETS, USERS, file_of};
use super::sort::Sort;
use super::{Item, Registry, check};
use crate::command::tools::text;
use crate::out::{Failure, Result};
use catalog::caller::Role;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

const LIMIT: [&str; 3] = ["target_type", "target", "max_count"];
const RULE: [&str; 5] = ["subject", "target", "allow", "deny", "hide"];

/// What a folder says.
pub(super) struct Wanted {
    pub(super) registry: Registry,
    /// Where each thing stands.
    pub(super) files: BTreeMap<(Sort, String), String>,
    /// Values of what is sealed, by file and path; those of named secrets under `secrets.json`.
    pub(super) values: Map<String, Value>,
}

impl Wanted {
    /// `names` has the names of tools by their ids.
    pub(super) fn read(path: &Path, names: &HashMap<String, String>) -> Result<Self> {
        let folder = Folder::open(path)?;
        if !folder.is_ours() {
            return Err(Failure::failed(format!(
                "{} is no folder of a registry: {MANIFEST} is not there",
                path.display()
            ))
            .hint("`toolcrib export registry DIR` makes one; for one of your own put {\"format\": 1, \"files\": []} into toolcrib.json"));
        }
        let mut wanted = Wanted {
            registry: Registry::default(),
            files: BTreeMap::new(),
            values: Map::new(),
        };
        let mut problems = Vec::new();
        for file in folder.found()? {
            let text = folder.read(&file)?;
            if let Err(wrong) = wanted.take(&file, &text, names) {
                problems.extend(wrong);
            }
        }
        match problems.is_empty() {
            true => Ok(wanted),
            false => {
                let mut failure = Failure::failed("");
                failure.errors = problems;
                Err(failure.hint("nothing was changed; mend the folder first"))
            }
        }
    }

    fn take(
        &mut self,
        file: &str,
        body: &str,
        names: &HashMap<String, String>,
    ) -> std::result::Result<(), Vec<String>> {
        match file {
            USERS => {
                let users = check::list(file, body, ("users", &[]), &["name", "role"])?;
                roles(file, body, &users)?;
                let role = |it: &Value| (text(it, "name").to_owned(), text(it, "role").to_owned());
                let users: BTreeMap<_, _> = users.iter().map(role).collect();
                expect(
                    file,
                    "name and role",
                    users.iter().all(|(a, b)| !a.is_empty() && !b.is_empty()),
                )?;
                self.registry.users = Some(users);
            }
            LIMITS => {
                let limits = check::list(file, body, ("limits", &[]), &LIMIT)?;
                expect(
                    file,
                    "target_type (USER or TOOL), target and max_count (0 or more)",
                    limits.iter().all(is_limit),
                )?;
                let limit = |it: &Value| {
                    let target = (
                        text(it, "target_type").to_owned(),
                        text(it, "target").to_owned(),
                    );
                    (target, it["max_count"].as_i64().unwrap_or_default())
                };
                self.registry.limits = Some(limits.iter().map(limit).collect());
            }
            POLICY => {
                let rules = check::list(file, body, ("rules", &[]), &RULE)?;
                self.registry.rules = Some(rules);
            }
            SECRETS => {
                let secrets =
                    check::list(file, body, ("secrets", &["sealed"]), &["name", "owner"])?;
                let owner =
                    |it: &Value| (text(it, "name").to_owned(), text(it, "owner").to_owned());
                self.registry.secrets = secrets.iter().map(owner).collect();
            }
            _ => return self.take_item(file, body, names),
        }
        Ok(())
    }

    fn take_item(
        &mut self,
        file: &str,
        body: &str,
        names: &HashMap<String, String>,
    ) -> std::result::Result<(), Vec<String>> {
        let folder = file.split('/').next().unwrap_or_default();
        let Some(sort) = Sort::ALL.into_iter().find(|sort| sort.folder() == folder) else {
            return Ok(());
        };
        let document = check::item(sort, file, body)?;
        let key = (sort, text(&document, "name").to_owned());
        if let Some(first) = self.files.insert(key.clone(), file.to_owned()) {
            return Err(vec![format!(
                "{file}: expected another name, found '{}', which {first} has too. Rename or remove one of them; an export calls its file {}.",
                key.1,
                file_of(sort, &key.1)
            )]);
        }
        let item = Item {
            document: sort.document(&document, names),
            version: None,
        };
        self.registry.items.insert(key, item);
        Ok(())
    }

    /// Reads the file of values that belong to this folder and are not kept with it.
    pub(super) fn read_values(&mut self, path: &Path) -> Result {
        let failed = |why: &str| {
            Failure::failed(format!("{} cannot be read: {why}", path.display()))
                .hint("expected {\"tools/NAME.json\": {\"auth_config.token\": \"…\"}, \"secrets.json\": {\"NAME\": \"…\"}}")
        };
        let text = std::fs::read_to_string(path).map_err(|error| failed(&error.to_string()))?;
        // Not told any closer: the words of the JSON reader may repeat a value.
        let values: Map<String, Value> =
            serde_json::from_str(&text).map_err(|_| failed("it is no JSON object"))?;
        let is_fine = |of_file: &Value| {
            let all = of_file.as_object();
            all.is_some_and(|all| all.values().all(Value::is_string))
        };
        if let Some((file, _)) = values.iter().find(|(_, of_file)| !is_fine(of_file)) {
            return Err(failed(&format!("'{file}' is no object of texts")));
        }
        self.values = values;
        Ok(())
    }

    /// The values that are given for a file.
    pub(super) fn values_of(&self, file: &str) -> Map<String, Value> {
        let values = self.values.get(file).and_then(Value::as_object);
        values.cloned().unwrap_or_default()
    }
}

fn roles(file: &str, body: &str, users: &[Value]) -> std::result::Result<(), Vec<String>> {
    let is_wrong = |user: &Value| {
        user["role"]
            .as_str()
            .is_some_and(|it| Role::from_name(it).is_none())
    };
    let wrong = users.iter().enumerate().filter(|(_, user)| is_wrong(user));
    let told = |(number, user): (usize, &Value)| {
        let path = format!("$.users[{number}].role");
        format!(
            "{file}{}: at {path}: expected one of {}, found '{}'. Correct it.",
            check::place(body, &path),
            Role::ALL.map(Role::as_str).join(", "),
            text(user, "role")
        )
    };
    let wrong: Vec<String> = wrong.map(told).collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong),
    }
}

fn expect(file: &str, what: &str, is_so: bool) -> std::result::Result<(), Vec<String>> {
    match is_so {
        true => Ok(()),
        false => Err(vec![format!(
            "{file}: expected {what} in each entry, found one without. `toolcrib export registry` shows the form."
        )]),
    }
}

fn is_limit(limit: &Value) -> bool {
    let has = |key: &str| limit[key].as_str().is_some_and(|text| !text.is_empty());
    ["USER", "TOOL"].contains(&text(limit, "target_type"))
        && has("target")
        && limit["max_count"].as_i64().is_some_and(|count| count >= 0)
}
