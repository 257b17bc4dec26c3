//! The names that SQLite gives to what it answers with.

use rusqlite::ffi;

/// In the order of their numbers, from 1.
const NAMES: [&str; 26] = [
    "ERROR",
    "INTERNAL",
    "PERM",
    "ABORT",
    "BUSY",
    "LOCKED",
    "NOMEM",
    "READONLY",
    "INTERRUPT",
    "IOERR",
    "CORRUPT",
    "NOTFOUND",
    "FULL",
    "CANTOPEN",
    "PROTOCOL",
    "EMPTY",
    "SCHEMA",
    "TOOBIG",
    "CONSTRAINT",
    "MISMATCH",
    "MISUSE",
    "NOLFS",
    "AUTH",
    "FORMAT",
    "RANGE",
    "NOTADB",
];

/// `SQLITE_ERROR`; of a constraint also which sort it is: `SQLITE_CONSTRAINT_UNIQUE`.
pub(super) fn name(error: &ffi::Error) -> String {
    let code = error.extended_code;
    let sort = match code {
        ffi::SQLITE_CONSTRAINT_CHECK => "_CHECK",
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY => "_FOREIGNKEY",
        ffi::SQLITE_CONSTRAINT_NOTNULL => "_NOTNULL",
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY => "_PRIMARYKEY",
        ffi::SQLITE_CONSTRAINT_TRIGGER => "_TRIGGER",
        ffi::SQLITE_CONSTRAINT_UNIQUE => "_UNIQUE",
        ffi::SQLITE_CONSTRAINT_DATATYPE => "_DATATYPE",
        _ => "",
    };
    let known = usize::try_from((code & 0xff) - 1).ok();
    match known.and_then(|at| NAMES.get(at)) {
        Some(name) => format!("SQLITE_{name}{sort}"),
        None => format!("SQLITE_{code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_names() {
        for (code, expected) in [
            (ffi::SQLITE_ERROR, "SQLITE_ERROR"),
            (ffi::SQLITE_NOTADB, "SQLITE_NOTADB"),
            (ffi::SQLITE_AUTH, "SQLITE_AUTH"),
            (ffi::SQLITE_IOERR_READ, "SQLITE_IOERR"),
            (ffi::SQLITE_CONSTRAINT_UNIQUE, "SQLITE_CONSTRAINT_UNIQUE"),
            (99, "SQLITE_99"),
        ] {
            assert_eq!(name(&ffi::Error::new(code)), expected);
        }
    }
}
