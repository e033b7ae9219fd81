//! `systemd-analyze`: systemd's own parser of units.

use std::{fs, process::Command};

use crate::{
    clients::{Checked, Client, server::Server},
    support::binary::UTTERD,
};

/// The client and its checks.
pub const CLIENT: Client = Client {
    name: "systemd-analyze",
    probe: &["systemd-analyze", "--version"],
    install: "apt-get install systemd",
    optional: false,
    checks: &[("units_are_accepted", units_are_accepted)],
};

fn units_are_accepted(_: &Server) -> Checked {
    let directory = tempfile::tempdir().expect("a directory");
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no"]).current_dir(directory.path());
    for name in ["utterd.service", "utterd.socket"] {
        let unit = fs::read_to_string(format!("{}/packaging/systemd/{name}", env!("CARGO_MANIFEST_DIR")));
        let unit = unit.expect("the unit is there").replace("/usr/local/bin/utterd", UTTERD);
        let path = directory.path().join(name);
        fs::write(&path, unit).expect("a file");
        verify.arg(path);
    }
    // systemd reads it as a part of the unit, because its directory is named after the unit.
    let extras = directory.path().join("utterd.service.d");
    fs::create_dir(&extras).expect("a directory");
    let credentials = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/systemd/credentials.conf");
    fs::copy(credentials, extras.join("credentials.conf")).expect("the file is there");
    let output = verify.output().expect("systemd-analyze runs");
    let told =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    // It also tells of units of this machine, which are not ours.
    let ours: Vec<&str> = told.lines().filter(|line| line.contains("utterd")).collect();
    if ours.is_empty() { Ok(()) } else { Err(ours.join("\n").into()) }
}
