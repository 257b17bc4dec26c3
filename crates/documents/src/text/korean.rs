//! Korean encodings that `encoding_rs` does not have (ISO-2022-KR, Johab), and telling them from the one it has.

use encoding_rs::{DecoderResult, EUC_KR};

/// Which of the two families of two-byte Hangul a text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guess {
    /// EUC-KR and its superset CP949.
    Wansung,
    /// Hangul put together from its letters: DOS, HWP before 5.
    Johab,
}

const DESIGNATION: &[u8] = b"\x1b$)C";
const SHIFT_OUT: u8 = 0x0e;
const SHIFT_IN: u8 = 0x0f;

pub(super) fn is_iso2022(sample: &[u8]) -> bool {
    sample.is_ascii()
        && sample
            .windows(DESIGNATION.len())
            .any(|window| window == DESIGNATION)
}

/// Seven bits: `SO` begins Korean, `SI` or the end of a line ends it.
pub(super) fn from_iso2022(bytes: &[u8]) -> (String, bool) {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut korean = false;
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(DESIGNATION) {
            rest = after;
            continue;
        }
        rest = after;
        match byte {
            SHIFT_OUT => korean = true,
            SHIFT_IN => korean = false,
            b'\n' => {
                korean = false;
                plain.push(byte);
            }
            0x21..=0x7e if korean => plain.push(byte | 0x80),
            _ => plain.push(byte),
        }
    }
    let (text, lossy) = EUC_KR.decode_without_bom_handling(&plain);
    (text.into_owned(), lossy)
}

/// Which Korean encoding a text is in, if it is in one: the right reading is full of everyday syllables.
pub(super) fn guess(sample: &[u8]) -> Option<Guess> {
    let (wansung, lossy) = EUC_KR.decode_without_bom_handling(sample);
    let wansung_share = everyday_share(&wansung);
    if wansung_share >= 0.8 && (!lossy || replaced(&wansung) < 0.05) {
        return Some(Guess::Wansung);
    }
    let (johab, _) = from_johab(sample);
    let johab_share = everyday_share(&johab);
    if johab_share >= 0.9 && johab_share > wansung_share && replaced(&johab) < 0.05 {
        return Some(Guess::Johab);
    }
    None
}

fn replaced(text: &str) -> f64 {
    let bad = text
        .chars()
        .filter(|c| *c == char::REPLACEMENT_CHARACTER)
        .count();
    bad as f64 / text.chars().count().max(1) as f64
}

/// Of the characters beyond ASCII, how many are among the 2,350 syllables of KS X 1001 or its symbols.
fn everyday_share(text: &str) -> f64 {
    let (mut everyday, mut all) = (0_u32, 0_u32);
    let mut pair = [0; 4];
    for c in text.chars().filter(|c| !c.is_ascii()).take(2_000) {
        all += 1;
        let mut encoder = EUC_KR.new_encoder();
        let (result, _, written) = encoder.encode_from_utf8_without_replacement(
            c.encode_utf8(&mut [0; 4]),
            &mut pair,
            true,
        );
        let is_syllable = matches!(c, '가'..='힣' | '\u{3000}'..='\u{303f}' | '·' | '“' | '”' | '‘' | '’' | '※' | '○' | '□' | '■' | '●');
        if is_syllable
            && written == 2
            && pair[0] >= 0xa1
            && pair[1] >= 0xa1
            && result == encoding_rs::EncoderResult::InputEmpty
        {
            everyday += 1;
        }
    }
    if all == 0 {
        0.0
    } else {
        f64::from(everyday) / f64::from(all)
    }
}

/// Whether a text that decodes as CP949 uses what EUC-KR does not have.
pub(super) fn goes_beyond_euc_kr(bytes: &[u8]) -> bool {
    let mut rest = bytes.iter();
    while let Some(lead) = rest.next() {
        if *lead < 0x80 {
            continue;
        }
        let Some(trail) = rest.next() else {
            return false;
        };
        if *lead < 0xa1 || *trail < 0xa1 {
            return true;
        }
    }
    false
}

const FIRST: [u8; 32] = places(&[(2, 0, 19)]);
const MIDDLE: [u8; 32] = places(&[(3, 0, 5), (10, 5, 6), (18, 11, 6), (26, 17, 4)]);
const LAST: [u8; 32] = places(&[(1, 0, 17), (19, 17, 11)]);
const FIRST_FILL: u16 = 1;
const MIDDLE_FILL: u16 = 2;
const LAST_FILL: u16 = 1;
const NO_LETTER: u8 = 0xff;
const FIRST_ALONE: [char; 19] = [
    'ㄱ', 'ㄲ', 'ㄴ', 'ㄷ', 'ㄸ', 'ㄹ', 'ㅁ', 'ㅂ', 'ㅃ', 'ㅅ', 'ㅆ', 'ㅇ', 'ㅈ', 'ㅉ', 'ㅊ', 'ㅋ',
    'ㅌ', 'ㅍ', 'ㅎ',
];
const LAST_ALONE: [char; 28] = [
    ' ', 'ㄱ', 'ㄲ', 'ㄳ', 'ㄴ', 'ㄵ', 'ㄶ', 'ㄷ', 'ㄹ', 'ㄺ', 'ㄻ', 'ㄼ', 'ㄽ', 'ㄾ', 'ㄿ', 'ㅀ',
    'ㅁ', 'ㅂ', 'ㅄ', 'ㅅ', 'ㅆ', 'ㅇ', 'ㅈ', 'ㅊ', 'ㅋ', 'ㅌ', 'ㅍ', 'ㅎ',
];

/// Five bits to a letter's number, from stretches of (first code, first number, how many).
const fn places(stretches: &[(usize, u8, u8)]) -> [u8; 32] {
    let mut table = [NO_LETTER; 32];
    let mut at = 0;
    while at < stretches.len() {
        let (code, number, count) = stretches[at];
        let mut offset = 0;
        while offset < count {
            table[code + offset as usize] = number + offset;
            offset += 1;
        }
        at += 1;
    }
    table
}

pub(super) fn from_johab(bytes: &[u8]) -> (String, bool) {
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 2);
    let mut lossy = false;
    let mut rest = bytes;
    while let Some((&lead, after)) = rest.split_first() {
        rest = after;
        if lead < 0x80 {
            text.push(char::from(lead));
            continue;
        }
        let found = rest.first().and_then(|trail| johab_character(lead, *trail));
        if found.is_some() {
            rest = &rest[1..];
        }
        lossy |= found.is_none();
        text.push(found.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    (text, lossy)
}

fn johab_character(lead: u8, trail: u8) -> Option<char> {
    if (0x84..=0xd3).contains(&lead) {
        return johab_syllable(u16::from_be_bytes([lead, trail]));
    }
    let row = match lead {
        0xd9..=0xde => (lead - 0xd9) * 2 + 0x21,
        0xe0..=0xf9 => (lead - 0xe0) * 2 + 0x4a,
        _ => return None,
    };
    // Two rows of 94 in one: symbols and Chinese characters stand in the order of KS X 1001.
    let place = match trail {
        0x31..=0x7e => trail - 0x31,
        0x91..=0xfe => trail - 0x91 + 78,
        _ => return None,
    };
    let pair = [(row + place / 94) | 0x80, (place % 94 + 0x21) | 0x80];
    let mut text = [0; 4];
    let (result, _, written) = EUC_KR
        .new_decoder_without_bom_handling()
        .decode_to_utf8_without_replacement(&pair, &mut text, true);
    let whole = result == DecoderResult::InputEmpty;
    std::str::from_utf8(&text[..written])
        .ok()
        .filter(|_| whole)?
        .chars()
        .next()
}

fn johab_syllable(code: u16) -> Option<char> {
    let (first, middle, last) = (code >> 10 & 31, code >> 5 & 31, code & 31);
    let letter = |table: &[u8; 32], code: u16| {
        Some(table[usize::from(code)]).filter(|letter| *letter != NO_LETTER)
    };
    match (
        letter(&FIRST, first),
        letter(&MIDDLE, middle),
        letter(&LAST, last),
    ) {
        (Some(first), Some(middle), Some(last)) => char::from_u32(
            0xac00 + (u32::from(first) * 21 + u32::from(middle)) * 28 + u32::from(last),
        ),
        (Some(first), None, Some(0)) if middle == MIDDLE_FILL => {
            FIRST_ALONE.get(usize::from(first)).copied()
        }
        (None, Some(middle), Some(0)) if first == FIRST_FILL => {
            char::from_u32(0x314f + u32::from(middle))
        }
        (None, None, Some(last))
            if first == FIRST_FILL && middle == MIDDLE_FILL && code & 31 != LAST_FILL =>
        {
            LAST_ALONE.get(usize::from(last)).copied()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_bit_korean_is_read() {
        // What Python's iso2022_kr codec makes of "한국어 test 문서".
        let bytes = b"\x1b$)C\x0eGQ19>n\x0f test \x0e9.<-\x0f\n";
        assert!(is_iso2022(bytes));
        assert_eq!(
            from_iso2022(bytes),
            ("한국어 test 문서\n".to_owned(), false)
        );
    }

    #[test]
    fn johab_is_read_and_told_from_wansung() {
        // What Python's johab codec makes of these two.
        let bytes = b"\xd0e\x8a\x82\xb4\xe1 \xa2\x85\xac\xe1\x93e \xb9\xa1\xd0s\xd1w \xa6\x81\xd1\xa1\x9d\xa1 \xb8\xe1\xb8w\x96A\xb4\xe1 \xb7\xb6\xafs\x93\xa1\x94a. \x99\xb1\xa4w\x88b\xd0a";
        assert_eq!(guess(bytes), Some(Guess::Johab));
        assert_eq!(
            from_johab(bytes),
            (
                "한국어 문서는 조합형 부호로 저장되어 있습니다. 똠방각하".to_owned(),
                false
            )
        );
        assert_eq!(
            from_johab(b"\xe01\xf9\xfe\xd92\x88A\x84D\x84a"),
            ("伽詰、ㄱㄳㅏ".to_owned(), false)
        );
    }
}
