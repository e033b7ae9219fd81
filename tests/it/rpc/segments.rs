//! Test helpers for the segments of a summary.

use crate::support::prelude::*;

/// Waits until no segment of the default recipient's conversation waits for a model.
pub async fn until_final(session: &Session) {
    let mut watch = session.memory().watch_capacity(WatchCapacityRequest::default()).await.reply();
    while let Ok(Some(seen)) = watch.message().await {
        let summary = seen.capacity.and_then(|capacity| capacity.summary).expect("a summary");
        if summary.provisional_segment_count() == 0 {
            return;
        }
    }
    panic!("the watch ended");
}

/// How each segment of the summary was made.
pub async fn methods(session: &Session) -> Vec<SummaryMethod> {
    session.summary().await.segments.iter().map(|segment| segment.method()).collect()
}
