//! The parser: one pass over the bytes, as strict as the JSON standard.
//! What to say about a fault is in `syntax.rs`.

use super::syntax::SyntaxError;
use super::{Member, Node, NodeKind};

/// Levels of nesting that are read: the same as serde_json reads, so that what is accepted here can be
/// read back everywhere.
pub const MAX_DEPTH: usize = 127;

/// Reads one JSON document; a byte order mark before it is tolerated, text after it is not.
pub fn parse(text: &str) -> Result<Node, SyntaxError> {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut parser = Parser {
        text,
        bytes: text.as_bytes(),
        at: start,
        depth: 0,
    };
    parser.skip_space();
    let node = parser.value().map_err(SyntaxError::at_root)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.text_after_document().at_root());
    }
    Ok(node)
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    bytes: &'a [u8],
    pub(super) at: usize,
    depth: usize,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Node, SyntaxError> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => NodeKind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') if self.eat("true") => NodeKind::Bool(true),
            Some(b'f') if self.eat("false") => NodeKind::Bool(false),
            Some(b'n') if self.eat("null") => NodeKind::Null,
            _ => return Err(self.no_value()),
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.bytes[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn enter(&mut self) -> Result<(), SyntaxError> {
        if self.depth == MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    fn object(&mut self) -> Result<NodeKind, SyntaxError> {
        let open = self.at;
        self.enter()?;
        let mut members = Vec::new();
        if self.peek() == Some(b'}') {
            self.leave();
            return Ok(NodeKind::Object(members));
        }
        let mut comma = None;
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.no_key(open, comma));
            }
            let key_start = self.at;
            let key = self.string()?;
            let key_span = key_start..self.at;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.no_colon(open, &key, key_span.end));
            }
            self.at += 1;
            self.skip_space();
            if self.peek().is_none() {
                return Err(self.unclosed(open).in_key(&key));
            }
            let value = self.value().map_err(|e| e.in_key(&key))?;
            members.push(Member {
                key,
                key_span,
                value,
            });
            let end = self.at;
            self.skip_space();
            match self.peek() {
                Some(b',') => {
                    comma = Some(self.at);
                    self.at += 1;
                    self.skip_space();
                }
                Some(b'}') => {
                    self.leave();
                    return Ok(NodeKind::Object(members));
                }
                _ => return Err(self.no_separator(open, end)),
            }
        }
    }

    fn array(&mut self) -> Result<NodeKind, SyntaxError> {
        let open = self.at;
        self.enter()?;
        let mut items = Vec::new();
        if self.peek() == Some(b']') {
            self.leave();
            return Ok(NodeKind::Array(items));
        }
        loop {
            if self.peek().is_none() {
                return Err(self.unclosed(open));
            }
            let item = self.value().map_err(|e| e.in_item(items.len()))?;
            items.push(item);
            let end = self.at;
            self.skip_space();
            match self.peek() {
                Some(b',') => {
                    let comma = self.at;
                    self.at += 1;
                    self.skip_space();
                    if self.peek() == Some(b']') {
                        return Err(self.trailing_comma(comma, ']'));
                    }
                }
                Some(b']') => {
                    self.leave();
                    return Ok(NodeKind::Array(items));
                }
                _ => return Err(self.no_separator(open, end)),
            }
        }
    }

    fn number(&mut self) -> Result<NodeKind, SyntaxError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        let digits = self.digits();
        if digits == 0 || (leading_zero && digits > 1) {
            return Err(self.bad_number(start));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.bad_number(start));
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(self.bad_number(start));
            }
        }
        serde_json::from_str(&self.text[start..self.at])
            .map(NodeKind::Number)
            .map_err(|_| self.number_too_large(start))
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        self.at - start
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        let open = self.at;
        self.at += 1;
        let mut out = String::new();
        let mut copied = self.at;
        loop {
            match self.peek() {
                Some(b'"') => {
                    out.push_str(&self.text[copied..self.at]);
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    out.push_str(&self.text[copied..self.at]);
                    out.push(self.escape(open)?);
                    copied = self.at;
                }
                Some(0..0x20) => return Err(self.control_in_string(open)),
                Some(_) => self.at += 1,
                None => return Err(self.unclosed_string(open)),
            }
        }
    }

    fn escape(&mut self, open: usize) -> Result<char, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else {
            return Err(self.unclosed_string(open));
        };
        self.at += 1;
        Ok(match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(start),
            _ => return Err(self.bad_escape(start)),
        })
    }

    /// `\uXXXX`, or two of them for a character outside the basic plane.
    fn unicode_escape(&mut self, start: usize) -> Result<char, SyntaxError> {
        let first = self.four_hex(start)?;
        if !(0xd800..0xe000).contains(&first) {
            return char::from_u32(first).ok_or_else(|| self.bad_escape(start));
        }
        if first >= 0xdc00 || !self.eat("\\u") {
            return Err(self.lone_surrogate(start));
        }
        let second = self.four_hex(start)?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(self.lone_surrogate(start));
        }
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        char::from_u32(code).ok_or_else(|| self.lone_surrogate(start))
    }

    fn four_hex(&mut self, start: usize) -> Result<u32, SyntaxError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.bad_escape(start))?;
            self.at += 1;
        }
        Ok(code)
    }
}
