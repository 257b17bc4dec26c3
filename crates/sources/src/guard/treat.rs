//! `TREAT(value AS name)`: PostgreSQL's grammar makes of it a call of the function `pg_catalog.name`, whatever that is.
//! There the name stands neither before a parenthesis nor behind a dot, as the name of a type does.

use super::at;
use crate::error::Error;
use crate::lexeme::Lexeme;

pub(super) fn check(text: &str, pieces: &[Lexeme<'_>]) -> Result<(), Error> {
    let called = pieces.windows(2).find_map(|pair| match pair {
        [word, open] if word.is_word("TREAT") && open.is_mark("(") => Some(word),
        _ => None,
    });
    match called {
        Some(word) => Err(at(
            text,
            word,
            "calls any function of the server by its name; it is not open to queries here. Write CAST(… AS …), or another \
             name if it is your own",
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Placeholders, lex};
    use crate::statement::Engine;

    fn is_open(text: &str) -> bool {
        let pieces = lex(text, Engine::Postgres, Placeholders::Unknown).unwrap();
        check(text, &pieces).is_ok()
    }

    #[test]
    fn only_the_call_is_refused() {
        for text in [
            "SELECT TREAT(1.5 AS pg_sleep)",
            "SELECT treat /* a */ -- b\n (1.5 AS pg_sleep)",
            "SELECT * FROM (SELECT Treat((x.a).pid AS pg_terminate_backend) FROM x) y",
            "SELECT TREAT(1 AS int)",
        ] {
            assert!(!is_open(text), "{text}");
        }
        for text in [
            "SELECT treat, t.treat FROM (SELECT 1 AS treat) t",
            "SELECT 'TREAT(1 AS x)', \"treat\" FROM treat",
            "SELECT CAST(1 AS int)",
        ] {
            assert!(is_open(text), "{text}");
        }
    }
}
