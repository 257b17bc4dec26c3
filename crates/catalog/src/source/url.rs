//! The parts of a PostgreSQL address, as far as we look at them, and variables in what an admin writes.

use crate::definition::is_variable_name;

/// `postgres://user:password@hosts/database?options`; what is percent-encoded stays so.
/// There is no `Debug`: it may hold a password.
#[derive(Clone)]
pub struct UrlParts {
    scheme: String,
    pub user: Option<String>,
    pub password: Option<String>,
    /// One or several, with their ports.
    pub hosts: String,
    /// `/database?options`, or less.
    rest: String,
}

impl UrlParts {
    /// None where this is no address of a PostgreSQL.
    pub fn of(url: &str) -> Option<Self> {
        let (scheme, after) = url.split_once("://")?;
        if !["postgres", "postgresql"].contains(&scheme) {
            return None;
        }
        let end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (authority, rest) = after.split_at(end);
        let (login, hosts) = match authority.rsplit_once('@') {
            Some((login, hosts)) => (Some(login), hosts),
            None => (None, authority),
        };
        let (user, password) = match login.map(|it| it.split_once(':').ok_or(it)) {
            Some(Ok((user, password))) => (Some(user), Some(password)),
            Some(Err(user)) => (Some(user), None),
            None => (None, None),
        };
        Some(UrlParts {
            scheme: scheme.to_owned(),
            user: user.map(str::to_owned),
            password: password.map(str::to_owned),
            hosts: hosts.to_owned(),
            rest: rest.to_owned(),
        })
    }

    /// The name of the database, if it is given.
    pub fn database(&self) -> Option<String> {
        let path = self.rest.split(['?', '#']).next().unwrap_or_default();
        let name = path.strip_prefix('/')?;
        (!name.is_empty()).then(|| decoded(name).unwrap_or_else(|| name.to_owned()))
    }

    /// Whether a part of the password may have been taken for something else: an `@` belongs before the host.
    pub fn is_ambiguous(&self) -> bool {
        self.rest.contains('@')
    }

    /// The names of the options.
    pub fn options(&self) -> impl Iterator<Item = String> {
        let query = self.rest.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let names = pairs.map(|pair| pair.split('=').next().unwrap_or_default());
        names.map(|name| decoded(name).unwrap_or_else(|| name.to_owned()))
    }

    pub fn text(&self) -> String {
        let user = self.user.as_deref().unwrap_or_default();
        let login = match (&self.user, &self.password) {
            (None, None) => String::new(),
            (_, Some(password)) => format!("{user}:{password}@"),
            (_, None) => format!("{user}@"),
        };
        format!("{}://{login}{}{}", self.scheme, self.hosts, self.rest)
    }
}

/// What percent-encoding stands for; none where a `%` encodes nothing.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (pair, after) = rest.split_at_checked(2)?;
        let pair = str::from_utf8(pair).ok()?;
        if !pair.chars().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(pair, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// Fills in `${NAME}` and `${NAME:-otherwise}`; the name of the first variable that is not set, or what is no name.
pub fn expanded(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((head, after)) = rest.split_once("${") {
        out.push_str(head);
        let (inside, tail) = after.split_once('}').ok_or_else(|| after.to_owned())?;
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside, None),
        };
        if !is_variable_name(name) {
            return Err(name.to_owned());
        }
        let value = variable(name).filter(|value| otherwise.is_none() || !value.is_empty());
        let value = value.or_else(|| otherwise.map(str::to_owned));
        out.push_str(&value.ok_or_else(|| name.to_owned())?);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart_and_put_together() {
        for (url, user, password, hosts, database) in [
            ("postgres://h/db", None, None, "h", Some("db")),
            ("postgres://u@h:5433", Some("u"), None, "h:5433", None),
            (
                "postgresql://u:p%40@a:1,b:2/db?sslmode=require&x=1",
                Some("u"),
                Some("p%40"),
                "a:1,b:2",
                Some("db"),
            ),
            (
                "postgres://u:a@b@h/db",
                Some("u"),
                Some("a@b"),
                "h",
                Some("db"),
            ),
            (
                "postgres://u@%2Frun/db?options=a%40b",
                Some("u"),
                None,
                "%2Frun",
                Some("db"),
            ),
        ] {
            let parts = UrlParts::of(url).unwrap();
            assert_eq!(parts.user.as_deref(), user, "{url}");
            assert_eq!(parts.password.as_deref(), password, "{url}");
            assert_eq!(parts.hosts, hosts, "{url}");
            assert_eq!(parts.database().as_deref(), database, "{url}");
            assert_eq!(parts.text(), url);
        }
        for no in ["", "h/db", "mysql://u@h/db", "host=h user=u"] {
            assert!(UrlParts::of(no).is_none(), "{no}");
        }
        for odd in ["u:a/b@h/db", "u:a?b@h/db", "u:a@b/c@h/db", "u:a@b#c@h"] {
            let parts = UrlParts::of(&format!("postgres://{odd}")).unwrap();
            assert!(parts.is_ambiguous(), "{odd}");
        }
        let parts = UrlParts::of("postgres://h/db?p%61ssword=x&sslmode=disable").unwrap();
        assert_eq!(parts.options().collect::<Vec<_>>(), ["password", "sslmode"]);
    }

    #[test]
    fn variables_are_filled_in() {
        let set = |name: &str| match name {
            "A" => Some("1".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        assert_eq!(expanded("x${A}y${A}", &set), Ok("x1y1".into()));
        assert_eq!(
            expanded("${B:-2}${EMPTY:-3}${EMPTY}", &set),
            Ok("23".into())
        );
        assert_eq!(expanded("${B}", &set), Err("B".into()));
        assert_eq!(expanded("${a b}", &set), Err("a b".into()));
        assert_eq!(expanded("${A", &set), Err("A".into()));
        assert_eq!(expanded("$A {A}", &set), Ok("$A {A}".into()));
    }
}
