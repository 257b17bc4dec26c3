//! Passwords: argon2id, a few at a time. Each hashing takes 19 MiB, so many at once would be an easy way to harm the
//! server.

use crate::error::{Error, Result};
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Argon2, PasswordHash};
use tokio::sync::Semaphore;

const AT_A_TIME: usize = 2;

/// Who waits longer than this many others is told to come back.
const WAITING_MAX: usize = 32;

const CHARS_MIN: usize = 8;
const BYTES_MAX: usize = 1024;

/// The hash of nothing anybody knows: an unknown user costs as much time as a wrong password.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$Y2hlY2tlZCBhZ2FpbnN0IG5vdGhpbmcgYXQgYWxsIQ";

#[derive(Debug)]
pub(crate) struct Passwords {
    turns: Semaphore,
    places: Semaphore,
}

impl Default for Passwords {
    fn default() -> Self {
        Passwords {
            turns: Semaphore::new(AT_A_TIME),
            places: Semaphore::new(AT_A_TIME + WAITING_MAX),
        }
    }
}

impl Passwords {
    pub(crate) async fn hash(&self, password: &str) -> Result<String> {
        if password.chars().count() < CHARS_MIN || password.len() > BYTES_MAX {
            return Err(Error::invalid(format!(
                "password: expected at least {CHARS_MIN} characters and at most {BYTES_MAX} bytes"
            )));
        }
        let password = password.to_owned();
        self.take_turn(move || {
            let hash = Argon2::default().hash_password(password.as_bytes());
            hash.map(|hash| hash.to_string())
                .map_err(|e| Error::Internal(format!("a password could not be hashed: {e}")))
        })
        .await?
    }

    /// Whether the password fits the stored hash; without one it never does, and takes as long.
    pub(crate) async fn fits(&self, password: &str, hash: Option<&str>) -> Result<bool> {
        if password.len() > BYTES_MAX {
            return Ok(false);
        }
        let known = hash.is_some();
        let (password, hash) = (password.to_owned(), hash.unwrap_or(NOBODY).to_owned());
        let fits = self.take_turn(move || {
            let parsed = PasswordHash::new(&hash);
            let parsed = parsed
                .map_err(|e| Error::Internal(format!("a stored password hash is damaged: {e}")))?;
            let checked = Argon2::default().verify_password(password.as_bytes(), &parsed);
            Ok::<bool, Error>(checked.is_ok())
        });
        Ok(fits.await?? && known)
    }

    async fn take_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let busy = || Error::Unavailable("Too many people are logging in; try again".to_owned());
        let _place = self.places.try_acquire().map_err(|_| busy())?;
        let _turn = self.turns.acquire().await.map_err(|_| busy())?;
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|e| Error::Internal(format!("a password check was lost: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_fits_its_own_hash_only() {
        let passwords = Passwords::default();
        let hash = passwords.hash("열려라 참깨 open").await.unwrap();
        assert!(
            hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{hash}"
        );
        assert!(
            passwords
                .fits("열려라 참깨 open", Some(&hash))
                .await
                .unwrap()
        );
        assert!(
            !passwords
                .fits("열려라 참깨 Open", Some(&hash))
                .await
                .unwrap()
        );
        assert!(!passwords.fits("anything", None).await.unwrap());
        assert!(passwords.hash("short").await.is_err());
        assert!(passwords.hash(&"x".repeat(1025)).await.is_err());
    }
}
