//! What the model is shown of a tool's output: not more than it can use, and told what was left out.

/// A text of at most `chars_max` characters: its beginning and its end, with a line between them that says what is missing.
pub fn shortened(text: &str, chars_max: usize) -> (String, bool) {
    let count = text.chars().count();
    if count <= chars_max {
        return (text.to_owned(), false);
    }
    // Most of what matters stands at the beginning; sums and errors stand at the end.
    let tail = chars_max / 5;
    let head = chars_max - tail;
    let left_out = count - head - tail;
    let begin: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    let note = format!(
        "[{left_out} of {count} characters were left out here; ask for less, or for another part of it]"
    );
    (format!("{begin}\n{note}\n{end}"), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_stays_as_it_is() {
        assert_eq!(shortened("가나다", 3), ("가나다".to_owned(), false));
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        let text: String = ('a'..='z').cycle().take(1_000).chain(['끝']).collect();
        let (shown, is_cut) = shortened(&text, 100);
        assert!(is_cut);
        assert!(shown.starts_with("abcdef") && shown.ends_with('끝'));
        assert!(shown.contains("901 of 1001 characters"), "{shown}");
    }
}
