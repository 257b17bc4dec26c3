//! Documents as Markdown.
//!
//! [`parse`] takes the bytes of a PDF, DOCX, XLSX, PPTX, HWP, HWPX, HTML, CSV, Markdown or text file and gives its text
//! with headings, lists, links and tables kept. It is a function of its arguments: no file, no network, no thread, no
//! clock. It is meant to run in a worker process that is sealed off and limited in memory: [`prepare`] comes before the
//! seal; [`question`], [`answer`] and [`read`] are the two ends of the talk with that worker.
//!
//! Documents come from strangers. What a file is, its content decides, not its name. Sizes that a file states are held
//! to [`Limits`] before anything is unpacked and counted while it is; nesting is bounded; entities that a file defines
//! are not expanded; a panic inside a reader becomes [`Error::Corrupt`]. What cannot be turned into Markdown is left out
//! with a warning, or refused with an [`Error`] in plain words.
//!
//! [`html_to_markdown`] and [`page_to_markdown`] are for pages that were fetched: they keep what a page is about and leave
//! the navigation out.

mod block;
mod cfb;
mod delimited;
mod detect;
mod docx;
mod error;
mod hangul;
mod html;
mod hwp;
mod hwpx;
mod inline;
mod limits;
mod markdown;
mod metadata;
mod numeral;
mod package;
mod pdf;
mod pptx;
mod text;
mod wire;
mod xlsx;
mod xml;
mod zip;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use error::{Code, Error, Format, SUPPORTED};
pub use html::{Page, html_to_markdown, page_to_markdown};
pub use limits::Limits;
pub use wire::{Refusal, answer, page_question, question, read};

use block::Block;
use detect::Kind;
use markdown::Writer;
use metadata::Metadata;

/// A document that was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Its text.
    pub markdown: String,
    /// `format` always; `title`, `author`, `pages`, `sheets`, `slides`, `encoding` and others where they are known.
    pub metadata: Map<String, Value>,
    /// What was left out or is doubtful, in plain words.
    pub warnings: Vec<String>,
}

/// Does what reading needs from the system, so that a thread can be sealed off after it: without random numbers no hash
/// table can be made, and the standard library takes them once per thread. Call it on the thread that will [`parse`].
pub fn prepare() {
    drop(std::hash::RandomState::new());
}

/// Turns a document into Markdown. The name is only asked for what the content leaves open (CSV or text?), and to warn
/// when it claims something else.
///
/// # Errors
/// See [`Error`]; the message is meant for whoever sent the document.
pub fn parse(bytes: &[u8], filename: Option<&str>, limits: &Limits) -> Result<Document, Error> {
    if bytes.is_empty() {
        return Err(Error::Empty);
    }
    if bytes.len() as u64 > limits.input_bytes_max {
        return Err(Error::TooLarge {
            what: "bytes of the document",
            limit: limits.input_bytes_max,
        });
    }
    let kind = detect::detect(bytes, filename, limits)?;
    let format = kind.format();
    // Readers of formats as large as PDF do panic now and then; that says something about the document, not about us.
    let read = catch_unwind(AssertUnwindSafe(|| read_kind(bytes, kind, limits)));
    let mut document = read.unwrap_or(Err(Error::Corrupt {
        format,
        why: "its content contradicts itself",
    }))?;
    if let Some(claimed) = detect::named(filename).filter(|claimed| !alike(*claimed, format)) {
        document.warnings.insert(
            0,
            format!(
                "the name says {claimed}, but the content is {format}; it was read as {format}"
            ),
        );
    }
    if document.markdown.trim().is_empty() && !matches!(format, Format::Pdf) {
        document
            .warnings
            .push("no text was found in the document".to_owned());
    }
    Ok(document)
}

fn read_kind(bytes: &[u8], kind: Kind<'_>, limits: &Limits) -> Result<Document, Error> {
    match kind {
        Kind::Pdf => pdf::parse(bytes, limits),
        Kind::Hwp(file) => hwp::parse(&file, limits),
        Kind::Archive(Format::Docx, archive) => docx::parse(&archive, limits),
        Kind::Archive(Format::Xlsx, archive) => xlsx::parse(&archive, limits),
        Kind::Archive(Format::Pptx, archive) => pptx::parse(&archive, limits),
        Kind::Archive(_, archive) => hwpx::parse(&archive, limits),
        Kind::Text(format, decoded) => {
            let text = text::with_plain_lines(&decoded.text);
            let mut document = match format {
                Format::Html => html::parse(&text, limits)?,
                Format::Csv | Format::Tsv => delimited::parse(&text, format, limits)?,
                _ => plain(&text, format, limits),
            };
            document
                .metadata
                .insert("encoding".to_owned(), decoded.encoding.into());
            if decoded.lossy {
                document.warnings.push(format!(
                    "some bytes are no {} text; they are shown as \u{fffd}",
                    decoded.encoding
                ));
            }
            Ok(document)
        }
    }
}

fn plain(text: &str, format: Format, limits: &Limits) -> Document {
    let mut writer = Writer::new(limits.markdown_bytes_max);
    writer.raw(text);
    let mut metadata = Metadata::new(format);
    if let Some(title) = text
        .lines()
        .find_map(|line| line.strip_prefix("# "))
        .filter(|_| format == Format::Markdown)
    {
        metadata.text("title", title);
    }
    finish(writer, metadata, Vec::new(), limits)
}

/// Blocks written out, with the warning if they did not all fit.
fn write(blocks: &[Block], metadata: Metadata, warnings: Vec<String>, limits: &Limits) -> Document {
    let mut writer = Writer::new(limits.markdown_bytes_max);
    writer.blocks(blocks);
    finish(writer, metadata, warnings, limits)
}

fn finish(
    writer: Writer,
    metadata: Metadata,
    mut warnings: Vec<String>,
    limits: &Limits,
) -> Document {
    if writer.is_full() {
        warnings.push(cut_warning(limits));
    }
    Document {
        markdown: writer.finish(),
        metadata: metadata.finish(),
        warnings,
    }
}

fn cut_warning(limits: &Limits) -> String {
    format!(
        "the text was cut after {} bytes; the rest is left out",
        limits.markdown_bytes_max
    )
}

/// Names that do not contradict the content: any kind of text may be called any kind of text.
fn alike(claimed: Format, found: Format) -> bool {
    let text = |format| {
        matches!(
            format,
            Format::Csv | Format::Tsv | Format::Markdown | Format::Text
        )
    };
    claimed == found || text(claimed) && text(found)
}
