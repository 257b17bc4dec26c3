//! What happens between writing a line and taking its row in: others take rows, and files are emptied.

use super::*;
use crate::log::Options;
use crate::owed::tests::ending;
use crate::room::Measured;
use std::path::Path;

fn journal(folder: &Path, now: i64) -> Journal {
    let clock = Clock::manual(now);
    let options = Options::default();
    let keeping = Keeping {
        measured: Arc::new(Measured::new(&options)),
        owed: Arc::default(),
        options,
        clock,
    };
    Journal::open(folder, &keeping).unwrap()
}

/// What a server that is killed now would leave.
fn left(journal: &Journal) -> ById {
    let texts = journal.paths.iter();
    let texts: Vec<_> = texts
        .map(|path| (path, std::fs::read(path).unwrap()))
        .collect();
    read(&texts).all
}

fn begun(ended: &Execution) -> Box<Execution> {
    let mut row = ended.clone();
    row.status = Status::Started;
    row.output = None;
    Box::new(row)
}

#[test]
fn a_line_whose_file_was_emptied_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let row = ending();
    let journal = journal(folder.path(), row.started_at);
    // Of a call whose beginning is known, the line says only how it ended: without the beginning it is worth nothing.
    for is_begun in [false, true] {
        if is_begun {
            assert!(journal.write(begun(&row)).is_ok());
        }
        let turn = journal.draft(&row).unwrap().unwrap();
        journal.take();
        journal.written();
        assert!(left(&journal).is_empty());
        assert!(journal.enter(Box::new(row.clone()), turn).is_ok());
        let found = left(&journal);
        assert_eq!(found.len(), 1);
        assert_eq!(found[&row.id].status, row.status);
        journal.take();
        journal.written();
    }
    assert!(left(&journal).is_empty());
}

#[test]
fn rows_that_were_taken_but_not_yet_written_keep_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let (row, other) = (ending(), ending());
    let journal = journal(folder.path(), row.started_at);
    let turn = journal.draft(&row).unwrap().unwrap();
    assert!(journal.write(Box::new(other.clone())).is_ok());
    assert_eq!(journal.take().len(), 1);
    assert!(journal.enter(Box::new(row.clone()), turn).is_ok());
    let found = left(&journal);
    assert!(found.contains_key(&row.id) && found.contains_key(&other.id));
    journal.written();
    assert_eq!(left(&journal).keys().collect::<Vec<_>>(), [&row.id]);
    assert_eq!(journal.take().keys().collect::<Vec<_>>(), [&row.id]);
}

#[test]
fn a_journal_that_closed_meanwhile_gives_the_row_back() {
    let folder = tempfile::tempdir().unwrap();
    let row = ending();
    let journal = journal(folder.path(), row.started_at);
    let turn = journal.draft(&row).unwrap().unwrap();
    journal.refuse();
    assert!(journal.enter(Box::new(row.clone()), turn).is_err());
    assert!(journal.draft(&row).unwrap().is_none());
    assert!(journal.take().is_empty());
}
