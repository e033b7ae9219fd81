//! The listeners for metrics and the inspector, separate from gRPC's.
//!
//! They are served by a thread of their own, so that an answer that takes long does not delay other connections.

use std::sync::Arc;

use tokio::sync::oneshot;

#[cfg(feature = "inspector")]
use super::inspector;
use super::{
    error::refuse_exposed,
    metrics,
    plain_http::Bound,
    process::{Thread, is_set},
    transport::tls::Tls,
};
use crate::{Result, ServeError, Server};
use utterd_config::{Listen, Settings};

/// The listeners, while they are served.
pub struct Beside {
    inspector: Option<Listen>,
    thread: Thread,
}

/// The bound listeners; `None` for those that the settings do not ask for.
struct Listeners {
    metrics: Option<Bound>,
    inspector: Option<Bound>,
}

impl Beside {
    /// Binds the addresses that `settings` name, and serves them until `server` closes.
    pub async fn start(server: &Server, settings: &Settings, tls: Option<&Arc<Tls>>) -> Result<Self> {
        let (bound, binding) = oneshot::channel();
        let (server, settings, tls) = (server.clone(), settings.clone(), tls.cloned());
        let serving = move |cut_off| async move {
            let listeners = match Listeners::bind(&server, &settings, tls).await {
                Ok(listeners) => listeners,
                Err(error) => return drop(bound.send(Err(error))),
            };
            let inspector = listeners.inspector.as_ref().map(|bound| bound.address().clone());
            drop(bound.send(Ok(inspector)));
            tokio::select! {
                () = listeners.serve(&server, &settings) => {}
                _ = cut_off => {}
            }
        };
        let thread = Thread::start("utterd-http", serving).map_err(ServeError::Worker)?;
        match binding.await {
            Ok(bound) => Ok(Self { inspector: bound?, thread }),
            Err(_) => Err(ServeError::Worker(std::io::ErrorKind::Other.into())),
        }
    }

    /// Where the inspector is served, if it is.
    pub fn inspector(&self) -> Option<&Listen> {
        self.inspector.as_ref()
    }

    /// Cuts off the requests that are still being served.
    pub async fn stop(self) {
        self.thread.stop().await;
    }
}

impl Listeners {
    async fn bind<'a>(server: &Server, settings: &'a Settings, tls: Option<Arc<Tls>>) -> Result<Self> {
        let is_guarded = server.guard.is_some();
        settings.inspector.iter().try_for_each(|address| refuse_exposed(settings, address))?;
        let Settings { metrics_listen, inspector, .. } = settings;
        let bind = |listen: &'a Option<Listen>, flag, served| {
            Bound::new(listen.as_ref(), settings.socket_mode, flag, served)
        };
        let metrics = bind(metrics_listen, "metrics-listen", "metrics are at /metrics").await?;
        let inspector = bind(inspector, "inspector", "the inspector is served").await?;
        Ok(Self { metrics, inspector: inspector.map(|bound| bound.guarded(tls, is_guarded)) })
    }

    /// Serves until `server` closes, then answers the requests in flight.
    async fn serve(self, server: &Server, settings: &Settings) {
        let closed = || is_set(server.closing.subscribe());
        let most = settings.max_message_bytes;
        #[cfg(feature = "inspector")]
        let inspector = inspector::serve(self.inspector, closed(), server.service(), server.room(), most);
        #[cfg(not(feature = "inspector"))]
        let inspector = std::future::ready(drop((self.inspector, most)));
        tokio::join!(metrics::serve(self.metrics, closed(), server.metrics().clone()), inspector,);
    }
}
