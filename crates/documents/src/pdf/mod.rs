//! PDF, through `unpdf`, page by page and on this thread alone.

mod headings;
mod streams;

use std::ops::ControlFlow;

use unpdf::{
    ErrorKind, ErrorMode, PageSelection, PageStreamOptions, ParseEvent, ParseOptions, PdfParser,
};

use crate::error::{Error, Format};
use crate::markdown::Writer;
use crate::metadata::Metadata;
use crate::{Document, Limits};

pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<Document, Error> {
    streams::refuse_bombs(bytes, limits)?;
    let parser = PdfParser::from_bytes_with_options(bytes, ParseOptions::default().sequential())
        .map_err(|error| failure(&error))?;
    let mut pdf = unpdf::Document::new();
    let mut failed = Vec::new();
    let mut page_count = 0;
    // All fields are named: the default of one of them asks a thread pool for its size, and so starts it.
    let options = PageStreamOptions {
        error_mode: ErrorMode::Lenient,
        extract_text: true,
        extract_resources: false,
        min_image_dimension: 64,
        pages: PageSelection::All,
        password: None,
        parallel: false,
        suppress_low_confidence_ocr: true,
        window_size: 1,
        emit_progress_every: u32::MAX,
    };
    let pages_max = usize::try_from(limits.pages_max).unwrap_or(usize::MAX);
    let quality = parser.for_each_page(options, |event| {
        match event {
            ParseEvent::DocumentStart {
                metadata,
                page_count: count,
                ..
            } => {
                pdf.metadata = metadata;
                page_count = count as usize;
            }
            ParseEvent::PageParsed(page) => pdf.add_page(page),
            ParseEvent::PageFailed { page, .. } => failed.push(page),
            ParseEvent::Progress { .. } | ParseEvent::DocumentEnd { .. } => {}
        }
        if pdf.pages.len() + failed.len() >= pages_max {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    let quality = quality.map_err(|error| failure(&error))?;
    if page_count == 0 {
        return Err(Error::Corrupt {
            format: Format::Pdf,
            why: "it has no pages that can be found",
        });
    }
    headings::level(&mut pdf);
    let markdown = unpdf::render::to_markdown(&pdf, &unpdf::RenderOptions::default())
        .map_err(|error| failure(&error))?;
    let mut warnings = Vec::new();
    if !failed.is_empty() {
        warnings.push(format!(
            "{} page(s) could not be read: {}",
            failed.len(),
            list(&failed)
        ));
    }
    if page_count > pages_max {
        warnings.push(format!(
            "only the first {pages_max} of {page_count} pages are here"
        ));
    }
    if quality.pages_incomplete {
        warnings.push("the file is damaged; some of its pages may be missing".to_owned());
    }
    if markdown.trim().is_empty() {
        warnings.push(
            "no text was found: the pages are probably scanned images, which are not read"
                .to_owned(),
        );
    }
    let mut metadata = Metadata::new(Format::Pdf);
    metadata.text("title", pdf.metadata.title.as_deref().unwrap_or(""));
    metadata.text("author", pdf.metadata.author.as_deref().unwrap_or(""));
    metadata.text("subject", pdf.metadata.subject.as_deref().unwrap_or(""));
    metadata.number("pages", page_count);
    let mut writer = Writer::new(limits.markdown_bytes_max);
    writer.raw(&markdown);
    Ok(crate::finish(writer, metadata, warnings, limits))
}

fn failure(error: &unpdf::Error) -> Error {
    let corrupt = |why| Error::Corrupt {
        format: Format::Pdf,
        why,
    };
    match error.kind() {
        ErrorKind::Encrypted | ErrorKind::InvalidPassword => Error::Encrypted(Format::Pdf),
        ErrorKind::UnsupportedVersion => Error::unsupported("a PDF of an unknown version"),
        ErrorKind::MissingObject => corrupt("an object that it refers to is missing"),
        _ => corrupt("its structure cannot be read"),
    }
}

fn list(pages: &[u32]) -> String {
    let shown: Vec<String> = pages.iter().take(10).map(u32::to_string).collect();
    let more = if pages.len() > 10 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
