//! What the configuration says about an identity provider, and whether its keys fit each other.

use super::Config;
use app::oidc::{AccessTokens, NewUsers, Settings};
use catalog::caller::{Role, Scope, Scopes};

impl Config {
    /// None where nobody logs in elsewhere.
    pub(crate) fn oidc(&self) -> Result<Option<Settings>, Vec<String>> {
        let issuer = self.text("oidc.issuer");
        if issuer.is_empty() {
            return Ok(None);
        }
        let mut problems = Vec::new();
        for key in ["oidc.client_id", "oidc.name_claim"] {
            if self.text(key).is_empty() {
                problems.push(format!("{key}: it is needed where oidc.issuer is set"));
            }
        }
        if !self.listen().ip().is_loopback() && self.text("server.url").is_empty() {
            problems.push(format!(
                "server.url: the identity provider at {issuer} must know where to send browsers back to; set it, such as \"https://tools.example.com\""
            ));
        }
        let mut roles = Vec::new();
        for entry in self.names("oidc.roles") {
            let (group, role) = entry.rsplit_once('=').unwrap_or_default();
            match Role::from_name(role.trim()) {
                Some(role) if !group.trim().is_empty() => {
                    roles.push((group.trim().to_owned(), role))
                }
                _ => problems.push(format!(
                    "oidc.roles: expected GROUP=ROLE with the role {}, got '{entry}'",
                    Role::ALL.map(Role::as_str).join(", ")
                )),
            }
        }
        let new_users = match self.text("oidc.new_users") {
            "none" => NewUsers::None,
            "groups" => NewUsers::ByGroup,
            role => Role::from_name(role).map_or(NewUsers::None, NewUsers::As),
        };
        if new_users == NewUsers::ByGroup && roles.is_empty() {
            problems.push(
                "oidc.roles: it is needed where oidc.new_users is \"groups\"; say which group has which role".to_owned(),
            );
        }
        let tokens = self.access_tokens(&mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let secret = self.text("oidc.client_secret");
        Ok(Some(Settings {
            issuer: issuer.to_owned(),
            client_id: self.text("oidc.client_id").to_owned(),
            client_secret: Some(secret.to_owned()).filter(|secret| !secret.is_empty()),
            scopes: self.names("oidc.scopes"),
            name_claim: self.text("oidc.name_claim").to_owned(),
            new_users,
            roles_claim: self.text("oidc.roles_claim").to_owned(),
            roles,
            tokens,
        }))
    }
}

impl Config {
    fn access_tokens(&self, problems: &mut Vec<String>) -> Option<AccessTokens> {
        if !self.yes("oidc.access_tokens") {
            return None;
        }
        let audience = self.text("oidc.audience");
        if !audience.is_empty() && audience == self.text("oidc.client_id") {
            problems.push(
                "oidc.audience: it must not be oidc.client_id, or a token for a login would do as a key".to_owned(),
            );
        }
        let (url, client) = (self.text("server.url"), self.text("oidc.client_id"));
        if !url.is_empty() && client.starts_with(url.trim_end_matches('/')) {
            problems.push(
                "oidc.client_id: it must not begin like server.url, or a token for a login would do as a key".to_owned(),
            );
        }
        let mut scopes = Scopes::default();
        for name in self.names("oidc.token_scopes") {
            match Scope::from_name(&name) {
                Some(scope) => scopes = scopes.with(scope),
                None => problems.push(format!(
                    "oidc.token_scopes: expected {}, got '{name}'",
                    Scope::ALL.map(Scope::as_str).join(", ")
                )),
            }
        }
        Some(AccessTokens {
            audience: audience.to_owned(),
            scopes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::NewUsers;
    use crate::config::{Config, Environment, Sources};

    fn load(pairs: &[(&str, &str)]) -> Result<Config, Vec<String>> {
        let sources = Sources {
            environment: Environment::of(pairs),
            ..Sources::default()
        };
        Config::load(&sources).map_err(|invalid| invalid.problems)
    }

    #[test]
    fn every_key_that_does_not_fit_the_others_is_named() {
        let problems = load(&[
            ("TOOLCRIB_OIDC_ISSUER", "https://id.example"),
            ("TOOLCRIB_OIDC_ROLES", "platform=admin,makers,x=king"),
            ("TOOLCRIB_SERVER_LISTEN", "0.0.0.0:8787"),
        ])
        .unwrap_err();
        let text = problems.join("\n");
        for part in [
            "oidc.client_id: it is needed",
            "server.url: ",
            "got 'makers'",
            "got 'x=king'",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(problems.len(), 4, "{text}");
    }

    #[test]
    fn secrets_go_to_no_address_in_the_open() {
        for bad in [
            "http://id.example",
            "id.example",
            "https://",
            "https://a b",
            "https://a@b/",
        ] {
            let problems = load(&[("TOOLCRIB_OIDC_ISSUER", bad)]).unwrap_err();
            assert!(problems[0].contains("https://"), "{bad}: {problems:?}");
        }
        let fine = load(&[
            ("TOOLCRIB_OIDC_ISSUER", "http://127.0.0.1:9400"),
            ("TOOLCRIB_OIDC_CLIENT_ID", "crib"),
            ("TOOLCRIB_OIDC_ROLES", "a=b=author"),
        ])
        .unwrap();
        let settings = fine.oidc().unwrap().unwrap();
        assert_eq!(settings.roles[0].0, "a=b");
        assert!(settings.new_users == NewUsers::None && settings.client_secret.is_none());
        assert!(load(&[]).unwrap().oidc().unwrap().is_none());
    }
}
