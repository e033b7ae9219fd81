//! Callers at work: each has its own conversation and does with it what callers do.

use futures::{future::join_all, stream};
use utterd::proto::memorize_stream_response;

use crate::{
    crash::{
        client::Client,
        ledger::{Ledger, Slot},
        request::{Failure, Request},
        texts,
    },
    support::{prelude::*, random::Random},
};

/// Observes each attempt.
pub trait Watch {
    /// An attempt is about to be sent.
    fn begun(&self, _name: &str) {}
    /// It was answered.
    fn answered(&self, _name: &str) {}
    /// Whether the callers should stop.
    fn is_over(&self) -> bool {
        false
    }
}

/// Connections that the callers share.
const CONNECTIONS: usize = 3;

/// Lets every caller work until it is done or its server is gone; the servers at `addresses` share the callers.
pub async fn work(addresses: &[&str], ledger: &mut Ledger, random: &mut Random, watch: &impl Watch) {
    let mut clients = Vec::new();
    for number in 0..CONNECTIONS {
        clients.push(Client::connect(addresses[number % addresses.len()]).await);
    }
    let callers = ledger.slots.iter_mut().enumerate().map(|(number, slot)| {
        let client = clients[number % CONNECTIONS].clone();
        Caller { client, slot, random: random.fork(), watch }.work()
    });
    join_all(callers).await;
}

struct Caller<'a, W> {
    client: Client,
    slot: &'a mut Slot,
    random: Random,
    watch: &'a W,
}

impl<W: Watch> Caller<'_, W> {
    async fn work(mut self) {
        while !self.watch.is_over() {
            let done = match self.random.below(100) {
                0..12 if self.slot.known.exists() && !self.slot.is_bulky => self.stream().await,
                _ => self.one().await,
            };
            match done {
                Ok(()) => {}
                Err(Failure::Unanswered) => return,
                Err(Failure::Refused(status)) => panic!("{}: {status:?}", self.slot.id),
            }
        }
    }

    async fn one(&mut self) -> Result<(), Failure> {
        let name = self.slot.next_name();
        let request = next_request(self.slot, &name, &mut self.random);
        self.begin(&name, request.clone());
        let facts = request.send(&mut self.client).await?;
        self.answer(facts);
        Ok(())
    }

    /// A stream whose messages do not wait for one another's answers.
    async fn stream(&mut self) -> Result<(), Failure> {
        let mut messages = Vec::new();
        for _ in 0..self.random.between(3, 24) {
            let name = self.slot.next_name();
            let said = texts::plain(&name, &mut self.random);
            let request = memorize(self.slot, &name, vec![said]);
            self.begin(&name, Request::Memorize(request.clone()));
            messages.push(MemorizeStreamRequest { memorize: Some(request), ..Default::default() });
        }
        let count = messages.len();
        let mut answers = self.client.memory.memorize_stream(stream::iter(messages)).await?.into_inner();
        for _ in 0..count {
            let answer = answers.message().await?.and_then(|answer| answer.result);
            match answer {
                Some(memorize_stream_response::Result::Memorized(response)) => self.answer(response.into()),
                Some(memorize_stream_response::Result::Error(error)) => panic!("{}: {error:?}", self.slot.id),
                None => return Err(Failure::Unanswered),
            }
        }
        Ok(())
    }

    fn begin(&mut self, name: &str, request: Request) {
        self.watch.begun(name);
        self.slot.begin(name.to_owned(), request);
    }

    fn answer(&mut self, facts: crate::crash::request::Facts) {
        let name = self.slot.unanswered()[0].name.clone();
        self.watch.answered(&name);
        assert!(!facts.replayed, "{name} is new and was answered as a repetition");
        self.slot.answer(facts).unwrap();
    }
}

fn next_request(slot: &Slot, name: &str, random: &mut Random) -> Request {
    if !slot.known.exists() && (slot.is_bulky || random.percent(75)) {
        return Request::Create(create(slot, name, random));
    }
    if slot.is_bulky {
        return Request::Memorize(memorize(slot, name, vec![texts::long(name, random)]));
    }
    let forgotten = slot.known.stored.values().filter(|said| said.forgotten);
    let forgotten: Vec<String> = forgotten.map(|said| said.id.clone()).collect();
    let is_quiet = slot.known.open.is_empty();
    match random.below(200) {
        0..12 if is_quiet => forget(slot, name, ForgetMode::Soft, random),
        12..20 if is_quiet => forget(slot, name, ForgetMode::Hard, random),
        20..30 if !forgotten.is_empty() => {
            let utterance_ids = random.pick(&forgotten).into_iter().collect();
            let (conversation_id, request_id) = (slot.id.clone(), name.to_owned());
            Request::Restore(RestoreRequest {
                conversation_id,
                utterance_ids,
                request_id,
                ..Default::default()
            })
        }
        30 if slot.known.exists() => {
            let conversation_id = slot.id.clone();
            Request::Delete(DeleteConversationRequest { conversation_id, ..Default::default() })
        }
        _ => Request::Memorize(memorize(slot, name, utterances(&slot.known.open, name, random))),
    }
}

/// Limits so small that a lot leaves the window, and some of it the archive.
fn create(slot: &Slot, name: &str, random: &mut Random) -> CreateConversationRequest {
    let policy = Policy {
        max_utterances: Some(random.between(4, 14) as i32),
        max_tokens: random.pick(&[None, Some(300)]).flatten(),
        archive_limit: random.pick(&[None, Some(10), Some(40)]).flatten(),
        summary_token_limit: random.pick(&[None, Some(150)]).flatten(),
        ..Policy::default()
    };
    let bulky = Policy { max_utterances: Some(2), archive_limit: Some(0), ..Policy::default() };
    let policy = if slot.is_bulky { bulky } else { policy };
    CreateConversationRequest {
        conversation_id: slot.id.clone(),
        recipient_id: format!("of-{}", slot.id),
        policy: Some(policy),
        request_id: name.to_owned(),
        ..Default::default()
    }
}

fn forget(slot: &Slot, name: &str, mode: ForgetMode, random: &mut Random) -> Request {
    let live = slot.known.stored.iter().filter(|(_, said)| !said.forgotten);
    let live: Vec<i64> = live.map(|(sequence, _)| *sequence).collect();
    match random.pick(&live) {
        Some(sequence) => Request::Forget(ForgetRequest {
            conversation_id: slot.id.clone(),
            instructions: format!("sequence:{sequence}"),
            mode: mode.into(),
            request_id: name.to_owned(),
            ..Default::default()
        }),
        None => Request::Memorize(memorize(slot, name, vec![texts::plain(name, random)])),
    }
}

fn memorize(slot: &Slot, name: &str, utterances: Vec<NewUtterance>) -> MemorizeRequest {
    let (conversation_id, request_id) = (slot.id.clone(), name.to_owned());
    let recipient_id = format!("of-{}", slot.id);
    MemorizeRequest { conversation_id, recipient_id, utterances, request_id, ..Default::default() }
}

/// What is said next: most likely the results of open calls.
fn utterances(open: &[String], name: &str, random: &mut Random) -> Vec<NewUtterance> {
    if !open.is_empty() && random.percent(70) {
        let answered = &open[..random.between(1, open.len())];
        let result =
            |(number, call): (usize, &String)| texts::result(&format!("{name}.{number}"), call, random);
        return answered.iter().enumerate().map(result).collect();
    }
    match random.below(10) {
        0..2 => vec![texts::calls(name, random)],
        2 => {
            let call = texts::calls(name, random);
            let ids: Vec<String> = call.tool_calls.iter().map(|call| call.id.clone()).collect();
            let result =
                |(number, id): (usize, &String)| texts::result(&format!("{name}.{number}"), id, random);
            let results: Vec<NewUtterance> = ids.iter().enumerate().map(result).collect();
            [vec![call], results].concat()
        }
        3..5 => (0..random.between(2, 6))
            .map(|number| texts::plain(&format!("{name}.{number}"), random))
            .collect(),
        _ => vec![texts::plain(name, random)],
    }
}
