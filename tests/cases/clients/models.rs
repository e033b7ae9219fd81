//! The other way round: our model clients against aimock, which serves both protocols, with the faults that
//! `models.json` next to this file defines for each model.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::Duration,
};

use libtest_mimic::Failed;
use tokio::runtime::Builder;
use utterd::{
    engine::models::llm::{LlmError, LlmSummary},
    summarizer::{LlmSettings, Protocol, build},
};

use crate::{
    clients::{Checked, Client, material::small},
    support::binary::Process,
};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/clients/models.json");

/// The server and its checks.
pub const CLIENT: Client = Client {
    name: "aimock",
    probe: &["llmock", "--help"],
    install: "npm install -g @copilotkit/aimock",
    optional: false,
    checks: &[
        ("a_summary_comes", |_| answers("plain", |answer| told(answer, "- HAT136 on May 23"))),
        ("a_late_summary_comes", |_| answers("patient", |answer| told(answer, "- late"))),
        ("silence_ends_with_the_timeout", |_| {
            answers("silent", |answer| unavailable(answer, "no answer within 2s", None))
        }),
        ("a_limit_says_how_long", |_| {
            answers("limited", |answer| unavailable(answer, "429", Some(Duration::from_secs(1))))
        }),
        ("a_failure_may_pass", |_| answers("failing", |answer| unavailable(answer, "500", None))),
        ("a_disconnect_may_pass", |_| answers("broken-off", |answer| unavailable(answer, "", None))),
        ("garbage_is_unusable", |_| {
            answers("malformed", |answer| matches!(answer, Err(LlmError::Unusable(_))))
        }),
        ("a_wrong_key_is_refused", |_| {
            answers("keyless", |answer| matches!(answer, Err(LlmError::Refused(_))))
        }),
    ],
};

fn told(answer: &Result<LlmSummary, LlmError>, expected: &str) -> bool {
    matches!(answer, Ok(told) if told.text == expected)
}

fn unavailable(answer: &Result<LlmSummary, LlmError>, begins: &str, after: Option<Duration>) -> bool {
    match answer {
        Err(LlmError::Unavailable { message, retry_after }) => {
            message.starts_with(begins) && *retry_after == after
        }
        _ => false,
    }
}

/// Calls `model` through both protocols; both results must be as `expected`.
fn answers(model: &str, expected: impl Fn(&Result<LlmSummary, LlmError>) -> bool) -> Checked {
    let models = Models::start()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    for protocol in [Protocol::OpenAi, Protocol::Anthropic] {
        let answer = runtime.block_on(models.ask(protocol, model))?;
        if !expected(&answer) {
            return Err(format!("{protocol:?}: {answer:?}").into());
        }
    }
    Ok(())
}

/// An aimock process, killed when dropped.
struct Models {
    _process: Process,
    address: String,
}

impl Models {
    /// Starts it on a free port and waits until it reports that it listens.
    fn start() -> Result<Self, Failed> {
        let mut command = Command::new("llmock");
        command.args(["--port", "0", "--fixtures", FIXTURES]).stdin(Stdio::null());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdout = process.stdout.take().expect("stdout is piped");
        let mut models = Self { _process: Process(process), address: String::new() };
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.split_once("listening on ")?.1.trim().to_owned()));
        models.address = address.ok_or("aimock says not where it listens")?;
        Ok(models)
    }

    async fn ask(&self, protocol: Protocol, model: &str) -> Result<Result<LlmSummary, LlmError>, Failed> {
        let base = if protocol == Protocol::OpenAi { "/v1" } else { "" };
        let settings = LlmSettings {
            protocol,
            base_url: Some(format!("{}{base}", self.address).parse()?),
            model: model.to_owned(),
            others: Vec::new(),
            api_key_file: None,
            timeout: Duration::from_secs(2),
        };
        let client = build(&settings, |_| Some("sk-test".to_owned()))?;
        Ok(client.summarize(small()).await)
    }
}
