//! What a pattern costs. The engine takes time in proportion to the text, but also to all the places of the pattern
//! where a match may be at once: `a.{300}b` is 300 times the work of `a.b`.

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

/// Parts of one pattern with its repetitions written out: half a second of compiling.
const PARTS_MAX: u32 = 25_000;
/// The same, over all different patterns of a document.
pub(super) const PARTS_IN_ALL_MAX: u32 = 200_000;
/// Bytes of a pattern that are read again cost as much as one part.
const BYTES_REWRITTEN: usize = 100;
/// Ranges of characters that cost as much as one part: to compile, and in a match, where few of them are in use.
const RANGES_COMPILED: usize = 16;
const RANGES_MATCHED: usize = 128;

/// Parts of a pattern, tried at one byte each, that cost as much as one step.
const PARTS_PER_STEP: u64 = 4;

/// How a pattern is matched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pattern {
    /// Parts where a match may be at the same time.
    width: u32,
    /// Bytes of a text that are looked at.
    bytes_max: usize,
    /// What compiling it costs.
    pub(super) parts: u32,
}

impl Pattern {
    /// None where it is too large to be compiled.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        let rewriting = u32::try_from(bytes_rewritten(pattern) / BYTES_REWRITTEN);
        let rewriting = rewriting.ok().filter(|parts| *parts <= PARTS_MAX)?;
        let rewritten = jsonschema_regex::to_rust_regex(pattern).ok();
        let Some(hir) = rewritten.and_then(|text| regex_syntax::parse(&text).ok()) else {
            // The validator will say what is wrong with it, or never use it.
            return Some(Pattern {
                width: PARTS_MAX,
                bytes_max: usize::MAX,
                parts: rewriting,
            });
        };
        let parts = parts(&hir, RANGES_COMPILED).saturating_add(rewriting);
        let is_at_start = hir.properties().look_set_prefix().contains(Look::Start);
        let end = hir.properties().maximum_len().filter(|_| is_at_start);
        (parts <= PARTS_MAX).then(|| Pattern {
            width: width(&hir).max(1),
            bytes_max: end.unwrap_or(usize::MAX),
            parts,
        })
    }

    /// The steps it takes to match a text of so many bytes.
    pub(super) fn steps(&self, bytes: usize) -> u32 {
        let bytes = u64::try_from(bytes.min(self.bytes_max)).unwrap_or(u64::MAX);
        let steps = bytes.saturating_mul(u64::from(self.width)) / PARTS_PER_STEP;
        u32::try_from(steps).unwrap_or(u32::MAX)
    }
}

/// The validator replaces `\d` and its like one by one, and reads the whole pattern again after each.
fn bytes_rewritten(pattern: &str) -> usize {
    const DIGIT_OR_WORD: usize = "[^A-Za-z0-9_]".len();
    const SPACE: usize = 160;
    let (mut replaced, mut bytes) = (1_usize, pattern.len());
    for pair in pattern.as_bytes().windows(2) {
        let grown = match pair {
            [b'\\', b'd' | b'D' | b'w' | b'W'] => DIGIT_OR_WORD,
            [b'\\', b's' | b'S'] => SPACE,
            [b'\\', b'c'] => 0,
            _ => continue,
        };
        replaced += 1;
        bytes += grown;
    }
    replaced.saturating_mul(bytes)
}

/// The parts of a pattern with all repetitions written out.
fn parts(hir: &Hir, ranges: usize) -> u32 {
    let sum = |subs: &[Hir]| {
        let parts = subs.iter().map(|sub| parts(sub, ranges));
        parts.fold(0, u32::saturating_add)
    };
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Literal(literal) => count(literal.0.len()),
        HirKind::Class(Class::Unicode(class)) => count(1 + class.ranges().len() / ranges),
        HirKind::Repetition(repetition) => {
            let copies = repetition.max.unwrap_or(repetition.min).max(1);
            let choices = match repetition.max {
                Some(max) => max - repetition.min,
                None => 1,
            };
            let written = parts(&repetition.sub, ranges).saturating_mul(copies);
            written.saturating_add(choices)
        }
        // Where it begins and ends is a place of its own.
        HirKind::Capture(capture) => parts(&capture.sub, ranges).saturating_add(2),
        HirKind::Concat(subs) => sum(subs),
        HirKind::Alternation(subs) => sum(subs).saturating_add(count(subs.len())),
    }
}

/// The parts where a match may be at the same time: all, except where the text can only be read in one way.
fn width(hir: &Hir) -> u32 {
    let all = parts(hir, RANGES_MATCHED);
    let HirKind::Concat(subs) = hir.kind() else {
        return all;
    };
    let is_at_start = matches!(subs[0].kind(), HirKind::Look(Look::Start));
    let mut repeated = subs.iter().filter_map(repeated_class);
    match (is_at_start, repeated.next(), repeated.next()) {
        // Like `^[a-z]{1,5000}$`: how often it was repeated follows from where in the text one is.
        (true, Some(only), None) => {
            let once = parts(&only.sub, RANGES_MATCHED).saturating_add(1);
            let written = parts(&Hir::repetition(only.clone()), RANGES_MATCHED);
            all.saturating_sub(written).saturating_add(once)
        }
        _ => all,
    }
}

/// The repetition that the part is, of a single class.
fn repeated_class(hir: &Hir) -> Option<&Repetition> {
    match hir.kind() {
        HirKind::Capture(capture) => repeated_class(&capture.sub),
        HirKind::Repetition(repetition) => {
            matches!(repetition.sub.kind(), HirKind::Class(_)).then_some(repetition)
        }
        _ => None,
    }
}

fn count(parts: usize) -> u32 {
    u32::try_from(parts).unwrap_or(u32::MAX)
}
