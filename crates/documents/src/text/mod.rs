//! Plain text in whatever encoding it comes, Korean ones first of all.

mod korean;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{EUC_KR, Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};

/// A text and what it was written in.
pub(crate) struct Decoded {
    pub(crate) text: String,
    pub(crate) encoding: &'static str,
    /// Some bytes fit no character of the encoding.
    pub(crate) lossy: bool,
}

/// How much of a text is looked at to tell its encoding.
const SAMPLE_BYTES: usize = 64 * 1024;

/// Bytes as text; `None` if they are no text at all.
pub(crate) fn decode(bytes: &[u8]) -> Option<Decoded> {
    let decoded = decode_any(bytes);

    (!is_binary(&decoded.text)).then_some(decoded)
}

/// A web page: its mark decides, then what the server said, then what the page says, then a guess. A page that is not
/// in the encoding it claims is guessed at too.
pub(crate) fn decode_page(bytes: &[u8], charset: Option<&str>) -> Option<Decoded> {
    if Encoding::for_bom(bytes).is_some() {
        return decode(bytes);
    }
    let claimed = [charset.map(str::to_owned), claimed_charset(bytes)];
    for label in claimed.into_iter().flatten() {
        // UTF-16 cannot be claimed in ASCII letters; a page that does so is in UTF-8.
        let encoding = Encoding::for_label(label.as_bytes()).map(|encoding| {
            if encoding.is_ascii_compatible() {
                encoding
            } else {
                UTF_8
            }
        });
        let decoded = encoding
            .filter(|encoding| *encoding != REPLACEMENT)
            .map(|encoding| with(encoding, bytes));
        if let Some(decoded) = decoded.filter(|decoded| !decoded.lossy && !is_binary(&decoded.text))
        {
            return Some(decoded);
        }
    }
    decode(bytes)
}

/// What follows `charset=` near the beginning of a page.
fn claimed_charset(bytes: &[u8]) -> Option<String> {
    const HEAD_BYTES: usize = 4 * 1024;
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD_BYTES)]).to_ascii_lowercase();
    let (_, rest) = head.split_once("charset=")?;
    let label: String = rest
        .trim_start_matches(['"', '\''])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "-_:".contains(*c))
        .collect();
    (!label.is_empty()).then_some(label)
}

fn decode_any(bytes: &[u8]) -> Decoded {
    if let Some((encoding, skip)) = Encoding::for_bom(bytes) {
        return with(encoding, &bytes[skip..]);
    }
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    if let Some(encoding) = utf16_without_mark(sample) {
        return with(encoding, bytes);
    }
    if korean::is_iso2022(sample) {
        return finished(korean::from_iso2022(bytes), "ISO-2022-KR");
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Decoded {
            text: text.to_owned(),
            encoding: "UTF-8",
            lossy: false,
        };
    }
    if is_nearly_utf8(bytes) {
        return with(UTF_8, bytes);
    }
    match korean::guess(sample) {
        Some(korean::Guess::Johab) => finished(korean::from_johab(bytes), "Johab"),
        Some(korean::Guess::Wansung) => with(EUC_KR, bytes),
        None => {
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
            detector.feed(sample, true);
            with(detector.guess(None, Utf8Detection::Deny), bytes)
        }
    }
}

fn with(encoding: &'static Encoding, bytes: &[u8]) -> Decoded {
    let (text, lossy) = encoding.decode_without_bom_handling(bytes);
    let name = match encoding.name() {
        "EUC-KR" if korean::goes_beyond_euc_kr(bytes) => "CP949",
        name => name,
    };
    Decoded {
        text: text.into_owned(),
        encoding: name,
        lossy,
    }
}

fn finished((text, lossy): (String, bool), encoding: &'static str) -> Decoded {
    Decoded {
        text,
        encoding,
        lossy,
    }
}

/// UTF-16 without its mark shows in every second byte: zero for Latin, in the Hangul rows for Korean.
fn utf16_without_mark(sample: &[u8]) -> Option<&'static Encoding> {
    if sample.len() < 4 || !sample.len().is_multiple_of(2) {
        return None;
    }
    let fits = |high: usize| {
        let plain = sample.chunks_exact(2).filter(|unit| {
            let (high, low) = (unit[high], unit[1 - high]);
            match high {
                0 => {
                    (0x20..0x7f).contains(&low)
                        || matches!(low, b'\n' | b'\r' | b'\t')
                        || low >= 0xa0
                }
                0x30 | 0x20 | 0x25 => true,
                0xac..=0xd7 => true,
                _ => false,
            }
        });
        plain.count() * 20 >= sample.len() / 2 * 19
    };
    let zeros = sample.iter().filter(|byte| **byte == 0).count();
    match (fits(0), fits(1)) {
        // Korean in CP949 has lead bytes in the same rows: only zero bytes, which no text has otherwise, decide.
        (true, false) if zeros > 0 => Some(UTF_16BE),
        (false, true) if zeros > 0 => Some(UTF_16LE),
        _ => None,
    }
}

/// UTF-8 with a broken place or two, such as a file cut in the middle of a character.
fn is_nearly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0, 0);
    for chunk in bytes[..bytes.len().min(SAMPLE_BYTES)].utf8_chunks() {
        good += chunk.valid().bytes().filter(|byte| *byte >= 0x80).count();
        bad += chunk.invalid().len();
    }
    good > 20 * bad
}

fn is_binary(text: &str) -> bool {
    let (mut control, mut all) = (0_usize, 0_usize);
    for c in text.chars().take(SAMPLE_BYTES) {
        all += 1;
        if c == '\0' {
            return true;
        }
        if c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}' | '\u{1a}' | '\u{1b}')
            || c == char::REPLACEMENT_CHARACTER
        {
            control += 1;
        }
    }
    // A text that was cut ends in the middle of a character at times.
    control.saturating_sub(1) * 10 > all
}

/// Line ends as Unix has them.
pub(crate) fn with_plain_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .trim_matches(['\u{feff}', '\u{1a}'])
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8]) -> (String, &'static str) {
        let decoded = decode(bytes).unwrap();
        (decoded.text, decoded.encoding)
    }

    #[test]
    fn utf16_is_told_without_its_mark() {
        let text = "보고서 2026년\n표 1: 매출\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(told(&little), (text.to_owned(), "UTF-16LE"));
        assert_eq!(told(&big), (text.to_owned(), "UTF-16BE"));
    }

    #[test]
    fn wansung_and_its_extension_are_told_apart() {
        let euc = EUC_KR
            .encode("안녕하세요, 한국어 문서입니다.")
            .0
            .into_owned();
        assert_eq!(
            told(&euc),
            ("안녕하세요, 한국어 문서입니다.".to_owned(), "EUC-KR")
        );
        let extended = EUC_KR
            .encode("펲시콜라를 마시는 똠방각하의 뷁")
            .0
            .into_owned();
        assert_eq!(
            told(&extended),
            ("펲시콜라를 마시는 똠방각하의 뷁".to_owned(), "CP949")
        );
    }

    #[test]
    fn western_text_is_not_taken_for_korean() {
        let (text, encoding) =
            told(b"Le caf\xe9 est ferm\xe9 cet apr\xe8s-midi, revenez \xe0 midi.");
        assert_eq!(
            (text.as_str(), encoding),
            (
                "Le café est fermé cet après-midi, revenez à midi.",
                "windows-1252"
            )
        );
    }

    #[test]
    fn a_page_is_in_the_encoding_that_it_claims_unless_it_is_not() {
        let japanese = encoding_rs::SHIFT_JIS
            .encode("<meta charset='Shift_JIS'><p>日本語のページ")
            .0
            .into_owned();
        assert_eq!(decode_page(&japanese, None).unwrap().encoding, "Shift_JIS");
        let korean = EUC_KR
            .encode("<meta charset=utf-8><p>거짓말하는 문서입니다")
            .0
            .into_owned();
        assert_eq!(decode_page(&korean, None).unwrap().encoding, "EUC-KR");
        let western = b"<p>caf\xe9 \xb1\xb1\xb1\xb1";
        assert_eq!(
            decode_page(western, Some("iso-8859-1")).unwrap().encoding,
            "windows-1252"
        );
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let noise: Vec<u8> = (0..4096_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        assert!(decode(&noise).is_none());
    }
}
