//! Numbers as lists write them: letters, syllables, Roman.

/// A number as a list writes it.
pub(crate) fn write(format: &str, number: u32) -> String {
    const SYLLABLES: &str = "가나다라마바사아자차카타파하";
    const LETTERS: &str = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ";
    let from = |set: &str| {
        set.chars()
            .nth((number.max(1) as usize - 1) % set.chars().count())
            .map(String::from)
            .unwrap_or_default()
    };
    let letter = |first: u8| char::from(first + ((number.max(1) - 1) % 26) as u8).to_string();
    match format {
        "ganada" => from(SYLLABLES),
        "chosung" => from(LETTERS),
        "upperLetter" => letter(b'A'),
        "lowerLetter" => letter(b'a'),
        "upperRoman" => roman(number),
        "lowerRoman" => roman(number).to_lowercase(),
        "decimalEnclosedCircle" if number <= 20 => char::from_u32(0x2460 + number.max(1) - 1)
            .map(String::from)
            .unwrap_or_default(),
        _ => number.to_string(),
    }
}

fn roman(number: u32) -> String {
    if number > 3_999 {
        return number.to_string();
    }
    let steps = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut left = number;
    let mut out = String::new();
    for (value, sign) in steps {
        while left >= value {
            left -= value;
            out.push_str(sign);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_of_korean_lists() {
        assert_eq!(write("ganada", 3), "다");
        assert_eq!(write("chosung", 2), "ㄴ");
        assert_eq!(write("upperRoman", 14), "XIV");
        assert_eq!(write("decimalEnclosedCircle", 3), "③");
    }
}
