//! A command line taken apart the way a shell would, and nothing of it run.

use super::Error;

/// One word of the line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether a shell would have put a variable in; its name stands in the text as it was written.
    pub(super) has_variable: bool,
}

/// What a shell would make of these is not ours to guess.
const SHELL: [char; 8] = ['|', ';', '&', '<', '>', '`', '(', ')'];

pub(super) fn split(line: &str) -> Result<Vec<Word>, Error> {
    let mut reader = Reader {
        rest: line.chars().peekable(),
        words: Vec::new(),
        word: None,
    };
    while let Some(c) = reader.rest.next() {
        reader.plain(c)?;
    }
    reader.end();
    Ok(reader.words)
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    words: Vec<Word>,
    /// An empty pair of quotes is a word too.
    word: Option<Word>,
}

impl Reader<'_> {
    fn end(&mut self) {
        self.words.extend(self.word.take());
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().text.push(c);
    }

    fn plain(&mut self, c: char) -> Result<(), Error> {
        match c {
            '\\' => match self.rest.next() {
                // A line that goes on; Windows ends its lines with two characters.
                Some('\n') | None => {}
                Some('\r') => {
                    self.rest.next_if_eq(&'\n');
                }
                Some(c) => self.push(c),
            },
            '\'' => self.single()?,
            '"' => self.double()?,
            '$' if self.rest.next_if_eq(&'\'').is_some() => self.ansi()?,
            '$' => self.dollar()?,
            c if c.is_whitespace() => self.end(),
            c if SHELL.contains(&c) => return Err(Error::Shell(c)),
            c => self.push(c),
        }
        Ok(())
    }

    fn single(&mut self) -> Result<(), Error> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next().ok_or(Error::Unclosed('\''))? {
                '\'' => return Ok(()),
                c => self.push(c),
            }
        }
    }

    fn double(&mut self) -> Result<(), Error> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next().ok_or(Error::Unclosed('"'))? {
                '"' => return Ok(()),
                '`' => return Err(Error::Shell('`')),
                '$' => self.dollar()?,
                '\\' => match self.rest.next().ok_or(Error::Unclosed('"'))? {
                    '\n' => {}
                    c @ ('"' | '\\' | '$' | '`') => self.push(c),
                    c => {
                        self.push('\\');
                        self.push(c);
                    }
                },
                c => self.push(c),
            }
        }
    }

    /// `$NAME` and `${NAME}` are kept as they are written, and marked.
    fn dollar(&mut self) -> Result<(), Error> {
        match self.rest.peek() {
            Some('(') => return Err(Error::Shell('(')),
            Some(c) if *c == '{' || c.is_ascii_alphabetic() || *c == '_' => {
                self.word.get_or_insert_default().has_variable = true;
            }
            _ => {}
        }
        self.push('$');
        Ok(())
    }

    /// `$'…'`, which browsers write where a text has characters of other languages.
    fn ansi(&mut self) -> Result<(), Error> {
        self.word.get_or_insert_default();
        let unclosed = || Error::Unclosed('\'');
        loop {
            match self.rest.next().ok_or_else(unclosed)? {
                '\'' => return Ok(()),
                '\\' => {
                    let c = match self.rest.next().ok_or_else(unclosed)? {
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'x' => self.code(2),
                        'u' => self.unicode(),
                        'U' => self.code(8),
                        c => c,
                    };
                    self.push(c);
                }
                c => self.push(c),
            }
        }
    }

    /// Characters outside the first plane come as a pair.
    fn unicode(&mut self) -> char {
        let first = self.number(4);
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
        self.rest.next_if_eq(&'\\');
        self.rest.next_if_eq(&'u');
        let second = self.number(4);
        let joined = 0x10000 + ((first - 0xd800) << 10) + second.saturating_sub(0xdc00);
        char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn code(&mut self, digits: usize) -> char {
        char::from_u32(self.number(digits)).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn number(&mut self, digits: usize) -> u32 {
        let mut number: u32 = 0;
        for _ in 0..digits {
            let Some(digit) = self
                .rest
                .next_if(char::is_ascii_hexdigit)
                .and_then(|c| c.to_digit(16))
            else {
                break;
            };
            number = number.wrapping_shl(4) | digit;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        split(line)
            .unwrap()
            .into_iter()
            .map(|word| word.text)
            .collect()
    }

    #[test]
    fn quotes_are_read_as_a_shell_reads_them() {
        for (line, words) in [
            ("curl  a\tb", vec!["curl", "a", "b"]),
            (
                "curl \\\n  -H 'a b' \\\r\n x",
                vec!["curl", "-H", "a b", "x"],
            ),
            (r#"a'b c'"d e"f"#, vec!["ab cd ef"]),
            (r#""a\"b\\c\d\$e" 'a\"b'"#, vec![r#"a"b\c\d$e"#, r#"a\"b"#]),
            ("'' \"\"", vec!["", ""]),
            (r"$'a\'b\u00e9\x41\n' x\ y", vec!["a'béA\n", "x y"]),
            (r"$'\ud83d\ude00'", vec!["😀"]),
            ("'https://h/?a=1&b=2|(x)'", vec!["https://h/?a=1&b=2|(x)"]),
            ("a$ b$1", vec!["a$", "b$1"]),
        ] {
            assert_eq!(texts(line), words, "{line}");
        }
    }

    #[test]
    fn variables_are_marked_and_nothing_is_run() {
        let variable = |line: &str| split(line).unwrap()[0].has_variable;
        assert!(
            variable("$TOKEN")
                && variable("\"a ${TOKEN}\"")
                && !variable("'$TOKEN'")
                && !variable("\\$TOKEN")
        );
        for (line, error) in [
            ("curl a | sh", Error::Shell('|')),
            ("curl a; rm x", Error::Shell(';')),
            ("curl a?b=1&c=2", Error::Shell('&')),
            ("curl $(id)", Error::Shell('(')),
            ("curl \"`id`\"", Error::Shell('`')),
            ("curl a > b", Error::Shell('>')),
            ("curl 'a", Error::Unclosed('\'')),
            ("curl \"a", Error::Unclosed('"')),
        ] {
            assert_eq!(split(line), Err(error), "{line}");
        }
    }
}
