//! Callers at work: several share each conversation, and each calls any server.

use std::fmt;

use parking_lot::Mutex;
use tokio::{sync::watch, task::JoinSet};

use crate::{
    crash::{client::Client, observed::Observed, texts},
    ensure,
    postgres_crash::{
        calls::{count, list, memorize},
        fleet::{Called, Fleet, within},
        history::History,
    },
    support::{prelude::*, random::Random},
};

/// Callers of each conversation.
const CALLERS: usize = 4;
/// Conversations at the same time.
const TALKS: usize = 6;
/// A window from which a lot is evicted.
const SMALL: i32 = 6;
/// More than a test says in one conversation.
const PAGE: i32 = 1_000;

/// A conversation.
pub struct Talk {
    name: String,
    /// Whether callers name the recipient, and not the conversation.
    by_recipient: bool,
    history: Mutex<History>,
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// Writes, each of which was answered in the end.
    pub acknowledged: usize,
    /// Calls that failed, and were made again.
    pub retried: usize,
    /// Writes that an earlier call had made although it failed.
    pub replayed: usize,
    /// Reads that saw all that was known.
    pub reads: usize,
}

/// Callers that work until they are told to stop.
pub struct Work {
    callers: JoinSet<Result<(), String>>,
    shared: Arc<Shared>,
}

struct Shared {
    fleet: Arc<Fleet>,
    progress: watch::Sender<Progress>,
}

#[derive(Clone, Debug, Default)]
struct Progress {
    done: Done,
    is_over: bool,
    has_failed: bool,
}

/// New conversations, some of which exist already, with small windows.
pub async fn talks(fleet: &Fleet, name: &str) -> Vec<Arc<Talk>> {
    let talks = (0..TALKS).map(|number| Talk {
        name: format!("{name}-{number}"),
        by_recipient: number % 2 == 0,
        history: Mutex::default(),
    });
    let talks: Vec<_> = talks.map(Arc::new).collect();
    for talk in talks.iter().skip(TALKS - 2) {
        let policy = Policy { max_utterances: Some(SMALL), ..Policy::default() };
        let conversation_id = if talk.by_recipient { String::new() } else { talk.name.clone() };
        let recipient_id = if talk.by_recipient { talk.name.clone() } else { String::new() };
        let policy = Some(policy);
        let request =
            CreateConversationRequest { conversation_id, recipient_id, policy, ..Default::default() };
        fleet.client(0).conversations.create_conversation(request).await.expect("a conversation");
    }
    talks
}

impl Talk {
    /// Every server shows exactly what was acknowledged.
    pub async fn check(&self, fleet: &Fleet) {
        let id = self.history.lock().id.clone();
        let Some(id) = id else { return };
        for number in 0..fleet.size() {
            let found = Observed::read(&mut fleet.client(number), &id).await;
            let checked = found.and_then(|found| {
                let found = found.ok_or("it is gone")?;
                found.is_consistent()?;
                self.history.lock().is_exactly(&found.utterances)
            });
            checked.unwrap_or_else(|error| panic!("{} on server {number}: {error}", self.name));
        }
    }

    fn ids(&self) -> (String, String) {
        match self.by_recipient {
            true => (String::new(), self.name.clone()),
            false => (self.name.clone(), String::new()),
        }
    }
}

impl Work {
    /// Lets callers of all these conversations begin.
    pub fn begin(fleet: &Arc<Fleet>, talks: &[Arc<Talk>], random: &mut Random) -> Self {
        let shared = Arc::new(Shared { fleet: fleet.clone(), progress: watch::Sender::default() });
        let mut callers = JoinSet::new();
        for talk in talks {
            for number in 0..CALLERS {
                let (name, random) = (format!("{}-{number}", talk.name), random.fork());
                let caller = Caller { name, talk: talk.clone(), random, shared: shared.clone() };
                callers.spawn(caller.work());
            }
        }
        Self { callers, shared }
    }

    /// The servers that they call.
    pub fn fleet(&self) -> &Fleet {
        &self.shared.fleet
    }

    /// Waits until so many further writes are acknowledged, or a caller has failed.
    pub async fn goes_on(&self, writes: usize) {
        let enough = self.shared.progress.borrow().done.acknowledged + writes;
        let mut progress = self.shared.progress.subscribe();
        let reached =
            progress.wait_for(|progress| progress.done.acknowledged >= enough || progress.has_failed);
        within("more answers", reached).await.expect("the callers are there");
    }

    /// Waits until the callers have an answer to everything.
    pub async fn ends(mut self) -> Done {
        self.shared.progress.send_modify(|progress| progress.is_over = true);
        while let Some(ended) = within("the last answers", self.callers.join_next()).await {
            ended.expect("it does not panic").unwrap_or_else(|error| panic!("{error}"));
        }
        self.shared.progress.borrow().done.clone()
    }
}

struct Caller {
    name: String,
    talk: Arc<Talk>,
    random: Random,
    shared: Arc<Shared>,
}

impl Caller {
    async fn work(mut self) -> Result<(), String> {
        let mut done = Ok(());
        for number in 0.. {
            if self.shared.progress.borrow().is_over || done.is_err() {
                break;
            }
            done = match self.random.below(10) {
                0..2 => self.count().await,
                2 => self.list().await,
                _ => self.write(number).await,
            };
        }
        if done.is_err() {
            self.shared.progress.send_modify(|progress| progress.has_failed = true);
        }
        done.map_err(|error| format!("{}: {error}", self.name))
    }

    async fn write(&mut self, number: usize) -> Result<(), String> {
        let request = self.request(number);
        let texts = request.utterances.iter().map(|said| said.content.clone()).collect();
        let begun = self.talk.history.lock().write(texts);
        let answer = self.answered(|client| memorize(client, request.clone())).await?;
        self.talk.history.lock().acknowledge(begun, &answer)?;
        self.note(|done| {
            done.acknowledged += 1;
            done.replayed += usize::from(answer.replayed);
        });
        Ok(())
    }

    /// One or a few texts; half of them without ids, which would tell a repetition.
    fn request(&mut self, number: usize) -> MemorizeRequest {
        let name = format!("{}-{number}", self.name);
        let mut utterances = Vec::new();
        for part in 0..self.random.between(1, 3) {
            utterances.push(texts::plain(&format!("{name}.{part}"), &mut self.random));
        }
        if self.random.percent(50) {
            utterances.iter_mut().for_each(|said| said.utterance_id.clear());
        }
        let (conversation_id, recipient_id) = self.talk.ids();
        MemorizeRequest { conversation_id, recipient_id, utterances, request_id: name, ..Default::default() }
    }

    async fn count(&mut self) -> Result<(), String> {
        let (conversation_id, recipient_id) = self.talk.ids();
        let request = GetCapacityInfoRequest { conversation_id, recipient_id, ..Default::default() };
        let after = self.talk.history.lock().read();
        let count = self.answered(|client| or_default(count(client, request.clone()))).await?;
        self.talk.history.lock().counted(after, count)?;
        self.note(|done| done.reads += 1);
        Ok(())
    }

    async fn list(&mut self) -> Result<(), String> {
        let (conversation_id, recipient_id) = self.talk.ids();
        let request = ListUtterancesRequest {
            conversation_id,
            recipient_id,
            include_archive: true,
            page_size: PAGE,
            ..Default::default()
        };
        let after = self.talk.history.lock().read();
        let list = self.answered(|client| or_default(list(client, request.clone()))).await?;
        ensure!(list.len() < PAGE as usize, "there is more than a page");
        self.talk.history.lock().listed(after, &list)?;
        self.note(|done| done.reads += 1);
        Ok(())
    }

    /// Makes a call on one server after another, until it is answered.
    async fn answered<T, F>(&mut self, call: impl Fn(Client) -> F) -> Result<T, String>
    where
        F: Future<Output = Result<T, Status>>,
    {
        loop {
            let called: Called = self.shared.fleet.called(self.random.below(self.shared.fleet.size()));
            match call(called.client.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(status) => self.shared.fleet.excuses(&called, &status).await?,
            }
            self.note(|done| done.retried += 1);
        }
    }

    fn note(&self, note: impl FnOnce(&mut Done)) {
        self.shared.progress.send_modify(|progress| note(&mut progress.done));
    }
}

/// The answer, which is empty if the conversation does not exist.
async fn or_default<T: Default>(call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    match call.await {
        Err(status) if status.code() == Code::NotFound => Ok(T::default()),
        answer => answer,
    }
}

impl std::ops::AddAssign for Done {
    fn add_assign(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.retried += other.retried;
        self.replayed += other.replayed;
        self.reads += other.reads;
    }
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} acknowledged writes, each there once and in order, {} of them by a call that had failed; {} \
             retries; {} reads, each of which saw what was known",
            self.acknowledged, self.replayed, self.retried, self.reads
        )
    }
}
