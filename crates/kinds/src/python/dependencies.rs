//! What a script says it needs (PEP 723), installed into an environment of its own: once for each set of requirements,
//! when the tool is saved, or before its first call. With `uv` where there is one, else with Python's own means.

use crate::Options;
use crate::shell::execute;
use executor::Failure;
use process::{Order, Spawner};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex as AsyncMutex;

/// How long installing may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// The file that says that everything is in place.
const READY: &str = "toolcrib-ready";

pub(super) struct Dependencies(Arc<Shared>);

struct Shared {
    spawner: Arc<Spawner>,
    interpreter: OsString,
    environments: PathBuf,
    variables: Vec<(OsString, OsString)>,
    /// What each script needed when it was last looked at.
    known: Mutex<HashMap<PathBuf, (Stamp, Option<PathBuf>)>>,
    /// One environment is made at a time: what is needed next is often what is being made.
    making: AsyncMutex<()>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Stamp(i64, i64, u64, u64);

/// The block of a script.
#[derive(Debug, Deserialize, PartialEq)]
struct Needs {
    #[serde(rename = "requires-python", default)]
    python: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

impl Dependencies {
    pub(super) fn new(options: &Options, spawner: &Arc<Spawner>) -> Self {
        Dependencies(Arc::new(Shared {
            spawner: Arc::clone(spawner),
            interpreter: options.python.interpreter.clone(),
            environments: options.data.join("python"),
            variables: [&options.environment[..], &options.python.installing].concat(),
            known: Mutex::default(),
            making: AsyncMutex::default(),
        }))
    }

    /// The interpreter of the script's own environment; none where it needs nothing of its own. A script that is not
    /// there is told about by whoever runs it.
    pub(super) async fn interpreter(&self, script: &Path) -> Result<Option<PathBuf>, Failure> {
        let Ok(found) = std::fs::metadata(script) else {
            return Ok(None);
        };
        let stamp = Stamp(found.mtime(), found.mtime_nsec(), found.size(), found.ino());
        if let Some((known, interpreter)) = self.0.known().get(script)
            && *known == stamp
        {
            return Ok(interpreter.clone());
        }
        let text = std::fs::read_to_string(script).unwrap_or_default();
        let interpreter = match needs(&text)? {
            None => None,
            Some(needs) => {
                let shared = Arc::clone(&self.0);
                // It goes on where nobody waits for it any more: the next call finds it done.
                let made = tokio::spawn(async move { shared.made(&needs).await });
                let ended =
                    |_| Failure::execution("installing what the script needs was broken off");
                Some(made.await.map_err(ended)??)
            }
        };
        let entry = (stamp, interpreter.clone());
        self.0.known().insert(script.to_owned(), entry);
        Ok(interpreter)
    }
}

impl Shared {
    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, (Stamp, Option<PathBuf>)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn made(&self, needs: &Needs) -> Result<PathBuf, Failure> {
        let folder = self.environments.join(needs.name());
        let interpreter = folder.join("bin/python");
        let _one = self.making.lock().await;
        if folder.join(READY).exists() {
            return Ok(interpreter);
        }
        let cannot = |error: std::io::Error| {
            Failure::execution(format_args!(
                "no environment for what the script needs can be made: {error}"
            ))
        };
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(cannot(error));
            }
            _ => std::fs::create_dir_all(&self.environments).map_err(cannot)?,
        }
        for step in self.steps(needs, &folder) {
            self.take(&step).await?;
        }
        std::fs::write(folder.join(READY), "").map_err(cannot)?;
        Ok(interpreter)
    }

    /// What is run, one after the other.
    fn steps(&self, needs: &Needs, folder: &Path) -> Vec<Vec<OsString>> {
        let own = folder.join("bin/python").into_os_string();
        let (make, mut install);
        if self.has_uv() {
            let python = needs.python.as_ref().map(OsString::from);
            make = vec![
                "uv".into(),
                "venv".into(),
                "--quiet".into(),
                "--python".into(),
                python.unwrap_or_else(|| self.interpreter.clone()),
                folder.into(),
            ];
            install = vec![
                "uv".into(),
                "pip".into(),
                "install".into(),
                "--python".into(),
                own,
            ];
        } else {
            make = vec![
                self.interpreter.clone(),
                "-m".into(),
                "venv".into(),
                folder.into(),
            ];
            install = vec![
                own,
                "-m".into(),
                "pip".into(),
                "install".into(),
                "--no-input".into(),
            ];
            install.push("--disable-pip-version-check".into());
        }
        install.push("--quiet".into());
        install.extend(needs.dependencies.iter().map(OsString::from));
        let mut steps = vec![make];
        if let Some(python) = needs.python.as_ref().filter(|_| !self.has_uv()) {
            let own = folder.join("bin/python").into_os_string();
            steps.push(vec![own, "-c".into(), VERSION.into(), python.into()]);
        }
        if !needs.dependencies.is_empty() {
            steps.push(install);
        }
        steps
    }

    fn has_uv(&self) -> bool {
        let path = self.variables.iter().find(|(name, _)| name == "PATH");
        path.is_some_and(|(_, path)| {
            std::env::split_paths(path).any(|folder| folder.join("uv").is_file())
        })
    }

    async fn take(&self, step: &[OsString]) -> Result<(), Failure> {
        let Some((program, arguments)) = step.split_first() else {
            return Ok(());
        };
        let order = Order {
            program: program.clone(),
            arguments: arguments.to_vec(),
            environment: self.variables.clone(),
            folder: "/".into(),
            ..Order::default()
        };
        let late =
            |_| Failure::execution("installing what the script needs took more than ten minutes");
        let ended = tokio::time::timeout(PATIENCE, execute(&self.spawner, &order, Vec::new()));
        let ended = ended.await.map_err(late)??;
        if ended.status.success() {
            return Ok(());
        }
        let said = ended.stderr.text();
        let lines = said.lines().filter(|line| !line.trim().is_empty());
        let last: Vec<&str> = lines.rev().take(3).collect();
        let last: Vec<&str> = last.into_iter().rev().map(str::trim).collect();
        Err(Failure::execution(format_args!(
            "what the script needs cannot be installed: {}",
            last.join(" ")
        )))
    }
}

/// Ends with the reason where this Python is not one that the script wants. pip knows how to compare.
const VERSION: &str = "
import platform, sys
from pip._vendor.packaging.specifiers import SpecifierSet
if platform.python_version() not in SpecifierSet(sys.argv[1]):
    sys.exit(f'the script requires Python {sys.argv[1]}, and this is {platform.python_version()}')
";

impl Needs {
    /// The same for the same needs, whatever the script.
    fn name(&self) -> String {
        let mut sorted = self.dependencies.clone();
        sorted.sort();
        let text = format!("{:?}\n{}", self.python, sorted.join("\n"));
        let digest = Sha256::digest(text.as_bytes());
        digest
            .iter()
            .take(12)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// The block of a script that says what it needs. None where there is none, or it needs nothing.
fn needs(text: &str) -> Result<Option<Needs>, Failure> {
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::execution(format_args!(
            "the block '# /// script' cannot be read: {why}"
        ))
    };
    let mut lines = text
        .lines()
        .skip_while(|line| line.trim_end() != "# /// script");
    if lines.next().is_none() {
        return Ok(None);
    }
    let mut block = String::new();
    loop {
        match lines.next().map(str::trim_end) {
            Some("# ///") => break,
            Some("#") => block.push('\n'),
            Some(line) => match line.strip_prefix("# ") {
                Some(content) => {
                    block.push_str(content);
                    block.push('\n');
                }
                None => return Err(wrong(&"a line '# ///' must end it")),
            },
            None => return Err(wrong(&"a line '# ///' must end it")),
        }
    }
    let needs: Needs = toml::from_str(&block).map_err(|error| wrong(&error.message()))?;
    let is_option =
        |text: &&String| text.trim_start().starts_with('-') || text.contains(['\n', '\0']);
    let all = needs.dependencies.iter().chain(&needs.python);
    if let Some(text) = all.clone().find(is_option) {
        return Err(wrong(&format_args!("'{text}' is no requirement")));
    }
    Ok(Some(needs).filter(|needs| !needs.dependencies.is_empty() || needs.python.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_read_as_the_pep_says() {
        let text = "#!/usr/bin/env python3\n# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\n#   \"requests<3\",\n#\n#   \"rich\",\n# ]\n# ///\nimport rich\n";
        let found = needs(text).unwrap().unwrap();
        assert_eq!(found.python.as_deref(), Some(">=3.9"));
        assert_eq!(found.dependencies, ["requests<3", "rich"]);
        assert_eq!(needs("import os\n").unwrap(), None);
        assert_eq!(
            needs("# /// script\n# dependencies = []\n# ///\n").unwrap(),
            None
        );
        let same = needs(
            "# /// script\n# dependencies = ['rich', 'requests<3']\n# requires-python = '>=3.9'\n# ///\n",
        );
        assert_eq!(
            same.unwrap().unwrap().name(),
            found.name(),
            "the order does not matter"
        );
    }

    #[test]
    fn what_is_wrong_with_it_is_said() {
        for (text, part) in [
            ("# /// script\n# dependencies = ['a']\n", "must end it"),
            ("# /// script\n# dependencies = 'a'\n# ///\n", "sequence"),
            (
                "# /// script\n# dependencies = ['--index-url=http://x']\n# ///\n",
                "no requirement",
            ),
            (
                "# /// script\n# dependencies = [\n# ///\n",
                "cannot be read",
            ),
        ] {
            let message = needs(text).unwrap_err().message;
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
