//! Which span the work at hand belongs to, for what is logged on the way. It goes with a task and is handed on to those that are
//! started; what asks others passes the context on explicitly (ADR 26).

use crate::context::Context;

tokio::task_local! {
    static CURRENT: Context;
}

/// Does some work as part of this span.
pub async fn within<F: Future>(context: Option<Context>, work: F) -> F::Output {
    match context {
        Some(context) => CURRENT.scope(context, work).await,
        None => work.await,
    }
}

/// The same as part of the span that this is called in, for work that another task does.
pub fn handed_on<F: Future>(work: F) -> impl Future<Output = F::Output> {
    within(current(), work)
}

pub(crate) fn current() -> Option<Context> {
    CURRENT.try_with(Clone::clone).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_belongs_to_its_span_and_what_it_starts_does_too() {
        let root = Context::root(true);
        let seen = within(Some(root.clone()), async {
            let started = tokio::spawn(handed_on(async { current() }));
            let alone = tokio::spawn(async { current() });
            (current(), started.await.unwrap(), alone.await.unwrap())
        });
        assert_eq!(seen.await, (Some(root.clone()), Some(root), None));
        assert_eq!(within(None, async { current() }).await, None);
    }
}
