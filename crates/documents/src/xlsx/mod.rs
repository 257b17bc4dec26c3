//! Excel workbooks. Sheets are read as a stream: a sheet that fits in a mail can unfold to a million cells.

mod sheet;
mod strings;
mod values;

use crate::error::{Error, Fault, Format};
use crate::inline::escape;
use crate::markdown::Writer;
use crate::metadata::Metadata;
use crate::package::{self, Relations};
use crate::zip::Archive;
use crate::{Document, Limits};
use sheet::Sheet;

pub(crate) fn parse(archive: &Archive<'_>, limits: &Limits) -> Result<Document, Error> {
    read(archive, limits).map_err(|fault| fault.of(Format::Xlsx))
}

fn read(archive: &Archive<'_>, limits: &Limits) -> Result<Document, Fault> {
    let main = package::main_part(archive, "xl/workbook.xml", limits)?;
    let relations = Relations::of(archive, &main, limits)?;
    let workbook =
        package::read(archive, &main, limits)?.ok_or(Fault::Broken("its main part is missing"))?;
    let strings = match relations.of_kind("sharedStrings") {
        Some(part) => strings::read(&archive.read(part)?.unwrap_or_default(), limits)?,
        None => Vec::new(),
    };
    let styles = relations
        .of_kind("styles")
        .map_or(Ok(None), |part| package::read(archive, part, limits))?;
    let since_1904 = package::is_on(
        workbook
            .root()
            .child("workbookPr")
            .filter(|node| node.attribute("date1904") == Some("1")),
    );
    let book = sheet::Book {
        strings,
        formats: values::Formats::of(styles.as_ref(), since_1904),
    };

    let mut writer = Writer::new(limits.markdown_bytes_max);
    let mut warnings = Vec::new();
    let mut names = Vec::new();
    let mut cells_left = limits.cells_max;
    for node in workbook
        .root()
        .child("sheets")
        .into_iter()
        .flat_map(|sheets| sheets.children())
        .filter(|node| node.is("sheet"))
    {
        let name = node.attribute("name").unwrap_or("").to_owned();
        names.push(name.clone());
        let Some(part) = node.attribute("r:id").and_then(|id| relations.part(id)) else {
            continue;
        };
        if !part.contains("worksheets/") {
            warnings.push(format!(
                "the sheet '{name}' holds no cells (a chart or a dialog) and is left out"
            ));
            continue;
        }
        if matches!(node.attribute("state"), Some("hidden" | "veryHidden")) {
            warnings.push(format!("the sheet '{name}' is hidden in the workbook"));
        }
        let Some(bytes) = archive.read(part)? else {
            continue;
        };
        let links = Relations::of(archive, part, limits)?;
        let sheet = Sheet::read(&bytes, &book, &links, &mut cells_left, limits)?;
        writer.block(&crate::Block::Heading {
            level: 2,
            text: escape(&name),
        });
        sheet.write(&mut writer);
        warnings.extend(sheet.warnings(&name));
        if writer.is_full() {
            break;
        }
    }
    let mut metadata = Metadata::new(Format::Xlsx);
    package::properties(archive, &mut metadata, limits);
    metadata.list("sheets", names);
    Ok(crate::finish(writer, metadata, warnings, limits))
}
