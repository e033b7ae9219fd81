//! Real clients against the real server, over a real port.
//!
//! A client that is not installed is shown as ignored, with the command that installs it. If `CI` is set,
//! buf, promtool, systemd-analyze, kubernetes-validate, Chromium with Playwright and axe, Python's grpcio, the providers'
//! Python packages, aimock, and the clients of the Model Context Protocol must be installed.

mod buf;
mod grpcurl;
mod inspector;
mod kubernetes;
mod languages;
#[allow(dead_code)] // these tests need only one piece of the summary tests
#[path = "../../it/summarizer/material.rs"]
mod material;
mod model_context;
mod models;
mod prometheus;
mod providers;
mod python;
mod redis;
mod server;
mod session;
mod systemd;

use std::{
    process::{Command, Stdio},
    sync::{Arc, LazyLock},
};

use libtest_mimic::{Completion, Failed, Trial};

use server::Server;

/// The result of a check.
type Checked = Result<(), Failed>;

/// A check with its name.
type Check = (&'static str, fn(&Server) -> Checked);

/// A program that calls gRPC, or a model server that ours is a client of.
struct Client {
    name: &'static str,
    /// Succeeds if the client is installed.
    probe: &'static [&'static str],
    /// The command that installs it.
    install: &'static str,
    /// Whether it can be missing even if `CI` is set.
    optional: bool,
    checks: &'static [Check],
}

const CLIENTS: [Client; 16] = [
    buf::CLIENT,
    python::CLIENT,
    providers::CLIENT,
    models::CLIENT,
    model_context::PYTHON,
    model_context::CONFORMANCE,
    model_context::INSPECTOR,
    prometheus::CLIENT,
    inspector::CLIENT,
    kubernetes::CLIENT,
    redis::CLIENT,
    systemd::CLIENT,
    grpcurl::CLIENT,
    languages::STUBS,
    languages::GO,
    languages::JAVA,
];

/// The server that the checks share, which starts for the first of them.
type Shared = Arc<LazyLock<Server>>;

pub fn trials() -> Vec<Trial> {
    let server: Shared = Arc::new(LazyLock::new(Server::start));
    CLIENTS.iter().flat_map(|client| client.trials(&server)).collect()
}

impl Client {
    fn trials(&'static self, server: &Shared) -> Vec<Trial> {
        let installed = Arc::new(LazyLock::new(|| self.is_installed()));
        let trial = |&(check, run): &Check| {
            let (server, installed) = (server.clone(), installed.clone());
            Trial::ignorable_test(format!("clients::{}::{check}", self.name), move || match **installed {
                true => run(&server).map(|()| Completion::Completed),
                false => self.missing(),
            })
        };
        self.checks.iter().map(trial).collect()
    }

    fn is_installed(&self) -> bool {
        let [program, arguments @ ..] = self.probe else { return false };
        let mut probe = Command::new(program);
        probe.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    }

    fn missing(&self) -> Result<Completion, Failed> {
        let reason = format!("not installed: {}", self.install);
        match std::env::var_os("CI").is_some() && !self.optional {
            true => Err(reason.into()),
            false => Ok(Completion::ignored_with(reason)),
        }
    }
}
