//! The configuration: the default file, then the workspace's or the one named, then the environment, then
//! flags. The only place that reads the environment; every problem is reported at once.

mod keys;
mod oidc;
mod places;
mod runs;
mod sources;
mod telemetry;
mod vectors;

use app::sources::Given;
use catalog::source::SourceDefinition;
pub(crate) use keys::{KEYS, address, nearest};
use keys::{Key, OTHER_VARIABLES};
use places::Places;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Value;

/// The documented default file; `init` writes it, commented out, into a new workspace.
pub(crate) const DEFAULT_FILE: &str = include_str!("config.default.toml");

/// The section whose sections are no keys but databases.
const SOURCES: &str = "sources";

/// The name of a workspace's own file.
pub(crate) const FILE_NAME: &str = app::backup::CONFIG_FILE;

/// The environment as it was when the program started.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl Environment {
    /// What is not UTF-8 cannot be one of ours and is left out.
    pub(crate) fn of_process() -> Self {
        let pairs = std::env::vars_os();
        let text = pairs.filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
        Environment(text.collect())
    }

    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        let owned = pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        Environment(owned.collect())
    }

    /// A variable that is set.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A variable that is set and not empty.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    pub(crate) fn wants_colour(&self) -> bool {
        self.filled("NO_COLOR").is_none() && self.get("TERM") != Some("dumb")
    }

    /// Where the default workspace of this user is.
    pub(crate) fn user_workspace(&self) -> Option<PathBuf> {
        let base = self.filled("XDG_DATA_HOME").map(PathBuf::from);
        let base = base.filter(|path| path.is_absolute());
        let home = || Some(Path::new(self.filled("HOME")?).join(".local/share"));
        Some(base.or_else(home)?.join("toolcrib/workspace"))
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    File(PathBuf),
    Environment(String),
    Flag(&'static str),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => write!(f, "default"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// One value in force.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// Every value in force, checked.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    settings: BTreeMap<&'static str, Setting>,
    /// The operator's own key; never stored.
    pub(crate) admin_key: Option<String>,
    /// The keys that open stored secrets.
    pub(crate) secret_key: Option<String>,
    /// The sections `[sources.NAME]` of the file.
    file_sources: Vec<SourceDefinition>,
    /// What POSTGRESQL_DB_… describe.
    environment_source: Option<Given>,
}

/// Where values come from, besides the default file.
#[derive(Default)]
pub(crate) struct Sources<'a> {
    pub(crate) file: Option<PathBuf>,
    /// Whether the file may be missing.
    pub(crate) file_named: bool,
    pub(crate) environment: Environment,
    /// (key, flag, value)
    pub(crate) flags: Vec<(&'static str, &'static str, &'a str)>,
}

/// Everything that is wrong: the file's problems in the order of its lines, then the others.
#[derive(Debug)]
pub(crate) struct Invalid {
    pub(crate) problems: Vec<String>,
    /// Whether a list of all keys would help.
    pub(crate) has_unknown_key: bool,
}

impl Config {
    /// Lays the sources over each other; all problems at once.
    pub(crate) fn load(sources: &Sources<'_>) -> Result<Self, Invalid> {
        let mut loading = Loading::default();
        loading.file(DEFAULT_FILE, &Origin::Default, "config.default.toml");
        if let Some(path) = &sources.file {
            loading.file_on_disk(path, sources.file_named);
        }
        loading.environment(&sources.environment);
        for (name, flag, text) in &sources.flags {
            if let Some(key) = KEYS.iter().find(|key| key.name == *name) {
                loading.text(key, text, flag, Origin::Flag(flag));
            }
        }
        let admin_key = sources.environment.get("TOOLCRIB_ADMIN_KEY");
        if admin_key.is_some_and(|key| key.trim().is_empty()) {
            loading.problems.push(
                "TOOLCRIB_ADMIN_KEY is empty; give it a long random text, or unset it".to_owned(),
            );
        }
        let secret_key = sources.environment.get("TOOLCRIB_SECRET_KEY");
        if secret_key.is_some_and(|key| key.trim().is_empty()) {
            loading.problems.push(
                "TOOLCRIB_SECRET_KEY is empty; set it to id:base64 of 32 random bytes, or unset it"
                    .to_owned(),
            );
        }
        let config = Config {
            settings: loading.settings,
            file_sources: loading.sources,
            environment_source: sources::of_environment(&sources.environment),
            secret_key: secret_key.map(str::to_owned),
            admin_key: admin_key.map(|key| key.trim().to_owned()),
        };
        if loading.problems.is_empty() {
            loading.problems = config.oidc().err().unwrap_or_default();
            loading.problems.extend(config.http_allow().err());
            loading.problems.extend(config.runs().err());
        }
        if loading.problems.is_empty() {
            return Ok(config);
        }
        Err(Invalid {
            problems: loading.problems,
            has_unknown_key: loading.has_unknown_key,
        })
    }

    /// What tools may call although it is not public.
    pub(crate) fn http_allow(&self) -> Result<Vec<fetch::Allowed>, String> {
        fetch::Allowed::list(&self.names("http.allow").join(","))
            .map_err(|error| format!("http.allow: {error}"))
    }

    /// Every key with its value, in the order of the default file.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&'static Key, &Setting)> {
        KEYS.iter().map(|key| (key, self.setting(key.name)))
    }

    pub(crate) fn setting(&self, name: &str) -> &Setting {
        let found = self.settings.get(name);
        found.expect("the default file holds every key: a test sees to it")
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.setting(name).value.as_str().unwrap_or_default()
    }

    pub(crate) fn yes(&self, name: &str) -> bool {
        self.setting(name).value.as_bool().unwrap_or_default()
    }

    /// A whole number; `check` has made sure that it is not negative.
    pub(crate) fn count(&self, name: &str) -> usize {
        let number = self.setting(name).value.as_integer();
        number
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or_default()
    }

    pub(crate) fn seconds(&self, name: &str) -> f64 {
        self.setting(name).value.as_float().unwrap_or_default()
    }

    pub(crate) fn duration(&self, name: &str) -> Duration {
        Duration::try_from_secs_f64(self.seconds(name)).unwrap_or_default()
    }

    pub(crate) fn names(&self, name: &str) -> Vec<String> {
        let items = self.setting(name).value.as_array();
        let text = |item: &Value| item.as_str().map(str::to_owned);
        items.into_iter().flatten().filter_map(text).collect()
    }

    pub(crate) fn listen(&self) -> SocketAddr {
        address(self.text("server.listen")).expect("the address was checked when it was loaded")
    }

    pub(crate) fn database_url(&self) -> Option<String> {
        Some(self.text("database.url").to_owned()).filter(|url| !url.is_empty())
    }
}

#[derive(Default)]
struct Loading {
    settings: BTreeMap<&'static str, Setting>,
    sources: Vec<SourceDefinition>,
    problems: Vec<String>,
    has_unknown_key: bool,
}

impl Loading {
    fn file_on_disk(&mut self, path: &Path, named: bool) {
        match std::fs::read_to_string(path) {
            Ok(text) => self.file(
                &text,
                &Origin::File(path.to_owned()),
                &path.display().to_string(),
            ),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !named => {}
            Err(error) => self
                .problems
                .push(format!("{}: cannot be read: {error}", path.display())),
        }
    }

    fn file(&mut self, text: &str, origin: &Origin, shown: &str) {
        let table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                let error: toml::de::Error = error;
                let before = error
                    .span()
                    .map_or("", |span| text.get(..span.start).unwrap_or(""));
                let line = before.matches('\n').count() + 1;
                let why = error.message().replace('\n', "; ");
                let twice = twice(text, line).filter(|_| why.starts_with("duplicate key"));
                let why = twice.unwrap_or(why);
                self.problems.push(format!("{shown}:{line}: {why}"));
                return;
            }
        };
        let places = Places::of(text);
        let mut wrong: Vec<(usize, String)> = Vec::new();
        for (section, value) in table {
            let Value::Table(members) = value else {
                wrong.push(self.unknown(&section, &places));
                continue;
            };
            if section == SOURCES {
                self.sources = sources::of_file(members, &places, &mut wrong);
                continue;
            }
            if members.is_empty() && !KEYS.iter().any(|key| in_section(key, &section)) {
                wrong.push(self.unknown(&section, &places));
            }
            for (member, value) in members {
                let name = format!("{section}.{member}");
                let Some(key) = KEYS.iter().find(|key| key.name == name) else {
                    wrong.push(self.unknown(&name, &places));
                    continue;
                };
                match key.holds.check(value) {
                    Ok(value) => self.set(key, value, origin.clone()),
                    Err(why) => wrong.push((places.line(&name), format!("{name}: {why}"))),
                }
            }
        }
        wrong.sort();
        let told = wrong
            .into_iter()
            .map(|(line, why)| format!("{shown}:{line}: {why}"));
        self.problems.extend(told);
    }

    fn unknown(&mut self, name: &str, places: &Places) -> (usize, String) {
        self.has_unknown_key = true;
        let meant = meant(name, KEYS.iter().map(|key| key.name));
        (places.line(name), format!("unknown key '{name}'{meant}"))
    }

    fn environment(&mut self, environment: &Environment) {
        for key in KEYS {
            let variable = key.variable();
            // The pinned name wins over the derived one, which nobody but us knows.
            let names = [Some(variable.as_str()), key.also];
            for name in names.into_iter().flatten() {
                if let Some(text) = environment.get(name) {
                    self.text(key, text, name, Origin::Environment(name.to_owned()));
                }
            }
        }
        let derived: Vec<String> = KEYS.iter().map(Key::variable).collect();
        let known = || {
            derived
                .iter()
                .map(String::as_str)
                .chain(OTHER_VARIABLES.iter().copied())
        };
        for name in environment
            .0
            .keys()
            .filter(|name| name.starts_with("TOOLCRIB_"))
        {
            if !known().any(|known| known == name) {
                let meant = meant(name, known());
                self.problems
                    .push(format!("environment: unknown variable {name}{meant}"));
            }
        }
    }

    fn text(&mut self, key: &'static Key, text: &str, shown: &str, origin: Origin) {
        match key.holds.read(text) {
            Ok(value) => self.set(key, value, origin),
            Err(why) => self.problems.push(format!("{shown}: {why}")),
        }
    }

    fn set(&mut self, key: &'static Key, value: Value, origin: Origin) {
        self.settings.insert(key.name, Setting { value, origin });
    }
}

/// What stands twice, and where it stands first.
fn twice(text: &str, line: usize) -> Option<String> {
    let again = text.lines().nth(line - 1)?.trim();
    let name = |line: &str| line.split('=').next().unwrap_or_default().trim().to_owned();
    let first = text
        .lines()
        .position(|line| name(line.trim()) == name(again))?
        + 1;
    (first < line).then(|| match again.starts_with('[') {
        true => {
            format!("the section {again} is there already, in line {first}; put its lines there")
        }
        false => format!(
            "{} is set twice, first in line {first}; keep one",
            name(again)
        ),
    })
}

fn in_section(key: &Key, section: &str) -> bool {
    key.name.split('.').next() == Some(section)
}

fn meant<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = nearest(typed, known);
    near.map(|near| format!("; did you mean '{near}'?"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_file_holds_every_key_with_a_comment() {
        let config = Config::load(&Sources::default()).unwrap();
        assert_eq!(config.settings.len(), KEYS.len());
        let places = Places::of(DEFAULT_FILE);
        for key in KEYS {
            let line = places.line(key.name);
            let above = DEFAULT_FILE.lines().nth(line - 2).unwrap();
            assert!(
                above.starts_with("# ") && above.len() > 20,
                "{}: {above}",
                key.name
            );
        }
    }

    #[test]
    fn a_later_place_wins() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE_NAME);
        std::fs::write(
            &file,
            "[server]\nlisten = \"127.0.0.1:1\"\nrequests_max = 7\n[tools]\ntimeout_seconds = 5\n",
        )
        .unwrap();
        let config = Config::load(&Sources {
            file: Some(file),
            environment: Environment::of(&[
                ("TOOLCRIB_SERVER_LISTEN", "127.0.0.1:2"),
                ("TOOL_TIMEOUT_SECONDS", "2.5"),
                ("TOOL_WHITELIST", " a , b,"),
                ("FEATURE_TOOLS_POLICY", "Yes"),
            ]),
            flags: vec![("server.listen", "--listen", "localhost:3")],
            ..Sources::default()
        })
        .unwrap();
        assert_eq!(config.listen().to_string(), "127.0.0.1:3");
        assert_eq!(
            config.setting("server.listen").origin,
            Origin::Flag("--listen")
        );
        assert_eq!(config.count("server.requests_max"), 7);
        assert!((config.seconds("tools.timeout_seconds") - 2.5).abs() < 1e-9);
        assert_eq!(config.names("policy.whitelist"), ["a", "b"]);
        assert!(config.yes("policy.enforced") && !config.yes("features.mcp_tools"));
        assert_eq!(config.setting("log.durability").origin, Origin::Default);
    }

    #[test]
    fn every_problem_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE_NAME);
        std::fs::write(
            &file,
            "[server]\nlisten = 80\nrequest_max = 7\n[polcy]\n[log]\nretention_days = -1\n",
        )
        .unwrap();
        let problems = Config::load(&Sources {
            file: Some(file),
            environment: Environment::of(&[
                ("FEATURE_MCP_TOOLS", "maybe"),
                ("TOOLCRIB_LOG_RETENTION_DAY", "3"),
                ("TOOLCRIB_ADMIN_KEY", " "),
            ]),
            ..Sources::default()
        })
        .unwrap_err();
        assert!(problems.has_unknown_key);
        let problems = problems.problems.join("\n");
        for part in [
            "toolcrib.toml:2: server.listen: expected an address",
            "toolcrib.toml:3: unknown key 'server.request_max'; did you mean 'server.requests_max'?",
            "toolcrib.toml:4: unknown key 'polcy'",
            "toolcrib.toml:6: log.retention_days: expected a whole number from 0",
            "FEATURE_MCP_TOOLS: expected true, 1, yes, false, 0 or no, got 'maybe'",
            "TOOLCRIB_LOG_RETENTION_DAY; did you mean 'TOOLCRIB_LOG_RETENTION_DAYS'?",
            "TOOLCRIB_ADMIN_KEY is empty",
        ] {
            assert!(problems.contains(part), "{part}\nnot in\n{problems}");
        }
    }
}
