//! Finding the workspace and its data folder, making a starter one, and the socket of whoever owns it.

use crate::config::{self, DEFAULT_FILE, Environment};
use crate::out::{Failure, Result};
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The longest path a Unix socket may have, less its closing zero.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// A workspace and where its data is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) workspace: PathBuf,
    pub(crate) data: PathBuf,
    /// The user's default one: `serve` may make it.
    pub(crate) is_default: bool,
}

impl Place {
    /// The folder named, else the current one if it is a workspace, else the user's default.
    pub(crate) fn find(
        workspace: Option<&Path>,
        data: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self> {
        let named = workspace.map(Path::to_owned);
        let named = named.or_else(|| environment.filled("TOOLCRIB_WORKSPACE").map(PathBuf::from));
        let here = || is_workspace(Path::new(".")).then(|| PathBuf::from("."));
        let (workspace, is_default) = match named.or_else(here) {
            Some(folder) => (folder, false),
            None => (environment.user_workspace().ok_or_else(no_home)?, true),
        };
        let workspace = absolute(&workspace)?;
        let data = data.map(Path::to_owned);
        let data = data.or_else(|| environment.filled("TOOLCRIB_DATA").map(PathBuf::from));
        let data = match data {
            Some(folder) => absolute(&folder)?,
            None => workspace.join(".toolcrib"),
        };
        Ok(Place {
            workspace,
            data,
            is_default,
        })
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.workspace.join(config::FILE_NAME)
    }

    /// The process that owns the data folder, by what it wrote into its lock.
    pub(crate) fn owner(&self) -> String {
        let text = fs::read_to_string(self.data.join("lock")).unwrap_or_default();
        match text.trim() {
            "" => "another process".to_owned(),
            pid => format!("process {pid}"),
        }
    }
}

/// What somebody is told whose folder is no workspace, so that another one is meant.
pub(crate) const NO_WORKSPACE_HERE: &str =
    "this folder is no workspace; `toolcrib init` makes it one";

fn no_home() -> Failure {
    Failure::configuration(vec![
        "there is no workspace here, and neither HOME nor XDG_DATA_HOME says where yours is"
            .to_owned(),
    ])
    .hint(NO_WORKSPACE_HERE)
    .hint("or name one with --workspace DIR")
}

fn absolute(folder: &Path) -> Result<PathBuf> {
    std::path::absolute(folder)
        .map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))
}

/// Whether a folder holds a file that makes it a workspace.
pub(crate) fn is_workspace(folder: &Path) -> bool {
    let files = ["tools.json", "mcp.json", config::FILE_NAME];
    files.iter().any(|name| folder.join(name).exists())
}

/// Writes the starter files; gives their names. Nothing that exists is touched.
pub(crate) async fn create_starter(folder: &Path) -> io::Result<Vec<&'static str>> {
    fs::create_dir_all(folder)?;
    let files = starter_files();
    let names = files.iter().map(|(name, _)| *name);
    let names = names.chain([DEMO_FILE, SKILL.0]);
    let there: Vec<&str> = names.filter(|name| folder.join(name).exists()).collect();
    if !there.is_empty() {
        let why = format!("{} already holds {}", folder.display(), there.join(", "));
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    let mut written = Vec::new();
    for (name, text) in files {
        fs::write(folder.join(name), text)?;
        written.push(name);
    }
    let demo = store::demo::create(&folder.join(DEMO_FILE)).await;
    demo.map_err(io::Error::other)?;
    written.push(DEMO_FILE);
    let skill = folder.join(SKILL.0);
    if let Some(own) = skill.parent() {
        fs::create_dir_all(own)?;
    }
    fs::write(skill, SKILL.1)?;
    written.push(SKILL.0);
    if ignore_data(folder)? {
        written.push(".gitignore");
    }
    Ok(written)
}

fn starter_files() -> [(&'static str, String); 3] {
    [
        ("tools.json", include_str!("starter/tools.json").to_owned()),
        ("mcp.json", include_str!("starter/mcp.json").to_owned()),
        (config::FILE_NAME, commented_defaults() + DEMO_SOURCE),
    ]
}

/// Instructions for a kind of work, as an example.
const SKILL: (&str, &str) = (
    "skills/weekly-limit/SKILL.md",
    include_str!("starter/skills/weekly-limit/SKILL.md"),
);

/// The database of the starter's `sql` tool.
const DEMO_FILE: &str = "demo.db";

const DEMO_SOURCE: &str = r#"
# The database that the tool get_user_daily_limit asks: a few users and how often each may call tools a day.
[sources.demo]
kind = "sqlite"
path = "demo.db"
"#;

/// The default file with every value commented out; the sections stay.
fn commented_defaults() -> String {
    let comment_out = |line: &str| {
        let is_value = !line.is_empty() && !line.starts_with(['#', '[']);
        if is_value {
            format!("#{line}\n")
        } else {
            format!("{line}\n")
        }
    };
    DEFAULT_FILE.lines().map(comment_out).collect()
}

/// The data folder does not belong into git.
fn ignore_data(folder: &Path) -> io::Result<bool> {
    let path = folder.join(".gitignore");
    let mut text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    if text
        .lines()
        .any(|line| line.trim().trim_matches('/') == ".toolcrib")
    {
        return Ok(false);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(".toolcrib/\n");
    fs::write(path, text)?;
    Ok(true)
}

/// The owner's socket by a path that is short enough, however deep the data folder lies.
pub(crate) struct SocketPath {
    pub(crate) path: PathBuf,
    _folder: Option<fs::File>,
}

impl SocketPath {
    pub(crate) fn new(data: &Path) -> io::Result<Self> {
        let path = app::owner::socket_path(data);
        if path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
            return Ok(SocketPath {
                path,
                _folder: None,
            });
        }
        let folder = fs::File::open(data)?;
        let name = path.file_name().unwrap_or_default();
        let path = Path::new("/proc/self/fd")
            .join(folder.as_raw_fd().to_string())
            .join(name);
        Ok(SocketPath {
            path,
            _folder: Some(folder),
        })
    }
}
