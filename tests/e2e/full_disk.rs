//! A full disk: what callers see, and what is stored afterwards.
//!
//! The server runs under a limit on its file size, as a shell sets it.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{ChildStdout, Command, Stdio},
    time::Duration,
};

use tonic::{Code, Status, transport::Channel};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_types::StatusExt;
use utterd::proto::{self, memory_service_client::MemoryServiceClient};

use crate::support::binary::Process;

/// A server process, killed when it is dropped.
struct Server {
    _process: Process,
    address: String,
    // kept open: a server whose stdout is closed cannot print
    _output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server over `data`; none of its files can exceed `limit` (in the shell's blocks of 1 KiB).
    fn start(data: &Path, limit: &str) -> Self {
        // the signal for a too large file would end the server: if ignored, it is an error
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$@\"");
        let mut command = Command::new("bash");
        command.args(["-c", &script, "bash", env!("CARGO_BIN_EXE_utterd")]);
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "off", "--backend", "sled"]);
        command.arg("--data-dir").arg(data).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("a shell");
        let mut line = String::new();
        let mut output = BufReader::new(process.stdout.take().expect("its output"));
        output.read_line(&mut line).expect("its first line");
        let address = line.trim().rsplit(' ').next().expect("an address");
        Self { _process: Process(process), address: format!("http://{address}"), _output: output }
    }

    async fn connect(&self) -> Channel {
        let endpoint = Channel::from_shared(self.address.clone()).expect("an address");
        endpoint.connect().await.expect("the server answers")
    }
}

async fn memorize(channel: &Channel, number: usize) -> Result<(), Status> {
    let said = proto::NewUtterance {
        role: proto::Role::User.into(),
        content: format!("{number}: {}", "What was said takes room. ".repeat(40)),
        ..Default::default()
    };
    let request = proto::MemorizeRequest {
        recipient_id: format!("r{}", number % 8),
        utterances: vec![said],
        ..Default::default()
    };
    MemoryServiceClient::new(channel.clone()).memorize(request).await.map(|_| ())
}

async fn stored(channel: &Channel) -> u64 {
    let mut stored = 0;
    for recipient in 0..8 {
        let request =
            proto::GetCapacityInfoRequest { recipient_id: format!("r{recipient}"), ..Default::default() };
        let response = MemoryServiceClient::new(channel.clone()).get_capacity_info(request).await;
        let capacity = response.expect("a capacity").into_inner().capacity.expect("a capacity");
        let counts = [capacity.utterance_count, capacity.archived_utterance_count];
        stored += counts.iter().map(|count| u64::try_from(count.unwrap_or(0)).expect("a count")).sum::<u64>();
    }
    stored
}

/// Waits until the server reports that it is not serving.
async fn unhealthy(channel: &Channel) -> bool {
    let request = HealthCheckRequest { service: "utterd.v1.MemoryService".to_owned() };
    let watch = HealthClient::new(channel.clone()).watch(request).await;
    let mut statuses = watch.expect("health is watched").into_inner();
    let unhealthy = async {
        while let Some(status) = statuses.message().await.expect("a status") {
            if status.status() == ServingStatus::NotServing {
                return true;
            }
        }
        false
    };
    tokio::time::timeout(Duration::from_secs(30), unhealthy).await.unwrap_or(false)
}

/// With sled, whose files start small; fjall's journals have their full length from the start.
#[tokio::test]
async fn a_full_disk_loses_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let server = Server::start(&data, "1024");
    let channel = server.connect().await;
    let mut acknowledged = 0;
    let refused = loop {
        match memorize(&channel, acknowledged).await {
            Ok(()) => acknowledged += 1,
            Err(status) => break status,
        }
        assert!(acknowledged < 20_000, "the limit is never reached");
    };
    assert!(acknowledged > 10, "{acknowledged} were acknowledged");
    assert_eq!(refused.code(), Code::Unavailable, "{refused}");
    assert!(refused.message().contains("no more are accepted until the server is restarted"), "{refused}");
    let info = refused.get_details_error_info().expect("error info");
    assert_eq!((info.reason.as_str(), info.domain.as_str()), ("STORE_UNAVAILABLE", "utterd"));
    assert!(unhealthy(&channel).await, "health says so");
    let again = memorize(&channel, 0).await.expect_err("no write is taken any more");
    assert_eq!(again.code(), Code::Unavailable);
    drop(server);

    let server = Server::start(&data, "unlimited");
    let channel = server.connect().await;
    let kept = stored(&channel).await;
    // the refused one might have reached the disk
    assert!((acknowledged..=acknowledged + 1).contains(&(kept as usize)), "{kept} of {acknowledged}");
    memorize(&channel, 0).await.expect("there is room again");
}
