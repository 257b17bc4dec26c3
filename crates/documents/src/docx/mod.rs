//! Word documents.

mod body;
mod numbering;
mod styles;

use crate::error::{Error, Fault, Format};
use crate::metadata::Metadata;
use crate::package::{self, Relations};
use crate::xml::Tree;
use crate::zip::Archive;
use crate::{Document, Limits};

/// The parts of a document that its body refers to.
struct Parts {
    relations: Relations,
    styles: styles::Styles,
    numbering: numbering::Numbering,
}

pub(crate) fn parse(archive: &Archive<'_>, limits: &Limits) -> Result<Document, Error> {
    read(archive, limits).map_err(|fault| fault.of(Format::Docx))
}

fn read(archive: &Archive<'_>, limits: &Limits) -> Result<Document, Fault> {
    let main = package::main_part(archive, "word/document.xml", limits)?;
    let relations = Relations::of(archive, &main, limits)?;
    let part = |kind: &str| -> Result<Option<Tree>, Fault> {
        relations
            .of_kind(kind)
            .map_or(Ok(None), |path| package::read(archive, path, limits))
    };
    let document =
        package::read(archive, &main, limits)?.ok_or(Fault::Broken("its main part is missing"))?;
    let (styles, numbering) = (part("styles")?, part("numbering")?);
    let (footnotes, endnotes) = (part("footnotes")?, part("endnotes")?);
    let parts = Parts {
        styles: styles::Styles::of(styles.as_ref()),
        numbering: numbering::Numbering::of(numbering.as_ref()),
        relations,
    };

    let body = document
        .root()
        .child("body")
        .ok_or(Fault::Broken("it has no body"))?;
    let mut reader = body::Reader::new(&parts);
    let mut blocks = reader.blocks(body);
    for (notes, kind) in [(&footnotes, body::FOOTNOTE), (&endnotes, body::ENDNOTE)] {
        if let Some(notes) = notes {
            blocks.extend(reader.notes(notes.root(), kind));
        }
    }
    let mut metadata = Metadata::new(Format::Docx);
    package::properties(archive, &mut metadata, limits);
    let warnings = reader.into_warnings();
    Ok(crate::write(&blocks, metadata, warnings, limits))
}
