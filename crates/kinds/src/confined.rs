//! What a program in a sandbox sees: the system's programs and the workspace's own files to read, and a folder of its
//! own to write, which is gone when it is. No configuration, no data folder, no keys, no network.

use crate::Options;
use executor::{Code, Failure};
use process::sandbox::SYSTEM;
use process::{Bounds, Order, Sandbox, Walls};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Files of the workspace that say who may do what, and with which secrets.
const NOT_SHOWN: [&str; 3] = ["toolcrib.toml", "mcp.json", "tools.json"];

/// Room for a few results; a disk is larger, and so is the machine's memory.
const BOUNDS: Bounds = Bounds {
    address_bytes: Some(2 << 30),
    file_bytes: Some(256 << 20),
    files: Some(512),
    processes: Some(512),
    cpu_seconds: None,
};

/// What stands between a walled program and the rest.
pub(crate) struct Confinement {
    workspace: PathBuf,
    /// What no tool may read, wherever it lies.
    hidden: Vec<PathBuf>,
    missing: Vec<String>,
}

impl Confinement {
    pub(crate) fn new(options: &Options) -> Self {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let hidden: Vec<PathBuf> = options.hidden.iter().map(real).collect();
        let mut missing: Vec<String> = process::sandbox::missing()
            .iter()
            .map(|&m| m.to_owned())
            .collect();
        // Walls only allow: what lies among the system's programs cannot be taken out again.
        let system: Vec<PathBuf> = SYSTEM
            .iter()
            .map(|path| real(&PathBuf::from(path)))
            .collect();
        let exposed = hidden
            .iter()
            .find(|path| system.iter().any(|seen| path.starts_with(seen)));
        if let Some(exposed) = exposed {
            missing.push(format!(
                "place for {}, which lies among the system's programs",
                exposed.display()
            ));
        }
        Confinement {
            workspace: options.workspace.clone(),
            hidden,
            missing,
        }
    }

    /// Why no walls can be raised here; nothing where they can.
    pub(crate) fn missing(&self) -> Option<String> {
        (!self.missing.is_empty()).then(|| self.missing.join(" and no "))
    }

    /// Whether a tool's program gets walls. Where they cannot be raised, `require` refuses and `auto` does without.
    pub(crate) fn is_walled(&self, config: &Map<String, Value>) -> Result<bool, Failure> {
        let asked = config.get("sandbox").and_then(Value::as_str);
        match (
            asked.and_then(Sandbox::from_name).unwrap_or_default(),
            self.missing(),
        ) {
            (Sandbox::Off, _) => Ok(false),
            (_, None) => Ok(true),
            (Sandbox::Auto, Some(_)) => Ok(false),
            (Sandbox::Require, Some(missing)) => Err(Failure::new(
                Code::NotConfigured,
                format!("This tool needs a sandbox, and this machine has no {missing}"),
            )),
        }
    }

    /// What of the workspace tools may see: all but what is hidden, the configuration, the keys and the data folder.
    pub(crate) fn readable(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.workspace)
            .into_iter()
            .flatten()
            .flatten();
        let shown = entries.filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            !name.starts_with('.') && !NOT_SHOWN.contains(&&*name)
        });
        let paths = shown.map(|entry| entry.path());
        paths.filter(|path| !self.is_exposing(path)).collect()
    }

    /// Whether something hidden lies in there.
    pub(crate) fn is_exposing(&self, path: &Path) -> bool {
        let real = path.canonicalize();
        real.is_ok_and(|real| self.hidden.iter().any(|hidden| hidden.starts_with(&real)))
    }
}

/// The folder of a walled program.
pub(crate) struct Scratch(Option<TempDir>);

impl Scratch {
    pub(crate) fn new() -> Result<Self, Failure> {
        let only_ours = std::fs::Permissions::from_mode(0o700);
        let made = tempfile::Builder::new()
            .prefix("toolcrib-")
            .permissions(only_ours)
            .tempdir();
        made.map(|folder| Scratch(Some(folder))).map_err(|error| {
            Failure::execution(format_args!("no folder can be made for it: {error}"))
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.0
            .as_ref()
            .map_or(Path::new("/nonexistent"), TempDir::path)
    }

    /// Walls for `order`: it may read `readable` and write here.
    pub(crate) fn confine(&self, order: &mut Order, readable: Vec<PathBuf>) {
        order.bounds = BOUNDS;
        order.walls = Some(Walls {
            read: readable,
            write: vec![self.path().to_owned()],
            network: false,
        });
        for name in ["HOME", "TMPDIR"] {
            order.environment.retain(|(known, _)| known != name);
            let own = self.path().as_os_str().to_owned();
            order.environment.push((OsString::from(name), own));
        }
    }
}

/// Removing it may take a while: a program can make many files. Nobody waits for that.
impl Drop for Scratch {
    fn drop(&mut self) {
        let folder = self.0.take();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn_blocking(move || drop(folder));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_configuration_nor_keys_nor_data_are_seen() {
        let workspace = tempfile::tempdir().unwrap();
        let root = workspace.path();
        for folder in ["tools", "state/data", ".toolcrib", "keys"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in [
            "tools.json",
            "mcp.json",
            "toolcrib.toml",
            ".env",
            "notes.txt",
            "keys/sealing.key",
        ] {
            std::fs::write(root.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("state/data"), root.join("data-link")).unwrap();
        let confinement = Confinement::new(&Options {
            workspace: root.to_owned(),
            hidden: vec![root.join("data-link"), root.join("keys/sealing.key")],
            ..Options::default()
        });
        let mut seen = confinement.readable();
        seen.sort();
        assert_eq!(seen, [root.join("notes.txt"), root.join("tools")]);
    }

    #[test]
    fn nothing_is_walled_that_could_see_what_is_hidden() {
        let confinement = Confinement::new(&Options {
            hidden: vec!["/usr/src/app/.toolcrib".into()],
            ..Options::default()
        });
        assert!(
            confinement
                .missing()
                .is_some_and(|missing| missing.contains("/usr/src/app"))
        );
    }
}
