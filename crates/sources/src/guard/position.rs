//! Where in a query the name of a type makes a value of it. Elsewhere the same name is a column, an alias or a table.

use crate::lexeme::{Kind, Lexeme};
use crate::statement::Engine;
use std::collections::HashSet;

/// In the parentheses of these `AS` is followed by a type; elsewhere an alias follows it.
const CASTS: &[&str] = &["CAST", "TREAT", "XMLSERIALIZE"];
/// Words that no column is called, after which an expression may begin.
const RESERVED: &[&str] = &[
    "ALL", "BOTH", "CASE", "DISTINCT", "FROM", "LATERAL", "LEADING", "NOT", "ONLY", "SELECT",
    "TRAILING", "VARIADIC", "WHERE",
];
/// With what a query begins; a column may be called `values`.
const QUERIES: &[&str] = &["SELECT", "WITH", "TABLE"];
/// Functions that are called without parentheses.
const VALUES: &[&str] = &[
    "CURRENT_CATALOG",
    "CURRENT_DATE",
    "CURRENT_ROLE",
    "CURRENT_SCHEMA",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_USER",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "SESSION_USER",
    "SYSTEM_USER",
    "USER",
];

/// Functions that have another name than the word they are written with, where they stand in FROM without an alias.
const RENAMED: &[&str] = &["CAST", "COLLATION", "TREAT", "TRIM"];
/// In the parentheses of these FROM is followed by no table.
const TAKE_FROM: &[&str] = &["EXTRACT", "OVERLAY", "SUBSTRING", "TRIM"];
/// After these comes a table.
const TABLES: &[&str] = &["FROM", "JOIN", "LATERAL"];

/// A text with what is known of its parentheses.
pub(super) struct Layout<'p, 't> {
    pieces: &'p [Lexeme<'t>],
    /// For each piece the parenthesis it stands in; for one that closes, the one it closes.
    inside: Vec<Option<usize>>,
    /// Names that stand for a function in FROM: behind such a name and a dot may be a single value.
    calls: HashSet<String>,
    /// There is a function in FROM of which nobody knows by what name.
    is_unnamed: bool,
}

impl<'p, 't> Layout<'p, 't> {
    pub(super) fn new(pieces: &'p [Lexeme<'t>]) -> Self {
        let mut inside = Vec::with_capacity(pieces.len());
        let mut open = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            inside.push(open.last().copied());
            if piece.is_mark("(") || piece.is_mark("[") {
                open.push(index);
            } else if piece.is_mark(")") || piece.is_mark("]") {
                open.pop();
            }
        }
        let mut layout = Layout {
            pieces,
            inside,
            calls: HashSet::new(),
            is_unnamed: false,
        };
        layout.is_unnamed = layout.has_unnamed();
        let called = (0..pieces.len()).filter(|index| layout.is_call(*index));
        let called = called.filter_map(|index| pieces[index].name(Engine::Postgres));
        layout.calls = called.collect();
        layout
    }

    /// Whether a piece that names a type does so where a value of it may be made.
    pub(super) fn makes(&self, index: usize) -> bool {
        let next = self.pieces.get(index + 1);
        // A string right after a name is a value of that type, and a type can be called like a function.
        if next.is_some_and(|next| next.kind == Kind::Text || next.is_mark("(")) {
            return true;
        }
        if self.follows(self.chain(index)) {
            return true;
        }
        // `(value).name` is `name(value)`. Behind the name of a table it is a column.
        let of = self.before(index, 1);
        of.is_some_and(|of| of.is_mark(".")) && !self.is_of_table(index)
    }

    /// Whether what stands before the dot before a piece is the name of something with columns.
    pub(super) fn is_of_table(&self, index: usize) -> bool {
        let of = self.before(index, 2);
        let name = of.and_then(|of| of.name(Engine::Postgres));
        name.is_some_and(|name| !self.is_unnamed && !self.calls.contains(&name))
    }

    /// Whether a function that is renamed stands where a table does. Commas are between tables only after FROM.
    fn has_unnamed(&self) -> bool {
        let mut in_from = vec![false];
        for (index, piece) in self.pieces.iter().enumerate() {
            let last = self.before(index, 1);
            let lists = last.is_some_and(|last| last.is_mark(",") || last.is_mark("("));
            let is_table = last.is_some_and(|last| is_any(last, TABLES))
                || lists && in_from.last() == Some(&true);
            if piece.is_mark("(") || piece.is_mark("[") {
                let is_inside = in_from.last() == Some(&true);
                in_from.push(is_inside && is_table);
            } else if piece.is_mark(")") || piece.is_mark("]") {
                in_from.pop();
            } else if is_table && is_any(piece, RENAMED) && !self.takes_from(index - 1) {
                return true;
            } else if let Some(now) = self.clause(index)
                && let Some(top) = in_from.last_mut()
            {
                *top = now;
            }
        }
        false
    }

    /// Whether tables follow from a word on, or no longer do.
    fn clause(&self, index: usize) -> Option<bool> {
        let piece = &self.pieces[index];
        let last = self.before(index, 1);
        if last.is_some_and(|last| last.is_mark(".")) {
            return None;
        }
        if piece.is_word("FROM") {
            return (!self.takes_from(index)).then_some(true);
        }
        let is_by = self
            .pieces
            .get(index + 1)
            .is_some_and(|it| it.is_word("BY"));
        let ends = is_any(piece, &["SELECT", "WHERE", "HAVING"])
            || is_by && is_any(piece, &["GROUP", "ORDER"]);
        ends.then_some(false)
    }

    /// Whether a FROM is that of `EXTRACT(year FROM …)` or of `IS DISTINCT FROM`.
    fn takes_from(&self, index: usize) -> bool {
        if !self.pieces[index].is_word("FROM") {
            return false;
        }
        let last = self.before(index, 1);
        let word = self.inside[index].and_then(|open| self.before(open, 1));
        last.is_some_and(|last| last.is_word("DISTINCT"))
            || word.is_some_and(|word| is_any(word, TAKE_FROM))
    }

    /// Where the name begins that a piece is the end of: `a` of `a.b.c`.
    fn chain(&self, mut index: usize) -> usize {
        while index >= 2
            && self.pieces[index - 1].is_mark(".")
            && self.pieces[index - 2].name(Engine::Postgres).is_some()
        {
            index -= 2;
        }
        index
    }

    /// Whether a name that begins here is a type by what stands before it.
    fn follows(&self, index: usize) -> bool {
        let Some(last) = self.before(index, 1) else {
            return false;
        };
        let opened = self.inside[index];
        if last.is_word("AS") {
            let word = opened.and_then(|open| self.before(open, 1));
            return word.is_some_and(|word| is_any(word, CASTS));
        }
        if last.kind == Kind::Operator {
            return last.text == "::";
        }
        if is_any(last, &["RETURNING", "SETOF"]) {
            return true;
        }
        // A column and its type: `AS t(a int, b int)`, `COLUMNS a int PATH …`.
        let is_column = last.name(Engine::Postgres).is_some() && !is_any(last, RESERVED);
        if !is_column {
            return false;
        }
        let begins = self.before(index, 2);
        if begins.is_some_and(|begins| begins.is_word("COLUMNS")) {
            return true;
        }
        let listed = begins.is_some_and(|begins| begins.is_mark("(") || begins.is_mark(","));
        listed && opened.is_some_and(|open| !self.holds_query(open))
    }

    fn holds_query(&self, open: usize) -> bool {
        match self.pieces.get(open + 1) {
            Some(first) if first.is_word("VALUES") => {
                let next = self.pieces.get(open + 2);
                next.is_some_and(|next| next.is_mark("("))
            }
            Some(first) => is_any(first, QUERIES),
            None => false,
        }
    }

    /// Whether a name is that of a function in FROM, or the alias of one.
    fn is_call(&self, index: usize) -> bool {
        let pieces = self.pieces;
        if pieces[index].name(Engine::Postgres).is_none() {
            return false;
        }
        if is_any(&pieces[index], VALUES) {
            return true;
        }
        if pieces.get(index + 1).is_some_and(|next| next.is_mark("(")) && self.is_called(index) {
            return true;
        }
        let mut end = index;
        if end > 0 && pieces[end - 1].is_word("AS") {
            end -= 1;
        }
        if end > 0 && pieces[end - 1].is_word("ORDINALITY") {
            end = end.saturating_sub(2);
        }
        let Some(last) = self.before(end, 1) else {
            return false;
        };
        if is_any(last, VALUES) {
            return true;
        }
        if !last.is_mark(")") {
            return false;
        }
        let Some(open) = self.inside[end - 1] else {
            return false;
        };
        match self.before(open, 1) {
            Some(word) if word.is_word("FROM") => {
                let rows = self.before(open, 2);
                rows.is_some_and(|rows| rows.is_word("ROWS"))
            }
            Some(word) if is_any(word, &["JOIN", "LATERAL", "ONLY"]) => false,
            Some(word) => word.name(Engine::Postgres).is_some(),
            None => false,
        }
    }

    /// Whether a name before a parenthesis is called where a table may stand; a WITH and an alias have columns there.
    fn is_called(&self, index: usize) -> bool {
        let chain = self.chain(index);
        let Some(last) = self.before(chain, 1) else {
            return false;
        };
        let may_stand = is_any(last, TABLES) || last.is_mark(",") || last.is_mark("(");
        if !may_stand {
            return false;
        }
        let closes =
            |at: &usize| self.pieces[*at].is_mark(")") && self.inside[*at] == Some(index + 1);
        let close = (index + 2..self.pieces.len()).find(closes);
        let after = close.and_then(|close| self.pieces.get(close + 1));
        let defined = close.and_then(|close| self.pieces.get(close + 2));
        let is_with = after.is_some_and(|after| after.is_word("AS"))
            && defined.is_some_and(|it| it.is_mark("(") || is_any(it, &["NOT", "MATERIALIZED"]));
        !is_with
    }

    fn before(&self, index: usize, count: usize) -> Option<&'p Lexeme<'t>> {
        index.checked_sub(count).map(|at| &self.pieces[at])
    }
}

fn is_any(piece: &Lexeme<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| piece.is_word(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Placeholders, lex};

    fn makes(text: &str) -> bool {
        let pieces = lex(text, Engine::Postgres, Placeholders::Unknown).unwrap();
        let layout = Layout::new(&pieces);
        let named = |piece: &Lexeme<'_>| piece.name(Engine::Postgres).as_deref() == Some("email");
        let indexes = (0..pieces.len()).filter(|index| named(&pieces[*index]));
        indexes.into_iter().any(|index| layout.makes(index))
    }

    #[test]
    fn a_column_of_that_name_is_no_type() {
        for text in [
            "SELECT id, email FROM people",
            "SELECT email FROM people WHERE email = 'a@b' ORDER BY email",
            "SELECT u.email, u.\"email\" FROM people u",
            "SELECT public.people.email FROM public.people",
            "SELECT 1 AS email",
            "SELECT * FROM (SELECT 1 AS email) x",
            "SELECT CAST((SELECT 1 AS email) AS text)",
            "SELECT a email FROM people",
            "SELECT * FROM (SELECT b, a email FROM people) x",
            "SELECT count(DISTINCT email), lower(email), coalesce(a, email) FROM people",
            "SELECT count(*) FILTER (WHERE email IS NULL) FROM people",
            "SELECT max(a) OVER (PARTITION BY email ORDER BY email) FROM people",
            "SELECT email::text, CAST(email AS text) FROM people",
            "SELECT * FROM people JOIN other USING (email, id)",
            "SELECT (NOT email), CASE WHEN email THEN email END FROM people",
            "WITH u AS (SELECT email FROM people) SELECT u.email FROM u",
            "WITH u(email) AS (SELECT 1) SELECT u.email FROM u",
            "SELECT s.email FROM (SELECT email FROM people) AS s",
            "SELECT v.email FROM (VALUES (1)) v(email)",
            "SELECT email.address FROM email",
            "SELECT a, CAST(a AS text), TRIM(BOTH FROM a), u.email FROM people u",
            "SELECT u.email FROM people u WHERE u.id IN (1, CAST('2' AS int)) ORDER BY u.id, CAST(u.a AS text)",
            "SELECT EXTRACT(year FROM CAST(u.a AS date)), u.email FROM people u, t WHERE a IS DISTINCT FROM CAST(b AS int)",
            "SELECT u.email FROM people u JOIN t ON lower(CAST(t.a AS text)) = coalesce(u.a, TRIM(u.b))",
        ] {
            assert!(!makes(text), "{text}");
        }
    }

    #[test]
    fn a_value_of_the_type_is_seen_wherever_it_is_made() {
        for text in [
            "SELECT 'a'::email",
            "SELECT 'a' :: public . \"email\"",
            "SELECT CAST('a' AS email)",
            "SELECT CAST((SELECT 'a' AS a) AS public.email)",
            "SELECT email 'a'",
            "SELECT public.email $$a$$",
            "SELECT email('a')",
            "SELECT ('a').email",
            "SELECT (u.a).email FROM people u",
            "SELECT (ARRAY['a'])[1].email",
            "SELECT g.email FROM unnest(ARRAY['a']) g",
            "SELECT g.email FROM unnest(ARRAY['a']) AS \"g\"",
            "SELECT g.email FROM unnest(ARRAY['a']) WITH ORDINALITY AS g",
            "SELECT g.email FROM people, LATERAL unnest(ARRAY['a']) g",
            "SELECT unnest.email FROM unnest(ARRAY['a'])",
            "SELECT unnest.email FROM people, pg_catalog.unnest(ARRAY['a'])",
            "SELECT g.email FROM ROWS FROM (unnest(ARRAY['a'])) g",
            "SELECT g.email FROM CAST('a' AS text) g",
            "SELECT g.email FROM current_user AS g",
            "SELECT btrim.email FROM TRIM('a')",
            "SELECT text.email FROM people u, CAST('a' AS text)",
            "SELECT text.email FROM people u JOIN t ON u.where = t.limit, CAST('a' AS text)",
            "SELECT text.email FROM people u CROSS JOIN CAST('a' AS text)",
            "SELECT text.email FROM (CAST('a' AS text) CROSS JOIN people)",
            "SELECT a.email FROM people u, LATERAL CAST(u.a AS text)",
            "SELECT 1 FROM people WHERE EXISTS (SELECT text.email FROM t, CAST('a' AS text))",
            "SELECT pg_collation_for.email FROM COLLATION FOR ('a')",
            "SELECT \"current_user\".email FROM current_user",
            "SELECT * FROM json_to_record('{}') AS x(a email)",
            "SELECT * FROM json_to_record('{}') AS (a int, b public.email)",
            "SELECT * FROM json_to_record('{}') AS x(values int, b email)",
            "SELECT * FROM f('{}') AS x(a SETOF email)",
            "SELECT * FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS a email PATH '.')",
            "SELECT * FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS a int, b email PATH '.')",
            "SELECT * FROM JSON_TABLE('{}', '$' COLUMNS (a email PATH '$'))",
            "SELECT JSON_VALUE('{}', '$' RETURNING email)",
            "SELECT XMLSERIALIZE(CONTENT a AS email) FROM people",
        ] {
            assert!(makes(text), "{text}");
        }
    }
}
