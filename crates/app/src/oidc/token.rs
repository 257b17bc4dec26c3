//! A token of the provider's: its signature by one of the provider's keys, and what it must say to be about this login or
//! for this server.

use catalog::tool::Millis;
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use serde_json::{Map, Value};

/// How far the provider's clock may be from ours.
const LEEWAY_SECONDS: i64 = 60;

/// Only signatures that the provider alone can make: with a shared secret anybody who can check could also sign.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// What a token must be about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) purpose: Purpose<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// An ID token, for one login.
    Login { client_id: &'a str, nonce: &'a str },
    /// An access token; for whom it was made is looked at each time it is shown.
    Access,
}

pub(super) fn header(token: &str) -> Result<Header, &'static str> {
    let header = decode_header(token).map_err(|_| "it is not a signed token")?;
    if !ALGORITHMS.contains(&header.alg) {
        return Err("it is signed in a way that is not accepted");
    }
    Ok(header)
}

/// The key that a token names; where it names none, the only one there is.
pub(super) fn key_for<'a>(keys: &'a JwkSet, header: &Header) -> Option<&'a Jwk> {
    let mut fit = keys.keys.iter().filter(|key| {
        let signs = key.common.public_key_use.as_ref();
        let named = header.kid.is_none() || key.common.key_id == header.kid;
        named && signs.is_none_or(|signs| *signs == PublicKeyUse::Signature)
    });
    let found = fit.next()?;
    (header.kid.is_some() || fit.next().is_none()).then_some(found)
}

/// The claims of a token that is sound in every way.
pub(super) fn verify(
    token: &str,
    header: &Header,
    key: &Jwk,
    expected: Expected<'_>,
    now: Millis,
) -> Result<Map<String, Value>, &'static str> {
    let signed_wrong = "its signature is not the provider's";
    let key = DecodingKey::from_jwk(key).map_err(|_| signed_wrong)?;
    // Only the signature: what it says is looked at below, by our own clock.
    let mut validation = Validation::new(header.alg);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.validate_aud = false;
    let decoded = decode::<Map<String, Value>>(token, &key, &validation);
    let claims = decoded.map_err(|_| signed_wrong)?.claims;
    check(&claims, expected, now.div_euclid(1000))?;
    Ok(claims)
}

fn check(
    claims: &Map<String, Value>,
    expected: Expected<'_>,
    now: i64,
) -> Result<(), &'static str> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    let time = |name: &str| claims.get(name).and_then(Value::as_f64).map(|t| t as i64);
    if text("iss") != Some(expected.issuer) {
        return Err("another provider has made it");
    }
    if let Purpose::Login { client_id, nonce } = expected.purpose {
        let audience = audience(claims);
        let for_us = audience.contains(&client_id);
        let for_others = audience.iter().any(|one| *one != client_id);
        let party = text("azp");
        if !for_us || (for_others && party.is_none()) || party.is_some_and(|p| p != client_id) {
            return Err("it was made for somebody else");
        }
        if text("nonce") != Some(nonce) {
            return Err("it belongs to another login");
        }
    } else if ["nonce", "at_hash", "c_hash"]
        .iter()
        .any(|only| claims.contains_key(*only))
    {
        return Err("it is a token for a login, not for access");
    }
    let end = time("exp").ok_or("it does not say when it ends")?;
    if end.saturating_add(LEEWAY_SECONDS) <= now {
        return Err("it has expired; the clocks of both servers must be right");
    }
    let begin = time("nbf").or_else(|| time("iat")).unwrap_or(now);
    if begin > now + LEEWAY_SECONDS {
        return Err("it is from the future; the clocks of both servers must be right");
    }
    check_subject(text("sub").unwrap_or_default())
}

/// What an access token may call itself.
pub(super) fn check_type(header: &Header) -> Result<(), &'static str> {
    let known = ["jwt", "at+jwt", "application/at+jwt"];
    let fits = |typ: &String| known.contains(&typ.to_ascii_lowercase().as_str());
    match header.typ.as_ref().is_none_or(fits) {
        true => Ok(()),
        false => Err("it is no access token"),
    }
}

/// For whom a token was made. What is no text is nobody we could be.
pub(super) fn audience(claims: &Map<String, Value>) -> Vec<&str> {
    match claims.get("aud") {
        Some(Value::Array(many)) => many.iter().map(|one| one.as_str().unwrap_or("")).collect(),
        Some(one) => one.as_str().into_iter().collect(),
        None => Vec::new(),
    }
}

/// As the standard bounds it.
pub(super) fn check_subject(sub: &str) -> Result<(), &'static str> {
    let plain = |c: char| c.is_ascii() && !c.is_ascii_control();
    if (1..=255).contains(&sub.len()) && sub.chars().all(plain) {
        return Ok(());
    }
    Err("a subject has 1 to 255 ASCII characters")
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonwebtoken::{EncodingKey, encode};
    use serde_json::json;

    const NOW: i64 = 1_800_000_000;
    const EXPECTED: Expected<'_> = Expected {
        issuer: "https://id.example",
        purpose: Purpose::Login {
            client_id: "crib",
            nonce: "n",
        },
    };

    /// An Ed25519 key from a seed, in the wrapping that the standard gives it.
    fn key(seed: u8) -> EncodingKey {
        let mut der = vec![
            0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
        ];
        der.extend([seed; 32]);
        EncodingKey::from_ed_der(&der)
    }

    fn jwk(seed: u8, kid: Option<&str>) -> Jwk {
        let mut jwk = Jwk::from_encoding_key(&key(seed), Algorithm::EdDSA).unwrap();
        jwk.common.key_id = kid.map(str::to_owned);
        jwk
    }

    fn good() -> Value {
        json!({"iss": "https://id.example", "aud": "crib", "nonce": "n", "sub": "42", "exp": NOW + 60, "iat": NOW})
    }

    fn token(seed: u8, claims: &Value) -> String {
        encode(&Header::new(Algorithm::EdDSA), claims, &key(seed)).unwrap()
    }

    fn read(token: &str) -> Result<Map<String, Value>, &'static str> {
        verify(token, &header(token)?, &jwk(7, None), EXPECTED, NOW * 1000)
    }

    #[test]
    fn a_sound_token_is_taken() {
        assert_eq!(read(&token(7, &good())).unwrap()["sub"], "42");
        let mut several = good();
        several["aud"] = json!(["crib", "other"]);
        assert!(read(&token(7, &several)).is_err(), "for whom was it made?");
        several["azp"] = json!("crib");
        assert!(read(&token(7, &several)).is_ok());
    }

    #[test]
    fn every_other_token_is_refused() {
        for (name, value) in [
            ("iss", json!("https://id.example/")),
            ("iss", Value::Null),
            ("aud", json!("other")),
            ("aud", json!([])),
            ("aud", Value::Null),
            ("azp", json!("other")),
            ("nonce", json!("m")),
            ("nonce", Value::Null),
            ("exp", json!(NOW - 60)),
            ("exp", Value::Null),
            ("exp", json!("tomorrow")),
            ("iat", json!(NOW + 61)),
            ("nbf", json!(NOW + 61)),
            ("sub", json!("")),
            ("sub", json!("a\u{0}b")),
            ("sub", json!("x".repeat(256))),
            ("sub", json!(42)),
        ] {
            let mut claims = good();
            claims[name] = value.clone();
            assert!(read(&token(7, &claims)).is_err(), "{name}: {value}");
        }
    }

    #[test]
    fn a_token_for_a_login_gives_no_access() {
        let expected = Expected {
            purpose: Purpose::Access,
            ..EXPECTED
        };
        let read = |claims: &Value| {
            let text = token(7, claims);
            verify(&text, &header(&text)?, &jwk(7, None), expected, NOW * 1000)
        };
        assert!(read(&good()).is_err());
        let mut access = good();
        access.as_object_mut().unwrap().remove("nonce");
        assert!(read(&access).is_ok());
        access["at_hash"] = json!("x");
        assert!(read(&access).is_err());
        let named = |typ: Option<&str>| {
            let typ = typ.map(str::to_owned);
            check_type(&Header {
                typ,
                ..Header::new(Algorithm::EdDSA)
            })
        };
        assert!(named(None).is_ok() && named(Some("at+JWT")).is_ok());
        assert!(named(Some("logout+jwt")).is_err());
    }

    #[test]
    fn only_the_providers_signature_counts() {
        assert!(read(&token(8, &good())).is_err(), "another key");
        let sound = token(7, &good());
        let parts: Vec<&str> = sound.split('.').collect();
        let [head, body, signature] = parts[..] else {
            panic!("{sound}")
        };
        let changed = token(8, &good());
        let changed = changed.rsplit_once('.').unwrap().1;
        assert!(read(&format!("{head}.{body}.{changed}")).is_err());
        assert!(read(&format!("{head}.{body}.")).is_err());
        assert!(read(&format!("{head}.{body}")).is_err());
        assert!(read("").is_err());
        // {"alg":"none"}
        assert!(read(&format!("eyJhbGciOiJub25lIn0.{body}.")).is_err());
        assert!(read(&format!("eyJhbGciOiJub25lIn0.{body}.{signature}")).is_err());
        // Signed with the public key as if it were a shared secret.
        let public = serde_json::to_vec(&jwk(7, None)).unwrap();
        let shared = EncodingKey::from_secret(&public);
        let forged = encode(&Header::new(Algorithm::HS256), &good(), &shared).unwrap();
        assert!(read(&forged).is_err());
    }

    #[test]
    fn the_key_is_the_one_that_is_named() {
        let set = |keys: Vec<Jwk>| JwkSet { keys };
        let named = |kid: Option<&str>| Header {
            kid: kid.map(str::to_owned),
            ..Header::new(Algorithm::EdDSA)
        };
        let two = set(vec![jwk(1, Some("a")), jwk(2, Some("b"))]);
        let found = key_for(&two, &named(Some("b"))).unwrap();
        assert_eq!(found.common.key_id.as_deref(), Some("b"));
        assert!(key_for(&two, &named(Some("c"))).is_none());
        assert!(key_for(&two, &named(None)).is_none(), "which one?");
        let one = set(vec![jwk(1, None)]);
        assert!(key_for(&one, &named(None)).is_some());
        let mut other_use = jwk(1, None);
        other_use.common.public_key_use = Some(PublicKeyUse::Encryption);
        assert!(key_for(&set(vec![other_use]), &named(None)).is_none());
    }
}
