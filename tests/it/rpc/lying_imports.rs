//! Whatever a file says about ids, origins and recipients, what is done to the conversations imported from it
//! changes nothing in any other conversation.

use crate::support::{asked, prelude::*, random::Random};

/// Imports, unless `UTTERD_IMPORT_CASES` sets another number.
const CASES: u64 = 100;

/// What others said, and what files claim.
const TEXTS: [&str; 4] = ["The code is 4711.", "It rains in Oslo.", "Book the room.", "Something new."];

/// The conversations of others.
const OTHERS: [&str; 5] = ["talk", "fork", "ended", "imported", "short"];

/// The recipient of what is imported.
const MALLORY: &str = "mallory";

#[tokio::test]
async fn an_import_that_lies_reaches_nobody_else() {
    let world = World::new().await;
    for case in 0..asked("UTTERD_IMPORT_CASES").unwrap_or(CASES) {
        let mut random = Random::new(case);
        let (header, file) = world.lie(&mut random, case);
        if let Ok(response) = world.session.import_with(header, &file.to_string()).await {
            for imported in response.into_inner().conversations {
                world.destroy(&mut random, &imported.conversation_id).await;
            }
        }
        let request = DeleteRecipientRequest { recipient_id: MALLORY.into() };
        world.session.conversations().delete_recipient(request).await.reply();
        assert_eq!(world.seen().await, world.before, "UTTERD_IMPORT_CASES={} {file}", case + 1);
    }
}

struct World {
    session: Session,
    /// The ids of what others said.
    names: Vec<String>,
    before: String,
}

impl World {
    /// Conversations with an archive, a summary, forks, edits, and an ending.
    async fn new() -> Self {
        let session = Session::new().await;
        let policy = Policy { max_utterances: Some(4), keep_utterances: Some(2), ..Default::default() };
        let update = UpdateConversationRequest {
            conversation_id: "talk".into(),
            policy: Some(policy),
            update_mask: mask(&["policy"]),
            ..Default::default()
        };
        for id in ["talk", "ended", "short"] {
            say(&session, id, TEXTS.map(user).into()).await;
        }
        session.conversations().update_conversation(update).await.reply();
        say(&session, "talk", vec![calls(&["a"]), result("a", "Booked."), assistant("Done.")]).await;
        let file = json!({"conversations": [{"id": "imported", "title": "Oslo", "summary": "Of 4711.",
            "startedAt": "2026-01-01T10:00:00.000Z", "endedAt": "2026-01-01T11:00:00.000Z",
            "messages": [{"id": "m1", "role": "user", "content": TEXTS[0]}]}]});
        let header = ImportHeader { recipient_id: "alice".into(), ..Default::default() };
        session.import_with(header, &file.to_string()).await.reply();
        let fork = ForkConversationRequest {
            conversation_id: "talk".into(),
            new_conversation_id: "fork".into(),
            ..Default::default()
        };
        session.conversations().fork_conversation(fork).await.reply();
        say(&session, "fork", vec![user("And the weather?")]).await;
        session.end("ended").await;
        let soft = ForgetRequest { conversation_id: "talk".into(), ..forget("newest", ForgetMode::Soft) };
        session.memory().forget(soft).await.reply();
        let mut world = Self { session, names: Vec::new(), before: String::new() };
        for id in OTHERS {
            let stored = world.stored(id).await;
            world.names.extend(stored.into_iter().map(|utterance| utterance.utterance_id));
        }
        world.before = world.seen().await;
        world
    }

    async fn stored(&self, id: &str) -> Vec<Utterance> {
        let all =
            ListUtterancesRequest { include_archive: true, include_forgotten: true, ..Default::default() };
        self.session.list(ListUtterancesRequest { conversation_id: id.into(), ..all }).await
    }

    /// Everything that others see.
    async fn seen(&self) -> String {
        let mut seen = String::new();
        for id in OTHERS {
            let conversation_id = id.to_owned();
            let view = ConversationView::Full.into();
            let get = GetConversationRequest { conversation_id, view, ..Default::default() };
            let conversation = self.session.conversations().get_conversation(get).await.reply();
            let get = GetSummaryRequest { conversation_id: id.into(), ..Default::default() };
            let summary = self.session.conversations().get_summary(get).await.reply();
            seen += &format!("{conversation:?}\n{summary:?}\n{:?}\n", self.stored(id).await);
        }
        let request = RememberRequest {
            recipient_id: "alice".into(),
            prompt: "code room Oslo".into(),
            scope: RememberScope::Recipient.into(),
            ..Default::default()
        };
        seen + &format!("{:?}", self.session.memory().remember(request).await.reply())
    }

    /// An id of somebody else's utterance, or one near it, or none's.
    fn name(&self, random: &mut Random) -> String {
        let name = random.pick(&self.names).unwrap_or_default();
        match (random.below(4), name.rsplit_once('-')) {
            (0, _) => format!("m{}", random.below(4)),
            (1, Some((lineage, _))) => format!("{lineage}-{}", random.between(1, 9)),
            _ => name,
        }
    }

    fn lie(&self, random: &mut Random, case: u64) -> (ImportHeader, Value) {
        let own = format!("{MALLORY}-{case}");
        let mut id = || match random.below(3) {
            0 => random.pick(&OTHERS).unwrap_or_default().to_owned(),
            _ => own.clone(),
        };
        let (named, claimed) = (id(), id());
        let messages: Vec<Value> = (0..random.between(1, 6)).map(|_| self.message(random)).collect();
        let mut conversation = json!({"id": claimed, "title": TEXTS[0], "summary": TEXTS[1],
            "startedAt": "2026-01-01T10:00:00.000Z", "messages": messages});
        if random.percent(40) {
            conversation["endedAt"] = json!("2026-01-01T11:00:00.000Z");
        }
        if random.percent(40) {
            conversation["utterdSummaries"] = json!([{"summary": TEXTS[0], "conversationCount": 1,
                "startDate": "2026-01-01T10:00:00.000Z", "endDate": "2026-01-01T11:00:00.000Z"}]);
        }
        let header = ImportHeader {
            recipient_id: MALLORY.into(),
            conversation_id: if random.percent(50) { named } else { String::new() },
            into_existing: random.percent(50),
            ..Default::default()
        };
        (header, json!({"conversations": [conversation]}))
    }

    fn message(&self, random: &mut Random) -> Value {
        let (role, content) = (random.pick(&["user", "assistant"]), random.pick(&TEXTS));
        let mut message = json!({"role": role, "content": content});
        for field in ["id", "utterdOrigin", "utterance_id", "conversation_id", "recipient_id"] {
            if random.percent(70) {
                message[field] = json!(self.name(random));
            }
        }
        if random.percent(30) {
            message["utterdEditedFrom"] = json!([self.name(random), self.name(random)]);
        }
        message
    }

    /// Makes every kind of destructive call in a conversation, in a random order.
    async fn destroy(&self, random: &mut Random, id: &str) {
        let mut kinds: Vec<usize> = (0..10).collect();
        for _ in 0..random.between(2, 5) {
            let kind = kinds.swap_remove(random.below(kinds.len()));
            if let Some(in_forks) = self.one(random, kind, id).await {
                assert_eq!(in_forks, InForks { conversation_count: Some(0), utterance_count: Some(0) });
            }
        }
    }

    /// Makes a call; some are refused. Returns what it says that it removed elsewhere.
    async fn one(&self, random: &mut Random, kind: usize, id: &str) -> Option<InForks> {
        let (conversation_id, recipient_id) = (id.to_owned(), MALLORY.to_owned());
        let (memory, conversations) = (self.session.memory(), self.session.conversations());
        let utterance_id = random.pick(&self.stored_if_there(id).await).unwrap_or_default();
        match kind {
            0..3 => {
                let mode = if kind == 2 { ForgetMode::Soft } else { ForgetMode::Hard };
                let told = random.pick(&["all", "newest", "sequence:1-9", "about:code"]).unwrap_or_default();
                let dry_run = kind == 1;
                let request = ForgetRequest { conversation_id, dry_run, ..forget(told, mode) };
                memory.clone().forget(request).await.ok()?.into_inner().in_forks
            }
            3 => {
                let sequences = vec![SequenceRange { first: 1, last: random.between(1, 6) as i64 }];
                let selector = Some(ForgetSelector { sequences, ..Default::default() });
                let mode = ForgetMode::Hard.into();
                let request =
                    ForgetRequest { conversation_id, selector, mode, exact: true, ..Default::default() };
                memory.clone().forget(request).await.ok()?.into_inner().in_forks
            }
            4 => {
                let replace_after = Some(random.below(4) as i64);
                let said = MemorizeRequest { replace_after, ..memorize(vec![user("Instead.")]) };
                let request = MemorizeRequest { conversation_id, recipient_id, ..said };
                memory.clone().memorize(request).await.ok()?.into_inner().in_forks
            }
            5 => {
                let named = NewUtterance { utterance_id: self.name(random), ..user("Upserted.") };
                let said = MemorizeRequest { upsert: true, ..memorize(vec![named]) };
                let request = MemorizeRequest { conversation_id, recipient_id, ..said };
                memory.clone().memorize(request).await.ok()?.into_inner().in_forks
            }
            6 | 7 => {
                let edit_mode = if kind == 6 { EditMode::InPlace } else { EditMode::Fork };
                let request = UpdateUtteranceRequest {
                    conversation_id,
                    utterance_id,
                    content: "Edited.".into(),
                    edit_mode: edit_mode.into(),
                    update_mask: mask(&["content"]),
                    ..Default::default()
                };
                let response = conversations.clone().update_utterance(request).await.ok()?.into_inner();
                if !response.forked_conversation_id.is_empty() {
                    let all = forget("all", ForgetMode::Hard);
                    let request = ForgetRequest { conversation_id: response.forked_conversation_id, ..all };
                    memory.clone().forget(request).await.reply();
                }
                None
            }
            8 => {
                let keep_recent = Some(random.below(2) as i32);
                let request = CompactConversationRequest {
                    conversation_id,
                    keep_recent,
                    no_summary: true,
                    ..Default::default()
                };
                self.session.compactions().compact_conversation(request).await.ok().map(|_| None)?
            }
            _ => {
                let request = DeleteConversationRequest { conversation_id, ..Default::default() };
                conversations.clone().delete_conversation(request).await.ok().map(|_| None)?
            }
        }
    }

    /// The ids of what a conversation stores; none if it was deleted.
    async fn stored_if_there(&self, id: &str) -> Vec<String> {
        let request = ListUtterancesRequest { conversation_id: id.into(), ..Default::default() };
        let listed = self.session.conversations().list_utterances(request).await;
        let utterances = listed.map_or_else(|_| Vec::new(), |response| response.into_inner().utterances);
        utterances.into_iter().map(|utterance| utterance.utterance_id).collect()
    }
}

async fn say(session: &Session, id: &str, utterances: Vec<NewUtterance>) {
    let (conversation_id, recipient_id) = (id.to_owned(), "alice".to_owned());
    let request = MemorizeRequest { conversation_id, recipient_id, ..memorize(utterances) };
    session.memory().memorize(request).await.reply();
}
