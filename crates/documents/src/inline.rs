//! Inline Markdown: escaping, emphasis, links.

/// Text that means only itself. Escapes as little as it can: what a model reads should not be full of backslashes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        let special = match c {
            '*' => !(before.is_whitespace() && next.is_whitespace()),
            '_' => {
                let inside_word = before.is_alphanumeric() && next.is_alphanumeric();
                !(inside_word || before == '_' || next == '_')
            }
            '`' => true,
            '\\' => next.is_ascii_punctuation(),
            '<' => next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'),
            ']' => matches!(next, '(' | '[' | ':'),
            '~' => next == '~' || before == '~',
            _ => false,
        };
        if special {
            out.push('\\');
        }
        match c {
            // A name and a semicolon after it would be read as a character reference.
            '&' if is_reference(rest.clone()) => out.push_str("&amp;"),
            // Characters that XML and Markdown have no place for.
            '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}' => {}
            c => out.push(c),
        }
        before = c;
    }
    out
}

fn is_reference(rest: impl Iterator<Item = char>) -> bool {
    let mut length = 0;
    for c in rest.take(32) {
        match c {
            ';' => return length > 0,
            c if c.is_ascii_alphanumeric() || c == '#' => length += 1,
            _ => return false,
        }
    }
    false
}

/// How a stretch of text looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) struck: bool,
}

/// Collects runs of text and joins neighbours that look alike, so that no `**a****b**` comes about.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    out: String,
    pending: String,
    look: Look,
}

impl Runs {
    pub(crate) fn push(&mut self, text: &str, look: Look) {
        if text.is_empty() {
            return;
        }
        if look != self.look && !text.trim().is_empty() {
            self.flush();
            self.look = look;
        }
        self.pending.push_str(text);
    }

    /// Something that is Markdown already: a link, a line break, a note.
    pub(crate) fn push_markdown(&mut self, markdown: &str) {
        self.flush();
        self.out.push_str(markdown);
    }

    pub(crate) fn finish(mut self) -> String {
        self.flush();
        self.out
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.pending);
        let Look {
            bold,
            italic,
            struck,
        } = self.look;
        let inside = text.trim();
        if inside.is_empty() || !(bold || italic || struck) {
            self.out.push_str(&escape(&text));
            return;
        }
        let start = text.len() - text.trim_start().len();
        let mark = [(bold, "**"), (italic, "*"), (struck, "~~")];
        self.out.push_str(&text[..start]);
        mark.iter()
            .filter(|(on, _)| *on)
            .for_each(|(_, mark)| self.out.push_str(mark));
        self.out.push_str(&escape(inside));
        mark.iter()
            .rev()
            .filter(|(on, _)| *on)
            .for_each(|(_, mark)| self.out.push_str(mark));
        self.out.push_str(&text[start + inside.len()..]);
    }
}

/// `[text](target)`; only the text if the target is nothing one can follow.
pub(crate) fn link(text: &str, target: &str) -> String {
    let target = target.trim();
    let scheme = target.split(':').next().unwrap_or("").to_ascii_lowercase();
    if target.is_empty() || matches!(scheme.as_str(), "javascript" | "data" | "vbscript" | "file") {
        return text.to_owned();
    }
    let target: String = target.chars().filter(|c| !c.is_control()).collect();
    let target = if target.contains([' ', '(', ')', '<', '>']) {
        target
            .replace(' ', "%20")
            .replace('(', "%28")
            .replace(')', "%29")
            .replace('<', "%3C")
            .replace('>', "%3E")
    } else {
        target
    };
    let text = text.trim();
    if text.is_empty() {
        format!("<{target}>")
    } else {
        format!("[{}]({target})", text.replace('\n', " "))
    }
}

/// White space as a paragraph has it: single blanks, but for the line breaks it means.
pub(crate) fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let mut blank = false;
        for c in line
            .trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
            .chars()
        {
            if c == ' ' || c == '\t' || c == '\r' {
                blank = true;
                continue;
            }
            if blank {
                out.push(' ');
                blank = false;
            }
            out.push(c);
        }
    }
    out.trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_would_be_read_as_markup_and_nothing_else() {
        for (text, expected) in [
            ("snake_case_name 2 * 3", "snake_case_name 2 * 3"),
            ("*별* `코드`", "\\*별\\* \\`코드\\`"),
            ("a < b, <b>", "a < b, \\<b>"),
            ("[참고](http)", "[참고\\](http)"),
            ("AT&T &amp; R&D", "AT&T &amp;amp; R&D"),
            ("C:\\path", "C:\\path"),
            ("____", "____"),
        ] {
            assert_eq!(escape(text), expected, "{text}");
        }
    }

    #[test]
    fn runs_that_look_alike_are_one() {
        let mut runs = Runs::default();
        let bold = Look {
            bold: true,
            ..Look::default()
        };
        runs.push("굵은 ", bold);
        runs.push("글씨 ", bold);
        runs.push("보통", Look::default());
        assert_eq!(runs.finish(), "**굵은 글씨** 보통");
    }

    #[test]
    fn links_that_would_run_something_are_only_text() {
        assert_eq!(link("눌러", "javascript:alert(1)"), "눌러");
        assert_eq!(
            link("a b", "https://x.test/a (1)"),
            "[a b](https://x.test/a%20%281%29)"
        );
    }
}
