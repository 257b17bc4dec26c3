//! Tables for people: aligned by what a terminal shows, cut to its width.

/// Between two columns.
const GAP: usize = 2;
/// No column but the last is wider.
const COLUMN_MAX: usize = 60;
/// No column is cut further than to this.
const COLUMN_MIN: usize = 5;

/// The width of each column so that a row fits into `width`, where there is one. The last column gives way
/// first, then the widest of the others; the first one, which tells what a row is about, comes last.
pub(crate) fn widths(rows: &[Vec<String>], width: Option<usize>) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let natural = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| shown_width(cell)).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..columns).map(natural).collect();
    let last = columns.saturating_sub(1);
    for (column, wide) in widths.iter_mut().enumerate() {
        if column != last || width.is_none() {
            *wide = (*wide).min(COLUMN_MAX);
        }
    }
    if let Some(width) = width {
        shrink(&mut widths, width);
    }
    widths
}

/// Takes away what is too much for a row of this width.
pub(crate) fn shrink(widths: &mut [usize], width: usize) {
    let last = widths.len().saturating_sub(1);
    let mut excess = total(widths).saturating_sub(width);
    while excess > 0 {
        let can_give = |column: &usize| widths[*column] > COLUMN_MIN;
        let widest_inside = (1..last)
            .filter(can_give)
            .max_by_key(|&column| widths[column]);
        let Some(column) = Some(last)
            .filter(can_give)
            .or(widest_inside)
            .or(Some(0).filter(can_give))
        else {
            break;
        };
        widths[column] -= 1;
        excess -= 1;
    }
}

/// The same for a table whose rows are not known yet: its last column, which is not among `widths`, gets the rest
/// of the line and at least the room for a few words.
pub(crate) fn with_rest(widths: &[usize], width: Option<usize>) -> Vec<usize> {
    const REST_MIN: usize = 12;
    let mut all = widths.to_vec();
    all.push(REST_MIN);
    let Some(width) = width else {
        all[widths.len()] = COLUMN_MAX;
        return all;
    };
    shrink(&mut all, width);
    let rest = width.saturating_sub(total(&all));
    all[widths.len()] += rest;
    all
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// One row, without spaces at its end.
pub(crate) fn row(cells: &[String], widths: &[usize]) -> String {
    let fitted = cells
        .iter()
        .zip(widths)
        .map(|(cell, &width)| fit(cell, width));
    let text = fitted.collect::<Vec<_>>().join(&" ".repeat(GAP));
    text.trim_end().to_owned()
}

/// Cut or filled up to exactly this width.
fn fit(text: &str, width: usize) -> String {
    let wide = shown_width(text);
    if wide <= width {
        return format!("{text}{}", " ".repeat(width - wide));
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        let step = char_width(c);
        // The mark that something is missing needs a place, too.
        if used + step + 1 > width {
            break;
        }
        used += step;
        kept.push(c);
    }
    format!("{kept}…{}", " ".repeat(width.saturating_sub(used + 1)))
}

/// How many places of a terminal a text takes.
pub(crate) fn shown_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// East Asian wide characters and pictures take two places, marks that join the character before them none.
/// The blocks are those of Unicode's East Asian Width "W" and "F", taken whole.
fn char_width(c: char) -> usize {
    match u32::from(c) {
        // The usual case first.
        0x20..=0x7e => 1,
        // Joining marks; vowels and finals of Hangul that is written letter by letter; invisible characters.
        0x300..=0x36f
        | 0x1160..=0x11ff
        | 0x1ab0..=0x1aff
        | 0x1dc0..=0x1dff
        | 0x200b..=0x200f
        | 0x202a..=0x202e
        | 0x2060..=0x2064
        | 0x20d0..=0x20ff
        | 0xd7b0..=0xd7ff
        | 0xfe00..=0xfe0f
        | 0xfe20..=0xfe2f
        | 0xfeff
        | 0xe0100..=0xe01ef => 0,
        // Hangul letters, CJK and its punctuation, kana, Hangul syllables, full-width forms.
        0x1100..=0x115f
        | 0x231a..=0x231b
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xa960..=0xa97f
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff01..=0xff60
        | 0xffe0..=0xffe6
        // Pictures.
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1f9ff
        | 0x1fa70..=0x1faff
        // The planes of rarer ideographs.
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(cells: &[&[&str]]) -> Vec<Vec<String>> {
        let owned = |row: &&[&str]| row.iter().map(|cell| (*cell).to_owned()).collect();
        cells.iter().map(owned).collect()
    }

    fn render(table: &[Vec<String>], width: Option<usize>) -> Vec<String> {
        let widths = widths(table, width);
        table.iter().map(|cells| row(cells, &widths)).collect()
    }

    #[test]
    fn wide_characters_are_counted_as_the_terminal_shows_them() {
        for (text, width) in [
            ("abc", 3),
            ("계산기", 6),
            ("전자계산기 tool", 15),
            ("e\u{301}", 1),
            ("\u{1100}\u{1161}\u{11a8}", 2),
            ("日本語、かな", 12),
            ("🙂", 2),
            ("naïve…", 6),
        ] {
            assert_eq!(shown_width(text), width, "{text}");
        }
    }

    #[test]
    fn columns_are_aligned() {
        let table = rows(&[
            &["NAME", "STATE"],
            &["계산기", "on"],
            &["calculator", "off"],
        ]);
        assert_eq!(
            render(&table, None),
            ["NAME        STATE", "계산기      on", "calculator  off"]
        );
    }

    #[test]
    fn a_row_fits_the_terminal() {
        let table = rows(&[
            &["NAME", "KIND", "DESCRIPTION"],
            &["sum", "builtin", "더하기를 하는 도구입니다, 그리고 더"],
            &["a-tool", "builtin", "short"],
        ]);
        for width in 21..60 {
            for line in render(&table, Some(width)) {
                assert!(shown_width(&line) <= width, "{width}: {line}");
            }
        }
        // A wide character that would stick out by half is left out.
        assert_eq!(render(&table, Some(26))[1], "sum     builtin  더하기를…");
        assert_eq!(render(&table, Some(25))[1], "sum     builtin  더하기…");
        assert!(render(&table, Some(200))[1].ends_with("그리고 더"));
    }

    #[test]
    fn rows_that_are_to_come_have_the_rest_of_the_line() {
        assert_eq!(with_rest(&[10, 10], Some(80)), [10, 10, 56]);
        assert_eq!(with_rest(&[10, 10], Some(36)), [10, 10, 12]);
        assert_eq!(with_rest(&[10, 10], Some(26)), [10, 7, 5]);
        assert_eq!(with_rest(&[10, 10], None), [10, 10, 60]);
    }

    #[test]
    fn the_first_column_gives_way_last() {
        let long = "x".repeat(30);
        let table = rows(&[&[&long, &long, &long]]);
        assert_eq!(widths(&table, Some(70)), [30, 30, 6]);
        assert_eq!(widths(&table, Some(40)), [26, 5, 5]);
        assert_eq!(
            widths(&table, Some(1)),
            [5, 5, 5],
            "narrower is no use to anyone"
        );
    }
}
