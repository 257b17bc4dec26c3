//! Programs under supervision: nothing of them is left, whatever they do and however they end.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use process::{Bounds, Captured, Order, Spawner, Tree, Walls};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, BufReader};

/// Cargo builds examples before it runs tests, beside them.
fn spawner() -> Spawner {
    let tests = std::env::current_exe().unwrap();
    let target = tests.parent().and_then(Path::parent).unwrap();
    Spawner::of(target.join("examples/worker"))
}

fn shell(script: &str) -> Order {
    Order {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        folder: "/".into(),
        ..Order::default()
    }
}

async fn output(tree: &mut Tree) -> (Option<i32>, String, String) {
    let out = Captured::read(tree.stdout.take().unwrap(), 1 << 20);
    let err = Captured::read(tree.stderr.take().unwrap(), 1 << 20);
    drop(tree.stdin.take());
    let (out, err, status) = tokio::join!(out, err, tree.wait());
    (status.unwrap().code(), out.text(), err.text())
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie is dead; whoever should reap it just has not.
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

async fn all_gone(pids: &[String]) {
    let until = Instant::now() + Duration::from_secs(10);
    while let Some(pid) = pids.iter().find(|pid| is_alive(pid)) {
        assert!(Instant::now() < until, "{pid} is still there");
        tokio::task::yield_now().await;
    }
}

/// Starts children, grandchildren and such that hide in sessions of their own, and prints their ids.
const FAMILY: &str = "
    for i in 1 2 3 4 5; do
        sleep 300 & echo $!
        setsid sleep 300 & echo $!
        (setsid sh -c 'echo $$; sleep 300 & echo $!; exec sleep 300' &)
    done
    echo ready
";

async fn family(tree: &mut Tree) -> Vec<String> {
    let mut lines = BufReader::new(tree.stdout.take().unwrap()).lines();
    let mut pids = Vec::new();
    let mut ready = false;
    while !ready || pids.len() < 20 {
        let line = lines.next_line().await.unwrap().unwrap();
        if line == "ready" {
            ready = true;
        } else {
            pids.push(line);
        }
    }
    assert!(pids.iter().all(|pid| is_alive(pid)));
    pids
}

#[tokio::test]
async fn a_dropped_tree_is_gone_with_all_that_hid() {
    let spawner = spawner();
    let mut tree = spawner
        .spawn(&shell(&format!("{FAMILY} wait")))
        .await
        .unwrap();
    let pids = family(&mut tree).await;
    drop(tree);
    all_gone(&pids).await;
}

#[tokio::test]
async fn what_a_program_leaves_behind_ends_with_it() {
    let spawner = spawner();
    let mut tree = spawner
        .spawn(&shell(&format!("{FAMILY} read line")))
        .await
        .unwrap();
    let pids = family(&mut tree).await;
    // Its input ends, and so does it; nothing waits for the others, which hold its pipes.
    drop(tree.stdin.take());
    let status = tree.wait().await.unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(
        pids.iter().all(|pid| !is_alive(pid)),
        "gone before it is said to have ended"
    );
}

#[tokio::test]
async fn it_ends_as_the_program_did() {
    let spawner = spawner();
    for (script, code) in [
        ("exit 0", Some(0)),
        ("exit 7", Some(7)),
        ("exit 125", Some(125)),
        ("kill -SEGV $$", None),
        ("kill -TERM $$", None),
    ] {
        let mut tree = spawner
            .spawn(&shell(&format!("echo out; echo err >&2; {script}")))
            .await
            .unwrap();
        let (found, out, err) = output(&mut tree).await;
        assert_eq!(
            (found, out.as_str(), err.as_str()),
            (code, "out\n", "err\n"),
            "{script}"
        );
        let status = tree.wait().await.unwrap();
        assert_eq!(tree.not_started(status, &err), None, "{script}");
        let signal = process::spawn::signal_name(status);
        let expected = script
            .strip_prefix("kill -")
            .and_then(|rest| rest.split(' ').next());
        assert_eq!(
            signal,
            expected.map(|name| format!("SIG{name}")),
            "{script}"
        );
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_from_one_that_fails() {
    let spawner = spawner();
    let order = Order {
        program: "/nowhere/at-all".into(),
        ..shell("")
    };
    let mut tree = spawner.spawn(&order).await.unwrap();
    let (_, _, err) = output(&mut tree).await;
    let status = tree.wait().await.unwrap();
    let why = tree.not_started(status, &err).unwrap();
    assert!(why.contains("No such file"), "{why}");
}

#[tokio::test]
async fn nothing_of_our_environment_is_passed_on() {
    let mut order = shell("env | sort");
    order.environment.push(("GIVEN".into(), "yes".into()));
    let spawner = spawner();
    let mut tree = spawner.spawn(&order).await.unwrap();
    let (_, out, _) = output(&mut tree).await;
    let names: Vec<&str> = out
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    // The shell makes the others itself.
    let own = |name: &&str| !matches!(*name, "PWD" | "OLDPWD" | "SHLVL" | "_");
    assert_eq!(
        names.into_iter().filter(own).collect::<Vec<_>>(),
        ["GIVEN", "PATH"]
    );
}

#[tokio::test]
async fn bounds_hold_for_the_program() {
    let mut order = shell("ulimit -n; ulimit -c; head -c 2000000 /dev/zero > big; stat -c %s big");
    let folder = tempfile::tempdir().unwrap();
    order.folder = folder.path().to_owned();
    order.bounds = Bounds {
        files: Some(33),
        file_bytes: Some(1_000_000),
        ..Bounds::default()
    };
    let spawner = spawner();
    let mut tree = spawner.spawn(&order).await.unwrap();
    let (_, out, _) = output(&mut tree).await;
    assert_eq!(out, "33\n0\n1000000\n");
}

fn walled(script: &str, own: &Path) -> Order {
    let mut order = shell(script);
    order.folder = own.to_owned();
    order.walls = Some(Walls {
        write: vec![own.to_owned()],
        ..Walls::default()
    });
    order
}

#[tokio::test]
async fn walls_hide_files_processes_and_the_network() {
    let spawner = spawner();
    let lacking = process::sandbox::missing();
    assert!(lacking.is_empty(), "this kernel lacks {lacking:?}");
    let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let secret: PathBuf = other.path().join("secret");
    std::fs::write(&secret, "hidden").unwrap();
    let secret = secret.display();
    for (script, works) in [
        ("echo mine > note && cat note".to_owned(), true),
        ("/bin/ls /usr > /dev/null".to_owned(), true),
        (format!("cat {secret}"), false),
        (format!("echo x > {secret}"), false),
        ("cat /etc/passwd".to_owned(), false),
        ("cat /proc/self/environ".to_owned(), false),
        (format!("cat /proc/{}/environ", std::process::id()), false),
        ("kill -9 $PPID".to_owned(), false),
        (format!("kill -9 {}", std::process::id()), false),
        ("unshare -U true".to_owned(), false),
        (format!("chmod 666 {secret}"), false),
        (format!("chown 1234 {secret}"), false),
        (format!("touch -d 2001-01-01 {secret}"), false),
        (
            format!("prlimit --pid {} --core=0", std::process::id()),
            false,
        ),
        (format!("renice -n 5 -p {}", std::process::id()), false),
        (format!("taskset -p 1 {}", std::process::id()), false),
        (format!("truncate -s 0 {secret}"), false),
        ("cat /etc/ssl/private/* /etc/shadow".to_owned(), false),
    ] {
        let mut tree = spawner.spawn(&walled(&script, own.path())).await.unwrap();
        let (code, out, err) = output(&mut tree).await;
        assert_eq!(code == Some(0), works, "{script}: {code:?} {out} {err}");
        assert!(!out.contains("hidden"), "{script}");
    }
    let mut order = walled("", own.path());
    order.program = "bash".into();
    order.arguments = vec!["-c".into(), "exec 3<>/dev/tcp/127.0.0.1/9".into()];
    let mut tree = spawner.spawn(&order).await.unwrap();
    let (_, _, err) = output(&mut tree).await;
    assert!(err.contains("Operation not permitted"), "{err}");
}
