//! Other servers' changes of the database shelf, where this one's own were decided without them.

use super::{Commit, Writer};
use crate::plan::Plan;
use store::feed::Subject;

impl Writer {
    /// Takes over what others have changed up to now. False where that is nothing, so that deciding anew would not help.
    pub(super) async fn follow_now(&mut self) -> bool {
        let known = self.replicas.known_of_each(&self.store);
        let news = match self.store.news_since(known[Subject::Tools as usize]).await {
            Ok(news) => news,
            Err(error) => {
                tracing::warn!(%error, "changes of other servers could not be read");
                return false;
            }
        };
        let Some(which) = news.changed.get(&Subject::Tools) else {
            return false;
        };
        let base = self.executor.catalogue.load_full();
        let mut plan = Plan::new(base, self.clock.now());
        if let Err(error) = plan.follow(self, which).await {
            tracing::warn!(%error, "changes of other servers could not be taken over");
            return false;
        }
        let is_new = !plan.is_empty();
        is_new && matches!(self.commit(plan).await, Commit::Done)
    }
}
