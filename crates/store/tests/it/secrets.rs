//! Sealed secrets in a real table: rows that were swapped or tampered with do not open, and a rotation goes on
//! wherever it was cut off.

use crate::engines;
use store::seal::{SealError, SealingKeys};
use store::secrets::SecretRow;
use store::users::ADMIN_USER;
use store::{Db, Error, Write};
use uuid::Uuid;
use zeroize::Zeroizing;

fn keys(ids: &[(&str, u8)]) -> SealingKeys {
    let keys = ids
        .iter()
        .map(|(id, byte)| ((*id).to_owned(), Zeroizing::new([*byte; 32])));
    SealingKeys::new(keys.collect()).unwrap()
}

fn row(keys: &SealingKeys, number: u128) -> SecretRow {
    let id = Uuid::from_u128(number);
    SecretRow {
        id,
        owner_id: ADMIN_USER,
        name: Some(format!("secret-{number}")),
        tool_id: None,
        sealed: keys.seal(id, &value(number)).unwrap(),
        key_id: keys.newest().to_owned(),
        last4: None,
        created_at: 1,
        updated_at: 1,
    }
}

fn value(number: u128) -> String {
    format!("the value of {number} — 열쇠")
}

async fn fill(db: &Db, keys: &SealingKeys, count: u128) {
    let writes: Vec<Write> = (1..=count).map(|n| Write::Secret(row(keys, n))).collect();
    db.write(&writes).await.unwrap();
}

/// Opens every secret with these keys and compares it.
async fn all_open(db: &Db, keys: &SealingKeys, count: usize) {
    let rows = db.secrets().await.unwrap();
    assert_eq!(rows.len(), count);
    for row in rows {
        let opened = keys.open(row.id, &row.sealed).unwrap();
        assert_eq!(*opened, value(row.id.as_u128()));
    }
}

/// Rewraps one row after the other, at most `steps`; gives how many.
async fn rotate(db: &Db, keys: &SealingKeys, steps: usize) -> usize {
    let (mut done, mut after) = (0, Uuid::nil());
    while done < steps {
        let found = db.secrets_not_under(keys.newest(), after, 1).await.unwrap();
        let Some(mut row) = found.into_iter().next() else {
            break;
        };
        after = row.id;
        let sealed = keys.rewrap(row.id, &row.sealed).unwrap();
        let before = std::mem::replace(&mut row.sealed, sealed);
        row.key_id = keys.newest().to_owned();
        db.write(&[Write::Rewrapped { row, before }]).await.unwrap();
        done += 1;
    }
    done
}

#[tokio::test]
async fn a_secret_survives_the_database_and_a_stranger_in_its_row_does_not() {
    for fresh in engines().await {
        let (db, keys) = (&fresh.db, keys(&[("k1", 1)]));
        fill(db, &keys, 2).await;
        all_open(db, &keys, 2).await;
        let named = db.secret_named("secret-2").await.unwrap().unwrap();
        assert_eq!(named.id, Uuid::from_u128(2));
        assert!(db.secret_named("secret-3").await.unwrap().is_none());

        // Two rows whose envelopes somebody with access to the table has swapped.
        let mut rows = db.secrets().await.unwrap();
        let (first, second) = rows.split_at_mut(1);
        std::mem::swap(&mut first[0].sealed, &mut second[0].sealed);
        let writes: Vec<Write> = rows.into_iter().map(Write::Secret).collect();
        db.write(&writes).await.unwrap();
        for row in db.secrets().await.unwrap() {
            let opened = keys.open(row.id, &row.sealed);
            assert_eq!(opened.err(), Some(SealError::Refused("k1".into())));
        }
        fresh.end().await;
    }
}

#[tokio::test]
async fn a_changed_byte_and_a_wrong_key_are_refused() {
    for fresh in engines().await {
        let (db, good) = (&fresh.db, keys(&[("k1", 1)]));
        fill(db, &good, 1).await;
        let mut row = db.secrets().await.unwrap().remove(0);
        let opened = keys(&[("k1", 9)]).open(row.id, &row.sealed);
        assert_eq!(opened.err(), Some(SealError::Refused("k1".into())));
        let opened = keys(&[("k2", 1)]).open(row.id, &row.sealed);
        assert_eq!(opened.err(), Some(SealError::Missing("k1".into())));
        let last = if row.sealed.pop() == Some('A') {
            'B'
        } else {
            'A'
        };
        row.sealed.push(last);
        db.write(&[Write::Secret(row)]).await.unwrap();
        let row = db.secrets().await.unwrap().remove(0);
        assert!(good.open(row.id, &row.sealed).is_err());
        fresh.end().await;
    }
}

#[tokio::test]
async fn a_rotation_that_stopped_after_any_row_is_finished_by_the_next() {
    const COUNT: usize = 5;
    for fresh in engines().await {
        let db = &fresh.db;
        let old = keys(&[("old", 1)]);
        for stop_after in 0..=COUNT {
            fill(db, &old, COUNT as u128).await;
            let both = keys(&[("new", 2), ("old", 1)]);
            assert_eq!(rotate(db, &both, stop_after).await, stop_after);
            all_open(db, &both, COUNT).await;
            assert_eq!(rotate(db, &both, usize::MAX).await, COUNT - stop_after);
            assert_eq!(rotate(db, &both, usize::MAX).await, 0, "nothing is left");
            all_open(db, &keys(&[("new", 2)]), COUNT).await;
        }
        fresh.end().await;
    }
}

#[tokio::test]
async fn a_rotation_does_not_put_an_old_value_back() {
    for fresh in engines().await {
        let (db, old) = (&fresh.db, keys(&[("old", 1)]));
        fill(db, &old, 1).await;
        let both = keys(&[("new", 2), ("old", 1)]);
        let stale = db.secrets().await.unwrap().remove(0);
        let mut changed = stale.clone();
        changed.sealed = both.seal(changed.id, "newer").unwrap();
        db.write(&[Write::Secret(changed.clone())]).await.unwrap();
        let rewrapped = SecretRow {
            sealed: both.rewrap(stale.id, &stale.sealed).unwrap(),
            ..stale.clone()
        };
        let write = Write::Rewrapped {
            row: rewrapped,
            before: stale.sealed,
        };
        let late = db.write(&[write]).await;
        assert!(matches!(late, Err(Error::Taken(_))), "{late:?}");
        let kept = db.secrets().await.unwrap().remove(0);
        assert_eq!(*both.open(kept.id, &kept.sealed).unwrap(), "newer");
        fresh.end().await;
    }
}
