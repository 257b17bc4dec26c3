//! A calculation as people say it, turned into what the calculator reads: `340의 12.5%는?` is `12.5% of 340`.
//!
//! Every word has to have a part in it. Where one has not, nothing is returned: half a calculation is a wrong one.

mod lists;
mod patterns;
mod several;
mod tokens;

use super::days::year_first;
use lists::of_list;
use patterns::matched;
pub(crate) use several::several;
use tokens::{Token, tokens};

/// More tokens are no calculation that somebody says.
const TOKENS_MAX: usize = 60;

/// The calculation that a request is; nothing where that is not certain.
pub(crate) fn formula(request: &str) -> Option<String> {
    let is_day = |word: &str| year_first(word.trim_end_matches(['?', '.', ','])).is_some();
    if request
        .split_whitespace()
        .any(|it| is_day(it) || is_other(it))
    {
        return None;
    }
    let tokens = tokens(request)?;
    let is_said = |it: &&Token| **it != Token::Pause;
    let words: Vec<Token> = tokens.iter().filter(is_said).cloned().collect();
    if words.is_empty() || words.len() > TOKENS_MAX {
        return None;
    }
    of_list(&words)
        .or_else(|| matched(&words))
        .or_else(|| share(&words))
        .or_else(|| infix(&tokens))
}

/// What is written like a calculation and is none: a phone number, `24/7`, and megabits, which are no megabytes.
fn is_other(word: &str) -> bool {
    let parts: Vec<&str> = word.trim_matches(['?', '.', ',', '!']).split('-').collect();
    let is_digits = |it: &&str| !it.is_empty() && it.chars().all(|c| c.is_ascii_digit());
    let is_phone = parts.len() > 2 && parts.iter().all(is_digits);
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
    is_phone
        || parts == ["24/7"]
        || matches!(unit.trim_end_matches('?'), "Kb" | "Mb" | "Gb" | "Tb" | "kb")
}

/// What tools that do one of these with their numbers say of themselves.
const DOES: [(Work, &str); 10] = [
    (Work::Average, "average mean 평균 통계 statistic"),
    (Work::Remainder, "remainder modul mod( 나머지"),
    (
        Work::Add,
        "add sum plus total 더하 더한 더합 더해 덧셈 합계 합산 합을",
    ),
    (
        Work::Subtract,
        "subtract minus difference 빼 뺀 뺍 뺄셈 차이 차를 차감",
    ),
    (Work::Multiply, "multipl product times 곱"),
    (
        Work::Divide,
        "divi quotient ratio 나누 나눈 나눕 나눠 나눗셈 몫 비율",
    ),
    (Work::Power, "power expon square cube 거듭제곱 제곱"),
    (Work::Root, "root 제곱근 루트"),
    (
        Work::Less,
        "discount % off percent reduc 할인 퍼센트 백분율 인하",
    ),
    (
        Work::More,
        "tax vat tip percent increase markup interest 세금 부가세 팁 퍼센트 백분율 인상 이자",
    ),
];

/// What is done with numbers.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    Average,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Root,
    /// `350 * (1 - 20%)`: some of it off.
    Less,
    More,
}

/// Whether the numbers of a request that is a calculation may go to a tool that says this of itself: only to one that does the
/// same.
pub(crate) fn fits(formula: &str, about: &str) -> bool {
    let is_said = |work: Work| {
        let own = DOES.iter().filter(|it| it.0 == work);
        own.flat_map(|it| it.1.split(' '))
            .any(|word| about.contains(word))
    };
    works(formula).into_iter().all(is_said)
}

/// Whether a tool says of itself that it calculates with its numbers.
pub(crate) fn computes(about: &str) -> bool {
    let mut all = DOES.iter().flat_map(|it| it.1.split(' '));
    all.any(|word| is_in(about, word))
}

/// Whether a text has a word that begins so.
fn is_in(about: &str, word: &str) -> bool {
    let mut found = about.match_indices(word);
    let is_begun = |at: usize| !about[..at].ends_with(|c: char| c.is_ascii_alphabetic());
    found.any(|(at, _)| !word.is_ascii() || is_begun(at))
}

/// Whether a word says what a tool does with its numbers: `곱해줘`.
pub(crate) fn says_work(stem: &str, about: &str) -> bool {
    DOES.iter().any(|(_, row)| {
        let mut said = row.split(' ');
        said.any(|word| stem.starts_with(word)) && row.split(' ').any(|word| is_in(about, word))
    })
}

/// How many numbers of a calculation have a minus of their own.
pub(crate) fn negatives(formula: &str) -> usize {
    let (mut found, mut is_operand) = (0, false);
    for sign in formula.chars().filter(|it| *it != ' ') {
        found += usize::from(sign == '-' && !is_operand);
        is_operand = !matches!(sign, '+' | '-' | '*' | '/' | '^' | '(');
    }
    found
}

/// What a calculation does.
fn works(formula: &str) -> Vec<Work> {
    // Units are told apart by a slash as well.
    let is_converted = formula.contains(" to ");
    let (mut found, mut is_operand) = (Vec::new(), false);
    let (less, more) = (" * (1 - ", " * (1 + ");
    let plain = formula.replace([' '], "");
    if formula.contains(less) || formula.contains(more) {
        found.push(if formula.contains(less) {
            Work::Less
        } else {
            Work::More
        });
        return found;
    }
    if lists::is_average(&plain) {
        return vec![Work::Average];
    }
    for sign in plain.chars() {
        match sign {
            '+' if is_operand => found.push(Work::Add),
            '-' if is_operand => found.push(Work::Subtract),
            '*' => found.push(Work::Multiply),
            '/' if !is_converted => found.push(Work::Divide),
            '^' => found.push(Work::Power),
            _ => {}
        }
        is_operand = !matches!(sign, '+' | '-' | '*' | '/' | '^' | '(');
    }
    if formula.contains(" mod ") {
        found.push(Work::Remainder);
    }
    if plain.contains("sqrt") {
        found.push(Work::Root);
    }
    found
}

/// `100 - 20%`: a share that is added to or taken from one number is a share of it.
fn share(words: &[Token]) -> Option<String> {
    match words {
        [
            Token::Number(of),
            Token::Sign(sign @ ('+' | '-')),
            Token::Number(part),
            Token::Sign('%'),
        ] => Some(format!("{of} * (1 {sign} {part}%)")),
        _ => None,
    }
}

/// Whether the number at the end of a calculation, were it a share, would be one of something that nobody has said:
/// `200 + 50 - 10%`. Shares may be added to each other, and to one.
fn is_share_of_unsaid(text: &str) -> bool {
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let Some(sum) = before
        .strip_suffix(" + ")
        .or_else(|| before.strip_suffix(" - "))
    else {
        return false;
    };
    let is_one = sum.ends_with("(1");
    let are_shares = sum
        .split([' ', '+', '-'])
        .all(|it| it.is_empty() || it.ends_with('%'));
    !is_one && !are_shares
}

/// What already is a calculation: operands and what stands between them.
fn infix(tokens: &[Token]) -> Option<String> {
    let mut text = String::new();
    let (mut depth, mut works) = (0_usize, 0_usize);
    let mut is_operand = false;
    for (at, token) in tokens.iter().enumerate() {
        let last = at.checked_sub(1).map(|at| &tokens[at]);
        match token {
            Token::Number(number) if !is_operand => {
                text.push_str(number);
                is_operand = true;
            }
            Token::Sign('-') if !is_operand => text.push('-'),
            // `3 + 4, times 2` means the sum, and without the comma it would not.
            Token::Pause => {
                let goes_on = tokens[at..].iter().any(|it| *it != Token::Pause);
                if works > 0 && is_operand && goes_on {
                    return None;
                }
            }
            Token::Sign('(') if !is_operand => {
                text.push('(');
                depth += 1;
            }
            Token::Sign(')') if is_operand && depth > 0 => {
                text.push(')');
                depth -= 1;
            }
            Token::Sign('%') if is_operand && matches!(last, Some(Token::Number(_))) => {
                let goes_on = matches!(tokens.get(at + 1), Some(Token::Word(of)) if of == "of");
                if !goes_on && is_share_of_unsaid(&text) {
                    return None;
                }
                text.push('%');
                works += 1;
            }
            Token::Sign(sign @ ('+' | '-' | '*' | '/' | '^')) if is_operand => {
                let gap = if *sign == '^' { "" } else { " " };
                text.push_str(gap);
                text.push(*sign);
                text.push_str(gap);
                works += 1;
                is_operand = false;
            }
            Token::Unit(unit) if matches!(last, Some(Token::Number(_))) => {
                text.push(' ');
                text.push_str(unit.name);
            }
            Token::Function(name) if !is_operand => {
                text.push_str(name);
                works += 1;
                // `sqrt 2` as well as `sqrt(2)`.
                match (tokens.get(at + 1), tokens.get(at + 2)) {
                    (Some(Token::Sign('(')), _) => {}
                    (Some(Token::Number(_)), None) => text.push(' '),
                    _ => return None,
                }
            }
            Token::Constant(name) if !is_operand => {
                text.push_str(name);
                is_operand = true;
            }
            Token::Word(word) if word == "mod" && is_operand => {
                text.push_str(" mod ");
                works += 1;
                is_operand = false;
            }
            Token::Word(word) if word == "of" && matches!(last, Some(Token::Sign('%'))) => {
                text.push_str(" of ");
                is_operand = false;
            }
            _ => return None,
        }
    }
    (is_operand && depth == 0 && works > 0).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_calculated() {
        for (request, expected) in [
            ("What is 12.5% of 340?", "12.5% of 340"),
            ("12.5% of 340", "12.5% of 340"),
            ("340의 12.5%는?", "12.5% of 340"),
            ("340의 12.5%는 얼마야", "12.5% of 340"),
            ("340의 12.5퍼센트 계산해줘", "12.5% of 340"),
            ("what's (1284 + 976) / 8 - 35", "(1284 + 976) / 8 - 35"),
            ("calculate 3 plus 4 times 2 please", "3 + 4 * 2"),
            ("How much is 48 times 125?", "48 * 125"),
            ("36 x 19 = ?", "36 * 19"),
            ("2**10", "2^10"),
            ("square root of 7921?", "sqrt(7921)"),
            ("10 squared", "10^2"),
            ("2 to the power of 20", "2^20"),
            ("sqrt(16) + 2", "sqrt(16) + 2"),
            ("log10(5000)", "log10(5000)"),
            ("Add 10% VAT to 48,900 for me", "48900 * (1 + 10%)"),
            ("20% off 350", "350 * (1 - 20%)"),
            ("subtract 3 from 10", "10 - 3"),
            ("100 나누기 4는 얼마야?", "100 / 4"),
            ("what is 48 modulo 5?", "48 mod 5"),
            ("48 mod 5", "48 mod 5"),
            ("48을 5로 나눈 나머지는?", "48 mod 5"),
            ("48 나누기 5의 나머지", "48 mod 5"),
            ("divide 84 by 7", "84 / 7"),
            ("the product of 7.5 and 220 please", "7.5 * 220"),
            ("2의 20제곱 계산해줘", "2^20"),
            ("35만원에서 15% 할인하면 얼마예요?", "350000 * (1 - 15%)"),
            (
                "3,500 더하기 12,800 더하기 960 다 합치면?",
                "3500 + 12800 + 960",
            ),
            ("5 곱하기 3", "5 * 3"),
            ("12랑 34 곱하면 얼마야", "12 * 34"),
            ("9.8에다가 45 곱해줘", "9.8 * 45"),
            ("100을 7로 나누면?", "100 / 7"),
            ("10에서 3을 빼면 얼마지", "10 - 3"),
            ("144의 제곱근은?", "sqrt(144)"),
            ("루트 2", "sqrt(2)"),
            ("250 × 18 값 알려주세요", "250 * 18"),
            ("average of 12, 30 and 45", "(12 + 30 + 45) / 3"),
            ("what's the mean of 2.5 and 4?", "(2.5 + 4) / 2"),
            ("12, 30, 45의 평균은?", "(12 + 30 + 45) / 3"),
            ("12와 30의 평균 계산해줘", "(12 + 30) / 2"),
            ("the sum of 3, 4 and 5", "3 + 4 + 5"),
            ("add 3, 4, and 5 please", "3 + 4 + 5"),
            ("2, 3, 4를 곱하면 얼마야", "2 * 3 * 4"),
            ("what is the remainder of 48 divided by 5", "48 mod 5"),
            ("the remainder when 48 is divided by 5?", "48 mod 5"),
            ("15% of -80", "15% of -80"),
            ("Hey, what is 12, plus 5, please?", "12 + 5"),
            ("3 + 4, thanks", "3 + 4"),
            ("100 - 20%", "100 * (1 - 20%)"),
            ("What is 200 plus 15%?", "200 * (1 + 15%)"),
            ("100 + 20% of 50", "100 + 20% of 50"),
            ("Then 3 + 4", "3 + 4"),
            (", and what is 2+2?", "2 + 2"),
            ("1000 * (1 + 5%)", "1000 * (1 + 5%)"),
            ("(200 + 50) * 10%", "(200 + 50) * 10%"),
            ("500 + 200 * 10%", "500 + 200 * 10%"),
        ] {
            assert_eq!(formula(request).as_deref(), Some(expected), "{request}");
        }
    }

    #[test]
    fn units_are_converted_as_they_are_asked_for() {
        for (request, expected) in [
            ("5 km to miles", "5 km to miles"),
            ("convert 5 kilometers to miles", "5 km to miles"),
            ("how many miles are 5 km", "5 km to miles"),
            ("70 kg in pounds", "70 kg to pounds"),
            ("what is 350 °F in celsius", "350 °F to °C"),
            ("how many megabytes are 3.5 GB", "3.5 GB to MB"),
            ("12피트면 몇 미터야?", "12 feet to m"),
            (
                "시속 60마일은 킬로미터로 얼마예요",
                "60 miles/hour to km/hour",
            ),
            ("화씨 98도를 섭씨로 바꿔줘", "98 °F to °C"),
            ("섭씨 30도는 화씨로 몇 도야?", "30 °C to °F"),
            ("8온스가 몇 그램인지 알려주세요", "8 oz to g"),
            ("4500초면 몇 시간이지", "4500 seconds to hours"),
            ("3일은 몇 분이야?", "3 days to minutes"),
            ("3시간이 몇 분이에요", "3 hours to minutes"),
            ("5 킬로미터를 마일로 변환해줘", "5 km to miles"),
            ("how many minutes in 3 days", "3 days to minutes"),
            ("how many minutes are there in 3 days?", "3 days to minutes"),
            ("how many seconds in an hour", "1 hours to seconds"),
            ("how many feet are in a mile?", "1 miles to feet"),
        ] {
            assert_eq!(formula(request).as_deref(), Some(expected), "{request}");
        }
    }

    #[test]
    fn what_is_no_calculation_is_not_guessed_at() {
        for request in [
            "",
            "What is 42?",
            "we split 186,400 won between 7 people, how much each",
            "I'm 6 ft 2 tall, put that in cm",
            "how old is the universe",
            "calculate it for me",
            "5 +",
            "(3 + 4",
            "12 34",
            "100 dollars in euros",
            "5 km to pounds",
            "add 3 apples to 4 pears",
            "what is 10% of my salary",
            "2026-11-16",
            "몇 시야?",
            "제곱근이 뭐야?",
            "얼마나 더하면 돼?",
            "Do not multiply 4 by 5",
            "4에 5를 곱하지 마",
            "3 + 4, times 2",
            "3,5 + 2",
            "1.000,5 + 2",
            "200 + 50 - 10%",
            "5% of 200 + 10%",
            "3 + 4 then times 2",
            "add 3, 4 and 5 to 10",
            "average of 10 - 3 and 5",
            "the average of 12",
            "average of 3 km and 5",
            "평균이 뭐야?",
        ] {
            assert_eq!(formula(request), None, "{request}");
        }
    }
}
