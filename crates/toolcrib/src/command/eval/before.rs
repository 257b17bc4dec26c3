//! What an evaluation of the same file said last time, kept in the data folder.

use crate::context::Context;
use crate::out::{Out, printable};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const FOLDER: &str = "eval";

/// Which requests were right, and where that is kept.
pub(crate) struct Before {
    file: PathBuf,
    known: Option<Value>,
}

/// What is different now.
pub(crate) struct Changed {
    accuracy: f64,
    better: Vec<String>,
    worse: Vec<String>,
}

impl Before {
    /// None where there is no folder to keep anything in.
    pub(crate) fn of(context: &Context, rows: &Path) -> Option<Self> {
        let place = context.place().ok().filter(|place| place.data.is_dir())?;
        let rows = rows.canonicalize().ok()?;
        let name = uuid::Uuid::new_v5(
            &uuid::Uuid::NAMESPACE_URL,
            rows.as_os_str().as_encoded_bytes(),
        );
        let file = place.data.join(FOLDER).join(format!("{name}.json"));
        let known = std::fs::read_to_string(&file).ok();
        Some(Before {
            known: known.and_then(|text| serde_json::from_str(&text).ok()),
            file,
        })
    }

    /// Requests that were not there before are neither better nor worse.
    pub(crate) fn changed<'a>(
        &self,
        now: impl Iterator<Item = (&'a str, &'a bool)>,
    ) -> Option<Changed> {
        let known = self.known.as_ref()?;
        let mut changed = Changed {
            accuracy: known["accuracy"].as_f64()?,
            better: Vec::new(),
            worse: Vec::new(),
        };
        let now: Vec<(&str, &bool)> = now.collect();
        let places = places(now.iter().map(|it| it.0));
        for ((query, right), place) in now.iter().zip(places) {
            match (known["right"][&place].as_bool(), **right) {
                (Some(false), true) => changed.better.push((*query).to_owned()),
                (Some(true), false) => changed.worse.push((*query).to_owned()),
                _ => {}
            }
        }
        Some(changed)
    }

    /// A comparison that cannot be kept is no reason to fail.
    pub(crate) fn keep<'a>(&self, accuracy: f64, now: impl Iterator<Item = (&'a str, &'a bool)>) {
        let now: Vec<(&str, &bool)> = now.collect();
        let places = places(now.iter().map(|it| it.0));
        let right: Map<String, Value> = places.zip(now.iter().map(|it| json!(it.1))).collect();
        let text = json!({"accuracy": accuracy, "right": right}).to_string();
        if let Some(folder) = self.file.parent() {
            let made = std::fs::create_dir_all(folder);
            let _ = made.and_then(|()| std::fs::write(&self.file, text));
        }
    }
}

impl Changed {
    pub(crate) fn to_json(&self) -> Value {
        json!({"accuracy": self.accuracy, "better": self.better, "worse": self.worse})
    }

    pub(crate) fn tell(&self, out: &Out) {
        let counts = format!("{} better, {} worse", self.better.len(), self.worse.len());
        out.say(format!(
            "last time {:.1} % were right; since then {counts}",
            self.accuracy * 100.0
        ));
        for (mark, all) in [("+", &self.better), ("-", &self.worse)] {
            for query in all {
                out.say(printable(&format!("{mark} {query}")));
            }
        }
    }
}

/// What each request is kept under: the same one may be asked of several pools.
fn places<'a>(queries: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    queries.map(move |query| {
        let count = seen.entry(query).or_default();
        *count += 1;
        match *count {
            1 => query.to_owned(),
            again => format!("{query} ({again})"),
        }
    })
}
