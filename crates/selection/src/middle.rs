//! Where the vectors of an encoder lie. Those of many models all point much the same way: everything is near to everything, and
//! nothing fits a request so little that no tool is needed. What they have in common beyond those that the weights were
//! learned with is taken off.

use crate::dense::Vector;
use crate::nature::{ENCODER, usual_requests};
use crate::vectors::Vectors;
use std::sync::Arc;

/// How near requests about all sorts of things are to one another on the whole, with the encoder of this program.
const USUAL: f32 = 0.1;

/// Of fewer nobody knows where the middle is.
const LEAST: u16 = 32;

/// What is taken off; nothing for the encoder of this program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Middle(Option<Vector>);

impl Middle {
    pub(crate) fn new(encoder: &str, vectors: &Vectors) -> Self {
        if encoder == ENCODER {
            return Middle(None);
        }
        let texts: Vec<Arc<Vector>> = usual_requests()
            .filter_map(|it| vectors.known(it))
            .collect();
        let count = u16::try_from(texts.len()).unwrap_or(u16::MAX);
        if count < LEAST {
            return Middle(None);
        }
        let share = 1.0 / f32::from(count);
        let mean = Vector::sum(texts.iter().map(|it| (&**it, share)));
        Middle(mean.and_then(|mean| {
            let near = mean.dot(&mean);
            let kept = USUAL * (1.0 - near) / (near * (1.0 - USUAL)).max(1e-6);
            (near > USUAL).then(|| Vector::sum([(&mean, 1.0 - kept.sqrt())].into_iter()))?
        }))
    }

    /// The vector of a request.
    pub(crate) fn of(&self, numbers: &[f32]) -> Option<Vector> {
        let vector = Vector::new(numbers)?;
        match &self.0 {
            Some(middle) => vector.without(middle),
            None => Some(vector),
        }
    }

    /// That of a text, where it is known.
    pub(crate) fn known(&self, vectors: &Vectors, text: &str) -> Option<Arc<Vector>> {
        let vector = vectors.known(text)?;
        match &self.0 {
            Some(middle) => vector.without(middle).map(Arc::new),
            None => Some(vector),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::Encode;
    use crate::vectors::tests::Words;

    /// An encoder whose vectors lie close together.
    struct Close(Words);

    impl Encode for Close {
        fn encode(&self, text: &str) -> Vec<f32> {
            let own = self.0.encode(text);
            let length = own.iter().map(|it| it * it).sum::<f32>().sqrt().max(1e-9);
            let each = 2.0 / (own.len() as f32).sqrt();
            own.iter().map(|it| it / length + each).collect()
        }

        fn id(&self) -> &'static str {
            "close"
        }
    }

    #[test]
    fn vectors_that_lie_close_together_are_as_far_apart_as_others() {
        let encoder = Close(Words("words"));
        let mut vectors = Vectors::new("close");
        vectors.learn(&encoder, usual_requests());
        let (plain, middle) = (Middle(None), Middle::new("close", &vectors));
        let near = |middle: &Middle| {
            let of = |text| middle.of(&encoder.encode(text)).unwrap();
            let (a, b) = (
                of("play some jazz music"),
                of("delete user 42 from the system"),
            );
            a.dot(&b)
        };
        assert!(near(&plain) > 0.7, "{}", near(&plain));
        assert!(near(&middle).abs() < 0.4, "{}", near(&middle));
        let text = usual_requests().next().unwrap();
        let known = middle.known(&vectors, text).unwrap();
        let asked = middle.of(&encoder.encode(text)).unwrap();
        assert!(known.dot(&asked) > 0.95, "both are moved alike");
        assert!(middle.known(&vectors, "never seen").is_none());
    }

    #[test]
    fn the_vectors_of_our_own_stay_where_they_are() {
        let mut vectors = Vectors::new(ENCODER);
        vectors.learn(&Words(ENCODER), usual_requests());
        assert!(Middle::new(ENCODER, &vectors).0.is_none());
        assert!(Middle::new("other", &Vectors::new("other")).0.is_none());
    }
}
