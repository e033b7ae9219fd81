//! Listening, and a clean end.

use std::{sync::Arc, time::Duration};

use tokio::net::{TcpListener, TcpStream};

use super::{
    connections::{Connections, Place},
    process::{self, raise_descriptor_limit},
    turn_away::TurnAway,
    workers::Workers,
};
use crate::{
    config::Settings,
    server::{ServeError, Server},
    tokenizer,
};

/// Due work is looked for so often.
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

impl Server {
    /// Listens where `settings` say, prints where that is, and serves until the process is asked
    /// to end.
    pub async fn listen(self, settings: &Settings) -> Result<(), ServeError> {
        if let Some(lacking) = settings.exposed() {
            return Err(ServeError::Exposed { address: settings.listen, lacking });
        }
        tracing::info!("guarded by {}; no TLS", self.guarded_by());
        serve(self, settings).await
    }
}

async fn serve(server: Server, settings: &Settings) -> Result<(), ServeError> {
    let address = settings.listen;
    let failed = |error| ServeError::Listen { address, error };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let connections =
        Connections::new(process::connections(settings.max_connections, raise_descriptor_limit()));
    tokenizer::warm_up(settings.encoding);
    let workers = Workers::start(&server, settings)?;
    let sweeper = tokio::spawn(server.engine().clone().sweep_every(SWEEP_INTERVAL));
    let scrubber = tokio::spawn(server.engine().clone().scrub_every(settings.scrub_interval));
    let llm_summaries = tokio::spawn(server.engine().clone().run_llm_summaries());
    announce(address);
    tokio::select! {
        () = accept(&listener, &connections, &workers) => {}
        () = asked_to_end() => {}
    }
    drop(listener);
    sweeper.abort();
    scrubber.abort();
    llm_summaries.abort();
    server.close_streams();
    workers.stop().await;
    Ok(())
}

fn announce(address: std::net::SocketAddr) {
    println!(
        "utterd {} listening on {address}\ntry it: utterd --help, or\n  grpcurl -plaintext -d '{{\"utterances\":[{{\"role\":\"ROLE_USER\",\"content\":\"hi\"}}]}}' {address} utterd.v1.MemoryService/Memorize",
        env!("CARGO_PKG_VERSION")
    );
}

async fn accept(listener: &TcpListener, connections: &Arc<Connections>, workers: &Workers) {
    let mut turn_away = TurnAway::new(connections.max());
    loop {
        match listener.accept().await {
            Ok((connection, _)) => match connections.admit().await {
                Some(place) => hand_over(workers, connection, place),
                None => turn_away.refuse(connection),
            },
            // out of descriptors, most likely: there will be some when connections end
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn hand_over(workers: &Workers, connection: TcpStream, place: Place) {
    if let Err(error) = workers.hand_over(connection, place) {
        tracing::warn!(%error, "could not hand a connection to a worker");
    }
}

async fn asked_to_end() {
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = terminated => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
