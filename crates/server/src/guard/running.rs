//! Long-lived calls, which end when their credential does.

use std::{pin::Pin, sync::Arc, time::Duration};

use futures::stream;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use tonic::body::Body;

use super::{Guard, credential::Credential, refusal::Refused, shown::Shown};
use crate::routes::trailers;
use utterd_domain::limits::CREDENTIAL_CHECK_INTERVAL;

/// Completes when a credential is no longer valid.
pub type Revoked = Pin<Box<dyn Future<Output = Refused> + Send>>;

/// Completes when `shown` no longer proves `credential`: when that was removed, was changed or has expired.
pub fn revoked(guard: Arc<Guard>, shown: Shown, credential: Credential) -> Revoked {
    Box::pin(async move {
        let mut changes = guard.changes();
        loop {
            match guard.identify(&shown) {
                Ok(found) if found.principal.may_the_same(&credential.principal) => {}
                Ok(_) => return Refused::Invalid,
                Err(refused) => return refused,
            }
            let rest = credential.expires.map(|expires| guard.until(expires));
            let rest = rest.unwrap_or(Duration::MAX).min(CREDENTIAL_CHECK_INTERVAL);
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                _ = changes.changed() => {}
            }
        }
    })
}

/// `body`, which ends with a refusal once a credential is `revoked`.
pub fn until(revoked: Revoked, body: Body) -> Body {
    let frames = stream::unfold(Some((body, revoked)), async |running| {
        let (mut body, mut revoked) = running?;
        tokio::select! {
            biased;
            refused = revoked.as_mut() => Some((Ok(Frame::trailers(trailers(refused.into()))), None)),
            frame = body.frame() => Some((frame?, Some((body, revoked)))),
        }
    });
    Body::new(StreamBody::new(frames))
}
