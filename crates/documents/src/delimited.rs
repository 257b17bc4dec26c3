//! CSV and TSV files as one table.

use csv::{ReaderBuilder, StringRecord};

use crate::error::{Error, Format};
use crate::inline::escape;
use crate::markdown::{Writer, one_line};
use crate::metadata::Metadata;
use crate::{Document, Limits};

const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];
const SAMPLE_LINES: usize = 20;

pub(crate) fn parse(text: &str, format: Format, limits: &Limits) -> Result<Document, Error> {
    let (separator, body) = separator(text, format);
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(body.as_bytes());
    let mut warnings = Vec::new();
    let mut rows: Vec<StringRecord> = Vec::new();
    let mut cells = 0_u64;
    for row in reader.records() {
        let row = row.map_err(|_| Error::Corrupt {
            format,
            why: "its rows cannot be read",
        })?;
        cells += row.len() as u64;
        if cells > limits.cells_max {
            warnings.push(format!(
                "only the first {} rows are here: the file has more than {} values",
                rows.len(),
                limits.cells_max
            ));
            break;
        }
        if row.iter().any(|cell| !cell.trim().is_empty()) {
            rows.push(row);
        }
    }
    let width = rows.iter().map(StringRecord::len).max().unwrap_or(0);
    if rows.iter().any(|row| row.len() != width) {
        warnings.push(
            "the rows have different numbers of values; short ones were filled up".to_owned(),
        );
    }
    let mut writer = Writer::new(limits.markdown_bytes_max);
    for (at, row) in rows.iter().enumerate() {
        writer.row((0..width).map(|column| one_line(&escape(row.get(column).unwrap_or("")))));
        if at == 0 {
            writer.row(std::iter::repeat_n("---".to_owned(), width));
        }
        if writer.is_full() {
            warnings.push(crate::cut_warning(limits));
            break;
        }
    }
    let mut metadata = Metadata::new(format);
    metadata.number("rows", rows.len());
    metadata.number("columns", width);
    Ok(Document {
        markdown: writer.finish(),
        metadata: metadata.finish(),
        warnings,
    })
}

/// What parts the values: tabs in a TSV, what Excel's `sep=` line says, or what the first lines agree on.
fn separator(text: &str, format: Format) -> (u8, &str) {
    if let Some((first, rest)) = text.split_once('\n')
        && let Some(&[separator]) = first.trim_end().strip_prefix("sep=").map(str::as_bytes)
    {
        return (separator, rest);
    }
    if format == Format::Tsv {
        return (b'\t', text);
    }
    let best = SEPARATORS
        .into_iter()
        .max_by_key(|separator| agreement(text, *separator));
    (
        best.filter(|best| agreement(text, *best) > 0)
            .unwrap_or(b','),
        text,
    )
}

/// How many lines have as many separators as the first, weighed by that number; zero if the first has none.
fn agreement(text: &str, separator: u8) -> usize {
    let count = |line: &str| {
        let mut quoted = false;
        line.bytes()
            .filter(|byte| {
                quoted ^= *byte == b'"';
                *byte == separator && !quoted
            })
            .count()
    };
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(SAMPLE_LINES)
        .map(count);
    let Some(first) = lines.next().filter(|first| *first > 0) else {
        return 0;
    };
    // Comma wins a draw: it is first in the list only for readers, `max_by_key` takes the last of equals.
    let weight = if separator == b',' { 11 } else { 10 };
    (1 + lines.filter(|count| *count == first).count()) * weight
}

/// Whether a text without a name looks like a table: every one of its first lines has the same number of separators.
pub(crate) fn looks_like(text: &str) -> Option<Format> {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(SAMPLE_LINES)
        .collect();
    let all = |separator: char| {
        let first = lines
            .first()
            .map_or(0, |line| line.matches(separator).count());
        lines.len() >= 3
            && first >= 1
            && lines
                .iter()
                .all(|line| line.matches(separator).count() == first)
    };
    if all('\t') {
        Some(Format::Tsv)
    } else if all(',')
        && !lines
            .iter()
            .any(|line| line.contains(", ") || line.ends_with('.'))
    {
        Some(Format::Csv)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(text: &str, format: Format) -> String {
        parse(text, format, &Limits::default()).unwrap().markdown
    }

    #[test]
    fn quoted_values_keep_separators_bars_and_line_breaks() {
        let text = "이름,설명\r\n\"김, 철수\",\"a|b\n둘째 줄\"\r\n";
        assert_eq!(
            markdown(text, Format::Csv),
            "| 이름 | 설명 |\n| --- | --- |\n| 김, 철수 | a\\|b<br>둘째 줄 |\n"
        );
    }

    #[test]
    fn the_separator_is_found() {
        assert_eq!(
            markdown("a;b\n1,5;2\n", Format::Csv),
            "| a | b |\n| --- | --- |\n| 1,5 | 2 |\n"
        );
        assert_eq!(
            markdown("sep=|\na|b\n", Format::Csv),
            "| a | b |\n| --- | --- |\n"
        );
        assert_eq!(
            markdown("a\tb,c\n", Format::Tsv),
            "| a | b,c |\n| --- | --- |\n"
        );
    }

    #[test]
    fn prose_is_no_table() {
        assert_eq!(
            looks_like("하나, 둘, 셋\n넷, 다섯, 여섯\n일곱, 여덟, 아홉\n"),
            None
        );
        assert_eq!(looks_like("a,b\n1,2\n3,4\n"), Some(Format::Csv));
    }
}
