//! The last three steps: the answer, what it rests on, and how sure it is.

use super::{PipelineState, Source};
use agent::planner::{Told, answer};
use executor::StepView;
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;

/// How much of a document an answer without a model takes over.
const SENTENCES: usize = 3;
const EXCERPT_CHARS: usize = 200;

/// Writes the answer from what was found. A failure is told in the notes, and the answer is taken from what was found.
pub type Composer = Arc<
    dyn Fn(Draft) -> Pin<Box<dyn Future<Output = Result<String, String>> + Send>> + Send + Sync,
>;

/// What whoever writes the answer has to go by.
#[derive(Debug, Clone)]
pub struct Draft {
    pub query: String,
    pub tool_results: Vec<StepView>,
    /// Of the documents, nearest first.
    pub documents: Vec<String>,
}

/// The fifth step: a model's words where there is one, else what the tools or the documents say.
pub(super) async fn compose_step(state: &mut PipelineState, composer: Option<&Composer>) {
    let has_matter = !state.tool_results.is_empty() || !state.retrieved_chunks.is_empty();
    if let Some(composer) = composer.filter(|_| has_matter) {
        let draft = Draft {
            query: state.query.clone(),
            tool_results: state.tool_results.clone(),
            documents: state
                .retrieved_chunks
                .iter()
                .map(|it| it.text.clone())
                .collect(),
        };
        match composer(draft).await {
            Ok(text) => {
                state.answer = Some(text);
                return;
            }
            Err(why) => state
                .notes
                .push(format!("the answer is taken from what was found: {why}")),
        }
    }
    state.answer = extracted(state);
}

fn extracted(state: &PipelineState) -> Option<String> {
    let told: Vec<Told> = successes(state)
        .map(|it| Told {
            tool: it.tool.clone(),
            text: text_of(&it.result),
            is_error: false,
        })
        .collect();
    if !told.is_empty() {
        return Some(answer(&told));
    }
    let nearest = state.retrieved_chunks.first()?;
    Some(format!("{} [1]", sentences(&nearest.text)))
}

fn successes(state: &PipelineState) -> impl Iterator<Item = &StepView> {
    state.tool_results.iter().filter(|it| it.success)
}

/// A text is itself; everything else is shown as JSON.
pub(super) fn text_of(result: &Value) -> String {
    match result {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The first sentences of a text.
fn sentences(text: &str) -> &str {
    let ends = text.char_indices().filter(|(at, c)| {
        let next = text[at + c.len_utf8()..].chars().next();
        matches!(c, '.' | '!' | '?' | '。') && next.is_none_or(char::is_whitespace)
    });
    let end = ends.map(|(at, c)| at + c.len_utf8()).nth(SENTENCES - 1);
    text[..end.unwrap_or(text.len())].trim()
}

/// The sixth step: the tools that answered, or else the documents, in the order in which they are referred to.
pub(super) fn cite_step(state: &mut PipelineState) {
    let tools = successes(state).map(|it| Source {
        kind: "tool",
        name: it.tool.clone(),
        excerpt: excerpt(&text_of(&it.result)),
    });
    let documents = state.retrieved_chunks.iter().map(|it| Source {
        kind: "document",
        name: it.id.clone(),
        excerpt: excerpt(&it.text),
    });
    let sources = tools.chain(documents).collect();
    if state.answer.is_some() {
        state.sources = sources;
    }
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The last step: what is sure is as sure as the share of the tools that answered; what only stands in documents, as near
/// as the nearest is, and half of that where it is the only one.
pub(super) fn respond_step(state: &mut PipelineState) {
    let all = state.tool_results.len();
    let done = successes(state).count();
    state.confidence = match (&state.answer, done) {
        (None, _) => 0.0,
        (Some(_), 1..) => share(done, all),
        (Some(_), 0) => {
            let top = state.retrieved_chunks.first().map_or(0.0, |it| it.score);
            let alone = if state.sources.len() >= 2 { 1.0 } else { 0.5 };
            top * alone
        }
    };
    for failed in state.tool_results.iter().filter(|it| !it.success) {
        let why = failed.error.as_deref().unwrap_or_default();
        state.notes.push(format!("'{}' failed: {why}", failed.tool));
    }
}

#[expect(clippy::cast_precision_loss, reason = "a plan has few tools")]
fn share(done: usize, all: usize) -> f64 {
    done as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::super::Chunk;
    use super::*;
    use serde_json::json;

    fn step(tool: &str, result: Value, error: Option<&str>) -> StepView {
        StepView {
            tool: tool.to_owned(),
            success: error.is_none(),
            result,
            error: error.map(str::to_owned),
            elapsed: 0.0,
        }
    }

    fn chunk(id: &str, text: &str, score: f64) -> Chunk {
        Chunk {
            id: id.to_owned(),
            text: text.to_owned(),
            score,
            metadata: Value::Null,
        }
    }

    async fn finished(mut state: PipelineState, composer: Option<Composer>) -> PipelineState {
        compose_step(&mut state, composer.as_ref()).await;
        cite_step(&mut state);
        respond_step(&mut state);
        state
    }

    #[tokio::test]
    async fn tools_answer_before_documents_and_failures_are_no_answer() {
        let state = PipelineState {
            tool_results: vec![
                step("a", json!(42.5), None),
                step("b", Value::Null, Some("late")),
            ],
            retrieved_chunks: vec![chunk("d", "One. Two. Three. Four.", 0.8)],
            ..PipelineState::default()
        };
        let state = finished(state, None).await;
        assert_eq!(state.answer.as_deref(), Some("42.5"));
        assert!((state.confidence - 0.5).abs() < 1e-9);
        let names: Vec<&str> = state.sources.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a", "d"]);
        assert_eq!(state.notes, ["'b' failed: late"]);
    }

    #[tokio::test]
    async fn documents_answer_where_no_tool_does() {
        let one = PipelineState {
            retrieved_chunks: vec![chunk("d", "One. Two. Three. Four.", 0.8)],
            ..PipelineState::default()
        };
        let state = finished(one.clone(), None).await;
        assert_eq!(state.answer.as_deref(), Some("One. Two. Three. [1]"));
        assert!((state.confidence - 0.4).abs() < 1e-9);
        let mut two = one;
        two.retrieved_chunks.push(chunk("e", "Other", 0.3));
        assert!((finished(two, None).await.confidence - 0.8).abs() < 1e-9);
        let nothing = finished(PipelineState::default(), None).await;
        assert_eq!((nothing.answer, nothing.confidence), (None, 0.0));
    }

    #[tokio::test]
    async fn a_model_that_fails_is_told_of_beside_the_answer() {
        let state = PipelineState {
            tool_results: vec![step("a", json!("x"), None)],
            ..PipelineState::default()
        };
        let fine: Composer = Arc::new(|draft: Draft| {
            Box::pin(async move { Ok(format!("{} results", draft.tool_results.len())) })
        });
        let broken: Composer = Arc::new(|_| Box::pin(async { Err("no tokens left".to_owned()) }));
        let answered = finished(state.clone(), Some(fine)).await;
        assert_eq!(answered.answer.as_deref(), Some("1 results"));
        let fallen = finished(state, Some(broken)).await;
        assert_eq!(fallen.answer.as_deref(), Some("x"));
        assert!(fallen.notes[0].contains("no tokens left"));
    }
}
