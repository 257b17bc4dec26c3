//! PowerPoint presentations: slides in their order, titles as headings, notes as quotations.

use crate::block::{Block, Cell, Marker, Table};
use crate::error::{Error, Fault, Format};
use crate::inline::{Look, Runs, escape, link, tidy};
use crate::metadata::Metadata;
use crate::package::{self, Relations, alternate};
use crate::xml::Node;
use crate::zip::Archive;
use crate::{Document, Limits};

pub(crate) fn parse(archive: &Archive<'_>, limits: &Limits) -> Result<Document, Error> {
    read(archive, limits).map_err(|fault| fault.of(Format::Pptx))
}

fn read(archive: &Archive<'_>, limits: &Limits) -> Result<Document, Fault> {
    let main = package::main_part(archive, "ppt/presentation.xml", limits)?;
    let relations = Relations::of(archive, &main, limits)?;
    let presentation =
        package::read(archive, &main, limits)?.ok_or(Fault::Broken("its main part is missing"))?;
    let ids = presentation
        .root()
        .child("sldIdLst")
        .into_iter()
        .flat_map(|list| list.children());
    let slides: Vec<&str> = ids
        .filter_map(|id| relations.part(id.attribute("r:id")?))
        .collect();

    let mut warnings = Vec::new();
    let mut blocks = Vec::new();
    for (at, part) in slides.iter().enumerate() {
        if at as u64 >= limits.pages_max {
            warnings.push(format!(
                "only the first {} of {} slides are here",
                limits.pages_max,
                slides.len()
            ));
            break;
        }
        blocks.extend(slide(archive, part, at + 1, &mut warnings, limits)?);
    }
    let mut metadata = Metadata::new(Format::Pptx);
    package::properties(archive, &mut metadata, limits);
    metadata.number("slides", slides.len());
    Ok(crate::write(&blocks, metadata, warnings, limits))
}

fn slide(
    archive: &Archive<'_>,
    part: &str,
    number: usize,
    warnings: &mut Vec<String>,
    limits: &Limits,
) -> Result<Vec<Block>, Fault> {
    let relations = Relations::of(archive, part, limits)?;
    let Some(tree) = package::read(archive, part, limits)? else {
        warnings.push(format!("slide {number} is missing in the file"));
        return Ok(Vec::new());
    };
    let root = tree.root();
    if root.attribute("show") == Some("0") {
        warnings.push(format!("slide {number} is hidden in the presentation"));
    }
    let mut reader = Slide {
        relations: &relations,
        title: String::new(),
        blocks: Vec::new(),
        left_out: 0,
    };
    if let Some(shapes) = root.path(&["cSld", "spTree"]) {
        reader.shapes(shapes);
    }
    if reader.left_out > 0 {
        warnings.push(format!(
            "slide {number} has {} chart(s) or diagram(s), which are left out",
            reader.left_out
        ));
    }
    let title = tidy(&reader.title).replace('\n', " ");
    let text = if title.is_empty() {
        format!("Slide {number}")
    } else {
        format!("Slide {number}: {title}")
    };
    let mut blocks = vec![Block::Heading { level: 2, text }];
    blocks.append(&mut reader.blocks);
    if let Some(notes) = relations
        .of_kind("notesSlide")
        .map_or(Ok(None), |part| package::read(archive, part, limits))?
    {
        blocks.extend(notes_of(notes.root()));
    }
    Ok(blocks)
}

/// What the speaker wrote for themselves: the body of the notes page, not its picture of the slide nor its page number.
fn notes_of(root: Node<'_>) -> Option<Block> {
    let relations = Relations::default();
    let mut reader = Slide {
        relations: &relations,
        title: String::new(),
        blocks: Vec::new(),
        left_out: 0,
    };
    for shape in root
        .path(&["cSld", "spTree"])?
        .children()
        .filter(|shape| placeholder(*shape) == Some("body"))
    {
        if let Some(text) = shape.child("txBody") {
            reader.paragraphs(text, false);
        }
    }
    if reader.blocks.is_empty() {
        return None;
    }
    reader
        .blocks
        .insert(0, Block::Paragraph("**Notes**".to_owned()));
    Some(Block::Quote(reader.blocks))
}

struct Slide<'r> {
    relations: &'r Relations,
    title: String,
    blocks: Vec<Block>,
    left_out: usize,
}

impl Slide<'_> {
    fn shapes(&mut self, node: Node<'_>) {
        for shape in node.children() {
            match shape.name() {
                "sp" | "cxnSp" => self.shape(shape),
                "grpSp" => self.shapes(shape),
                "graphicFrame" => self.frame(shape),
                "AlternateContent" => alternate(shape)
                    .into_iter()
                    .for_each(|inner| self.shapes(inner)),
                "pic" => {
                    let words = shape
                        .path(&["nvPicPr", "cNvPr"])
                        .and_then(|properties| properties.attribute("descr"))
                        .unwrap_or("");
                    if !words.trim().is_empty() {
                        self.blocks
                            .push(Block::Paragraph(format!("*[{}]*", escape(words.trim()))));
                    }
                }
                _ => {}
            }
        }
    }

    fn shape(&mut self, shape: Node<'_>) {
        let Some(text) = shape.child("txBody") else {
            return;
        };
        match placeholder(shape) {
            Some("title" | "ctrTitle") if self.title.is_empty() => {
                let lines = text
                    .children()
                    .filter(|child| child.is("p"))
                    .map(|paragraph| self.inline(paragraph));
                self.title = lines.collect::<Vec<_>>().join(" ").trim().to_owned();
            }
            // Date, footer and number stand on every slide.
            Some("dt" | "ftr" | "sldNum" | "hdr") => {}
            Some("body" | "obj" | "") => self.paragraphs(text, true),
            _ => self.paragraphs(text, false),
        }
    }

    /// Paragraphs of a shape. In the main area of a slide they are items of a list unless they say otherwise.
    fn paragraphs(&mut self, text: Node<'_>, bulleted: bool) {
        let mut numbers = [0_u32; 10];
        for paragraph in text.children().filter(|child| child.is("p")) {
            let line = self.inline(paragraph);
            let properties = paragraph.child("pPr");
            let level = properties
                .and_then(|properties| properties.number::<usize>("lvl"))
                .unwrap_or(0)
                .min(8);
            let has =
                |name: &str| properties.is_some_and(|properties| properties.child(name).is_some());
            if line.trim().is_empty() {
                continue;
            }
            if has("buAutoNum") {
                numbers[level] += 1;
                self.blocks.push(Block::Item {
                    depth: level,
                    marker: Marker::Number(numbers[level]),
                    text: line,
                });
            } else if !has("buNone") && (bulleted || has("buChar") || level > 0) {
                numbers[level + 1..].fill(0);
                self.blocks.push(Block::Item {
                    depth: level,
                    marker: Marker::Bullet,
                    text: line,
                });
            } else {
                numbers.fill(0);
                self.blocks.push(Block::Paragraph(line));
            }
        }
    }

    fn inline(&self, paragraph: Node<'_>) -> String {
        let mut runs = Runs::default();
        for child in paragraph.children() {
            match child.name() {
                "r" | "fld" => {
                    let text = child.child("t").map(Node::text).unwrap_or_default();
                    let properties = child.child("rPr");
                    let on = |name: &str| {
                        properties
                            .is_some_and(|node| matches!(node.attribute(name), Some("1" | "true")))
                    };
                    let target = properties
                        .and_then(|node| node.child("hlinkClick"))
                        .and_then(|link| link.attribute("r:id"));
                    match target.and_then(|id| self.relations.address(id)) {
                        Some(target) => runs.push_markdown(&link(&escape(&text), target)),
                        None => runs.push(
                            &text,
                            Look {
                                bold: on("b"),
                                italic: on("i"),
                                struck: false,
                            },
                        ),
                    }
                }
                "br" => runs.push("\n", Look::default()),
                "AlternateContent" | "m" => runs.push(&child.text(), Look::default()),
                _ => {}
            }
        }
        runs.finish()
    }

    fn frame(&mut self, frame: Node<'_>) {
        let Some(table) = frame.outermost("tbl").next() else {
            self.left_out += 1;
            return;
        };
        let mut rows = Vec::new();
        for row in table.children().filter(|child| child.is("tr")) {
            let mut cells = Vec::new();
            for cell in row.children().filter(|child| child.is("tc")) {
                // Places that a merged cell reaches are there, but empty; its span would count them twice.
                let covered = ["hMerge", "vMerge"]
                    .iter()
                    .any(|name| matches!(cell.attribute(name), Some("1" | "true")));
                cells.push(if covered {
                    Cell::text(String::new())
                } else {
                    self.cell(cell)
                });
            }
            rows.push(cells);
        }
        self.blocks.push(Block::Table(Table { rows }));
    }

    fn cell(&self, cell: Node<'_>) -> Cell {
        let paragraphs = cell
            .child("txBody")
            .into_iter()
            .flat_map(|text| text.children())
            .filter(|child| child.is("p"));
        let lines: Vec<String> = paragraphs
            .map(|paragraph| self.inline(paragraph))
            .filter(|line| !line.trim().is_empty())
            .collect();
        Cell::text(lines.join("\n"))
    }
}

/// The role of a shape: `None` if it is no placeholder, empty if it is one without a type (the main area).
fn placeholder(shape: Node<'_>) -> Option<&str> {
    let place = shape.path(&["nvSpPr", "nvPr", "ph"])?;
    Some(place.attribute("type").unwrap_or(""))
}
