//! The committed OpenAPI document is the one the handlers make.

use std::path::Path;

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "UPDATE_OPENAPI=1 writes the document anew"
)]
fn the_committed_document_is_fresh() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let made = server::openapi::document() + "\n";
    if std::env::var("UPDATE_OPENAPI").is_ok() {
        std::fs::write(&file, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == made,
        "docs/openapi.json is stale: run `UPDATE_OPENAPI=1 cargo test -p server --test it openapi`"
    );
}
