//! A request, read once: what stands in quotes, and the words around it with the places where they stand.

use selection::speech::{PARTICLES, is_hangul};
use std::ops::Range;

/// Words between two that are both meant.
pub(super) const BOTH: [&str; 4] = ["and", "&", "및", "그리고"];

/// Words between two of which one is meant.
pub(super) const EITHER: [&str; 4] = ["or", "또는", "혹은", "아니면"];

/// A request as it is looked through.
#[derive(Debug)]
pub(crate) struct Said<'a> {
    pub(crate) request: &'a str,
    pub(crate) is_korean: bool,
    /// What stands outside of quotes.
    pub(crate) words: Vec<Word<'a>>,
    pub(crate) quotes: Vec<Quote<'a>>,
}

/// Something between marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quote<'a> {
    pub(crate) text: &'a str,
    /// With its marks.
    pub(crate) place: Range<usize>,
    pub(crate) mark: Mark,
    /// What follows three backticks: the name of a language.
    pub(crate) tag: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Quote,
    Backtick,
    Fence,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Without what stands around it: `Seoul` of `(Seoul)?`.
    pub(crate) bare: &'a str,
    /// In small letters, without the ending that Korean puts to it.
    pub(crate) stem: String,
    /// That ending; empty where there is none.
    pub(crate) particle: &'a str,
    pub(crate) place: Range<usize>,
    pub(crate) begins_sentence: bool,
    pub(crate) ends_sentence: bool,
    /// A mark that sets it apart follows: `rooms: two, large`.
    pub(crate) ends_part: bool,
}

impl<'a> Said<'a> {
    pub(crate) fn new(request: &'a str) -> Self {
        let quotes = quotes(request);
        Said {
            request,
            is_korean: request.chars().any(is_hangul),
            words: words(request, &quotes),
            quotes,
        }
    }

    /// The words before a place, the nearest first; none beyond the end of the sentence.
    pub(crate) fn before(&self, place: usize) -> impl Iterator<Item = &Word<'a>> {
        let before = self.words.iter().rev();
        before
            .skip_while(move |it| it.place.end > place)
            .take_while(|it| !it.ends_sentence)
    }

    /// Where some words stand.
    pub(crate) fn place(&self, words: &Range<usize>) -> Range<usize> {
        let at = |at: usize| self.words.get(at).map_or(0..0, |it| it.place.clone());
        at(words.start).start..at(words.end.saturating_sub(1)).end
    }

    pub(crate) fn next(&self, at: usize) -> Option<&Word<'a>> {
        self.words.get(at + 1)
    }

    pub(crate) fn previous(&self, at: usize) -> Option<&Word<'a>> {
        at.checked_sub(1).and_then(|at| self.words.get(at))
    }
}

fn quotes(request: &str) -> Vec<Quote<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = request[from..].find(['"', '“', '`', '「', '『', '\'', '‘']) {
        let at = from + at;
        let quote = match request[at..].starts_with("```") {
            true => fence(request, at),
            false => quote(request, at),
        };
        match quote {
            Some(quote) => {
                from = quote.place.end;
                found.push(quote);
            }
            None => from = at + request[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

fn fence(request: &str, at: usize) -> Option<Quote<'_>> {
    let inside = &request[at + 3..];
    let end = inside.find("```")?;
    let inside = &inside[..end];
    let first = inside.lines().next().unwrap_or_default();
    let is_tag = inside.contains('\n') && first.chars().all(|c| c.is_ascii_alphanumeric());
    let (tag, text) = match is_tag {
        true => (first, &inside[first.len()..]),
        false => ("", inside),
    };
    (!text.trim().is_empty()).then_some(Quote {
        text: text.trim_matches(['\n', '\r']),
        place: at..at + end + 6,
        mark: Mark::Fence,
        tag,
    })
}

fn quote(request: &str, at: usize) -> Option<Quote<'_>> {
    let open = request[at..].chars().next()?;
    let close = match open {
        '“' => '”',
        '「' => '」',
        '『' => '』',
        '‘' => '’',
        same => same,
    };
    // The mark in `don't` opens nothing, and the one in `it's` closes nothing.
    let is_inside = |at: usize, after: usize| {
        let alone = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
        !alone(request[..at].chars().next_back()) && !alone(request[after..].chars().next())
    };
    let is_apostrophe = matches!(open, '\'' | '‘');
    if is_apostrophe && request[..at].ends_with(char::is_alphanumeric) {
        return None;
    }
    let start = at + open.len_utf8();
    let ends = request[start..].match_indices(close).map(|it| start + it.0);
    let mut ends = ends.filter(|end| !(is_apostrophe && is_inside(*end, end + close.len_utf8())));
    let end = ends.next()?;
    let text = &request[start..end];
    (!text.trim().is_empty()).then_some(Quote {
        text,
        place: at..end + close.len_utf8(),
        mark: if open == '`' {
            Mark::Backtick
        } else {
            Mark::Quote
        },
        tag: "",
    })
}

fn words<'a>(request: &'a str, quotes: &[Quote<'a>]) -> Vec<Word<'a>> {
    let mut words: Vec<Word<'a>> = Vec::new();
    let mut from = 0;
    let gaps = quotes.iter().map(|it| it.place.clone());
    for gap in gaps.chain(std::iter::once(request.len()..request.len())) {
        for token in request[from..gap.start].split_whitespace() {
            let at = token.as_ptr() as usize - request.as_ptr() as usize;
            if let Some(word) = word(token, at, words.last().is_none_or(|it| it.ends_sentence)) {
                words.push(word);
            } else if let Some(last) = words.last_mut() {
                last.ends_part = true;
            }
        }
        from = gap.end;
    }
    words
}

fn word(token: &str, at: usize, begins_sentence: bool) -> Option<Word<'_>> {
    let is_part = |c: char| c.is_alphanumeric() || "#$€₩£%°@/+-~_".contains(c);
    let start = token.find(is_part)?;
    let bare = token[start..].trim_end_matches(|c: char| !is_part(c));
    let bare = bare.trim_end_matches(['/', '-', '~', '+']);
    let tail = &token[start + bare.len()..];
    if bare.is_empty() {
        return None;
    }
    let (body, particle) = unparticled(bare);
    Some(Word {
        bare,
        stem: body.to_lowercase(),
        particle,
        place: at + start..at + start + bare.len(),
        begins_sentence,
        ends_sentence: tail.contains(['.', '!', '?', '。']),
        ends_part: tail.contains([',', ':', ';', ')', '.', '!', '?', '。', '→']),
    })
}

/// A Korean word and the ending that says what part it plays. What is not Korean before it may be short: `A를`.
pub(crate) fn unparticled(bare: &str) -> (&str, &str) {
    if !bare.chars().next_back().is_some_and(is_hangul) {
        let body = bare.strip_suffix("'s").or(bare.strip_suffix("’s"));
        return body.map_or((bare, ""), |body| (body, &bare[body.len()..]));
    }
    let mut best = (bare, "");
    for particle in PARTICLES {
        if let Some(body) = bare.strip_suffix(particle)
            && particle.len() > best.1.len()
            && (body.chars().count() >= 2 || body.ends_with(|c: char| c.is_ascii_alphanumeric()))
        {
            best = (body, particle);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_found_whatever_their_marks() {
        for (request, expected) in [
            ("say \"a b\" and 'c'", vec!["a b", "c"]),
            ("don't say 'it's late' now", vec!["it's late"]),
            ("“안녕”과 「책」을", vec!["안녕", "책"]),
            ("run `ls -l`", vec!["ls -l"]),
            ("```python\nprint(1)\n```", vec!["print(1)"]),
            ("the kids' room", vec![]),
            ("\"open", vec![]),
        ] {
            let texts: Vec<&str> = quotes(request).iter().map(|it| it.text).collect();
            assert_eq!(texts, expected, "{request}");
        }
        assert_eq!(quotes("```python\nprint(1)\n```")[0].tag, "python");
    }

    #[test]
    fn words_lose_what_stands_around_them() {
        let said = Said::new("hong의 (일일) 제한량은? park's \"x y\" done.");
        let words: Vec<(&str, &str)> = said
            .words
            .iter()
            .map(|it| (it.stem.as_str(), it.particle))
            .collect();
        assert_eq!(
            words,
            [
                ("hong", "의"),
                ("일일", ""),
                ("제한량", "은"),
                ("park", "'s"),
                ("done", "")
            ]
        );
        assert!(said.words[2].ends_sentence && said.words[3].begins_sentence);
    }
}
