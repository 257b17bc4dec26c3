//! Where the sealing keys come from: the environment or, without it, a file of our own that is made at the first
//! start. They never lie in the database, so that a copy of it opens nothing.

use argon2::Argon2;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use catalog::hex::hex;
use sha2::{Digest, Sha256};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use store::seal::{SealError, SealingKeys, is_key_id};
use store::secrets::SecretRow;
use zeroize::Zeroizing;

/// The name of the key file in the data folder.
pub const KEY_FILE: &str = "secret.key";

/// A text is stretched with this; it is the same everywhere, so that the same text opens the same secrets.
const STRETCH_SALT: &[u8] = b"toolcrib sealing key v1";

const REMEDY_FORMAT: &str =
    "write id:base64 with 32 random bytes, the newest first, such as k2:$(openssl rand -base64 32)";

/// What the configuration says about the keys.
#[derive(Clone)]
pub struct KeySource {
    /// `TOOLCRIB_SECRET_KEY`.
    pub text: Option<String>,
    /// Used where there is no text; made where it is not there.
    pub file: PathBuf,
}

/// Why the secrets of this installation cannot be opened. Neither text holds a key.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct KeyFault {
    pub what: String,
    pub remedy: String,
}

type Key = (String, Zeroizing<[u8; 32]>);

fn fault(what: impl Into<String>, remedy: impl Into<String>) -> KeyFault {
    KeyFault {
        what: what.into(),
        remedy: remedy.into(),
    }
}

/// Whether the text of the variable holds a key that is only a text, which may be guessed.
pub fn holds_plain_text(text: &str) -> bool {
    parts(text).any(|part| written_key(part).is_none())
}

/// Whether the keys open what is stored. Unlike a start it makes no key where there is none.
pub fn look(source: &KeySource, stored: &[SecretRow]) -> Result<(), KeyFault> {
    let is_first = source.text.is_none() && stored.is_empty() && !source.file.exists();
    match is_first {
        true => Ok(()),
        false => load(source, stored).map(|_| ()),
    }
}

/// The keys, every one that the stored secrets need among them.
pub(crate) fn load(source: &KeySource, stored: &[SecretRow]) -> Result<SealingKeys, KeyFault> {
    let keys = match &source.text {
        Some(text) => from_variable(text)?,
        None => match fs::metadata(&source.file) {
            Ok(about) => from_file(&source.file, about.mode())?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                first_file(&source.file, stored)?
            }
            Err(error) => return Err(unusable(&source.file, &error)),
        },
    };
    let keys = SealingKeys::new(keys).map_err(|error| {
        fault(
            format!("the sealing keys are not valid: {error}"),
            REMEDY_FORMAT,
        )
    })?;
    check(&keys, stored, source)?;
    Ok(keys)
}

fn from_variable(text: &str) -> Result<Vec<Key>, KeyFault> {
    let keys = parts(text).map(|part| match written_key(part) {
        Some(key) => key.map_err(|why| fault(format!("TOOLCRIB_SECRET_KEY: {why}"), REMEDY_FORMAT)),
        None => Ok(stretched(part)),
    });
    keys.collect()
}

fn from_file(file: &Path, mode: u32) -> Result<Vec<Key>, KeyFault> {
    let shown = file.display();
    if mode & 0o077 != 0 {
        let what = format!(
            "others may read {shown}, which opens every secret (mode {:04o})",
            mode & 0o7777
        );
        return Err(fault(
            what,
            format!("`chmod 600 {shown}`, and change the secrets if somebody has read it"),
        ));
    }
    let text = fs::read_to_string(file).map(Zeroizing::new);
    let text = text.map_err(|error| unusable(file, &error))?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_start().starts_with('#'));
    let keys = lines.flat_map(|(number, line)| parts(line).map(move |part| (number + 1, part)));
    let keys = keys.map(|(number, part)| {
        let key = written_key(part).unwrap_or_else(|| Err("expected id:base64".to_owned()));
        key.map_err(|why| fault(format!("{shown}:{number}: {why}"), REMEDY_FORMAT))
    });
    let keys: Vec<Key> = keys.collect::<Result<_, _>>()?;
    if keys.is_empty() {
        let remedy = "put the file back as it was; if no secret is stored yet, delete it and a new one is made";
        return Err(fault(format!("{shown} holds no key"), remedy));
    }
    Ok(keys)
}

/// The first start makes the first key. Not the first one after the file was lost: that would look as if all were well.
fn first_file(file: &Path, stored: &[SecretRow]) -> Result<Vec<Key>, KeyFault> {
    if let Some(row) = stored.first() {
        let what = format!(
            "there is no key file {}, but {} stored secrets need one: the first is sealed with the key '{}'",
            file.display(),
            stored.len(),
            row.key_id
        );
        return Err(fault(
            what,
            "put the key file there (a backup does not hold it), or set TOOLCRIB_SECRET_KEY",
        ));
    }
    let (mut id, mut key) = ([0_u8; 4], Zeroizing::new([0_u8; 32]));
    let random = getrandom::fill(&mut id).and_then(|()| getrandom::fill(&mut *key));
    random.map_err(|error| fault(format!("there are no random bytes: {error}"), "start again"))?;
    let id = format!("k{}", hex(&id));
    write_private(file, &id, &key).map_err(|error| unusable(file, &error))?;
    Ok(vec![(id, key)])
}

/// A file that is there is whole: a start that is cut off leaves none.
fn write_private(file: &Path, id: &str, key: &[u8; 32]) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let new = file.with_extension("key-new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let text = format!(
        "# Opens the secrets of this Toolcrib. No backup holds it: keep a copy elsewhere, and tell nobody.\n{id}:{}\n",
        STANDARD.encode(key)
    );
    let text = Zeroizing::new(text);
    let mut options = OpenOptions::new();
    let mut written = options
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(&new)?;
    written.write_all(text.as_bytes())?;
    written.sync_all()?;
    fs::rename(&new, file)?;
    fs::File::open(folder)?.sync_all()
}

/// Better now than at the first call: every key is here, and it is the one that sealed.
fn check(keys: &SealingKeys, stored: &[SecretRow], source: &KeySource) -> Result<(), KeyFault> {
    let place = match &source.text {
        Some(_) => "TOOLCRIB_SECRET_KEY".to_owned(),
        None => source.file.display().to_string(),
    };
    let mut ids: Vec<&str> = stored.iter().map(|row| row.key_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        let mut sealed = stored.iter().filter(|row| row.key_id == id);
        if !keys.has(id) {
            let what = format!(
                "{} stored secrets are sealed with the key '{id}', which is not in {place}",
                sealed.count()
            );
            let remedy = format!(
                "add the key '{id}' at the end of {place}; `toolcrib secrets rotate` then makes it needless"
            );
            return Err(fault(what, remedy));
        }
        // One that was tampered with must not stop the server: `secrets verify` finds it.
        if !sealed.any(|row| keys.open(row.id, &row.sealed).is_ok()) {
            let what = format!(
                "the key '{id}' in {place} opens none of the secrets that are sealed with '{id}'"
            );
            return Err(fault(
                what,
                "another key goes by that id; put the right one back",
            ));
        }
    }
    Ok(())
}

/// The keys of a text, which a comma separates.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// What is written as `id:base64`, or why it cannot be a key; none for a text that is not written like that.
fn written_key(part: &str) -> Option<Result<Key, String>> {
    let (id, text) = part.split_once(':')?;
    let is_base64 = |b: u8| b.is_ascii_alphanumeric() || b"+/-_=".contains(&b);
    if !is_key_id(id) || !text.bytes().all(is_base64) {
        return None;
    }
    let text = text.trim_end_matches('=');
    let decoded = STANDARD_NO_PAD
        .decode(text)
        .or_else(|_| URL_SAFE_NO_PAD.decode(text));
    let bytes = Zeroizing::new(decoded.unwrap_or_default());
    let key = <[u8; 32]>::try_from(bytes.as_slice());
    let wrong = |_| format!("the key '{id}' is not the base64 of 32 bytes");
    Some(
        key.map(|key| (id.to_owned(), Zeroizing::new(key)))
            .map_err(wrong),
    )
}

/// A text made into a key. Its id follows from the key, so that another text is another key.
fn stretched(text: &str) -> Key {
    let mut key = Zeroizing::new([0_u8; 32]);
    Argon2::default()
        .hash_password_into(text.as_bytes(), STRETCH_SALT, &mut *key)
        .expect("salt and output have lengths that argon2 takes");
    let print = Sha256::new_with_prefix(STRETCH_SALT)
        .chain_update(*key)
        .finalize();
    (format!("text-{}", hex(&print[..4])), key)
}

fn unusable(file: &Path, error: &io::Error) -> KeyFault {
    let what = format!("the key file {} cannot be used: {error}", file.display());
    fault(
        what,
        "it must be yours, and its folder writable at the first start; secrets.key_file names another, TOOLCRIB_SECRET_KEY needs none",
    )
}

impl From<SealError> for crate::Error {
    fn from(error: SealError) -> Self {
        crate::Error::Internal(format!("a secret could not be sealed: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use uuid::Uuid;

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

    fn of(text: &str, stored: &[SecretRow]) -> Result<SealingKeys, KeyFault> {
        let file = PathBuf::from("/nowhere/secret.key");
        let text = Some(text.to_owned());
        load(&KeySource { text, file }, stored)
    }

    fn row(keys: &SealingKeys) -> SecretRow {
        let id = Uuid::from_u128(5);
        SecretRow {
            id,
            owner_id: Uuid::nil(),
            name: None,
            tool_id: None,
            sealed: keys.seal(id, "value").expect("sealed"),
            key_id: keys.newest().to_owned(),
            last4: None,
            created_at: 0,
            updated_at: 0,
        }
    }

    #[test]
    fn the_variable_holds_keys_and_texts() {
        let text = format!("new:{A}, old:{}", A.trim_end_matches('='));
        let keys = of(&text, &[]).expect("two keys");
        assert!(keys.newest() == "new" && keys.has("old"));
        assert!(!holds_plain_text(&text));
        let plain = of("correct horse: battery!", &[]).expect("a text is stretched");
        assert!(plain.newest().starts_with("text-"), "{}", plain.newest());
        assert!(holds_plain_text("correct horse: battery!"));
        let moved = of(&format!("k:{A},correct horse: battery!"), &[]).expect("both");
        assert!(moved.newest() == "k" && moved.has(plain.newest()));
        assert_ne!(of("another", &[]).expect("a key").newest(), plain.newest());
        for wrong in ["k1:c2hvcnQ=", "k1:", ""] {
            let refused = of(wrong, &[]).err().expect("no key");
            assert!(!refused.to_string().contains("c2hvcnQ"), "{refused}");
        }
    }

    #[test]
    fn a_key_that_is_needed_and_not_there_is_named() {
        let sealed = row(&of(&format!("k1:{A}"), &[]).expect("a key"));
        let stored = [sealed];
        let missing = of("k2:BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", &stored);
        let missing = missing.err().expect("k1 is missing").to_string();
        assert!(
            missing.contains("'k1', which is not in TOOLCRIB_SECRET_KEY"),
            "{missing}"
        );
        let other = of("k1:BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", &stored);
        let other = other.err().expect("not that k1").to_string();
        assert!(other.contains("opens none"), "{other}");
        assert!(of(&format!("k1:{A}"), &stored).is_ok());
    }

    #[test]
    fn the_file_is_made_once_and_only_for_its_owner() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join(KEY_FILE);
        let source = KeySource {
            text: None,
            file: file.clone(),
        };
        let first = load(&source, &[]).expect("made");
        let stored = [row(&first)];
        let again = load(&source, &stored).expect("read");
        assert_eq!(first.newest(), again.newest());
        assert_eq!(fs::metadata(&file).expect("there").mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);

        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("own file");
        let open = load(&source, &stored).err().expect("others may read it");
        assert!(
            open.what.contains("mode 0640") && open.remedy.contains("chmod 600"),
            "{open:?}"
        );
        fs::remove_file(&file).expect("own file");
        let lost = load(&source, &stored).err().expect("the key is lost");
        assert!(lost.what.contains(&stored[0].key_id), "{lost:?}");
        assert!(!file.exists(), "no new key hides that the old one is lost");
    }
}
