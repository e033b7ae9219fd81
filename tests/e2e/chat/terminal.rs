//! A terminal with a chat in it.

use std::{
    io::{Read, Write},
    num::NonZeroU16,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use vt100::{Parser, Screen};

use crate::support::binary::{Server, UTTERD};

/// How long something can take to appear: a limit for what never does.
const DEADLINE: Duration = Duration::from_secs(60);

/// The screen, and whether the program is still running.
struct Shown {
    parser: Parser,
    ended: bool,
}

/// A terminal in which `utterd chat` runs; it is killed when the test ends.
pub struct Terminal {
    master: Box<dyn MasterPty>,
    writer: Box<dyn Write + Send>,
    shown: Arc<(Mutex<Shown>, Condvar)>,
    child: Box<dyn Child + Send + Sync>,
    /// The line modes before the chat started.
    modes: String,
    directory: PathBuf,
}

impl Terminal {
    /// A chat at `server` in a terminal of 80 by 24.
    pub fn open(server: &Server, arguments: &[&str]) -> Self {
        Self::open_with(server, arguments, &[])
    }

    /// The same, with variables in its environment.
    pub fn open_with(server: &Server, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let pty = native_pty_system().openpty(size(80, 24)).expect("a pty");
        let mut command = CommandBuilder::new(UTTERD);
        command.env_clear();
        command.env("TERM", "xterm-256color");
        command.env("UTTERD_SERVER", &server.address);
        variables.iter().for_each(|(name, value)| command.env(name, value));
        command.arg("chat");
        command.args(arguments);
        command.cwd(server.directory.path());
        let modes = modes(&*pty.master);
        let child = pty.slave.spawn_command(command).expect("the chat starts");
        let shown = Arc::new((Mutex::new(Shown { parser: parser(80, 24), ended: false }), Condvar::new()));
        let reader = pty.master.try_clone_reader().expect("the terminal is read");
        follow(reader, shown.clone());
        let writer = pty.master.take_writer().expect("the terminal is written to");
        let directory = server.directory.path().to_owned();
        Self { master: pty.master, writer, shown, child, modes, directory }
    }

    /// Waits until the screen contains all `parts`; returns the screen.
    #[track_caller]
    pub fn shows(&self, parts: &[&str]) -> String {
        self.wait(|screen| parts.iter().all(|part| screen.contains(part)), &format!("{parts:?}"))
    }

    /// Waits until the screen no longer contains `part`; returns the screen.
    #[track_caller]
    pub fn loses(&self, part: &str) -> String {
        self.wait(|screen| !screen.contains(part), &format!("a screen without {part:?}"))
    }

    #[track_caller]
    fn wait(&self, reached: impl Fn(&str) -> bool, awaited: &str) -> String {
        let (shown, changed) = &*self.shown;
        let shown = shown.lock().expect("the reader goes on");
        let going_on = |shown: &mut Shown| !reached(&contents(shown.parser.screen())) && !shown.ended;
        let (shown, _) = changed.wait_timeout_while(shown, DEADLINE, going_on).expect("the reader goes on");
        let screen = contents(shown.parser.screen());
        assert!(reached(&screen), "waited for {awaited}, but the screen is\n{screen}");
        screen
    }

    /// Types keys.
    pub fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("the terminal takes keys");
        self.writer.flush().expect("the terminal takes keys");
    }

    /// Types a line and Enter.
    pub fn line(&mut self, line: &str) {
        self.keys(line);
        self.shows(&[line]);
        self.keys("\r");
    }

    /// Resizes the terminal.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let mut shown = self.shown.0.lock().expect("the reader goes on");
        shown.parser = parser(columns, rows);
        drop(shown);
        self.master.resize(size(columns, rows)).expect("the terminal has another size");
    }

    /// Clears the screen, as another program on the same terminal might.
    pub fn spoil(&mut self) {
        self.shown.0.lock().expect("the reader goes on").parser.process(b"\x1b[2J");
    }

    /// A query of the current screen.
    pub fn screen<T>(&self, ask: impl Fn(&Screen) -> T) -> T {
        ask(self.shown.0.lock().expect("the reader goes on").parser.screen())
    }

    /// A file in the directory of the chat.
    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Waits for the end of the chat, which must have restored the terminal; returns its exit status, and the
    /// screen after it.
    #[track_caller]
    pub fn ended(&mut self) -> (ExitStatus, String) {
        let status = self.child.wait().expect("the chat ends");
        let (shown, changed) = &*self.shown;
        let shown = shown.lock().expect("the reader goes on");
        let restored = |screen: &Screen| {
            !screen.alternate_screen() && !screen.bracketed_paste() && !screen.hide_cursor()
        };
        let waiting = |shown: &mut Shown| !restored(shown.parser.screen()) && !shown.ended;
        let (shown, _) = changed.wait_timeout_while(shown, DEADLINE, waiting).expect("the reader goes on");
        assert!(restored(shown.parser.screen()), "the terminal is not as it was");
        assert_eq!(modes(&*self.master), self.modes, "the modes of the line are not as they were");
        (status, contents(shown.parser.screen()))
    }

    /// Asks the chat to stop, as `kill` does.
    pub fn terminate(&self) {
        let id = self.child.process_id().expect("it runs").to_string();
        let killed = std::process::Command::new("kill").arg(id).status().expect("kill is there");
        assert!(killed.success());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It might have exited by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads what the program writes, to its end.
fn follow(mut reader: Box<dyn Read + Send>, shown: Arc<(Mutex<Shown>, Condvar)>) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        loop {
            let read = reader.read(&mut bytes).unwrap_or(0);
            let Ok(mut now) = shown.0.lock() else { return };
            now.parser.process(&bytes[..read]);
            now.ended = read == 0;
            shown.1.notify_all();
            if read == 0 {
                return;
            }
        }
    });
}

/// The rows of the screen, without trailing spaces.
fn contents(screen: &Screen) -> String {
    screen.contents()
}

fn modes(master: &dyn MasterPty) -> String {
    format!("{:?}", master.get_termios().expect("a line has modes"))
}

fn parser(columns: u16, rows: u16) -> Parser {
    let at_least_one = |number| NonZeroU16::new(number).expect("a terminal has a size");
    Parser::new(at_least_one(rows), at_least_one(columns), 0)
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, ..PtySize::default() }
}
