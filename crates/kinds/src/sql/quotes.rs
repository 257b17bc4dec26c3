//! Queries of others, who put parameters in quotes: whichever database they are for, they are read alike.

use ::sources::Engine;

/// The query without quotes around the parameters that are a whole string, and which these are. Nothing where there are
/// none, or where the databases would not agree on them.
pub fn without_quotes(
    query: &str,
    is_parameter: impl Fn(&str) -> bool,
) -> Option<(String, Vec<String>)> {
    let mut read = [Engine::Postgres, Engine::Sqlite]
        .into_iter()
        .filter_map(|engine| ::sources::without_quotes(query, engine, &is_parameter));
    let first = read.next()?;
    let is_agreed = read.all(|other| other == first);
    Some(first).filter(|(_, names)| is_agreed && !names.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_that_do_not_agree_leave_it_as_it_is() {
        let of = |query: &str| without_quotes(query, |_| true);
        let (text, names) = of("SELECT 1 WHERE a = '{{a}}'").unwrap();
        assert_eq!(
            (text.as_str(), names),
            ("SELECT 1 WHERE a = {{a}}", vec!["a".to_owned()])
        );
        assert_eq!(of("SELECT 1"), None);
        // What is in backticks is a name for SQLite only.
        assert_eq!(of("SELECT `x = '{{a}}'` FROM t"), None);
    }
}
