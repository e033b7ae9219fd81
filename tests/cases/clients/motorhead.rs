//! LangChain's clients of motorhead, with only the address changed: `motorhead.py` and `motorhead.mjs` next to this file.

use std::{
    io::BufReader,
    process::{Command, Stdio},
};

use crate::{
    clients::{Checked, Client},
    support::binary::{Process, line_with, utterd},
};

const PYTHON_SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/clients/motorhead.py");
const NODE_SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/clients/motorhead.mjs");

/// The client for Python and its check.
pub const PYTHON: Client = Client {
    name: "langchain-community",
    probe: &[
        "python3",
        "-W",
        "ignore",
        "-c",
        "import langchain.memory, langchain_community.memory.motorhead_memory",
    ],
    install: "pip install 'langchain<1' 'langchain-community<0.4'",
    optional: false,
    checks: &[("motorhead_memory", |_| check(&["python3", "-W", "ignore", PYTHON_SCRIPT]))],
};

/// The client for JavaScript and its check.
pub const NODE: Client = Client {
    name: "@langchain/community",
    probe: &["node", NODE_SCRIPT, "--probe"],
    install: "npm install --legacy-peer-deps @langchain/community@0.3 @langchain/core@0.3 langchain@0.3, and NODE_PATH",
    optional: false,
    checks: &[("motorhead_memory", |_| check(&["node", NODE_SCRIPT]))],
};

/// Runs a client against a server of its own.
fn check(client: &[&str]) -> Checked {
    let directory = tempfile::tempdir().expect("a directory");
    let mut server = utterd(directory.path());
    server.args(["serve", "--listen", "127.0.0.1:0", "--motorhead-listen", "127.0.0.1:0"]);
    let server = server.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut server = Process(server.expect("the server starts"));
    let mut log = BufReader::new(server.0.stderr.take().expect("stderr is piped"));
    let line = line_with(&mut log, "motorhead's clients are served on ");
    let (_, address) = line.trim_end().split_once("served on ").expect("just found");
    let mut command = Command::new(client[0]);
    let output = command.args(&client[1..]).arg(format!("http://{address}")).output().expect("it runs");
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned().into()),
    }
}
