//! An HTTP tool with a credential, tried before it is saved.

use crate::crib::{Crib, sandbox};
use crate::site::Site;
use serde_json::json;

#[test]
fn a_typed_credential_is_sent_before_it_is_stored() {
    let site = Site::start(|_| (200, "application/json", b"{}".to_vec()));
    let host = site.url.trim_start_matches("http://").to_owned();
    let crib = Crib::of(sandbox().with("TOOLCRIB_HTTP_ALLOW", &host));
    for (auth, sent) in [
        (
            json!({"type": "bearer", "token": "typed-token"}),
            "authorization: bearer typed-token",
        ),
        (
            json!({"type": "header", "name": "X-API-Key", "value": "typed-key"}),
            "x-api-key: typed-key",
        ),
        (
            json!({"type": "basic", "username": "kim", "password": "typed"}),
            "authorization: basic a2ltonr5cgvk",
        ),
    ] {
        let tool = json!({"name": "orders", "description": "d", "kind": "http", "auth_config": auth,
            "config": {"base_url": site.url, "path": "/orders", "method": "GET"}, "input_schema": {"type": "object"}});
        let body = json!({"tool": tool, "arguments": {}});
        let (status, answer) = crib
            .server
            .request("POST", "/api/v1/tools/test", Some(&body));
        assert_eq!(
            (status, &answer["status"]),
            (200, &json!("success")),
            "{answer}"
        );
        let asked = site.requests().pop().unwrap().to_lowercase();
        assert!(asked.contains(sent), "{asked}");
        assert!(!answer.to_string().contains("typed"), "{answer}");
    }
}
