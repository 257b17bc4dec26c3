//! Whether to call a tool, to call none, or to ask the human for what is missing: a small network, trained on public data
//! and on the project's own by `scripts/train-outcome`.

use crate::features::{FEATURES, Features};
use crate::outcome_weights::{HIDDEN, MEAN, OUT};
use crate::reasons::reason;
use std::fmt;

/// What is to be done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A tool fits, and the request says enough to call it.
    Call,
    /// No tool is needed, or none that there is.
    None,
    /// A tool fits, but the request does not say all that it needs.
    Ask,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Call => "call",
            Outcome::None => "none",
            Outcome::Ask => "ask",
        })
    }
}

pub(crate) const OUTCOMES: [Outcome; 3] = [Outcome::Call, Outcome::None, Outcome::Ask];

pub(crate) struct Verdict {
    pub(crate) outcome: Outcome,
    pub(crate) certainty: f32,
    pub(crate) because: String,
}

impl Verdict {
    /// Where there is no tool at all.
    pub(crate) fn nothing() -> Self {
        Verdict {
            outcome: Outcome::None,
            certainty: 1.0,
            because: "there is no tool".to_owned(),
        }
    }
}

/// So many features are named where an outcome is explained.
const REASONS: usize = 3;

pub(crate) fn judge(features: &Features) -> Verdict {
    let hidden = HIDDEN.map(|weights| sum(&weights, &features.0).tanh());
    let sums = OUT.map(|weights| sum(&weights, &hidden));
    let best = (0..3)
        .max_by(|a, b| sums[*a].total_cmp(&sums[*b]))
        .unwrap_or(0);
    let powers = sums.map(|it| (it - sums[best]).exp());
    Verdict {
        outcome: OUTCOMES[best],
        certainty: powers[best] / powers.iter().sum::<f32>(),
        because: because(features, &hidden, best),
    }
}

/// The first weight stands for itself.
pub(crate) fn sum(weights: &[f32], inputs: &[f32]) -> f32 {
    let products = weights[1..].iter().zip(inputs).map(|(a, b)| a * b);
    weights[0] + products.sum::<f32>()
}

/// What spoke most for this outcome and against the others, measured by how requests are on the whole.
fn because(features: &Features, hidden: &[f32], best: usize) -> String {
    // How much each hidden sum moves the outcome, where it stands now.
    let moves = |at: usize| {
        let others = (0..3).filter(|it| *it != best).map(|it| OUT[it][at + 1]);
        (OUT[best][at + 1] - others.sum::<f32>() / 2.0) * (1.0 - hidden[at] * hidden[at])
    };
    let moves: Vec<f32> = (0..hidden.len()).map(moves).collect();
    let says = |at: usize| {
        let slope = HIDDEN
            .iter()
            .zip(&moves)
            .map(|(weights, it)| weights[at + 1] * it);
        slope.sum::<f32>() * (features.0[at] - MEAN[at])
    };
    let mut all: Vec<(usize, f32)> = (0..FEATURES.len()).map(|at| (at, says(at))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut reasons: Vec<&str> = Vec::new();
    for (at, _) in all.into_iter().filter(|it| it.1 > 0.0) {
        let said = reason(at, features.0[at] > MEAN[at]);
        // Several numbers may say the same.
        reasons.extend(said.filter(|it| !reasons.contains(it)));
        if reasons.len() == REASONS {
            break;
        }
    }
    reasons.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(set: &[(&str, f32)]) -> Features {
        let value = |name: &str| set.iter().find(|it| it.0 == name).map_or(0.0, |it| it.1);
        Features(FEATURES.map(value))
    }

    #[test]
    fn a_tool_that_does_not_fit_is_not_called() {
        let far = features(&[
            ("share not of the tool", 1.0),
            ("length", 0.6),
            ("tools", 0.5),
        ]);
        assert_eq!(judge(&far).outcome, Outcome::None);
    }

    #[test]
    fn what_fits_and_lacks_nothing_is_called() {
        let near = features(&[
            ("meaning", 0.6),
            ("example", 0.8),
            ("words", 0.5),
            ("score", 0.5),
            ("above the others", 0.5),
            ("before the second", 0.5),
            ("tools", 0.5),
            ("length", 0.6),
            ("numbers", 0.5),
            ("needed", 0.2),
            ("filled", 1.0),
            ("worst filled", 1.0),
            ("filled by more than words", 1.0),
            ("surely has all", 1.0),
            ("values", 0.3),
            ("idle", -0.2),
            ("complete", 1.0),
            ("has examples", 1.0),
        ]);
        let verdict = judge(&near);
        assert_eq!(verdict.outcome, Outcome::Call);
        assert!(verdict.certainty > 0.5 && !verdict.because.is_empty());
        assert!(!verdict.because.contains("0."), "{}", verdict.because);
    }
}
