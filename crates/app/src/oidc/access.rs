//! Access tokens in place of keys: this server as a protected resource of the identity provider (OAuth 2.1, RFC 9068). A
//! token must be signed by the provider, made for this server, and about somebody who is a user here.

use super::provider::Provider;
use super::token::{self, Purpose};
use super::{AccessTokens, full_subject};
use crate::App;
use crate::access::role_of;
use crate::error::{Error, Result};
use crate::sessions::{Hash, hash_of};
use catalog::caller::{Caller, Scope, Scopes, Transport};
use catalog::tool::Millis;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use uuid::Uuid;

/// What our scopes are called in a token, where other servers' stand beside them.
pub const SCOPE_PREFIX: &str = "toolcrib:";

/// How long a token that was found sound is believed before its signature is looked at again.
const BELIEVED_MS: Millis = 60_000;

/// So many tokens are remembered.
const SHOWN_MAX: usize = 4_096;

/// Tokens that were found sound: checking a signature costs more than everything else that lets somebody in.
#[derive(Default)]
pub(super) struct Shown(Mutex<HashMap<Hash, Arc<Sound>>>);

/// What a sound token says.
struct Sound {
    user: Uuid,
    subject: String,
    audience: Vec<String>,
    scopes: Scopes,
    /// The program that it was given to. There is always one: whoever comes without a key counts as a person who has
    /// logged in, and may make keys.
    client: Arc<str>,
    ends: Millis,
    /// How long it is believed.
    until: Millis,
    claims: Arc<Map<String, Value>>,
}

impl Shown {
    fn get(&self, hash: &Hash, now: Millis) -> Option<Arc<Sound>> {
        let shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sound = shown.get(hash).filter(|sound| now < sound.until);
        sound.cloned()
    }

    fn keep(&self, hash: Hash, sound: Arc<Sound>, now: Millis) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.len() >= SHOWN_MAX {
            shown.retain(|_, sound| now < sound.until);
        }
        if shown.len() >= SHOWN_MAX {
            shown.clear();
        }
        shown.insert(hash, sound);
    }
}

/// What somebody needs to know who wants a token for this server.
pub struct TokenOffer<'a> {
    pub issuer: &'a str,
    /// What is asked for where nobody says what they need.
    pub scopes: Vec<String>,
}

impl AccessTokens {
    /// A token is for this server where it was made for its address, or for what is below that.
    fn check_audience(&self, audience: &[String], own_url: Option<&str>) -> Result<()> {
        let is_ours = |one: &String| {
            let below = own_url.and_then(|own| one.strip_prefix(own.trim_end_matches('/')));
            let is_address = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            is_address || (!self.audience.is_empty() && *one == self.audience)
        };
        match audience.iter().any(is_ours) {
            true => Ok(()),
            false => Err(Error::Unauthenticated("The token was made for another server; ask for one with this server's address as its resource".to_owned())),
        }
    }
}

impl App {
    fn token_settings(&self) -> Option<(&Provider, &AccessTokens)> {
        let provider = self.oidc.as_ref()?;
        Some((provider, provider.settings.tokens.as_ref()?))
    }

    pub fn takes_tokens(&self) -> bool {
        self.token_settings().is_some()
    }

    pub fn token_offer(&self) -> Option<TokenOffer<'_>> {
        let (provider, tokens) = self.token_settings()?;
        let names = tokens.scopes.names().into_iter();
        Some(TokenOffer {
            issuer: &provider.settings.issuer,
            scopes: names.map(|name| format!("{SCOPE_PREFIX}{name}")).collect(),
        })
    }

    /// Whom a token is about that was shown before. `own_url` is this server's address, if it is known: tokens are made
    /// for that.
    pub fn by_known_token(
        &self,
        token: &str,
        own_url: Option<&str>,
    ) -> Result<Option<Arc<Caller>>> {
        let Some((provider, tokens)) = self.token_settings() else {
            return Ok(None);
        };
        let Some(sound) = provider.shown.get(&hash_of(token), self.clock.now()) else {
            return Ok(None);
        };
        tokens.check_audience(&sound.audience, own_url)?;
        self.of_sound(&sound).map(Some)
    }

    /// The same for one that was not. Who is new may become a user by it, so it must not be left half done.
    pub async fn by_token(&self, token: &str, own_url: Option<&str>) -> Result<Arc<Caller>> {
        let Some(settings) = self.token_settings() else {
            return Err(Error::Unauthenticated(
                "The API key is not valid".to_owned(),
            ));
        };
        let sound = self.look_at(settings, token, own_url).await?;
        self.of_sound(&sound)
    }

    async fn look_at(
        &self,
        (provider, tokens): (&Provider, &AccessTokens),
        token: &str,
        own_url: Option<&str>,
    ) -> Result<Arc<Sound>> {
        let now = self.clock.now();
        let claims = provider.sound(token, Purpose::Access, now).await?;
        // First of all: whoever has a token for another server must not become a user here.
        let audience = token::audience(&claims).into_iter().map(str::to_owned);
        let audience: Vec<String> = audience.collect();
        tokens.check_audience(&audience, own_url)?;
        // Whoever is known keeps their role: a token may be older than the last login, and lives on after it.
        let user = self.oidc_user(&provider.settings, &claims, false).await?;
        let sub = claims["sub"].as_str().unwrap_or_default();
        let end = claims.get("exp").and_then(Value::as_f64).unwrap_or(0.0);
        let ends = (end * 1000.0) as Millis;
        let client = ["client_id", "azp", "cid", "appid"]
            .into_iter()
            .find_map(|name| claims.get(name)?.as_str())
            .filter(|client| client.len() <= 200);
        let sound = Arc::new(Sound {
            user: user.id,
            subject: full_subject(&provider.settings, sub),
            audience,
            scopes: scopes_of(&claims).unwrap_or(tokens.scopes),
            client: client
                .map_or_else(|| "oauth".into(), |client| format!("oauth:{client}").into()),
            ends,
            until: (now + BELIEVED_MS).min(ends),
            claims: Arc::new(claims),
        });
        provider.shown.keep(hash_of(token), Arc::clone(&sound), now);
        Ok(sound)
    }

    /// As they are now: a user who was removed, or is somebody else's by now, is let in no more.
    fn of_sound(&self, sound: &Sound) -> Result<Arc<Caller>> {
        let access = self.access.load();
        let user = access.user(sound.user).filter(|user| {
            user.deleted_at.is_none() && user.oidc_subject.as_ref() == Some(&sound.subject)
        });
        let user = user.ok_or_else(|| {
            Error::Forbidden("Nobody here is linked to this token any more".to_owned())
        })?;
        let mut caller = Caller::of_user(user.id, &user.name, role_of(user), Transport::Rest);
        caller.scopes = sound.scopes.within(caller.scopes);
        caller.key = Some(Arc::clone(&sound.client));
        caller.until = Some(sound.ends);
        caller.claims = Some(Arc::clone(&sound.claims));
        Ok(Arc::new(caller))
    }
}

/// The scopes of ours that a token names. None where it names none of them.
fn scopes_of(claims: &Map<String, Value>) -> Option<Scopes> {
    let named: Vec<&str> = match claims.get("scope").or_else(|| claims.get("scp")) {
        Some(Value::String(text)) => text.split_whitespace().collect(),
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let ours: Vec<&str> = named
        .into_iter()
        .filter_map(|name| name.strip_prefix(SCOPE_PREFIX))
        .collect();
    (!ours.is_empty()).then(|| ours.into_iter().filter_map(Scope::from_name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_scopes_of_ours_count() {
        let names = |value: Value| {
            let claims = value.as_object().unwrap().clone();
            scopes_of(&claims).map(|scopes| scopes.names().join(","))
        };
        let both = json!({"scope": "openid toolcrib:call toolcrib:read profile"});
        assert_eq!(names(both).as_deref(), Some("read,call"));
        assert_eq!(
            names(json!({"scp": ["toolcrib:admin"]})).as_deref(),
            Some("admin")
        );
        // Named, and nothing that we know: that is nothing, not what others get.
        assert_eq!(
            names(json!({"scope": "toolcrib:king"})).as_deref(),
            Some("")
        );
        assert_eq!(names(json!({"scope": "openid admin"})), None);
        assert_eq!(names(json!({})), None);
    }

    #[test]
    fn what_only_begins_like_this_server_is_another() {
        let tokens = AccessTokens {
            audience: "api://crib".to_owned(),
            scopes: Scopes::default(),
        };
        let is_ours = |one: &str, own: Option<&str>| {
            tokens.check_audience(&["x".to_owned(), one.to_owned()], own)
        };
        let own = Some("https://tools.example.com/");
        for ours in [
            "https://tools.example.com",
            "https://tools.example.com/mcp/a",
            "api://crib",
        ] {
            assert!(is_ours(ours, own).is_ok(), "{ours}");
        }
        for other in [
            "https://tools.example.com.evil/mcp",
            "https://tools.example.co",
            "api://crib/",
            "",
        ] {
            assert!(is_ours(other, own).is_err(), "{other}");
        }
        assert!(is_ours("https://tools.example.com", None).is_err());
    }

    #[test]
    fn what_was_shown_is_forgotten() {
        let shown = Shown::default();
        let sound = |until| {
            Arc::new(Sound {
                user: Uuid::nil(),
                subject: String::new(),
                audience: Vec::new(),
                scopes: Scopes::default(),
                client: "oauth".into(),
                ends: until,
                until,
                claims: Arc::default(),
            })
        };
        shown.keep([1; 32], sound(10), 0);
        assert!(shown.get(&[1; 32], 9).is_some() && shown.get(&[1; 32], 10).is_none());
        for number in 0..SHOWN_MAX {
            let mut hash = [2; 32];
            hash[..8].copy_from_slice(&number.to_le_bytes());
            shown.keep(hash, sound(100), 20);
        }
        assert!(shown.0.lock().unwrap().len() <= SHOWN_MAX);
    }
}
