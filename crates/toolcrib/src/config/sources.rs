//! The sources that the configuration describes: `[sources.NAME]` of toolcrib.toml, and the variables POSTGRESQL_DB_….

use super::places::Places;
use super::{Config, Environment};
use crate::client::encode;
use app::sources::{Given, Settings};
use catalog::problem::Problem;
use catalog::secret::Secret;
use catalog::source::{Password, SourceDefinition, SourceKind, source_from_text};
use toml::{Table, Value};

const PORT: &str = "5432";
const PREFIX: &str = "POSTGRESQL_DB_";

impl Config {
    pub(crate) fn sources(&self) -> Settings {
        Settings {
            file: self.file_sources.clone(),
            environment: self.environment_source.clone(),
        }
    }
}

/// The sources of a file; what is wrong goes to `wrong`, with its line.
pub(super) fn of_file(
    tables: Table,
    places: &Places,
    wrong: &mut Vec<(usize, String)>,
) -> Vec<SourceDefinition> {
    let mut sources = Vec::new();
    for (name, value) in tables {
        let section = format!("sources.{name}");
        let Value::Table(mut table) = value else {
            let why = format!(
                "{section}: expected a section: write [sources.NAME] with kind, and path or url, below it"
            );
            wrong.push((places.line(&section), why));
            continue;
        };
        if table.contains_key("name") {
            let key = format!("{section}.name");
            let why =
                format!("{key}: the name of a source is that of its section; remove this line");
            wrong.push((places.line(&key), why));
            continue;
        }
        table.insert("name".to_owned(), Value::String(name));
        let body = serde_json::to_string(&table).unwrap_or_default();
        match source_from_text(&body, None) {
            Ok(source) => sources.push(source),
            Err(problems) => {
                wrong.extend(problems.iter().map(|it| placed(it, &section, places)));
            }
        }
    }
    sources
}

/// A problem as one of the section.
fn placed(problem: &Problem, section: &str, places: &Places) -> (usize, String) {
    let member = problem.path.trim_start_matches('$');
    let key = member.split('[').next().unwrap_or_default();
    let line = places.line(&format!("{section}{key}"));
    let Problem {
        expected,
        found,
        remedy,
        ..
    } = problem;
    let why = format!("{section}{member}: expected {expected}, found {found}. {remedy}");
    (line, why)
}

/// The source that the variables describe, if any of them is set.
pub(super) fn of_environment(environment: &Environment) -> Option<Given> {
    let get = |name: &str| environment.filled(&format!("{PREFIX}{name}"));
    let (user, name, host) = (get("USER"), get("NAME"), get("HOST"));
    let (pass, port) = (get("PASS"), get("PORT"));
    if [user, name, host, pass, port].iter().all(Option::is_none) {
        return None;
    }
    let needed = [("USER", user), ("NAME", name), ("HOST", host)];
    let missing = needed.iter().filter(|(_, value)| value.is_none());
    let missing: Vec<String> = missing.map(|(name, _)| format!("{PREFIX}{name}")).collect();
    let is_number = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    let fault = match (missing.is_empty(), is_number) {
        (false, _) => {
            let is = if missing.len() == 1 { "is" } else { "are" };
            let missing = missing.join(" and ");
            Some(format!("{missing} {is} not set where the server runs"))
        }
        (true, false) => Some(format!(
            "{PREFIX}PORT is no port; expected a number such as {PORT}"
        )),
        (true, true) => None,
    };
    let [user, name, host] = [user, name, host].map(Option::unwrap_or_default);
    let host = match host.contains(':') && !host.starts_with('[') {
        true => format!("[{host}]"),
        false if host.starts_with('/') => encode(host),
        false => host.to_owned(),
    };
    let (user, name) = (encode(user), encode(name));
    let url = format!("postgres://{user}@{host}:{}/{name}", port.unwrap_or(PORT));
    Some(Given {
        definition: SourceDefinition {
            name: kinds::builtin::BGA_SOURCE.to_owned(),
            kind: SourceKind::Postgres,
            url: Some(url),
            password: pass.map(|pass| Password::Given(Secret::new(pass.to_owned()))),
            ..SourceDefinition::default()
        },
        fault,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FILE_NAME, Sources};

    fn load(text: &str, pairs: &[(&str, &str)]) -> Result<Config, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE_NAME);
        std::fs::write(&file, text).unwrap();
        let sources = Sources {
            file: Some(file),
            environment: Environment::of(pairs),
            ..Sources::default()
        };
        Config::load(&sources).map_err(|invalid| invalid.problems)
    }

    #[test]
    fn sections_are_sources() {
        let text = "[sources.shop]\nkind = \"postgres\"\nurl = \"postgres://u:pw@h/db\"\nconnections_max = 4\n\n[sources.files]\nkind = \"sqlite\"\npath = \"a.db\"\n";
        let settings = load(text, &[]).unwrap().sources();
        let mut names: Vec<&str> = settings.file.iter().map(|it| it.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["files", "shop"]);
        let shop = settings.file.iter().find(|it| it.name == "shop").unwrap();
        assert_eq!(shop.url.as_deref(), Some("postgres://u@h/db"));
        assert_eq!(shop.connections_max, Some(4));
        assert!(settings.environment.is_none());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let text = "[sources.shop]\nkind = \"postgres\"\nurl = \"nowhere-s3cret\"\ncolour = 1\n[sources.\"a b\"]\nkind = \"sqlite\"\n[sources]\nodd = 7\n";
        let problems = load(text, &[]).unwrap_err().join("\n");
        for part in [
            "toml:3: sources.shop.url: expected a PostgreSQL address",
            "toml:4: sources.shop.colour: expected one of",
            "toml:5: sources.a b.name: expected 1 to 64 characters",
            "toml:5: sources.a b.path: expected \"path\"",
            "toml:8: sources.odd: expected a section",
        ] {
            assert!(problems.contains(part), "{part}\nnot in\n{problems}");
        }
        assert!(!problems.contains("s3cret"), "{problems}");
    }

    #[test]
    fn variables_are_a_source() {
        let all = [
            ("POSTGRESQL_DB_USER", "re ader"),
            ("POSTGRESQL_DB_PASS", "p@ss"),
            ("POSTGRESQL_DB_NAME", "bga_database"),
            ("POSTGRESQL_DB_HOST", "localhost"),
            ("POSTGRESQL_DB_PORT", "5433"),
        ];
        let given = load("", &all).unwrap().sources().environment.unwrap();
        let url = "postgres://re%20ader@localhost:5433/bga_database";
        assert_eq!(given.definition.url.as_deref(), Some(url));
        assert!(given.fault.is_none() && given.definition.password.is_some());
        let some = load("", &all[1..3]).unwrap().sources().environment.unwrap();
        let fault = some.fault.unwrap();
        assert!(
            fault.contains("POSTGRESQL_DB_USER and POSTGRESQL_DB_HOST"),
            "{fault}"
        );
        let odd = [&all[..4], &[("POSTGRESQL_DB_PORT", "x")]].concat();
        let odd = load("", &odd).unwrap().sources().environment.unwrap();
        assert!(odd.fault.unwrap().contains("POSTGRESQL_DB_PORT"));
    }
}
