//! The pieces that SQL text is cut into.

use crate::error::Place;
use crate::statement::Engine;

/// What a piece of the text is, as far as anybody here cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in quotes.
    Quoted,
    /// A name of the form `U&"…"`, whose letters may be spelled in numbers.
    Disguised,
    /// A string of any sort, dollar quotes and blobs included.
    Text,
    Number,
    /// A run of operator letters; `::` and `:=` are operators too.
    Operator,
    /// One of `( ) [ ] , ; .` or a lone colon.
    Mark,
    /// `:name` or `{{name}}`.
    Placeholder,
    /// A parameter of the engine's own form: `$1`, `?`, `?1`, `@name`, `$name`.
    Native,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lexeme<'t> {
    pub(crate) kind: Kind,
    /// The text as it stands; of a placeholder only its name.
    pub(crate) text: &'t str,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Lexeme<'_> {
    pub(crate) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// The name that the engine looks up: unquoted names are folded, quoted ones are taken as they are.
    pub(crate) fn name(&self, engine: Engine) -> Option<String> {
        match self.kind {
            Kind::Word if engine == Engine::Postgres => Some(fold(self.text)),
            // SQLite does not cut names, but what is cut in quotes has to be found without them.
            Kind::Word => {
                let mut name = self.text.to_owned();
                truncate(&mut name);
                Some(name)
            }
            Kind::Quoted => Some(unquote(self.text)),
            _ => None,
        }
    }
}

/// PostgreSQL folds the letters of ASCII only, in a database of UTF-8.
fn fold(word: &str) -> String {
    let mut name = word.to_ascii_lowercase();
    truncate(&mut name);
    name
}

pub(crate) fn unquote(quoted: &str) -> String {
    let mut letters = quoted.chars();
    let (Some(open), Some(_)) = (letters.next(), letters.next_back()) else {
        return String::new();
    };
    let close = if open == '[' { ']' } else { open };
    let mut name = letters
        .as_str()
        .replace(&format!("{close}{close}"), &close.to_string());
    truncate(&mut name);
    name
}

/// PostgreSQL cuts names at 63 bytes, so a longer one may mean a function that a list knows by its first 63. In a database
/// that is not in UTF-8 these are other bytes than here: names of its catalog have to be cut as well before they are compared.
pub(crate) fn truncate(name: &mut String) {
    const BYTES_MAX: usize = 63;
    if name.len() > BYTES_MAX {
        let mut end = BYTES_MAX;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name.truncate(end);
    }
}

/// Why a text could not be cut, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uncut {
    pub(crate) message: String,
    pub(crate) place: Place,
}
