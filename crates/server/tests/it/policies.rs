//! The policy: set, tried out, explained; and that an explanation says what a call does.

use crate::testapp::{ADMIN, TestApp, definition, on_both, on_both_with};
use app::explain::ExplainQuery;
use catalog::caller::Caller;
use catalog::policy::Policy;
use executor::CallRequest;
use serde_json::{Value, json};
use std::sync::Arc;

async fn set(app: &TestApp, rules: Value) -> u16 {
    let answer = app
        .as_key(ADMIN, "PUT", "/api/v1/policy", json!({"rules": rules}))
        .await;
    answer.status
}

async fn explain(app: &TestApp, query: &str) -> Value {
    let answer = app.get(&format!("/api/v1/policy/explain?{query}")).await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.body);
    answer.body
}

/// kim (author) owns `kims`, `kims_public` and `kims_off`; lee is an author, vic a viewer, ann an admin, op an
/// operator; pat is gone and left `pats`. `asks` needs approval. The whitelist is enforced and lacks `unlisted`.
async fn scene(app: &TestApp) {
    for (name, role) in [
        ("kim", "author"),
        ("lee", "author"),
        ("vic", "viewer"),
        ("ann", "admin"),
        ("op", "operator"),
        ("pat", "author"),
    ] {
        app.person(name, role).await;
    }
    for (owner, name, changes) in [
        ("kim", "kims", json!({})),
        ("kim", "kims_public", json!({"is_public": true})),
        ("kim", "kims_off", json!({"is_active": false})),
        ("pat", "pats", json!({"is_public": true})),
        (
            "kim",
            "asks",
            json!({"approval": "always", "is_public": true}),
        ),
        ("kim", "unlisted", json!({"is_public": true})),
        (
            "kim",
            "wraps",
            json!({"is_public": true, "config": {"name": "serialize_for_cell"}}),
        ),
    ] {
        let mut body = definition(name);
        for (key, value) in changes.as_object().unwrap() {
            body[key] = value.clone();
        }
        let key =
            json!({"name": format!("{owner}-maker-{name}"), "user": owner, "scopes": ["author"]});
        let key = app.post("/api/v1/keys", key).await.body["key"]
            .as_str()
            .unwrap()
            .to_owned();
        let made = app.as_key(&key, "POST", "/api/v1/tools", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
    }
    app.as_key(ADMIN, "DELETE", "/api/v1/users/pat", Value::Null)
        .await;
    let agent = json!({"name": "bot", "model_provider": "openai", "model_name": "m"});
    app.post("/api/v1/agents", agent).await;
    for name in ["data", "other"] {
        let toolset = json!({"name": name, "is_public": true});
        let made = app.post("/api/v1/toolsets", toolset).await;
        assert_eq!(made.status, 201, "{}", made.body);
    }
    let made = app
        .post(
            "/api/v1/keys",
            json!({"name": "reader", "user": "kim", "scopes": ["read"]}),
        )
        .await;
    assert_eq!(made.status, 201);
    let rules = json!([
        {"subject": "everyone", "hide": ["hidden_*"], "deny": ["serialize_for_cell"]},
        {"subject": "role", "target": "operator", "allow": ["calc*"]},
        {"subject": "user", "target": "lee", "deny": ["kims_p*"]},
        {"subject": "key", "target": "kim-key", "allow": ["calculator", "kims*"]},
        {"subject": "agent", "target": "bot", "deny": ["calculator"]},
        {"subject": "toolset", "target": "data", "allow": ["kims_?ublic", "calculator"], "hide": ["wr*"]},
    ]);
    assert_eq!(set(app, rules).await, 200);
}

const LISTED: &str =
    "calculator,serialize_for_cell,kims,kims_public,kims_off,pats,asks,wraps,hidden_x";

#[rustfmt::skip]
const CASES: [(&str, &str, &str); 42] = [
    // who and through what, tool, verdict and code
    ("key=kim-key", "calculator", "allowed"),
    ("key=kim-key", "kims", "allowed"),
    ("key=kim-key", "kims_public", "allowed"),
    ("key=kim-key", "kims_off", "denied tool_inactive"),
    ("key=kim-key", "asks", "denied blocked_by_policy"),
    ("key=kim-key", "wraps", "denied blocked_by_policy"),
    ("key=kim-key", "unlisted", "denied blocked_by_policy"),
    ("key=kim-key", "nothing", "hidden tool_not_found"),
    ("key=kim-key", "pats", "denied tool_inactive"),
    ("key=kim-key", "serialize_for_cell", "denied blocked_by_policy"),
    ("user=kim", "asks", "denied approval_required"),
    ("user=kim", "calculator", "allowed"),
    ("user=kim", "wraps", "denied blocked_by_policy"),
    ("user=kim", "unlisted", "denied blocked_by_policy"),
    ("key=reader", "calculator", "denied forbidden"),
    ("key=reader", "kims", "denied forbidden"),
    ("key=lee-key", "kims", "hidden tool_not_found"),
    ("key=lee-key", "kims_off", "hidden tool_not_found"),
    ("key=lee-key", "kims_public", "denied blocked_by_policy"),
    ("key=lee-key", "calculator", "allowed"),
    ("key=lee-key", "asks", "denied approval_required"),
    ("key=lee-key", "pats", "denied tool_inactive"),
    ("user=lee", "kims_public", "denied blocked_by_policy"),
    ("key=vic-key", "calculator", "denied forbidden"),
    ("key=vic-key", "kims", "hidden tool_not_found"),
    ("key=vic-key", "kims_public", "denied forbidden"),
    ("key=ann-key", "kims", "allowed"),
    ("key=ann-key", "kims_off", "denied tool_inactive"),
    ("key=ann-key", "pats", "denied tool_inactive"),
    ("key=ann-key", "serialize_for_cell", "denied blocked_by_policy"),
    ("key=ann-key", "asks", "denied approval_required"),
    ("key=op-key", "calculator", "allowed"),
    ("key=op-key", "kims_public", "denied blocked_by_policy"),
    ("key=op-key", "kims", "hidden tool_not_found"),
    ("key=pat-key", "calculator", "denied unauthenticated"),
    ("user=pat", "pats", "denied unauthenticated"),
    ("user=kim&agent=bot", "calculator", "denied blocked_by_policy"),
    ("user=kim&agent=bot", "kims", "denied blocked_by_policy"),
    ("user=kim&toolset=data", "wraps", "hidden tool_not_found"),
    ("user=kim&toolset=data", "kims", "denied blocked_by_policy"),
    ("user=kim&toolset=data", "kims_public", "allowed"),
    ("user=kim&toolset=other", "kims", "allowed"),
];

#[tokio::test]
async fn forty_cases_are_explained_rightly() {
    on_both_with(
        json!([]),
        Policy::new(true, LISTED),
        async |app: &TestApp| {
            scene(app).await;
            for (who, tool, expected) in CASES {
                let told = explain(app, &format!("{who}&tool={tool}")).await;
                let code = told["code"].as_str().unwrap_or_default();
                let verdict = format!("{} {code}", told["verdict"].as_str().unwrap());
                assert_eq!(verdict.trim(), expected, "{who} {tool}: {told}");
                assert!(!told["reasons"].as_array().unwrap().is_empty());
            }
            // Every reason is given, not only the first.
            let told = explain(app, "key=kim-key&tool=asks").await;
            let denied = told["reasons"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|r| r["effect"] == "deny");
            let checks: Vec<&str> = denied.map(|r| r["check"].as_str().unwrap()).collect();
            assert_eq!(checks, ["rule", "approval"]);
        },
    )
    .await;
}

#[tokio::test]
async fn only_who_may_know_is_told_why() {
    on_both(async |app: &TestApp| {
        scene(app).await;
        let lee = app
            .post(
                "/api/v1/keys",
                json!({"name": "l", "user": "lee", "scopes": ["read"]}),
            )
            .await;
        let key = lee.body["key"].as_str().unwrap();
        let ask = async |query: &str| {
            let path = format!("/api/v1/policy/explain?{query}");
            app.as_key(key, "GET", &path, Value::Null).await
        };
        let (hidden, unknown) = (ask("tool=kims").await, ask("tool=zzzz").await);
        assert_eq!(
            hidden.body.to_string().replace("kims", "zzzz"),
            unknown.body.to_string()
        );
        let (theirs, nobody) = (
            ask("user=kim&tool=calculator").await,
            ask("user=zzz&tool=calculator").await,
        );
        assert_eq!((theirs.status, nobody.status), (422, 422));
        assert_eq!(theirs.message().replace("kim", "zzz"), nobody.message());
        assert_eq!(ask("key=kim-key&tool=calculator").await.status, 422);
        assert_eq!(ask("key=l&tool=calculator").await.body["verdict"], "denied");
    })
    .await;
}

#[tokio::test]
async fn a_dry_run_shows_what_would_change_for_whom_and_changes_nothing() {
    on_both(async |app: &TestApp| {
        app.person("kim", "author").await;
        app.person("lee", "author").await;
        let rules = json!([{"subject": "user", "target": "kim", "deny": ["calc*"]}]);
        let run = app
            .as_key(
                ADMIN,
                "PUT",
                "/api/v1/policy?dry_run=true",
                json!({"rules": rules}),
            )
            .await;
        assert_eq!(run.status, 200, "{}", run.body);
        let changes = run.body["changes"].as_array().unwrap();
        let who: Vec<&str> = changes.iter().map(|c| c["who"].as_str().unwrap()).collect();
        assert_eq!(run.body["total"], 2, "{}", run.body);
        assert!(
            who[0].starts_with("key kim-key") && who[1] == "user kim",
            "{who:?}"
        );
        assert!(changes.iter().all(|c| c["tool"] == "calculator"
            && c["before"] == "allowed"
            && c["after"] == "denied"));
        assert_eq!(
            explain(app, "user=kim&tool=calculator").await["verdict"],
            "allowed"
        );
        assert_eq!(app.get("/api/v1/policy").await.body["version"], 0);
    })
    .await;
}

/// Mostly a typo, and then nothing is refused that should be; but a tool may come later.
#[tokio::test]
async fn what_fits_no_tool_is_told() {
    on_both(async |app: &TestApp| {
        let names = ["calculater", "calculator", "calc*", "clac*"];
        let body = json!({"rules": [{"subject": "everyone", "deny": names, "hide": ["none"]}]});
        let said = json!([
            "rules[0].deny: 'calculater' fits no tool",
            "rules[0].deny: 'clac*' fits no tool",
            "rules[0].hide: 'none' fits no tool",
        ]);
        let path = "/api/v1/policy";
        let dry = format!("{path}?dry_run=true");
        for path in [dry.as_str(), path] {
            let set = app.as_key(ADMIN, "PUT", path, body.clone()).await;
            assert_eq!((set.status, &set.body["warnings"]), (200, &said), "{path}");
        }
        let shown = app.get(path).await.body;
        assert_eq!(shown["warnings"], said);
        // What was fetched can be sent back.
        let again = app.as_key(ADMIN, "PUT", path, shown).await;
        assert_eq!(again.status, 200, "{}", again.body);
    })
    .await;
}

#[tokio::test]
async fn a_policy_is_versioned_checked_and_outlives_a_restart() {
    on_both(async |app: &TestApp| {
        app.person("kim", "author").await;
        for wrong in [
            json!([{"subject": "nobody"}]),
            json!([{"subject": "user"}]),
            json!([{"subject": "user", "target": "zoe"}]),
            json!([{"subject": "everyone", "target": "x"}]),
            json!([{"subject": "role", "target": "king"}]),
            json!([{"subject": "key", "target": "zzz"}]),
            json!([{"subject": "agent", "target": "zzz"}]),
            json!([{"subject": "toolset", "target": "a b"}]),
            json!([{"subject": "everyone", "deny": ["a b"]}]),
            json!([{"subject": "everyone"}, {"subject": "everyone"}]),
        ] {
            assert_eq!(set(app, wrong.clone()).await, 422, "{wrong}");
        }
        let rules = json!([{"subject": "user", "target": "kim", "hide": ["calculator"]}]);
        assert_eq!(set(app, rules.clone()).await, 200);
        let stale = json!({"rules": [], "version": 0});
        let stale = app.as_key(ADMIN, "PUT", "/api/v1/policy", stale).await;
        assert_eq!((stale.status, stale.code()), (409, "conflict"));
        let app = app.restart().await;
        let policy = app.get("/api/v1/policy").await.body;
        assert_eq!(
            (&policy["version"], &policy["rules"][0]["target"]),
            (&json!(1), &json!("kim"))
        );
        assert_eq!(
            explain(&app, "user=kim&tool=calculator").await["verdict"],
            "hidden"
        );
        // What was fetched can be sent back.
        assert_eq!(
            app.as_key(ADMIN, "PUT", "/api/v1/policy", policy)
                .await
                .status,
            200
        );
        let audit = app.get("/api/v1/audit?action=policy.update").await;
        assert_eq!(audit.body["items"].as_array().unwrap().len(), 2);
        assert_eq!(app.get("/api/v1/audit/verify").await.body["valid"], true);
    })
    .await;
}

/// Small, seeded, good enough to make up policies.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn patterns(&mut self) -> Value {
        const ALL: [&str; 8] = [
            "*",
            "calc*",
            "kims*",
            "kims_?ublic",
            "serialize_for_cell",
            "asks",
            "?",
            "wraps",
        ];
        let count = self.throw(3);
        (0..count)
            .map(|_| ALL[self.throw(ALL.len())])
            .collect::<Vec<_>>()
            .into()
    }

    fn rules(&mut self) -> Value {
        let subjects = [
            json!({"subject": "everyone"}),
            json!({"subject": "role", "target": "author"}),
            json!({"subject": "user", "target": "kim"}),
            json!({"subject": "user", "target": "lee"}),
            json!({"subject": "key", "target": "kim-key"}),
            json!({"subject": "agent", "target": "bot"}),
            json!({"subject": "toolset", "target": "data"}),
        ];
        let mut rules = Vec::new();
        for mut rule in subjects {
            if self.throw(2) == 0 {
                continue;
            }
            if self.throw(3) == 0 {
                rule["allow"] = self.patterns();
            }
            rule["deny"] = self.patterns();
            if self.throw(3) == 0 {
                rule["hide"] = self.patterns();
            }
            rules.push(rule);
        }
        rules.into()
    }
}

#[tokio::test]
async fn an_explanation_says_what_a_call_does_whatever_the_policy() {
    on_both_with(json!([]), Policy::new(true, LISTED), async |app: &TestApp| {
        scene(app).await;
        let mut dice = Dice(20_261_115);
        let inner = &app.server.app;
        let operator = app::access::operator_caller("test");
        let tools = ["calculator", "kims", "kims_public", "kims_off", "asks", "wraps", "pats", "unlisted", "nothing"];
        let (mut pairs, mut allowed, mut denied, mut hidden) = (0, 0, 0, 0);
        for _ in 0..60 {
            assert_eq!(set(app, dice.rules()).await, 200);
            for _ in 0..12 {
                let tool = tools[dice.throw(tools.len())];
                let access = inner.access.load_full();
                let keyed = dice.throw(2) == 0;
                let name = ["kim", "lee", "vic", "ann", "op"][dice.throw(5)];
                let mut query = ExplainQuery { tool: tool.to_owned(), ..ExplainQuery::default() };
                let mut caller: Caller = if keyed {
                    let key = format!("{name}-key");
                    query.key = Some(key.clone());
                    let (_, caller) = access.live_keys().find(|(row, _)| row.name == key).unwrap();
                    (**caller).clone()
                } else {
                    query.user = Some(name.to_owned());
                    let user = access.user_named(name).unwrap();
                    let role = catalog::caller::Role::from_name(&user.role).unwrap();
                    Caller::of_user(user.id, name, role, catalog::caller::Transport::Page)
                };
                if dice.throw(3) == 0 {
                    query.agent = Some("bot".into());
                    let rows = inner.store.agents().await.unwrap();
                    caller.agent = Some(rows[0].id);
                }
                if dice.throw(3) == 0 {
                    query.toolset = Some("data".into());
                    caller.toolset = Some("data".into());
                }
                let told = inner.explain(&operator, &query).await.unwrap();
                let arguments = if tool == "wraps" { json!({"expression": "x", "data": 1}) } else { json!({"expression": "1"}) };
                let request = CallRequest { tool: tool.to_owned(), arguments, ..CallRequest::default() };
                let answer = inner.executor.call(Arc::new(caller.clone()), request).await;
                let code = answer.error.as_ref().map(|error| error.code);
                assert_eq!(told.code, code, "{query:?}: {told:?} {answer:?}");
                let listed = inner.get_tool(&caller, tool).is_ok();
                assert_eq!(told.verdict == "hidden", !listed, "{query:?}");
                pairs += 1;
                match told.verdict {
                    "allowed" => allowed += 1,
                    "denied" => denied += 1,
                    _ => hidden += 1,
                }
            }
        }
        println!("{pairs} pairs under 60 policies: {allowed} allowed, {denied} denied, {hidden} hidden");
        assert!(allowed > 50 && denied > 50 && hidden > 50);
    })
    .await;
}
