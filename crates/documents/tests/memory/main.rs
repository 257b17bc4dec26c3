//! Documents made to fill the memory, and ordinary ones, each read in a process of its own as the worker reads it: with
//! one gibibyte, on a thread that may do nothing but compute. Not under the usual harness: a process that reads is this program called with the name of a case.

#[path = "../it/archive.rs"]
mod archive;

use std::io::Write;
use std::process::Command;

use archive::{Part, archive, deflate};
use documents::{Limits, answer, question, read};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use rustix::process::{Resource, Rlimit, setrlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

const MEMORY_BYTES_MAX: u64 = 1 << 30;
const STACK_BYTES: usize = 64 << 20;
/// What a case may have at most, in mebibytes: well within what the process may.
const PEAK_MEBIBYTES_MAX: u64 = 700;

/// The name of a case, what the answer begins with (its code, and of a refusal the words too), and its document.
type Case = (&'static str, &'static str, fn() -> Vec<u8>);

const CASES: &[Case] = &[
    ("PDF", "ok", || {
        include_bytes!("../fixtures/report.pdf").to_vec()
    }),
    ("DOCX", "ok", || {
        include_bytes!("../fixtures/report.docx").to_vec()
    }),
    ("XLSX", "ok", || {
        include_bytes!("../fixtures/book.xlsx").to_vec()
    }),
    ("PPTX", "ok", || {
        include_bytes!("../fixtures/slides.pptx").to_vec()
    }),
    ("HWP", "ok", || {
        include_bytes!("../fixtures/rhwp.hwp").to_vec()
    }),
    ("HWPX", "ok", || {
        include_bytes!("../fixtures/rhwp.hwpx").to_vec()
    }),
    ("Johab", "ok", || {
        include_bytes!("../fixtures/johab.txt").to_vec()
    }),
    ("locked PDF", "encrypted", || {
        include_bytes!("../fixtures/locked.pdf").to_vec()
    }),
    (
        "zip bomb that says so",
        "too_large: the document is too large: bytes of one part",
        || zip_bomb(1_024, 1 << 30),
    ),
    (
        "zip bomb under the size",
        "too_large: the document is too large: how many times",
        || zip_bomb(50, 50 << 20),
    ),
    (
        "zip bomb that lies",
        "corrupt: the DOCX document is damaged: a part is larger than it says",
        || zip_bomb(1_024, 1_000),
    ),
    (
        "many parts of some size",
        "too_large: the document is too large: bytes when unpacked",
        many_parts,
    ),
    (
        "entities in entities",
        "corrupt: the DOCX document is damaged: it declares a document type",
        entities,
    ),
    (
        "deep elements",
        "too_large: the document is too large: depth",
        || docx(&"<a>".repeat(1_000_000)),
    ),
    (
        "many elements",
        "too_large: the document is too large: number of elements",
        many_elements,
    ),
    (
        "many attributes",
        "too_large: the document is too large: number of attributes",
        || {
            docx(&format!(
                "<a {}/>",
                numbered(2_000_000, |i| format!("a{i}='' "))
            ))
        },
    ),
    (
        "many names",
        "too_large: the document is too large: number of different names",
        || {
            docx(&format!(
                "<a>{}</a>",
                numbered(2_000_000, |i| format!("<n{i}/>"))
            ))
        },
    ),
    ("much text", "ok", much_text),
    ("many paragraphs", "ok", many_paragraphs),
    (
        "many shared texts",
        "too_large: the document is too large: number of texts",
        many_strings,
    ),
    ("boxes in boxes", "ok", boxes),
    (
        "packed page",
        "too_large: the document is too large: bytes of one stream",
        || pdf("/FlateDecode", &packed_zeros(1_000)),
    ),
    (
        "twice packed page",
        "too_large: the document is too large: bytes of one stream",
        twice_packed,
    ),
    (
        "page in letters",
        "too_large: the document is too large: bytes of one stream",
        page_in_letters,
    ),
    ("page of orders", "ok", page_of_orders),
    ("page of one tag", "ok", || {
        format!("<html><p {}>글", numbered(1_500_000, |i| format!("a{i} "))).into_bytes()
    }),
    ("deep page", "ok", || {
        format!("<html>{}글", "<div>".repeat(2_500_000)).into_bytes()
    }),
    ("many elements in a deep page", "ok", || {
        format!(
            "<html>{}{}글",
            "<div>".repeat(190),
            "<div></div>".repeat(1_000_000)
        )
        .into_bytes()
    }),
    ("tables in tables", "ok", || {
        format!("<html>{}글", "<table><tr><td>".repeat(500_000)).into_bytes()
    }),
    ("wide row", "ok", || {
        format!("a{}", ",".repeat(15_000_000)).into_bytes()
    }),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    if let Some(name) = arguments
        .next()
        .filter(|first| first == "read")
        .and_then(|_| arguments.next())
    {
        return read_case(&name);
    }
    let mut out = std::io::stdout();
    let mut failed = 0;
    for (name, expected, _) in CASES {
        let told = run(name);
        let good = told.answer.starts_with(expected) && told.peak_mebibytes <= PEAK_MEBIBYTES_MAX;
        failed += usize::from(!good);
        let sign = if good { "ok" } else { "FAILED" };
        let Told {
            answer,
            peak_mebibytes,
            milliseconds,
        } = told;
        writeln!(
            out,
            "{name}: {peak_mebibytes} MiB, {milliseconds} ms, {answer} ... {sign}"
        )
        .expect("standard output is open");
    }
    assert_eq!(failed, 0, "cases failed");
}

struct Told {
    answer: String,
    peak_mebibytes: u64,
    milliseconds: u64,
}

fn run(name: &str) -> Told {
    let own = std::env::current_exe().expect("a program has a path");
    let done = Command::new(own)
        .args(["read", name])
        .output()
        .expect("this program can be called");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let mut fields = text.trim_end().splitn(3, ' ');
    let mut number = || fields.next().and_then(|field| field.parse().ok());
    match (number(), number(), fields.next()) {
        (Some(peak_mebibytes), Some(milliseconds), Some(answer)) => Told {
            answer: answer.to_owned(),
            peak_mebibytes,
            milliseconds,
        },
        _ => Told {
            answer: format!("died: {}", done.status),
            peak_mebibytes: 0,
            milliseconds: 0,
        },
    }
}

/// Makes the document, then limits the process and reads it on a stack like the worker's.
fn read_case(name: &str) {
    let (_, _, document) = CASES
        .iter()
        .find(|(known, ..)| *known == name)
        .expect("a known case");
    let question = question(&document(), None, &Limits::default());
    let limit = Some(MEMORY_BYTES_MAX);
    setrlimit(
        Resource::As,
        Rlimit {
            current: limit,
            maximum: limit,
        },
    )
    .expect("less memory is always granted");
    let begun = std::time::Instant::now();
    let seal = seal();
    let sealed = move || {
        documents::prepare();
        seccompiler::apply_filter(&seal).expect("a thread may always give up what it may");
        answer(&question)
    };
    let reader = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(sealed)
        .expect("a thread");
    let answer = reader.join().expect("no panic comes out");
    let milliseconds = begun.elapsed().as_millis();
    let told = match read(&answer) {
        Ok(_) => "ok".to_owned(),
        Err(refusal) => {
            let code = serde_json::to_value(refusal.code).expect("a name");
            format!("{}: {}", code.as_str().expect("a name"), refusal.message)
        }
    };
    writeln!(
        std::io::stdout(),
        "{} {milliseconds} {told}",
        peak_mebibytes()
    )
    .expect("standard output is open");
}

/// Memory, waiting, and ending; everything else is refused.
fn seal() -> BpfProgram {
    let allowed = [
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_sigaltstack,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];
    let rules = allowed.into_iter().map(|call| (call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let machine = std::env::consts::ARCH.try_into().expect("a known machine");
    let filter =
        SeccompFilter::new(rules, refused, SeccompAction::Allow, machine).expect("a filter");
    filter.try_into().expect("a filter")
}

/// Of this process so far, making the document included.
fn peak_mebibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .expect("Linux tells");
    line.split_whitespace()
        .nth(1)
        .and_then(|kibibytes| kibibytes.parse::<u64>().ok())
        .expect("a number")
        / 1024
}

fn zip_bomb(mebibytes: usize, stated: u32) -> Vec<u8> {
    let zlib = packed_zeros(mebibytes);
    // The bare deflate data inside the zlib wrapping.
    let packed = zlib[2..zlib.len() - 4].to_vec();
    archive(&[Part {
        name: "word/document.xml".into(),
        packed,
        size: stated,
        checksum: 0,
    }])
}

fn many_parts() -> Vec<u8> {
    let packed = deflate(&vec![b' '; 4 << 20]);
    let part = |name: String| Part {
        name,
        packed: packed.clone(),
        size: 4 << 20,
        checksum: 0,
    };
    let mut parts = vec![part("word/document.xml".into())];
    parts.extend((0..200).map(|at| part(format!("word/media/{at}"))));
    archive(&parts)
}

fn entities() -> Vec<u8> {
    let mut types = String::from("<!DOCTYPE a [<!ENTITY e0 'ha'>");
    (1..30).for_each(|at| types.push_str(&format!("<!ENTITY e{at} '&e{0};&e{0};&e{0};'>", at - 1)));
    docx(&format!(
        "{types}]><document><body><p><r><t>&e29;</t></r></p></body></document>"
    ))
}

fn many_elements() -> Vec<u8> {
    docx(&format!(
        "<a>{}</a>",
        numbered(3_100_000, |i| format!("<b c='{i}'/>"))
    ))
}

fn much_text() -> Vec<u8> {
    let text = numbered(4_000_000, |i| format!("{i} 가 "));
    docx(&format!(
        "<document><body><p><r><t>{text}</t></r></p></body></document>"
    ))
}

fn many_paragraphs() -> Vec<u8> {
    let paragraphs = numbered(600_000, |i| format!("<p><r><t>문단 {i}</t></r></p>"));
    docx(&format!("<document><body>{paragraphs}</body></document>"))
}

fn many_strings() -> Vec<u8> {
    let strings = numbered(3_100_000, |i| format!("<si/><!--{i}-->"));
    archive(&[
        Part::new("xl/workbook.xml", b"<workbook/>"),
        Part::new(
            "xl/_rels/workbook.xml.rels",
            b"<Relationships><Relationship Id='a' Type='x/sharedStrings' Target='s.xml'/></Relationships>",
        ),
        Part::new("xl/s.xml", format!("<sst>{strings}</sst>").as_bytes()),
    ])
}

/// Text boxes within each other: read twice at each level, this would not end.
fn boxes() -> Vec<u8> {
    let depth = 38;
    let open = "<p><r><t>상자</t><drawing><txbxContent>".repeat(depth);
    let close = "</txbxContent></drawing></r></p>".repeat(depth);
    docx(&format!("<document><body>{open}{close}</body></document>"))
}

fn twice_packed() -> Vec<u8> {
    let mut outer = ZlibEncoder::new(Vec::new(), Compression::best());
    outer
        .write_all(&packed_zeros(4_000))
        .expect("memory takes it");
    pdf(
        "[/FlateDecode/FlateDecode]",
        &outer.finish().expect("memory takes it"),
    )
}

fn page_in_letters() -> Vec<u8> {
    let digits: String = packed_zeros(1_000)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    pdf(
        "[/ASCIIHexDecode /FlateDecode]",
        format!("{digits}>").as_bytes(),
    )
}

/// As many drawing orders as are let through.
fn page_of_orders() -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed
        .write_all("0 0 m 9 9 l S\n".repeat(590_000).as_bytes())
        .expect("memory takes it");
    pdf("/FlateDecode", &packed.finish().expect("memory takes it"))
}

fn numbered(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

/// A Word document with this body and nothing else.
fn docx(document: &str) -> Vec<u8> {
    archive(&[Part::new("word/document.xml", document.as_bytes())])
}

/// Zeros, packed, without ever having them all.
fn packed_zeros(mebibytes: usize) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0; 1024 * 1024];
    (0..mebibytes).for_each(|_| encoder.write_all(&zeros).expect("memory takes it"));
    encoder.finish().expect("memory takes it")
}

/// A PDF of one page whose content is this stream.
fn pdf(filter: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Count 1/Kids[3 0 R]>> endobj\n\
        3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R>> endobj\n"
        .to_vec();
    bytes.extend(
        format!(
            "4 0 obj <</Filter{filter}/Length {}>>\nstream\n",
            content.len()
        )
        .bytes(),
    );
    bytes.extend(content);
    bytes.extend(b"\nendstream endobj\ntrailer <</Root 1 0 R>>\n%%EOF\n");
    bytes
}
