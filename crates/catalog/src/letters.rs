//! Letters that hide: a person who reads a text must see what a model reads in it.

use serde_json::Value;
use std::collections::BTreeMap;

/// The text with every letter that hides spelled out, such as `<U+E0041>`.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (letter, hides) in judged(text) {
        match hides {
            true => out.push_str(&format!("<U+{:04X}>", u32::from(letter))),
            false => out.push(letter),
        }
    }
    out
}

/// The same for every text inside a value, names of members included.
pub fn shown_in(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(shown(text)),
        Value::Array(items) => Value::Array(items.iter().map(shown_in).collect()),
        Value::Object(members) => {
            let shown = members
                .iter()
                .map(|(name, value)| (shown(name), shown_in(value)));
            Value::Object(shown.collect())
        }
        other => other.clone(),
    }
}

/// Which letters hide anywhere in a value and how often each does, such as `U+E0041 ×3`.
pub fn hidden_in(value: &Value) -> Vec<String> {
    let mut found = BTreeMap::new();
    count(value, &mut found);
    let told = found.into_iter().map(|(letter, times)| match times {
        1 => format!("U+{letter:04X}"),
        times => format!("U+{letter:04X} ×{times}"),
    });
    told.collect()
}

fn count(value: &Value, found: &mut BTreeMap<u32, usize>) {
    let mut text = |text: &str| {
        for (letter, _) in judged(text).filter(|(_, hides)| *hides) {
            *found.entry(u32::from(letter)).or_default() += 1;
        }
    };
    match value {
        Value::String(it) => text(it),
        Value::Array(items) => items.iter().for_each(|item| count(item, found)),
        Value::Object(members) => {
            members.keys().for_each(|name| text(name));
            members.values().for_each(|member| count(member, found));
        }
        _ => {}
    }
}

/// Each letter, and whether it hides where it stands.
fn judged(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut before = None;
    let mut letters = text.chars().peekable();
    std::iter::from_fn(move || {
        let letter = letters.next()?;
        let after = letters.peek().copied();
        let hides = match letter {
            // Joiners belong between letters of scripts that join, and into pictures of several.
            '\u{200c}' | '\u{200d}' => !before.is_some_and(joins) || !after.is_some_and(joins),
            // One behind a letter chooses its shape; more of them, or one without a letter, say something else.
            '\u{fe00}'..='\u{fe0f}' => !before.is_some_and(has_shapes),
            letter => is_hidden(letter),
        };
        before = Some(letter);
        Some((letter, hides))
    })
}

fn joins(letter: char) -> bool {
    !letter.is_ascii() && !is_hidden(letter) && !matches!(letter, '\u{200c}' | '\u{200d}')
}

fn has_shapes(letter: char) -> bool {
    let is_selector = matches!(letter, '\u{fe00}'..='\u{fe0f}');
    let is_keycap = matches!(letter, '0'..='9' | '#' | '*');
    is_keycap || (!letter.is_ascii() && !is_hidden(letter) && !is_selector)
}

/// Letters without a shape: direction marks, joiners between words, tags, private use, control.
fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}'
        | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'
        | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e000}'..='\u{f8ff}'
        | '\u{e0000}'..='\u{e0fff}' | '\u{f0000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_hides_in_a_text_is_shown() {
        for (text, expected) in [
            (
                "Adds.\u{e0049}\u{e0047}\u{202e} 더하기 👩‍👩‍👧\n",
                "Adds.<U+E0049><U+E0047><U+202E> 더하기 👩‍👩‍👧\n",
            ),
            ("a\u{200b}b\u{feff}", "a<U+200B>b<U+FEFF>"),
            // Once behind a picture or a keycap it is how that is written.
            ("❤\u{fe0f} 1\u{fe0f}\u{20e3}", "❤\u{fe0f} 1\u{fe0f}\u{20e3}"),
            ("❤\u{fe0f}\u{fe01}x\u{fe0f}", "❤\u{fe0f}<U+FE01>x<U+FE0F>"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("a\u{200d}\u{200c}b \u{200d}", "a<U+200D><U+200C>b <U+200D>"),
            ("\u{e0101}\u{2066}x\u{2069}", "<U+E0101><U+2066>x<U+2069>"),
            ("\u{200d}", "<U+200D>"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn hidden_letters_are_counted_wherever_they_are() {
        let tool = json!({"description": "a\u{e0041}\u{e0041}", "inputSchema": {"properties": {"x\u{200b}": {"title": ["\u{e0041}"]}}}});
        assert_eq!(hidden_in(&tool), ["U+200B", "U+E0041 ×3"]);
        assert_eq!(
            shown_in(&tool)["inputSchema"]["properties"],
            json!({"x<U+200B>": {"title": ["<U+E0041>"]}})
        );
        assert!(hidden_in(&json!({"a": "더하기 👩‍👩‍👧", "n": 1})).is_empty());
    }
}
