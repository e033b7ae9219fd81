//! Carries out the effects that a chat asks for, and reports their outcomes to it.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    sync::mpsc::UnboundedSender,
    task::{AbortHandle, JoinSet},
};

use super::{
    event::{Draft, Effect, Event, Reply, Task},
    files,
    reply::Model,
    server::{Outcome, Server},
};
use crate::cli::errors::refusal;

/// How long pending writes may take when the user leaves.
const SETTLE_TIME: Duration = Duration::from_secs(3);

/// The running effects, and what they work with.
pub struct Effects {
    with: Arc<With>,
    tasks: JoinSet<()>,
    asking: Option<AbortHandle>,
}

struct With {
    server: Server,
    model: Option<Model>,
    events: UnboundedSender<Event>,
}

impl Effects {
    /// Effects at a server and a model, whose outcomes go to `events`.
    pub fn new(server: Server, model: Option<Model>, events: UnboundedSender<Event>) -> Self {
        let with = Arc::new(With { server, model, events });
        Self { with, tasks: JoinSet::new(), asking: None }
    }

    /// Starts an effect in a conversation.
    pub fn start(&mut self, effect: Effect, conversation_id: &str) {
        let (with, id) = (self.with.clone(), conversation_id.to_owned());
        match effect {
            Effect::Memorize(draft) => {
                self.spawn(async move { with.memorize(&id, draft).await });
            }
            Effect::Ask => {
                let asking = async move { with.ask(&id).await.map_or_else(Event::NoReply, Event::Reply) };
                self.asking = Some(self.spawn(asking));
            }
            Effect::Stop => {
                self.asking.take().inspect(AbortHandle::abort);
            }
            Effect::Refresh => {
                self.spawn(async move { with.refresh(&id).await });
            }
            Effect::Do(task) => {
                self.spawn(async move { with.perform(task, &id).await.unwrap_or_else(Event::Refused) });
            }
            // The terminal's part.
            Effect::Redraw | Effect::Quit => {}
        }
    }

    /// Aborts the reply in progress, and lets pending writes finish; not for long, because the user has left.
    pub async fn settle(mut self) {
        self.asking.take().inspect(AbortHandle::abort);
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        // Whatever has not ended by then is abandoned.
        let _ = tokio::time::timeout(SETTLE_TIME, ended).await;
    }

    fn spawn(&mut self, outcome: impl Future<Output = Event> + Send + 'static) -> AbortHandle {
        let with = self.with.clone();
        self.tasks.spawn(async move { with.tell(outcome.await) })
    }

    /// Waits for an effect that panics; those that end well are dropped.
    pub async fn broken(&mut self) -> io::Error {
        loop {
            match self.tasks.join_next().await {
                Some(Err(error)) if error.is_panic() => return io::Error::other(error),
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }
}

impl With {
    /// Sends an event; once the chat has ended, nobody listens any more.
    fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    async fn memorize(&self, id: &str, draft: Draft) -> Event {
        match self.server.memorize(id, draft.clone()).await {
            Ok(stored) => Event::Stored(Box::new(stored)),
            Err(reason) => Event::NotStored(draft, reason),
        }
    }

    async fn refresh(&self, id: &str) -> Event {
        match self.server.window(id).await {
            Ok(window) => Event::Refreshed(window),
            Err(status) => Event::NotRefreshed(refusal(&status)),
        }
    }

    async fn ask(&self, id: &str) -> Outcome<Reply> {
        let Some(model) = &self.model else { return Err("no model is named".into()) };
        let messages = self.server.messages(id, false).await?;
        model.reply(&messages, |piece| self.tell(Event::Piece(piece.to_owned()))).await
    }

    async fn perform(&self, task: Task, id: &str) -> Outcome<Event> {
        let server = &self.server;
        let done = match task {
            Task::Answer(answer) => server.answer(id, answer).await,
            Task::Compact { keep, dry_run } => server.compact(id, keep, dry_run).await,
            Task::Undo => server.undo(id).await,
            Task::Export { full, file } => files::export(server, id, full, file).await,
            Task::Forget { instructions, hard } => server.forget(id, instructions, hard).await,
            Task::Restore(sequences) => server.restore(id, &sequences).await,
            Task::Remember(prompt) => server.remember(id, prompt).await,
            Task::Capacity => server.capacity(id).await,
            Task::Summary => server.summary(id).await,
            Task::Start => return Ok(Event::Started(Box::new(server.start_another(id).await?))),
        };
        done.map(Event::Done)
    }
}
