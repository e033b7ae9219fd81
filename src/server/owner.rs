//! The program that started a server and owns it.

use std::{
    fs::File,
    io::{self, IsTerminal, Read},
    os::{fd::AsFd, unix::fs::FileTypeExt},
    thread,
};

use tokio::sync::oneshot;

/// The program that started this one and owns it, known by the pipe that stdin is.
///
/// The system closes a pipe's other end however its holder ends, by SIGKILL too; so the end of stdin is an end of the
/// owner that nothing misses, on every system. A signal at the parent's death (`PR_SET_PDEATHSIG`) is Linux's alone,
/// comes when the *thread* that started this process ends, and never when the parent ended before it was asked for;
/// asking for the parent's id again and again notices late. A pipe also lets an owner end its server by closing it,
/// and lets one that is not the parent own a server.
pub struct Owner(oneshot::Receiver<()>);

impl Owner {
    /// The owner at the other end of stdin; refuses one that nobody can hold open.
    pub fn on_stdin() -> io::Result<Self> {
        let stdin = io::stdin();
        let held = File::from(stdin.as_fd().try_clone_to_owned()?).metadata()?.file_type();
        if !held.is_fifo() && !held.is_socket() && !stdin.is_terminal() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "stdin is no pipe; accepted is one (or a socket, or a terminal) whose other end the parent holds open",
            ));
        }
        let (gone, owner) = oneshot::channel();
        // A thread of its own: a runtime that ends would wait for a read that does not.
        thread::Builder::new().name("utterd-owner".into()).spawn(move || {
            read_to_the_end();
            let _ = gone.send(());
        })?;
        Ok(Self(owner))
    }

    /// Waits until the owner is gone.
    pub async fn gone(self) {
        let _ = self.0.await;
    }
}

/// Reads stdin until it ends, or cannot be read any more. What it says means nothing.
fn read_to_the_end() {
    let mut stdin = io::stdin().lock();
    let mut passed_over = [0; 256];
    loop {
        match stdin.read(&mut passed_over) {
            Ok(0) => return,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
            _ => {}
        }
    }
}
