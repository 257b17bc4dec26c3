//! The body of a document: paragraphs, tables and what is in them.

use super::Parts;
use super::numbering::{Counters, Label};
use crate::block::{Block, Cell, Marker, Table};
use crate::inline::{Look, Runs, link};
use crate::package::{alternate, is_on};
use crate::xml::Node;

/// What the names of footnotes and endnotes begin with.
pub(super) const FOOTNOTE: &str = "";
pub(super) const ENDNOTE: &str = "e";

pub(super) struct Reader<'p> {
    parts: &'p Parts,
    counters: Counters,
    /// Text boxes found in the paragraph being read; they come after it.
    boxes: Vec<Block>,
    /// Fields being read: the instruction, and where its shown text begins.
    fields: Vec<Field>,
    warnings: Vec<String>,
}

struct Field {
    instruction: String,
    shown: Option<Runs>,
}

impl<'p> Reader<'p> {
    pub(super) fn new(parts: &'p Parts) -> Self {
        Self {
            parts,
            counters: Counters::default(),
            boxes: Vec::new(),
            fields: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }

    pub(super) fn blocks(&mut self, node: Node<'_>) -> Vec<Block> {
        let mut blocks = Vec::new();
        self.collect(node, &mut blocks);
        blocks
    }

    /// The notes at the foot of pages or at the end, as Markdown has them.
    pub(super) fn notes(&mut self, node: Node<'_>, kind: &str) -> Vec<Block> {
        let mut notes = Vec::new();
        for note in node
            .children()
            .filter(|child| matches!(child.name(), "footnote" | "endnote"))
        {
            // The first ones are the lines that part notes from text.
            if matches!(
                note.attribute("type"),
                Some("separator" | "continuationSeparator" | "continuationNotice")
            ) {
                continue;
            }
            let text: Vec<String> = self.blocks(note).into_iter().filter_map(text_of).collect();
            let name = format!("{kind}{}", note.attribute("id").unwrap_or(""));
            notes.push(Block::Note {
                name,
                text: text.join(" "),
            });
        }
        notes
    }

    fn collect(&mut self, node: Node<'_>, blocks: &mut Vec<Block>) {
        for child in node.children() {
            match child.name() {
                "p" => self.paragraph(child, blocks),
                "tbl" => {
                    let table = self.table(child);
                    blocks.push(Block::Table(table));
                }
                "sdt" => child
                    .child("sdtContent")
                    .into_iter()
                    .for_each(|inner| self.collect(inner, blocks)),
                "customXml" | "smartTag" | "ins" | "moveTo" => self.collect(child, blocks),
                "AlternateContent" => alternate(child)
                    .into_iter()
                    .for_each(|inner| self.collect(inner, blocks)),
                "altChunk" => self.warn("a part that was pasted in from another file is left out"),
                _ => {}
            }
        }
    }

    fn paragraph(&mut self, node: Node<'_>, blocks: &mut Vec<Block>) {
        let mut runs = Runs::default();
        self.runs(node, &mut runs);
        let text = runs.finish();
        let boxes = std::mem::take(&mut self.boxes);
        let style = node
            .path(&["pPr", "pStyle"])
            .and_then(|style| style.attribute("val"))
            .unwrap_or("");
        let outline = node
            .path(&["pPr", "outlineLvl"])
            .and_then(|level| level.number::<u8>("val"))
            .filter(|level| *level < 9);
        let heading = outline
            .map(|level| level + 1)
            .or_else(|| self.parts.styles.heading(style));
        if !text.trim().is_empty() {
            let label = self.label(node, style);
            blocks.push(match (heading, label) {
                (Some(level), label) => Block::Heading {
                    level,
                    text: numbered_heading(label.map(|(label, _)| label), &text),
                },
                (None, Some((label, depth))) => Block::Item {
                    depth,
                    marker: label.marker,
                    text: with_label(Some(&label), &text),
                },
                (None, None) if self.parts.styles.is_quote(style) => {
                    Block::Quote(vec![Block::Paragraph(text)])
                }
                (None, None) => Block::Paragraph(text),
            });
        }
        blocks.extend(boxes);
    }

    fn label(&mut self, node: Node<'_>, style: &str) -> Option<(Label, usize)> {
        let own = node.path(&["pPr", "numPr"]);
        let value = |name: &str| {
            own.and_then(|list| list.child(name))
                .and_then(|child| child.attribute("val"))
        };
        let styled = self.parts.styles.list(style);
        let list = value("numId").or(styled.map(|(list, _)| list))?;
        let level = value("ilvl")
            .and_then(|level| level.parse().ok())
            .or(styled.map(|(_, level)| level))
            .unwrap_or(0);
        let label = self.parts.numbering.next(&mut self.counters, list, level)?;
        Some((label, level + self.parts.styles.list_depth(style)))
    }

    fn runs(&mut self, node: Node<'_>, runs: &mut Runs) {
        for child in node.children() {
            match child.name() {
                "r" => self.run(child, runs),
                "hyperlink" => self.hyperlink(child, runs),
                "sdt" => child
                    .child("sdtContent")
                    .into_iter()
                    .for_each(|inner| self.runs(inner, runs)),
                "fldSimple" => self.simple_field(child, runs),
                "ins" | "moveTo" | "smartTag" | "customXml" | "dir" | "bdo" => {
                    self.runs(child, runs)
                }
                "AlternateContent" => alternate(child)
                    .into_iter()
                    .for_each(|inner| self.runs(inner, runs)),
                "oMath" | "oMathPara" => self.push(&child.text(), Look::default(), runs),
                _ => {}
            }
        }
    }

    fn run(&mut self, node: Node<'_>, runs: &mut Runs) {
        let properties = node.child("rPr");
        let has = |name: &str| is_on(properties.and_then(|properties| properties.child(name)));
        if has("vanish") {
            return;
        }
        let style = properties
            .and_then(|properties| properties.child("rStyle"))
            .and_then(|style| style.attribute("val"));
        let look = Look {
            bold: has("b") || style.is_some_and(|style| self.parts.styles.is_bold(style)),
            italic: has("i"),
            struck: has("strike"),
        };
        for child in node.children() {
            self.run_child(child, look, runs);
        }
    }

    fn run_child(&mut self, child: Node<'_>, look: Look, runs: &mut Runs) {
        match child.name() {
            "t" => self.push(&child.text(), look, runs),
            "tab" => self.push(" ", look, runs),
            "br" | "cr" if !matches!(child.attribute("type"), Some("page" | "column")) => {
                self.push("\n", look, runs)
            }
            "noBreakHyphen" => self.push("-", look, runs),
            "sym" => self.symbol(child, runs),
            "ruby" => child
                .child("rubyBase")
                .into_iter()
                .for_each(|base| self.runs(base, runs)),
            "footnoteReference" => self.reference(child, FOOTNOTE, runs),
            "endnoteReference" => self.reference(child, ENDNOTE, runs),
            "fldChar" => self.field_mark(child.attribute("fldCharType").unwrap_or(""), runs),
            "instrText" => {
                if let Some(field) = self.fields.last_mut().filter(|field| field.shown.is_none()) {
                    field.instruction.push_str(&child.text());
                }
            }
            "drawing" | "pict" | "object" => self.drawing(child, runs),
            "AlternateContent" => alternate(child)
                .into_iter()
                .flat_map(Node::children)
                .for_each(|inner| self.run_child(inner, look, runs)),
            _ => {}
        }
    }

    /// Text goes to the innermost field that shows something, or to the paragraph.
    fn push(&mut self, text: &str, look: Look, runs: &mut Runs) {
        match self.fields.last_mut() {
            Some(Field {
                shown: Some(shown), ..
            }) => shown.push(text, look),
            Some(Field { shown: None, .. }) => {}
            None => runs.push(text, look),
        }
    }

    fn push_markdown(&mut self, markdown: &str, runs: &mut Runs) {
        match self
            .fields
            .last_mut()
            .and_then(|field| field.shown.as_mut())
        {
            Some(shown) => shown.push_markdown(markdown),
            None => runs.push_markdown(markdown),
        }
    }

    fn hyperlink(&mut self, node: Node<'_>, runs: &mut Runs) {
        let mut inside = Runs::default();
        let fields = std::mem::take(&mut self.fields);
        self.runs(node, &mut inside);
        self.fields = fields;
        let target = node
            .attribute("r:id")
            .and_then(|id| self.parts.relations.address(id));
        let text = inside.finish();
        let markdown = target.map_or_else(|| text.clone(), |target| link(&text, target));
        self.push_markdown(&markdown, runs);
    }

    fn simple_field(&mut self, node: Node<'_>, runs: &mut Runs) {
        self.fields.push(Field {
            instruction: node.attribute("instr").unwrap_or("").to_owned(),
            shown: Some(Runs::default()),
        });
        self.runs(node, runs);
        self.field_mark("end", runs);
    }

    fn field_mark(&mut self, mark: &str, runs: &mut Runs) {
        match mark {
            "begin" => self.fields.push(Field {
                instruction: String::new(),
                shown: None,
            }),
            "separate" => {
                if let Some(field) = self.fields.last_mut() {
                    field.shown = Some(Runs::default());
                }
            }
            "end" => {
                let Some(field) = self.fields.pop() else {
                    return;
                };
                let text = field.shown.map(Runs::finish).unwrap_or_default();
                let markdown = address_of(&field.instruction)
                    .map_or_else(|| text.clone(), |target| link(&text, target));
                self.push_markdown(&markdown, runs);
            }
            _ => {}
        }
    }

    fn reference(&mut self, node: Node<'_>, kind: &str, runs: &mut Runs) {
        let markdown = format!("[^{kind}{}]", node.attribute("id").unwrap_or(""));
        self.push_markdown(&markdown, runs);
    }

    /// A character of a symbol font. Its code says little without the font; the common bullets are known.
    fn symbol(&mut self, node: Node<'_>, runs: &mut Runs) {
        let code = node
            .attribute("char")
            .and_then(|code| u32::from_str_radix(code, 16).ok())
            .unwrap_or(0);
        let text = match code & 0xff {
            0xfe => "☑",
            0xa8 | 0x6f => "☐",
            0xfc => "✓",
            0xe0 => "→",
            _ => "•",
        };
        self.push(text, Look::default(), runs);
    }

    fn drawing(&mut self, node: Node<'_>, runs: &mut Runs) {
        let mut found_text = false;
        for inner in node.outermost("txbxContent") {
            found_text = true;
            let fields = std::mem::take(&mut self.fields);
            let outer = std::mem::take(&mut self.boxes);
            let blocks = self.blocks(inner);
            self.boxes = outer;
            self.boxes.extend(blocks);
            self.fields = fields;
        }
        let words = node
            .descendants()
            .find(|inner| inner.is("docPr"))
            .and_then(|inner| inner.attribute("descr"))
            .unwrap_or("");
        if !found_text && !words.trim().is_empty() {
            self.push(
                &format!("[{}]", words.trim()),
                Look {
                    italic: true,
                    ..Look::default()
                },
                runs,
            );
        }
    }

    fn table(&mut self, node: Node<'_>) -> Table {
        let mut rows = Vec::new();
        self.table_rows(node, &mut rows);
        Table { rows }
    }

    fn table_rows(&mut self, node: Node<'_>, rows: &mut Vec<Vec<Cell>>) {
        for child in node.children() {
            match child.name() {
                "tr" => {
                    let mut cells = Vec::new();
                    // Columns that a row leaves out at its start.
                    let skipped = child
                        .path(&["trPr", "gridBefore"])
                        .and_then(|skip| skip.number("val"))
                        .unwrap_or(0_usize);
                    if skipped > 0 {
                        cells.push(Cell::text(String::new()).spanning(skipped, 1));
                    }
                    self.table_cells(child, &mut cells);
                    rows.push(cells);
                }
                "sdt" => child
                    .child("sdtContent")
                    .into_iter()
                    .for_each(|inner| self.table_rows(inner, rows)),
                "ins" | "customXml" => self.table_rows(child, rows),
                _ => {}
            }
        }
    }

    fn table_cells(&mut self, node: Node<'_>, cells: &mut Vec<Cell>) {
        for child in node.children() {
            match child.name() {
                "tc" => {
                    let columns = child
                        .path(&["tcPr", "gridSpan"])
                        .and_then(|span| span.number("val"))
                        .unwrap_or(1);
                    let merged = child
                        .path(&["tcPr", "vMerge"])
                        .is_some_and(|merge| merge.attribute("val") != Some("restart"));
                    // A cell that goes on from the row above is there, but empty.
                    let blocks = if merged {
                        Vec::new()
                    } else {
                        self.blocks(child)
                    };
                    cells.push(Cell::new(blocks).spanning(columns, 1));
                }
                "sdt" => child
                    .child("sdtContent")
                    .into_iter()
                    .for_each(|inner| self.table_cells(inner, cells)),
                _ => {}
            }
        }
    }

    fn warn(&mut self, warning: &str) {
        if !self.warnings.iter().any(|known| known == warning) {
            self.warnings.push(warning.to_owned());
        }
    }
}

fn with_label(label: Option<&Label>, text: &str) -> String {
    match label.map(|label| label.text.as_str()) {
        Some(label) if !label.is_empty() => format!("{label} {text}"),
        _ => text.to_owned(),
    }
}

/// A heading is bold by itself, and its number is part of it.
fn numbered_heading(label: Option<Label>, text: &str) -> String {
    let text = plain_heading(text);
    match label {
        Some(Label {
            marker: Marker::Number(number),
            ..
        }) => format!("{number}. {text}"),
        label => with_label(label.as_ref(), &text),
    }
}

fn plain_heading(text: &str) -> String {
    match text
        .strip_prefix("**")
        .and_then(|text| text.strip_suffix("**"))
    {
        Some(inside) if !inside.contains("**") => inside.to_owned(),
        _ => text.to_owned(),
    }
}

fn text_of(block: Block) -> Option<String> {
    match block {
        Block::Paragraph(text) | Block::Heading { text, .. } => Some(text),
        Block::Item {
            text,
            marker: Marker::Bullet,
            ..
        } => Some(format!("- {text}")),
        Block::Item { text, .. } => Some(text),
        _ => None,
    }
}

/// The address in a field such as `HYPERLINK "https://…" \o "…"`.
fn address_of(instruction: &str) -> Option<&str> {
    let rest = instruction.trim().strip_prefix("HYPERLINK")?.trim();
    if rest.starts_with('\\') {
        return None;
    }
    let target = rest.trim_start_matches('"');
    Some(
        target
            .split(if rest.starts_with('"') { '"' } else { ' ' })
            .next()
            .unwrap_or(target),
    )
}
