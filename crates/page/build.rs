//! Lists the built files of the page for `include_bytes!`. Never runs npm: `make page` does. Without them a placeholder says so,
//! so that everything compiles on a machine without Node.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const DIST: &str = "../../web/dist";
const PLACEHOLDER: &str = "placeholder";

fn main() -> io::Result<()> {
    // Asked when it runs: clones that share a target folder share this program, too. For the same reason cargo is told of
    // folders by their place in the package.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let here = here.ok_or_else(|| io::Error::other("cargo sets CARGO_MANIFEST_DIR"))?;
    let dist = here.join(DIST);
    // Also fires when it appears later.
    println!("cargo::rerun-if-changed={DIST}");
    println!("cargo::rerun-if-changed={PLACEHOLDER}");
    // And in another clone, whose files may all be older than what was listed last.
    println!("cargo::rerun-if-env-changed=TOOLCRIB_CLONE");
    let is_built = dist.join("index.html").is_file();
    let folder = if is_built {
        dist.canonicalize()?
    } else {
        here.join(PLACEHOLDER)
    };
    let mut files = Vec::new();
    walk(&folder, "", &mut files)?;
    files.sort();
    let mut code =
        format!("pub const IS_BUILT: bool = {is_built};\npub static FILES: &[File] = &[\n");
    for path in files.iter().filter(|path| !is_packed(path)) {
        let bytes = |ending: &str| {
            let whole = format!("{path}{ending}");
            let file = folder.join(&whole);
            format!("include_bytes!({:?})", file.display().to_string())
        };
        let packed = |ending: &str| match files.contains(&format!("{path}{ending}")) {
            true => format!("Some({})", bytes(ending)),
            false => "None".to_owned(),
        };
        let (br, gz) = (packed(".br"), packed(".gz"));
        let _ = writeln!(
            code,
            "File {{ path: {path:?}, bytes: {}, br: {br}, gz: {gz} }},",
            bytes("")
        );
    }
    code.push_str("];\n");
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from);
    let out = out.ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(out.join("files.rs"), code)
}

fn is_packed(path: &str) -> bool {
    path.ends_with(".br") || path.ends_with(".gz")
}

fn walk(folder: &Path, before: &str, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Vite's own notes.
        if name.starts_with('.') {
            continue;
        }
        let path = format!("{before}{name}");
        if entry.file_type()?.is_dir() {
            walk(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
