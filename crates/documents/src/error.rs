//! What can be wrong with a document, in words for whoever sent it. No text of a reader's insides comes through here.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A kind of document that this crate reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Portable Document Format.
    Pdf,
    /// Word, since 2007.
    Docx,
    /// Excel, since 2007.
    Xlsx,
    /// PowerPoint, since 2007.
    Pptx,
    /// Hangul Word Processor 5: a compound file.
    Hwp,
    /// Hangul Word Processor, the open form: a zip archive of XML.
    Hwpx,
    /// A web page.
    Html,
    /// Values parted by commas (or semicolons).
    Csv,
    /// Values parted by tabs.
    Tsv,
    /// Markdown, passed through.
    Markdown,
    /// Plain text, passed through.
    Text,
}

impl Format {
    /// The name in `metadata.format`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Pdf => "pdf",
            Format::Docx => "docx",
            Format::Xlsx => "xlsx",
            Format::Pptx => "pptx",
            Format::Hwp => "hwp",
            Format::Hwpx => "hwpx",
            Format::Html => "html",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Markdown => "markdown",
            Format::Text => "text",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Html => "HTML",
            Format::Markdown => "Markdown",
            Format::Text => "text",
            Format::Pdf => "PDF",
            Format::Docx => "DOCX",
            Format::Xlsx => "XLSX",
            Format::Pptx => "PPTX",
            Format::Hwp => "HWP",
            Format::Hwpx => "HWPX",
            Format::Csv => "CSV",
            Format::Tsv => "TSV",
        })
    }
}

/// What [`Error::Unsupported`] lists, so that the caller can offer another file.
pub const SUPPORTED: &str =
    "PDF, DOCX, XLSX, PPTX, HWP (5.0 and later), HWPX, HTML, CSV, TSV, Markdown and plain text";

/// Why a document was not turned into Markdown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing in it: no bytes, or only white space.
    #[error("the document is empty")]
    Empty,
    /// A password is needed, which this crate takes none of.
    #[error("the {0} document is protected with a password; save a copy without it and send that")]
    Encrypted(Format),
    /// A document of this format, but its inside does not hold together.
    #[error("the {format} document is damaged: {why}")]
    Corrupt {
        /// What the first bytes say it is.
        format: Format,
        /// What was found, in plain words.
        why: &'static str,
    },
    /// Not a document, or of a format that is not read.
    #[error("{what} cannot be read; what can be read: {SUPPORTED}")]
    Unsupported {
        /// What it is, as far as can be told.
        what: String,
    },
    /// Past one of the [`Limits`](crate::Limits).
    #[error("the document is too large: {what} (at most {limit})")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The limit, in the unit that `what` names.
        limit: u64,
    },
    /// An HWP file made for reading only (배포용 문서) that does not even hold a preview.
    #[error(
        "the HWP document is for distribution only (배포용 문서): its text is locked and it holds no preview; ask for the original"
    )]
    DistributionDocument,
}

/// The stable name of an [`Error`] on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// [`Error::Empty`]
    Empty,
    /// [`Error::Encrypted`]
    Encrypted,
    /// [`Error::Corrupt`]
    Corrupt,
    /// [`Error::Unsupported`]
    Unsupported,
    /// [`Error::TooLarge`]
    TooLarge,
    /// [`Error::DistributionDocument`]
    DistributionDocument,
    /// The question or the answer was not of the agreed form: a fault of ours, not of the document.
    Protocol,
}

impl Error {
    /// The code that goes over the wire.
    pub fn code(&self) -> Code {
        match self {
            Error::Empty => Code::Empty,
            Error::Encrypted(_) => Code::Encrypted,
            Error::Corrupt { .. } => Code::Corrupt,
            Error::Unsupported { .. } => Code::Unsupported,
            Error::TooLarge { .. } => Code::TooLarge,
            Error::DistributionDocument => Code::DistributionDocument,
        }
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Error::Unsupported { what: what.into() }
    }
}

/// A fault in a part that several formats share; the format that asked puts its name on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Broken(&'static str),
    Encrypted,
    TooLarge { what: &'static str, limit: u64 },
}

impl Fault {
    pub(crate) fn of(self, format: Format) -> Error {
        match self {
            Fault::Broken(why) => Error::Corrupt { format, why },
            Fault::Encrypted => Error::Encrypted(format),
            Fault::TooLarge { what, limit } => Error::TooLarge { what, limit },
        }
    }
}
