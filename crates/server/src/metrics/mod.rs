//! The metrics of a server, and the listener for Prometheus.

use std::sync::Arc;

use futures::{FutureExt as _, StreamExt as _};
use http::{Method, Request, StatusCode};

use super::{
    admission::Admission,
    calls::Calls,
    plain_http as plain,
    plain_http::{Answer, Bound, PLAIN},
    transport::connections::Connections,
};
use utterd_engine::Engine;
use utterd_telemetry::{Registry, fact, panics};

/// Where the metrics are.
const PATH: &str = "/metrics";

/// The type of Prometheus' text format.
const EXPOSITION: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Returns the metrics of a server.
pub fn registry(engine: &Arc<Engine>, calls: &Calls, admission: &Arc<Admission>) -> Registry {
    let registry = Registry::default();
    registry.add_process();
    panics::register(&registry);
    let build = [("version", env!("CARGO_PKG_VERSION")), ("store", engine.store_name())];
    registry.add(&fact(&build, "utterd_build_info", "The version of the server, and its store; always 1."));
    let store = engine.clone();
    registry.gauge("utterd_store_writable", "1 while the store accepts writes.", move || {
        let condition = store.condition().next().now_or_never();
        f64::from(u8::from(!matches!(condition, Some(Some(Err(_))))))
    });
    calls.register(&registry);
    admission.describe(&registry);
    engine.describe(&registry);
    registry
}

/// Adds the metrics of connections.
pub fn describe_connections(registry: &Registry, connections: &Arc<Connections>) {
    let open = connections.clone();
    registry.gauge("utterd_connections", "Open connections.", move || open.count() as f64);
    let most = connections.max();
    registry.gauge("utterd_connections_limit", "The most connections.", move || most as f64);
}

/// Serves the metrics until `shutdown`.
pub async fn serve(bound: Option<Bound>, shutdown: impl Future<Output = ()>, registry: Registry) {
    plain::serve(bound, shutdown, move |request| std::future::ready(answer(&request, &registry))).await;
}

fn answer<B>(request: &Request<B>, registry: &Registry) -> Answer {
    if request.uri().path() != PATH {
        return plain::text(StatusCode::NOT_FOUND, PLAIN, format!("the metrics are at {PATH}\n"));
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return plain::not_allowed("GET, HEAD", "accepted: GET\n");
    }
    match registry.text() {
        Ok(text) => plain::text(StatusCode::OK, EXPOSITION, text),
        Err(error) => plain::text(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, format!("{error}\n")),
    }
}

#[cfg(test)]
mod tests;
