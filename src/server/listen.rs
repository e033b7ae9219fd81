//! Listening, and a clean shutdown.

use std::{sync::Arc, thread, time::Duration};

use super::{
    Announce, Owner,
    chores::Chores,
    connections::{Connections, Place},
    metrics,
    process::{self, raise_descriptor_limit},
    socket::{Listener, Socket},
    tls::{self, Tls},
    turn_away::TurnAway,
    workers::Workers,
};
use crate::{
    config::Settings,
    domain::{Encoding, limits::TLS_RELOAD},
    server::{ServeError, Server},
    tokenizer,
};

/// A little longer than mimalloc keeps free memory (its `purge_delay`).
const ALLOCATOR_KEEPS: Duration = Duration::from_millis(1_200);

impl Server {
    /// Listens where `settings` say, announces the address, and serves until the process is asked to stop or its
    /// owner has ended.
    pub async fn listen(
        self,
        settings: &Settings,
        announce: Announce,
        owner: Option<Owner>,
    ) -> Result<(), ServeError> {
        if let Some(lacking) = settings.exposed() {
            return Err(ServeError::Exposed { address: settings.listen.clone(), lacking });
        }
        tracing::info!("guarded by {}; {}", self.guarded_by(), tls::told(settings));
        serve(self, settings, announce, owner).await
    }
}

async fn serve(
    server: Server,
    settings: &Settings,
    announce: Announce,
    owner: Option<Owner>,
) -> Result<(), ServeError> {
    let tls = Tls::new(settings)?;
    let failed = |error| ServeError::Listen { address: settings.listen.clone(), error };
    let listener = Listener::bind(&settings.listen, settings.socket_mode).await.map_err(failed)?;
    let address = listener.address().map_err(failed)?;
    let connections =
        Connections::new(process::connections(settings.max_connections, raise_descriptor_limit()));
    let metrics = metrics::bind(settings.metrics_listen.as_ref(), settings.socket_mode).await?;
    metrics::describe_connections(server.metrics(), &connections);
    let workers = Workers::start(&server, settings)?;
    let chores = Chores::start(server.engine(), settings);
    announce.write(&address, settings);
    tracing::info!("serving on {address}, with the {} store", server.engine().store_name());
    warm_up(settings.encoding);
    tokio::select! {
        () = accept(&listener, tls.as_ref(), &connections, &workers) => {}
        () = metrics::serve(metrics, server.metrics().clone()) => {}
        () = reload(tls.clone()) => {}
        () = asked_to_end() => tracing::info!("asked to stop: calls in flight are answered"),
        () = abandoned(owner) => tracing::info!("stdin was closed: the server stops with its owner"),
    }
    drop(listener);
    drop(chores);
    server.close_streams();
    workers.stop().await;
    tracing::info!("stopped");
    Ok(())
}

/// Loads what counting needs in the background: a call that counts meanwhile waits only until it is loaded.
fn warm_up(encoding: Encoding) {
    let started = thread::Builder::new().name("utterd-warm-up".into()).spawn(move || {
        // The memory that loading used for a moment is free once the loading thread has ended. The allocator keeps it
        // for a second, and returns it to the system when the next thread ends, which is this one.
        thread::scope(|loading| {
            loading.spawn(|| tokenizer::warm_up(encoding));
        });
        thread::sleep(ALLOCATOR_KEEPS);
    });
    if let Err(error) = started {
        tracing::warn!(%error, "could not load the tokenizer in advance: the first count will load it");
    }
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
                // nothing can be sent before the TLS handshake
                (None, Some(_)) => turn_away.count(),
            },
            // most likely out of descriptors: there will be some when connections end
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

async fn abandoned(owner: Option<Owner>) {
    match owner {
        Some(owner) => owner.gone().await,
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
