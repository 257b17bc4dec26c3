//! A command at a terminal that somebody sits at: what they see, type and interrupt.

use crate::harness::Sandbox;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// What has not happened by then never will.
const PATIENCE: Duration = Duration::from_secs(30);

/// Our end of a pseudo-terminal of this width, and the path of the other one.
pub(crate) fn terminal(columns: u16) -> (File, Vec<u8>) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are pseudo-terminals");
    grantpt(&ours).expect("it is ours");
    unlockpt(&ours).expect("it is ours");
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&ours, size).expect("a terminal has a size");
    let name = ptsname(&ours, Vec::new()).expect("it has a name");
    (File::from(ours), name.into_bytes())
}

/// The other end of a terminal.
pub(crate) fn other_end(path: &[u8]) -> File {
    let path = OsStr::from_bytes(path);
    let opened = File::options().read(true).write(true).open(path);
    opened.expect("the other end can be opened")
}

/// A command with a terminal for its input and all of its output; it is killed when dropped.
pub(crate) struct Session {
    child: Child,
    ours: File,
    shown: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
    /// How much of it was looked at.
    seen: usize,
}

impl Session {
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let (ours, path) = terminal(160);
        let mut command: Command = sandbox.command(arguments);
        command
            .stdin(other_end(&path))
            .stdout(other_end(&path))
            .stderr(other_end(&path))
            .env("NO_COLOR", "1");
        let child = command.spawn().expect("the program can be started");
        // It holds our copies of the other end, which must be closed for the reading to end.
        drop(command);
        let mut reader = ours.try_clone().expect("it can be read and written");
        let (sender, shown) = channel();
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            // A terminal whose other end is closed gives an error instead of an end.
            while let Ok(count @ 1..) = reader.read(&mut some) {
                if sender.send(some[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Session {
            child,
            ours,
            shown,
            bytes: Vec::new(),
            seen: 0,
        }
    }

    /// Waits until this is shown, after all that was waited for before.
    pub(crate) fn sees(&mut self, text: &str) {
        loop {
            let new = &self.bytes[self.seen..];
            let place = new.windows(text.len()).position(|it| it == text.as_bytes());
            if let Some(place) = place {
                self.seen += place + text.len();
                return;
            }
            let more = self.shown.recv_timeout(PATIENCE);
            let more = more.unwrap_or_else(|_| panic!("{text:?} was never shown: {}", self.text()));
            self.bytes.extend(more);
        }
    }

    pub(crate) fn types(&mut self, text: &str) {
        let typed = self.ours.write_all(text.as_bytes());
        typed.expect("it can be typed");
    }

    /// What Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.expect("a child has a pid");
        kill_process(pid, Signal::INT).expect("the child is there");
    }

    /// Waits until it has ended by itself: all that was shown, and its exit code (-1 for a signal).
    pub(crate) fn ended(mut self) -> (String, i32) {
        loop {
            match self.shown.recv_timeout(PATIENCE) {
                Ok(more) => self.bytes.extend(more),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                    panic!("the command did not end: {}", self.text())
                }
            }
        }
        let status = self.child.wait().expect("a child can be waited for");
        (self.text(), status.code().unwrap_or(-1))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
