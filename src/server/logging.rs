//! What is logged: never the content of conversations.

use tracing::{Metadata, Subscriber};
use tracing_subscriber::{
    EnvFilter,
    filter::{FilterExt, FilterFn, LevelFilter},
    layer::Filter,
    registry::LookupSpan,
};

/// The engines of durable stores log their routine work only on request.
const QUIET: &str = "fjall=warn,lsm_tree=warn,sled=warn";

/// The logs of these crates can hold requests, model answers or records at any level, so they are never written,
/// whatever the configuration asks for.
const SILENT: [&str; 2] = ["async_openai", "rmcp"];

/// Passes what `directives` (checked by the configuration) ask for, except what can hold content.
pub fn log_filter<S: Subscriber + for<'a> LookupSpan<'a>>(directives: &str) -> impl Filter<S> + use<S> {
    let mut chosen = EnvFilter::new(directives);
    if chosen.max_level_hint() > Some(LevelFilter::WARN) {
        chosen = EnvFilter::new(format!("{QUIET},{directives}"));
    }
    chosen.and(FilterFn::new(is_safe as fn(&Metadata<'_>) -> bool).with_max_level_hint(LevelFilter::TRACE))
}

fn is_safe(metadata: &Metadata<'_>) -> bool {
    let krate = metadata.target().split("::").next().unwrap_or_default();
    !SILENT.contains(&krate)
}
