//! A PostgreSQL server of its own, for a test that has to stop, starve or encrypt one.
//!
//! Its programs are those of the server that TOOLCRIB_TEST_POSTGRES names, and so is the user that it runs as.

use crate::server::{connect, url};
use sources::{Postgres, PostgresConfig, Source};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_postgres::Client;

const START_MAX: Duration = Duration::from_secs(60);

pub(crate) struct Cluster {
    pub(crate) folder: TempDir,
    programs: PathBuf,
    user: (u32, u32),
    settings: Vec<(String, String)>,
    pub(crate) port: u16,
    process: Option<Child>,
}

impl Cluster {
    /// Nothing if there is no server to take the programs from, or if it is on another machine. `prepare` may put files
    /// into the folder, which are given to the server's user.
    pub(crate) async fn start(
        settings: &[(&str, &str)],
        prepare: impl FnOnce(&Path),
    ) -> Option<Cluster> {
        let neighbour = connect(&url()?).await;
        let programs = PathBuf::from(
            text(
                &neighbour,
                "SELECT setting FROM pg_config WHERE name = 'BINDIR'",
            )
            .await,
        );
        let data = PathBuf::from(
            text(
                &neighbour,
                "SELECT setting FROM pg_settings WHERE name = 'data_directory'",
            )
            .await,
        );
        let (Ok(owner), true) = (std::fs::metadata(&data), programs.join("initdb").exists()) else {
            println!("skipped: the programs of PostgreSQL are not on this machine");
            return None;
        };
        // Beside the other server's folder, because its user can get there.
        let place = data.ancestors().nth(2).unwrap();
        let folder = tempfile::Builder::new()
            .prefix("toolcrib-sources-")
            .tempdir_in(place)
            .unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        prepare(folder.path());
        let user = (owner.uid(), owner.gid());
        let files = std::fs::read_dir(folder.path()).unwrap();
        for path in files
            .map(|file| file.unwrap().path())
            .chain([folder.path().to_owned()])
        {
            chown(path, Some(user.0), Some(user.1)).unwrap();
        }
        let mut cluster = Cluster {
            programs,
            user,
            settings: settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            port: free_port(),
            process: None,
            folder,
        };
        let made = cluster
            .command("initdb")
            .args([
                "--username=postgres",
                "--auth=trust",
                "--no-sync",
                "--encoding=UTF8",
                "--locale=C",
            ])
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        cluster.run();
        cluster.ready().await;
        let admin = cluster.admin().await;
        admin
            .batch_execute("CREATE ROLE reader LOGIN")
            .await
            .unwrap();
        Some(cluster)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command
            .arg("-D")
            .arg(self.data())
            .current_dir(self.folder.path())
            .env_clear()
            .envs([("LC_ALL", "C"), ("TZ", "UTC")])
            .stdin(Stdio::null());
        // Only root may become somebody else, and PostgreSQL refuses to run as root.
        if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
            command.uid(self.user.0).gid(self.user.1);
        }
        command
    }

    fn run(&mut self) {
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        let mut command = self.command("postgres");
        command.args(["-p", &self.port.to_string()]);
        let fixed = [
            ("listen_addresses", "127.0.0.1"),
            ("unix_socket_directories", ""),
            ("fsync", "off"),
        ];
        for (name, value) in fixed {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        for (name, value) in &self.settings {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command.stdout(log.try_clone().unwrap()).stderr(log);
        self.process = Some(command.spawn().unwrap());
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// Waits until the server takes connections; it says so in the eighth line of this file.
    async fn ready(&mut self) {
        let since = Instant::now();
        loop {
            let status =
                std::fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
            if status
                .lines()
                .nth(7)
                .is_some_and(|line| line.trim() == "ready")
            {
                return;
            }
            let ended = self.process.as_mut().unwrap().try_wait().unwrap();
            assert!(
                ended.is_none() && since.elapsed() < START_MAX,
                "{}",
                self.log()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Ends the server: `INT` ends the sessions and is tidy, `QUIT` is like a crash.
    pub(crate) async fn stop(&mut self, signal: &str) {
        let mut process = self.process.take().unwrap();
        kill(signal, &[process.id()]);
        let waiting = tokio::task::spawn_blocking(move || process.wait());
        waiting.await.unwrap().unwrap();
    }

    pub(crate) async fn start_again(&mut self) {
        self.run();
        self.ready().await;
    }

    /// Holds the server and all its processes still, or lets them go on.
    pub(crate) fn signal_all(&self, signal: &str) {
        let postmaster = self.process.as_ref().unwrap().id();
        let is_child = |pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
            after_name.split(' ').nth(1) == Some(postmaster.to_string().as_str())
        };
        let processes = std::fs::read_dir("/proc").unwrap();
        let numbers =
            processes.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
        let mut all: Vec<u32> = numbers.filter(is_child).collect();
        all.insert(0, postmaster);
        kill(signal, &all);
    }

    pub(crate) async fn admin(&self) -> Client {
        connect(&format!(
            "postgres://postgres@127.0.0.1:{}/postgres",
            self.port
        ))
        .await
    }

    pub(crate) fn config(&self) -> PostgresConfig {
        self.config_at(self.port)
    }

    /// Reached by another port: a proxy's.
    pub(crate) fn config_at(&self, port: u16) -> PostgresConfig {
        PostgresConfig {
            connections_min: 1,
            connections_max: 8,
            ..PostgresConfig::new(format!("postgres://reader@127.0.0.1:{port}/postgres"))
        }
    }

    /// Waits until no more than so many sessions of the source are left, none of them in the middle of something.
    pub(crate) async fn until_sessions(&self, most: i64) {
        let admin = self.admin().await;
        let sql = "SELECT count(*), count(*) FILTER (WHERE state <> 'idle') FROM pg_stat_activity WHERE usename = 'reader'";
        let since = Instant::now();
        loop {
            let row = admin.query_one(sql, &[]).await.unwrap();
            let (all, busy): (i64, i64) = (row.get(0), row.get(1));
            if all <= most && busy == 0 {
                return;
            }
            assert!(
                since.elapsed() < Duration::from_secs(10),
                "{all} sessions are left, {busy} of them busy"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // Held still it would not hear the first one.
            kill("QUIT", &[process.id()]);
            kill("CONT", &[process.id()]);
            drop(process.wait());
        }
    }
}

pub(crate) fn open(config: PostgresConfig) -> Source {
    Source::Postgres(Postgres::open(config).unwrap())
}

async fn text(client: &Client, sql: &str) -> String {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

fn kill(signal: &str, processes: &[u32]) {
    let mut command = Command::new("kill");
    command.arg(format!("-{signal}")).stderr(Stdio::null());
    command.args(processes.iter().map(u32::to_string));
    // One that has ended by now is no mistake.
    let _ended = command.status().unwrap();
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
