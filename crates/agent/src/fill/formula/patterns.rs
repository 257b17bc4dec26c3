//! Ways to say a calculation, each with what it comes to.

use super::tokens::Token;
use crate::fill::units::Measures;

/// `N` is a number, `U` a unit, anything else itself; of words between bars, any, and `?` after them for none as well. On the
/// right, `$1` is the first that was taken.
const PATTERNS: [(&str, &str); 40] = [
    ("N 로 N 나누 나머지", "$2 mod $1"),
    ("N N 로 나누 나머지", "$1 mod $2"),
    ("N / N 의? 나머지", "$1 mod $2"),
    ("remainder of|when? N / N", "$1 mod $2"),
    ("N 의 N %", "$2% of $1"),
    ("N 의 N 제곱", "$1^$2"),
    ("N 의 제곱근", "sqrt($1)"),
    ("N 의 제곱", "$1^2"),
    ("N 제곱근", "sqrt($1)"),
    ("루트 N", "sqrt($1)"),
    ("root N", "sqrt($1)"),
    ("cube|root N", "cbrt($1)"),
    ("N 에|와|의? N 더하", "$1 + $2"),
    ("N 에|와 N % 더하|인상", "$1 * (1 + $2%)"),
    ("N 에서 N % 할인|빼", "$1 * (1 - $2%)"),
    ("N 에|와? N 곱하", "$1 * $2"),
    ("N 에서 N 빼", "$1 - $2"),
    ("N 로 N 나누", "$2 / $1"),
    ("N N 로 나누", "$1 / $2"),
    ("N 와 N 의? 합", "$1 + $2"),
    ("N + N 의? 합", "$1 + $2"),
    ("add N % tax? to N", "$2 * (1 + $1%)"),
    ("N % off N", "$2 * (1 - $1%)"),
    ("add N to|and N", "$1 + $2"),
    ("subtract N from N", "$2 - $1"),
    ("multiply N by|and N", "$1 * $2"),
    ("divide N by N", "$1 / $2"),
    ("sum of N and N", "$1 + $2"),
    ("product of N and N", "$1 * $2"),
    ("N U to U", "$1 $2 to $3"),
    ("N U to many U", "$1 $2 to $3"),
    ("N U many U", "$1 $2 to $3"),
    ("many U N U", "$2 $3 to $1"),
    ("many U to|make|there N U", "$2 $3 to $1"),
    ("many U there to N U", "$2 $3 to $1"),
    ("many U to U", "1 $2 to $1"),
    ("N U 몇 U", "$1 $2 to $3"),
    ("N U U 로", "$1 $2 to $3"),
    ("N U U 로 몇", "$1 $2 to $3"),
    ("U N 도 U 로", "$2 $1 to $3"),
];

/// Said of temperatures and of speed, where Korean puts the unit first.
const FIRST: [(&str, &str); 4] = [
    ("U N 도 U 로 몇 도", "$2 $1 to $3"),
    ("U N 도 U 로 몇", "$2 $1 to $3"),
    ("시속 N U U 로", "$1 $2/hour to $3/hour"),
    ("시속 N U U 로 몇", "$1 $2/hour to $3/hour"),
];

/// What the tokens come to by one of the patterns.
pub(super) fn matched(tokens: &[Token]) -> Option<String> {
    let all = PATTERNS.iter().chain(&FIRST);
    let mut all = all.map(|(pattern, meaning)| {
        let taken = taken(pattern, tokens)?;
        is_sound(&taken).then(|| written(meaning, &taken))
    });
    all.find_map(|it| it)
}

/// What a pattern takes; nothing where it does not fit all.
fn taken<'t>(pattern: &str, tokens: &'t [Token]) -> Option<Vec<&'t Token>> {
    let mut taken = Vec::new();
    let mut at = 0;
    for part in pattern.split(' ') {
        let (part, is_optional) = match part.strip_suffix('?') {
            Some(part) => (part, true),
            None => (part, false),
        };
        let token = tokens.get(at);
        let fits = match (part, token) {
            ("N", Some(Token::Number(_))) | ("U", Some(Token::Unit(_))) => {
                taken.extend(token);
                true
            }
            (_, Some(Token::Sign(sign))) => part.len() == 1 && part.starts_with(*sign),
            (_, Some(Token::Word(word))) => {
                part.split('|').any(|it| it == word) || part.replace('|', " ") == *word
            }
            _ => false,
        };
        match fits {
            true => at += 1,
            false if is_optional => {}
            false => return None,
        }
    }
    (at == tokens.len()).then_some(taken)
}

/// A length is no weight: what cannot be converted is not asked for.
fn is_sound(taken: &[&Token]) -> bool {
    let units = taken.iter().filter_map(|it| match it {
        Token::Unit(unit) => Some(unit.measures),
        _ => None,
    });
    let measures: Vec<Measures> = units.collect();
    measures.windows(2).all(|it| it[0] == it[1])
}

fn written(meaning: &str, taken: &[&Token]) -> String {
    let mut text = meaning.to_owned();
    for (at, token) in taken.iter().enumerate() {
        let own = match token {
            Token::Number(own) => own.as_str(),
            Token::Unit(own) => own.name,
            _ => continue,
        };
        text = text.replace(&format!("${}", at + 1), own);
    }
    text
}
