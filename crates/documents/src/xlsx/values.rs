//! Numbers as a person reads them: dates that are dates, percentages, and no trailing noise.

use std::collections::HashMap;

use crate::xml::Tree;

/// How the cells of a workbook are formatted.
pub(super) struct Formats {
    /// For each cell style.
    styles: Vec<Shape>,
    since_1904: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Plain,
    Percent(usize),
    Date,
    Time,
    DateTime,
}

const SECONDS_A_DAY: f64 = 86_400.0;
/// The last day that Excel knows, in the year 9999.
const DAYS_MAX: f64 = 2_958_466.0;

impl Formats {
    pub(super) fn of(tree: Option<&Tree>, since_1904: bool) -> Self {
        let Some(root) = tree.map(Tree::root) else {
            return Self {
                styles: Vec::new(),
                since_1904,
            };
        };
        let own: HashMap<u32, &str> = root
            .child("numFmts")
            .into_iter()
            .flat_map(|formats| formats.children())
            .filter_map(|format| {
                Some((format.number("numFmtId")?, format.attribute("formatCode")?))
            })
            .collect();
        let shape = |id: u32| {
            own.get(&id)
                .map_or_else(|| built_in(id), |code| of_code(code))
        };
        let cells = root
            .child("cellXfs")
            .into_iter()
            .flat_map(|styles| styles.children())
            .filter(|style| style.is("xf"));
        Self {
            styles: cells
                .map(|style| style.number("numFmtId").map_or(Shape::Plain, shape))
                .collect(),
            since_1904,
        }
    }

    /// A number in a cell of this style.
    pub(super) fn show(&self, value: &str, style: usize) -> String {
        let Ok(number) = value.trim().parse::<f64>() else {
            return value.to_owned();
        };
        match self.styles.get(style).copied().unwrap_or(Shape::Plain) {
            Shape::Plain => plain(number, value),
            Shape::Percent(digits) => {
                let text = format!("{:.*}", digits.max(2), number * 100.0);
                format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
            }
            shape => self
                .moment(number, shape)
                .unwrap_or_else(|| plain(number, value)),
        }
    }

    fn moment(&self, serial: f64, shape: Shape) -> Option<String> {
        if !(0.0..DAYS_MAX).contains(&serial) {
            return None;
        }
        let seconds_in_all = (serial * SECONDS_A_DAY).round() as i64;
        let (day, seconds) = (seconds_in_all / 86_400, seconds_in_all % 86_400);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let time = format!("{hour:02}:{minute:02}:{second:02}");
        let date = || {
            let (year, month, day) = civil(if self.since_1904 { day + 1_462 } else { day });
            format!("{year:04}-{month:02}-{day:02}")
        };
        Some(match shape {
            Shape::Date if seconds == 0 => date(),
            Shape::Time if day == 0 => time,
            // Durations count their hours on.
            Shape::Time => format!("{}:{minute:02}:{second:02}", seconds_in_all / 3_600),
            _ => format!("{} {time}", date()),
        })
    }
}

/// Excel writes 17 digits, which turns 0.1 into 0.10000000000000001. Fifteen are what it shows.
fn plain(number: f64, written: &str) -> String {
    if written.len() <= 15 && !written.contains(['e', 'E']) {
        return written.trim().to_owned();
    }
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    if rounded != 0.0 && !(1e-9..1e15).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}

/// The date of a serial number. Day 60 is 29 February 1900, which Excel believes in and the calendar does not.
fn civil(serial: i64) -> (i64, i64, i64) {
    if serial == 60 {
        return (1900, 2, 29);
    }
    // Days since 1 March of the year 0, after Howard Hinnant's algorithm; 719_468 of them lie before 1970.
    let since_1970 = serial - if serial > 60 { 25_569 } else { 25_568 };
    let days = since_1970 + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn built_in(id: u32) -> Shape {
    match id {
        9 => Shape::Percent(0),
        10 => Shape::Percent(2),
        14..=17 | 27..=31 | 36 | 50..=58 => Shape::Date,
        18..=21 | 32..=35 | 45..=47 => Shape::Time,
        22 => Shape::DateTime,
        _ => Shape::Plain,
    }
}

/// What a format code such as `yyyy"년" m"월" d"일"` makes of a number.
fn of_code(code: &str) -> Shape {
    let mut letters = String::new();
    let mut rest = code.split(';').next().unwrap_or("").chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => drop(rest.by_ref().find(|c| *c == '"')),
            '\\' | '_' | '*' => drop(rest.next()),
            // Colours and conditions; `[h]` is a duration.
            '[' => {
                let inside: String = rest.by_ref().take_while(|c| *c != ']').collect();
                if !inside.is_empty()
                    && inside
                        .chars()
                        .all(|c| matches!(c, 'h' | 'H' | 'm' | 'M' | 's' | 'S'))
                {
                    letters.push_str(&inside);
                }
            }
            c => letters.push(c.to_ascii_lowercase()),
        }
    }
    if letters.contains('%') {
        let digits = letters
            .split('.')
            .nth(1)
            .map_or(0, |rest| rest.chars().take_while(|c| *c == '0').count());
        return Shape::Percent(digits);
    }
    if letters.contains("general") || letters.contains(['0', '#']) && !letters.contains(['y', 'h'])
    {
        return Shape::Plain;
    }
    let date =
        letters.contains(['y', 'd']) || letters.contains('m') && !letters.contains(['h', 's']);
    match (date, letters.contains(['h', 's'])) {
        (true, true) => Shape::DateTime,
        (true, false) => Shape::Date,
        (false, true) => Shape::Time,
        (false, false) => Shape::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(value: &str, shape: Shape) -> String {
        Formats {
            styles: vec![shape],
            since_1904: false,
        }
        .show(value, 0)
    }

    #[test]
    fn dates_are_those_that_excel_shows() {
        assert_eq!(show("1", Shape::Date), "1900-01-01");
        assert_eq!(show("60", Shape::Date), "1900-02-29");
        assert_eq!(show("61", Shape::Date), "1900-03-01");
        assert_eq!(show("46340.5", Shape::DateTime), "2026-11-14 12:00:00");
        assert_eq!(show("0.75", Shape::Time), "18:00:00");
        assert_eq!(show("-5", Shape::Date), "-5");
        let mac = Formats {
            styles: vec![Shape::Date],
            since_1904: true,
        };
        assert_eq!(mac.show("0", 0), "1904-01-01");
    }

    #[test]
    fn codes_are_told_apart() {
        assert_eq!(of_code("yyyy\"년\" m\"월\" d\"일\""), Shape::Date);
        assert_eq!(of_code("#,##0\"원\""), Shape::Plain);
        assert_eq!(of_code("[Red]0.0%"), Shape::Percent(1));
        assert_eq!(of_code("[h]:mm"), Shape::Time);
        assert_eq!(of_code("yyyy-mm-dd hh:mm"), Shape::DateTime);
    }

    #[test]
    fn numbers_lose_only_noise() {
        assert_eq!(show("0.10000000000000001", Shape::Plain), "0.1");
        assert_eq!(show("1234567", Shape::Plain), "1234567");
        assert_eq!(show("1.2E-3", Shape::Plain), "0.0012");
        assert_eq!(show("0.125", Shape::Percent(0)), "12.5%");
        assert_eq!(show("abc", Shape::Plain), "abc");
    }
}
