//! Lists: what stands before a paragraph that belongs to one.

use std::collections::{HashMap, HashSet};

use crate::block::Marker;
use crate::numeral;
use crate::xml::{Node, Tree};

/// The definitions.
#[derive(Default)]
pub(super) struct Numbering {
    lists: HashMap<String, List>,
    looks: HashMap<String, Vec<Level>>,
}

struct List {
    /// The id of what it looks like.
    look: String,
    /// Levels that begin again at a number when the list is first used.
    restarts: Vec<(usize, u32)>,
}

#[derive(Clone)]
struct Level {
    format: String,
    /// Such as `%1.%2`.
    pattern: String,
    start: u32,
}

/// How far the lists have been counted.
#[derive(Default)]
pub(super) struct Counters {
    /// By look: lists that look alike go on counting each other, as Word has it.
    counts: HashMap<String, Vec<u32>>,
    begun: HashSet<String>,
}

/// What stands before a paragraph.
#[derive(Debug, PartialEq)]
pub(super) struct Label {
    pub(super) marker: Marker,
    /// What Markdown cannot count by itself: `가.`, `1.2`, `제1장`.
    pub(super) text: String,
}

const LEVELS_MAX: usize = 9;

impl Numbering {
    pub(super) fn of(tree: Option<&Tree>) -> Self {
        let Some(tree) = tree else {
            return Self::default();
        };
        let mut numbering = Self::default();
        for node in tree.root().children() {
            match node.name() {
                "abstractNum" => {
                    let levels = node
                        .children()
                        .filter(|child| child.is("lvl"))
                        .take(LEVELS_MAX)
                        .map(Level::of)
                        .collect();
                    numbering.looks.insert(
                        node.attribute("abstractNumId").unwrap_or("").to_owned(),
                        levels,
                    );
                }
                "num" => {
                    let id = node.attribute("numId").unwrap_or("").to_owned();
                    numbering.lists.insert(id, List::of(node));
                }
                _ => {}
            }
        }
        numbering
    }

    /// Counts one paragraph of a list. `None` if the list has no mark at all.
    pub(super) fn next(&self, counters: &mut Counters, list: &str, level: usize) -> Option<Label> {
        let List { look, restarts } = self.lists.get(list)?;
        let levels = self.looks.get(look)?;
        let own = levels.get(level)?;
        match own.format.as_str() {
            "bullet" => {
                return Some(Label {
                    marker: Marker::Bullet,
                    text: String::new(),
                });
            }
            "none" => return None,
            _ => {}
        }
        let counts = counters
            .counts
            .entry(look.clone())
            .or_insert_with(|| levels.iter().map(Level::before_first).collect());
        if counters.begun.insert(list.to_owned()) {
            for (level, start) in restarts {
                counts
                    .get_mut(*level)
                    .into_iter()
                    .for_each(|count| *count = start.saturating_sub(1));
            }
        }
        counts[level] = counts[level].saturating_add(1);
        for (deeper, start) in counts.iter_mut().zip(levels).skip(level + 1) {
            *deeper = start.before_first();
        }
        let plain = own.format == "decimal"
            && matches!(
                own.pattern.trim_start_matches(&format!("%{}", level + 1)),
                "." | ")" | ""
            );
        if plain {
            return Some(Label {
                marker: Marker::Number(counts[level]),
                text: String::new(),
            });
        }
        let text = own.label(levels, counts);
        Some(Label {
            marker: Marker::Bullet,
            text,
        })
    }
}

impl List {
    fn of(node: Node<'_>) -> Self {
        let look = node
            .child("abstractNumId")
            .and_then(|look| look.attribute("val"))
            .unwrap_or("")
            .to_owned();
        let overrides = node.children().filter(|child| child.is("lvlOverride"));
        let restarts = overrides.filter_map(|level| {
            Some((
                level.number("ilvl")?,
                level.child("startOverride")?.number("val")?,
            ))
        });
        Self {
            look,
            restarts: restarts.collect(),
        }
    }
}

impl Level {
    fn before_first(&self) -> u32 {
        self.start.saturating_sub(1)
    }

    fn of(node: Node<'_>) -> Self {
        let value = |name: &str| node.child(name).and_then(|child| child.attribute("val"));
        Self {
            format: value("numFmt").unwrap_or("decimal").to_owned(),
            pattern: value("lvlText").unwrap_or("").to_owned(),
            start: value("start")
                .and_then(|start| start.parse().ok())
                .unwrap_or(1),
        }
    }

    fn label(&self, levels: &[Level], counts: &[u32]) -> String {
        let mut out = String::new();
        let mut rest = self.pattern.chars().peekable();
        while let Some(c) = rest.next() {
            let digit = rest
                .peek()
                .and_then(|digit| digit.to_digit(10))
                .filter(|digit| c == '%' && *digit > 0);
            let Some(digit) = digit else {
                out.push(c);
                continue;
            };
            rest.next();
            let at = digit as usize - 1;
            if let (Some(level), Some(count)) = (levels.get(at), counts.get(at)) {
                out.push_str(&numeral::write(&level.format, (*count).max(1)));
            }
        }
        out
    }
}
