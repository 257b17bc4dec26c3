//! Asking fend: what an expression comes to, in which base, and rounded so that every figure shown is right.

use super::decimal::{Rounding, figures, integer_figures, is_decimal, round, split};

/// As many as a JSON number can hold in every case.
const FIGURES: usize = 15;
/// Of a number that has as many before the point.
const PLACES: usize = 10;
/// Asked for beyond what is shown, so that what is rounded twice is rounded rightly.
const SPARE: usize = 12;
/// Who wants more decimal places or figures gets them as fend rounds them.
const CHOSEN_MAX: usize = 500;

/// How fend begins a result that is not exact.
pub(super) const APPROXIMATE: &str = "approx. ";

/// What every evaluation begins with.
pub(super) fn context() -> fend_core::Context {
    let mut context = fend_core::Context::new();
    // The same expression must always give the same answer.
    context.disable_rng();
    context
}

/// What fend says of an expression.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// A number where it looks like one.
    Plain(String),
    /// Text even where it looks like a number: digits of another base.
    Text(String),
}

pub(super) fn evaluate(context: &fend_core::Context, expression: &str) -> Result<Answer, String> {
    let fend = Fend {
        context,
        expression,
    };
    let text = fend.asked(expression)?;
    if fend.counts_otherwise(&text) {
        return Ok(Answer::Text(text));
    }
    let finer = is_rounded_decimal(&text).then(|| fend.rounded(&text));
    Ok(Answer::Plain(finer.flatten().unwrap_or(text)))
}

/// One expression, about which fend is asked more than once.
struct Fend<'a> {
    context: &'a fend_core::Context,
    expression: &'a str,
}

impl Fend<'_> {
    fn asked(&self, question: &str) -> Result<String, String> {
        let result = fend_core::evaluate(question, &mut self.context.clone())?;
        Ok(result.get_main_result().to_owned())
    }

    /// Whether these digits are those of another base. They look like decimal ones.
    fn counts_otherwise(&self, text: &str) -> bool {
        const NAMES: [&str; 7] = ["hex", "bin", "ternary", "senary", "seximal", "oct", "base"];
        let named = NAMES.iter().any(|name| self.expression.contains(name));
        if !named || !is_decimal(text.strip_prefix(APPROXIMATE).unwrap_or(text)) {
            return false;
        }
        // A sum is shown in the base of its first part, and no base but ours writes this one so.
        let sum = self.asked(&format!("({}) * 0 + 36", self.expression));
        !sum.is_ok_and(|sum| sum.strip_prefix(APPROXIMATE).unwrap_or(&sum) == "36")
    }

    /// The result to as many figures as a number can hold, or as were asked for. Left to itself fend rounds to ten
    /// decimal places, which makes 0 of a small number, cuts integers off, and makes 6 of `5.0006 to 3 dp`: it
    /// forgets zeros before it rounds up. So it is asked for more than is needed, and the rounding is ours.
    fn rounded(&self, text: &str) -> Option<String> {
        let (shown, unit) = split(text.strip_prefix(APPROXIMATE)?);
        let rounding = match chosen(self.expression)? {
            Chosen::Rounding(rounding) => rounding,
            Chosen::Nothing if integer_figures(shown) >= FIGURES => Rounding::Places(PLACES),
            Chosen::Nothing if integer_figures(shown) == 0 && self.may_be_noise() => {
                Rounding::Places(FIGURES - 1)
            }
            Chosen::Nothing => Rounding::Figures(FIGURES),
        };
        let (Rounding::Figures(wanted) | Rounding::Places(wanted)) = rounding;
        let digits = self.digits(integer_figures(shown) + wanted.max(FIGURES) + SPARE, unit)?;
        Some(format!("{APPROXIMATE}{}{unit}", round(&digits, rounding)))
    }

    /// The result to at least so many figures.
    fn digits(&self, count: usize, unit: &str) -> Option<String> {
        let asked = |count: usize| {
            let text = self.asked(&format!("({}) to {count} sf", self.expression));
            let text = text.ok()?;
            let (digits, rest) = split(text.strip_prefix(APPROXIMATE).unwrap_or(&text));
            (rest == unit).then(|| digits.to_owned())
        };
        let digits = asked(count)?;
        if figures(&digits) >= count {
            return Some(digits);
        }
        // It ends in zeros, or in zeros that were forgotten. In that case the next digit is no zero, and shows them.
        let one_more = asked(count + 1)?;
        let forgotten = figures(&one_more) > count;
        Some(if forgotten { one_more } else { digits })
    }

    /// Whether the last figures can be what floating point leaves of a difference, such as `sqrt(2) * sqrt(2) - 2`.
    fn may_be_noise(&self) -> bool {
        let is_exact = |text: String| !text.starts_with(APPROXIMATE);
        let fraction = || self.asked(&format!("({}) to fraction", self.expression));
        adds(self.expression) && !fraction().is_ok_and(is_exact)
    }
}

/// What an expression says about rounding.
enum Chosen {
    Nothing,
    Rounding(Rounding),
}

/// None where it is said in a way that only fend understands.
fn chosen(expression: &str) -> Option<Chosen> {
    let mut said = Vec::new();
    for word in ["dp", "sf"] {
        said.extend(expression.match_indices(word));
    }
    let [(at, word)] = said[..] else {
        return said.is_empty().then_some(Chosen::Nothing);
    };
    let before = expression[..at].trim_end();
    let number = before.trim_end_matches(|c: char| c.is_ascii_digit());
    let count: usize = before[number.len()..].parse().ok()?;
    let rounding = match word {
        "dp" => Rounding::Places(count),
        _ => Rounding::Figures(count),
    };
    (count <= CHOSEN_MAX).then_some(Chosen::Rounding(rounding))
}

/// Whether there is a sum or a difference, other than the sign of a number or of an exponent.
fn adds(expression: &str) -> bool {
    let operator = |(at, _): (usize, &str)| {
        let before = &expression[..at];
        let exponent = before
            .strip_suffix(['e', 'E'])
            .is_some_and(|number| number.ends_with(|c: char| c.is_ascii_digit() || c == '.'));
        let nothing_before = |c: char| "(^*/=:;,<>×÷".contains(c);
        let before = before.trim_end();
        !exponent && !before.is_empty() && !before.ends_with(nothing_before)
    };
    expression.match_indices(['+', '-']).any(operator)
}

/// `approx. 0.1429 m`, but no fraction, which somebody has asked for, and nothing with an imaginary part.
fn is_rounded_decimal(text: &str) -> bool {
    let Some(number) = text.strip_prefix(APPROXIMATE) else {
        return false;
    };
    let mut words = number.split(' ');
    let goes_on = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
    let first = words.next().unwrap_or_default();
    is_decimal(first.strip_suffix('%').unwrap_or(first)) && !words.next().is_some_and(goes_on)
}
