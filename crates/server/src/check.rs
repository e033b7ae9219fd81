//! Checks whether a server would start, without starting it.

use std::{sync::Arc, time::Duration};

use http::Uri;
use tokio::{net::TcpStream, time::timeout};

use super::{Result, database, guard::Guard, models::Models, process, stores, transport::tls::Tls};
use utterd_config::{Backend, Settings};
use utterd_engine::SystemClock;
use utterd_store::durable::Directory;

/// How long to wait for another server to accept a connection.
const PATIENCE: Duration = Duration::from_secs(2);

/// Checks the files that `settings` name, the models, and the store, which is not changed and whose records are not
/// read. Returns the problems that do not prevent a start: the addresses of models and collectors that do not answer.
pub async fn check(settings: &Settings) -> Result<Vec<String>> {
    process::check_clock(settings)?;
    Tls::new(settings)?;
    Guard::new(settings, Arc::new(SystemClock))?;
    Models::of(settings)?;
    settings.policy()?;
    match settings.backend {
        Backend::Memory => {}
        Backend::Durable(engine) => Directory::check(stores::kind(engine), &settings.data_dir)?,
        Backend::Postgres => database::check(settings).await?,
    }
    let mut silent = Vec::new();
    for (key, url) in [
        ("llm_base_url", &settings.llm_base_url),
        ("embedding_base_url", &settings.embedding_base_url),
        ("traces_endpoint", &settings.traces_endpoint),
    ] {
        if let Some(url) = url
            && let Err(reason) = reach(url).await
        {
            silent.push(format!("{key}: nobody answers at {url}: {reason}"));
        }
    }
    Ok(silent)
}

/// Connects to the server at `address`, and sends nothing.
async fn reach(address: &Uri) -> Result<(), String> {
    let Some(host) = address.host() else { return Err("the address has no host".to_owned()) };
    let usual = if address.scheme_str() == Some("https") { 443 } else { 80 };
    let (host, port) = (host.trim_matches(['[', ']']), address.port_u16().unwrap_or(usual));
    match timeout(PATIENCE, TcpStream::connect((host, port))).await {
        Ok(connected) => connected.map(drop).map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {PATIENCE:?}")),
    }
}
