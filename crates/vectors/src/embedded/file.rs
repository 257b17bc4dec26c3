//! A collection as a file: a line of JSON that says what it is, the vectors as they lie in memory, a line of JSON for
//! each record, and a checksum over all of it. A change writes a new file beside the old one and renames it, so that
//! at every moment, whatever is killed, there is one whole file.

use super::Limits;
use super::collection::{Loaded, Text};
use crate::Result;
use crate::error::Error;
use crate::record::{Metadata, Space};
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// How a collection's file is called after its name, and one that is being written.
pub(crate) const ENDING: &str = "vectors";
const UNFINISHED: &str = "part";

const CHECKSUM_BYTES: usize = 4;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    format: String,
    space: Space,
    dimension: usize,
    count: usize,
}

/// Changes when older programs could not read what is written.
const FORMAT: &str = "toolcrib vectors 1";

#[derive(Serialize)]
struct LineOut<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<&'a str>,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    metadata: &'a Metadata,
}

#[derive(Deserialize)]
struct LineIn {
    id: String,
    document: Option<String>,
    #[serde(default)]
    metadata: Metadata,
}

pub(crate) fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.{ENDING}"))
}

/// Writes a collection in the place of the one that was there. `room` is what the file may take.
pub(crate) fn write(folder: &Path, loaded: &Loaded, room: u64) -> Result<()> {
    let target = path(folder, &loaded.name);
    let unfinished = target.with_added_extension(UNFINISHED);
    let written = write_whole(&unfinished, loaded, room);
    let placed = written.and_then(|()| fs::rename(&unfinished, &target));
    if let Err(error) = placed {
        // Best effort: nobody reads an unfinished file, and the next start removes it.
        let _ = fs::remove_file(&unfinished);
        return Err(match error.kind() {
            io::ErrorKind::FileTooLarge => too_large(&loaded.name, room),
            _ => Error::file(target, "written")(error),
        });
    }
    // The new name is only sure to be there after a power cut when the folder is written too.
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(Error::file(target, "written"))
}

fn write_whole(unfinished: &Path, loaded: &Loaded, room: u64) -> io::Result<()> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(unfinished)?;
    let mut out = Checked {
        out: BufWriter::with_capacity(1 << 18, file),
        sum: Hasher::new(),
        room,
    };
    let head = Head {
        format: FORMAT.to_owned(),
        space: loaded.space,
        dimension: loaded.dimension,
        count: loaded.len(),
    };
    serde_json::to_writer(&mut out, &head)?;
    out.write_all(b"\n")?;
    // In pieces: all at once would be the collection a second time in memory.
    let mut bytes = Vec::with_capacity(4 << 12);
    for piece in loaded.numbers.chunks(1 << 12) {
        bytes.clear();
        bytes.extend(piece.iter().flat_map(|number| number.to_le_bytes()));
        out.write_all(&bytes)?;
    }
    for text in &loaded.texts {
        let line = LineOut {
            id: &text.id,
            document: text.document.as_deref(),
            metadata: &text.metadata,
        };
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
    }
    let sum = out.sum.clone().finalize();
    out.write_all(&sum.to_le_bytes())?;
    let file = out.out.into_inner().map_err(|error| error.into_error())?;
    file.sync_all()
}

/// A writer that knows what has been written and how much more may be.
struct Checked {
    out: BufWriter<File>,
    sum: Hasher,
    room: u64,
}

impl Write for Checked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let length = bytes.len() as u64;
        self.room = self
            .room
            .checked_sub(length)
            .ok_or(io::ErrorKind::FileTooLarge)?;
        self.sum.update(bytes);
        self.out.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads a collection; `None` where there is no such file.
pub(crate) fn read(folder: &Path, name: &str, limits: &Limits) -> Result<Option<Loaded>> {
    let path = path(folder, name);
    let length = match fs::metadata(&path) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::file(path, "read")(error)),
    };
    if length > limits.bytes_max {
        return Err(too_large(name, limits.bytes_max));
    }
    let bytes = fs::read(&path).map_err(Error::file(path.clone(), "read"))?;
    let loaded = understand(name, &bytes).map_err(|why| Error::Damaged { path, why })?;
    Ok(Some(loaded))
}

/// What a collection's file says of itself in its first line: its space, its dimension and how many records it holds. `None`
/// where there is no such file any more.
pub(crate) fn head(folder: &Path, name: &str) -> Result<Option<(Space, usize, usize)>> {
    const HEAD_BYTES_MAX: u64 = 1 << 10;
    let path = path(folder, name);
    let mut line = Vec::new();
    let read = File::open(&path).and_then(|file| {
        let mut start = BufReader::new(file).take(HEAD_BYTES_MAX);
        start.read_until(b'\n', &mut line)
    });
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(Error::file(path.clone(), "read"))?,
    };
    let head = understand_head(&line).map_err(|why| Error::Damaged { path, why })?;
    Ok(Some((head.space, head.dimension, head.count)))
}

fn too_large(name: &str, room: u64) -> Error {
    Error::TooMuch(format!(
        "The collection '{name}' needs more than the {room} bytes that are left for vectors; delete a collection, allow more, or use a ChromaDB server"
    ))
}

fn understand(name: &str, bytes: &[u8]) -> std::result::Result<Loaded, String> {
    let body = bytes.len().checked_sub(CHECKSUM_BYTES);
    let (body, sum) = bytes.split_at(body.ok_or("it is too short")?);
    if crc32fast::hash(body).to_le_bytes() != *sum {
        return Err("its checksum is not that of its bytes".to_owned());
    }
    let end = body.iter().position(|byte| *byte == b'\n');
    let (head, rest) = body.split_at(end.ok_or("its first line does not end")?);
    let head = understand_head(head)?;
    let length = head
        .count
        .checked_mul(head.dimension)
        .and_then(|numbers| numbers.checked_mul(4))
        .filter(|length| *length < rest.len())
        .ok_or("it holds fewer vectors than it says")?;
    let (vectors, texts) = rest[1..].split_at(length);
    let (numbers, _) = vectors.as_chunks::<4>();
    let numbers = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes));
    let texts = serde_json::Deserializer::from_slice(texts)
        .into_iter::<LineIn>()
        .map(|line| {
            line.map(|line| Text {
                id: line.id,
                document: line.document,
                metadata: line.metadata,
            })
        })
        .collect::<serde_json::Result<Vec<_>>>()
        .map_err(|error| format!("a record cannot be read ({error})"))?;
    if texts.len() != head.count {
        return Err(format!(
            "it holds {} records and says {}",
            texts.len(),
            head.count
        ));
    }
    Ok(Loaded::of(
        name,
        head.space,
        head.dimension,
        numbers.collect(),
        texts,
    ))
}

fn understand_head(line: &[u8]) -> std::result::Result<Head, String> {
    let head: Head = serde_json::from_slice(line)
        .map_err(|error| format!("its first line cannot be read ({error})"))?;
    match head.format == FORMAT {
        true => Ok(head),
        false => Err(format!(
            "it says that it is '{}', and this program reads '{FORMAT}'",
            head.format
        )),
    }
}

/// The collections in a folder, in the order of their names, with the size of their files.
pub(crate) fn list(folder: &Path) -> Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(Error::file(folder, "read")(error)),
    };
    for entry in entries {
        let entry = entry.map_err(Error::file(folder, "read"))?;
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == ENDING)
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
            && let Ok(known) = entry.metadata()
        {
            found.push((name.to_owned(), known.len()));
        }
    }
    found.sort();
    Ok(found)
}

/// Removes what was never finished: whoever wrote it is gone, because one process owns the folder.
pub(crate) fn sweep(folder: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    let leftover = format!(".{ENDING}.{UNFINISHED}");
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().ends_with(&leftover) {
            let path = entry.path();
            fs::remove_file(&path).map_err(Error::file(path, "written"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Get, Include, Record};
    use serde_json::json;

    fn collection(count: usize) -> Loaded {
        let records = (0..count).map(|index| Record {
            id: format!("id {index}"),
            embedding: vec![index as f32, -0.5, 1e-20],
            document: (index % 2 == 0).then(|| format!("문서 {index}\nwith a second line")),
            metadata: json!({"n": index}).as_object().unwrap().clone(),
        });
        let empty = Loaded::new("columns", Space::Cosine);
        empty.with(records.collect(), &Limits::default()).unwrap()
    }

    fn all(loaded: &Loaded) -> Vec<crate::record::Found> {
        let include = Include {
            embeddings: true,
            ..Include::default()
        };
        loaded.get(&Get {
            include,
            ..Get::default()
        })
    }

    fn read_back(folder: &Path) -> Result<Option<Loaded>> {
        read(folder, "columns", &Limits::default())
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_back(folder.path()).unwrap().is_none());
        for count in [0, 1, 5_000] {
            let written = collection(count);
            write(folder.path(), &written, u64::MAX).unwrap();
            let back = read_back(folder.path()).unwrap().unwrap();
            assert_eq!(all(&back), all(&written));
            assert_eq!(
                (back.space, back.dimension),
                (written.space, written.dimension)
            );
        }
        let found = list(folder.path()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "columns");
        let told = head(folder.path(), "columns").unwrap();
        assert_eq!(told, Some((Space::Cosine, 3, 5_000)));
        assert_eq!(head(folder.path(), "gone").unwrap(), None);
    }

    /// A process that is killed leaves the first part of the new file, or all of it, beside the old one.
    #[test]
    fn a_kill_before_the_rename_leaves_the_old_collection() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &collection(3), u64::MAX).unwrap();
        let other = tempfile::tempdir().unwrap();
        write(other.path(), &collection(7), u64::MAX).unwrap();
        let next = fs::read(path(other.path(), "columns")).unwrap();
        let unfinished = path(folder.path(), "columns").with_added_extension(UNFINISHED);
        for length in [0, 1, 60, next.len() / 2, next.len() - 1, next.len()] {
            fs::write(&unfinished, &next[..length]).unwrap();
            let back = read_back(folder.path()).unwrap().unwrap();
            assert_eq!(all(&back), all(&collection(3)), "{length}");
        }
        assert_eq!(list(folder.path()).unwrap().len(), 1);
        sweep(folder.path()).unwrap();
        assert!(!unfinished.exists());
        write(folder.path(), &collection(7), u64::MAX).unwrap();
        assert_eq!(read_back(folder.path()).unwrap().unwrap().len(), 7);
    }

    #[test]
    fn damage_is_told_and_never_read() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &collection(20), u64::MAX).unwrap();
        let target = path(folder.path(), "columns");
        let whole = fs::read(&target).unwrap();
        for length in [0, 3, 4, 40, whole.len() / 2, whole.len() - 1] {
            fs::write(&target, &whole[..length]).unwrap();
            let error = read_back(folder.path()).unwrap_err().to_string();
            assert!(error.contains("is damaged"), "{length}: {error}");
        }
        for place in [0, 30, whole.len() / 2, whole.len() - 1] {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            fs::write(&target, &changed).unwrap();
            let error = read_back(folder.path()).unwrap_err().to_string();
            assert!(error.contains("checksum"), "{place}: {error}");
        }
    }

    /// A checksum can be right and the file wrong all the same: nothing it says is believed without looking.
    #[test]
    fn a_file_that_lies_is_refused() {
        let good = r#""format":"toolcrib vectors 1","space":"l2""#;
        for (text, why) in [
            ("{}".to_owned(), "does not end"),
            ("{}\n".to_owned(), "cannot be read"),
            (
                r#"{"format":"x 9","space":"l2","dimension":1,"count":0}"#.to_owned() + "\n",
                "'x 9'",
            ),
            (
                format!("{{{good},\"dimension\":9,\"count\":9}}\n1234"),
                "fewer vectors",
            ),
            (
                format!("{{{good},\"dimension\":{0},\"count\":{0}}}\n", u64::MAX),
                "fewer vectors",
            ),
            (
                format!("{{{good},\"dimension\":1,\"count\":1}}\n1234{{\"id\":7}}"),
                "a record cannot",
            ),
            (
                format!("{{{good},\"dimension\":1,\"count\":1}}\n1234"),
                "0 records and says 1",
            ),
        ] {
            let sum = crc32fast::hash(text.as_bytes()).to_le_bytes();
            let bytes = [text.as_bytes(), &sum].concat();
            let error = understand("columns", &bytes).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_full_folder_keeps_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &collection(3), u64::MAX).unwrap();
        let error = write(folder.path(), &collection(500), 4_000).unwrap_err();
        assert!(
            error.to_string().contains("the 4000 bytes that are left"),
            "{error}"
        );
        assert_eq!(read_back(folder.path()).unwrap().unwrap().len(), 3);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
