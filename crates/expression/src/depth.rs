//! Whether a source is too deeply nested to be read: a parsed tree is walked and freed level by level, on our stack.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer::lex};

/// How many tokens may follow each other without one that parts them. A chain of operators, calls or attributes
/// nests one level with each two or three; the evaluator itself takes some two hundred levels.
const CHAIN_MAX: usize = 2000;

/// Brackets are the parser's own business.
pub(crate) fn too_deep(text: &str) -> bool {
    longest_chain(text).is_none()
}

/// Nothing if a chain is longer than allowed.
fn longest_chain(text: &str) -> Option<usize> {
    let mut lexer = lex(text, Mode::Module);
    let mut chains = vec![0_usize];
    let mut longest = 0;
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => return Some(longest),
            TokenKind::Comment | TokenKind::NonLogicalNewline => continue,
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                *chains.last_mut()? += 1;
                chains.push(0);
                continue;
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace if chains.len() > 1 => {
                chains.pop();
            }
            TokenKind::Comma
            | TokenKind::Newline
            | TokenKind::Semi
            | TokenKind::Colon
            | TokenKind::Equal => *chains.last_mut()? = 0,
            _ => *chains.last_mut()? += 1,
        }
        longest = longest.max(*chains.last()?);
        if longest > CHAIN_MAX {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_bounded_and_lists_are_not() {
        for deep in [
            "1+".repeat(20_000),
            format!("a{}", "()".repeat(20_000)),
            format!("x = [a{}]", ".b".repeat(20_000)),
        ] {
            assert!(too_deep(&deep), "{}", &deep[..20]);
        }
        for flat in [
            "1+".repeat(200),
            format!("[{}]", "1, ".repeat(20_000)),
            "x = 1\n".repeat(10_000),
            "'unfinished".to_owned(),
        ] {
            assert!(!too_deep(&flat), "{}", &flat[..10]);
        }
    }
}
