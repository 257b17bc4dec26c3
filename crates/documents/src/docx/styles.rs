//! Paragraph styles: which are headings, and which list they belong to.

use std::collections::HashMap;

use crate::package::is_on;
use crate::xml::{Node, Tree};

#[derive(Default)]
pub(super) struct Styles(HashMap<String, Style>);

#[derive(Default, Clone)]
struct Style {
    name: String,
    parent: Option<String>,
    outline: Option<u8>,
    list: Option<(String, usize)>,
    bold: bool,
}

/// Longer chains of styles are loops.
const PARENTS_MAX: usize = 16;

impl Styles {
    pub(super) fn of(tree: Option<&Tree>) -> Self {
        let Some(tree) = tree else {
            return Self::default();
        };
        let styles = tree.root().children().filter(|node| node.is("style"));
        Self(
            styles
                .filter_map(|node| Some((node.attribute("styleId")?.to_owned(), Style::of(node))))
                .collect(),
        )
    }

    /// The heading level (from 1) that a style gives its paragraphs.
    pub(super) fn heading(&self, id: &str) -> Option<u8> {
        self.chain(id)
            .find_map(|style| style.outline.or_else(|| heading_of_name(&style.name)))
    }

    /// The list (id, level) that a style puts its paragraphs in.
    pub(super) fn list(&self, id: &str) -> Option<(&str, usize)> {
        self.chain(id)
            .find_map(|style| style.list.as_ref())
            .map(|(list, level)| (list.as_str(), *level))
    }

    /// How much deeper a style puts its paragraphs: `List Bullet 2` is a list of its own that stands inside another.
    pub(super) fn list_depth(&self, id: &str) -> usize {
        let name = self.0.get(id).map_or("", |style| style.name.as_str());
        let digit = name
            .strip_prefix("List ")
            .and_then(|rest| rest.chars().last())
            .and_then(|last| last.to_digit(10));
        digit.map_or(0, |digit| digit.saturating_sub(1) as usize)
    }

    /// Whether a style of characters is bold.
    pub(super) fn is_bold(&self, id: &str) -> bool {
        self.chain(id).any(|style| style.bold)
    }

    /// A quotation, by the name that Word gives the style in every language.
    pub(super) fn is_quote(&self, id: &str) -> bool {
        self.0.get(id).is_some_and(|style| {
            matches!(
                style.name.to_ascii_lowercase().as_str(),
                "quote" | "intense quote" | "인용"
            )
        })
    }

    fn chain(&self, id: &str) -> impl Iterator<Item = &Style> {
        let mut next = self.0.get(id);
        let mut steps = 0;
        std::iter::from_fn(move || {
            let style = next?;
            steps += 1;
            next = style
                .parent
                .as_deref()
                .filter(|_| steps < PARENTS_MAX)
                .and_then(|parent| self.0.get(parent));
            Some(style)
        })
    }
}

impl Style {
    fn of(node: Node<'_>) -> Self {
        let value = |path: &[&str]| node.path(path).and_then(|node| node.attribute("val"));
        let outline = value(&["pPr", "outlineLvl"]).and_then(|level| level.parse::<u8>().ok());
        let level = value(&["pPr", "numPr", "ilvl"])
            .and_then(|level| level.parse().ok())
            .unwrap_or(0);
        Self {
            name: value(&["name"]).unwrap_or("").to_owned(),
            parent: value(&["basedOn"]).map(str::to_owned),
            outline: outline.filter(|level| *level < 9).map(|level| level + 1),
            list: value(&["pPr", "numPr", "numId"]).map(|list| (list.to_owned(), level)),
            bold: node.attribute("type") == Some("character") && is_on(node.path(&["rPr", "b"])),
        }
    }
}

/// Programs that write no outline level still use the names that Word has for its headings.
fn heading_of_name(name: &str) -> Option<u8> {
    let name = name.to_lowercase();
    if name == "title" {
        return Some(1);
    }
    let level = name
        .strip_prefix("heading")
        .or_else(|| name.strip_prefix("제목"))?
        .trim()
        .parse()
        .ok()?;
    (1..=9).contains(&level).then_some(level)
}
