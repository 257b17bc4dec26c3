//! What a sign-in came to: the token, how the next one is had, and for whom. Kept as one sealed text.

use crate::Result;
use crate::error::Error;
use crate::registration::{AuthMethod, Registered};
use catalog::secret::Secret;
use catalog::tool::Millis;
use serde::{Deserialize, Serialize};

/// How much earlier than at its end a token is renewed, at most.
const EARLY_MS: Millis = 60_000;

/// A token with everything that belongs to it. `Debug` shows none of the secrets in it.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The address of the server that it is for; it is shown to no other.
    pub server_url: String,
    pub resource: String,
    pub issuer: String,
    pub token_endpoint: String,
    pub client: Registered,
    pub access_token: Secret,
    pub refresh_token: Option<Secret>,
    pub scopes: Vec<String>,
    pub obtained_at: Millis,
    pub expires_at: Option<Millis>,
}

/// The same as it is written down.
#[derive(Serialize, Deserialize)]
struct Written {
    server_url: String,
    resource: String,
    issuer: String,
    token_endpoint: String,
    client: WrittenClient,
    access_token: String,
    refresh_token: Option<String>,
    scopes: Vec<String>,
    obtained_at: Millis,
    expires_at: Option<Millis>,
}

#[derive(Serialize, Deserialize)]
struct WrittenClient {
    client_id: String,
    client_secret: Option<String>,
    method: String,
    expires_at: Option<Millis>,
}

impl Grant {
    /// From when on it is better to ask for another one.
    pub fn renew_at(&self) -> Option<Millis> {
        let ends = self.expires_at?;
        let early = ((ends - self.obtained_at) / 5).clamp(0, EARLY_MS);
        Some(ends - early)
    }

    /// The text to seal.
    pub fn to_secret(&self) -> Result<Secret> {
        let plain = |secret: &Secret| secret.expose().to_owned();
        let written = Written {
            server_url: self.server_url.clone(),
            resource: self.resource.clone(),
            issuer: self.issuer.clone(),
            token_endpoint: self.token_endpoint.clone(),
            client: written(&self.client),
            access_token: plain(&self.access_token),
            refresh_token: self.refresh_token.as_ref().map(plain),
            scopes: self.scopes.clone(),
            obtained_at: self.obtained_at,
            expires_at: self.expires_at,
        };
        text(&written)
    }

    pub fn from_secret(text: &Secret) -> Result<Self> {
        let written: Written = read(text)?;
        Ok(Grant {
            server_url: written.server_url,
            resource: written.resource,
            issuer: written.issuer,
            token_endpoint: written.token_endpoint,
            client: client(written.client)?,
            access_token: Secret::new(written.access_token),
            refresh_token: written.refresh_token.map(Secret::new),
            scopes: written.scopes,
            obtained_at: written.obtained_at,
            expires_at: written.expires_at,
        })
    }
}

impl Registered {
    /// The text to seal.
    pub fn to_secret(&self) -> Result<Secret> {
        text(&written(self))
    }

    pub fn from_secret(text: &Secret) -> Result<Self> {
        client(read(text)?)
    }
}

fn written(client: &Registered) -> WrittenClient {
    let secret = client.client_secret.as_ref();
    WrittenClient {
        client_id: client.client_id.clone(),
        client_secret: secret.map(|secret| secret.expose().to_owned()),
        method: client.method.as_str().to_owned(),
        expires_at: client.expires_at,
    }
}

fn client(written: WrittenClient) -> Result<Registered> {
    Ok(Registered {
        method: AuthMethod::from_name(&written.method).ok_or_else(unreadable)?,
        client_id: written.client_id,
        client_secret: written.client_secret.map(Secret::new),
        expires_at: written.expires_at,
    })
}

fn text(written: &impl Serialize) -> Result<Secret> {
    let text = serde_json::to_string(written).map_err(|_| unreadable())?;
    Ok(Secret::new(text))
}

fn read<T: for<'a> Deserialize<'a>>(text: &Secret) -> Result<T> {
    serde_json::from_str(text.expose()).map_err(|_| unreadable())
}

fn unreadable() -> Error {
    Error::unusable("what is stored of the sign-in cannot be read; sign in again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant() -> Grant {
        Grant {
            server_url: "https://a.example/mcp".to_owned(),
            resource: "https://a.example".to_owned(),
            issuer: "https://id.example".to_owned(),
            token_endpoint: "https://id.example/token".to_owned(),
            client: Registered {
                client_id: "crib".to_owned(),
                client_secret: Some(Secret::new("client-hunter2".to_owned())),
                method: AuthMethod::Post,
                expires_at: None,
            },
            access_token: Secret::new("access-hunter2".to_owned()),
            refresh_token: Some(Secret::new("refresh-hunter2".to_owned())),
            scopes: vec!["a".to_owned()],
            obtained_at: 1_000_000,
            expires_at: Some(4_600_000),
        }
    }

    #[test]
    fn it_is_the_same_after_it_was_written_down() {
        let grant = grant();
        let again = Grant::from_secret(&grant.to_secret().unwrap()).unwrap();
        assert_eq!(again.access_token.expose(), "access-hunter2");
        assert_eq!(
            again.client.client_secret.as_ref().unwrap().expose(),
            "client-hunter2"
        );
        assert_eq!(
            again.to_secret().unwrap().expose(),
            grant.to_secret().unwrap().expose()
        );
        assert!(Grant::from_secret(&Secret::new("{}".to_owned())).is_err());
    }

    #[test]
    fn nothing_secret_is_printed() {
        let shown = format!("{:?} {:#?}", grant(), grant().client);
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn it_is_renewed_a_little_early() {
        let mut grant = grant();
        assert_eq!(grant.renew_at(), Some(4_540_000), "a minute of an hour");
        grant.expires_at = Some(1_010_000);
        assert_eq!(grant.renew_at(), Some(1_008_000), "a fifth of ten seconds");
        grant.expires_at = Some(900_000);
        assert_eq!(grant.renew_at(), Some(900_000), "a clock that went back");
        grant.expires_at = None;
        assert_eq!(grant.renew_at(), None);
    }
}
