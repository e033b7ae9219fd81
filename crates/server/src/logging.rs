//! What is logged: never the content of conversations.

use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::{
    EnvFilter,
    filter::{FilterExt, FilterFn, LevelFilter},
    layer::Filter,
    registry::LookupSpan,
};

/// The target of each of this project's own messages begins with the name of one of its crates: this one, or this one,
/// `_` and the name of a layer.
const OWN: &str = "utterd";

/// Even the errors of these crates can hold requests or model answers, so nothing of them is logged.
const SILENT: [&str; 1] = ["rmcp"];

/// The most that is logged of other crates. Below it they describe what they work on: statements with their
/// parameters, frames, headers.
const MOST: Level = Level::WARN;

/// Passes what `directives` (checked by the configuration) ask for, except what can hold content.
pub fn log_filter<S: Subscriber + for<'a> LookupSpan<'a>>(directives: &str) -> impl Filter<S> + use<S> {
    let safe = FilterFn::new(is_safe as fn(&Metadata<'_>) -> bool);
    EnvFilter::new(directives).and(safe.with_max_level_hint(LevelFilter::TRACE))
}

fn is_safe(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    is_own(target) || *metadata.level() <= MOST && !SILENT.contains(&krate(target))
}

fn is_own(target: &str) -> bool {
    krate(target).strip_prefix(OWN).is_some_and(|layer| layer.is_empty() || layer.starts_with('_'))
}

fn krate(target: &str) -> &str {
    target.split("::").next().unwrap_or_default()
}

/// The directives that name another crate and ask for more of it than is logged.
pub fn unheeded(directives: &str) -> Vec<&str> {
    directives.split(',').map(str::trim).filter(|directive| asks_too_much(directive)).collect()
}

fn asks_too_much(directive: &str) -> bool {
    let (target, level) = directive.rsplit_once('=').unwrap_or((directive, "trace"));
    let target = target.split('[').next().unwrap_or_default();
    let is_level = |text: &str| text.parse::<LevelFilter>().is_ok();
    let names_another = !target.is_empty() && !is_level(directive) && !is_own(target);
    names_another && level.parse::<LevelFilter>().is_ok_and(|level| level > LevelFilter::from_level(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_of_other_crates_in_vain_is_named() {
        for (directives, named) in [
            ("trace", vec![]),
            ("info,utterd=debug,utterd::calls=trace,utterd_server::calls=trace", vec![]),
            ("warn,h2=warn,sled=error,fjall=off", vec![]),
            ("debug, tokio_postgres=trace", vec!["tokio_postgres=trace"]),
            ("h2,hyper::proto=debug,5", vec!["h2", "hyper::proto=debug"]),
            ("utterdly=info,h2[send]=debug", vec!["utterdly=info", "h2[send]=debug"]),
        ] {
            assert_eq!(unheeded(directives), named, "{directives}");
        }
    }
}
