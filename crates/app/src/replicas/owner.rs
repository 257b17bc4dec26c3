//! Which process keeps what an id stands for that a client brings back: an MCP session, a request that waits for an answer, a
//! sign-in that has begun. The id names the process; where that is reached, only the database says.

use super::Replicas;
use crate::App;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// How the name of every process begins; hexadecimal digits follow, so many.
pub(super) const BEGINNING: &str = "toolcrib-";
pub(super) const DIGITS: usize = 16;

/// How often, at most, somebody is looked for who is not known: names can be made up.
const LOOK_PAUSE: Duration = Duration::from_millis(100);

/// How often it is looked whether somebody is still there who was asked something.
const GONE_LOOK: Duration = Duration::from_secs(1);

impl Replicas {
    /// An id for something that this process keeps. Nobody may be able to guess the rest of it: the name is no secret.
    pub fn named(&self, rest: &str) -> String {
        format!("{}.{rest}", self.instance)
    }

    /// The other process that an id names; none where it is this one, or names nobody.
    pub fn elsewhere<'a>(&self, id: &'a str) -> Option<&'a str> {
        let (owner, _) = id.split_once('.')?;
        let digits = owner.strip_prefix(BEGINNING)?;
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        let is_name = digits.len() == DIGITS && digits.bytes().all(is_digit);
        (is_name && owner != self.instance).then_some(owner)
    }

    pub(super) fn is_there(&self, instance: &str) -> bool {
        self.peers
            .load()
            .iter()
            .any(|it| it.row.instance == instance)
    }

    /// Waits until another process is there no more.
    pub async fn gone(&self, instance: &str) {
        while self.is_there(instance) {
            tokio::time::sleep(GONE_LOOK).await;
        }
    }
}

impl App {
    /// Where another process is reached; none where it is gone, or told no address. One that is not known may have begun just
    /// now, so it is looked for.
    pub async fn find_replica(&self, instance: &str) -> Option<String> {
        // It may have been heard of before it listened.
        if self.replicas.address_of(instance).is_none()
            && let Err(error) = self.look_for_replicas().await
        {
            tracing::warn!(%error, "it could not be looked which other servers there are");
        }
        self.replicas.address_of(instance)
    }

    async fn look_for_replicas(&self) -> store::Result<()> {
        if self.store.engine() != "postgres" {
            return Ok(());
        }
        let search = &self.replicas.search;
        let before = search.begun.load(Ordering::SeqCst);
        let mut last = search.last.lock().await;
        // Somebody began to look after this was asked for: that answers it.
        if search.begun.load(Ordering::SeqCst) > before {
            return Ok(());
        }
        if let Some(last) = *last {
            tokio::time::sleep_until(last + LOOK_PAUSE).await;
        }
        search.begun.fetch_add(1, Ordering::SeqCst);
        let rows = self.store.replicas().await?.into_iter();
        *last = Some(Instant::now());
        let live = rows.filter(|row| self.is_peer(row));
        let live = live.map(|row| self.peer(row));
        self.replicas.peers.store(Arc::new(live.collect()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_process_and_nothing_else_is_a_name() {
        let (own, other) = (Replicas::new(), Replicas::new());
        let id = own.named("secret");
        assert_eq!(own.elsewhere(&id), None);
        assert_eq!(other.elsewhere(&id), Some(own.instance.as_str()));
        let digits = &own.instance[BEGINNING.len()..];
        for made_up in [
            "",
            "secret",
            &own.instance,
            &format!("{digits}.secret"),
            &format!("{BEGINNING}{digits}0.secret"),
            &format!("{BEGINNING}{}.secret", &digits[1..]),
            &format!("{BEGINNING}{}/.secret", &digits[1..]),
            &format!(" {id}"),
            "10.0.0.5:8787/.secret",
        ] {
            assert_eq!(other.elsewhere(made_up), None, "{made_up}");
        }
    }
}
