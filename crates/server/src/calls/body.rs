//! The body of an answer: its trailers end the call. So does a panic, as INTERNAL.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tonic::{Status, body::Body};

use super::record::Record;
use crate::routes::trailers;
use utterd_telemetry::{
    Span,
    panics::{Panicked, Within},
};

/// The body of an answer, and the record of its call.
pub(super) struct CallBody {
    body: Body,
    record: Option<Record>,
}

impl CallBody {
    pub(super) fn new(body: Body, record: Record) -> Self {
        Self { body, record: Some(record) }
    }
}

impl HttpBody for CallBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        // the answers of a stream are made while its body is read
        let span = self.record.as_ref().and_then(Record::span_of_stream);
        let entered = span.map(Span::enter);
        let polled = Within::Call.caught(|| Pin::new(&mut self.body).poll_frame(context));
        drop(entered);
        let mut frame = match polled {
            Ok(polled) => ready!(polled),
            Err(Panicked) => {
                self.body = Body::empty();
                Some(Ok(Frame::trailers(trailers(utterd_rpc::panicked()))))
            }
        };
        if let Some(Ok(frame)) = &mut frame
            && let Some(trailers) = frame.trailers_mut()
            && let Some(record) = self.record.take()
        {
            record.end_with(trailers);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
