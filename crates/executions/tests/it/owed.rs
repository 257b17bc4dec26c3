//! Endings that could not be written when they came: none that matters is lost, and none waits for the next call.

use crate::place::{NOON, Place, execution, on_both};
use executions::{Execution, ExecutionLog, Options, Status};
use std::sync::atomic::Ordering;

on_both!(
    what_is_owed_is_written_at_a_flush,
    what_is_owed_is_written_when_the_log_is_maintained,
    what_is_owed_is_written_before_the_log_closes,
    endings_of_calls_that_had_begun_come_first,
    one_ending_that_is_refused_takes_no_other_along,
);

/// A log that can be made to fail: a full disk, or a server that takes nobody in.
struct Frail {
    place: Place,
    options: Options,
    log: ExecutionLog,
}

impl Frail {
    async fn open(place: Place) -> Self {
        let options = Options::default();
        let log = place.open_with(options.clone()).await;
        Frail {
            place,
            options,
            log,
        }
    }

    async fn fail(&self) {
        match &self.place.database {
            None => self.options.pages_max.store(1, Ordering::Relaxed),
            Some((_, name)) => {
                let sql = format!(
                    "ALTER DATABASE {name} ALLOW_CONNECTIONS false; \
                     SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
                );
                self.place.admin(&sql).await;
            }
        }
    }

    async fn heal(&self) {
        match &self.place.database {
            None => self.options.pages_max.store(0, Ordering::Relaxed),
            Some((_, name)) => {
                let sql = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true");
                self.place.admin(&sql).await;
            }
        }
    }

    /// A call that had begun when the log began to fail, and whose ending could not be written. The log works again.
    async fn owing(&self) -> Execution {
        let begun = execution("effect", NOON, Status::Started);
        self.log.started(begun.clone()).await.unwrap();
        self.fail().await;
        let ending = ended(begun, 20_000);
        self.log.finish(ending.clone()).await.unwrap_err();
        self.heal().await;
        ending
    }

    async fn assert_holds(&self, ending: &Execution) {
        let found = self.log.get(ending.id).await.unwrap();
        let status = found.as_ref().map(|row| row.status);
        assert!(found.as_ref() == Some(ending), "found {status:?}");
    }
}

fn ended(begun: Execution, bytes: usize) -> Execution {
    Execution {
        status: Status::Success,
        output: Some(format!("\"{}\"", "x".repeat(bytes))),
        ..begun
    }
}

async fn what_is_owed_is_written_at_a_flush(place: Place) {
    let frail = Frail::open(place).await;
    let ending = frail.owing().await;
    frail.log.flush().await.unwrap();
    frail.assert_holds(&ending).await;
}

async fn what_is_owed_is_written_when_the_log_is_maintained(place: Place) {
    let frail = Frail::open(place).await;
    let ending = frail.owing().await;
    frail.log.maintain().await.unwrap();
    frail.assert_holds(&ending).await;
}

async fn what_is_owed_is_written_before_the_log_closes(place: Place) {
    let frail = Frail::open(place.clone()).await;
    let ending = frail.owing().await;
    frail.log.close().await.unwrap();
    let again = Frail::open(place).await;
    again.assert_holds(&ending).await;
}

async fn endings_of_calls_that_had_begun_come_first(place: Place) {
    let frail = Frail::open(place).await;
    let begun = [1, 2].map(|at| execution("effect", NOON + at, Status::Started));
    for row in &begun {
        frail.log.started(row.clone()).await.unwrap();
    }
    frail.fail().await;
    let endings = begun.map(|row| ended(row, 20_000));
    frail.log.finish(endings[0].clone()).await.unwrap_err();
    // Two of these fill what may be owed.
    for at in 3..6 {
        let looked = ended(execution("look", NOON + at, Status::Success), 3_500_000);
        frail.log.finish(looked).await.unwrap_err();
    }
    let large = ended(endings[1].clone(), 3_500_000);
    frail.log.finish(large.clone()).await.unwrap_err();
    // Trying in vain must not make them forget who comes first.
    frail.log.flush().await.ok();
    let looked = ended(execution("look", NOON + 7, Status::Success), 3_500_000);
    frail.log.finish(looked).await.unwrap_err();
    frail.heal().await;
    frail.log.flush().await.unwrap();
    for ending in [&endings[0], &large] {
        frail.assert_holds(ending).await;
    }
}

async fn one_ending_that_is_refused_takes_no_other_along(place: Place) {
    let frail = Frail::open(place).await;
    frail
        .log
        .started(execution("x", NOON, Status::Started))
        .await
        .unwrap();
    frail.fail().await;
    let endings = [1, 2].map(|at| ended(execution("x", NOON + at, Status::Success), 20_000));
    // One id twice: PostgreSQL refuses the statement that holds both.
    for ending in [&endings[0], &endings[0], &endings[1]] {
        frail.log.finish(ending.clone()).await.unwrap_err();
    }
    frail.heal().await;
    let after = execution("x", NOON + 3, Status::Success);
    frail.log.finish(after.clone()).await.unwrap();
    frail.log.flush().await.unwrap();
    for ending in [&endings[0], &endings[1], &after] {
        frail.assert_holds(ending).await;
    }
}
