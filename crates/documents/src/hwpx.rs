//! HWPX: Hangul documents as a zip archive of XML (KS X 6101).

use std::collections::HashMap;

use crate::block::{Block, Cell};
use crate::error::{Error, Fault, Format};
use crate::hangul::{self, Head, Level, Numbering, Numeral, Placed};
use crate::inline::{Look, Runs, link};
use crate::metadata::Metadata;
use crate::package;
use crate::xml::{Node, Tree};
use crate::zip::Archive;
use crate::{Document, Limits};

pub(crate) fn parse(archive: &Archive<'_>, limits: &Limits) -> Result<Document, Error> {
    read(archive, limits).map_err(|fault| fault.of(Format::Hwpx))
}

fn read(archive: &Archive<'_>, limits: &Limits) -> Result<Document, Fault> {
    if is_locked(archive, limits) {
        return Err(Fault::Encrypted);
    }
    let contents = package::read(archive, "Contents/content.hpf", limits)?;
    let header = package::read(archive, "Contents/header.xml", limits)?;
    let sections = sections(archive, contents.as_ref());
    if sections.is_empty() {
        return Err(Fault::Broken("it has no section"));
    }
    let mut reader = Reader::new(header.as_ref());
    let mut blocks = Vec::new();
    for part in &sections {
        let tree =
            package::read(archive, part, limits)?.ok_or(Fault::Broken("a section is missing"))?;
        reader.paragraphs(tree.root(), &mut blocks);
    }
    blocks.append(&mut reader.notes);
    let mut metadata = Metadata::new(Format::Hwpx);
    properties(contents.as_ref(), &mut metadata);
    metadata.number("sections", sections.len());
    Ok(crate::write(&blocks, metadata, Vec::new(), limits))
}

/// A locked document lists how its parts are encrypted.
fn is_locked(archive: &Archive<'_>, limits: &Limits) -> bool {
    let manifest = package::read(archive, "META-INF/manifest.xml", limits);
    matches!(manifest, Ok(Some(tree)) if tree.root().descendants().any(|node| node.is("encryption-data")))
}

/// The sections in reading order: as the package lists them, or by their numbers.
fn sections(archive: &Archive<'_>, contents: Option<&Tree>) -> Vec<String> {
    let listed = contents
        .map(|tree| listed_sections(archive, tree.root()))
        .unwrap_or_default();
    if !listed.is_empty() {
        return listed;
    }
    let mut found: Vec<(u32, String)> = archive
        .names()
        .filter_map(|name| {
            Some((
                name.strip_prefix("Contents/section")?
                    .strip_suffix(".xml")?
                    .parse()
                    .ok()?,
                name.to_owned(),
            ))
        })
        .collect();
    found.sort();
    found.into_iter().map(|(_, name)| name).collect()
}

fn listed_sections(archive: &Archive<'_>, root: Node<'_>) -> Vec<String> {
    let items = root.child("manifest").into_iter().flat_map(Node::children);
    let files: HashMap<&str, &str> = items
        .filter_map(|item| Some((item.attribute("id")?, item.attribute("href")?)))
        .collect();
    let order = root
        .child("spine")
        .into_iter()
        .flat_map(Node::children)
        .filter_map(|item| files.get(item.attribute("idref")?).copied());
    let sections = order.filter(|path| {
        path.rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with("section"))
    });
    // Some writers name the parts from the root of the archive, some from the folder of the list.
    sections
        .filter_map(|path| {
            [path.to_owned(), format!("Contents/{path}")]
                .into_iter()
                .find(|path| archive.has(path))
        })
        .collect()
}

fn properties(contents: Option<&Tree>, metadata: &mut Metadata) {
    let Some(own) = contents.and_then(|tree| tree.root().child("metadata")) else {
        return;
    };
    metadata.text(
        "title",
        &own.child("title").map(Node::text).unwrap_or_default(),
    );
    for (name, key) in [
        ("creator", "author"),
        ("subject", "subject"),
        ("CreatedDate", "created"),
        ("ModifiedDate", "modified"),
    ] {
        let found = own
            .children()
            .find(|node| node.is("meta") && node.attribute("name") == Some(name));
        metadata.text(key, &found.map(Node::text).unwrap_or_default());
    }
}

struct Reader {
    /// How paragraphs of a shape begin.
    heads: HashMap<String, Head>,
    /// The same by style, for shapes that do not say.
    styled: HashMap<String, Head>,
    looks: HashMap<String, Look>,
    numbering: Numbering,
    notes: Vec<Block>,
}

/// A paragraph being read: its text, and what stands in it but comes after it.
#[derive(Default)]
struct Paragraph {
    runs: Runs,
    after: Vec<Block>,
    /// The link being read: its target and its text.
    link: Option<(String, Runs)>,
}

impl Paragraph {
    fn push(&mut self, text: &str, look: Look) {
        self.link
            .as_mut()
            .map_or(&mut self.runs, |(_, runs)| runs)
            .push(text, look);
    }

    fn push_markdown(&mut self, markdown: &str) {
        self.link
            .as_mut()
            .map_or(&mut self.runs, |(_, runs)| runs)
            .push_markdown(markdown);
    }

    fn end_link(&mut self) {
        if let Some((target, runs)) = self.link.take() {
            self.runs.push_markdown(&link(&runs.finish(), &target));
        }
    }
}

impl Reader {
    fn new(header: Option<&Tree>) -> Self {
        let mut reader = Self {
            heads: HashMap::new(),
            styled: HashMap::new(),
            looks: HashMap::new(),
            numbering: Numbering::default(),
            notes: Vec::new(),
        };
        let Some(lists) = header.and_then(|tree| tree.root().child("refList")) else {
            return reader;
        };
        let each = |list: &'static str, item: &'static str| {
            lists
                .child(list)
                .into_iter()
                .flat_map(Node::children)
                .filter(move |node| node.is(item))
                .filter_map(|node| Some((node.attribute("id")?.to_owned(), node)))
        };
        for (id, node) in each("paraProperties", "paraPr") {
            reader.heads.insert(id, head(node));
        }
        for (id, node) in each("charProperties", "charPr") {
            let has = |name: &str| node.child(name).is_some();
            let struck = node
                .child("strikeout")
                .is_some_and(|line| !matches!(line.attribute("shape"), None | Some("NONE" | "3D")));
            reader.looks.insert(
                id,
                Look {
                    bold: has("bold"),
                    italic: has("italic"),
                    struck,
                },
            );
        }
        for (id, node) in each("styles", "style") {
            let name = node.attribute("name").unwrap_or("");
            if let Some(level) = hangul::outline_of_style(name)
                .or_else(|| hangul::outline_of_style(node.attribute("engName").unwrap_or("")))
            {
                reader.styled.insert(id, Head::Titled(level));
            }
        }
        for (id, node) in each("numberings", "numbering") {
            let levels = node
                .children()
                .filter(|level| level.is("paraHead"))
                .map(|level| Level {
                    numeral: Numeral::named(level.attribute("numFormat").unwrap_or("")),
                    pattern: level.text(),
                    start: level.number("start").unwrap_or(1),
                });
            reader
                .numbering
                .add(id.parse().unwrap_or(0), levels.collect());
        }
        reader
    }

    /// Every paragraph directly within a section, a cell, a box.
    fn paragraphs(&mut self, node: Node<'_>, blocks: &mut Vec<Block>) {
        for paragraph in node.children().filter(|child| child.is("p")) {
            self.paragraph(paragraph, blocks);
        }
    }

    fn inside(&mut self, node: Node<'_>) -> Vec<Block> {
        let mut blocks = Vec::new();
        for list in node.children().filter(|child| child.is("subList")) {
            self.paragraphs(list, &mut blocks);
        }
        blocks
    }

    fn paragraph(&mut self, node: Node<'_>, blocks: &mut Vec<Block>) {
        let mut paragraph = Paragraph::default();
        for run in node.children().filter(|child| child.is("run")) {
            let look = run
                .attribute("charPrIDRef")
                .and_then(|id| self.looks.get(id))
                .copied()
                .unwrap_or_default();
            for child in run.children() {
                self.run_child(child, look, &mut paragraph);
            }
        }
        paragraph.end_link();
        let text = paragraph.runs.finish();
        if !text.trim().is_empty() {
            let head = node
                .attribute("paraPrIDRef")
                .and_then(|id| self.heads.get(id))
                .copied()
                .unwrap_or_default();
            let styled = || {
                node.attribute("styleIDRef")
                    .and_then(|id| self.styled.get(id))
                    .copied()
                    .unwrap_or_default()
            };
            let head = if head == Head::None { styled() } else { head };
            blocks.push(self.numbering.block(head, text));
        }
        blocks.append(&mut paragraph.after);
    }

    fn run_child(&mut self, node: Node<'_>, look: Look, paragraph: &mut Paragraph) {
        match node.name() {
            "t" => text_of(node, look, paragraph),
            "secPr" => self.numbering.outline = node.number("outlineShapeIDRef"),
            "ctrl" => node
                .children()
                .for_each(|control| self.control(control, paragraph)),
            "tbl" => {
                if let Some(caption) = node.child("caption") {
                    let caption = self.inside(caption);
                    paragraph.after.extend(caption);
                }
                let table = self.table(node);
                paragraph.after.push(Block::Table(table));
            }
            "equation" => {
                let script = node.child("script").map(Node::text).unwrap_or_default();
                paragraph.push_markdown(&format!(
                    "`{}`",
                    script.trim().replace('`', "'").replace('\n', " ")
                ));
            }
            "dutmal" => paragraph.push(
                &node.child("mainText").map(Node::text).unwrap_or_default(),
                look,
            ),
            "compose" => paragraph.push(node.attribute("composeText").unwrap_or(""), look),
            "rect" | "ellipse" | "arc" | "polygon" | "curve" | "container" | "line" | "pic"
            | "ole" | "textart" => self.drawing(node, paragraph),
            _ => {}
        }
    }

    fn drawing(&mut self, node: Node<'_>, paragraph: &mut Paragraph) {
        for holder in ["drawText", "caption"] {
            for text in node.outermost(holder) {
                let blocks = self.inside(text);
                paragraph.after.extend(blocks);
            }
        }
    }

    fn control(&mut self, node: Node<'_>, paragraph: &mut Paragraph) {
        match node.name() {
            "fieldBegin" if node.attribute("type") == Some("HYPERLINK") => {
                paragraph.end_link();
                paragraph.link = link_target(node).map(|target| (target, Runs::default()));
            }
            "fieldEnd" => paragraph.end_link(),
            "footNote" | "endNote" => {
                // Its place in the order is kept before what is in it, which may hold notes itself.
                let name = (self.notes.len() + 1).to_string();
                let place = self.notes.len();
                self.notes.push(Block::Note {
                    name: name.clone(),
                    text: String::new(),
                });
                let outer = std::mem::replace(&mut self.numbering.paused, true);
                let inside = self.inside(node);
                self.numbering.paused = outer;
                let texts: Vec<String> = inside.into_iter().filter_map(paragraph_text).collect();
                self.notes[place] = Block::Note {
                    name: name.clone(),
                    text: texts.join(" "),
                };
                paragraph.push_markdown(&format!("[^{name}]"));
            }
            "autoNum"
                if matches!(
                    node.attribute("numType"),
                    Some("TABLE" | "PICTURE" | "EQUATION")
                ) =>
            {
                paragraph.push(node.attribute("num").unwrap_or(""), Look::default());
            }
            _ => {}
        }
    }

    fn table(&mut self, node: Node<'_>) -> crate::block::Table {
        let mut cells = Vec::new();
        for (at, row) in node.children().filter(|child| child.is("tr")).enumerate() {
            for (column, cell) in row.children().filter(|child| child.is("tc")).enumerate() {
                let place = |name: &str, usual: usize| {
                    cell.child("cellAddr")
                        .and_then(|place| place.number(name))
                        .unwrap_or(usual)
                };
                let span = |name: &str| {
                    cell.child("cellSpan")
                        .and_then(|span| span.number(name))
                        .unwrap_or(1)
                };
                let blocks = self.inside(cell);
                let (row, column) = (place("rowAddr", at), place("colAddr", column));
                cells.push(Placed {
                    row,
                    column,
                    cell: Cell::new(blocks).spanning(span("colSpan"), span("rowSpan")),
                });
            }
        }
        hangul::table(cells)
    }
}

/// The text of a `<hp:t>`, which has its special characters as elements and may mark what was deleted.
fn text_of(node: Node<'_>, look: Look, paragraph: &mut Paragraph) {
    let mut deleted = false;
    for child in node.children() {
        match child.name() {
            "" if !deleted => paragraph.push(child.own_text(), look),
            "lineBreak" => paragraph.push("\n", look),
            "tab" | "nbSpace" | "fwSpace" => paragraph.push(" ", look),
            "hyphen" => paragraph.push("-", look),
            "deleteBegin" => deleted = true,
            "deleteEnd" => deleted = false,
            _ => {}
        }
    }
}

fn head(node: Node<'_>) -> Head {
    // Newer files put it into a switch for what the reading program understands.
    let Some(heading) = node.outermost("heading").next() else {
        return Head::None;
    };
    let level = heading.number("level").unwrap_or(0_usize).min(9);
    match heading.attribute("type") {
        Some("OUTLINE") => Head::Outline(level),
        Some("NUMBER") => Head::Number {
            list: heading.number("idRef").unwrap_or(0),
            level,
        },
        Some("BULLET") => Head::Bullet { level },
        _ => Head::None,
    }
}

/// The address of a link: a parameter of its own, or the first piece of the command (`https\://…;1;0;0;`).
fn link_target(node: Node<'_>) -> Option<String> {
    let parameter = |wanted: &str| {
        let found = node
            .descendants()
            .find(|inner| inner.is("stringParam") && inner.attribute("name") == Some(wanted));
        found.map(Node::text).filter(|text| !text.trim().is_empty())
    };
    parameter("Path")
        .or_else(|| parameter("Command").map(|command| hangul::command_target(&command)))
}

fn paragraph_text(block: Block) -> Option<String> {
    match block {
        Block::Paragraph(text) | Block::Heading { text, .. } | Block::Item { text, .. } => {
            Some(text)
        }
        _ => None,
    }
}
