//! Reads `tools.json` over and over beside a test: it must be whole and valid at every instant.

use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// What the reader saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) reads: usize,
    pub(crate) malformed: Vec<String>,
}

pub(crate) struct Reader {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

impl Reader {
    pub(crate) fn start(workspace: &Path) -> Self {
        let path = workspace.join("tools.json");
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut seen = Seen::default();
            while !told.load(Ordering::Relaxed) {
                seen.reads += 1;
                if let Err(why) = names(&path) {
                    seen.malformed.push(why);
                }
                // Leaves the processor to those who write.
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            seen
        });
        Reader { stop, thread }
    }

    pub(crate) fn stop(self) -> Seen {
        self.stop.store(true, Ordering::Relaxed);
        let seen = self.thread.join().expect("the reader does not panic");
        assert!(seen.reads > 0, "the reader never looked");
        assert!(
            seen.malformed.is_empty(),
            "{} of {} reads were malformed, the first: {}",
            seen.malformed.len(),
            seen.reads,
            seen.malformed[0]
        );
        seen
    }
}

/// The names in the file; what is wrong with it otherwise.
pub(crate) fn names(path: &PathBuf) -> Result<HashSet<String>, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let file: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let tools = file["tools"].as_array().ok_or("no list of tools")?;
    let names: HashSet<String> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
        .collect();
    if names.len() != tools.len() {
        return Err(format!("{} tools have {} names", tools.len(), names.len()));
    }
    Ok(names)
}
