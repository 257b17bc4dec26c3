//! Blocks written as Markdown, up to a number of bytes.

use crate::block::{Block, Cell, Marker, Table};
use crate::inline::tidy;

/// Writes blocks until the limit; from then on everything is left out, and [`Writer::is_full`] says so.
pub(crate) struct Writer {
    out: String,
    bytes_max: usize,
    full: bool,
    after_item: bool,
}

impl Writer {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self {
            out: String::new(),
            bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
            full: false,
            after_item: false,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    pub(crate) fn finish(self) -> String {
        let mut out = self.out;
        out.truncate(out.trim_end().len());
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }

    pub(crate) fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            if self.full {
                return;
            }
            self.block(block);
        }
    }

    pub(crate) fn block(&mut self, block: &Block) {
        let is_item = matches!(block, Block::Item { .. });
        if self.after_item && !is_item {
            self.push("\n");
        }
        self.after_item = is_item;
        match block {
            Block::Heading { level, text } => self.heading(*level, text),
            Block::Paragraph(text) => self.paragraph(text),
            Block::Item {
                depth,
                marker,
                text,
            } => self.item(*depth, *marker, text),
            Block::Table(table) => match table.as_frame() {
                Some(blocks) => self.blocks(blocks),
                None => self.table(table),
            },
            Block::Code { language, text } => self.code(language, text),
            Block::Quote(blocks) => self.quote(blocks),
            Block::Rule => self.push("---\n\n"),
            Block::Note { name, text } => {
                let text = tidy(text).replace('\n', " ");
                self.push(&format!("[^{name}]: {text}\n\n"));
            }
        }
    }

    /// Markdown that is finished already, cut at a line if it does not fit.
    pub(crate) fn raw(&mut self, markdown: &str) {
        if self.out.len() + markdown.len() <= self.bytes_max {
            self.out.push_str(markdown);
            return;
        }
        for line in markdown.split_inclusive('\n') {
            self.push(line);
        }
    }

    fn push(&mut self, text: &str) {
        if self.full {
            return;
        }
        if self.out.len() + text.len() <= self.bytes_max {
            self.out.push_str(text);
            return;
        }
        self.full = true;
        // Part of a long paragraph is worth more than none of it.
        let room = self.bytes_max - self.out.len();
        self.out.push_str(&text[..text.floor_char_boundary(room)]);
    }

    fn heading(&mut self, level: u8, text: &str) {
        let text = tidy(text).replace('\n', " ");
        if !text.is_empty() {
            self.push(&format!(
                "{} {text}\n\n",
                "#".repeat(usize::from(level.clamp(1, 6)))
            ));
        }
    }

    fn paragraph(&mut self, text: &str) {
        let text = tidy(text);
        if text.is_empty() {
            return;
        }
        let lines: Vec<String> = text.split('\n').map(guard_start).collect();
        // Two blanks at the end of a line are a line break that most readers, and every model, leave alone.
        self.push(&lines.join("  \n"));
        self.push("\n\n");
    }

    fn item(&mut self, depth: usize, marker: Marker, text: &str) {
        let text = tidy(text);
        if text.is_empty() {
            return;
        }
        let indent = "    ".repeat(depth.min(12));
        let head = match marker {
            Marker::Bullet => "- ".to_owned(),
            Marker::Number(number) => format!("{number}. "),
            Marker::Continued => "    ".to_owned(),
        };
        let inner = format!("  \n{indent}{}", " ".repeat(head.len()));
        self.push(&format!("{indent}{head}{}\n", text.replace('\n', &inner)));
    }

    fn code(&mut self, language: &str, text: &str) {
        let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
        self.push(&format!(
            "{fence}{language}\n{}\n{fence}\n\n",
            text.trim_end_matches('\n')
        ));
    }

    fn quote(&mut self, blocks: &[Block]) {
        let mut inside = Writer::new((self.bytes_max - self.out.len()) as u64);
        inside.blocks(blocks);
        self.full |= inside.full;
        let text = inside.finish();
        if text.is_empty() {
            return;
        }
        let lines: Vec<String> = text
            .trim_end()
            .lines()
            .map(|line| format!("> {line}").trim_end().to_owned())
            .collect();
        self.push(&lines.join("\n"));
        self.push("\n\n");
    }

    fn table(&mut self, table: &Table) {
        let grid = table.grid();
        let Some(width) = grid.first().map(Vec::len).filter(|width| *width > 0) else {
            return;
        };
        for (at, row) in grid.iter().enumerate() {
            if self.full {
                return;
            }
            self.row(
                row.iter()
                    .map(|cell| cell.map_or_else(String::new, cell_text)),
            );
            if at == 0 {
                self.row(std::iter::repeat_n("---".to_owned(), width));
            }
        }
        self.push("\n");
    }

    /// One row of a table, of cells that are inline Markdown already.
    pub(crate) fn row(&mut self, cells: impl Iterator<Item = String>) {
        let mut line = String::from("|");
        for cell in cells {
            line.push(' ');
            line.push_str(&cell);
            line.push_str(" |");
            if self.out.len() + line.len() > self.bytes_max {
                self.full = true; // half a row is no row
                return;
            }
        }
        line.push('\n');
        self.push(&line);
    }

    /// The blank line that ends a table written row by row.
    pub(crate) fn end_table(&mut self) {
        self.push("\n");
    }
}

/// What a cell holds, on one line: Markdown has no other kind.
fn cell_text(cell: &Cell) -> String {
    let mut lines = Vec::new();
    cell_lines(&cell.blocks, &mut lines);
    one_line(&lines.join("\n"))
}

/// A text for a cell: line breaks as `<br>`, bars escaped.
pub(crate) fn one_line(text: &str) -> String {
    let text = tidy(text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' if out.ends_with("<br>") => {}
            '\n' => out.push_str("<br>"),
            '|' => out.push_str("\\|"),
            c => out.push(c),
        }
    }
    out
}

fn cell_lines(blocks: &[Block], lines: &mut Vec<String>) {
    for block in blocks {
        match block {
            Block::Heading { text, .. }
            | Block::Paragraph(text)
            | Block::Code { text, .. }
            | Block::Note { text, .. } => lines.push(text.clone()),
            Block::Item {
                marker: Marker::Number(number),
                text,
                ..
            } => lines.push(format!("{number}. {text}")),
            Block::Item {
                marker: Marker::Bullet,
                text,
                ..
            } => lines.push(format!("- {text}")),
            Block::Item { text, .. } => lines.push(text.clone()),
            Block::Quote(blocks) => cell_lines(blocks, lines),
            Block::Rule => {}
            Block::Table(table) => {
                for row in &table.rows {
                    let cells: Vec<String> = row
                        .iter()
                        .map(nested_cell)
                        .filter(|text| !text.is_empty())
                        .collect();
                    lines.push(cells.join(" / "));
                }
            }
        }
    }
}

fn nested_cell(cell: &Cell) -> String {
    let mut lines = Vec::new();
    cell_lines(&cell.blocks, &mut lines);
    tidy(&lines.join(" ")).replace('\n', " ")
}

/// Keeps a line of text from becoming a heading, a quotation or a rule. A line that was typed as an item of a list
/// (`1.`, `-`) stays one: that is what its writer meant.
fn guard_start(line: &str) -> String {
    let first = line.chars().next().unwrap_or(' ');
    let rest = line.trim_start_matches(first);
    let special = match first {
        '#' => rest.is_empty() || rest.starts_with(' '),
        '>' | '+' => true,
        '=' => rest.is_empty(),
        '-' => rest.is_empty() || rest.trim_matches([' ', '-']).is_empty(),
        _ => false,
    };
    if special {
        format!("\\{line}")
    } else {
        line.to_owned()
    }
}

fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(blocks: &[Block]) -> String {
        let mut writer = Writer::new(10_000);
        writer.blocks(blocks);
        writer.finish()
    }

    #[test]
    fn a_table_keeps_bars_and_line_breaks_inside_its_cells() {
        let cell = |text: &str| Cell::text(text.to_owned());
        let table = Table {
            rows: vec![
                vec![cell("이름"), cell("a|b")],
                vec![cell("둘째\n줄"), cell("")],
            ],
        };
        assert_eq!(
            written(&[Block::Table(table)]),
            "| 이름 | a\\|b |\n| --- | --- |\n| 둘째<br>줄 |  |\n"
        );
    }

    #[test]
    fn a_list_ends_before_a_paragraph() {
        let item = |depth, marker, text: &str| Block::Item {
            depth,
            marker,
            text: text.to_owned(),
        };
        let blocks = [
            item(0, Marker::Number(1), "하나"),
            item(1, Marker::Bullet, "속"),
            Block::Paragraph("# 아님".to_owned()),
        ];
        assert_eq!(written(&blocks), "1. 하나\n    - 속\n\n\\# 아님\n");
    }

    #[test]
    fn the_limit_holds_and_cuts_no_character() {
        let mut writer = Writer::new(10);
        writer.blocks(&[Block::Paragraph("가나다라마".to_owned())]);
        assert!(writer.is_full());
        assert_eq!(writer.finish(), "가나다\n");
    }
}
