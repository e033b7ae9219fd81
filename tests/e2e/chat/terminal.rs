//! A terminal with a chat in it.

use std::{
    fs::File,
    io::{Read, Write},
    process::ExitStatus,
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use console::strip_ansi_codes;
use rustix::{
    process::{Pid, Signal, kill_process},
    termios::{LocalModes, Termios, tcgetattr},
};

use crate::support::{
    binary::{Process, Server},
    pty::pty,
};

/// How long something can take to appear: a limit for what never does.
const DEADLINE: Duration = Duration::from_secs(60);

/// What the program wrote, and whether it has ended.
#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    ended: bool,
}

/// A terminal in which `utterd chat` runs; it is killed when the test ends.
pub struct Terminal {
    master: File,
    written: Arc<(Mutex<Written>, Condvar)>,
    /// Where what was written since the last line begins.
    since: usize,
    child: Process,
    /// The modes of the line before the chat started.
    modes: Termios,
}

impl Terminal {
    /// A chat at `server` in a terminal of 80 by 24; the key of the model is in its environment.
    pub fn open(server: &Server, arguments: &[&str]) -> Self {
        let (master, slave) = pty(24, 80);
        let modes = tcgetattr(&slave).expect("a line has modes");
        let stdio = || slave.try_clone().expect("a descriptor is free");
        let mut command = server.command(&["chat"]);
        command.args(arguments).env("TERM", "xterm-256color").env("OPENAI_API_KEY", "secret");
        command.stdin(stdio()).stdout(stdio()).stderr(stdio());
        let child = Process(command.spawn().expect("the chat starts"));
        // The last copies of the terminal's end are the child's: when it ends, so does the reader.
        drop((command, slave));
        let written = Arc::<(Mutex<Written>, Condvar)>::default();
        follow(master.try_clone().expect("a descriptor is free"), written.clone());
        Self { master, written, since: 0, child, modes }
    }

    /// Waits until all `parts` were written since the last line; returns what was.
    #[track_caller]
    pub fn shows(&self, parts: &[&str]) -> String {
        self.wait(&format!("{parts:?}"), |text| parts.iter().all(|part| text.contains(part)))
    }

    /// Waits until the chat waits for a line; returns what was written since the last one.
    #[track_caller]
    pub fn waits(&self) -> String {
        self.wait("a prompt", |text| text.trim_end_matches('\r').ends_with("> "))
    }

    #[track_caller]
    fn wait(&self, awaited: &str, reached: impl Fn(&str) -> bool) -> String {
        let (written, changed) = &*self.written;
        let written = written.lock().expect("the reader goes on");
        let going_on = |now: &mut Written| !reached(&self.text(now)) && !now.ended;
        let (written, _) =
            changed.wait_timeout_while(written, DEADLINE, going_on).expect("the reader goes on");
        let text = self.text(&written);
        assert!(reached(&text), "waited for {awaited}, but there is\n{text}");
        text
    }

    fn text(&self, written: &Written) -> String {
        let text = String::from_utf8_lossy(&written.bytes[self.since..]).into_owned();
        strip_ansi_codes(&text).into_owned()
    }

    /// Types keys.
    pub fn keys(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Types a line and Enter, once the chat waits for one.
    #[track_caller]
    pub fn line(&mut self, line: &str) {
        self.waits();
        self.since = self.written.0.lock().expect("the reader goes on").bytes.len();
        self.keys(&format!("{line}\r"));
    }

    /// Presses Ctrl-C while a reply comes. The kernel makes it a signal, for which the terminal would have to be the
    /// one that controls the program.
    pub fn interrupt(&self) {
        let modes = tcgetattr(&self.master).expect("a line has modes");
        assert!(modes.local_modes.contains(LocalModes::ISIG), "Ctrl-C would be a key");
        self.signal(Signal::INT);
    }

    /// Sends the chat a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child.0), signal).expect("it runs");
    }

    /// Waits for the end of the chat, which must have restored the terminal; returns its exit status.
    #[track_caller]
    pub fn ended(&mut self) -> ExitStatus {
        let (written, changed) = &*self.written;
        let written = written.lock().expect("the reader goes on");
        let (written, _) =
            changed.wait_timeout_while(written, DEADLINE, |now| !now.ended).expect("the reader goes on");
        let text = String::from_utf8_lossy(&written.bytes).into_owned();
        let marks = [text.matches("\x1b[?2004h").count(), text.matches("\x1b[?2004l").count()];
        assert_eq!(marks[0], marks[1], "pasted text is still marked: {text}");
        let modes = tcgetattr(&self.master).expect("a line has modes");
        assert_eq!(format!("{modes:?}"), format!("{:?}", self.modes), "the modes are not as they were");
        self.child.0.wait().expect("it ran")
    }
}

/// Reads what the program writes, to its end.
fn follow(mut master: File, written: Arc<(Mutex<Written>, Condvar)>) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        loop {
            // an error says that the other end is closed
            let read = master.read(&mut bytes).unwrap_or(0);
            let Ok(mut now) = written.0.lock() else { return };
            now.bytes.extend_from_slice(&bytes[..read]);
            now.ended = read == 0;
            written.1.notify_all();
            if read == 0 {
                return;
            }
        }
    });
}
