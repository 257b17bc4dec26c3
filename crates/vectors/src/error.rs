//! Why there are no vectors, by what can be done about it. No text holds a key or a token: of an address only scheme,
//! host and port are told, and what a server says is searched for them. Of a file its collection is told, since callers
//! read these texts: `path` is for the log of whoever runs the server.

use crate::embedded::ENDING;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What went wrong. `is_callers` tells what the caller of a tool can mend from what the operator can.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// An argument, a record or a setting that makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// What is wanted is more than is allowed.
    #[error("{0}")]
    TooMuch(String),
    #[error("There is no collection '{name}' {place}; {}", told(.known))]
    NoCollection {
        name: String,
        /// Where it was looked for, such as "at http://localhost:8000".
        place: String,
        known: Vec<String>,
    },
    #[error(
        "{what} has {found} dimensions, but the collection '{collection}' holds vectors of {expected}; both must come from the same embedding model"
    )]
    Dimension {
        /// Such as "The vector of 'users.email'".
        what: String,
        collection: String,
        expected: usize,
        found: usize,
    },
    /// Lines of a file of records. Nothing of the file was taken.
    #[error("{}", lines(.problems, *.more))]
    Lines { problems: Vec<Problem>, more: usize },
    /// A server did not answer; it may later, or its address is wrong.
    #[error("{peer} could not be asked: {source}")]
    Away {
        peer: Peer,
        #[source]
        source: fetch::Error,
    },
    /// A server wants to be left alone for a while, or cannot work just now.
    #[error("{peer} at {place} cannot do it now (status {status}){}{}", said(.message), again(.retry_after.as_ref()))]
    Busy {
        peer: Peer,
        place: String,
        status: u16,
        retry_after: Option<Duration>,
        message: String,
    },
    /// A server said no.
    #[error("{peer} at {place} refused (status {status}){}", said(.message))]
    Refused {
        peer: Peer,
        place: String,
        status: u16,
        message: String,
    },
    /// A server answered something else than was agreed on.
    #[error("{peer} at {place} answered what cannot be used: {why}")]
    Unusable {
        peer: Peer,
        place: String,
        why: String,
    },
    #[error("{0} was not done within its deadline")]
    Deadline(&'static str),
    #[error("{} cannot be {doing}: {source}", whose(.path))]
    File {
        path: PathBuf,
        /// "read" or "written".
        doing: &'static str,
        #[source]
        source: Arc<io::Error>,
    },
    #[error(
        "{} is damaged: {why}. Put its file back from a backup, or remove it and import again", whose(.path)
    )]
    Damaged { path: PathBuf, why: String },
}

/// Whom we talk to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    Chroma,
    Embeddings,
}

/// One line of a file that cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The first line is 1.
    pub line: usize,
    pub what: String,
}

impl Error {
    /// Whether another call could go better although nobody has mended anything; after how long, where a server said.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Error::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Whether it is what the caller gave, rather than a server, a file or a setting.
    pub fn is_callers(&self) -> bool {
        match self {
            Error::Invalid(_)
            | Error::TooMuch(_)
            | Error::NoCollection { .. }
            | Error::Dimension { .. }
            | Error::Lines { .. } => true,
            Error::Away { .. }
            | Error::Busy { .. }
            | Error::Refused { .. }
            | Error::Unusable { .. }
            | Error::Deadline(_)
            | Error::File { .. }
            | Error::Damaged { .. } => false,
        }
    }

    /// The file that it is about.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Error::File { path, .. } | Error::Damaged { path, .. } => Some(path),
            _ => None,
        }
    }

    pub(crate) fn file(
        path: impl Into<PathBuf>,
        doing: &'static str,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Error::File {
            path,
            doing,
            source: Arc::new(source),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Peer::Chroma => "The ChromaDB server",
            Peer::Embeddings => "The embeddings endpoint",
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// More names than this help nobody.
const NAMES_MAX: usize = 20;

fn told(names: &[String]) -> String {
    let shown = names
        .iter()
        .take(NAMES_MAX)
        .map(|name| format!("'{name}'"))
        .collect::<Vec<_>>()
        .join(", ");
    match names.len() {
        0 => "there is none yet: import one first".to_owned(),
        count if count > NAMES_MAX => {
            format!("there are {shown} and {} more", count - NAMES_MAX)
        }
        _ => format!("there are {shown}"),
    }
}

/// The collection of a file, never where the file is.
fn whose(path: &Path) -> String {
    let is_placed = path.parent().is_some_and(|it| !it.as_os_str().is_empty());
    match path.file_stem() {
        Some(name) if path.extension().is_some_and(|it| it == ENDING) => {
            format!("The collection '{}'", name.to_string_lossy())
        }
        _ if is_placed => "The store of vectors".to_owned(),
        _ => path.to_string_lossy().into_owned(),
    }
}

fn lines(problems: &[Problem], more: usize) -> String {
    let shown = problems
        .iter()
        .map(Problem::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    match more {
        0 => format!("Nothing was imported: {shown}"),
        _ => format!("Nothing was imported: {shown}; and {more} more lines"),
    }
}

fn said(message: &str) -> String {
    match message {
        "" => String::new(),
        _ => format!(": {message}"),
    }
}

fn again(after: Option<&Duration>) -> String {
    after.map_or_else(String::new, |after| {
        format!("; try again in {} s", after.as_secs().max(1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_holds_a_path_of_the_server() {
        let path = PathBuf::from("/srv/data/vectors/a.b.vectors");
        let why = "its checksum is not that of its bytes".to_owned();
        let damaged = Error::Damaged {
            path: path.clone(),
            why,
        };
        assert!(
            damaged
                .to_string()
                .starts_with("The collection 'a.b' is damaged: its checksum"),
            "{damaged}"
        );
        assert_eq!(damaged.path(), Some(&*path));
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let closed = Error::file(path, "read")(denied()).to_string();
        assert_eq!(
            closed,
            "The collection 'a.b' cannot be read: permission denied"
        );
        let folder = Error::file("/srv/data/vectors", "read")(denied()).to_string();
        assert_eq!(
            folder,
            "The store of vectors cannot be read: permission denied"
        );
    }

    #[test]
    fn a_missing_collection_names_those_that_exist() {
        let missing = |count: usize| {
            let known = (0..count).map(|index| format!("c{index}")).collect();
            let error = Error::NoCollection {
                name: "columns".to_owned(),
                place: "at http://localhost:8000".to_owned(),
                known,
            };
            error.to_string()
        };
        assert_eq!(
            missing(2),
            "There is no collection 'columns' at http://localhost:8000; there are 'c0', 'c1'"
        );
        assert!(missing(0).ends_with("there is none yet: import one first"));
        assert!(missing(23).ends_with("'c19' and 3 more"));
    }
}
