//! Documents that other programs made come out with headings, lists, links and tables in place.

use crate::archive::{Part, archive};
use crate::fixtures::{fixture, parse};
use documents::{Error, Format, Limits};

const TITLE: &str = "2026년 상반기 사업 보고서";
const BODY: &str =
    "이 보고서는 서울 본사의 매출과 비용을 정리한다. English words stand beside 한글 words.";
const TABLE: &str = "| 구분 | 1분기 | 2분기 |\n| --- | --- | --- |\n| 매출 (억원) | 1,204 | 1,377 |\n\
    | 비용 \\| 기타 | 803 | 첫 줄<br>둘째 줄 |\n| 합계 | 2,007 |  |\n";
const LINK: &str = "[누리집](https://example.com/보고서?q=1)";

#[test]
fn a_word_document() {
    let document = parse("report.docx").unwrap();
    let expected = format!(
        "# {TITLE}\n\n{BODY} **굵은 글씨** 그리고 *기울인 글씨*.\n\n## 1. 요약\n\n- 첫째 항목\n    - 안쪽 항목\n1. 하나\n2. 둘\n\n\
         자세한 내용은 {LINK}\n\n{TABLE}\n\\# 머리글이 아닌 줄, snake_case 와 \\*별표\\*\n"
    );
    assert_eq!(document.markdown, expected);
    assert_eq!(document.metadata["title"], TITLE);
    assert_eq!(document.metadata["author"], "홍길동");
    assert_eq!(document.warnings, Vec::<String>::new());
}

#[test]
fn an_excel_workbook() {
    let document = parse("book.xlsx").unwrap();
    let expected = format!(
        "## 매출\n\n{TABLE}| 날짜 | 2026-06-30 | 2026-06-30 18:30:00 |\n| 성장률 | 14.4% | 0.3 |\n\
         | 계산 | `=SUM(B6:B7)` | TRUE |\n| {LINK} |  |  |\n\n## 숨은 시트\n\n| 숨은 값 |\n| --- |\n"
    );
    assert_eq!(document.markdown, expected);
    assert_eq!(
        document.metadata["sheets"],
        serde_json::json!(["매출", "숨은 시트"])
    );
    let told = document.warnings.join("\n");
    assert!(
        told.contains("1 formula(s) of the sheet '매출' were saved without a result"),
        "{told}"
    );
    assert!(
        told.contains("merged") && told.contains("'숨은 시트' is hidden"),
        "{told}"
    );
}

#[test]
fn a_sheet_whose_cells_lie_far_apart_is_small() {
    assert_eq!(
        parse("far.xlsx").unwrap().markdown,
        "## Sheet\n\n| 처음 |  |\n| --- | --- |\n|  | 끝 |\n"
    );
}

#[test]
fn a_presentation() {
    let document = parse("slides.pptx").unwrap();
    let expected = format!(
        "## Slide 1: {TITLE}\n\n서울 본사\n\n## Slide 2: 요약 | Summary\n\n- 매출이 늘었다\n    - 2분기 1,377억원\n- {LINK}\n\n\
         > **Notes**\n>\n> 여기서 잠깐 쉰다.\n\n## Slide 3: 표\n\n{TABLE}"
    );
    assert_eq!(document.markdown, expected);
    assert_eq!(document.metadata["slides"], 3);
}

#[test]
fn a_pdf_in_a_korean_font() {
    let document = parse("report.pdf").unwrap();
    let table = TABLE.replace("<br>", " "); // a page knows no difference between a line and a cell of two lines
    let expected = format!(
        "# {TITLE}\n\n{BODY}\n\n## 1. 요약\n\n{}\n\n{table}\n## 2. 전망\n\n{}\n",
        "매출은 늘고 비용은 줄었다. ".repeat(8).trim_end(),
        "하반기에도 같은 흐름이 이어진다. ".repeat(6).trim_end(),
    );
    assert_eq!(document.markdown, expected);
    assert_eq!(
        (&document.metadata["pages"], &document.metadata["author"]),
        (&2.into(), &"홍길동".into())
    );
}

#[test]
fn a_pdf_that_only_its_owner_may_change_is_read() {
    assert_eq!(
        parse("owner.pdf").unwrap().markdown,
        parse("report.pdf").unwrap().markdown
    );
}

#[test]
fn hangul_documents_of_one_writer_read_alike() {
    let expected = format!(
        "머리 문단\n\n# 1. {TITLE}\n\n{BODY}\n\n## 가. 요약\n\n1. 하나\n2. 둘\n- 점 항목\n\n자세한 내용은 {LINK}[^1]\n\n{TABLE}\n끝 문단\n\n\
         [^1]: 각주의 글\n"
    );
    assert_eq!(parse("report.hwpx").unwrap().markdown, expected);
    let old = parse("report.hwp").unwrap();
    assert_eq!(old.markdown, expected);
    assert_eq!(old.metadata["version"], "5.1.1.0");
}

#[test]
fn hangul_documents_of_another_writer_read_alike() {
    let body = BODY.replace("보고서는", "**보고서**[^1]는");
    let expected = format!("# 1. {TITLE}\n\n{body}\n\n## 가. 요약\n\n{TABLE}\n[^1]: 각주의 글\n");
    assert_eq!(parse("rhwp.hwpx").unwrap().markdown, expected);
    assert_eq!(parse("rhwp.hwp").unwrap().markdown, expected);
}

#[test]
fn a_hangul_document_for_distribution_gives_its_preview() {
    let mut bytes = fixture("rhwp.hwp");
    let head = bytes
        .windows(17)
        .position(|window| window == b"HWP Document File")
        .unwrap();
    bytes[head + 36] |= 4;
    let document = documents::parse(&bytes, Some("배포용.hwp"), &Limits::default()).unwrap();
    assert!(
        document.markdown.contains(TITLE) && document.markdown.contains("매출"),
        "{}",
        document.markdown
    );
    assert!(
        document.warnings[0].contains("배포용"),
        "{:?}",
        document.warnings
    );
    // The other writer leaves no preview.
    let mut bytes = fixture("report.hwp");
    let head = bytes
        .windows(17)
        .position(|window| window == b"HWP Document File")
        .unwrap();
    bytes[head + 36] |= 4;
    assert_eq!(
        documents::parse(&bytes, None, &Limits::default()),
        Err(Error::DistributionDocument)
    );
}

#[test]
fn text_in_every_korean_encoding() {
    let first = "동해 물과 백두산이 마르고 닳도록 하느님이 보우하사 우리나라 만세.\n";
    let names = [
        ("utf8-bom.txt", "UTF-8"),
        ("utf16le.txt", "UTF-16LE"),
        ("utf16be.txt", "UTF-16BE"),
        ("euc-kr.txt", "EUC-KR"),
        ("cp949.txt", "CP949"),
        ("iso2022-kr.txt", "ISO-2022-KR"),
        ("johab.txt", "Johab"),
    ];
    for (name, encoding) in names {
        let document = parse(name).unwrap();
        assert_eq!(document.metadata["encoding"], encoding, "{name}");
        assert!(
            document.markdown.starts_with(first),
            "{name}: {}",
            document.markdown
        );
        assert!(
            document.markdown.ends_with("2026-11-14, 3.14.\n"),
            "{name}: {}",
            document.markdown
        );
        assert!(
            document.warnings.is_empty(),
            "{name}: {:?}",
            document.warnings
        );
    }
}

#[test]
fn a_csv_file_in_a_korean_encoding() {
    let document = parse("table.csv").unwrap();
    assert_eq!(document.markdown, TABLE);
    assert_eq!(
        (&document.metadata["rows"], &document.metadata["columns"]),
        (&4.into(), &3.into())
    );
}

#[test]
fn locked_documents_are_refused_as_such() {
    for (name, format) in [
        ("locked.pdf", Format::Pdf),
        ("locked.xlsx", Format::Xlsx),
        ("locked.hwp", Format::Hwp),
        ("locked.hwpx", Format::Hwpx),
    ] {
        assert_eq!(parse(name), Err(Error::Encrypted(format)), "{name}");
    }
}

#[test]
fn the_content_decides_and_a_wrong_name_is_mentioned() {
    let document = documents::parse(
        &fixture("report.pdf"),
        Some("보고서.docx"),
        &Limits::default(),
    )
    .unwrap();
    assert_eq!(document.metadata["format"], "pdf");
    assert_eq!(
        document.warnings[0],
        "the name says DOCX, but the content is PDF; it was read as PDF"
    );
    let nameless = documents::parse(&fixture("report.hwp"), None, &Limits::default()).unwrap();
    assert_eq!(nameless.metadata["format"], "hwp");
    assert!(nameless.warnings.is_empty());
}

#[test]
fn what_is_empty_or_no_document_is_refused_in_plain_words() {
    let refuse = |bytes: &[u8]| documents::parse(bytes, None, &Limits::default()).unwrap_err();
    assert_eq!(refuse(b""), Error::Empty);
    assert_eq!(refuse(b"\xef\xbb\xbf \r\n\t"), Error::Empty);
    let told = refuse(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0").to_string();
    assert!(
        told.starts_with("an image (PNG) cannot be read; what can be read: PDF, DOCX"),
        "{told}"
    );
    assert!(
        refuse(b"HWP Document File V3.00 \x1a\x01\x02")
            .to_string()
            .contains("version 3")
    );
    assert!(
        refuse(&archive(&[Part::new("a.txt", b"b")]))
            .to_string()
            .starts_with("a zip archive")
    );
}

#[test]
fn markdown_passes_through() {
    let text = "# 제목\r\n\r\n| a | b |\r\n|---|---|\r\n";
    let document = documents::parse(text.as_bytes(), Some("a.md"), &Limits::default()).unwrap();
    assert_eq!(document.markdown, "# 제목\n\n| a | b |\n|---|---|\n");
    assert_eq!(document.metadata["title"], "제목");
}

#[test]
fn what_does_not_fit_is_cut_with_a_warning() {
    let limits = Limits {
        markdown_bytes_max: 60,
        ..Limits::default()
    };
    for name in [
        "report.docx",
        "report.pdf",
        "report.hwpx",
        "euc-kr.txt",
        "table.csv",
    ] {
        let document = documents::parse(&fixture(name), Some(name), &limits).unwrap();
        assert!(
            document.markdown.len() <= 61,
            "{name}: {}",
            document.markdown.len()
        );
        assert!(
            document
                .warnings
                .iter()
                .any(|warning| warning.contains("cut after 60 bytes")),
            "{name}: {:?}",
            document.warnings
        );
    }
}
