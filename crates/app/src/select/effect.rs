//! What a change of a tool does to the project's own requests: which of them would get another tool than before.

use super::allowed::{Named, allowed};
use super::{Choice, item::item};
use crate::App;
use crate::dry_run::EffectAsked;
use crate::error::{Error, Result};
use crate::eval::{Chosen, Pool, Row, read_rows};
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use selection::{Corpus, Item, Selection, Shown};
use serde::Serialize;
use std::collections::HashSet;
use std::io::ErrorKind;
use std::sync::Arc;
use utoipa::ToSchema;

/// How a change of a tool changes what is chosen for the requests of the gold set.
#[derive(Debug, Serialize, ToSchema)]
pub struct Effect {
    /// How many requests there are.
    pub n: usize,
    /// How many of them were answered rightly, and are now.
    pub right_before: usize,
    pub right_after: usize,
    /// Those that are answered otherwise.
    pub changed: Vec<ChangedRow>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ChangedRow {
    pub query: String,
    /// Tools, or none, or ask.
    pub expected: String,
    pub before: String,
    pub after: String,
    /// better, worse, or neither.
    pub change: &'static str,
}

/// What a change is compared with: taken before it is made.
pub(crate) struct Baseline {
    rows: Vec<Row>,
    choice: Arc<Choice>,
}

impl App {
    /// The requests and what is chosen for them now. Where they are asked for and cannot be read it fails, so before anything
    /// is changed.
    pub(crate) async fn baseline(&self, asked: EffectAsked) -> Result<Option<Baseline>> {
        if asked == EffectAsked::No {
            return Ok(None);
        }
        let file = self.chooser.gold();
        let text = match tokio::fs::read_to_string(file).await {
            Ok(text) => text,
            Err(error) if asked == EffectAsked::IfKnown && error.kind() == ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => {
                return Err(Error::invalid(format!(
                    "effect: {} cannot be read ({}); write requests into it, one a line like {{\"query\": \"What is 2 + 2?\", \"outcome\": \"call\", \"gold\": [\"calculator\"]}}, or set selection.gold",
                    file.file_name().unwrap_or_default().display(),
                    error.kind()
                )));
            }
        };
        let folder = file.parent().unwrap_or(&self.workspace);
        let rows = read_rows(&text, folder).map_err(|faults| {
            let name = file.file_name().unwrap_or_default().display();
            let first = faults.first().map(ToString::to_string).unwrap_or_default();
            Error::invalid(format!("effect: {name}, {first}"))
        })?;
        let app = self.me.upgrade();
        let app = app.ok_or_else(|| Error::Internal("the app is gone".to_owned()))?;
        let choice = app.choice().await?;
        Ok(Some(Baseline { rows, choice }))
    }

    /// What the tool as it is in `entry` does to them.
    pub(crate) async fn effect(
        &self,
        caller: Arc<Caller>,
        baseline: Baseline,
        entry: Arc<Entry>,
    ) -> Result<Effect> {
        let app = self.me.upgrade();
        let app = app.ok_or_else(|| Error::Internal("the app is gone".to_owned()))?;
        let compare = move || compared(&app, &caller, &baseline, &entry);
        let compared = tokio::task::spawn_blocking(compare).await;
        compared.map_err(|error| Error::Internal(format!("an effect was lost: {error}")))?
    }
}

fn compared(app: &App, caller: &Caller, baseline: &Baseline, entry: &Arc<Entry>) -> Result<Effect> {
    let choice = &baseline.choice;
    let mut entries = choice.entries.clone();
    match entries.iter().position(|it| it.tool.id == entry.tool.id) {
        Some(at) => entries[at] = Arc::clone(entry),
        None => entries.push(Arc::clone(entry)),
    }
    let of = |it: &Arc<Entry>| item(it, &choice.admins, &choice.confirmed);
    let corpus = |entries: &[Arc<Entry>]| {
        let items: Vec<Item> = entries.iter().map(of).collect();
        app.chooser.apart_thoroughly(choice, &items)
    };
    // Made in the same way, so that only the change makes a difference.
    let (unchanged, corpus) = (corpus(&choice.entries), corpus(&entries));
    let policy = app.executor.policy.load();
    let shown = |entries: &[Arc<Entry>], corpus: &Corpus| {
        let allowed = allowed(&policy, entries, caller, false);
        corpus.shown(|at| allowed[at])
    };
    let shown_before = shown(&choice.entries, &unchanged);
    let shown_after = shown(&entries, &corpus);
    let mut effect = Effect {
        n: 0,
        right_before: 0,
        right_after: 0,
        changed: Vec::new(),
    };
    // A row about a tool that the caller may not know of is none of theirs.
    let known = entries.iter().filter(|it| app.may_know(caller, it));
    let known: HashSet<&str> = known.map(|it| &*it.name).collect();
    let is_theirs = |row: &&Row| row.names().all(|it| known.contains(it));
    for row in baseline.rows.iter().filter(is_theirs) {
        let among = match &row.pool {
            Pool::All => None,
            Pool::Named(names) => Some(names.as_slice()),
            // Its own tools do not change.
            Pool::Given(_) => continue,
        };
        let named = Named::new(among)?;
        let of = |entries: &[Arc<Entry>], corpus: &Corpus, shown: &Shown| {
            let is_named = |at: usize| named.has(&entries[at]);
            let found = corpus.select_among(&row.query, shown, is_named, 1);
            chosen(&found, entries)
        };
        let before = of(&choice.entries, &unchanged, &shown_before);
        let after = of(&entries, &corpus, &shown_after);
        let (was, is) = (row.is_right(&before), row.is_right(&after));
        effect.n += 1;
        effect.right_before += usize::from(was);
        effect.right_after += usize::from(is);
        if before.told() != after.told() {
            effect.changed.push(ChangedRow {
                query: row.query.clone(),
                expected: row.wanted(),
                before: before.told(),
                after: after.told(),
                change: match (was, is) {
                    (false, true) => "better",
                    (true, false) => "worse",
                    _ => "neither",
                },
            });
        }
    }
    Ok(effect)
}

fn chosen(found: &Selection, entries: &[Arc<Entry>]) -> Chosen {
    let name = |at: usize| entries[at].name.to_string();
    Chosen {
        outcome: found.outcome,
        tools: found.tools.iter().map(|at| name(*at)).collect(),
        best: found.candidates.first().map(|it| name(it.at)),
    }
}
