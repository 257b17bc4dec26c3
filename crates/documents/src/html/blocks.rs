//! The elements of a page as blocks.

use url::Url;

use super::content::{is_beside, is_unseen};
use crate::block::{Block, Cell, Marker, Table};
use crate::inline::{Look, Runs, link};
use crate::xml::Node;

pub(super) fn of(content: Node<'_>, base: Option<&Url>, without_navigation: bool) -> Vec<Block> {
    let mut reader = Reader {
        base,
        without_navigation,
        blocks: Vec::new(),
        runs: Runs::default(),
        lists: Vec::new(),
        item: None,
    };
    reader.children(content, Look::default());
    reader.end_paragraph();
    reader.blocks
}

struct Reader<'u> {
    base: Option<&'u Url>,
    without_navigation: bool,
    blocks: Vec<Block>,
    runs: Runs,
    /// The open lists: the number of the next item, or none for bullets.
    lists: Vec<Option<u32>>,
    /// The marker of the item whose first text is still to come.
    item: Option<Marker>,
}

impl Reader<'_> {
    fn children(&mut self, node: Node<'_>, look: Look) {
        for child in node.children() {
            self.node(child, look);
        }
    }

    fn node(&mut self, node: Node<'_>, look: Look) {
        if is_unseen(node) || self.without_navigation && is_beside(node) {
            return;
        }
        match node.name() {
            "" => self.text(node.own_text(), look),
            "br" => self.runs.push("\n", look),
            "b" | "strong" => self.children(node, Look { bold: true, ..look }),
            "i" | "em" | "cite" | "var" => self.children(
                node,
                Look {
                    italic: true,
                    ..look
                },
            ),
            "s" | "del" | "strike" => self.children(
                node,
                Look {
                    struck: true,
                    ..look
                },
            ),
            "a" => self.anchor(node, look),
            "img" => self.image(node),
            "code" | "kbd" | "samp" | "tt" => self.inline_code(node),
            "rp" | "rt" => {}
            "math" => self.formula(node),
            name => self.block_element(name, node, look),
        }
    }

    fn block_element(&mut self, name: &str, node: Node<'_>, look: Look) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.end_paragraph();
                let text = self.inline_of(node);
                self.blocks.push(Block::Heading {
                    level: name.as_bytes()[1] - b'0',
                    text,
                });
            }
            "ul" | "menu" => self.list(node, None, look),
            "ol" => self.list(node, Some(node.number("start").unwrap_or(1)), look),
            "li" => self.list_item(node, look),
            "dt" => self.block(node, Look { bold: true, ..look }),
            "dd" => {
                self.end_paragraph();
                self.lists.push(None);
                self.list_item(node, look);
                self.lists.pop();
            }
            "pre" => self.preformatted(node),
            "blockquote" => {
                self.end_paragraph();
                let inside = of(node, self.base, self.without_navigation);
                self.blocks.push(Block::Quote(inside));
            }
            "hr" => {
                self.end_paragraph();
                self.blocks.push(Block::Rule);
            }
            "table" => self.table(node, look),
            "caption" => self.block(node, Look { bold: true, ..look }),
            _ if is_inline(name) => self.children(node, look),
            _ => self.block(node, look),
        }
    }

    fn block(&mut self, node: Node<'_>, look: Look) {
        self.end_paragraph();
        self.children(node, look);
        self.end_paragraph();
    }

    fn text(&mut self, text: &str, look: Look) {
        let mut plain = String::with_capacity(text.len());
        for c in text.chars() {
            let blank = matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}');
            if !blank {
                plain.push(c);
            } else if !plain.ends_with(' ') {
                plain.push(' ');
            }
        }
        self.runs.push(&plain, look);
    }

    fn anchor(&mut self, node: Node<'_>, look: Look) {
        // A link around whole blocks, as cards have it, would tear them apart: its texts alone then.
        if node
            .descendants()
            .skip(1)
            .any(|inner| !inner.name().is_empty() && !is_inline(inner.name()))
        {
            return self.children(node, look);
        }
        let text = self.inline_of(node);
        let target = node.attribute("href").unwrap_or("").trim();
        if target.starts_with('#') || target.is_empty() {
            self.runs.push_markdown(&text);
        } else if !text.trim().is_empty() {
            let space = |edge: bool| if edge { " " } else { "" };
            let before = space(text.starts_with(' '));
            let after = space(text.ends_with(' '));
            self.runs.push_markdown(&format!(
                "{before}{}{after}",
                link(&text, &self.absolute(target))
            ));
        }
    }

    fn image(&mut self, node: Node<'_>) {
        let words = node.attribute("alt").unwrap_or("").trim();
        let source = node.attribute("src").unwrap_or("").trim();
        if words.is_empty() || source.is_empty() || source.starts_with("data:") {
            return self.runs.push(words, Look::default());
        }
        let target = self.absolute(source);
        self.runs.push_markdown(&format!(
            "!{}",
            link(&crate::inline::escape(words), &target)
        ));
    }

    fn inline_code(&mut self, node: Node<'_>) {
        let text = node.text();
        let text = text.trim();
        if !text.is_empty() {
            let mark = if text.contains('`') { "``" } else { "`" };
            let space = if mark.len() > 1 { " " } else { "" };
            self.runs.push_markdown(&format!(
                "{mark}{space}{}{space}{mark}",
                text.replace('\n', " ")
            ));
        }
    }

    fn formula(&mut self, node: Node<'_>) {
        let source = node
            .descendants()
            .find(|inner| inner.is("annotation"))
            .map(Node::text);
        match source {
            Some(source) => self.runs.push_markdown(&format!("${}$", source.trim())),
            None => self.text(&node.text(), Look::default()),
        }
    }

    fn list(&mut self, node: Node<'_>, first: Option<u32>, look: Look) {
        self.end_paragraph();
        self.lists.push(first);
        self.children(node, look);
        self.end_paragraph();
        self.lists.pop();
    }

    fn list_item(&mut self, node: Node<'_>, look: Look) {
        self.end_paragraph();
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number = number.saturating_add(1);
                Marker::Number(*number - 1)
            }
            _ => Marker::Bullet,
        };
        self.item = Some(marker);
        self.children(node, look);
        self.end_paragraph();
        self.item = None;
    }

    fn preformatted(&mut self, node: Node<'_>) {
        self.end_paragraph();
        let class = |node: Node<'_>| node.attribute("class").unwrap_or("").to_owned();
        let inner = node.child("code").map(class).unwrap_or_default();
        let classes = format!("{} {inner}", class(node));
        let language = classes.split_whitespace().find_map(|word| {
            word.strip_prefix("language-")
                .or_else(|| word.strip_prefix("lang-"))
        });
        self.blocks.push(Block::Code {
            language: language.unwrap_or("").to_owned(),
            text: node.text().trim_matches('\n').to_owned(),
        });
    }

    fn table(&mut self, node: Node<'_>, look: Look) {
        self.end_paragraph();
        let inside = || node.descendants().skip(1);
        let for_layout = node.attribute("role") == Some("presentation")
            || inside().any(|inner| inner.is("table"));
        if for_layout {
            return self.children(node, look);
        }
        if let Some(caption) = node.child("caption") {
            self.block(caption, Look { bold: true, ..look });
        }
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for row in inside().filter(|inner| inner.is("tr") && !is_unseen(*inner)) {
            let cells = row
                .children()
                .filter(|cell| matches!(cell.name(), "td" | "th") && !is_unseen(*cell));
            let cells: Vec<Cell> = cells.map(|cell| self.cell(cell)).collect();
            if !cells.is_empty() {
                rows.push(cells);
            }
        }
        if !rows.is_empty() {
            self.blocks.push(Block::Table(Table { rows }));
        }
    }

    fn cell(&self, node: Node<'_>) -> Cell {
        let blocks = of(node, self.base, self.without_navigation);
        Cell::new(blocks).spanning(
            node.number("colspan").unwrap_or(1),
            node.number("rowspan").unwrap_or(1),
        )
    }

    fn inline_of(&self, node: Node<'_>) -> String {
        let mut inside = Reader {
            base: self.base,
            without_navigation: false,
            blocks: Vec::new(),
            runs: Runs::default(),
            lists: Vec::new(),
            item: None,
        };
        inside.children(node, Look::default());
        if inside.blocks.is_empty() {
            return inside.runs.finish();
        }
        inside.end_paragraph();
        let texts = inside.blocks.into_iter().filter_map(|block| match block {
            Block::Paragraph(text) | Block::Heading { text, .. } | Block::Item { text, .. } => {
                Some(text)
            }
            _ => None,
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.runs).finish();
        if text.trim().is_empty() {
            return;
        }
        if self.lists.is_empty() {
            self.blocks.push(Block::Paragraph(text));
            return;
        }
        let marker = self
            .item
            .replace(Marker::Continued)
            .unwrap_or(Marker::Continued);
        self.blocks.push(Block::Item {
            depth: self.lists.len() - 1,
            marker,
            text,
        });
    }

    fn absolute(&self, target: &str) -> String {
        match self.base.map(|base| base.join(target)) {
            Some(Ok(url)) => url.into(),
            _ => target.to_owned(),
        }
    }
}

fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "a" | "abbr"
            | "b"
            | "bdi"
            | "bdo"
            | "big"
            | "br"
            | "cite"
            | "code"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "img"
            | "ins"
            | "kbd"
            | "label"
            | "mark"
            | "math"
            | "meter"
            | "nobr"
            | "output"
            | "picture"
            | "progress"
            | "q"
            | "rp"
            | "rt"
            | "ruby"
            | "s"
            | "samp"
            | "small"
            | "source"
            | "span"
            | "strike"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
            | "wbr"
            | "svg"
    )
}
