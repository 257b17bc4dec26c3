//! What turns sentences into vectors: the encoder that is part of the program, or the model behind an endpoint where the
//! configuration names one. Whatever sentences a model is shown, their vectors share much, some models' far more than
//! others': what all sentences have in common is taken off, so that what near means is alike for every model.

use arc_swap::ArcSwapOption;
use catalog::hex::hex;
use encoder::Encoder;
use selection::Encode;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use vectors::Embeddings;

/// A request waits no longer for an endpoint; without its vector tools are found by their words.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);
/// Nor is it asked again for so long once it did not answer.
const AWAY: Duration = Duration::from_secs(10);

/// What any model takes.
const PROBE: &str = "ping";

/// So many texts that are not taken are remembered; with more, they are asked for again.
const REFUSED_MAX: usize = 10_000;

/// Texts in one request, and how long that may take.
const BATCH: usize = 64;
const BATCH_TIMEOUT: Duration = Duration::from_secs(10);

/// The encoder of the program.
struct Own(Encoder);

pub(crate) fn own() -> Result<Arc<dyn Encode>, encoder::Error> {
    Ok(Arc::new(Own(Encoder::open()?)))
}

impl Encode for Own {
    fn encode(&self, text: &str) -> Vec<f32> {
        self.0.encode(text).to_vec()
    }

    fn id(&self) -> &str {
        selection::ENCODER
    }
}

/// A model behind an endpoint. Asked only on threads that may wait.
pub(crate) struct Endpoint {
    embeddings: Arc<Embeddings>,
    runtime: Handle,
    id: String,
    /// Why it gave no vectors when it was last asked.
    trouble: Mutex<Option<Trouble>>,
    /// What the vectors of all sentences have in common. Until that is known, no text has a vector.
    common: ArcSwapOption<Vec<f32>>,
    /// Texts that are not taken, while others are.
    refused: Mutex<HashSet<u64>>,
    /// Somebody else answers there now: all vectors are to be made anew.
    pub(crate) changed: Notify,
}

impl Endpoint {
    pub(crate) fn new(embeddings: Arc<Embeddings>) -> Self {
        // Its address may hold a key.
        let id = Sha256::digest(embeddings.id().as_bytes());
        Endpoint {
            id: format!("{} without what is common", hex(&id[..16])),
            trouble: Mutex::default(),
            common: ArcSwapOption::empty(),
            refused: Mutex::default(),
            changed: Notify::new(),
            runtime: Handle::current(),
            embeddings,
        }
    }
}

impl Encode for Endpoint {
    fn encode_all(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let mut all = Vec::with_capacity(texts.len());
        // Not worked out here: `prepare` does that, where nobody is kept from anything meanwhile.
        if let Some(common) = self.common.load_full() {
            for batch in texts.chunks(BATCH) {
                let Some(made) = self.batch(batch) else { break };
                if !self.is_same_model(&made, &common) {
                    break;
                }
                all.extend(made.iter().map(|it| without(it, &common)));
            }
        }
        all.resize(texts.len(), Vec::new());
        all
    }

    fn encode(&self, text: &str) -> Vec<f32> {
        let made = self.encode_request(&[text]);
        made.into_iter().next().unwrap_or_default()
    }

    fn encode_request(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let none = || vec![Vec::new(); texts.len()];
        let Some(common) = self.common.load_full().filter(|_| !self.is_away()) else {
            return none();
        };
        let until = Instant::now() + REQUEST_TIMEOUT;
        let made = match self.asked(texts, until) {
            // The whole is worth more than its clauses, one of which may be what is not taken.
            Err(Failed::Refused) if texts.len() > 1 => {
                let first = self.asked(&texts[..1], until).unwrap_or_default();
                first.into_iter().chain(none()).take(texts.len()).collect()
            }
            made => made.unwrap_or_else(|_| none()),
        };
        match self.is_same_model(&made, &common) {
            true => made.iter().map(|it| without(it, &common)).collect(),
            false => none(),
        }
    }

    fn is_there(&self) -> bool {
        self.asked(&[PROBE], Instant::now() + REQUEST_TIMEOUT)
            .is_ok()
    }

    fn prepare(&self) -> bool {
        self.common().is_some()
    }

    fn dimension(&self) -> Option<usize> {
        self.common.load().as_ref().map(|it| it.len())
    }

    fn refuses(&self, text: &str) -> bool {
        self.refused().contains(&mark(text))
    }

    fn id(&self) -> &str {
        &self.id
    }
}

/// Why there are no vectors.
enum Failed {
    /// Nobody answered, or not now.
    Away,
    /// One of the texts is not taken.
    Refused,
}

struct Trouble {
    since: Instant,
    is_away: bool,
    why: String,
}

impl Endpoint {
    /// Why it gave no vectors when it was last asked; nothing where it did.
    pub(crate) fn trouble(&self) -> Option<String> {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.as_ref().map(|it| it.why.clone())
    }

    /// Worked out in the background: it takes many texts.
    fn common(&self) -> Option<()> {
        if self.common.load().is_none() {
            // One that takes no text at all, such as for want of a key, is not asked for each of them.
            self.asked(&[PROBE], Instant::now() + BATCH_TIMEOUT).ok()?;
            let usual: Vec<&str> = selection::usual_requests().collect();
            let mut all = Vec::with_capacity(usual.len());
            for batch in usual.chunks(BATCH) {
                all.extend(self.batch(batch)?);
            }
            self.common.store(Some(Arc::new(mean(&all))));
        }
        Some(())
    }

    /// Whether vectors are as long as those before. Where they are not, nothing that is known may be compared with them.
    fn is_same_model(&self, made: &[Vec<f32>], common: &[f32]) -> bool {
        let other = made
            .iter()
            .find(|it| !it.is_empty() && it.len() != common.len());
        let Some(other) = other else { return true };
        let why = format!(
            "the embeddings endpoint gives vectors of {} numbers and gave {} before: another model answers there, and the vectors of all tools are made anew",
            other.len(),
            common.len()
        );
        tracing::warn!("{why}");
        let trouble = Trouble {
            since: Instant::now(),
            is_away: false,
            why,
        };
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(trouble);
        self.refused().clear();
        self.common.store(None);
        self.changed.notify_one();
        false
    }

    fn refused(&self) -> std::sync::MutexGuard<'_, HashSet<u64>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the texts that have no vector, where another text has one: an endpoint that takes nothing may do so again.
    fn note_refused(&self, texts: &[&str], made: &[Vec<f32>]) {
        let without = texts.iter().zip(made).filter(|it| it.1.is_empty());
        let marks: Vec<u64> = without.map(|it| mark(it.0)).collect();
        if marks.is_empty() || !self.is_there() {
            return;
        }
        let mut refused = self.refused();
        if refused.len() + marks.len() > REFUSED_MAX {
            refused.clear();
        }
        refused.extend(marks);
    }

    /// The vectors of some texts, empty for those that the model does not take. None: the endpoint is away.
    fn batch(&self, texts: &[&str]) -> Option<Vec<Vec<f32>>> {
        let until = || Instant::now() + BATCH_TIMEOUT;
        match self.asked(texts, until()) {
            Ok(made) => Some(made),
            Err(Failed::Away) => None,
            Err(Failed::Refused) => {
                let one = |text: &&str| match self.asked(&[*text], until()) {
                    Ok(made) => Some(made.into_iter().next().unwrap_or_default()),
                    Err(Failed::Refused) => Some(Vec::new()),
                    Err(Failed::Away) => None,
                };
                let made: Option<Vec<Vec<f32>>> = texts.iter().map(one).collect();
                made.inspect(|made| self.note_refused(texts, made))
            }
        }
    }

    fn asked(&self, texts: &[&str], until: Instant) -> Result<Vec<Vec<f32>>, Failed> {
        let texts: Vec<String> = texts.iter().map(|it| (*it).to_owned()).collect();
        let made = self.runtime.block_on(self.embeddings.embed(&texts, until));
        let is_away = matches!(
            made,
            Err(vectors::Error::Away { .. } | vectors::Error::Busy { .. })
        );
        let trouble = made.as_ref().err().map(|error| Trouble {
            since: Instant::now(),
            is_away,
            why: error.to_string(),
        });
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
        made.map(|all| all.into_iter().map(|it| it.vector).collect())
            .map_err(|error| {
                tracing::warn!(%error, "texts have no vectors; tools are found by their words");
                match is_away {
                    true => Failed::Away,
                    false => Failed::Refused,
                }
            })
    }

    fn is_away(&self) -> bool {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let trouble = trouble.as_ref();
        trouble.is_some_and(|it| it.is_away && it.since.elapsed() < AWAY)
    }
}

/// What a text is remembered by.
fn mark(text: &str) -> u64 {
    let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    u64::from_le_bytes(std::array::from_fn(|at| hash[at]))
}

/// The mean of vectors of length 1; of those that there are.
fn mean(all: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = vec![0.0; all.iter().map(Vec::len).max().unwrap_or(0)];
    let there = all.iter().filter(|it| !it.is_empty());
    let count = f32::from(u16::try_from(there.clone().count()).unwrap_or(u16::MAX));
    for vector in there {
        let share = 1.0 / (length(vector) * count);
        for (sum, number) in sum.iter_mut().zip(vector) {
            *sum += number * share;
        }
    }
    sum
}

fn without(vector: &[f32], common: &[f32]) -> Vec<f32> {
    let length = length(vector);
    let both = vector.iter().zip(common);
    both.map(|(number, common)| number / length - common)
        .collect()
}

fn length(vector: &[f32]) -> f32 {
    let squares: f32 = vector.iter().map(|it| it * it).sum();
    squares.sqrt().max(1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_common_is_taken_off_whatever_the_length_of_vectors() {
        let all = [vec![3.0, 4.0], vec![6.0, -8.0]];
        let common = mean(&all);
        assert!(
            (common[0] - 0.6).abs() < 1e-6 && common[1].abs() < 1e-6,
            "{common:?}"
        );
        let left = without(&[30.0, 40.0], &common);
        assert!(
            left[0].abs() < 1e-6 && (left[1] - 0.8).abs() < 1e-6,
            "{left:?}"
        );
        assert_eq!(without(&[0.0, 0.0], &[0.0, 0.0]), [0.0, 0.0]);
    }
}
