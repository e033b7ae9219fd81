//! Everything that this process and its threads log while a test runs.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use tracing_subscriber::{Layer, fmt::MakeWriter, layer::SubscriberExt, util::SubscriberInitExt};
use utterd::server::log_filter;

/// Everything, and once more of the crates that see what is said.
const ALL: &str = "trace,tokio_postgres=trace,postgres_protocol=trace,deadpool=trace,h2=trace,hyper=trace,\
                   hyper_util=trace,tonic=trace,tower=trace,rustls=trace,reqwest=trace,rmcp=trace,\
                   fjall=trace,lsm_tree=trace,sled=trace,log=trace";

#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Starts to log everything that a server can log.
    pub fn start() -> Self {
        let log = Self::default();
        let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(log.clone());
        tracing_subscriber::registry().with(layer.with_filter(log_filter(ALL))).init();
        log
    }

    /// What has been logged so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("nobody panicked")).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}
