//! Listening, and a clean shutdown: no new connections, calls in flight are answered.

use std::{sync::Arc, thread, time::Duration};

use futures::future::OptionFuture;

use super::{
    connections::Connections,
    socket::Listener,
    systemd,
    tls::{self, Tls},
};
use crate::{
    Owner, Reload, Start,
    beside::Beside,
    chores::Chores,
    error::refuse_exposed,
    metrics,
    process::{self, raise_descriptor_limit},
    signals::{Asked, Signals},
    workers::Workers,
};
use crate::{Result, ServeError, Server};
use utterd_config::Settings;
use utterd_domain::{Encoding, limits::TLS_RELOAD};
use utterd_tokenizer as tokenizer;

/// A little longer than mimalloc keeps free memory (its `purge_delay`).
const ALLOCATOR_KEEPS: Duration = Duration::from_millis(1_200);

impl Server {
    /// Listens on the socket that was passed to the process, or else where `settings` say; announces the address; and
    /// serves until the process is asked to stop or its owner has ended.
    pub async fn listen(self, settings: &Settings, mut start: Start) -> Result<()> {
        let failed = |error| ServeError::Listen { flag: "listen", address: settings.listen.clone(), error };
        let listener = match start.socket.take() {
            Some(passed) => Listener::of(passed).map_err(ServeError::Passed)?,
            None => {
                refuse_exposed(settings, &settings.listen)?;
                Listener::bind(&settings.listen, settings.socket_mode).await.map_err(failed)?
            }
        };
        let settings = Settings { listen: listener.address().map_err(failed)?, ..settings.clone() };
        refuse_exposed(&settings, &settings.listen)?;
        tracing::info!("guarded by {}; {}", self.guarded_by(), tls::told(&settings));
        serve(self, listener, &settings, start).await
    }
}

async fn serve(server: Server, listener: Listener, settings: &Settings, start: Start) -> Result<()> {
    let tls = Tls::new(settings)?;
    let mut signals = Signals::new().map_err(ServeError::Signals)?;
    let connections =
        Connections::new(process::connections(settings.max_connections, raise_descriptor_limit()));
    metrics::describe_connections(server.metrics(), &connections);
    let beside = Beside::start(&server, settings, tls.as_ref()).await?;
    let workers = Workers::start(&server, settings)?;
    let chores = Chores::start(server.engine(), settings).map_err(ServeError::Worker)?;
    let address = &settings.listen;
    start.announce.write(address, beside.inspector(), settings);
    systemd::ready(&address.to_string());
    tracing::info!("serving on {address}, with the {} store", server.engine().store_name());
    warm_up(settings.encoding);
    tokio::select! {
        () = accept(&listener, tls.as_ref(), &connections, &workers) => {}
        Some(()) = OptionFuture::from(tls.clone().map(|tls| tls.follow(TLS_RELOAD))) => {}
        () = heed(&mut signals, &server, tls.as_ref(), start.reload) => {
            tracing::info!("asked to stop: calls in flight have {:?}", settings.drain_timeout);
        }
        Some(()) = OptionFuture::from(start.owner.map(Owner::gone)) => {
            tracing::info!("stdin was closed: the server stops with its owner");
        }
    }
    systemd::stopping();
    drop(listener);
    let chores = chores.end();
    server.close();
    tokio::select! {
        () = workers.stop(settings.drain_timeout) => {}
        () = signals.stop() => tracing::warn!("asked to stop again: calls in flight are cut off"),
    }
    beside.stop().await;
    chores.await;
    tracing::info!("stopped");
    Ok(())
}

/// Waits until the process is asked to stop. When it is asked to reload, reads the files again.
async fn heed(signals: &mut Signals, server: &Server, tls: Option<&Arc<Tls>>, mut reload: Option<Reload>) {
    while signals.next().await == Asked::Reload {
        tracing::info!("asked to reload");
        if let Some(reload) = &mut reload {
            reload();
        }
        server.reload_credentials();
        if let Some(tls) = tls {
            tls.clone().check().await;
        }
    }
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
    loop {
        let (socket, place) = connections.accept(listener).await;
        if let Err(error) = workers.hand_over(socket, tls.map(|tls| tls.acceptor()), place) {
            tracing::warn!(%error, "could not hand a connection to a worker");
        }
    }
}
