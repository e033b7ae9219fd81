//! Disks that fail a write or a sync: the caller gets an error, health reports it, nothing more is accepted,
//! and what was acknowledged is there after a restart.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use tokio::runtime::Builder;
use tonic::{Code, Status, transport::Channel};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use utterd::proto::{GetCapacityInfoRequest, MemorizeRequest, NewUtterance, Role};

use crate::crash::{
    client::{Client, reason},
    log::Recorder,
    server::{Backend, Server, Start},
};

/// What fails, and with which error: EIO, ENOSPC, EROFS.
const FAULTS: [&str; 4] = ["sync 5", "write 5", "write 28", "write 30"];
const ANSWERED: u64 = 20;

pub fn a_disk_that_fails_is_told_and_loses_nothing() -> Result<(), String> {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    for backend in [Backend::Fjall, Backend::Sled] {
        for fault in FAULTS {
            runtime.block_on(Case::new(backend)?.run(fault));
        }
    }
    Ok(())
}

struct Case {
    backend: Backend,
    recorder: Recorder,
    scratch: TempDir,
}

impl Case {
    /// The error says why this machine cannot make system calls fail.
    fn new(backend: Backend) -> Result<Self, String> {
        let scratch = tempfile::tempdir().expect("a directory");
        fs::create_dir(scratch.path().join("disk")).expect("a directory");
        let recorder = Recorder::new(&scratch.path().join("disk"), scratch.path())?;
        Ok(Self { backend, recorder, scratch })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().canonicalize().expect("it is there").join(name)
    }

    async fn run(&self, fault: &str) {
        let (data, control) = (self.path("disk").join("data"), self.path("fault"));
        let mut variables = self.recorder.variables();
        variables.push(("POWER_FAULT", control.to_str().expect("a path in UTF-8").to_owned()));
        let start = Start { variables, ..Start::new(self.backend, &data) };
        let server = start.start().unwrap();
        let client = Client::connect(&server.address).await;
        for _ in 0..ANSWERED {
            memorize(&client).await.expect("the disk works");
        }
        begin(fault, &control);
        let name = format!("{fault} under {}", self.backend.name());
        let refused = memorize(&client).await.expect_err(&name);
        assert_eq!(refused.code(), Code::Unavailable, "{name}: {refused}");
        assert_eq!(reason(&refused).as_deref(), Some("STORE_UNAVAILABLE"), "{name}");
        assert!(is_unhealthy(&server).await, "{name}: health says so");
        fs::remove_file(&control).expect("the fault was there");
        let again = memorize(&client).await.expect_err("what is on the disk is not known");
        assert_eq!(again.code(), Code::Unavailable, "{name}: {again}");
        server.kill();

        let sound = Start::new(self.backend, &data);
        let server = sound.start().unwrap_or_else(|error| panic!("{name}: {error}"));
        let client = Client::connect(&server.address).await;
        let kept = stored(&client).await;
        // the refused ones might have reached the disk
        assert!((ANSWERED..=ANSWERED + 2).contains(&kept), "{name}: {kept} are kept");
        memorize(&client).await.expect("the disk works again");
        server.kill();
        sound.verify().unwrap();
    }
}

/// Makes the calls fail from now on.
fn begin(fault: &str, control: &Path) {
    let whole = control.with_extension("new");
    fs::write(&whole, fault).expect("it is written");
    fs::rename(whole, control).expect("it gets its name");
}

async fn memorize(client: &Client) -> Result<(), Status> {
    let said = NewUtterance { role: Role::User.into(), content: "hello".to_owned(), ..Default::default() };
    let request = MemorizeRequest { utterances: vec![said], ..Default::default() };
    client.memory.clone().memorize(request).await.map(drop)
}

async fn stored(client: &Client) -> u64 {
    let response = client.memory.clone().get_capacity_info(GetCapacityInfoRequest::default()).await;
    let capacity = response.expect("a capacity").into_inner().capacity.expect("a capacity");
    let counts = [capacity.utterance_count, capacity.archived_utterance_count];
    counts.iter().map(|count| u64::try_from(count.unwrap_or(0)).expect("a count")).sum()
}

/// Waits until the server reports that it is not serving.
async fn is_unhealthy(server: &Server) -> bool {
    let endpoint = Channel::from_shared(format!("http://{}", server.address)).expect("an address");
    let channel = endpoint.connect().await.expect("the server answers");
    let request = HealthCheckRequest { service: "utterd.v1.MemoryService".to_owned() };
    let mut statuses = HealthClient::new(channel).watch(request).await.expect("a watch").into_inner();
    while let Some(status) = statuses.message().await.expect("a status") {
        if status.status() == ServingStatus::NotServing {
            return true;
        }
    }
    false
}
