//! The author's source as the parser wants it, and the way back from a place in what was made of it.

/// The source without the blanks in front that only its surroundings put there.
pub(crate) struct Layout {
    pub(crate) text: String,
    /// Characters taken from the front of each line.
    removed: Vec<u32>,
}

impl Layout {
    pub(crate) fn new(source: &str) -> Self {
        let indent = first_indent(source);
        if indent.is_empty() {
            return Layout {
                text: source.to_owned(),
                removed: Vec::new(),
            };
        }
        let shared = source
            .lines()
            .all(|line| line.trim().is_empty() || line.starts_with(indent));
        let width = u32::try_from(indent.len()).unwrap_or(u32::MAX);
        let mut text = String::with_capacity(source.len());
        let mut removed = Vec::new();
        let mut seen = false;
        for line in source.split_inclusive('\n') {
            let kept = match line.strip_prefix(indent) {
                Some(kept) if shared || !seen => kept,
                _ => line,
            };
            seen |= !line.trim().is_empty();
            removed.push(if kept.len() < line.len() { width } else { 0 });
            text.push_str(kept);
        }
        Layout { text, removed }
    }

    /// Line and column, from 1, of a byte of `text` in the author's source.
    pub(crate) fn place(&self, offset: usize) -> (u32, u32) {
        let before = &self.text[..floor_char(&self.text, offset)];
        let line = before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].chars().count();
        let removed = self.removed.get(line).copied().unwrap_or(0);
        let count = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        (count(line), count(column) + removed)
    }
}

/// The blanks in front of the first line that is not empty.
fn first_indent(source: &str) -> &str {
    let line = source.lines().find(|line| !line.trim().is_empty());
    line.map_or("", |line| {
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    })
}

fn floor_char(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// One change of the text: what stands in `start..end` is replaced.
pub(crate) struct Edit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
}

/// A text with edits applied, which knows where its bytes came from.
pub(crate) struct Edited {
    pub(crate) text: String,
    /// Where a piece begins in `text` and in the source, and whether it is the source's own.
    pieces: Vec<(usize, usize, bool)>,
}

impl Edited {
    /// Edits are in the order in which they were thought of; an outer one comes before an inner one.
    pub(crate) fn new(source: &str, mut edits: Vec<Edit>) -> Self {
        edits.sort_by_key(|edit| (edit.start, edit.end > edit.start));
        let mut edited = Edited {
            text: String::with_capacity(source.len() + 64),
            pieces: Vec::with_capacity(2 * edits.len() + 1),
        };
        let mut at = 0;
        for edit in edits {
            if edit.start > at {
                edited.push(&source[at..edit.start], at, true);
            }
            edited.push(&edit.text, edit.start, false);
            at = edit.end.max(at);
        }
        edited.push(&source[at..], at, true);
        edited
    }

    fn push(&mut self, text: &str, origin: usize, own: bool) {
        self.pieces.push((self.text.len(), origin, own));
        self.text.push_str(text);
    }

    /// The byte of the source that a line and column (from 1, in characters) of `text` came from.
    pub(crate) fn origin(&self, line: usize, column: usize) -> usize {
        let start: usize = self
            .text
            .split_inclusive('\n')
            .take(line - 1)
            .map(str::len)
            .sum();
        let inside = self.text[start..]
            .char_indices()
            .nth(column.saturating_sub(1));
        let offset = start + inside.map_or(0, |(bytes, _)| bytes);
        let index = self.pieces.partition_point(|piece| piece.0 <= offset);
        match self.pieces.get(index.saturating_sub(1)) {
            Some((begin, origin, true)) => origin + (offset - begin),
            Some((_, origin, false)) => *origin,
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_in_front_are_taken_away_and_places_stay() {
        let layout = Layout::new("\n    a = 1\n    b = é + x\n");
        assert_eq!(layout.text, "\na = 1\nb = é + x\n");
        let x = layout.text.find('x').unwrap();
        assert_eq!(layout.place(x), (3, 13));
        assert_eq!(Layout::new("  (a +\nb)").text, "(a +\nb)");
        assert_eq!(Layout::new("  (a +\nb)").place(1), (1, 4));
        assert_eq!(Layout::new("if x:\n  y").text, "if x:\n  y");
    }

    #[test]
    fn an_edited_text_knows_where_it_came_from() {
        let insert = |at, text: &str| Edit {
            start: at,
            end: at,
            text: text.to_owned(),
        };
        let edits = vec![
            insert(0, "f("),
            Edit {
                start: 2,
                end: 3,
                text: ",".to_owned(),
            },
            insert(5, ")"),
        ];
        let edited = Edited::new("a / b\nc", edits);
        assert_eq!(edited.text, "f(a , b)\nc");
        let origins = [(1, 1), (1, 3), (1, 7), (2, 1)].map(|(l, c)| edited.origin(l, c));
        assert_eq!(origins, [0, 0, 4, 6]);
    }
}
