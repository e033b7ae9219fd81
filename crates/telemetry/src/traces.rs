//! Traces: spans for calls, commits and models, sent to a collector over OTLP.
//!
//! The names are those of OpenTelemetry's conventions for RPC and for generative AI. No span contains the text
//! of a conversation.

use std::{
    borrow::Cow,
    cell::Cell,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use opentelemetry::{
    Context, KeyValue,
    propagation::{Extractor, TextMapPropagator},
    trace::{SpanKind, Status, TraceContextExt, Tracer, TracerProvider},
};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    trace::{Sampler, SdkTracer, SdkTracerProvider},
};

pub use opentelemetry_otlp::ExporterBuildError as ExporterError;

/// Makes spans, once this process exports them.
static TRACER: OnceLock<Sampled> = OnceLock::new();

/// Makes spans for a share of the calls.
struct Sampled {
    tracer: SdkTracer,
    /// The share to trace of the calls whose callers do not decide.
    share: f64,
}

impl Sampled {
    /// Whether to trace this thread's next call whose caller does not decide. The multiples of the golden ratio
    /// are spread evenly, so any run of calls has about its share. A call that is not traced costs no more than
    /// this.
    fn takes_next(&self) -> bool {
        const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
        thread_local!(static PLACE: Cell<u64> = const { Cell::new(0) });
        let place = PLACE.replace(PLACE.get().wrapping_add(GOLDEN));
        (place as f64) < self.share * 2f64.powi(64)
    }
}

/// The longest wait for the collector when the process ends.
const LAST_EXPORT: Duration = Duration::from_secs(3);

/// Sends the spans of this process to a collector, in batches, until it is dropped.
#[derive(Debug)]
pub struct Exporter(SdkTracerProvider);

/// The headers of W3C's trace context, in which a caller names its trace.
struct Headers<'a> {
    traceparent: &'a str,
    tracestate: Option<&'a str>,
}

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            "traceparent" => Some(self.traceparent),
            "tracestate" => self.tracestate,
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent", "tracestate"]
    }
}

/// Whether the span of a stream names a conversation.
#[derive(Default)]
struct Named(AtomicBool);

/// A span that has begun. Spans that begin within it become its children.
#[derive(Clone, Debug)]
pub struct Span(Context);

impl Exporter {
    /// Sends spans to the collector at `endpoint`. Of the calls whose callers do not decide, the share
    /// `sampled` (0 to 1) is traced.
    pub fn to(endpoint: &str, sampled: f64) -> Result<Self, ExporterError> {
        // fails if another part of the process has installed one
        let _ = rustls::crypto::ring::default_provider().install_default();
        let exporter = SpanExporter::builder().with_http().with_endpoint(traces_of(endpoint)).build()?;
        let resource = Resource::builder()
            .with_service_name(std::env::var("OTEL_SERVICE_NAME").unwrap_or_else(|_| "utterd".to_owned()))
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            // If the caller does not decide, a span only begins if it is to be sampled.
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::AlwaysOn)))
            .with_resource(resource)
            .build();
        let tracer = provider.tracer("utterd");
        let _ = TRACER.set(Sampled { tracer, share: sampled });
        Ok(Self(provider))
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown_with_timeout(LAST_EXPORT) {
            tracing::warn!(%error, "the last spans were not exported");
        }
    }
}

/// The address for traces on a collector: `/v1/traces` is added, unless the address has it.
fn traces_of(endpoint: &str) -> String {
    let base = endpoint.trim_end_matches('/');
    if base.ends_with("/v1/traces") { base.to_owned() } else { format!("{base}/v1/traces") }
}

impl Span {
    /// Begins the span of a call that this server answers, as a part of its caller's trace; `None` if the call
    /// is not traced.
    pub fn of_call<'a>(
        name: Cow<'static, str>,
        header: impl Fn(&'static str) -> Option<&'a str>,
    ) -> Option<Self> {
        let sampled = TRACER.get()?;
        let parent = match header("traceparent") {
            Some(traceparent) => {
                let headers = Headers { traceparent, tracestate: header("tracestate") };
                TraceContextPropagator::new().extract_with_context(&Context::new(), &headers)
            }
            None => Context::new(),
        };
        Self::begin(sampled, SpanKind::Server, name, &parent)
    }

    /// Makes this the span of a call with several messages, which names only the first conversation that it is
    /// about.
    pub fn of_stream(self) -> Self {
        Self(self.0.with_value(Named::default()))
    }

    /// Begins the span of a call to a model, as a child of the current span.
    pub fn of_model(operation: &str, model: &str) -> Option<Self> {
        let (sampled, name) = (TRACER.get()?, format!("{operation} {model}"));
        let span = Self::begin(sampled, SpanKind::Client, name.into(), &Context::current())?;
        span.note("gen_ai.operation.name", operation.to_owned());
        span.note("gen_ai.request.model", model.to_owned());
        Some(span)
    }

    /// Returns the current span; `None` if none is being recorded.
    pub fn current() -> Option<Self> {
        TRACER.get()?;
        Context::map_current(|context| context.span().is_recording().then(|| Self(context.clone())))
    }

    /// Begins a child of the current span; `None` if no span is being recorded.
    pub fn within(name: &'static str) -> Option<Self> {
        Self::begin(TRACER.get()?, SpanKind::Internal, name.into(), &Self::current()?.0)
    }

    fn begin(sampled: &Sampled, kind: SpanKind, name: Cow<'static, str>, parent: &Context) -> Option<Self> {
        let is_decided = parent.span().span_context().is_valid();
        if !is_decided && !sampled.takes_next() {
            return None;
        }
        let tracer = &sampled.tracer;
        let span = tracer.span_builder(name).with_kind(kind).start_with_context(tracer, parent);
        let context = parent.with_span(span);
        context.span().is_recording().then_some(Self(context))
    }

    /// Makes this the current span until the returned value is dropped.
    pub fn enter(&self) -> impl Sized + use<> {
        self.0.clone().attach()
    }

    /// Adds an attribute.
    pub fn note(&self, key: &'static str, value: impl Into<opentelemetry::Value>) {
        self.0.span().set_attribute(KeyValue::new(key, value));
    }

    /// Ends the span. An error is named by its kind, never by a message.
    pub fn end(&self, error: Option<&'static str>) {
        let span = self.0.span();
        if let Some(kind) = error {
            span.set_attribute(KeyValue::new("error.type", kind));
            span.set_status(Status::error(kind));
        }
        span.end();
    }
}

/// Notes in the current span which conversation its call is about. If a stream is about several, only the first
/// is noted.
pub fn about(conversation: &str) {
    if TRACER.get().is_some() && !conversation.is_empty() {
        Context::map_current(|context| {
            let is_noted = context.get::<Named>().is_some_and(|named| named.0.swap(true, Ordering::Relaxed));
            if !is_noted && context.span().is_recording() {
                let id = KeyValue::new("gen_ai.memory.store.id", conversation.to_owned());
                context.span().set_attribute(id);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_run_of_calls_has_its_share() {
        for (share, least, most) in [(0.0, 0, 0), (0.1, 8, 12), (0.5, 48, 52), (1.0, 100, 100)] {
            let tracer = SdkTracerProvider::default().tracer("test");
            let sampled = Sampled { tracer, share };
            for _ in 0..50 {
                let taken = (0..100).filter(|_| sampled.takes_next()).count();
                assert!((least..=most).contains(&taken), "{share}: {taken} of 100");
            }
        }
    }

    #[test]
    fn a_collector_is_named_with_or_without_the_path() {
        for endpoint in ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces"] {
            assert_eq!(traces_of(endpoint), "http://c:4318/v1/traces");
        }
        assert_eq!(traces_of("https://c/otlp/"), "https://c/otlp/v1/traces");
    }
}
