//! Sealing: how a secret is stored. Each value has a data key of its own, and a sealing key that is never in the
//! database wraps that one; both are bound to their row, so that an envelope is of no use in another.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use uuid::Uuid;
use zeroize::Zeroizing;

const VERSION: &str = "v1";
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
const KEY_ID_CHARS_MAX: usize = 32;

/// The sealing keys of this server, the newest first: it wraps, all of them open. Not printable, on purpose.
pub struct SealingKeys {
    keys: Vec<(String, XChaCha20Poly1305)>,
}

/// Why a value cannot be sealed or opened. No text holds a key or a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("there is no sealing key")]
    NoKey,
    #[error(
        "'{0}' cannot name a sealing key: expected 1 to {KEY_ID_CHARS_MAX} letters, digits, _ or -"
    )]
    KeyId(String),
    #[error("two different sealing keys have the id '{0}'")]
    Twice(String),
    #[error("it is sealed with the key '{0}', which is not loaded")]
    Missing(String),
    /// Somebody changed it, it was copied from another row, or another key goes by that id.
    #[error(
        "it does not open with the key '{0}': it was changed, moved, or sealed with another key"
    )]
    Refused(String),
    #[error("it is not an envelope of this version")]
    Damaged,
    #[error("there are no random bytes: {0}")]
    Random(String),
}

type Result<T> = std::result::Result<T, SealError>;

impl SealingKeys {
    /// From ids and keys, the newest first.
    pub fn new(keys: Vec<(String, Zeroizing<[u8; KEY_BYTES]>)>) -> Result<Self> {
        if keys.is_empty() {
            return Err(SealError::NoKey);
        }
        for (number, (id, key)) in keys.iter().enumerate() {
            if !is_key_id(id) {
                return Err(SealError::KeyId(id.clone()));
            }
            let mut earlier = keys.iter().take(number);
            if earlier.any(|(other, bytes)| other == id && **bytes != **key) {
                return Err(SealError::Twice(id.clone()));
            }
        }
        let ciphers = keys
            .into_iter()
            .map(|(id, key)| (id, XChaCha20Poly1305::new((&*key).into())));
        Ok(SealingKeys {
            keys: ciphers.collect(),
        })
    }

    /// These keys, and behind them those of `older` that are not among them: what they have sealed still opens.
    #[must_use]
    pub fn and_older(mut self, older: &SealingKeys) -> Self {
        let gone = older.keys.iter().filter(|(id, _)| !self.has(id));
        let gone: Vec<_> = gone.cloned().collect();
        self.keys.extend(gone);
        self
    }

    /// The id of the key that new envelopes are wrapped with.
    pub fn newest(&self) -> &str {
        self.keys.first().map_or("", |(id, _)| id)
    }

    pub fn has(&self, id: &str) -> bool {
        self.keys.iter().any(|(known, _)| known == id)
    }

    /// `v1.<key id>.<wrapped data key>.<nonce>.<ciphertext>` for the row with this id.
    pub fn seal(&self, row: Uuid, value: &str) -> Result<String> {
        let mut data_key = Zeroizing::new([0_u8; KEY_BYTES]);
        fill(&mut *data_key)?;
        let (nonce, sealed) = encrypt(&cipher(&data_key), row, value.as_bytes())?;
        let wrapped = self.wrap(row, &data_key)?;
        Ok(envelope(self.newest(), &wrapped, &nonce, &sealed))
    }

    pub fn open(&self, row: Uuid, envelope: &str) -> Result<Zeroizing<String>> {
        let parts = Parts::of(envelope)?;
        let data_key = self.unwrap(row, &parts)?;
        let refused = || SealError::Refused(parts.key_id.to_owned());
        let bytes = decrypt(&cipher(&data_key), row, &parts.nonce, &parts.sealed);
        let mut bytes = bytes.ok_or_else(refused)?;
        let text = String::from_utf8(std::mem::take(&mut *bytes));
        text.map(Zeroizing::new).map_err(|_| refused())
    }

    /// The same envelope with its data key under the newest sealing key; the sealed value stays as it is.
    pub fn rewrap(&self, row: Uuid, sealed: &str) -> Result<String> {
        let parts = Parts::of(sealed)?;
        let data_key = self.unwrap(row, &parts)?;
        // A value that does not open now must not come out of this looking well.
        if decrypt(&cipher(&data_key), row, &parts.nonce, &parts.sealed).is_none() {
            return Err(SealError::Refused(parts.key_id.to_owned()));
        }
        let wrapped = self.wrap(row, &data_key)?;
        Ok(envelope(
            self.newest(),
            &wrapped,
            &parts.nonce,
            &parts.sealed,
        ))
    }

    /// Nonce and sealed data key, one behind the other.
    fn wrap(&self, row: Uuid, data_key: &[u8; KEY_BYTES]) -> Result<Vec<u8>> {
        let (_, newest) = self.keys.first().ok_or(SealError::NoKey)?;
        let (nonce, sealed) = encrypt(newest, row, data_key)?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    fn unwrap(&self, row: Uuid, parts: &Parts<'_>) -> Result<Zeroizing<[u8; KEY_BYTES]>> {
        let known = self.keys.iter().find(|(id, _)| id == parts.key_id);
        let missing = || SealError::Missing(parts.key_id.to_owned());
        let (_, key) = known.ok_or_else(missing)?;
        let opened = parts
            .wrapped
            .split_at_checked(NONCE_BYTES)
            .and_then(|(nonce, sealed)| decrypt(key, row, nonce, sealed))
            .and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).ok());
        opened
            .map(Zeroizing::new)
            .ok_or_else(|| SealError::Refused(parts.key_id.to_owned()))
    }
}

/// An envelope taken apart.
struct Parts<'e> {
    key_id: &'e str,
    wrapped: Vec<u8>,
    nonce: Vec<u8>,
    sealed: Vec<u8>,
}

impl<'e> Parts<'e> {
    fn of(envelope: &'e str) -> Result<Self> {
        let parts: Vec<&str> = envelope.split('.').collect();
        let &[VERSION, key_id, wrapped, nonce, sealed] = parts.as_slice() else {
            return Err(SealError::Damaged);
        };
        let bytes = |text: &str| {
            let decoded = URL_SAFE_NO_PAD.decode(text);
            decoded.map_err(|_| SealError::Damaged)
        };
        Ok(Parts {
            key_id,
            wrapped: bytes(wrapped)?,
            nonce: bytes(nonce)?,
            sealed: bytes(sealed)?,
        })
    }
}

fn envelope(key_id: &str, wrapped: &[u8], nonce: &[u8], sealed: &[u8]) -> String {
    let [wrapped, nonce, sealed] =
        [wrapped, nonce, sealed].map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
    format!("{VERSION}.{key_id}.{wrapped}.{nonce}.{sealed}")
}

/// A point keeps the parts of an envelope apart, and a colon and a comma those of the configuration.
pub fn is_key_id(id: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    (1..=KEY_ID_CHARS_MAX).contains(&id.len()) && id.bytes().all(fits)
}

fn cipher(key: &[u8; KEY_BYTES]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.into())
}

/// What an envelope belongs to: this column of this row.
fn binding(row: Uuid) -> String {
    format!("secrets|sealed|{row}|{VERSION}")
}

fn encrypt(
    key: &XChaCha20Poly1305,
    row: Uuid,
    bytes: &[u8],
) -> Result<([u8; NONCE_BYTES], Vec<u8>)> {
    let mut nonce = [0_u8; NONCE_BYTES];
    fill(&mut nonce)?;
    let belongs_to = binding(row);
    let payload = Payload {
        msg: bytes,
        aad: belongs_to.as_bytes(),
    };
    let sealed = key.encrypt(&XNonce::from(nonce), payload);
    // Only a text of more than 256 GiB is too long for it.
    let sealed = sealed.map_err(|_| SealError::Damaged)?;
    Ok((nonce, sealed))
}

fn decrypt(
    key: &XChaCha20Poly1305,
    row: Uuid,
    nonce: &[u8],
    sealed: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let nonce = <[u8; NONCE_BYTES]>::try_from(nonce).ok()?;
    let belongs_to = binding(row);
    let payload = Payload {
        msg: sealed,
        aad: belongs_to.as_bytes(),
    };
    let opened = key.decrypt(&XNonce::from(nonce), payload).ok()?;
    Some(Zeroizing::new(opened))
}

fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| SealError::Random(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Uuid = Uuid::from_u128(7);

    fn keys(ids: &[(&str, u8)]) -> SealingKeys {
        let keys = ids
            .iter()
            .map(|(id, byte)| ((*id).to_owned(), Zeroizing::new([*byte; KEY_BYTES])));
        SealingKeys::new(keys.collect()).expect("good keys")
    }

    #[test]
    fn what_was_sealed_opens_in_its_row_only() {
        let keys = keys(&[("k1", 1)]);
        for value in ["?", "열려라 참깨", &"long ".repeat(10_000)] {
            let sealed = keys.seal(ROW, value).expect("sealed");
            assert!(sealed.starts_with("v1.k1.") && !sealed.contains(value));
            assert_eq!(keys.open(ROW, &sealed).expect("opens").as_str(), value);
            let moved = keys.open(Uuid::from_u128(8), &sealed);
            assert_eq!(moved.err(), Some(SealError::Refused("k1".into())));
        }
        let again = |value| keys.seal(ROW, value).expect("sealed");
        assert_ne!(again("same"), again("same"), "nothing is used twice");
    }

    #[test]
    fn a_changed_letter_anywhere_is_noticed() {
        let keys = keys(&[("k1", 1), ("k2", 2)]);
        let sealed = keys.seal(ROW, "tamper with me").expect("sealed");
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).expect("letters");
            assert!(keys.open(ROW, &changed).is_err(), "at {at}");
            assert!(keys.rewrap(ROW, &changed).is_err(), "at {at}");
        }
        for broken in [
            "",
            "v1",
            "v1.k1",
            "v1.k1...",
            "v2.k1.a.b.c",
            "v1.k1.a.b.c.d",
        ] {
            assert!(keys.open(ROW, broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn parts_of_two_envelopes_do_not_fit_together() {
        let keys = keys(&[("k1", 1)]);
        let [one, two] = ["one", "two"].map(|v| keys.seal(ROW, v).expect("sealed"));
        let parts = |sealed: &str| sealed.split('.').map(str::to_owned).collect::<Vec<_>>();
        for part in [2, 3, 4] {
            let mut mixed = parts(&one);
            mixed[part] = parts(&two)[part].clone();
            assert!(keys.open(ROW, &mixed.join(".")).is_err(), "part {part}");
        }
    }

    #[test]
    fn the_missing_key_is_named_and_a_wrong_one_refused() {
        let sealed = keys(&[("old", 1)]).seal(ROW, "value").expect("sealed");
        let missing = keys(&[("new", 2)]).open(ROW, &sealed).err();
        assert_eq!(missing, Some(SealError::Missing("old".into())));
        let wrong = keys(&[("old", 3)]).open(ROW, &sealed).err();
        assert_eq!(wrong, Some(SealError::Refused("old".into())));
    }

    #[test]
    fn rewrapping_changes_the_key_and_not_the_value() {
        let sealed = keys(&[("old", 1)]).seal(ROW, "value").expect("sealed");
        let both = keys(&[("new", 2), ("old", 1)]);
        let rewrapped = both.rewrap(ROW, &sealed).expect("rewrapped");
        let tail = |text: &str| text.splitn(4, '.').last().map(str::to_owned);
        assert_eq!(tail(&rewrapped), tail(&sealed), "nonce and value stay");
        let only_new = keys(&[("new", 2)]);
        assert_eq!(
            only_new.open(ROW, &rewrapped).expect("opens").as_str(),
            "value"
        );
    }

    #[test]
    fn keys_that_cannot_be_told_apart_are_refused() {
        let pair = |id: &str, byte| (id.to_owned(), Zeroizing::new([byte; KEY_BYTES]));
        let of = |keys| SealingKeys::new(keys).err();
        assert_eq!(of(vec![]), Some(SealError::NoKey));
        assert_eq!(
            of(vec![pair("a", 1), pair("a", 2)]),
            Some(SealError::Twice("a".into()))
        );
        assert_eq!(of(vec![pair("a", 1), pair("a", 1)]), None);
        for id in ["", "a.b", "a b", &"x".repeat(33)] {
            assert_eq!(of(vec![pair(id, 1)]), Some(SealError::KeyId(id.into())));
        }
    }
}
