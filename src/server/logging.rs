//! What is logged: never what was said.

use tracing::{Metadata, Subscriber};
use tracing_subscriber::{
    EnvFilter,
    filter::{FilterExt, FilterFn, LevelFilter},
    layer::Filter,
    registry::LookupSpan,
};

/// What the engines of durable stores tell of their work is logged only where it is asked for.
const QUIET: &str = "fjall=warn,lsm_tree=warn,sled=warn";

/// What these tell of their work at any level may hold requests, answers of models or records: it is logged
/// nowhere, whatever is asked for.
const SILENT: [&str; 2] = ["async_openai", "rmcp"];

/// Lets pass what `directives` ask for, which the configuration has checked, and nothing that may hold contents.
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
