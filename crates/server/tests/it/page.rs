//! The web page: which addresses are its own, what its answers allow a browser, and how its files go out.

use crate::refusals::request;
use crate::testapp::{Answer, TestApp, on_both};

const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

async fn seen(app: &TestApp, path: &str) -> Answer {
    app.send(request("GET", path, &[("accept", BROWSER)], ""))
        .await
}

#[tokio::test]
async fn every_address_that_is_nobody_elses_is_the_pages() {
    on_both(async |app: &TestApp| {
        for path in [
            "/",
            "/tools",
            "/tools/calculator",
            "/executions?status=error",
            "/nowhere",
        ] {
            let answer = seen(app, path).await;
            assert_eq!(answer.status, 200, "{path}");
            assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8");
            assert_eq!(answer.headers["cache-control"], "no-cache");
        }
        // A program that is wrong, and a tab whose files an upgrade took away, must be told so.
        for path in [
            "/api/v1/nothing",
            "/assets/index-gone.js",
            "/mcp/a/b",
            "/.well-known/x",
        ] {
            let answer = seen(app, path).await;
            assert_eq!((answer.status, answer.code()), (404, "not_found"), "{path}");
        }
        let program = app.send(request("GET", "/tools", &[], "")).await;
        assert_eq!((program.status, program.code()), (404, "not_found"));
        let post = app
            .send(request("POST", "/tools", &[("accept", BROWSER)], ""))
            .await;
        assert_eq!((post.status, post.code()), (404, "not_found"));
    })
    .await;
}

#[tokio::test]
async fn a_browser_lets_in_only_what_each_answer_names() {
    on_both(async |app: &TestApp| {
        let policy = async |path: &str| {
            let answer = seen(app, path).await;
            answer.headers["content-security-policy"]
                .to_str()
                .unwrap()
                .to_owned()
        };
        let (first, second) = (policy("/").await, policy("/").await);
        let nonce = |policy: &str| {
            let (_, rest) = policy.split_once("'nonce-").unwrap();
            rest.split_once('\'').unwrap().0.to_owned()
        };
        assert_eq!(nonce(&first).len(), 32);
        assert_ne!(nonce(&first), nonce(&second));
        for path in ["/", "/login", "/login/none", "/login/oidc", "/api/docs"] {
            let answer = seen(app, path).await;
            let policy = answer.headers["content-security-policy"].to_str().unwrap();
            assert!(!policy.contains("unsafe"), "{path}: {policy}");
            let text = answer.body.as_str().unwrap();
            assert!(!text.contains(page::NONCE), "{path}");
            let is_built = path != "/" || page::IS_BUILT;
            assert!(!is_built || text.contains(&nonce(policy)), "{path}: {text}");
            assert!(
                !text.contains("<style>") && !text.contains("<script>"),
                "{path}"
            );
            assert_eq!(answer.headers["x-frame-options"], "DENY", "{path}");
        }
    })
    .await;
}

#[tokio::test]
async fn files_go_out_packed_to_whom_takes_it_and_are_kept_for_good() {
    on_both(async |app: &TestApp| {
        for file in page::FILES.iter().filter(|file| file.path != page::INDEX) {
            let path = format!("/{}", file.path);
            let got = async |encodings: &str| {
                let headers = [("accept-encoding", encodings)];
                app.send(request("GET", &path, &headers, "")).await
            };
            let plain = got("identity, br;q=0").await;
            assert_eq!(plain.status, 200, "{path}");
            assert!(!plain.headers.contains_key("content-encoding"), "{path}");
            assert_eq!(plain.headers["vary"], "accept-encoding");
            let is_hashed = file.path.starts_with("assets/");
            let kept = plain.headers["cache-control"].to_str().unwrap();
            assert_eq!(kept.contains("immutable"), is_hashed, "{path}: {kept}");
            if file.br.is_some() {
                assert_eq!(got("gzip, br").await.headers["content-encoding"], "br");
                assert_eq!(got("gzip").await.headers["content-encoding"], "gzip");
            }
        }
    })
    .await;
}
