//! The ways in which an `http` tool is let in: what each is called in its `auth_config`, and what it needs there.

/// A way to be let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    None,
    /// `Authorization: Bearer …`
    Bearer,
    Basic,
    Header,
    Query,
    /// A bearer token that is fetched first, with the client credentials of OAuth 2.
    Client,
}

/// What a way needs stands under one of several names; the first is the usual one.
pub type Names = &'static [&'static str];

pub const TOKEN: Names = &["token", "value", "api_key", "key"];
pub const USERNAME: Names = &["username", "user"];
pub const PASSWORD: Names = &["password", "value"];
pub const VALUE: Names = &["value", "key", "api_key", "token"];
pub const PARAMETER: Names = &["name", "param", "query"];
pub const TOKEN_URL: Names = &["token_url"];
pub const CLIENT_ID: Names = &["client_id"];
pub const CLIENT_SECRET: Names = &["client_secret"];

/// The types as one would write them, and the same in a sentence.
pub const TYPES: [&str; 6] = ["bearer", "basic", "header", "query", "oauth2", "none"];
pub const TYPES_TOLD: &str = "\"bearer\", \"basic\", \"header\", \"query\" or \"oauth2\"";

impl Way {
    /// By what `type` says. A key may stand in a header or in the query.
    pub fn named(kind: &str, is_in_query: bool) -> Option<Self> {
        Some(match kind {
            "none" => Way::None,
            "bearer" => Way::Bearer,
            "basic" => Way::Basic,
            "query" => Way::Query,
            "api_key" | "apikey" | "apiKey" if is_in_query => Way::Query,
            "header" | "api_key" | "apikey" | "apiKey" => Way::Header,
            "oauth2" | "oauth2_client_credentials" | "client_credentials" => Way::Client,
            _ => return None,
        })
    }

    /// By which members are there, where no type is.
    pub fn guessed(has: impl Fn(&str) -> bool) -> Option<Self> {
        Some(match () {
            () if has("token_url") => Way::Client,
            () if has("username") => Way::Basic,
            () if has("header") || has("header_name") => Way::Header,
            () if has("token") => Way::Bearer,
            () => return None,
        })
    }

    /// As one would write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Way::None => "none",
            Way::Bearer => "bearer",
            Way::Basic => "basic",
            Way::Header => "header",
            Way::Query => "query",
            Way::Client => "oauth2",
        }
    }

    /// What must be there.
    pub fn needs(self) -> &'static [Names] {
        match self {
            Way::None => &[],
            Way::Bearer => &[TOKEN],
            Way::Basic => &[USERNAME, PASSWORD],
            Way::Header => &[VALUE],
            Way::Query => &[PARAMETER, VALUE],
            Way::Client => &[TOKEN_URL, CLIENT_ID, CLIENT_SECRET],
        }
    }
}
