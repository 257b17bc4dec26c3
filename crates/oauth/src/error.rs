//! Why there is no token, by what can be done about it. No text holds a token, a code or a secret: of what an
//! authorization server says only its word for the error is repeated.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What the server or its authorization server says of itself cannot be followed. Its operator can mend it.
    #[error("{0}")]
    Unusable(String),
    /// It did not answer; later it may.
    #[error("{0}")]
    Unreachable(String),
    /// The authorization server said no, in this word: whoever signed in does so again.
    #[error("the authorization server refused: {0}")]
    Refused(String),
    /// The answer that a browser brought back is not the one that was asked for.
    #[error("{0}")]
    Mismatch(&'static str),
    /// There is nothing a token could be had with.
    #[error("nobody has signed in")]
    NotSignedIn,
}

impl Error {
    /// Whether the authorization server does not know the client any more.
    pub fn is_unknown_client(&self) -> bool {
        matches!(self, Error::Refused(word) if word == "invalid_client")
    }

    pub(crate) fn unusable(why: impl Into<String>) -> Self {
        Error::Unusable(why.into())
    }

    /// A word of an authorization server, as far as it is one.
    pub(crate) fn refused(word: &str) -> Self {
        let known = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_word = !word.is_empty() && word.len() <= 64 && word.chars().all(known);
        Error::Refused(if is_word { word } else { "it does not say why" }.to_owned())
    }
}
