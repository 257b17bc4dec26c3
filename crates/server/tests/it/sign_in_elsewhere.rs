//! Signing in to upstream servers, and logging in, where the browser comes back to another server than it left.

use crate::guarded::Guarded;
use crate::scripted::until;
use crate::servers::in_state;
use crate::sign_in::{add, begun, finish, parts};
use crate::testapp::{ADMIN, TestApp, on_both};
use serde_json::json;

#[tokio::test]
async fn one_of_two_servers_renews_a_token_and_both_use_it() {
    on_both(async |app: &TestApp| {
        if !app.is_postgres() {
            return;
        }
        let other = app.beside(app.clock.clone()).await;
        let upstream = Guarded::start().await;
        add(app, "up", &upstream, json!("oauth")).await;
        let (state, place) = parts(&begun(app, ADMIN, "up").await);
        let answer = json!({"place": place, "state": state, "code": "all"});
        let done = finish(app, ADMIN, "up", answer).await;
        assert_eq!(done.status, 200, "{}", done.body);
        for server in [app, &other] {
            in_state(server, "up", "connected").await;
            until("its tools are shown", async || {
                let shown = server.get("/api/v1/tools/up.echo").await;
                (shown.status == 200).then_some(())
            })
            .await;
        }
        assert_eq!(upstream.count("token all"), 1);
        let refused = upstream.count("refused");
        upstream.end("all-token");
        let held = upstream.hold_tokens().await;
        let call = async |server: &TestApp| {
            let done = server
                .post("/api/v1/tools/up.echo/call", json!({"arguments": {}}))
                .await;
            assert_eq!(done.status, 200, "{}", done.body);
        };
        let both_refused = async {
            until("both are refused", async || {
                (upstream.count("refused") >= refused + 2).then_some(())
            })
            .await;
            drop(held);
        };
        tokio::join!(call(app), call(&other), both_refused);
        assert_eq!(upstream.count("token all"), 2, "it was renewed once");
        other.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_sign_in_is_finished_on_another_server() {
    on_both(async |app: &TestApp| {
        if !app.is_postgres() {
            return;
        }
        let other = app.beside(app.clock.clone()).await;
        let (stop, _other) = (app.listen().await, other.listen().await);
        let upstream = Guarded::start().await;
        add(app, "up", &upstream, json!("oauth")).await;
        in_state(&other, "up", "auth_required").await;
        // From the command line.
        let (state, place) = parts(&begun(app, ADMIN, "up").await);
        let answer = json!({"place": place, "state": state, "code": "all"});
        let done = finish(&other, ADMIN, "up", answer.clone()).await;
        assert_eq!(done.status, 200, "{}", done.body);
        assert_eq!(done.body["sign_in"]["signed_in"], true, "{}", done.body);
        let again = finish(&other, ADMIN, "up", answer).await;
        assert_eq!(again.status, 422, "{}", again.body);
        assert!(
            again.message().contains("no such sign-in"),
            "{}",
            again.body
        );
        // In a browser, begun on the other one.
        let (state, place) = parts(&begun(&other, ADMIN, "up").await);
        let back = format!("/api/v1/servers/sign-in/callback/{place}?state={state}&code=all");
        let page = app.get(&back).await;
        assert_eq!(page.status, 200, "{}", page.body);
        assert!(page.body.to_string().contains("You are signed in to up"));
        assert_eq!(upstream.count("token all"), 2);
        until("both know", async || {
            let view = other.get("/api/v1/servers/up").await.body;
            (view["sign_in"]["signed_in"] == true).then_some(())
        })
        .await;
        // Nobody else finishes it, whoever they ask.
        let stranger = app.person("stranger", "operator").await.key;
        until("they are known", async || {
            let me = other
                .as_key(&stranger, "GET", "/api/v1/tools", json!(null))
                .await;
            (me.status == 200).then_some(())
        })
        .await;
        let (state, place) = parts(&begun(app, ADMIN, "up").await);
        let answer = json!({"place": place, "state": state, "code": "all"});
        let refused = finish(&other, &stranger, "up", answer.clone()).await;
        assert!(
            refused.message().contains("no such sign-in"),
            "{}",
            refused.body
        );
        // The one that keeps it is gone.
        stop.cancel();
        app.stop().await;
        let lost = finish(&other, ADMIN, "up", answer).await;
        assert_eq!(lost.status, 503, "{}", lost.body);
        assert!(
            lost.message().contains("is gone. Begin again"),
            "{}",
            lost.body
        );
        let back = format!("/api/v1/servers/sign-in/callback/{place}?state={state}&code=all");
        let page = other.get(&back).await;
        assert_eq!(page.status, 503, "{}", page.body);
        assert!(page.body.to_string().contains("is gone. Begin again"));
        other.stop().await;
    })
    .await;
}
