//! A person taken out of the audit log: what they did stays under a pseudonym, what was done to them loses its details. The chain
//! is made anew from the first entry that changes, and an entry of its own says so.

use super::{APPEND, Act, AuditRow, LAST, START, chained, digest};
use crate::db::{Db, Result, each};
use crate::detail::Detail;
use crate::erasure::ErasureRow;
use catalog::hex::hex;
use catalog::tool::Millis;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

/// Of these the details are what somebody said or was.
const ABOUT_PEOPLE: [&str; 4] = ["user.", "login", "logout", "tool.confirm"];

const MAY_NAME: &str = "SELECT seq, at, actor_id, actor, key, transport, action, target, before, after, hash FROM audit \
    WHERE seq > $1 AND (actor_id = $2 OR actor = $3 OR target = $4 OR before LIKE $5 OR after LIKE $5) ORDER BY seq LIMIT 50";

const FROM: &str = "SELECT seq, at, actor_id, actor, key, transport, action, target, before, after, hash FROM audit \
    WHERE seq > $1 ORDER BY seq LIMIT 200";

const HASH: &str = "SELECT hash FROM audit WHERE seq = $1";

const REPLACE: &str = "UPDATE audit SET actor = $1, key = $2, target = $3, before = $4, after = $5, hash = $6 WHERE seq = $7";

/// One statement that gives each of these entries its hash, which are its parameters. The last branch says of which type they are.
fn replace_hashes(hashes: &[(i64, Vec<u8>)]) -> Option<String> {
    let (first, last) = (hashes.first()?.0, hashes.last()?.0);
    let each = hashes.iter().enumerate();
    let cases: String = each
        .map(|(at, (seq, _))| format!(" WHEN {seq} THEN ${}", at + 1))
        .collect();
    Some(format!(
        "UPDATE audit SET hash = CASE seq{cases} ELSE hash END WHERE seq BETWEEN {first} AND {last}"
    ))
}

/// Who is taken out, and what for.
struct Person<'a> {
    id: Uuid,
    name: &'a str,
    pseudonym: &'a str,
    /// Later the name is somebody else's.
    until: Millis,
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
        if act.at > self.until {
            return (next != *act).then_some(next);
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
            until: Millis::MAX,
        };
        let mut count = 0;
        let mut named = self.named_after(&person, 0).await?;
        while let Some(seq) = named {
            count += 1;
            named = self.named_after(&person, seq).await?;
        }
        Ok(count)
    }

    /// The first entry after this one that names them. It is looked for without holding up anybody.
    async fn named_after(&self, person: &Person<'_>, mut after: i64) -> Result<Option<i64>> {
        loop {
            let rows: Vec<AuditRow> = each!(self, pool => sqlx::query_as(MAY_NAME).bind(after).bind(person.id)
                .bind(person.name).bind(person.target()).bind(format!("%{}%", person.name)).fetch_all(pool).await)?;
            let Some(last) = rows.last() else {
                return Ok(None);
            };
            after = last.seq;
            let named = rows.iter().find(|row| person.without(&row.act).is_some());
            if let Some(row) = named {
                return Ok(Some(row.seq));
            }
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
            until: erased.at,
        };
        // Other servers come to it as well, and find nothing: they need not hold up whoever writes.
        let Some(first) = self.named_after(&person, 0).await? else {
            return Ok(0);
        };
        let (begin, lock) = (self.begin(), self.audit_lock());
        each!(self, pool => {
            let mut tx = pool.begin_with(begin).await?;
            sqlx::query(lock).execute(&mut *tx).await?;
            let before: Option<(i64, Vec<u8>)> = sqlx::query_as(LAST).fetch_optional(&mut *tx).await?;
            let Some((_, head)) = before else {
                return Ok(0);
            };
            // Nothing is put between entries, so what was found before the lock is still the first.
            let mut after = first - 1;
            let earlier: Option<Vec<u8>> = sqlx::query_scalar(HASH).bind(after).fetch_optional(&mut *tx).await?;
            let mut previous = earlier.unwrap_or_else(|| START.to_vec());
            let mut count = 0;
            loop {
                let rows: Vec<AuditRow> = sqlx::query_as(FROM).bind(after).fetch_all(&mut *tx).await?;
                if rows.is_empty() {
                    break;
                }
                // Of most entries only the hash is another: those of a batch go in one statement.
                let mut hashes = Vec::with_capacity(rows.len());
                for row in rows {
                    after = row.seq;
                    let without = person.without(&row.act);
                    previous = digest(&previous, row.seq, without.as_ref().unwrap_or(&row.act));
                    let Some(act) = without else {
                        hashes.push((row.seq, previous.clone()));
                        continue;
                    };
                    count += 1;
                    sqlx::query(REPLACE).bind(&act.actor).bind(&act.key).bind(&act.target).bind(&act.before)
                        .bind(&act.after).bind(&previous).bind(row.seq).execute(&mut *tx).await?;
                }
                if let Some(sql) = replace_hashes(&hashes) {
                    let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
                    for (_, hash) in &hashes {
                        query = query.bind(hash);
                    }
                    query.execute(&mut *tx).await?;
                }
            }
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
            until: 1,
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
