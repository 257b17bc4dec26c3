//! The folder of skills: read again whenever something in it has changed. Nothing outside of it is read, wherever links lead.

use agent::skill::Skill;
use catalog::problem::Problem;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// What a skill's file is called where it has a folder of its own.
const FILE: &str = "SKILL.md";
/// More are not looked at.
const SKILLS_MAX: usize = 500;
const BYTES_MAX: u64 = 256 << 10;

/// What the folder holds.
#[derive(Debug, Default)]
pub struct Shelved {
    /// By name.
    pub skills: Vec<Shelf>,
    pub problems: Vec<Problem>,
}

/// A skill, and the file that it stands in.
#[derive(Debug)]
pub struct Shelf {
    pub skill: Skill,
    pub file: String,
}

/// The folder, and what was read in it last.
pub(crate) struct Skills {
    /// None where there are to be none.
    folder: Option<PathBuf>,
    last: Mutex<(Vec<Seen>, Arc<Shelved>)>,
}

/// A file as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    /// Within the folder.
    file: String,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Skills {
    pub(crate) fn new(folder: Option<PathBuf>) -> Arc<Self> {
        Arc::new(Skills {
            folder,
            last: Mutex::default(),
        })
    }

    /// What the folder holds now; read again only where it is not what it was.
    pub(super) fn read(&self) -> Arc<Shelved> {
        let Some(folder) = &self.folder else {
            return Arc::default();
        };
        let seen = match seen(folder) {
            Ok(seen) => seen,
            Err(error) => {
                return Arc::new(Shelved {
                    skills: Vec::new(),
                    problems: vec![unreadable(&folder.display().to_string(), &error)],
                });
            }
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0 != seen {
            let shelved = Arc::new(shelved(folder, &seen));
            *last = (seen, shelved);
        }
        Arc::clone(&last.1)
    }

    /// A text beside a skill that has a folder of its own.
    pub(super) fn beside(&self, skill: &Shelf, wanted: &str) -> io::Result<String> {
        let own = skill.file.strip_suffix(FILE).filter(|it| !it.is_empty());
        let (Some(folder), Some(own)) = (&self.folder, own) else {
            return Err(io::Error::other("the skill has no folder of its own"));
        };
        text_in(&folder.join(own), wanted)
    }
}

/// A text of a folder. Neither its name nor a link leads out of the folder.
fn text_in(folder: &Path, file: &str) -> io::Result<String> {
    let is_inside = |part: Component<'_>| matches!(part, Component::Normal(_));
    let path = folder.join(file).canonicalize();
    if file.is_empty() || !Path::new(file).components().all(is_inside) {
        return Err(io::Error::other("it is not a path within the folder"));
    }
    let path = path?;
    if !path.starts_with(folder.canonicalize()?) {
        return Err(io::Error::other(
            "it is a link that leads out of the folder",
        ));
    }
    let about = fs::metadata(&path)?;
    if !about.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if about.len() > BYTES_MAX {
        let why = format!("it has {} bytes of at most {BYTES_MAX}", about.len());
        return Err(io::Error::other(why));
    }
    fs::read_to_string(path)
}

/// The files of a folder: `NAME/SKILL.md` and `NAME.md`, in order.
fn seen(folder: &Path) -> io::Result<Vec<Seen>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // Nobody has to have skills.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
            continue;
        };
        let is_markdown = name.ends_with(".md") && !name.eq_ignore_ascii_case("readme.md");
        let file = match fs::metadata(entry.path()) {
            Ok(about) if about.is_dir() && !name.starts_with('.') => format!("{name}/{FILE}"),
            Ok(about) if about.is_file() && is_markdown && !name.starts_with('.') => name,
            _ => continue,
        };
        // One that is not there is told when it is read.
        let about = fs::metadata(folder.join(&file)).ok();
        found.push(Seen {
            file,
            bytes: about.as_ref().map_or(0, fs::Metadata::len),
            modified: about.and_then(|it| it.modified().ok()),
        });
    }
    found.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(found)
}

fn shelved(folder: &Path, seen: &[Seen]) -> Shelved {
    let mut all = Shelved::default();
    for it in seen.iter().take(SKILLS_MAX) {
        let parsed = match text_in(folder, &it.file) {
            Ok(text) => Skill::parse(&it.file, &text),
            Err(error) => Err(vec![unreadable(&it.file, &error)]),
        };
        match parsed {
            Err(problems) => all.problems.extend(problems),
            Ok(skill) => {
                let taken = all
                    .skills
                    .iter()
                    .find(|other| other.skill.name == skill.name);
                match taken.map(|it| it.file.clone()) {
                    Some(other) => all.problems.push(doubled(&it.file, &skill.name, &other)),
                    None => all.skills.push(Shelf {
                        skill,
                        file: it.file.clone(),
                    }),
                }
            }
        }
    }
    if seen.len() > SKILLS_MAX {
        let expected = format!("at most {SKILLS_MAX} skills");
        let file = folder.display().to_string();
        let found = seen.len().to_string();
        all.problems.push(problem(
            &file,
            "folder",
            &expected,
            &found,
            "Move some to another folder.",
        ));
    }
    all.skills.sort_by(|a, b| a.skill.name.cmp(&b.skill.name));
    all
}

fn unreadable(file: &str, error: &io::Error) -> Problem {
    let found = error.to_string();
    let remedy = "Let the user of the server read it, as text in UTF-8.";
    problem(file, "file", "a file that can be read", &found, remedy)
}

fn doubled(file: &str, name: &str, other: &str) -> Problem {
    let found = format!("'{name}', which {other} has already");
    problem(
        file,
        "name",
        "a name of its own",
        &found,
        "Rename one of the two.",
    )
}

fn problem(file: &str, path: &str, expected: &str, found: &str, remedy: &str) -> Problem {
    Problem {
        file: file.to_owned(),
        line: 1,
        column: 1,
        path: path.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
        remedy: remedy.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, file: &str, text: &str) {
        let file = folder.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn skill(name: &str, body: &str) -> String {
        format!("---\nname: {name}\ndescription: d\n---\n{body}\n")
    }

    fn names(shelved: &Shelved) -> Vec<&str> {
        shelved
            .skills
            .iter()
            .map(|it| it.skill.name.as_str())
            .collect()
    }

    #[test]
    fn a_folder_is_read_again_when_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let skills = Skills::new(Some(folder.path().join("skills")));
        assert!(names(&skills.read()).is_empty());
        let there = folder.path().join("skills");
        write(&there, "b/SKILL.md", &skill("b", "first"));
        write(&there, "a.md", &skill("a", "x"));
        write(&there, "README.md", "about this folder");
        write(&there, "b/notes.txt", "beside it");
        let first = skills.read();
        assert_eq!(names(&first), ["a", "b"]);
        assert!(first.problems.is_empty() && Arc::ptr_eq(&first, &skills.read()));
        write(&there, "b/SKILL.md", &skill("b", "second, longer"));
        assert_eq!(skills.read().skills[1].skill.instructions, "second, longer");
        fs::remove_dir_all(there.join("b")).unwrap();
        assert_eq!(names(&skills.read()), ["a"]);
    }

    #[test]
    fn a_bad_file_leaves_the_others() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.md", &skill("a", "x"));
        write(folder.path(), "b.md", "no front matter");
        write(folder.path(), "c.md", &skill("a", "again"));
        fs::write(folder.path().join("d.md"), [0xff, 0xfe, 0x00]).unwrap();
        fs::create_dir(folder.path().join("e")).unwrap();
        let shelved = Skills::new(Some(folder.path().to_owned())).read();
        assert_eq!(names(&shelved), ["a"]);
        let told: Vec<String> = shelved.problems.iter().map(Problem::to_string).collect();
        assert!(told[0].starts_with("b.md:1:1: at front matter"), "{told:?}");
        assert!(told[1].contains("'a', which a.md has already"), "{told:?}");
        assert!(told[2].starts_with("d.md:1:1: at file"), "{told:?}");
        assert!(told[3].starts_with("e/SKILL.md:1:1: at file"), "{told:?}");
        let large = skill("b", &"x".repeat(BYTES_MAX as usize));
        write(folder.path(), "b.md", &large);
        let shelved = Skills::new(Some(folder.path().to_owned())).read();
        let told = shelved.problems[0].to_string();
        assert!(told.contains("of at most 262144"), "{told}");
    }

    #[test]
    fn nothing_outside_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("skills");
        write(folder.path(), "secret.md", &skill("secret", "hidden"));
        write(&there, "a/SKILL.md", &skill("a", "See notes/more.md."));
        write(&there, "a/notes/more.md", "more");
        write(&there, "b.md", &skill("b", "alone"));
        std::os::unix::fs::symlink("../secret.md", there.join("link.md")).unwrap();
        std::os::unix::fs::symlink("../../secret.md", there.join("a/link.md")).unwrap();
        let skills = Skills::new(Some(there));
        let shelved = skills.read();
        assert_eq!(names(&shelved), ["a", "b"]);
        let told = shelved.problems[0].to_string();
        assert!(told.contains("leads out of the folder"), "{told}");
        let beside = |skill: usize, file: &str| skills.beside(&shelved.skills[skill], file);
        assert_eq!(beside(0, "notes/more.md").unwrap(), "more");
        let absolute = folder.path().join("secret.md");
        let absolute = absolute.to_str().unwrap();
        for file in [
            "link.md",
            "../b.md",
            "notes/../../b.md",
            absolute,
            "notes",
            "",
            "none.md",
        ] {
            assert!(beside(0, file).is_err(), "{file}");
        }
        assert!(beside(1, "a/notes/more.md").is_err());
    }
}
