//! CPU time and memory of a process and all below it, from /proc.

use std::collections::HashMap;
use std::fs;

use crate::Failure;

/// Linux shows CPU times in hundredths of a second to every program, whatever the kernel counts in.
const TICK_US: u64 = 10_000;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    /// User and system time, children that have ended included.
    pub(crate) cpu_us: u64,
    pub(crate) rss_kb: u64,
}

/// What the tree of processes below and with `root` has used until now.
pub(crate) fn tree_usage(root: u32) -> Result<Usage, Failure> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut stats = HashMap::new();
    let all = fs::read_dir("/proc").map_err(|e| format!("cannot read /proc: {e}"))?;
    for pid in all
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
    {
        // A process may end while we look.
        let Some(stat) = fs::read_to_string(format!("/proc/{pid}/stat"))
            .ok()
            .as_deref()
            .and_then(Stat::parse)
        else {
            continue;
        };
        children.entry(stat.parent).or_default().push(pid);
        stats.insert(pid, stat);
    }
    if !stats.contains_key(&root) {
        return Err(format!("there is no process {root}"));
    }
    let mut usage = Usage::default();
    let mut left = vec![root];
    while let Some(pid) = left.pop() {
        usage.cpu_us += stats.get(&pid).map_or(0, |stat| stat.cpu_ticks * TICK_US);
        usage.rss_kb += rss_kb(pid).unwrap_or(0);
        left.extend(children.remove(&pid).unwrap_or_default());
    }
    Ok(usage)
}

/// CPU time of this process.
pub(crate) fn own_cpu_us() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").ok();
    stat.as_deref()
        .and_then(Stat::parse)
        .map_or(0, |stat| stat.cpu_ticks * TICK_US)
}

fn rss_kb(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?
        .trim()
        .strip_suffix(" kB")?
        .parse()
        .ok()
}

#[derive(Debug, PartialEq)]
struct Stat {
    parent: u32,
    cpu_ticks: u64,
}

impl Stat {
    /// From a line of /proc/PID/stat; the name in parentheses may hold anything, so fields count from the last `)`.
    fn parse(line: &str) -> Option<Self> {
        let (_, fields) = line.rsplit_once(") ")?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<u64>());
        Some(Stat {
            parent: fields.get(1)?.parse().ok()?,
            cpu_ticks: ticks.sum::<Result<u64, _>>().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_is_read_past_a_strange_name() {
        let line = "42 (a) b (c) S 7 42 42 0 -1 4194560 100 0 0 0 11 22 33 44 20 0 1 0 5 6 7";
        assert_eq!(
            Stat::parse(line),
            Some(Stat {
                parent: 7,
                cpu_ticks: 110
            })
        );
        assert_eq!(Stat::parse("42 (a) S 7 1"), None);
        assert_eq!(Stat::parse(""), None);
    }

    #[test]
    fn this_process_has_memory_and_a_missing_one_is_an_error() {
        assert!(tree_usage(std::process::id()).unwrap().rss_kb > 0);
        assert!(tree_usage(u32::MAX).unwrap_err().contains("no process"));
    }

    #[test]
    fn a_child_counts_in_the_tree() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let alone = rss_kb(std::process::id()).unwrap();
        let tree = tree_usage(std::process::id()).unwrap().rss_kb;
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(tree > alone, "{tree} kB with the child, {alone} kB without");
    }
}
