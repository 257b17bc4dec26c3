//! JSON text, indented or on one line, without reading its numbers: what a tool wrote keeps every digit.

/// The text of one valid document. Strings are written with the letters that they stand for.
pub(crate) fn laid_out(json: &str, is_indented: bool) -> String {
    let mut layout = Layout {
        out: String::with_capacity(json.len()),
        depth: 0,
        is_indented,
    };
    let mut rest = json.trim_ascii_start();
    while let Some(first) = rest.bytes().next() {
        let end = match first {
            b'"' => layout.string(rest),
            _ => layout.other(rest),
        };
        rest = rest[end..].trim_ascii_start();
    }
    layout.out
}

struct Layout {
    out: String,
    depth: usize,
    is_indented: bool,
}

impl Layout {
    /// Writes the string that the text begins with, and says where it ends.
    fn string(&mut self, text: &str) -> usize {
        let mut is_escaped = false;
        let closes = |(_, byte): &(usize, u8)| {
            let closes = *byte == b'"' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            closes
        };
        let end = text.bytes().enumerate().skip(1).find(closes);
        let end = end.map_or(text.len(), |(at, _)| at + 1);
        let string = &text[..end];
        // Many write every letter that is not English as an escape, which nobody can read.
        let read = serde_json::from_str::<String>(string);
        match read.ok().filter(|_| string.contains('\\')) {
            Some(letters) => self
                .out
                .push_str(&serde_json::Value::from(letters).to_string()),
            None => self.out.push_str(string),
        }
        end
    }

    /// Writes a mark, a number or a word, and says where it ends.
    fn other(&mut self, text: &str) -> usize {
        let first = text.as_bytes()[0];
        match first {
            b'{' | b'[' => {
                self.out.push(char::from(first));
                let inside = text[1..].trim_ascii_start();
                if let Some(close @ (b'}' | b']')) = inside.bytes().next() {
                    self.out.push(char::from(close));
                    return text.len() - inside.len() + 1;
                }
                self.depth += 1;
                self.line();
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.line();
                self.out.push(char::from(first));
            }
            b',' => {
                self.out.push(',');
                self.line();
            }
            b':' => self.out.push_str(if self.is_indented { ": " } else { ":" }),
            _ => {
                let ends = |letter: char| "{}[],:\"".contains(letter) || letter.is_whitespace();
                let mut letters = text.char_indices().skip(1);
                let end = letters.find(|(_, letter)| ends(*letter));
                let end = end.map_or(text.len(), |(at, _)| at);
                self.out.push_str(&text[..end]);
                return end;
            }
        }
        1
    }

    fn line(&mut self) {
        if self.is_indented {
            self.out.push('\n');
            self.out.push_str(&"  ".repeat(self.depth));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn it_looks_as_any_other_json() {
        let documents = [
            json!({"a": [1, {"b": []}, {}], "c": {"d": null, "e\"{[\\": "x: [1, 2]"}, "": "한\n\u{1}"}),
            json!([[], [[]], [1.5, true], {"a": {}}]),
            json!("\\"),
            json!("a\\\"b"),
            json!(-7),
            json!({}),
        ];
        for document in documents {
            let pretty = serde_json::to_string_pretty(&document).unwrap();
            for written in [document.to_string(), pretty.clone()] {
                assert_eq!(laid_out(&written, true), pretty);
                assert_eq!(laid_out(&written, false), document.to_string());
            }
        }
    }

    #[test]
    fn digits_stay_and_letters_are_shown() {
        let written =
            "{ \"n\" :0.12345678901234567890 ,\"m\": [1e-400,\n1.10], \"w\": \"\\ud55c\"}";
        let line = r#"{"n":0.12345678901234567890,"m":[1e-400,1.10],"w":"한"}"#;
        assert_eq!(laid_out(written, false), line);
        let indented = laid_out(written, true);
        assert!(indented.contains("\n    1e-400,\n"), "{indented}");
        assert!(serde_json::from_str::<Value>(&indented).is_ok());
        // What is no JSON after all stays as it is.
        assert_eq!(laid_out("\u{a0}<p>한", true), "\u{a0}<p>한");
    }
}
