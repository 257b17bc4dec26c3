//! What the config of an `sql` tool must keep to beyond the shape of its members. Whether its query can be read is asked of
//! whoever knows SQL.

use crate::json::{Member, Reader, path_of_key};

/// Parameters that are bound from who asks.
pub(super) fn check_caller(r: &mut Reader<'_>, m: &Member, path: &str) {
    let members = r.object(m, path).unwrap_or_default();
    let path = path_of_key(path, &m.key);
    for m in members {
        let what = m.value.as_str();
        let claim = what.and_then(|what| what.strip_prefix("claims."));
        let is_known =
            matches!(what, Some("user" | "role")) || claim.is_some_and(|name| !name.is_empty());
        if !is_known {
            let expected = "\"user\", \"role\" or \"claims.NAME\"";
            let remedy = "Name what of the caller is bound, such as {\"user_name\": \"user\"} or {\"tenant\": \"claims.tenant\"}.";
            r.wrong(m, &path, expected, remedy);
        }
    }
}
