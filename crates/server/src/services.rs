//! The services on the wire: utterd's own, health and reflection.

use std::pin::pin;

use futures::StreamExt as _;
use tokio::sync::watch;
use tonic::codec::CompressionEncoding::Gzip;
use tonic_health::{ServingStatus, server::HealthReporter};
use tonic_reflection::server::Builder;

use crate::{Result, ServeError, process::is_set, routes::Routes};
use utterd_config::Settings;
use utterd_engine::Engine;
use utterd_rpc::{
    Services,
    proto::{
        FILE_DESCRIPTOR_SET, admin_service_server::AdminServiceServer,
        compaction_service_server::CompactionServiceServer, context_service_server::ContextServiceServer,
        conversation_service_server::ConversationServiceServer, memory_service_server::MemoryServiceServer,
        trace_service_server::TraceServiceServer,
    },
};
use utterd_store::{BoxStream, StoreError};

/// Every service behind one router. Requests may be compressed with gzip; responses are not.
pub fn routes(
    services: Services,
    engine: &Engine,
    settings: &Settings,
    closing: watch::Receiver<bool>,
) -> Result<Routes> {
    let most = settings.max_message_bytes;
    let (reporter, health) = tonic_health::server::health_reporter();
    macro_rules! served {
        ($server:ident) => {
            $server::new(services.clone()).accept_compressed(Gzip).max_decoding_message_size(most)
        };
    }
    let routes = Routes::default()
        .with(served!(MemoryServiceServer))
        .with(served!(ConversationServiceServer))
        .with(served!(ContextServiceServer))
        .with(served!(CompactionServiceServer))
        .with(served!(AdminServiceServer))
        .with(served!(TraceServiceServer));
    // each service, and the server as a whole
    let services = routes.names().chain([""]).collect();
    tokio::spawn(report(services, reporter, engine.condition(), closing));
    let routes = routes.with(health.accept_compressed(Gzip));
    if settings.reflection { with_reflection(routes) } else { Ok(routes) }
}

/// What a supervisor asks before it restarts a server: a full disk or an absent database is no reason to.
const LIVENESS: &str = "liveness";

/// Reports every service as healthy as long as the store accepts writes and the server is not asked to stop;
/// [`LIVENESS`] whatever the store does.
async fn report(
    services: Vec<&'static str>,
    mut reporter: HealthReporter,
    mut condition: BoxStream<'static, Result<(), StoreError>>,
    closing: watch::Receiver<bool>,
) {
    let mut closed = pin!(is_set(closing));
    reporter.set_service_status(LIVENESS, ServingStatus::Serving).await;
    loop {
        tokio::select! {
            biased;
            () = closed.as_mut() => break,
            Some(condition) = condition.next() => match condition {
                Ok(()) => set(&services, &reporter, ServingStatus::Serving).await,
                Err(_) => set(&services, &reporter, ServingStatus::NotServing).await,
            },
        }
    }
    set(&services, &reporter, ServingStatus::NotServing).await;
    // This ends the streams that watch the status, which still send it; otherwise the server would wait for them.
    for service in services.into_iter().chain([LIVENESS]) {
        reporter.clear_service_status(service).await;
    }
}

async fn set(services: &[&str], reporter: &HealthReporter, status: ServingStatus) {
    for service in services {
        reporter.set_service_status(service, status).await;
    }
}

/// Serves both versions, as older clients ask for v1alpha. The error details are registered too, so
/// that clients can print them.
fn with_reflection(routes: Routes) -> Result<Routes> {
    let builder = || {
        Builder::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let broken = |error: tonic_reflection::server::Error| ServeError::Reflection(error.to_string());
    let v1 = builder().build_v1().map_err(broken)?;
    let v1alpha = builder().build_v1alpha().map_err(broken)?;
    Ok(routes.with(v1.accept_compressed(Gzip)).with(v1alpha.accept_compressed(Gzip)))
}

#[cfg(test)]
mod tests {
    use futures::channel::mpsc;
    use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

    use super::*;

    #[tokio::test]
    async fn health_follows_the_store_both_ways() {
        let (reporter, health) = tonic_health::server::health_reporter();
        let (conditions, condition) = mpsc::unbounded();
        let service = "utterd.v1.MemoryService";
        reporter.set_service_status(service, ServingStatus::Unknown).await;
        let closing = watch::Sender::new(false);
        tokio::spawn(report(vec![service], reporter, Box::pin(condition), closing.subscribe()));
        let request = HealthCheckRequest { service: service.to_owned() };
        let mut client = HealthClient::new(health);
        let mut statuses = client.watch(request).await.unwrap().into_inner();
        assert_eq!(statuses.message().await.unwrap().unwrap().status, ServingStatus::Unknown as i32);
        let full = Err(StoreError::DiskFull { free: 1, wanted: 2 });
        for condition in [Ok(()), full, Ok(()), Err(StoreError::Unavailable("gone".to_owned()))] {
            let expected = if condition.is_ok() { ServingStatus::Serving } else { ServingStatus::NotServing };
            conditions.unbounded_send(condition).unwrap();
            assert_eq!(statuses.message().await.unwrap().unwrap().status, expected as i32);
            let live = client.check(HealthCheckRequest { service: LIVENESS.to_owned() }).await.unwrap();
            assert_eq!(live.into_inner().status, ServingStatus::Serving as i32);
        }
        conditions.unbounded_send(Ok(())).unwrap();
        assert_eq!(statuses.message().await.unwrap().unwrap().status, ServingStatus::Serving as i32);
        closing.send_replace(true);
        assert_eq!(statuses.message().await.unwrap().unwrap().status, ServingStatus::NotServing as i32);
        assert_eq!(statuses.message().await.unwrap(), None, "a draining server waits for no watcher");
    }
}
