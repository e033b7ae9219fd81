//! Long-lived calls, which end when their credential does.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::HeaderMap;
use http_body::{Frame, SizeHint};
use tonic::{Status, body::Body};

use super::{Guard, credential::Credential, refusal::Refused, shown::Shown};
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

/// A response that ends when a credential does.
pub struct Revocable {
    body: Body,
    /// `None` once the response has ended.
    revoked: Option<Revoked>,
}

impl Revocable {
    /// `body`, until `revoked`.
    pub fn new(body: Body, revoked: Revoked) -> Self {
        Self { body, revoked: Some(revoked) }
    }
}

impl http_body::Body for Revocable {
    type Data = <Body as http_body::Body>::Data;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Status>>> {
        let Some(revoked) = &mut self.revoked else { return Poll::Ready(None) };
        if let Poll::Ready(refused) = revoked.as_mut().poll(context) {
            self.revoked = None;
            self.body = Body::empty();
            return Poll::Ready(Some(Ok(Frame::trailers(trailers(refused)))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.revoked.is_none() || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

fn trailers(refused: Refused) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    // the status of a refusal always fits in headers
    let _ = Status::from(refused).add_header(&mut trailers);
    trailers
}
