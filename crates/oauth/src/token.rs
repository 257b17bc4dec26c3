//! Asking a token endpoint: a code, a refresh token or our own name for an access token.

use crate::Result;
use crate::challenge::scopes;
use crate::client::{Client, object};
use crate::error::Error;
use crate::place::Around;
use crate::registration::{AuthMethod, Registered};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use catalog::secret::Secret;
use catalog::tool::Millis;
use fetch::header::{ACCEPT, AUTHORIZATION};
use fetch::{Body, HeaderValue, Method, Url};
use serde_json::{Map, Value};

const OF_TOKEN: &str = "the token endpoint";

/// The words that mean no, and will mean it again (RFC 6749, 5.2; the last by RFC 8707).
const REFUSALS: [&str; 7] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
    "invalid_target",
];

/// No token is believed to live longer: a year.
const LIFE_SECONDS_MAX: i64 = 366 * 24 * 3600;

/// What a token endpoint gave.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) access_token: Secret,
    pub(crate) refresh_token: Option<Secret>,
    /// None where they are those that were asked for.
    pub(crate) scopes: Option<Vec<String>>,
    pub(crate) expires_at: Option<Millis>,
}

/// Where a token is asked for, and as whom.
pub(crate) struct Asking<'a> {
    pub(crate) server_url: &'a str,
    pub(crate) token_endpoint: &'a str,
    pub(crate) client: &'a Registered,
    pub(crate) resource: &'a str,
}

impl Client {
    pub(crate) async fn token(&self, asking: &Asking<'_>, what: &[(&str, &str)]) -> Result<Given> {
        let around = Around::new(asking.server_url)?;
        let mut request = around.request(Method::POST, asking.token_endpoint, OF_TOKEN)?;
        let mut form: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, value: &str| form.push((name.to_owned(), value.to_owned()));
        for (name, value) in what {
            add(name, value);
        }
        add("resource", asking.resource);
        let client = asking.client;
        match (client.method, &client.client_secret) {
            (AuthMethod::Basic, Some(secret)) => {
                let mut value = basic(&client.client_id, secret)?;
                value.set_sensitive(true);
                request.headers.insert(AUTHORIZATION, value);
            }
            (AuthMethod::Post, Some(secret)) => {
                add("client_id", &client.client_id);
                add("client_secret", secret.expose());
            }
            _ => add("client_id", &client.client_id),
        }
        request.body = Body::Form(form);
        let json = HeaderValue::from_static("application/json");
        request.headers.insert(ACCEPT, json);
        let asked_at = self.clock.now();
        let (status, body) = self.send(request, OF_TOKEN).await?;
        let said = object(&body, "the answer of the token endpoint");
        if !status.is_success() {
            let word = said
                .as_ref()
                .ok()
                .and_then(|said| said.get("error")?.as_str());
            let refused = word.filter(|word| REFUSALS.contains(word));
            return Err(match (status.as_u16(), refused) {
                (400 | 401, Some(word)) => Error::refused(word),
                // What stands in front of it, or it itself on a bad day: a refresh token is not given up for that.
                _ => Error::Unreachable(format!("{OF_TOKEN}: HTTP {status}")),
            });
        }
        given(&said?, asked_at)
    }
}

fn given(said: &Map<String, Value>, asked_at: Millis) -> Result<Given> {
    let text = |member: &str| said.get(member).and_then(Value::as_str);
    let kind = text("token_type").unwrap_or("Bearer");
    if !kind.eq_ignore_ascii_case("bearer") {
        return Err(Error::unusable(
            "its authorization server gives tokens that are not of the type Bearer",
        ));
    }
    let access_token = text("access_token").filter(|token| is_token(token));
    let access_token = access_token
        .ok_or_else(|| Error::unusable("the token endpoint gave no token that can be sent"))?;
    let refresh_token = text("refresh_token").filter(|token| !token.is_empty());
    Ok(Given {
        access_token: Secret::new(access_token.to_owned()),
        refresh_token: refresh_token.map(|token| Secret::new(token.to_owned())),
        scopes: text("scope").map(scopes),
        expires_at: seconds(said.get("expires_in")).map(|life| asked_at + life * 1000),
    })
}

/// Some write the number as a text.
fn seconds(value: Option<&Value>) -> Option<i64> {
    let seconds = match value? {
        Value::String(text) => text.parse().ok()?,
        Value::Number(number) => number.as_i64().or_else(|| {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a cast to an integer saturates, and is held to a year below"
            )]
            number.as_f64().map(|seconds| seconds as i64)
        })?,
        _ => return None,
    };
    (seconds > 0).then_some(seconds.min(LIFE_SECONDS_MAX))
}

/// What may stand behind `Bearer`.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 << 10 && text.bytes().all(|b| b.is_ascii_graphic())
}

/// RFC 6749 wants both parts encoded before they are joined by a colon.
fn basic(client_id: &str, secret: &Secret) -> Result<HeaderValue> {
    let both = format!("{}:{}", encoded(client_id), encoded(secret.expose()));
    HeaderValue::try_from(format!("Basic {}", BASE64_STANDARD.encode(both)))
        .map_err(|_| Error::unusable("the client's secret cannot be sent"))
}

fn encoded(text: &str) -> String {
    let encoded = Url::parse_with_params("form:", [("", text)]);
    let encoded = encoded.ok().and_then(|url| url.query().map(str::to_owned));
    let encoded = encoded.unwrap_or_default();
    encoded.strip_prefix('=').unwrap_or(&encoded).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<Given> {
        given(value.as_object().unwrap(), 1_000)
    }

    #[test]
    fn a_token_is_taken_as_it_comes() {
        let full = read(
            &json!({"access_token": "a.b", "token_type": "bearer", "expires_in": "60",
            "refresh_token": "r", "scope": "x y"}),
        )
        .unwrap();
        assert_eq!(full.access_token.expose(), "a.b");
        assert_eq!(full.expires_at, Some(61_000));
        assert_eq!(full.scopes.unwrap(), ["x", "y"]);
        let bare = read(&json!({"access_token": "a"})).unwrap();
        assert_eq!((bare.expires_at, bare.scopes), (None, None));
        let long = read(&json!({"access_token": "a", "expires_in": 1e300})).unwrap();
        assert_eq!(long.expires_at, Some(1_000 + LIFE_SECONDS_MAX * 1000));
        assert_eq!(
            read(&json!({"access_token": "a", "expires_in": -1}))
                .unwrap()
                .expires_at,
            None
        );
    }

    #[test]
    fn what_is_no_token_is_refused_without_being_repeated() {
        for bad in [
            json!({}),
            json!({"access_token": ""}),
            json!({"access_token": "hunter2\r\nx: y"}),
            json!({"access_token": "hunter2", "token_type": "DPoP"}),
            json!({"access_token": 7}),
        ] {
            let error = read(&bad).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        let word = Error::refused("invalid_grant: token hunter2").to_string();
        assert!(!word.contains("hunter2"), "{word}");
    }

    #[test]
    fn a_client_secret_is_encoded_before_it_is_joined() {
        assert_eq!(encoded("a:b c/ü"), "a%3Ab+c%2F%C3%BC");
        assert_eq!(encoded("=="), "%3D%3D");
    }
}
