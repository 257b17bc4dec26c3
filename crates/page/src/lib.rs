//! The files of the web page, as they were built, inside the program.

/// One file, and what is left of it when it is packed.
pub struct File {
    /// From the root of the site, without the slash before it.
    pub path: &'static str,
    pub bytes: &'static [u8],
    pub br: Option<&'static [u8]>,
    pub gz: Option<&'static [u8]>,
}

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The document that every address of the page is answered with.
pub const INDEX: &str = "index.html";

/// Stands in the document where each answer has a word of its own.
pub const NONCE: &str = "__NONCE__";

pub fn file(path: &str) -> Option<&'static File> {
    let at = FILES.binary_search_by(|file| file.path.cmp(path)).ok()?;
    FILES.get(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_found_by_its_path() {
        for one in FILES {
            assert_eq!(file(one.path).map(|it| it.path), Some(one.path));
        }
        assert!(file(INDEX).is_some(), "there is always a document");
        assert!(file("assets/none.js").is_none());
    }
}
