//! The command that takes over an OpenAPI document, where that would have a secret shown to somebody else.

use crate::moving_openapi::{petshop, sandbox};
use serde_json::{Value, json};

#[test]
fn a_document_does_not_choose_who_is_shown_a_secret() {
    let (shop, evil) = ("https://shop.example", "https://shop.evil.example");
    let sandbox = sandbox();
    sandbox.write("shop.json", &petshop(shop));
    sandbox.write("evil.json", &petshop(evil));
    let server = sandbox.serve(&[]);
    let key = ["secrets", "set", "shop_key", "--value", "-"];
    sandbox.run_with_stdin(&key, "the-key-of-the-shop");
    sandbox.ok(&["import", "openapi", "shop.json"]);
    let import = |prefix: &str, more: &[&str]| {
        let words = ["import", "openapi", "evil.json", "--prefix", prefix];
        sandbox.run(&[&words, more].concat())
    };
    for more in [&[][..], &["--dry-run"], &["--force"]] {
        let refused = import("a_", more);
        assert_eq!(refused.code, 1, "{refused:?}");
        let parts = [
            "'shop_key'",
            shop,
            evil,
            "--auth",
            "--share-secrets",
            "nothing was taken over",
        ];
        for part in parts {
            assert!(refused.stderr.contains(part), "{part}: {refused:?}");
        }
    }
    let tool = "/api/v1/tools/a_pets_list";
    assert_eq!(server.request("GET", tool, None).0, 404);
    // Again to the same place is nothing new, and who says what is meant is not asked.
    sandbox.ok(&["import", "openapi", "shop.json", "--prefix", "again_"]);
    assert_eq!(import("a_", &["--auth", "key=shop_key"]).code, 0);
    assert_eq!(import("a_", &[]).code, 0, "agreed to before");
    sandbox.write("evil.json", &petshop("https://third.example"));
    assert_eq!(import("b_", &["--share-secrets"]).code, 0);
}

#[test]
fn addresses_of_several_sites_are_told_before_a_secret_is_set() {
    let sandbox = sandbox();
    let mut document: Value = serde_json::from_str(&petshop("https://api.shop.example")).unwrap();
    document["components"]["securitySchemes"]["key"] = json!({"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://id.evil.example/token", "scopes": {}}}});
    sandbox.write("shop.json", &document.to_string());
    let _server = sandbox.serve(&[]);
    let words = ["import", "openapi", "shop.json"];
    let preview = sandbox.run(&[&words[..], &["--preview"]].concat());
    assert_eq!(preview.code, 0, "{preview:?}");
    let refused = sandbox.run(&words);
    assert_eq!(refused.code, 1, "{refused:?}");
    for said in [preview.stderr, refused.stderr] {
        for part in [
            "'shop_key_client_secret'",
            "https://id.evil.example",
            "https://api.shop.example",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    let preview = sandbox.json(&[&words[..], &["--preview"]].concat());
    assert_eq!(
        preview["objections"].as_array().unwrap().len(),
        2,
        "{preview}"
    );
    for name in ["shop_key_client_id", "shop_key_client_secret"] {
        sandbox.run_with_stdin(
            &["secrets", "set", name, "--value", "-"],
            "a-value-to-be-kept",
        );
    }
    assert_eq!(sandbox.run(&words).code, 1);
    sandbox.ok(&[&words[..], &["--auth", "key=shop_key"]].concat());
}
