//! What a document is, by what it holds; its name decides only between kinds of text.

use crate::Limits;
use crate::cfb::{self, Compound};
use crate::error::{Error, Format};
use crate::zip::Archive;
use crate::{delimited, text};

/// A document whose format is known.
pub(crate) enum Kind<'b> {
    Pdf,
    Archive(Format, Archive<'b>),
    Hwp(Compound<'b>),
    Text(Format, text::Decoded),
}

impl Kind<'_> {
    pub(crate) fn format(&self) -> Format {
        match self {
            Kind::Pdf => Format::Pdf,
            Kind::Archive(format, _) | Kind::Text(format, _) => *format,
            Kind::Hwp(_) => Format::Hwp,
        }
    }
}

/// A PDF may have other things before its signature, but not much.
const PDF_START_MAX: usize = 1024;

/// Other things that people send, by their first bytes.
const OTHERS: &[(&[u8], &str)] = &[
    (
        b"HWP Document File V",
        "an HWP document of version 3 or older",
    ),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG", "an image (PNG)"),
    (b"\xff\xd8\xff", "an image (JPEG)"),
    (b"GIF8", "an image (GIF)"),
    (b"II*\0", "an image (TIFF)"),
    (b"MM\0*", "an image (TIFF)"),
    (b"BM", "an image (BMP)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3\0", "a database file"),
    (b"OggS", "a sound or video file"),
    (b"ID3", "a sound file"),
];

pub(crate) fn detect<'b>(
    bytes: &'b [u8],
    filename: Option<&str>,
    limits: &Limits,
) -> Result<Kind<'b>, Error> {
    let start = &bytes[..bytes.len().min(PDF_START_MAX)];
    if start.windows(5).any(|window| window == b"%PDF-") {
        return Ok(Kind::Pdf);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return archive(bytes, filename, limits);
    }
    if bytes.starts_with(cfb::SIGNATURE) {
        return compound(bytes, filename, limits);
    }
    let other = || {
        OTHERS
            .iter()
            .find(|(start, _)| bytes.starts_with(start))
            .map(|(_, what)| *what)
    };
    match text::decode(bytes) {
        Some(decoded)
            if decoded
                .text
                .trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
                .is_empty() =>
        {
            Err(Error::Empty)
        }
        Some(_) if bytes.starts_with(b"{\\rtf") || bytes.starts_with(b"HWP Document File V") => {
            Err(Error::unsupported(other().unwrap_or("this file")))
        }
        Some(decoded) => {
            let format = text_format(&decoded.text, filename);
            let again = if format == Format::Html {
                text::decode_page(bytes, None)
            } else {
                None
            };
            Ok(Kind::Text(format, again.unwrap_or(decoded)))
        }
        None => Err(Error::unsupported(
            other().unwrap_or("a file that is neither text nor a known document"),
        )),
    }
}

/// The format that a file's name claims, if it claims one of ours.
pub(crate) fn named(filename: Option<&str>) -> Option<Format> {
    let name = filename?.to_ascii_lowercase();
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension {
        "pdf" => Format::Pdf,
        "docx" | "docm" | "dotx" => Format::Docx,
        "xlsx" | "xlsm" | "xltx" => Format::Xlsx,
        "pptx" | "pptm" | "ppsx" | "potx" => Format::Pptx,
        "hwp" => Format::Hwp,
        "hwpx" | "owpml" => Format::Hwpx,
        "html" | "htm" | "xhtml" => Format::Html,
        "csv" => Format::Csv,
        "tsv" | "tab" => Format::Tsv,
        "md" | "markdown" => Format::Markdown,
        "txt" | "text" | "log" => Format::Text,
        _ => return None,
    })
}

fn archive<'b>(
    bytes: &'b [u8],
    filename: Option<&str>,
    limits: &Limits,
) -> Result<Kind<'b>, Error> {
    // Until the directory is read, only the name can say which format is damaged.
    let claimed = named(filename)
        .filter(|format| matches!(format, Format::Xlsx | Format::Pptx | Format::Hwpx))
        .unwrap_or(Format::Docx);
    let archive = Archive::open(bytes, limits).map_err(|fault| fault.of(claimed))?;
    let main = |name: &str| archive.has(name);
    let format = if main("Contents/content.hpf") || main("Contents/section0.xml") {
        Format::Hwpx
    } else if main("word/document.xml") {
        Format::Docx
    } else if main("xl/workbook.xml") {
        Format::Xlsx
    } else if main("ppt/presentation.xml") {
        Format::Pptx
    } else if main("xl/workbook.bin") {
        return Err(Error::unsupported("an Excel binary workbook (XLSB)"));
    } else if main("[Content_Types].xml") {
        crate::package::main_format(&archive, limits)
            .ok_or_else(|| Error::unsupported("an Office file that is no document"))?
    } else if main("mimetype") {
        return Err(Error::unsupported("an OpenDocument or EPUB file"));
    } else {
        return Err(Error::unsupported("a zip archive"));
    };
    Ok(Kind::Archive(format, archive))
}

fn compound<'b>(
    bytes: &'b [u8],
    filename: Option<&str>,
    limits: &Limits,
) -> Result<Kind<'b>, Error> {
    let claimed = named(filename);
    let file = Compound::open(bytes, limits.parts_max)
        .map_err(|fault| fault.of(claimed.unwrap_or(Format::Hwp)))?;
    if file.has("FileHeader") {
        return Ok(Kind::Hwp(file));
    }
    if file.has("EncryptedPackage") || file.has("EncryptionInfo") {
        return Err(Error::Encrypted(claimed.unwrap_or(Format::Docx)));
    }
    let old = |name: &str| file.has(name);
    Err(Error::unsupported(if old("WordDocument") {
        "a Word 97-2003 document (DOC; save it as DOCX)"
    } else if old("Workbook") || old("Book") {
        "an Excel 97-2003 workbook (XLS; save it as XLSX)"
    } else if old("PowerPoint Document") {
        "a PowerPoint 97-2003 presentation (PPT; save it as PPTX)"
    } else {
        "a compound file that is no known document"
    }))
}

fn text_format(text: &str, filename: Option<&str>) -> Format {
    let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let start = start[..start.floor_char_boundary(1024)].to_ascii_lowercase();
    if start.starts_with("<!doctype html")
        || start.starts_with("<html")
        || start.starts_with("<?xml") && start.contains("<html")
    {
        return Format::Html;
    }
    match named(filename) {
        Some(
            format @ (Format::Html | Format::Csv | Format::Tsv | Format::Markdown | Format::Text),
        ) => format,
        _ if start.contains("<body") || start.starts_with("<head") => Format::Html,
        _ if filename.is_some_and(|name| name.contains('.')) => Format::Text,
        _ => delimited::looks_like(text).unwrap_or(Format::Text),
    }
}
