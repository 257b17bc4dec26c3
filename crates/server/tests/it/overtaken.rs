//! Two servers change the same at the same moment, where it has no version: neither undoes what the other did.

use crate::people::PASSWORD;
use crate::replicas::{Place, with_two};
use crate::scripted::until;
use crate::testapp::{ADMIN, Answer, TestApp, postgres_url};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use std::pin::pin;

/// Holds up every change of the registry after it was decided and before it is stored.
struct HoldUp(PgConnection);

impl HoldUp {
    async fn at(place: &Place) -> Self {
        let url = postgres_url().unwrap();
        let url = format!("{}/{}", url.rsplit_once('/').unwrap().0, place.database);
        let mut line = PgConnection::connect(&url).await.unwrap();
        let held = sqlx::raw_sql("BEGIN; SELECT number FROM revision FOR UPDATE");
        held.execute(&mut line).await.unwrap();
        HoldUp(line)
    }

    /// Until so many wait.
    async fn waited_by(&mut self, count: i64) {
        const SQL: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
            AND wait_event_type = 'Lock' AND query LIKE 'UPDATE revision%'";
        until(&format!("{count} changes wait"), async || {
            // Else a transaction sees them as they were when it looked first.
            let afresh = sqlx::raw_sql("SELECT pg_stat_clear_snapshot()");
            afresh.execute(&mut self.0).await.unwrap();
            let waiting: i64 = sqlx::query_scalar(SQL)
                .fetch_one(&mut self.0)
                .await
                .unwrap();
            (waiting == count).then_some(())
        })
        .await;
    }

    async fn end(mut self) {
        let end = sqlx::raw_sql("COMMIT");
        end.execute(&mut self.0).await.unwrap();
        self.0.close().await.unwrap();
    }
}

/// One change: with which key, and what.
type Change<'a> = (&'a str, &'a str, &'a str, Value);

/// Two changes that are both decided before the first of them is stored, in this order.
async fn side_by_side(
    place: &Place,
    (a, first): (&TestApp, Change<'_>),
    (b, second): (&TestApp, Change<'_>),
) -> (Answer, Answer) {
    let mut held = HoldUp::at(place).await;
    let ask = async |app: &TestApp, (key, method, path, body): Change<'_>| {
        app.as_key(key, method, path, body).await
    };
    let mut first = pin!(ask(a, first));
    tokio::select! {
        () = held.waited_by(1) => {}
        first = &mut first => panic!("it did not wait: {}", first.body),
    }
    let mut both = pin!(async { tokio::join!(first, ask(b, second)) });
    tokio::select! {
        () = held.waited_by(2) => {}
        (first, second) = &mut both => panic!("they did not wait: {} {}", first.body, second.body),
    }
    held.end().await;
    both.await
}

#[tokio::test]
async fn two_admins_cannot_remove_each_other() {
    with_two(async |a, b, place| {
        let kim = a.person("kim", "admin").await.key;
        let lee = a.person("lee", "admin").await.key;
        let demoted = json!({"role": "viewer"});
        let done = a
            .as_key(&kim, "PATCH", "/api/v1/users/admin", demoted)
            .await;
        assert_eq!(done.status, 200, "{}", done.body);
        b.comes_to("/api/v1/users/admin", "/role", json!("viewer"))
            .await;
        let (first, second) = side_by_side(
            place,
            (a, (&kim, "DELETE", "/api/v1/users/lee", Value::Null)),
            (b, (&lee, "DELETE", "/api/v1/users/kim", Value::Null)),
        )
        .await;
        let mut told = [first.status, second.status];
        told.sort_unstable();
        // Who came second has no key any more.
        assert_eq!(told, [204, 401], "{} {}", first.body, second.body);
        let users = a.get("/api/v1/users").await.body;
        let users = users["items"].as_array().unwrap().iter();
        let admins = users.filter(|user| user["role"] == "admin" && user["is_active"] == true);
        assert_eq!(admins.count(), 1);
    })
    .await;
}

#[tokio::test]
async fn two_admins_cannot_demote_each_other() {
    with_two(async |a, b, place| {
        let kim = a.person("kim", "admin").await.key;
        let lee = a.person("lee", "admin").await.key;
        b.comes_to("/api/v1/users/lee", "/role", json!("admin"))
            .await;
        assert_eq!(
            b.as_key(&lee, "GET", "/api/v1/users", Value::Null)
                .await
                .status,
            200
        );
        let demoted = || json!({"role": "author"});
        let (first, second) = side_by_side(
            place,
            (a, (&kim, "PATCH", "/api/v1/users/lee", demoted())),
            (b, (&lee, "PATCH", "/api/v1/users/kim", demoted())),
        )
        .await;
        let mut told = [first.status, second.status];
        told.sort_unstable();
        assert_eq!(told, [200, 403], "{} {}", first.body, second.body);
    })
    .await;
}

#[tokio::test]
async fn a_role_a_password_and_a_removal_do_not_undo_each_other() {
    with_two(async |a, b, place| {
        a.person("kim", "author").await;
        b.comes_to("/api/v1/users/kim", "/role", json!("author"))
            .await;
        let kim = "/api/v1/users/kim";
        let (role, password) = (
            json!({"role": "viewer"}),
            json!({"password": "another good long one"}),
        );
        let (first, second) = side_by_side(
            place,
            (a, (ADMIN, "PATCH", kim, role)),
            (b, (ADMIN, "PATCH", kim, password)),
        )
        .await;
        assert_eq!(
            (first.status, second.status),
            (200, 200),
            "{} {}",
            first.body,
            second.body
        );
        for app in [a, b] {
            app.comes_to(kim, "/role", json!("viewer")).await;
            assert_eq!(app.log_in("kim", "another good long one").await.status, 200);
            assert_eq!(app.log_in("kim", PASSWORD).await.status, 401);
        }
        let (gone, changed) = side_by_side(
            place,
            (a, (ADMIN, "DELETE", kim, Value::Null)),
            (b, (ADMIN, "PATCH", kim, json!({"role": "author"}))),
        )
        .await;
        assert_eq!(gone.status, 204, "{}", gone.body);
        assert!([200, 404].contains(&changed.status), "{}", changed.body);
        for app in [a, b] {
            app.comes_to(kim, "/is_active", json!(false)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_limit_or_a_secret_that_is_gone_is_not_there_for_the_other() {
    with_two(async |a, b, place| {
        let limit = json!({"target_type": "TOOL", "target_id": "on_file", "max_count": 5});
        assert_eq!(a.post("/api/v1/limits", limit).await.status, 201);
        let secret = json!({"value": "something secret"});
        let set = a
            .as_key(ADMIN, "PUT", "/api/v1/secrets/token", secret)
            .await;
        assert_eq!(set.status, 201, "{}", set.body);
        for path in ["/api/v1/limits/TOOL/on_file", "/api/v1/secrets/token"] {
            let (first, second) = side_by_side(
                place,
                (a, (ADMIN, "DELETE", path, Value::Null)),
                (b, (ADMIN, "DELETE", path, Value::Null)),
            )
            .await;
            let mut told = [first.status, second.status];
            told.sort_unstable();
            assert_eq!(told, [204, 404], "{path} {} {}", first.body, second.body);
        }
    })
    .await;
}

#[tokio::test]
async fn a_secret_that_changes_hands_is_not_given_back_by_its_old_owner() {
    with_two(async |a, b, place| {
        let kim = a.person("kim", "author").await.key;
        a.person("lee", "author").await;
        let path = "/api/v1/secrets/token";
        let value = |text: &str| json!({"value": text});
        let set = b.as_key(&kim, "PUT", path, value("something secret")).await;
        assert_eq!(set.status, 201, "{}", set.body);
        let (given, set) = side_by_side(
            place,
            (
                a,
                (
                    ADMIN,
                    "POST",
                    "/api/v1/users/kim/reassign",
                    json!({"to": "lee"}),
                ),
            ),
            (b, (&kim, "PUT", path, value("something else"))),
        )
        .await;
        assert_eq!(given.status, 200, "{}", given.body);
        assert!([200, 409].contains(&set.status), "{}", set.body);
        let listed = a.get("/api/v1/secrets").await.body;
        assert_eq!(listed["items"][0]["owner"], "lee", "{listed}");
    })
    .await;
}
