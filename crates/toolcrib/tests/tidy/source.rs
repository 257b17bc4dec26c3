//! Finding and reading the files of the repository, and telling Rust's code, comments and strings apart.

use std::fs;
use std::path::{Path, PathBuf};

const TEXT_ENDINGS: &[&str] = &[
    "rs", "md", "toml", "py", "sql", "json", "html", "css", "js", "ts", "tsx", "yml",
];

/// One file of the repository; for Rust, also its code, comments and strings apart, each with the lines of the whole.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) code: String,
    pub(crate) comments: String,
    pub(crate) strings: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let (mut code, mut comments, mut strings) = (String::new(), String::new(), String::new());
        if path.ends_with(".rs") {
            for (part, piece) in pieces(text) {
                for (own, mask) in [
                    (Part::Code, &mut code),
                    (Part::Comment, &mut comments),
                    (Part::Text, &mut strings),
                ] {
                    mask.extend(
                        piece
                            .chars()
                            .map(|c| if c == '\n' || part == own { c } else { ' ' }),
                    );
                }
            }
        }
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            code,
            comments,
            strings,
        }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.has_ending(&["rs"])
    }

    pub(crate) fn has_ending(&self, endings: &[&str]) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|own| endings.iter().any(|ending| own == *ending))
    }

    /// Rust that goes into a crate: not its `tests/`, nor a `tests.rs` or `…_tests.rs` beside the code.
    pub(crate) fn is_product_code(&self) -> bool {
        let tests = self.path.ends_with("/tests.rs") || self.path.ends_with("_tests.rs");
        self.is_rust() && self.path.contains("/src/") && !tests
    }

    pub(crate) fn is_crate_manifest(&self) -> bool {
        self.path.ends_with("/Cargo.toml")
    }

    /// `catalog` for `crates/catalog/…`, `bench` for `bench/…`.
    pub(crate) fn krate(&self) -> &str {
        let inside = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        inside.split('/').next().unwrap_or_default()
    }

    /// The code above the test module, which by custom ends the file.
    pub(crate) fn code_without_tests(&self) -> &str {
        self.code
            .split("#[cfg(test)]\nmod ")
            .next()
            .unwrap_or_default()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Code,
    Comment,
    Text,
}

/// Cuts Rust text into code, comments and literals. It knows just enough to keep them apart.
fn pieces(text: &str) -> Vec<(Part, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut code_length = 0;
    while let Some(next) = rest[code_length..].chars().next() {
        let here = &rest[code_length..];
        let after_name = rest[..code_length].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let literal = if here.starts_with("//") {
            Some((Part::Comment, here.find('\n').unwrap_or(here.len())))
        } else if here.starts_with("/*") {
            Some((Part::Comment, block_comment_length(here)))
        } else if let Some(length) = raw_string_length(here).filter(|_| !after_name) {
            Some((Part::Text, length))
        } else if next == '"' {
            Some((Part::Text, quoted_length(here, '"')))
        } else if next == '\'' && is_char_literal(here) {
            Some((Part::Text, quoted_length(here, '\'')))
        } else {
            None
        };
        let Some((part, length)) = literal else {
            code_length += next.len_utf8();
            continue;
        };
        found.push((Part::Code, &rest[..code_length]));
        found.push((part, &here[..length]));
        rest = &here[length..];
        code_length = 0;
    }
    found.push((Part::Code, rest));
    found
}

fn block_comment_length(text: &str) -> usize {
    let mut depth = 0;
    for (index, _) in text.char_indices() {
        if text[index..].starts_with("/*") {
            depth += 1;
        } else if text[index..].starts_with("*/") {
            depth -= 1;
            if depth == 0 {
                return index + 2;
            }
        }
    }
    text.len()
}

/// The length of `r"…"` or `br#"…"#` when the text begins with one.
fn raw_string_length(text: &str) -> Option<usize> {
    let body = text.trim_start_matches(['b', 'c']).strip_prefix('r')?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let inside = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let closing = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(text.len() - inside.len() + closing)
}

fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return index + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// `'a'` and `'\n'`, but not the lifetime `'a`.
fn is_char_literal(text: &str) -> bool {
    let mut following = text.chars().skip(1);
    match following.next() {
        Some('\\') => true,
        Some(_) => following.next() == Some('\''),
        None => false,
    }
}

/// Identifiers with their line numbers.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().flat_map(|(index, line)| {
        line.split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .map(move |word| (index + 1, word))
    })
}

pub(crate) fn lines_with(text: &str, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = usize> {
    text.lines()
        .enumerate()
        .filter(move |(_, line)| wanted(line))
        .map(|(index, _)| index + 1)
}

/// What a manifest's `[dependencies]` and `[build-dependencies]` name, with line numbers.
pub(crate) fn dependencies(manifest: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (index, line) in manifest.lines().enumerate() {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end().trim_end_matches(']');
            inside = ["dependencies", "build-dependencies"].contains(&header);
            if let Some(name) = header.strip_prefix("dependencies.") {
                found.push((index + 1, name));
            }
        } else if inside && !line.trim_start().starts_with('#') {
            let name = line.split(['.', '=']).next().unwrap_or_default().trim();
            found.extend((!name.is_empty()).then_some((index + 1, name)));
        }
    }
    found
}

pub(crate) fn sources() -> Vec<Source> {
    let mut files = Vec::new();
    walk(&root(), &mut files);
    assert!(
        files.len() > 20,
        "only {} files found: is this the source tree?",
        files.len()
    );
    files.sort();
    let read = |file: PathBuf| {
        let path = file
            .strip_prefix(root())
            .expect("found below the root")
            .to_string_lossy()
            .into_owned();
        // A colleague's editor may remove a file between the walk and the read.
        fs::read_to_string(file)
            .ok()
            .map(|text| Source::new(&path, &text))
    };
    files.into_iter().filter_map(read).collect()
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let skipped = [
        "target",
        "node_modules",
        "dist",
        "screenshots",
        ".git",
        ".deps",
        ".run",
    ];
    for entry in fs::read_dir(folder)
        .expect("a folder of the source tree can be read")
        .flatten()
    {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !skipped.contains(&name.as_str()) {
                walk(&path, files);
            }
        } else if path
            .extension()
            .is_none_or(|own| TEXT_ENDINGS.iter().any(|ending| own == *ending))
        {
            files.push(path);
        }
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the crate is two folders below the root")
}
