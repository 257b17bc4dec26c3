//! A PostgreSQL server of its own with certificates that were made here.
//!
//! Its programs are those of the server that TOOLCRIB_TEST_POSTGRES names, and so is the user that it runs as.

use crate::skipping::postgres_url;
use sqlx::{Connection, PgConnection};
use std::io::{Write, stderr};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const START_MAX: Duration = Duration::from_secs(60);

pub(crate) struct Cluster {
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
    process: Child,
}

impl Cluster {
    /// Nothing if there is no server to take the programs from, or if it is on another machine. `host` is what the
    /// certificate is for, such as `DNS:localhost`; none is a server without TLS.
    pub(crate) async fn start(host: Option<&str>) -> Option<Cluster> {
        let mut neighbour = PgConnection::connect(&postgres_url()?).await.unwrap();
        let programs = "SELECT setting FROM pg_config WHERE name = 'BINDIR'";
        let programs: String = sqlx::query_scalar(programs)
            .fetch_one(&mut neighbour)
            .await
            .unwrap();
        let data = "SELECT setting FROM pg_settings WHERE name = 'data_directory'";
        let data: String = sqlx::query_scalar(data)
            .fetch_one(&mut neighbour)
            .await
            .unwrap();
        let (programs, data) = (PathBuf::from(programs), PathBuf::from(data));
        let (Ok(owner), true) = (std::fs::metadata(&data), programs.join("initdb").exists()) else {
            let line = "skipped: the programs of PostgreSQL are not on this machine";
            let _ = writeln!(stderr(), "{line}");
            return None;
        };
        // Beside the other server's folder, because its user can get there.
        let folder = tempfile::Builder::new()
            .prefix("toolcrib-tls-")
            .tempdir_in(data.ancestors().nth(2).unwrap())
            .unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        if let Some(host) = host {
            certify(folder.path(), "stranger", host);
            certify(folder.path(), "authority", host);
        }
        let user = (owner.uid(), owner.gid());
        let files = std::fs::read_dir(folder.path()).unwrap();
        let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        for path in files.iter().map(PathBuf::as_path).chain([folder.path()]) {
            chown(path, Some(user.0), Some(user.1)).unwrap();
        }
        let program = |name: &str| as_user(&programs.join(name), folder.path(), user);
        let init = [
            "--username=postgres",
            "--auth=trust",
            "--no-sync",
            "-E",
            "UTF8",
        ];
        let made = program("initdb").args(init).arg("--locale=C").output();
        let made = made.unwrap();
        assert!(made.status.success(), "{made:?}");
        let port = free_port();
        let mut server = program("postgres");
        server.args(["-p", &port.to_string(), "-c", "fsync=off"]);
        server.args(["-c", "listen_addresses=127.0.0.1"]);
        server.args(["-c", "unix_socket_directories="]);
        if host.is_some() {
            server.args([
                "-c",
                "ssl=on",
                "-c",
                "ssl_cert_file=../authority-server.pem",
            ]);
            server.args(["-c", "ssl_key_file=../authority-server.key"]);
        }
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        server.stdout(log.try_clone().unwrap()).stderr(log);
        let mut cluster = Cluster {
            process: server.spawn().unwrap(),
            port,
            folder,
        };
        cluster.ready();
        Some(cluster)
    }

    /// Waits until the server takes connections; it says so in the eighth line of this file.
    fn ready(&mut self) {
        let since = Instant::now();
        let file = self.folder.path().join("data/postmaster.pid");
        loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if text
                .lines()
                .nth(7)
                .is_some_and(|line| line.trim() == "ready")
            {
                return;
            }
            let log = || std::fs::read_to_string(self.folder.path().join("log"));
            assert!(since.elapsed() < START_MAX, "{:?}", log());
            assert!(self.process.try_wait().unwrap().is_none(), "{:?}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn url(&self, host: &str, options: &str) -> String {
        format!(
            "postgres://postgres@{host}:{}/postgres?{options}",
            self.port
        )
    }

    /// `sslrootcert` with the file of this authority.
    pub(crate) fn root(&self, authority: &str) -> String {
        let file = self.folder.path().join(format!("{authority}.pem"));
        format!("sslrootcert={}", file.display())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn as_user(program: &Path, folder: &Path, user: (u32, u32)) -> Command {
    let mut command = Command::new(program);
    command
        .arg("-D")
        .arg(folder.join("data"))
        .current_dir(folder)
        .env_clear()
        .envs([("LC_ALL", "C"), ("TZ", "UTC")])
        .stdin(Stdio::null());
    // Only root may become somebody else, and PostgreSQL refuses to run as root.
    if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(user.0).gid(user.1);
    }
    command
}

fn free_port() -> u16 {
    let probe = TcpListener::bind("127.0.0.1:0").unwrap();
    probe.local_addr().unwrap().port()
}

/// An authority as `NAME.pem`, and a certificate of it for a host as `NAME-server.pem` and `NAME-server.key`.
fn certify(folder: &Path, name: &str, host: &str) {
    let new = "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    let extensions = format!("{name}.ext");
    let text =
        format!("subjectAltName={host}\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n");
    std::fs::write(folder.join(&extensions), text).unwrap();
    openssl(
        folder,
        &format!(
            "{new} -x509 -days 2 -subj /CN={name} -keyout {name}.key -out {name}.pem -addext keyUsage=critical,keyCertSign"
        ),
    );
    openssl(
        folder,
        &format!("{new} -subj /CN=server -keyout {name}-server.key -out {name}.csr"),
    );
    openssl(
        folder,
        &format!(
            "x509 -req -in {name}.csr -CA {name}.pem -CAkey {name}.key -CAcreateserial -days 2 -extfile {extensions} -out {name}-server.pem"
        ),
    );
    let key = folder.join(format!("{name}-server.key"));
    std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o600)).unwrap();
}

fn openssl(folder: &Path, arguments: &str) {
    let mut command = Command::new("openssl");
    command.args(arguments.split(' ')).current_dir(folder);
    let done = command.stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}
