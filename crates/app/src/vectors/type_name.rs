//! Types of columns in the short words that people and models write: `VARCHAR(255)` rather than `character varying(255)`.

/// PostgreSQL's own words for what has a shorter name.
const SHORTER: [(&str, &str); 7] = [
    ("character varying", "VARCHAR"),
    ("character", "CHAR"),
    ("bit varying", "VARBIT"),
    ("timestamp without time zone", "TIMESTAMP"),
    ("timestamp with time zone", "TIMESTAMPTZ"),
    ("time without time zone", "TIME"),
    ("time with time zone", "TIMETZ"),
];

/// Types whose names are written large; others, such as an enumeration of somebody's own, are left as they are.
const KNOWN: [&str; 24] = [
    "bigint",
    "bit",
    "boolean",
    "bytea",
    "cidr",
    "date",
    "double precision",
    "inet",
    "integer",
    "interval",
    "json",
    "jsonb",
    "macaddr",
    "money",
    "name",
    "numeric",
    "oid",
    "real",
    "smallint",
    "text",
    "tsvector",
    "uuid",
    "vector",
    "xml",
];

/// `timestamp(3) without time zone[]` is `TIMESTAMP(3)[]`.
pub(super) fn short(type_name: &str) -> String {
    let (bare, size) = match (type_name.find('('), type_name.find(')')) {
        (Some(from), Some(to)) if from < to => (
            format!("{}{}", &type_name[..from], &type_name[to + 1..]),
            &type_name[from..=to],
        ),
        _ => (type_name.to_owned(), ""),
    };
    let base = bare.trim_end_matches("[]");
    let list = &bare[base.len()..];
    let shorter = SHORTER.iter().find(|(long, _)| *long == base);
    match (shorter, KNOWN.contains(&base)) {
        (Some((_, shorter)), _) => format!("{shorter}{size}{list}"),
        (None, true) => format!("{}{size}{list}", base.to_uppercase()),
        (None, false) => type_name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_as_people_write_them() {
        let pairs = [
            ("character varying(255)", "VARCHAR(255)"),
            ("character varying", "VARCHAR"),
            ("character(3)", "CHAR(3)"),
            ("timestamp without time zone", "TIMESTAMP"),
            ("timestamp(3) with time zone", "TIMESTAMPTZ(3)"),
            ("numeric(10,2)", "NUMERIC(10,2)"),
            ("integer[]", "INTEGER[]"),
            ("double precision", "DOUBLE PRECISION"),
            ("date", "DATE"),
            ("mood", "mood"),
            ("sales.\"Mood (old)\"", "sales.\"Mood (old)\""),
            ("VARCHAR(255)", "VARCHAR(255)"),
            ("", ""),
        ];
        for (long, expected) in pairs {
            assert_eq!(short(long), expected);
        }
    }
}
