//! Real clients against the real server, over a real port.
//!
//! A client that is not installed is shown as ignored, with the command that installs it. If `CI` is set,
//! buf, promtool, systemd-analyze, kubernetes-validate, Chromium with Playwright and axe, Python's grpcio, the providers'
//! Python packages, aimock, and the clients of the Model Context Protocol must be installed.
#![allow(clippy::expect_used)] // A test can panic.

#[path = "support/binary.rs"]
mod binary;
#[path = "clients/buf.rs"]
mod buf;
#[path = "clients/grpcurl.rs"]
mod grpcurl;
#[path = "clients/inspector.rs"]
mod inspector;
#[path = "clients/kubernetes.rs"]
mod kubernetes;
#[path = "clients/languages.rs"]
mod languages;
#[allow(dead_code)] // these tests need only one piece of the summary tests
#[path = "summarizer/material.rs"]
mod material;
#[path = "clients/model_context.rs"]
mod model_context;
#[path = "clients/models.rs"]
mod models;
#[path = "clients/prometheus.rs"]
mod prometheus;
#[path = "clients/providers.rs"]
mod providers;
#[path = "clients/python.rs"]
mod python;
#[path = "clients/redis.rs"]
mod redis;
#[path = "clients/server.rs"]
mod server;
#[path = "clients/session.rs"]
mod session;
#[path = "clients/systemd.rs"]
mod systemd;

use std::{
    process::{Command, Stdio},
    sync::Arc,
};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

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

fn main() {
    let arguments = Arguments::from_args();
    let server = Arc::new(Server::start());
    let trials = CLIENTS.iter().flat_map(|client| client.trials(&server)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(server);
    conclusion.exit()
}

impl Client {
    fn trials(&'static self, server: &Arc<Server>) -> Vec<Trial> {
        let installed = self.is_installed();
        let trial = |&(check, run): &Check| {
            let server = server.clone();
            Trial::ignorable_test(format!("{}::{check}", self.name), move || match installed {
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
