//! Random trees of forks, edits, upserts, replacements, imports and deletions, with a secret in each saying:
//! after a hard forget, nothing of it is in any answer or file, and nothing else is gone.
//!
//! `UTTERD_TREES` is the number of trees (10 by default), `UTTERD_TREE_SEED` the seed of the first one (1 by
//! default); a failure names its seed.

use std::collections::{BTreeMap, BTreeSet};

use utterd::{
    config::{DurableEngine, Files, Place, Settings},
    proto::{
        ConversationFormat, DeleteConversationRequest, EditMode, EndConversationRequest,
        ExportConversationRequest, ForgetMode, ForgetRequest, ForgetSelector, ForkConversationRequest,
        GetConversationRequest, GetSummaryRequest, ImportHeader, ListConversationsRequest,
        ListUtterancesRequest, MemorizeRequest, NewUtterance, Policy, RestoreRequest, Role, SequenceRange,
        ToolCall, UpdateUtteranceRequest, Utterance, UtteranceState,
    },
    server::upkeep,
};

use crate::{
    rpc::forgotten::{content, on_a_runtime, reads},
    support::session::{Reply, Session, assistant, forget, mask, memorize, result, user},
};

#[tokio::test]
async fn no_answer_tells_what_was_forgotten_in_a_tree() {
    let number = |name: &str, default: u64| {
        std::env::var(name)
            .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}")))
    };
    let (first, count) = (number("UTTERD_TREE_SEED", 1), number("UTTERD_TREES", 10));
    let (mut forgets, mut forgotten) = (0, 0);
    for seeds in (first..first + count).collect::<Vec<_>>().chunks(10) {
        let session = Session::with(&settings()).await;
        for seed in seeds {
            let tree = Tree::grown(&session, *seed).await;
            (forgets, forgotten) = (forgets + tree.forgets, forgotten + tree.dead.len());
        }
    }
    println!("{count} trees from seed {first}: {forgets} hard forgets of {forgotten} secrets, 0 left");
    assert!(forgotten as u64 > count, "{forgotten} secrets were forgotten");
}

#[test]
fn no_file_of_fjall_holds_what_was_forgotten_in_a_tree() {
    no_file_holds_it(DurableEngine::Fjall);
}

#[test]
fn no_file_of_sled_holds_what_was_forgotten_in_a_tree() {
    no_file_holds_it(DurableEngine::Sled);
}

fn no_file_holds_it(engine: DurableEngine) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let (mut dead, mut alive) = (BTreeSet::new(), BTreeSet::new());
    on_a_runtime(async {
        let settings = Settings {
            backend: utterd::config::Backend::Durable(engine),
            data_dir: path.to_owned(),
            ..settings()
        };
        let session = Session::here(&settings).await;
        for seed in 1..=4 {
            let tree = Tree::grown(&session, seed).await;
            dead.extend(tree.dead.iter().map(|secret| tree.text_of(*secret)));
            alive.extend(tree.alive().await.into_iter().map(|secret| tree.text_of(secret)));
        }
    });
    let files = Files { engine, directory: path.to_owned() };
    upkeep::scrub(&files).expect("the files are rewritten");
    let scrubbed = content(path);
    let left: Vec<_> = dead.iter().filter(|secret| scrubbed.contains(secret.as_str())).collect();
    assert!(left.is_empty(), "of {} forgotten secrets, the files still hold {left:?}", dead.len());
    assert!(!dead.is_empty() && alive.iter().any(|secret| scrubbed.contains(secret.as_str())));
    let verified = upkeep::verify(&Place::Files(files), &Settings::default(), &mut |_| {});
    assert_eq!(verified.expect("the files are read").problems, []);
}

fn settings() -> Settings {
    Settings { max_conversations_retained: 2, ..Settings::default() }
}

/// A number for each secret.
type Secret = usize;
/// A saying, whatever became of it: its first content, what that was edited to in place, and what replaced it.
type Saying = usize;

/// The conversations that come from one, and what was said in them.
struct Tree<'a> {
    session: &'a Session,
    seed: u64,
    dice: Dice,
    /// The saying of each secret.
    sayings: Vec<Saying>,
    /// What the content of a saying was given in place of, in a fork.
    edited_from: Vec<Option<Saying>>,
    /// The sayings of the utterances seen in each conversation.
    seen: BTreeMap<(String, i64), BTreeSet<Saying>>,
    conversations: BTreeSet<String>,
    dead: BTreeSet<Secret>,
    forgets: usize,
    names: usize,
    /// What happened, for the report of a failure.
    story: String,
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut roll = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        roll = (roll ^ (roll >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((roll ^ (roll >> 31)) % sides.max(1) as u64) as usize
    }

    fn one_of<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        all.get(self.below(all.len()))
    }
}

impl<'a> Tree<'a> {
    /// Grows a tree, and checks it after each hard forget.
    async fn grown(session: &'a Session, seed: u64) -> Self {
        let (sayings, edited_from, seen, conversations, dead) = Default::default();
        let mut dice = Dice(seed);
        let steps = 12 + dice.below(24);
        let (forgets, names, story) = (0, 0, String::new());
        let mut tree = Self {
            session,
            seed,
            dice,
            sayings,
            edited_from,
            seen,
            conversations,
            dead,
            forgets,
            names,
            story,
        };
        tree.begin().await;
        for _ in 0..steps {
            tree.step().await;
        }
        let Some(id) = tree.any() else { return tree };
        tree.erase(&id).await;
        tree.check_everything().await;
        tree
    }

    fn name(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}-{}-{}", self.seed, self.names)
    }

    fn recipient(&self) -> String {
        format!("owner-{}", self.seed)
    }

    fn any(&mut self) -> Option<String> {
        let all: Vec<_> = self.conversations.iter().cloned().collect();
        self.dice.one_of(&all).cloned()
    }

    fn text_of(&self, secret: Secret) -> String {
        format!("SEC-{:04}-{secret:04}-X", self.seed)
    }

    /// A text with a new secret of a saying.
    fn text(&mut self, saying: Saying) -> String {
        self.sayings.push(saying);
        format!("The code {} opens the door.", self.text_of(self.sayings.len() - 1))
    }

    fn saying(&mut self, edited_from: Option<Saying>) -> Saying {
        self.edited_from.push(edited_from);
        self.edited_from.len() - 1
    }

    /// The secrets in a text.
    fn secrets(&self, text: &str) -> BTreeSet<Secret> {
        let start = format!("SEC-{:04}-", self.seed);
        let found = text.match_indices(&start).filter_map(|(at, _)| text.get(at + start.len()..)?.get(..4));
        found.filter_map(|number| number.parse().ok()).collect()
    }

    fn sayings_in(&self, utterance: &Utterance) -> BTreeSet<Saying> {
        self.secrets(&format!("{utterance:?}")).into_iter().map(|secret| self.sayings[secret]).collect()
    }

    /// The saying of an utterance's content, or else of its calls.
    fn saying_of(&self, utterance: &Utterance) -> Option<Saying> {
        let content = self.secrets(&utterance.content).into_iter().next();
        content.map(|secret| self.sayings[secret]).or_else(|| self.sayings_in(utterance).into_iter().next())
    }

    async fn begin(&mut self) {
        let id = self.name("root");
        let policy = Policy {
            max_utterances: Some(4 + self.dice.below(8) as i32),
            archive_limit: [None, None, Some(8)][self.dice.below(3)],
            ..Default::default()
        };
        let create = utterd::proto::CreateConversationRequest {
            conversation_id: id.clone(),
            recipient_id: self.recipient(),
            policy: Some(policy),
            ..Default::default()
        };
        self.session.conversations().create_conversation(create).await.reply();
        self.conversations.insert(id.clone());
        for _ in 0..3 {
            self.say(&id).await;
        }
    }

    async fn step(&mut self) {
        self.session.clock.advance(std::time::Duration::from_secs(1));
        let Some(id) = self.any() else { return self.begin().await };
        match self.dice.below(40) {
            0..=9 => self.say(&id).await,
            10..=14 => self.fork(&id).await,
            15..=21 => self.edit(&id, true).await,
            22..=23 => self.edit(&id, false).await,
            24..=25 => self.upsert(&id).await,
            26..=27 => self.replace(&id).await,
            28..=29 => self.silence(&id).await,
            30 => self.restore(&id).await,
            31..=32 => self.import(&id).await,
            33..=34 if self.conversations.len() > 2 => self.delete(&id).await,
            35 if self.conversations.len() > 3 => self.end(&id).await,
            _ => self.erase(&id).await,
        }
    }

    async fn stored(&self, id: &str) -> Vec<Utterance> {
        let conversation_id = id.to_owned();
        let request = ListUtterancesRequest {
            conversation_id,
            include_archive: true,
            include_forgotten: true,
            ..Default::default()
        };
        self.session.list(request).await
    }

    /// Notes what a conversation says.
    async fn look(&mut self, id: &str) -> Vec<Utterance> {
        let stored = self.stored(id).await;
        for utterance in &stored {
            let sayings = self.sayings_in(utterance);
            self.seen.entry((id.to_owned(), utterance.sequence)).or_default().extend(sayings);
        }
        stored
    }

    async fn one(&mut self, id: &str) -> Option<Utterance> {
        let stored = self.look(id).await;
        self.dice.one_of(&stored).cloned()
    }

    /// One utterance with a secret in each of its texts, and perhaps its own id.
    fn noted(&mut self, mut utterance: NewUtterance, saying: Saying) -> NewUtterance {
        if self.dice.below(2) == 0 {
            utterance.metadata.insert("where".to_owned(), self.text(saying));
            utterance.extras_json = format!("{{\"note\":\"{}\"}}", self.text(saying));
        }
        if self.dice.below(3) == 0 {
            utterance.utterance_id = self.name("given");
        }
        utterance
    }

    /// What is said next: a message, or an exchange that may stay open.
    fn drafts(&mut self) -> Vec<NewUtterance> {
        let saying = self.saying(None);
        let content = self.text(saying);
        match self.dice.below(5) {
            0 | 1 => vec![self.noted(user(&content), saying)],
            2 => vec![self.noted(assistant(&content), saying)],
            _ => {
                let ids: Vec<_> = (0..1 + self.dice.below(3)).map(|_| self.name("call")).collect();
                let call = |id: &String| ToolCall {
                    id: id.clone(),
                    name: "find".to_owned(),
                    arguments_json: format!("{{\"pw\":\"{content}\"}}"),
                };
                let said = if self.dice.below(2) == 0 { content.clone() } else { String::new() };
                let calls = NewUtterance { tool_calls: ids.iter().map(call).collect(), ..assistant(&said) };
                let answered = self.dice.below(ids.len() + 1);
                let mut drafts = vec![calls];
                for id in &ids[..answered.max(usize::from(self.dice.below(3) > 0))] {
                    let saying = self.saying(None);
                    let text = self.text(saying);
                    drafts.push(result(id, &text));
                }
                drafts
            }
        }
    }

    async fn say(&mut self, id: &str) {
        let utterances = self.drafts();
        let request =
            MemorizeRequest { conversation_id: id.to_owned(), lenient: true, ..memorize(utterances) };
        // one that has ended refuses
        if self.session.memory().memorize(request).await.is_ok() {
            self.note(format_args!("{id}: say"));
            self.look(id).await;
        }
    }

    async fn fork(&mut self, id: &str) {
        let Some(at) = self.one(id).await.map(|one| one.sequence) else { return };
        let to_recipient_id = if self.dice.below(4) == 0 { "another".to_owned() } else { String::new() };
        let request = ForkConversationRequest {
            conversation_id: id.to_owned(),
            at_sequence: Some(at),
            to_recipient_id,
            ..Default::default()
        };
        if let Ok(response) = self.session.conversations().fork_conversation(request).await {
            let fork = response.into_inner().conversation.unwrap().conversation_id;
            self.branch(id, fork, at).await;
        }
    }

    /// Notes a fork that shares what was said up to a point.
    async fn branch(&mut self, id: &str, fork: String, at: i64) {
        let shared = self.seen.iter().filter(|((of, sequence), _)| of == id && *sequence <= at);
        let shared: Vec<_> =
            shared.map(|((_, at), sayings)| ((fork.clone(), *at), sayings.clone())).collect();
        self.seen.extend(shared);
        self.note(format_args!("{id}: fork {fork} at {at}"));
        self.look(&fork).await;
        self.conversations.insert(fork);
    }

    async fn edit(&mut self, id: &str, as_fork: bool) {
        let Some(target) = self.one(id).await else { return };
        let Some(before) = self.saying_of(&target) else { return };
        if target.state() == UtteranceState::Forgotten {
            return;
        }
        let saying = if as_fork { self.saying(Some(before)) } else { before };
        let content = self.text(saying);
        self.note(format_args!("{id}: edit {}", target.sequence));
        let mode = if as_fork { EditMode::Fork } else { EditMode::InPlace };
        let request = UpdateUtteranceRequest {
            conversation_id: id.to_owned(),
            utterance_id: target.utterance_id,
            content,
            edit_mode: mode.into(),
            update_mask: mask(&["content"]),
            ..Default::default()
        };
        let response = self.session.conversations().update_utterance(request).await.reply();
        match as_fork {
            true => {
                let conversation_id = response.forked_conversation_id.clone();
                let request = GetConversationRequest { conversation_id, ..Default::default() };
                let fork = self.session.conversations().get_conversation(request).await.reply().conversation;
                let at = fork.and_then(|fork| fork.forked_from).map_or(0, |from| from.sequence());
                self.branch(id, response.forked_conversation_id, at).await;
            }
            false => drop(self.look(id).await),
        }
    }

    async fn upsert(&mut self, id: &str) {
        let Some(target) = self.one(id).await else { return };
        let Some(saying) = self.saying_of(&target) else { return };
        let content = self.text(saying);
        self.note(format_args!("{id}: upsert {}", target.sequence));
        let role = target.role();
        let (role, calls) = match role {
            Role::Tool => (role, target.tool_call_id.clone()),
            _ => (role, String::new()),
        };
        let upserted = NewUtterance {
            utterance_id: target.utterance_id,
            role: role.into(),
            content,
            tool_call_id: calls,
            ..Default::default()
        };
        let request = MemorizeRequest {
            conversation_id: id.to_owned(),
            upsert: true,
            lenient: true,
            ..memorize(vec![upserted])
        };
        if self.session.memory().memorize(request).await.is_ok() {
            self.look(id).await;
        }
    }

    async fn silence(&mut self, id: &str) {
        let Some(target) = self.one(id).await else { return };
        let soft = forget(&format!("sequence:{}", target.sequence), ForgetMode::Soft);
        self.session.memory().forget(ForgetRequest { conversation_id: id.to_owned(), ..soft }).await.reply();
    }

    async fn restore(&mut self, id: &str) {
        let Some(target) = self.one(id).await else { return };
        let utterance_ids = vec![target.utterance_id];
        let request = RestoreRequest { conversation_id: id.to_owned(), utterance_ids, ..Default::default() };
        self.session.memory().restore(request).await.reply();
    }

    /// Imports a conversation's own export as another conversation.
    async fn import(&mut self, id: &str) {
        let request = ExportConversationRequest {
            conversation_id: id.to_owned(),
            format: ConversationFormat::PersistedConversations.into(),
            ..Default::default()
        };
        let text = reads::export(self.session, request).await;
        let file = text.split_once('\n').map_or("", |(file, _)| file);
        let imported = self.name("imported");
        self.note(format_args!("{id}: import as {imported}: {file}"));
        let header = ImportHeader {
            conversation_id: imported.clone(),
            recipient_id: self.recipient(),
            ..Default::default()
        };
        self.session.import_with(header, file).await.reply();
        self.look(&imported).await;
        self.conversations.insert(imported);
    }

    async fn delete(&mut self, id: &str) {
        self.note(format_args!("{id}: delete"));
        let request = DeleteConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
        self.session.conversations().delete_conversation(request).await.reply();
        self.conversations.remove(id);
    }

    /// Ends a conversation; those that ended first are no longer retained.
    async fn end(&mut self, id: &str) {
        self.note(format_args!("{id}: end"));
        let request = EndConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
        let _ = self.session.conversations().end_conversation(request).await;
        self.session.server.engine().sweep().await.unwrap();
        let mut left = BTreeSet::new();
        for recipient_id in [self.recipient(), "another".to_owned()] {
            let request = ListConversationsRequest { recipient_id, page_size: 1_000, ..Default::default() };
            let listed = self.session.conversations().list_conversations(request).await.reply();
            left.extend(listed.conversations.into_iter().map(|one| one.conversation_id));
        }
        self.conversations.retain(|one| left.contains(one));
    }

    /// Removes everything after a point, and may say something else.
    async fn replace(&mut self, id: &str) {
        let Some(after) = self.one(id).await.map(|one| one.sequence - 1) else { return };
        let (before, had) = (self.users().await, self.had(id).await);
        let utterances = if self.dice.below(3) == 0 { Vec::new() } else { self.drafts() };
        let request = MemorizeRequest {
            conversation_id: id.to_owned(),
            replace_after: Some(after),
            lenient: true,
            ..memorize(utterances)
        };
        if self.session.memory().memorize(request).await.is_err() {
            return;
        }
        self.note(format_args!("{id}: replace after {after}"));
        let gone = had.into_iter().filter(|at| *at > after).collect();
        self.forgot(id, gone, before).await;
        self.look(id).await;
    }

    /// Forgets for good: one utterance with its exchange, exactly one, or everything.
    async fn erase(&mut self, id: &str) {
        let known: Vec<i64> = self.seen.keys().filter(|(of, _)| of == id).map(|(_, at)| *at).collect();
        self.look(id).await;
        let (before, had) = (self.users().await, self.had(id).await);
        let Some(sequence) = self.dice.one_of(&known).copied() else { return };
        let (instruction, exact) = match self.dice.below(6) {
            0 => ("all".to_owned(), false),
            1 | 2 => (format!("sequence:{sequence}"), true),
            _ => (format!("sequence:{sequence}"), false),
        };
        let is_all = instruction == "all";
        let hard = ForgetRequest { conversation_id: id.to_owned(), ..forget(&instruction, ForgetMode::Hard) };
        let request = match exact {
            true => {
                let range = SequenceRange { first: sequence, last: sequence };
                let selector = ForgetSelector { sequences: vec![range], ..Default::default() };
                ForgetRequest { instructions: String::new(), selector: Some(selector), exact, ..hard }
            }
            false => hard,
        };
        self.note(format_args!("{id}: forget {instruction}, exact: {exact}"));
        let dry = ForgetRequest { dry_run: true, ..request.clone() };
        let would = self.session.memory().forget(dry).await.reply();
        let response = self.session.memory().forget(request).await.reply();
        assert_eq!(would.in_forks, response.in_forks, "seed {}: the dry run counts the same", self.seed);
        assert_eq!(would.evicted, response.evicted, "seed {}", self.seed);
        let mut gone: BTreeSet<i64> = response.forgotten.iter().map(|one| one.sequence).collect();
        gone.extend(had.into_iter().filter(|at| is_all || *at == sequence));
        self.forgot(id, gone, before).await;
    }

    /// The sequences that a conversation stores, or still tells of.
    async fn had(&self, id: &str) -> BTreeSet<i64> {
        let request = GetSummaryRequest { conversation_id: id.to_owned(), ..Default::default() };
        let summary = self.session.conversations().get_summary(request).await.reply();
        let covers = summary.segments.iter().flat_map(|segment| &segment.covers);
        let told = covers.flat_map(|range| range.first..=range.last);
        self.stored(id).await.iter().map(|one| one.sequence).chain(told).collect()
    }

    /// The sayings of the users' utterances in each conversation.
    async fn users(&self) -> BTreeMap<String, BTreeSet<Saying>> {
        let mut users = BTreeMap::new();
        for id in &self.conversations {
            let stored = self.stored(id).await;
            let said = stored.iter().filter(|one| one.role() == Role::User);
            users.insert(id.clone(), said.filter_map(|one| self.saying_of(one)).collect());
        }
        users
    }

    /// Checks that nothing of these utterances is told any more, and that what users said besides is still
    /// there.
    async fn forgot(&mut self, id: &str, gone: BTreeSet<i64>, before: BTreeMap<String, BTreeSet<Saying>>) {
        self.forgets += 1;
        let seen = gone.iter().filter_map(|at| self.seen.get(&(id.to_owned(), *at)));
        let mut dead: BTreeSet<Saying> = seen.flatten().copied().collect();
        let mut next: Vec<Saying> = dead.iter().copied().collect();
        while let Some(saying) = next.pop() {
            next.extend(self.edited_from[saying].filter(|origin| dead.insert(*origin)));
        }
        self.dead.extend((0..self.sayings.len()).filter(|secret| dead.contains(&self.sayings[*secret])));
        let after = self.users().await;
        for (conversation, before) in before {
            let lost: Vec<_> =
                before.difference(&after[&conversation]).filter(|one| !dead.contains(one)).collect();
            assert!(
                lost.is_empty(),
                "seed {}: {conversation} lost {lost:?} with {gone:?} of {id}\n{}",
                self.seed,
                self.story
            );
        }
        for id in &self.conversations {
            let request = GetSummaryRequest { conversation_id: id.clone(), ..Default::default() };
            let summary = self.session.conversations().get_summary(request).await.reply();
            self.refute("utterances", id, &format!("{:?}", self.stored(id).await));
            self.refute("summary", id, &format!("{summary:?}"));
        }
    }

    fn refute(&self, asked: &str, about: &str, text: &str) {
        let told: Vec<_> = self.secrets(text).intersection(&self.dead).copied().collect();
        let Self { seed, story, .. } = self;
        assert!(told.is_empty(), "seed {seed}: {asked} of {about} tells {told:?}: {text}\n{story}");
    }

    fn note(&mut self, what: impl std::fmt::Display) {
        self.story.push_str(&format!("{what}\n"));
    }

    /// Checks everything that a client can read.
    async fn check_everything(&self) {
        if self.dead.is_empty() {
            return;
        }
        let some = self.dead.iter().take(8).map(|secret| self.text_of(*secret)).collect::<Vec<_>>().join(" ");
        for id in &self.conversations {
            for read in reads::texts(self.session, id, &some).await {
                // the prompt is repeated in no answer
                self.refute(&read.asked, id, &read.text);
            }
            self.refute("compactions", id, &reads::compactions(self.session, id).await);
        }
    }

    /// The secrets that some conversation still tells.
    async fn alive(&self) -> BTreeSet<Secret> {
        let mut alive = BTreeSet::new();
        for id in &self.conversations {
            alive.extend(self.secrets(&format!("{:?}", self.stored(id).await)));
        }
        alive
    }
}
