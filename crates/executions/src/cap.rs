//! Bounds of a row: long texts are cut and say so, names are short, and nothing holds what an engine refuses.

use crate::record::Execution;
use std::borrow::Cow;
use std::sync::Arc;

/// Longer names are cut: an index of PostgreSQL refuses entries near 2,700 bytes, and would take the batch with it.
const NAME_BYTES_MAX: usize = 512;

/// Brings a row within `entry_bytes_max` for each long text; a row that fits is not copied.
pub(crate) fn cap(row: &mut Execution, entry_bytes_max: usize) {
    cap_json(&mut row.arguments, entry_bytes_max);
    if let Some(output) = &mut row.output {
        cap_json(output, entry_bytes_max);
    }
    if let Some(error) = &mut row.error {
        cap_error(error, row.error_code.as_deref(), entry_bytes_max);
    }
    if let Some(text) = &mut row.log_text {
        cap_plain(text, entry_bytes_max);
    }
    for name in [&mut row.tool_name, &mut row.tool_hash, &mut row.caller] {
        cap_name(name);
    }
    for name in [&mut row.key, &mut row.toolset].into_iter().flatten() {
        cap_name(name);
    }
    cap_word(&mut row.transport);
    if let Some(code) = &mut row.error_code {
        cap_word(code);
    }
}

/// A JSON text that is too long becomes a JSON string with its beginning and a note.
fn cap_json(text: &mut String, max: usize) {
    if text.len() > max {
        *text = serde_json::Value::String(beginning(text, max)).to_string();
    }
    without_nul(text);
}

/// An error stays an object, so that its readers need no second shape.
fn cap_error(text: &mut String, code: Option<&str>, max: usize) {
    if text.len() > max {
        let message = beginning(text, max.saturating_sub(64));
        *text = serde_json::json!({"code": code, "message": message, "details": null}).to_string();
    }
    without_nul(text);
}

fn cap_plain(text: &mut String, max: usize) {
    if text.len() > max {
        let kept = text.floor_char_boundary(max.saturating_sub(48));
        let note = note(text.len() - kept);
        text.truncate(kept);
        text.push_str(&note);
    }
    without_nul(text);
}

/// As much of the text as still fits into `max` bytes once escaped and quoted, and a note.
fn beginning(text: &str, max: usize) -> String {
    let budget = max.saturating_sub(48);
    let mut escaped = 0;
    let mut kept = 0;
    for (at, char) in text.char_indices() {
        escaped += match char {
            '"' | '\\' => 2,
            char if char.is_control() => 6,
            char => char.len_utf8(),
        };
        if escaped > budget {
            break;
        }
        kept = at + char.len_utf8();
    }
    format!("{}{}", &text[..kept], note(text.len() - kept))
}

fn note(bytes: usize) -> String {
    format!("… [{bytes} bytes cut]")
}

fn cap_name(name: &mut Arc<str>) {
    if let Some(short) = short_name(name) {
        *name = short.into();
    }
}

fn cap_word(word: &mut Cow<'static, str>) {
    if let Some(short) = short_name(word) {
        *word = Cow::Owned(short);
    }
}

fn short_name(name: &str) -> Option<String> {
    if name.len() <= NAME_BYTES_MAX && !name.contains('\0') {
        return None;
    }
    let mut short = name.to_owned();
    if name.len() > NAME_BYTES_MAX {
        short.truncate(name.floor_char_boundary(NAME_BYTES_MAX - '…'.len_utf8()));
        short.push('…');
    }
    without_nul(&mut short);
    Some(short)
}

/// PostgreSQL's text cannot hold U+0000.
fn without_nul(text: &mut String) {
    if text.contains('\0') {
        *text = text.replace('\0', "\u{fffd}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_json_text_becomes_a_string_within_the_bound() {
        for unit in ["a", "\"", "é", "\\", "한"] {
            let mut text = format!("[\"{}\"]", unit.repeat(5_000));
            let whole = text.len();
            cap_json(&mut text, 1_000);
            assert!(text.len() <= 1_000, "{} bytes of {unit}", text.len());
            assert!(text.len() > 900, "{} bytes of {unit}", text.len());
            let value: String = serde_json::from_str(&text).unwrap();
            let (kept, note) = value.split_once('…').unwrap();
            let cut: usize = note
                .trim_start_matches(" [")
                .split(' ')
                .next()
                .unwrap()
                .parse()
                .unwrap();
            assert_eq!(kept.len() + cut, whole);
        }
    }

    #[test]
    fn a_long_error_stays_an_object() {
        let mut text = format!("{{\"code\":\"x\",\"message\":\"{}\"}}", "m".repeat(5_000));
        cap_error(&mut text, Some("timeout"), 1_000);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["code"], "timeout");
        assert!(text.len() <= 1_000);
    }

    #[test]
    fn names_and_plain_text_are_bounded_and_free_of_nul() {
        let mut name: Arc<str> = "ÿ".repeat(5_000).into();
        cap_name(&mut name);
        assert!(name.len() <= NAME_BYTES_MAX && name.ends_with('…'));
        let mut nul: Arc<str> = "a\0b".into();
        cap_name(&mut nul);
        assert_eq!(&*nul, "a\u{fffd}b");
        let mut text = "y".repeat(5_000);
        cap_plain(&mut text, 100);
        assert!(text.len() <= 100 && text.ends_with("bytes cut]"));
    }
}
