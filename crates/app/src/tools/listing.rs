//! The list of tools: filtered, a page at a time, and on request counted by what it can be filtered by.

use super::{ToolView, is_in_use};
use crate::App;
use crate::error::{Error, Result};
use crate::page;
use crate::risk::Risk;
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use catalog::policy::{Policy, Verdict};
use catalog::tool::{KindName, Shelf};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Which tools to list.
#[derive(Debug, Default)]
pub struct ToolFilter {
    pub q: Option<String>,
    pub kind: Option<String>,
    pub active: Option<bool>,
    /// The owner's name.
    pub owner: Option<String>,
    pub shelf: Option<String>,
    /// The database that an SQL tool asks.
    pub source: Option<String>,
    /// The MCP server that runs it.
    pub server: Option<String>,
    pub risk: Option<String>,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
    /// Whether to count, too, which looks at every tool.
    pub count: bool,
}

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToolPage {
    pub items: Vec<ToolView>,
    pub next_cursor: Option<String>,
    /// With `count=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<ToolCounts>,
}

/// How many tools fit, on all pages, and how many would with another value of one filter.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct ToolCounts {
    pub total: usize,
    pub kind: BTreeMap<String, usize>,
    /// `true` and `false`.
    pub active: BTreeMap<String, usize>,
    pub owner: BTreeMap<String, usize>,
    pub shelf: BTreeMap<String, usize>,
    pub source: BTreeMap<String, usize>,
    pub server: BTreeMap<String, usize>,
    pub risk: BTreeMap<String, usize>,
}

/// What a list can be filtered by, beside words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Respect {
    Kind,
    Active,
    Owner,
    Shelf,
    Source,
    Server,
    Risk,
}

impl Respect {
    const ALL: [Respect; 7] = [
        Respect::Kind,
        Respect::Active,
        Respect::Owner,
        Respect::Shelf,
        Respect::Source,
        Respect::Server,
        Respect::Risk,
    ];
}

impl ToolCounts {
    fn of(&mut self, respect: Respect) -> &mut BTreeMap<String, usize> {
        match respect {
            Respect::Kind => &mut self.kind,
            Respect::Active => &mut self.active,
            Respect::Owner => &mut self.owner,
            Respect::Shelf => &mut self.shelf,
            Respect::Source => &mut self.source,
            Respect::Server => &mut self.server,
            Respect::Risk => &mut self.risk,
        }
    }

    /// A tool counts for a respect where it fits in all others.
    fn add(&mut self, value: impl Fn(Respect) -> Option<String>, wanted: &[(Respect, String)]) {
        let misfits = |one: &&(Respect, String)| value(one.0).as_ref() != Some(&one.1);
        let mut missed = wanted.iter().filter(misfits).map(|(respect, _)| *respect);
        let (first, second) = (missed.next(), missed.next());
        if second.is_some() {
            return;
        }
        self.total += usize::from(first.is_none());
        for respect in Respect::ALL {
            let counted = first.is_none() || first == Some(respect);
            if let Some(value) = counted.then(|| value(respect)).flatten() {
                *self.of(respect).entry(value).or_default() += 1;
            }
        }
    }
}

impl ToolFilter {
    fn wanted(&self) -> Result<Vec<(Respect, String)>> {
        let kinds = KindName::ALL.map(KindName::as_str);
        let shelves = Shelf::ALL.map(Shelf::as_str);
        let risks = Risk::ALL.map(Risk::as_str);
        let wanted = [
            (Respect::Kind, one_of("kind", self.kind.as_deref(), &kinds)?),
            (
                Respect::Active,
                self.active.map(|active| active.to_string()),
            ),
            (Respect::Owner, self.owner.clone()),
            (
                Respect::Shelf,
                one_of("shelf", self.shelf.as_deref(), &shelves)?,
            ),
            (Respect::Source, self.source.clone()),
            (Respect::Server, self.server.clone()),
            (Respect::Risk, one_of("risk", self.risk.as_deref(), &risks)?),
        ];
        let wanted = wanted.into_iter();
        Ok(wanted
            .filter_map(|(respect, value)| Some((respect, value?)))
            .collect())
    }
}

fn one_of(field: &str, given: Option<&str>, known: &[&str]) -> Result<Option<String>> {
    match given {
        Some(name) if !known.contains(&name) => Err(Error::invalid(format!(
            "{field}: expected one of {}, got '{name}'",
            known.join(", ")
        ))),
        given => Ok(given.map(str::to_owned)),
    }
}

impl App {
    pub fn list_tools(&self, caller: &Caller, filter: &ToolFilter) -> Result<ToolPage> {
        let wanted = filter.wanted()?;
        let limit = page::limit(filter.limit)?;
        let asked = filter.q.as_deref().unwrap_or_default().to_lowercase();
        let words: Vec<&str> = asked.split_whitespace().collect();
        let catalogue = self.executor.catalogue.load();
        let policy = self.executor.policy.load();
        let is_found = |entry: &Entry| {
            words.iter().all(|word| entry.search_text.contains(word))
                && policy.verdict(caller, &entry.tool) != Verdict::Hidden
        };
        // Looks only at what is asked for: most lists ask for nothing.
        let fits = |entry: &Entry| {
            let mut wanted = wanted.iter();
            wanted.all(|(respect, value)| {
                self.value(*respect, entry, &policy).as_ref() == Some(value)
            })
        };
        let mut found = catalogue
            .after(filter.cursor.as_deref())
            .filter(|entry| fits(entry) && is_found(entry));
        let items: Vec<ToolView> = found
            .by_ref()
            .take(limit)
            .map(|entry| self.view(entry, caller))
            .collect();
        let more = found.next().is_some();
        let next_cursor = items.last().filter(|_| more).map(|last| last.name.clone());
        let counts = filter.count.then(|| {
            let mut counts = ToolCounts::default();
            for entry in catalogue.after(None).filter(|entry| is_found(entry)) {
                counts.add(|respect| self.value(respect, entry, &policy), &wanted);
            }
            counts
        });
        Ok(ToolPage {
            items,
            next_cursor,
            counts,
        })
    }

    fn value(&self, respect: Respect, entry: &Entry, policy: &Policy) -> Option<String> {
        let definition = &entry.tool.definition;
        let configured = |kind: KindName, field: &str| {
            let value = definition.config.get(field).and_then(Value::as_str);
            value.filter(|_| definition.kind == kind).map(str::to_owned)
        };
        match respect {
            Respect::Kind => Some(definition.kind.as_str().to_owned()),
            Respect::Active => Some(is_in_use(entry, policy).to_string()),
            Respect::Owner => Some(self.user_name(entry.tool.owner)),
            Respect::Shelf => Some(entry.tool.shelf.as_str().to_owned()),
            Respect::Source => configured(KindName::Sql, "source"),
            Respect::Server => configured(KindName::Mcp, "server_name"),
            Respect::Risk => Some(self.risk(&entry.tool).as_str().to_owned()),
        }
    }
}
