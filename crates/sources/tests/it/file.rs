//! A SQLite file of its own for a test.

use rusqlite::Connection;
use sha2::{Digest, Sha256};
use sources::{Source, Sqlite, SqliteConfig};
use std::path::{Path, PathBuf};

pub(crate) struct File {
    folder: tempfile::TempDir,
}

impl File {
    pub(crate) fn new() -> File {
        let file = File {
            folder: tempfile::tempdir().unwrap(),
        };
        let connection = Connection::open(file.path()).unwrap();
        connection.execute_batch(SETUP).unwrap();
        file
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("data.db")
    }

    pub(crate) fn source(&self) -> Source {
        Source::Sqlite(Sqlite::open(SqliteConfig::new(self.path())).unwrap())
    }
}

/// The names and the bytes of all files of a folder.
pub(crate) fn fingerprint(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            let hash = Sha256::digest(&bytes);
            let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            (path, hash)
        })
        .collect()
}

const SETUP: &str = "
CREATE TABLE people (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, dept INTEGER);
INSERT INTO people VALUES (1, 'ann', 1), (2, 'bob', 1), (3, 'kim', 2);
CREATE TABLE badges (id INTEGER PRIMARY KEY, person INTEGER REFERENCES people (id), label TEXT DEFAULT 'x');
CREATE INDEX by_name ON people (name);
CREATE VIEW everybody AS SELECT name FROM people;
CREATE VIEW middle AS SELECT median(id) AS id FROM people;
CREATE VIEW wiped AS SELECT load_extension('evil') AS a;
CREATE VIEW wiped_twice AS SELECT a FROM wiped;
CREATE VIEW peeked AS SELECT sql FROM sqlite_master;
CREATE VIEW told_pragma AS SELECT file AS a FROM pragma_database_list;
CREATE VIEW deep_view AS SELECT json_set('{}', '$.a', 1) AS a;
CREATE TRIGGER wipe AFTER INSERT ON badges WHEN new.label = 'wipe' BEGIN DELETE FROM people; END;
CREATE VIRTUAL TABLE notes USING fts5(title, body);
INSERT INTO notes VALUES ('hello world', 'x'), ('other', 'hello');
CREATE VIRTUAL TABLE places USING rtree(id, x0, x1, y0, y1, +label);
INSERT INTO places VALUES (1, 0, 1, 0, 1, 'home'), (2, 5, 6, 5, 6, 'far');
ANALYZE;";
