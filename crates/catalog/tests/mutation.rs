//! Thousands of damaged documents: the readers never panic, and agree with serde_json on what is JSON.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use catalog::definition::{Origin, definition_from_text};
use catalog::json::parse;
use catalog::mcp_file::read_servers;
use catalog::tool::Shelf;
use catalog::tools_file::{Edit, edit, read_tools};
use serde_json::Value;

const ROUNDS: usize = 20_000;

const DOCUMENTS: [&str; 5] = [
    r#"{"version": 1, "tools": [{"name": "a", "description": "é\n\u00e9\ud83d\ude00", "kind": "http",
        "config": {"base_url": "https://h:1/x", "method": "GET", "headers": {"A": {"$env": "B"}}},
        "input_schema": {"type": "object", "properties": {"n": {"type": "number", "minimum": -1.5e-3}}},
        "auth_config": {"token": {"$secret": "x"}}, "tests": [{"arguments": {}, "expect": null}], "rate_limit": {"requests_per_minute": 3}}]}"#,
    r#"{"version": 1, "tools": [{"name": "p", "description": "d", "tool_type": "PYTHON", "config": {"script": "a/b.py"}, "timeout_seconds": 30},
        {"name": "s", "description": "d", "kind": "shell", "config": {"command": ["ls", "-l"], "sandbox": "auto"}, "is_active": false, "examples": ["e"]}]}"#,
    r#"{"mcpServers": {"a": {"command": "c", "args": ["${HOME}", "${X:-y}"], "env": {"A": "b"}}, "b": {"url": "http://[::1]:80/sse", "headers": {"K": "v"}, "type": "sse"}}}"#,
    "\t[0, -0, 1e5, 1E+5, 12345678901234567890, -9223372036854775809, true, false, null, \"\\\\\\/\\b\\f\\n\\r\\t\\\"\", {}, [[[]]]]\r\n",
    "\"한국어 \u{7f}\u{2028}\"",
];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % n
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..(start + self.below(20)).min(length)
    }
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    const TOKENS: [&str; 20] = [
        ",", ":", "{", "}", "[", "]", "\"", "'", "\\", "\\u", "//", "NaN", "1e999", "-", ".", "0",
        "null", "\u{feff}", "$", "\n",
    ];
    let length = bytes.len();
    match random.below(9) {
        0 if length > 0 => {
            let at = random.below(length);
            bytes[at] ^= 1 << random.below(8);
        }
        1 => drop(bytes.drain(random.range(length))),
        2 => {
            let copied = bytes[random.range(length)].to_vec();
            let at = random.below(length + 1);
            bytes.splice(at..at, copied);
        }
        3 => bytes.truncate(random.below(length + 1)),
        4 => {
            let (open, close): (&[u8], &[u8]) = if random.below(2) == 0 {
                (b"[", b"]")
            } else {
                (b"{\"k\":", b"}")
            };
            let depth = 100 + random.below(60);
            let range = random.range(length);
            let inner = bytes[range.clone()].to_vec();
            let nested = [open.repeat(depth), inner, close.repeat(depth)].concat();
            bytes.splice(range, nested);
        }
        // Two gentle ones, so that some documents stay sound.
        5 => {
            let at = random.below(length + 1);
            bytes.splice(at..at, *b" ");
        }
        6 if length > 0 => {
            let at = random.below(length);
            if bytes[at].is_ascii_lowercase() {
                bytes[at] = b'a' + u8::try_from(random.below(26)).unwrap();
            }
        }
        _ => {
            let range = random.range(length);
            let range = if random.below(2) == 0 {
                range.start..range.start
            } else {
                range
            };
            let token = TOKENS[random.below(TOKENS.len())];
            bytes.splice(range, token.bytes());
        }
    }
}

/// The two parsers agree; serde_json knows no byte order mark, so it is not shown one.
fn assert_agrees(text: &str) -> bool {
    let theirs = serde_json::from_str::<Value>(text.strip_prefix('\u{feff}').unwrap_or(text));
    match (parse(text), &theirs) {
        (Ok(node), Ok(value)) => {
            assert_eq!(&node.to_value(), value, "{text:?}");
            true
        }
        (Err(error), Err(_)) => {
            assert!(
                error.offset <= text.len() && text.is_char_boundary(error.offset),
                "{text:?}"
            );
            assert!(
                !error.remedy.is_empty() && error.path.starts_with('$'),
                "{text:?}"
            );
            false
        }
        (ours, theirs) => panic!("{ours:?} but {theirs:?} for {text:?}"),
    }
}

#[test]
fn damaged_documents_never_panic_and_agree_with_serde_json() {
    let mut random = Random(0x5eed_0001);
    let (mut valid, mut sound) = (0, 0);
    for round in 0..ROUNDS {
        let mut bytes = DOCUMENTS[round % DOCUMENTS.len()].as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            mutate(&mut random, &mut bytes);
        }
        let text = String::from_utf8_lossy(&bytes);
        let is_json = assert_agrees(&text);
        valid += usize::from(is_json);

        let tools = read_tools("tools.json", &text);
        sound += usize::from(tools.is_ok());
        assert!(is_json || tools.is_err());
        for problem in tools.as_ref().err().into_iter().flatten() {
            assert!(
                problem.line > 0 && problem.column > 0 && !problem.remedy.is_empty(),
                "{problem}"
            );
        }
        drop(read_servers("mcp.json", &text, &|name| {
            (name == "HOME").then(|| "/".to_owned())
        }));
        drop(definition_from_text(
            "body",
            &text,
            Origin::Body(Shelf::Database),
        ));
        if let Ok(file) = tools
            && let Some(first) = file.definitions.first()
        {
            assert_eq!(edit(&text, &[Edit::Put(first.clone())]).unwrap(), text);
            edit(&text, &[Edit::Remove(first.name.clone())]).unwrap();
        }
    }
    // Were all of them broken, the agreement would prove little.
    assert!(valid > ROUNDS / 20, "only {valid} were JSON");
    assert!(sound > ROUNDS / 100, "only {sound} were sound");
}

#[test]
fn surrogates_come_in_pairs() {
    assert!(assert_agrees(r#""\ud83d\ude00""#));
    for half in ["d800", "dc00", "dfff"] {
        for next in ["", "x", "\\n", "\\u0041", "\\ud800"] {
            assert!(!assert_agrees(&format!("\"\\u{half}{next}\"")));
        }
    }
    assert!(!assert_agrees(r#""\udc00\udc00""#));
}

#[test]
fn undamaged_documents_are_good() {
    for text in DOCUMENTS {
        assert!(assert_agrees(text));
    }
    assert!(read_tools("tools.json", DOCUMENTS[0]).is_ok());
    assert!(read_tools("tools.json", DOCUMENTS[1]).is_ok());
    assert!(read_servers("mcp.json", DOCUMENTS[2], &|_| Some(String::new())).is_ok());
}
