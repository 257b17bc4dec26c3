//! Changes to a text, collected as replaced ranges and applied together.

use std::ops::Range;

#[derive(Debug, Default)]
pub(super) struct Splices {
    splices: Vec<(Range<usize>, String)>,
}

impl Splices {
    pub(super) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.splices.push((range, text.into()));
    }

    /// Takes entries out of a list together with their commas; `doomed` are positions in `items`, rising.
    /// At least one entry must stay.
    pub(super) fn delete(&mut self, items: &[Range<usize>], doomed: &[usize]) {
        // The entries at the head go with the comma after them, all others with the comma before them.
        let head = (0..).zip(doomed).take_while(|(i, d)| i == *d).count();
        if head > 0 {
            self.replace(items[0].start..items[head].start, "");
        }
        for i in &doomed[head..] {
            self.replace(items[i - 1].end..items[*i].end, "");
        }
    }

    pub(super) fn apply(mut self, text: &str) -> String {
        // At one offset an insertion before a deletion that starts there.
        self.splices
            .sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for (range, new) in self.splices {
            out.push_str(&text[copied..range.start]);
            out.push_str(&new);
            copied = range.end;
        }
        out.push_str(&text[copied..]);
        out
    }
}
