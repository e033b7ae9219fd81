//! Listening, and a clean end.

use std::{sync::Arc, time::Duration};

use super::{
    connections::{Connections, Place},
    process::{self, raise_descriptor_limit},
    socket::{Listener, Socket},
    tls::{self, Tls},
    turn_away::TurnAway,
    workers::Workers,
};
use crate::{
    config::{Listen, Settings},
    domain::limits::TLS_RELOAD,
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
            return Err(ServeError::Exposed { address: settings.listen.clone(), lacking });
        }
        tracing::info!("guarded by {}; {}", self.guarded_by(), tls::told(settings));
        serve(self, settings).await
    }
}

async fn serve(server: Server, settings: &Settings) -> Result<(), ServeError> {
    let tls = Tls::new(settings)?;
    let failed = |error| ServeError::Listen { address: settings.listen.clone(), error };
    let listener = Listener::bind(&settings.listen).await.map_err(failed)?;
    let address = listener.address().map_err(failed)?;
    let connections =
        Connections::new(process::connections(settings.max_connections, raise_descriptor_limit()));
    tokenizer::warm_up(settings.encoding);
    let workers = Workers::start(&server, settings)?;
    let sweeper = tokio::spawn(server.engine().clone().sweep_every(SWEEP_INTERVAL));
    let scrubber = tokio::spawn(server.engine().clone().scrub_every(settings.scrub_interval));
    let llm_summaries = tokio::spawn(server.engine().clone().run_llm_summaries());
    let embedding = tokio::spawn(server.engine().clone().run_embedding());
    announce(&address, settings);
    tokio::select! {
        () = accept(&listener, tls.as_ref(), &connections, &workers) => {}
        () = reload(tls.clone()) => {}
        () = asked_to_end() => {}
    }
    drop(listener);
    sweeper.abort();
    scrubber.abort();
    llm_summaries.abort();
    embedding.abort();
    server.close_streams();
    workers.stop().await;
    Ok(())
}

fn announce(address: &Listen, settings: &Settings) {
    let (how, target) = match address {
        Listen::Unix(path) => ("-plaintext -unix", path.display().to_string()),
        Listen::Tcp(address) if settings.tls_cert.is_none() => ("-plaintext", address.to_string()),
        Listen::Tcp(address) if settings.tls_client_ca.is_none() => ("-insecure", address.to_string()),
        Listen::Tcp(address) => ("-insecure -cert CERT -key KEY", address.to_string()),
    };
    println!(
        "utterd {} listening on {address}\ntry it: utterd --help, or\n  grpcurl {how} -d '{{\"utterances\":[{{\"role\":\"ROLE_USER\",\"content\":\"hi\"}}]}}' {target} utterd.v1.MemoryService/Memorize",
        env!("CARGO_PKG_VERSION")
    );
}

async fn accept(
    listener: &Listener,
    tls: Option<&Arc<Tls>>,
    connections: &Arc<Connections>,
    workers: &Workers,
) {
    let mut turn_away = TurnAway::new(connections.max());
    loop {
        match listener.accept().await {
            Ok(socket) => match (connections.admit().await, tls) {
                (Some(place), tls) => hand_over(workers, socket, tls, place),
                (None, None) => turn_away.refuse(socket.into_stream()),
                // nothing can be said before both sides have agreed on TLS
                (None, Some(_)) => turn_away.count(),
            },
            // out of descriptors, most likely: there will be some when connections end
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn hand_over(workers: &Workers, socket: Socket, tls: Option<&Arc<Tls>>, place: Place) {
    if let Err(error) = workers.hand_over(socket, tls.map(|tls| tls.acceptor()), place) {
        tracing::warn!(%error, "could not hand a connection to a worker");
    }
}

async fn reload(tls: Option<Arc<Tls>>) {
    match tls {
        Some(tls) => tls.reload_every(TLS_RELOAD).await,
        None => std::future::pending().await,
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
