//! A terminal for a program: a pty.

use std::fs::File;

use rustix::{
    fd::OwnedFd,
    fs::{Mode, OFlags},
    io::{FdFlags, fcntl_setfd},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

/// Both ends of a new terminal of this size.
pub fn pty(rows: u16, columns: u16) -> (File, OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pty");
    fcntl_setfd(&master, FdFlags::CLOEXEC).expect("a flag");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("a pty");
    let name = ptsname(&master, Vec::new()).expect("a name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(&*name, flags, Mode::empty()).expect("a terminal");
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&slave, size).expect("a size");
    (File::from(master), slave)
}
