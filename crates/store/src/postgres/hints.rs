//! Hints about commits that processes send each other, with NOTIFY and LISTEN.
//!
//! A hint is sent after its commit, not in the same transaction: PostgreSQL makes transactions that notify
//! commit one after the other. Each time, all hints since the last time are sent.

use std::{
    collections::HashSet,
    mem,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::{StreamExt as _, stream};
use parking_lot::Mutex;
use tokio::{
    sync::{broadcast, broadcast::error::RecvError, mpsc, watch},
    task::AbortHandle,
};
use tokio_postgres::{AsyncMessage, Client, Connection, Socket, tls::TlsStream};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    Options,
    connection::{
        connect::{self, quoted},
        database::{Database, with_jitter},
        fault::unavailable,
    },
};
use crate::{BoxStream, Commit, Hint, RecipientKey, Result};
use utterd_domain::{ConversationId, ConversationKey, Namespace, RecipientId};
use utterd_telemetry::panics::{Within, begin_anew};

/// The maximum bytes of a notification; PostgreSQL accepts less than 8,000.
const PAYLOAD: usize = 7_500;
/// The maximum number of pending hints. Beyond it, a [`Hint::Missed`] replaces them.
const WAITING: usize = 1_000;
/// The maximum number of hints that wait for a reader.
const UNREAD: usize = 1_024;
/// How long to collect hints after a send: every server has to read each notification.
const PAUSE: Duration = Duration::from_millis(5);
/// How long to wait before listening again, at first and at most.
const RETRY: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

/// How often the connection is probed, and whoever watches something asks for it.
const INTERVAL: Duration = Duration::from_secs(5);

/// The notification for [`Hint::Missed`].
const MISSED: &str = "?";

/// Sends and receives hints.
pub(super) struct Hints {
    options: Options,
    database: Database,
    waiting: HintQueue,
    heard: Arc<Heard>,
    listening: OnceLock<AbortHandle>,
}

/// The hints that come from the database.
struct Heard {
    hints: broadcast::Sender<Hint>,
    /// Whether this process has begun to listen.
    listens: watch::Sender<bool>,
}

impl Hints {
    /// Starts the task that sends hints. The task ends with the store.
    pub(super) fn start(options: &Options, database: Database) -> Self {
        let (waiting, news) = HintQueue::new();
        tokio::spawn(send_all(database.clone(), channel(&options.schema), waiting.hints.clone(), news));
        let heard = Heard { hints: broadcast::Sender::new(UNREAD), listens: watch::Sender::new(false) };
        let (heard, listening) = (Arc::new(heard), OnceLock::new());
        Self { options: options.clone(), database, waiting, heard, listening }
    }

    /// Returns the queue of hints to send.
    pub(super) fn waiting(&self) -> HintQueue {
        self.waiting.clone()
    }

    /// Returns the hints of all processes. The first is [`Hint::Missed`], once this process listens.
    pub(super) fn stream(&self) -> BoxStream<'static, Hint> {
        self.listening.get_or_init(|| {
            let (options, database, heard) =
                (self.options.clone(), self.database.clone(), self.heard.clone());
            let listening = move || listen(options.clone(), database.clone(), heard.clone());
            tokio::spawn(begin_anew("listening to other servers", listening)).abort_handle()
        });
        let (heard, mut listens) = (self.heard.hints.subscribe(), self.heard.listens.subscribe());
        let first = async move {
            let _ = listens.wait_for(|listens| *listens).await;
            Hint::Missed
        };
        let rest = stream::unfold(heard, |mut heard| async move {
            match heard.recv().await {
                Ok(hint) => Some((hint, heard)),
                Err(RecvError::Lagged(_)) => Some((Hint::Missed, heard)),
                // the store was dropped
                Err(RecvError::Closed) => None,
            }
        });
        stream::once(first).chain(rest).boxed()
    }
}

impl Drop for Hints {
    /// Closes the listening connection.
    fn drop(&mut self) {
        self.listening.get().into_iter().for_each(AbortHandle::abort);
    }
}

/// The queue of hints to send: each once, and at most [`WAITING`]. More would be of no use, as every server
/// that gets [`Hint::Missed`] checks everything that it watches.
#[derive(Clone)]
pub(super) struct HintQueue {
    hints: Arc<Mutex<HashSet<Hint>>>,
    /// Wakes the task that sends the hints. The task ends once nothing more can be added.
    bell: mpsc::Sender<()>,
}

impl HintQueue {
    fn new() -> (Self, mpsc::Receiver<()>) {
        let (bell, news) = mpsc::channel(1);
        (Self { hints: Arc::default(), bell }, news)
    }

    /// Adds hints to the queue.
    pub(super) fn add(&self, more: impl IntoIterator<Item = Hint>) {
        let mut hints = self.hints.lock();
        hints.extend(more);
        if hints.len() > WAITING || hints.contains(&Hint::Missed) {
            *hints = HashSet::from([Hint::Missed]);
        }
        drop(hints);
        // if the channel is full, the task has yet to wake up
        let _ = self.bell.try_send(());
    }
}

/// Returns the hints of a commit.
pub(super) fn of(commit: &Commit) -> Vec<Hint> {
    let changed = commit.writes.iter().map(|write| Hint::Changed(write.key().clone()));
    let moved = commit.pointers.iter().filter(|pointer| pointer.moves());
    changed.chain(moved.map(|pointer| Hint::Active(pointer.recipient.clone()))).collect()
}

/// The channel name of the servers that share a schema.
fn channel(schema: &str) -> String {
    format!("utterd {schema}")
}

async fn send_all(
    database: Database,
    channel: String,
    waiting: Arc<Mutex<HashSet<Hint>>>,
    mut news: mpsc::Receiver<()>,
) {
    // if hints are lost here, the other servers find the changes when they compare what they watch
    while news.recv().await.is_some() {
        let hints = mem::take(&mut *waiting.lock());
        let payloads = payloads(&hints);
        if let Ok(Err(error)) = Within::Store.catching(send(&database, &channel, &payloads)).await {
            tracing::debug!(%error, "hints were not sent");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn send(database: &Database, channel: &str, payloads: &[String]) -> Result<()> {
    let mut connection = database.connection().await?;
    let sql = "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, p.payload)
        FROM unnest($2::text[]) AS p(payload)";
    connection.query(sql, &[&channel, &payloads]).await.map(drop)
}

/// Encodes hints as payloads of notifications.
fn payloads<'a>(hints: impl IntoIterator<Item = &'a Hint>) -> Vec<String> {
    let mut payloads = vec![String::new()];
    for hint in hints {
        let line = match hint {
            Hint::Changed(key) => format!("c{}\n{}\n", key.namespace.as_str(), key.id.as_str()),
            Hint::Active(recipient) => format!("a{}\n{}\n", recipient.namespace, recipient.id),
            Hint::Missed => return vec![MISSED.to_owned()],
        };
        match payloads.last_mut() {
            Some(last) if last.len() + line.len() <= PAYLOAD => last.push_str(&line),
            _ => payloads.push(line),
        }
    }
    payloads
}

/// Decodes the hints of a notification. Neither namespaces nor ids have line breaks.
fn hints(payload: &str) -> Vec<Hint> {
    if payload == MISSED {
        return vec![Hint::Missed];
    }
    let mut lines = payload.lines();
    let mut hints = Vec::new();
    while let (Some(first), Some(id)) = (lines.next(), lines.next()) {
        let hint = hint(first, id);
        hints.push(hint.unwrap_or(Hint::Missed));
    }
    hints
}

fn hint(first: &str, id: &str) -> Option<Hint> {
    let (kind, namespace) = first.split_at_checked(1)?;
    let namespace = Namespace::new(namespace).ok()?;
    match kind {
        "c" => Some(Hint::Changed(ConversationKey { namespace, id: ConversationId::kept(id).ok()? })),
        "a" => Some(Hint::Active(RecipientKey { namespace, id: RecipientId::new(id).ok()? })),
        _ => None,
    }
}

/// Listens until the task is aborted, and reconnects when the connection ends. That can be the first sign that
/// the database is down, so the database is probed then.
async fn listen(options: Options, database: Database, heard: Arc<Heard>) {
    let [mut pause, longest] = RETRY;
    loop {
        match listen_once(&options, &heard).await {
            Ok(()) => pause = RETRY[0],
            Err(error) => {
                tracing::debug!(%error, "not listening to other servers");
                pause = (pause * 2).min(longest);
            }
        }
        database.probe(INTERVAL).await;
        tokio::time::sleep(with_jitter(pause)).await;
    }
}

/// Listens until the connection ends.
async fn listen_once(options: &Options, heard: &Heard) -> Result<()> {
    let tls: MakeRustlsConnect = connect::tls(options)?;
    let (client, connection) =
        options.url.config().connect(tls).await.map_err(|error| unavailable(&error))?;
    let greeting = format!("LISTEN {}", quoted(&channel(&options.schema)));
    let listening = async {
        client.batch_execute(&greeting).await.map_err(|error| unavailable(&error))?;
        let _ = heard.hints.send(Hint::Missed);
        heard.listens.send_replace(true);
        keep(&client, heard).await;
        Ok(())
    };
    let hearing = hear(connection, heard);
    tokio::select! {
        listened = listening => listened,
        () = hearing => Ok(()),
    }
}

/// Probes the connection regularly, to detect if it broke unnoticed. Sends [`Hint::Missed`] each time, as
/// another process may have died between a commit and its hint.
async fn keep(client: &Client, heard: &Heard) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        match tokio::time::timeout(INTERVAL, client.batch_execute("")).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
        let _ = heard.hints.send(Hint::Missed);
    }
}

async fn hear<T: TlsStream + Unpin>(mut connection: Connection<Socket, T>, heard: &Heard) {
    while let Some(Ok(message)) = std::future::poll_fn(|context| connection.poll_message(context)).await {
        let AsyncMessage::Notification(notification) = message else { continue };
        for hint in hints(notification.payload()) {
            // fails if nobody reads
            let _ = heard.hints.send(hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(id: &str) -> Hint {
        let id = ConversationId::kept(id).unwrap();
        Hint::Changed(ConversationKey { namespace: Namespace::default(), id })
    }

    #[test]
    fn hints_are_sent_and_read() {
        let recipient = RecipientKey { namespace: Namespace::default(), id: RecipientId::default() };
        let all = vec![changed("one"), Hint::Active(recipient), changed("two")];
        let payloads = payloads(&all);
        assert_eq!(payloads.iter().flat_map(|payload| hints(payload)).collect::<Vec<_>>(), all);
    }

    #[test]
    fn many_hints_are_several_notifications() {
        let all: Vec<_> = (0..WAITING).map(|number| changed(&format!("{number:0>200}"))).collect();
        let sent = payloads(&all);
        assert!(sent.len() > 1 && sent.iter().all(|payload| payload.len() <= PAYLOAD));
        assert_eq!(sent.iter().flat_map(|payload| hints(payload)).collect::<Vec<_>>(), all);
    }

    /// The queue is bounded, however slow the database is.
    #[test]
    fn too_many_hints_are_one_that_says_so() {
        let (waiting, _news) = HintQueue::new();
        for number in 0..10 * WAITING {
            waiting.add([changed(&number.to_string())]);
            assert!(waiting.hints.lock().len() <= WAITING);
        }
        assert_eq!(payloads(&*waiting.hints.lock()), [MISSED]);
        assert_eq!(hints(MISSED), [Hint::Missed]);
    }

    #[test]
    fn a_conversation_that_changes_often_is_one_hint() {
        let (waiting, mut news) = HintQueue::new();
        for _ in 0..10 * WAITING {
            waiting.add([changed("c")]);
        }
        assert_eq!(*waiting.hints.lock(), HashSet::from([changed("c")]));
        assert!(news.try_recv().is_ok() && news.try_recv().is_err(), "the task is woken once");
    }

    #[test]
    fn what_cannot_be_read_may_be_anything() {
        assert_eq!(hints("x\nid\n"), [Hint::Missed]);
    }
}
