//! Where PostgreSQL is for tests, shared by the tests of every crate that need one. Where there is none it is said once,
//! past the harness, which keeps what a test that passes prints: a skipped half must not look like a passed one.

use std::io::{Write, stderr};
use std::sync::Once;

#[expect(
    clippy::disallowed_methods,
    reason = "tests learn from the environment where PostgreSQL is"
)]
pub(crate) fn postgres_url() -> Option<String> {
    static SAID: Once = Once::new();
    let url = std::env::var("TOOLCRIB_TEST_POSTGRES").ok();
    if url.is_none() {
        SAID.call_once(|| {
            let line = "skipped: no PostgreSQL; run through scripts/with-postgres";
            let _ = writeln!(stderr(), "{line}");
        });
    }
    url
}
