//! A person taken out of the audit log: what they did stays under a pseudonym, what was done to them loses its details. The chain
//! is made anew from the first entry that changes, and an entry of its own says so.

use super::{APPEND, Act, AuditRow, LAST, START, chained, digest};
use crate::db::{Db, Result, each};
use crate::detail::Detail;
use crate::erasure::ErasureRow;
use catalog::hex::hex;
use catalog::tool::Millis;
use serde_json::{Value, json};
use uuid::Uuid;

/// Of these the details are what somebody said or was.
const ABOUT_PEOPLE: [&str; 4] = ["user.", "login", "logout", "tool.confirm"];

const MAY_NAME: &str = "SELECT seq, at, actor_id, actor, key, transport, action, target, before, after, hash FROM audit \
    WHERE seq > $1 AND (actor_id = $2 OR actor = $3 OR target = $4 OR before LIKE $5 OR after LIKE $5) ORDER BY seq LIMIT 50";

const FROM: &str = "SELECT seq, at, actor_id, actor, key, transport, action, target, before, after, hash FROM audit \
    WHERE seq > $1 ORDER BY seq LIMIT 50";

const REPLACE: &str = "UPDATE audit SET actor = $1, key = $2, target = $3, before = $4, after = $5, hash = $6 WHERE seq = $7";

/// Who is taken out, and what for.
struct Person<'a> {
    id: Uuid,
    name: &'a str,
    pseudonym: &'a str,
}

impl Person<'_> {
    fn target(&self) -> String {
        format!("user:{}", self.name)
    }

    /// The act without them; none where they are not in it.
    fn without(&self, act: &Act) -> Option<Act> {
        let mut next = act.clone();
        let is_theirs = act.actor_id == self.id;
        if is_theirs {
            self.pseudonym.clone_into(&mut next.actor);
            // A name that they gave to a thing of their own.
            next.key = None;
        }
        let is_about_them = act.target == self.target();
        if is_about_them {
            next.target = format!("user:{}", self.pseudonym);
        }
        let is_told = ABOUT_PEOPLE.iter().any(|it| act.action.starts_with(it));
        if is_about_them || (is_theirs && is_told) || self.is_key_of(act) {
            (next.before, next.after) = (None, None);
        }
        next.before = next.before.map(|detail| self.out_of(detail));
        next.after = next.after.map(|detail| self.out_of(detail));
        (next != *act).then_some(next)
    }

    /// What somebody calls a key often says whose it is.
    fn is_key_of(&self, act: &Act) -> bool {
        let is_theirs = |detail: &Option<Detail>| {
            let text = detail.as_ref().map(Detail::as_str).unwrap_or_default();
            let told: Value = serde_json::from_str(text).unwrap_or_default();
            told["user"] == self.name
        };
        act.action.starts_with("key.") && (is_theirs(&act.before) || is_theirs(&act.after))
    }

    fn out_of(&self, detail: Detail) -> Detail {
        let Ok(mut value) = serde_json::from_str::<Value>(detail.as_str()) else {
            return detail;
        };
        match self.replace(&mut value) {
            true => Detail::new(value),
            false => detail,
        }
    }

    /// Wherever a text is the name, or has it in quotes: what was too long to be kept is told by its beginning.
    fn replace(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) if text == self.name => {
                self.pseudonym.clone_into(text);
                true
            }
            Value::String(text) => {
                let quoted = format!("\"{}\"", self.name);
                let is_in = text.contains(&quoted);
                if is_in {
                    *text = text.replace(&quoted, &format!("\"{}\"", self.pseudonym));
                }
                is_in
            }
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |any, it| self.replace(it) | any),
            Value::Object(members) => members
                .values_mut()
                .fold(false, |any, it| self.replace(it) | any),
            _ => false,
        }
    }
}

impl Db {
    /// How many entries name them.
    pub(crate) async fn audit_about(&self, user: Uuid, name: &str) -> Result<i64> {
        let person = Person {
            id: user,
            name,
            pseudonym: "",
        };
        let (mut count, mut after) = (0, 0);
        loop {
            let rows: Vec<AuditRow> = each!(self, pool => sqlx::query_as(MAY_NAME).bind(after).bind(user)
                .bind(name).bind(person.target()).bind(format!("%{name}%")).fetch_all(pool).await)?;
            let Some(last) = rows.last() else {
                return Ok(count);
            };
            after = last.seq;
            let named = rows.iter().filter(|row| person.without(&row.act).is_some());
            count += i64::try_from(named.count()).unwrap_or(i64::MAX);
        }
    }

    /// Takes them out, in one transaction; how many entries named them. Where none did, nothing is written.
    pub async fn erase_in_audit(&self, erased: &ErasureRow, now: Millis) -> Result<i64> {
        let Some(name) = &erased.name else {
            return Ok(0);
        };
        let person = Person {
            id: erased.user_id,
            name,
            pseudonym: &erased.pseudonym,
        };
        let (begin, lock) = (self.begin(), self.audit_lock());
        each!(self, pool => {
            let mut tx = pool.begin_with(begin).await?;
            sqlx::query(lock).execute(&mut *tx).await?;
            let before: Option<(i64, Vec<u8>)> = sqlx::query_as(LAST).fetch_optional(&mut *tx).await?;
            let Some((_, head)) = before else {
                return Ok(0);
            };
            let (mut after, mut previous) = (0, START.to_vec());
            let (mut first, mut count) = (None, 0);
            loop {
                let rows: Vec<AuditRow> = sqlx::query_as(FROM).bind(after).fetch_all(&mut *tx).await?;
                if rows.is_empty() {
                    break;
                }
                for row in rows {
                    after = row.seq;
                    let without = person.without(&row.act);
                    if without.is_none() && first.is_none() {
                        previous = row.hash;
                        continue;
                    }
                    count += i64::from(without.is_some());
                    first.get_or_insert(row.seq);
                    let act = without.unwrap_or(row.act);
                    previous = digest(&previous, row.seq, &act);
                    sqlx::query(REPLACE).bind(&act.actor).bind(&act.key).bind(&act.target).bind(&act.before)
                        .bind(&act.after).bind(&previous).bind(row.seq).execute(&mut *tx).await?;
                }
            }
            let Some(first) = first else {
                return Ok(0);
            };
            let act = rewritten(erased, now, &json!({"first": first, "entries": count, "head_before": hex(&head)}));
            let (seq, hash) = chained(Some((after, previous)), &act);
            sqlx::query(APPEND).bind(seq).bind(act.at).bind(act.actor_id).bind(&act.actor).bind(&act.key)
                .bind(&act.transport).bind(&act.action).bind(&act.target).bind(&act.before).bind(&act.after)
                .bind(hash).execute(&mut *tx).await?;
            tx.commit().await?;
            Ok(count)
        })
    }
}

/// The server's own note that entries are others than before, with the hash that the last one had.
fn rewritten(erased: &ErasureRow, now: Millis, after: &Value) -> Act {
    Act {
        at: now,
        actor_id: catalog::tool::SYSTEM_USER,
        actor: "system".to_owned(),
        key: None,
        transport: "internal".to_owned(),
        action: "audit.rewrite".to_owned(),
        target: format!("user:{}", erased.pseudonym),
        before: None,
        after: Some(Detail::new(after.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_goes_wherever_it_is_one_and_nowhere_else() {
        let person = Person {
            id: Uuid::from_u128(7),
            name: "al",
            pseudonym: "erased-1",
        };
        let mut value = json!({"owner": "al", "names": ["al", "alice"], "text": "al fresco",
            "cut": {"beginning": "[\"al\",\"bo\""}, "n": 1});
        assert!(person.replace(&mut value));
        let expected = json!({"owner": "erased-1", "names": ["erased-1", "alice"], "text": "al fresco",
            "cut": {"beginning": "[\"erased-1\",\"bo\""}, "n": 1});
        assert_eq!(value, expected);
        assert!(!person.replace(&mut value));
    }
}
