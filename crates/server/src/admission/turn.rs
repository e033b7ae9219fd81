//! The turn of a call whose request arrives in parts.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker, ready},
};

use bytes::Bytes;
use http::Request;
use http_body::{Body as _, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::time::Instant;
use tonic::{Status, body::Body};

use super::{gate::Gate, run_queue::Ticket};
use crate::guard::methods::Method;

/// A call that waits for its turn. It leaves the queue on drop.
pub struct Turn {
    gate: Arc<Gate>,
    ticket: Ticket,
    caller: u64,
    /// Whether the call can change something.
    changes: bool,
    is_over: bool,
}

impl Turn {
    /// The turn of a call of `caller`, which starts with `request`.
    pub fn new(gate: Arc<Gate>, request: &Request<Body>, ticket: Ticket, caller: u64) -> Self {
        let changes = Method::of(request.uri().path()).changes();
        Self { gate, ticket, caller, changes, is_over: false }
    }

    /// Takes the turn; the error is that the call is not admitted.
    fn take(mut self) -> Result<(), Status> {
        self.is_over = true;
        let admission = &self.gate.admission;
        let adds = self.changes && (admission.is_store_behind)();
        let is_admitted = self.gate.queue.lock().turn(Instant::now(), self.ticket, Some(self.caller), adds);
        is_admitted.then_some(()).ok_or_else(|| admission.overloaded.next_status())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.is_over {
            self.gate.queue.lock().leave();
        }
    }
}

/// The body of a request. At its end comes the call's turn, and an error if the call is turned away.
///
/// While its client still has to send more, the call waits for the client. Its wait for the worker's thread counts from
/// the moment the thread was woken again.
pub struct TurnBody {
    inner: Body,
    turn: Option<Turn>,
    woken: Option<Arc<Woken>>,
}

impl TurnBody {
    /// The body `inner`, followed by `turn`.
    pub fn new(inner: Body, turn: Turn) -> Self {
        Self { inner, turn: Some(turn), woken: None }
    }

    /// Polls the body, and arranges to note when more of it arrives.
    fn poll_inner(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Some(turn) = &mut self.turn else { return Pin::new(&mut self.inner).poll_frame(context) };
        if let Some(time) = self.woken.as_ref().and_then(|woken| woken.time.lock().take()) {
            turn.ticket.wait(time);
        }
        let same = self.woken.take().filter(|woken| woken.waker.will_wake(context.waker()));
        let woken = self.woken.insert(same.unwrap_or_else(|| Woken::new(context.waker())));
        let waker = Waker::from(woken.clone());
        Pin::new(&mut self.inner).poll_frame(&mut Context::from_waker(&waker))
    }
}

impl http_body::Body for TurnBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(self.poll_inner(context));
        if (frame.is_none() || self.inner.is_end_stream())
            && let Some(Err(status)) = self.turn.take().map(Turn::take)
        {
            return Poll::Ready(Some(Err(status)));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.turn.is_none() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A waker that notes when it is first used.
struct Woken {
    waker: Waker,
    time: Mutex<Option<Instant>>,
}

impl Woken {
    fn new(waker: &Waker) -> Arc<Self> {
        Arc::new(Self { waker: waker.clone(), time: Mutex::default() })
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.time.lock().get_or_insert_with(Instant::now);
        self.waker.wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin, time::Duration};

    use http_body_util::{BodyExt, StreamBody};
    use tokio::{sync::mpsc, time::advance};
    use tokio_stream::{StreamExt, wrappers::UnboundedReceiverStream};
    use tonic::Code;

    use super::*;
    use crate::admission::gate::Admission;
    use utterd_config::Settings;
    use utterd_domain::limits::{LEAST_OVERLOAD, OVERLOAD_WAIT, STANDING_WAIT};

    const CALLER: u64 = 1;
    const MOMENT: Duration = Duration::from_millis(1);

    /// A gate whose store is behind or not.
    fn gate(is_store_behind: bool) -> Arc<Gate> {
        Gate::new(Admission::new(&Settings::default(), move || is_store_behind))
    }

    /// Lets calls wait so long that the worker is overloaded.
    async fn overload(gate: &Gate) {
        let tickets: Vec<_> = (0..2 * LEAST_OVERLOAD).map(|_| gate.arrive(Instant::now())).collect();
        advance(STANDING_WAIT + MOMENT).await;
        gate.queue.lock().turn(Instant::now(), tickets[0], Some(CALLER), false);
        assert!(gate.queue.lock().is_overloaded());
    }

    /// A call whose request arrives in parts, and the sender of the parts.
    fn call(gate: &Arc<Gate>, path: &str) -> (TurnBody, mpsc::UnboundedSender<Bytes>) {
        let (parts, body) = mpsc::unbounded_channel();
        let body = UnboundedReceiverStream::new(body).map(|part| Ok::<_, Status>(Frame::data(part)));
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let turn = Turn::new(gate.clone(), &request, gate.arrive(Instant::now()), CALLER);
        (TurnBody::new(Body::new(StreamBody::new(body)), turn), parts)
    }

    const READ: &str = "/utterd.v1.MemoryService/Remember";
    const WRITE: &str = "/utterd.v1.MemoryService/Memorize";

    /// Whether a call is admitted that waits for its client for `client`, and then for its thread for `thread`.
    async fn is_admitted(gate: &Arc<Gate>, path: &str, client: Duration, thread: Duration) -> bool {
        let (body, parts) = call(gate, path);
        let mut whole = pin!(body.collect());
        assert!(poll_fn(|context| Poll::Ready(whole.as_mut().poll(context).is_pending())).await);
        advance(client).await;
        parts.send(Bytes::from_static(b"all")).unwrap();
        drop(parts);
        advance(thread).await;
        match whole.await {
            Ok(whole) => whole.to_bytes() == "all",
            Err(status) => {
                assert_eq!(status.code(), Code::ResourceExhausted);
                false
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_client_takes_is_no_wait_for_the_thread() {
        let gate = gate(false);
        overload(&gate).await;
        assert!(is_admitted(&gate, WRITE, 10 * OVERLOAD_WAIT, MOMENT).await);
        assert!(!is_admitted(&gate, WRITE, MOMENT, OVERLOAD_WAIT + MOMENT).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_is_behind_takes_no_more_changes() {
        let gate = gate(true);
        assert!(!is_admitted(&gate, WRITE, MOMENT, MOMENT).await);
        assert!(is_admitted(&gate, READ, MOMENT, MOMENT).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_dropped_waits_no_more() {
        let gate = gate(false);
        let calls: Vec<_> = (0..2 * LEAST_OVERLOAD).map(|_| call(&gate, WRITE)).collect();
        let ticket = gate.arrive(Instant::now());
        drop(calls);
        advance(STANDING_WAIT + MOMENT).await;
        gate.queue.lock().turn(Instant::now(), ticket, Some(CALLER), false);
        assert!(!gate.queue.lock().is_overloaded());
    }
}
