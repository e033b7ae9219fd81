//! The services on the wire: utterd's own, health and reflection.

use tonic::{codec::CompressionEncoding::Gzip, service::Routes};
use tonic_health::{ServingStatus, server::HealthReporter};
use tonic_reflection::server::Builder;

use crate::{
    config::Settings,
    engine::Engine,
    proto::{
        FILE_DESCRIPTOR_SET, admin_service_server::AdminServiceServer,
        compaction_service_server::CompactionServiceServer, context_service_server::ContextServiceServer,
        conversation_service_server::ConversationServiceServer, memory_service_server::MemoryServiceServer,
        trace_service_server::TraceServiceServer,
    },
    rpc::Services,
    server::ServeError,
    store::{BoxFuture, StoreError},
};

/// Every service behind one router. Requests may be compressed with gzip; responses are not.
pub fn routes(services: Services, engine: &Engine, settings: &Settings) -> Result<Routes, ServeError> {
    let most = settings.max_message_bytes;
    let (reporter, health) = tonic_health::server::health_reporter();
    let routes = Routes::new(
        MemoryServiceServer::new(services.clone()).accept_compressed(Gzip).max_decoding_message_size(most),
    )
    .add_service(
        ConversationServiceServer::new(services.clone())
            .accept_compressed(Gzip)
            .max_decoding_message_size(most),
    )
    .add_service(
        ContextServiceServer::new(services.clone()).accept_compressed(Gzip).max_decoding_message_size(most),
    )
    .add_service(
        CompactionServiceServer::new(services.clone())
            .accept_compressed(Gzip)
            .max_decoding_message_size(most),
    )
    .add_service(
        AdminServiceServer::new(services.clone()).accept_compressed(Gzip).max_decoding_message_size(most),
    )
    .add_service(TraceServiceServer::new(services).accept_compressed(Gzip).max_decoding_message_size(most))
    .add_service(health.accept_compressed(Gzip));
    report(reporter, engine.failed());
    match settings.reflection {
        true => with_reflection(routes),
        false => Ok(routes),
    }
}

/// Every service is healthy as soon as it is served, until the store takes no more writes.
fn report(reporter: HealthReporter, failed: BoxFuture<'static, StoreError>) {
    tokio::spawn(async move {
        reporter.set_serving::<MemoryServiceServer<Services>>().await;
        reporter.set_serving::<ConversationServiceServer<Services>>().await;
        reporter.set_serving::<ContextServiceServer<Services>>().await;
        reporter.set_serving::<CompactionServiceServer<Services>>().await;
        reporter.set_serving::<TraceServiceServer<Services>>().await;
        reporter.set_serving::<AdminServiceServer<Services>>().await;
        failed.await;
        reporter.set_not_serving::<MemoryServiceServer<Services>>().await;
        reporter.set_not_serving::<ConversationServiceServer<Services>>().await;
        reporter.set_not_serving::<ContextServiceServer<Services>>().await;
        reporter.set_not_serving::<CompactionServiceServer<Services>>().await;
        reporter.set_not_serving::<TraceServiceServer<Services>>().await;
        reporter.set_not_serving::<AdminServiceServer<Services>>().await;
        reporter.set_service_status("", ServingStatus::NotServing).await;
    });
}

/// Both versions: older clients ask for v1alpha. The error details are registered too, so that
/// clients can print them.
fn with_reflection(routes: Routes) -> Result<Routes, ServeError> {
    let builder = || {
        Builder::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let broken = |error: tonic_reflection::server::Error| ServeError::Reflection(error.to_string());
    let v1 = builder().build_v1().map_err(broken)?;
    let v1alpha = builder().build_v1alpha().map_err(broken)?;
    Ok(routes.add_service(v1.accept_compressed(Gzip)).add_service(v1alpha.accept_compressed(Gzip)))
}
