//! Logging in through an identity provider (OpenID Connect, code flow with PKCE). Nothing is kept between the two
//! steps: the browser carries one secret in a cookie, and everything the answer must match is derived from it.

mod access;
mod provider;
mod token;

pub use access::{SCOPE_PREFIX, TokenOffer};
pub(crate) use provider::Provider;
pub use provider::is_address;

use crate::App;
use crate::access::role_of;
use crate::audit::act;
use crate::decided::Known;
use crate::error::{Error, Result};
use crate::keys::random_secret;
use crate::login::{FailedLogin, NewSession, nobody};
use crate::throttle::Guesser;
use crate::users::{check_name, new_user, shape, target};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use catalog::caller::{Caller, Role, Scopes, Transport};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use store::Write;
use store::users::UserRow;
use subtle::ConstantTimeEq;

/// How long the browser keeps its secret: long enough to log in over there.
pub const BEGUN_SECONDS: i64 = 600;

/// What the configuration says about the identity provider.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Its address, exactly as it names itself.
    pub issuer: String,
    pub client_id: String,
    /// None for a public client.
    pub client_secret: Option<String>,
    /// Asked for besides `openid`.
    pub scopes: Vec<String>,
    /// Which claim names a user who comes for the first time.
    pub name_claim: String,
    pub new_users: NewUsers,
    /// Which claim lists a user's groups.
    pub roles_claim: String,
    /// Group and role. With any, the role follows the groups at every login.
    pub roles: Vec<(String, Role)>,
    /// Where its access tokens are taken in place of keys.
    pub tokens: Option<AccessTokens>,
}

/// How access tokens are taken.
#[derive(Debug, Clone)]
pub struct AccessTokens {
    /// What they call this server besides its own address. Empty is nothing else.
    pub audience: String,
    /// What a token may do that names none of our scopes.
    pub scopes: Scopes,
}

/// What becomes of somebody who comes for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewUsers {
    /// Only those come in whom an admin has linked.
    None,
    /// Those come in whose groups have a role.
    ByGroup,
    /// Everybody comes in, with this role unless their groups have one.
    As(Role),
}

/// Where a browser goes next, and the secret it must bring back.
pub struct Begun {
    pub location: String,
    pub secret: String,
}

/// What the provider sent the browser back with.
pub struct Answer<'a> {
    /// From the cookie.
    pub secret: &'a str,
    pub state: &'a str,
    pub code: &'a str,
    /// The same address the browser was sent away with.
    pub redirect_url: &'a str,
    /// Where the request came from.
    pub from: Option<IpAddr>,
}

/// What goes with one login, derived from the browser's secret.
struct Question {
    state: String,
    nonce: String,
    verifier: String,
}

impl Question {
    fn of(secret: &str) -> Self {
        let part = |name: &str| encoded(&Sha256::digest(format!("{name} {secret}").as_bytes()));
        Question {
            state: part("state"),
            nonce: part("nonce"),
            verifier: part("verifier"),
        }
    }

    fn challenge(&self) -> String {
        encoded(&Sha256::digest(self.verifier.as_bytes()))
    }
}

fn encoded(bytes: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

impl App {
    pub fn has_oidc(&self) -> bool {
        self.oidc.is_some()
    }

    fn provider(&self) -> Result<&Provider> {
        let none = || Error::NotFound {
            what: "Login",
            name: "oidc".to_owned(),
        };
        self.oidc.as_ref().ok_or_else(none)
    }

    /// Sends a browser to the provider.
    pub async fn begin_oidc(&self, redirect_url: &str) -> Result<Begun> {
        let provider = self.provider()?;
        let _turn = provider.turn()?;
        let secret = random_secret()?;
        let question = Question::of(&secret);
        let mut scopes = vec!["openid"];
        scopes.extend(provider.settings.scopes.iter().map(String::as_str));
        let query = [
            ("response_type", "code"),
            ("client_id", &provider.settings.client_id),
            ("redirect_uri", redirect_url),
            ("scope", &scopes.join(" ")),
            ("state", &question.state),
            ("nonce", &question.nonce),
            ("code_challenge", &question.challenge()),
            ("code_challenge_method", "S256"),
        ];
        let location = provider.authorization_url(&query).await?;
        Ok(Begun { location, secret })
    }

    /// Lets in whom the provider vouches for.
    pub async fn finish_oidc(&self, answer: &Answer<'_>) -> Result<NewSession> {
        let guesser = Guesser::at(answer.from);
        self.may_follow_link(guesser)?;
        let done = self.vouched_for(answer).await;
        if let Err(Error::Unauthenticated(_) | Error::Forbidden(_)) = &done {
            let telling = self.throttle.wrong_link(guesser, self.clock.now());
            let failed = FailedLogin {
                how: "oidc",
                who: &nobody(),
                guesser,
                user: None,
            };
            self.tell_failed_login(&failed, telling).await;
        }
        done
    }

    async fn vouched_for(&self, answer: &Answer<'_>) -> Result<NewSession> {
        let provider = self.provider()?;
        let question = Question::of(answer.secret);
        if !bool::from(question.state.as_bytes().ct_eq(answer.state.as_bytes())) {
            return Err(Error::Unauthenticated(
                "This answer belongs to another login; begin again".to_owned(),
            ));
        }
        let _turn = provider.turn()?;
        let id_token = provider
            .exchange(answer.code, answer.redirect_url, &question.verifier)
            .await?;
        let now = self.clock.now();
        let claims = provider.claims(&id_token, &question.nonce, now).await?;
        let user = self.oidc_user(&provider.settings, &claims, true).await?;
        self.open_session(&user, "login.oidc").await
    }

    /// The user behind the claims: known by subject, or made now where the configuration says so.
    async fn oidc_user(
        &self,
        settings: &Settings,
        claims: &Map<String, Value>,
        tells_groups: bool,
    ) -> Result<UserRow> {
        self.decided(&self.access_changes, None, |known| {
            self.user_behind(settings, claims, tells_groups, known)
        })
        .await
    }

    async fn user_behind(
        &self,
        settings: &Settings,
        claims: &Map<String, Value>,
        tells_groups: bool,
        known: Known,
    ) -> Result<UserRow> {
        let sub = claims["sub"].as_str().unwrap_or_default();
        let subject = full_subject(settings, sub);
        let access = self.access.load_full();
        let mut people = access.people();
        match people.find(|user| user.oidc_subject.as_ref() == Some(&subject)) {
            Some(user) if user.deleted_at.is_some() => Err(Error::Forbidden(
                "You were removed from this server; an admin can bring you back".to_owned(),
            )),
            Some(user) if tells_groups => {
                let user = user.clone();
                self.follow_groups(settings, claims, user, known).await
            }
            Some(user) => Ok(user.clone()),
            None => self.first_visit(settings, claims, subject, known).await,
        }
    }

    async fn follow_groups(
        &self,
        settings: &Settings,
        claims: &Map<String, Value>,
        mut user: UserRow,
        known: Known,
    ) -> Result<UserRow> {
        let Some(role) = role_by_groups(settings, claims)? else {
            return Ok(user);
        };
        if role == role_of(&user) {
            return Ok(user);
        }
        if let Err(error) = self.keep_an_admin(&user) {
            // Who comes in must be able to undo whatever made it so.
            tracing::warn!(%error, "the groups of the last admin make them no admin any more");
            return Ok(user);
        }
        let (before, now) = (shape(&user), self.clock.now());
        user.role = role.as_str().to_owned();
        user.updated_at = now;
        self.store_user(&user, "user.update", Some(before), known)
            .await?;
        Ok(user)
    }

    async fn first_visit(
        &self,
        settings: &Settings,
        claims: &Map<String, Value>,
        subject: String,
        known: Known,
    ) -> Result<UserRow> {
        let sub = claims["sub"].as_str().unwrap_or_default();
        let role = match settings.new_users {
            NewUsers::None => None,
            NewUsers::ByGroup => role_by_groups(settings, claims)?,
            NewUsers::As(role) => role_by_groups(settings, claims)?.or(Some(role)),
        };
        let role = role.ok_or_else(|| {
            Error::Forbidden(format!(
                "Nobody here is linked to you. An admin can do it: `toolcrib users update NAME --oidc-subject {sub}`"
            ))
        })?;
        let name = name_from(settings, claims)?;
        if let Some(taken) = self.taken(&name) {
            return Err(Error::Forbidden(format!(
                "There is a user named '{name}' already who is not linked to you. An admin can do it: `toolcrib users update {name} --oidc-subject {sub}`",
                name = taken.name
            )));
        }
        let mut user = new_user(&name, role, self.clock.now());
        user.oidc_subject = Some(subject);
        self.store_user(&user, "user.create", None, known).await?;
        Ok(user)
    }

    /// The user did it themselves, by logging in.
    async fn store_user(
        &self,
        user: &UserRow,
        how: &str,
        before: Option<Value>,
        known: Known,
    ) -> Result<()> {
        let who = Caller::of_user(user.id, &user.name, role_of(user), Transport::Page);
        let after = Some(shape(user));
        let done = act(user.updated_at, &who, how, target(user), before, after);
        let writes = vec![Write::User(user.clone()), done];
        self.commit_access(known, writes).await
    }

    /// What is stored for a subject that an admin names: alone, it is one of the configured provider's.
    pub(crate) fn oidc_subject(&self, named: &str) -> Result<String> {
        let provider = self.oidc.as_ref().ok_or_else(|| {
            Error::invalid(
                "oidc_subject: there is no identity provider; set oidc.issuer in toolcrib.toml",
            )
        })?;
        let prefix = full_subject(&provider.settings, "");
        let sub = named.strip_prefix(&prefix).unwrap_or(named);
        token::check_subject(sub).map_err(|why| Error::invalid(format!("oidc_subject: {why}")))?;
        Ok(format!("{prefix}{sub}"))
    }
}

/// Whether the provider can be used, and if not, why. For whoever runs the server.
pub async fn probe(settings: Settings) -> Result<(), String> {
    Provider::new(settings).probe().await
}

/// Subjects are the provider's own: another one may give the same to somebody else.
fn full_subject(settings: &Settings, sub: &str) -> String {
    format!("{}|{sub}", settings.issuer)
}

/// The highest role of the user's groups. None where roles do not follow groups.
fn role_by_groups(settings: &Settings, claims: &Map<String, Value>) -> Result<Option<Role>> {
    if settings.roles.is_empty() {
        return Ok(None);
    }
    let groups = match claims.get(&settings.roles_claim) {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let given = settings
        .roles
        .iter()
        .filter(|(group, _)| groups.contains(&group.as_str()));
    let rank = |role: &Role| Role::ALL.iter().position(|known| known == role);
    let best = given.map(|(_, role)| *role).max_by_key(rank);
    match (best, settings.new_users) {
        (Some(role), _) | (None, NewUsers::As(role)) => Ok(Some(role)),
        (None, _) => Err(Error::Forbidden(
            "None of your groups is let in; ask whoever runs this server".to_owned(),
        )),
    }
}

fn name_from(settings: &Settings, claims: &Map<String, Value>) -> Result<String> {
    let claim = settings.name_claim.as_str();
    let name = claims.get(claim).and_then(Value::as_str).ok_or_else(|| {
        Error::Forbidden(format!(
            "The identity provider told no '{claim}' to name you by; whoever runs this server can set oidc.name_claim or oidc.scopes"
        ))
    })?;
    if claim == "email" && claims.get("email_verified") == Some(&Value::Bool(false)) {
        return Err(Error::Forbidden(
            "The identity provider has not verified your email address".to_owned(),
        ));
    }
    check_name(name).map_err(|why| Error::Forbidden(format!("You cannot be named here. {why}")))?;
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings() -> Settings {
        Settings {
            issuer: "https://id.example".to_owned(),
            client_id: "crib".to_owned(),
            client_secret: None,
            scopes: Vec::new(),
            name_claim: "email".to_owned(),
            new_users: NewUsers::None,
            roles_claim: "groups".to_owned(),
            roles: vec![
                ("staff".to_owned(), Role::Viewer),
                ("platform".to_owned(), Role::Admin),
                ("makers".to_owned(), Role::Author),
            ],
            tokens: None,
        }
    }

    fn claims(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(members) => members,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn the_highest_role_of_the_groups_counts() {
        let role = |groups: Value| role_by_groups(&settings(), &claims(json!({"groups": groups})));
        assert_eq!(
            role(json!(["staff", "makers"])).unwrap(),
            Some(Role::Author)
        );
        assert_eq!(
            role(json!(["makers", "platform", 7])).unwrap(),
            Some(Role::Admin)
        );
        assert_eq!(role(json!("staff")).unwrap(), Some(Role::Viewer));
        assert!(role(json!(["others"])).is_err());
        assert!(role(Value::Null).is_err());
        let mut kind = settings();
        kind.new_users = NewUsers::As(Role::Viewer);
        assert_eq!(
            role_by_groups(&kind, &Map::new()).unwrap(),
            Some(Role::Viewer)
        );
        kind.roles.clear();
        assert_eq!(role_by_groups(&kind, &Map::new()).unwrap(), None);
    }

    #[test]
    fn a_name_is_one_of_ours_and_verified() {
        let name = |value: Value| name_from(&settings(), &claims(value));
        assert_eq!(
            name(json!({"email": "kim@example.com"})).unwrap(),
            "kim@example.com"
        );
        assert!(name(json!({"email": "kim@example.com", "email_verified": false})).is_err());
        assert!(name(json!({"email": "system"})).is_err());
        assert!(name(json!({"email": "a b"})).is_err());
        assert!(name(json!({"sub": "1"})).is_err());
    }

    #[test]
    fn each_part_of_a_question_is_its_own() {
        let (one, other) = (Question::of("a"), Question::of("b"));
        assert_ne!(one.state, one.nonce);
        assert_ne!(one.nonce, one.verifier);
        assert_ne!(one.state, other.state);
        assert_eq!(one.verifier.len(), 43, "as RFC 7636 asks");
    }
}
