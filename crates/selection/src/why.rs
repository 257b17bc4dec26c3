//! Why a tool was put where it is, in a form that programs and people can read.

use std::fmt;

/// What spoke for a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Why {
    /// How near the request is to what the tool says of itself, from 0 to 1.
    pub meaning: f32,
    /// The share of the request's words that the tool has, rare words counting more.
    pub words: f32,
    /// Which of them, as the request has them.
    pub matched: Vec<String>,
    pub spelling: f32,
    /// How near the nearest of its example prompts is.
    pub example: Option<f32>,
    /// The part of the request that it fits best, where that is not the whole.
    pub clause: Option<String>,
    /// The sentence of a description that moved it.
    pub rule: Option<String>,
}

/// A sentence for people; `meaning 0.61, example 0.80, words 0.42 (weather, seoul), spelling 0.31`.
impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "meaning {:.2}", self.meaning)?;
        if let Some(example) = self.example {
            write!(f, ", example {example:.2}")?;
        }
        write!(f, ", words {:.2}", self.words)?;
        if !self.matched.is_empty() {
            write!(f, " ({})", self.matched.join(", "))?;
        }
        write!(f, ", spelling {:.2}", self.spelling)?;
        if let Some(clause) = &self.clause {
            write!(f, ", for \"{clause}\"")?;
        }
        if let Some(rule) = &self.rule {
            write!(f, "; {rule}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_as_a_sentence() {
        let mut why = Why {
            meaning: 0.614,
            words: 0.4,
            matched: vec!["weather".to_owned(), "서울".to_owned()],
            spelling: 0.3,
            ..Why::default()
        };
        assert_eq!(
            why.to_string(),
            "meaning 0.61, words 0.40 (weather, 서울), spelling 0.30"
        );
        why.matched.clear();
        why.example = Some(0.8);
        why.clause = Some("send it".to_owned());
        why.rule = Some("preferred by mail".to_owned());
        let expected = "meaning 0.61, example 0.80, words 0.40, spelling 0.30, for \"send it\"; preferred by mail";
        assert_eq!(why.to_string(), expected);
    }
}
