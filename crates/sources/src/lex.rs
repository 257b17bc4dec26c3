//! Cuts SQL text into pieces the way the engine itself does, so that nothing inside a comment, a string or a name is
//! ever taken for anything else. Where the engines differ, so does this.

use crate::error::Place;
use crate::lexeme::{Kind, Lexeme, Uncut};
use crate::statement::Engine;

/// Whether `:name` and `{{name}}` mean something here, or only what the engine takes them for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholders {
    Read,
    Unknown,
}

/// All pieces of the text, comments and space left out.
pub(crate) fn lex(
    text: &str,
    engine: Engine,
    placeholders: Placeholders,
) -> Result<Vec<Lexeme<'_>>, Uncut> {
    let mut cutter = Cutter {
        placeholders,
        text,
        bytes: text.as_bytes(),
        at: 0,
        engine,
        found: Vec::new(),
        brackets: Vec::new(),
    };
    while cutter.skip_space()? {
        cutter.cut()?;
    }
    Ok(cutter.found)
}

struct Cutter<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    engine: Engine,
    placeholders: Placeholders,
    found: Vec<Lexeme<'t>>,
    /// For each open `[` or `(` whether it is a `[`: a colon after an operand means a slice only inside of one.
    brackets: Vec<bool>,
}

const OPERATORS: &[u8] = b"+-*/<>=~!@#%^&|`?";

impl<'t> Cutter<'t> {
    fn cut(&mut self) -> Result<(), Uncut> {
        let start = self.at;
        let postgres = self.engine == Engine::Postgres;
        let next = self.peek(1);
        match self.bytes[start] {
            b'\'' => self.string(start, false),
            b'"' => self.quoted(start, b'"', Kind::Quoted),
            b'`' if !postgres => self.quoted(start, b'`', Kind::Quoted),
            b'[' if !postgres => self.quoted(start, b']', Kind::Quoted),
            b'e' | b'E' if postgres && next == b'\'' => self.prefixed(start, true),
            b'b' | b'B' | b'x' | b'X' | b'n' | b'N' if next == b'\'' => self.prefixed(start, false),
            b'u' | b'U' if postgres && next == b'&' && self.peek(2) == b'\'' => {
                self.at += 1;
                self.prefixed(start, false)
            }
            b'u' | b'U' if postgres && next == b'&' && self.peek(2) == b'"' => {
                self.at += 2;
                self.quoted(start, b'"', Kind::Disguised)
            }
            b'$' => self.dollar(start),
            b'?' | b'@' if !postgres => self.native(start),
            b':' => self.colon(start),
            b'{' if next == b'{' && self.placeholders == Placeholders::Read => self.braces(start),
            b'0'..=b'9' => self.number(start),
            b'.' if next.is_ascii_digit() => self.number(start),
            byte if is_name_start(byte) => self.word(start),
            byte if OPERATORS.contains(&byte) => self.operator(start),
            _ => self.mark(start),
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize) {
        self.at = end;
        self.found.push(Lexeme {
            kind,
            text: &self.text[start..end],
            start,
            end,
        });
    }

    fn wrong(&self, start: usize, message: &str) -> Uncut {
        Uncut {
            message: message.to_owned(),
            place: Place::of(self.text, start),
        }
    }

    /// Goes past space and comments; false at the end of the text.
    fn skip_space(&mut self) -> Result<bool, Uncut> {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'-' if self.peek(1) == b'-' => self.skip_line(),
                b'/' if self.peek(1) == b'*' => self.skip_block()?,
                // For SQLite a byte order mark is space, wherever it stands.
                0xef if self.engine == Engine::Sqlite
                    && (self.peek(1), self.peek(2)) == (0xbb, 0xbf) =>
                {
                    self.at += 3;
                }
                _ => return Ok(true),
            }
        }
        Ok(false)
    }

    fn skip_line(&mut self) {
        // A carriage return ends a comment for PostgreSQL, but not for SQLite.
        let postgres = self.engine == Engine::Postgres;
        let ends = |byte: &u8| *byte == b'\n' || (postgres && *byte == b'\r');
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
    }

    fn skip_block(&mut self) -> Result<(), Uncut> {
        let start = self.at;
        let nests = self.engine == Engine::Postgres;
        let mut depth = 0usize;
        while self.at < self.bytes.len() {
            match (self.bytes[self.at], self.peek(1)) {
                (b'/', b'*') if nests || depth == 0 => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                _ => self.at += 1,
            }
        }
        if nests {
            return Err(self.wrong(start, "the comment that begins here has no end"));
        }
        Ok(()) // the end of the text ends a comment of SQLite
    }

    fn prefixed(&mut self, start: usize, escapes: bool) -> Result<(), Uncut> {
        self.at += 1;
        self.string(start, escapes)
    }

    /// A string whose opening quote is at `self.at`.
    fn string(&mut self, start: usize, escapes: bool) -> Result<(), Uncut> {
        let mut at = self.at + 1;
        while at < self.bytes.len() {
            match self.bytes[at] {
                b'\\' if escapes => at += 2,
                b'\'' if self.bytes.get(at + 1) == Some(&b'\'') => at += 2,
                b'\'' => match self.continued(at + 1).filter(|_| escapes) {
                    Some(open) => at = open + 1,
                    None => {
                        self.push(Kind::Text, start, at + 1);
                        return Ok(());
                    }
                },
                _ => at += 1,
            }
        }
        Err(self.wrong(start, "the string that begins here has no end"))
    }

    /// Where a string goes on after a line break; the next part is of the same sort, which matters for `E''` only.
    fn continued(&self, mut at: usize) -> Option<usize> {
        let mut broken = false;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'\n' | b'\r' => broken = true,
                b' ' | b'\t' | 0x0b | 0x0c => {}
                b'-' if self.bytes.get(at + 1) == Some(&b'-') => {
                    let rest = &self.bytes[at..];
                    let line = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
                    at += line;
                    continue;
                }
                b'\'' if broken => return Some(at),
                _ => return None,
            }
            at += 1;
        }
        None
    }

    /// A name in quotes whose opening quote is at `self.at`.
    fn quoted(&mut self, start: usize, close: u8, kind: Kind) -> Result<(), Uncut> {
        let mut at = self.at + 1;
        while at < self.bytes.len() {
            if self.bytes[at] != close {
                at += 1;
            } else if close != b']' && self.bytes.get(at + 1) == Some(&close) {
                at += 2;
            } else {
                self.push(kind, start, at + 1);
                return Ok(());
            }
        }
        Err(self.wrong(start, "the quoted name that begins here has no end"))
    }

    fn dollar(&mut self, start: usize) -> Result<(), Uncut> {
        if self.engine == Engine::Sqlite || self.peek(1).is_ascii_digit() {
            return self.native(start);
        }
        let tag = self.bytes[start + 1..]
            .iter()
            .take_while(|byte| is_name(**byte) && **byte != b'$')
            .count();
        let body = start + tag + 2;
        if self.bytes.get(body - 1) != Some(&b'$') {
            return Err(self.wrong(start, "a `$` that begins neither a string nor a parameter"));
        }
        let fence = &self.text[start..body];
        match self.text[body..].find(fence) {
            Some(length) => {
                self.push(Kind::Text, start, body + length + fence.len());
                Ok(())
            }
            None => Err(self.wrong(start, "the string that begins here has no end")),
        }
    }

    fn native(&mut self, start: usize) -> Result<(), Uncut> {
        let name = self.bytes[start + 1..]
            .iter()
            .take_while(|byte| is_name(**byte))
            .count();
        self.push(Kind::Native, start, start + 1 + name);
        Ok(())
    }

    fn colon(&mut self, start: usize) -> Result<(), Uncut> {
        match self.peek(1) {
            b':' | b'=' => self.push(Kind::Operator, start, start + 2),
            byte if self.placeholders == Placeholders::Unknown => {
                if self.engine == Engine::Sqlite && is_name(byte) {
                    return self.native(start);
                }
                self.push(Kind::Mark, start, start + 1);
            }
            byte if is_name_start(byte) && !self.slices() => {
                let end = self.name_end(start + 1);
                self.at = end;
                self.found.push(Lexeme {
                    kind: Kind::Placeholder,
                    text: &self.text[start + 1..end],
                    start,
                    end,
                });
            }
            _ => self.push(Kind::Mark, start, start + 1),
        }
        Ok(())
    }

    /// Whether a colon here stands between the bounds of a slice, as in `a[1:n]`.
    fn slices(&self) -> bool {
        let operand = self.found.last().is_some_and(|last| match last.kind {
            Kind::Mark => last.text == ")" || last.text == "]",
            Kind::Operator => false,
            _ => true,
        });
        self.brackets.last() == Some(&true) && operand
    }

    /// Names of placeholders hold letters and digits of any language and `_`, nothing else.
    fn name_end(&self, start: usize) -> usize {
        let rest = &self.text[start..];
        let stop = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        start + stop.unwrap_or(rest.len())
    }

    fn braces(&mut self, start: usize) -> Result<(), Uncut> {
        let inside = &self.text[start + 2..];
        let name_start = start + 2 + (inside.len() - inside.trim_start().len());
        let name_end = self.name_end(name_start);
        let rest = &self.text[name_end..];
        let gap = rest.len() - rest.trim_start().len();
        let fine = name_end > name_start
            && !self.bytes[name_start].is_ascii_digit()
            && rest.trim_start().starts_with("}}");
        if !fine {
            return Err(self.wrong(
                start,
                "`{{` begins a placeholder, which is written `{{name}}`",
            ));
        }
        let end = name_end + gap + 2;
        self.at = end;
        self.found.push(Lexeme {
            kind: Kind::Placeholder,
            text: &self.text[name_start..name_end],
            start,
            end,
        });
        Ok(())
    }

    fn number(&mut self, start: usize) -> Result<(), Uncut> {
        let mut at = start;
        while let Some(byte) = self.bytes.get(at) {
            let signed = matches!(self.bytes.get(at + 1), Some(b'+' | b'-'))
                && self.bytes.get(at + 2).is_some_and(u8::is_ascii_digit)
                && matches!(byte, b'e' | b'E')
                && !self.text[start..at].starts_with("0x");
            match byte {
                _ if signed => at += 2,
                b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' => at += 1,
                _ => break,
            }
        }
        self.push(Kind::Number, start, at);
        Ok(())
    }

    fn word(&mut self, start: usize) -> Result<(), Uncut> {
        let length = self.bytes[start..]
            .iter()
            .take_while(|byte| is_name(**byte))
            .count();
        self.push(Kind::Word, start, start + length);
        Ok(())
    }

    fn operator(&mut self, start: usize) -> Result<(), Uncut> {
        let mut end = start;
        while let Some(byte) = self.bytes.get(end).filter(|byte| OPERATORS.contains(byte)) {
            let next = self.bytes.get(end + 1);
            let comment = matches!((byte, next), (b'-', Some(b'-')) | (b'/', Some(b'*')));
            // What the engine takes for a parameter or a name is no part of an operator of SQLite.
            let foreign = self.engine == Engine::Sqlite && matches!(byte, b'?' | b'@' | b'`');
            if comment || (foreign && end > start) {
                break;
            }
            end += 1;
        }
        self.push(Kind::Operator, start, end);
        Ok(())
    }

    fn mark(&mut self, start: usize) -> Result<(), Uncut> {
        let length = self.text[start..].chars().next().map_or(1, char::len_utf8);
        match self.bytes[start] {
            b'[' => self.brackets.push(true),
            b'(' => self.brackets.push(false),
            b']' | b')' => {
                self.brackets.pop();
            }
            _ => {}
        }
        self.push(Kind::Mark, start, start + length);
        Ok(())
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_name(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit() || byte == b'$'
}
