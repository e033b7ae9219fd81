//! Conversations with words in every place that stores any, and forgetting them.

use std::sync::Mutex;

use futures::stream;
use tokio::task::JoinHandle;
use utterd::{
    engine::{Caller, models::llm::Task},
    proto::import_conversation_request::Message as In,
};

use super::{
    reads::{self, Read},
    step::Step,
    words::{CONTROL, WORDS, word},
};
use crate::support::{
    model::{Call, Model},
    prelude::*,
};

/// The conversations, except for the fork that an edit makes; the first two have compactions.
const CONVERSATIONS: [&str; 5] = ["trip", "detour", "ended", "dropped", "imported"];
const RECIPIENTS: [&str; 3] = ["ann", "bob", "cid"];

/// The server and the state of the story.
pub struct Story {
    pub session: Session,
    model: Arc<Model>,
    /// The start of the trace.
    start: String,
    sent: Vec<Step>,
    conversations: Vec<String>,
    /// What the model was shown since the words were forgotten.
    shown: Arc<Mutex<String>>,
}

impl Story {
    /// Says most of it, and lets a model summarise the first compaction.
    pub async fn told(session: Session, model: Arc<Model>) -> Self {
        let (start, shown) = (session.cursor(), Arc::default());
        let conversations = CONVERSATIONS.map(str::to_owned).into();
        let mut story = Self { session, model, start, sent: Vec::new(), conversations, shown };
        let answering = story.answer(Answers::new(format!(
            "- The word of the gate is {}, not {CONTROL}: the keeper told the night shift twice on Monday.\n\
             - The word of the dyke is {CONTROL}, as the keeper wrote down on 12 May, and told nobody since.\n\
             - The word of the mill is not known: {CONTROL} was tried on Monday, and it did not open the mill.",
            word::TOLD
        ), [word::TITLE, word::CLOSING]));
        story.say_the_dropped().await;
        story.end_one().await;
        story.import().await;
        story.begin().await;
        story.compact("trip").await;
        story.until_final("trip").await;
        story.until_closed("ended").await;
        answering.abort();
        story.fork().await;
        story
    }

    /// Says the rest and compacts it too, which folds the first summary; two calls to the model are left
    /// waiting.
    pub async fn folded(&mut self) -> [Call; 2] {
        for conversation in ["trip", "detour"] {
            self.go_on(conversation).await;
            self.compact(conversation).await;
            assert!(self.was_folded(conversation).await, "an undo would bring what was folded back");
        }
        self.say("trip", vec![secret(word::WINDOW), secret(CONTROL)]).await;
        [self.model.called().await, self.model.called().await]
    }

    /// Hard-forgets each word while the model is working; then the model responds with such a word.
    pub async fn forget(&mut self, calls: [Call; 2]) {
        let named = |word: &str| format!("id:{}", id(word));
        for (conversation, instructions) in [
            ("trip", "sequence:1".to_owned()),
            ("detour", named(word::ARCHIVED)),
            ("trip", named(word::NAME)),
            ("trip", format!("about:{}", word::EDITED_NEW)),
            ("detour", format!("about:{}", word::RESULT)),
            ("trip", named(word::PINNED)),
            ("trip", named(word::SOFT)),
            ("trip", named(word::FOLDED)),
            ("detour", format!("about:{}", word::IN_FLIGHT)),
            ("trip", format!("about:{}", word::WINDOW)),
            ("ended", format!("about:{}", word::TITLE)),
            ("ended", format!("about:{}", word::CLOSING)),
            ("dropped", format!("about:{}", word::DROPPED)),
            ("imported", format!("about:{}", word::IMPORTED)),
        ] {
            self.forget_in(conversation, instructions, ForgetMode::Hard).await;
        }
        let edited = self.conversations.last().expect("the edit's fork").clone();
        self.forget_in(&edited, format!("about:{}", word::EDITED_IN_FORK), ForgetMode::Hard).await;
        for call in calls {
            assert!(call.shown().contains(word::TOLD), "{}", call.shown());
            call.tell(&format!("- The words of the gate are {} and {}.", word::TOLD, word::IN_FLIGHT));
        }
        let answers = Answers::new(format!("- The word of the gate is {CONTROL}."), [CONTROL; 2]);
        self.shown.lock().expect("nobody panicked").clear();
        while let Some(call) = self.model.take(0) {
            let shown = call.shown();
            match WORDS.iter().any(|word| shown.contains(word)) {
                // requested between one forget and the next
                true => {
                    call.tell(&format!("Title: The ledger of {}\nSummary: {}.", word::TITLE, word::CLOSING))
                }
                false => answers.give(call, &self.shown),
            }
        }
        self.answer(answers);
        for conversation in self.conversations.clone() {
            self.until_final(&conversation).await;
        }
        self.until_closed("ended").await;
        let standing = self.session.server.engine().llm_standing(&Caller::default());
        assert!(standing.expect("there is a model").dropped >= 2, "both answers came too late");
    }

    /// Undoes all compactions; a fork has only its own.
    pub async fn undo(&mut self) {
        for conversation in ["trip", "detour", "trip"] {
            let conversation_id = conversation.to_owned();
            self.send(Step::Undo(UndoCompactionRequest { conversation_id, ..Default::default() })).await;
        }
    }

    /// Everything a client can read that contains [`CONTROL`].
    pub async fn texts(&self) -> Vec<Read> {
        let prompt = format!("{CONTROL} {}", WORDS.join(" "));
        let mut texts = Vec::new();
        for conversation in &self.conversations {
            texts.extend(reads::texts(&self.session, conversation, &prompt).await);
        }
        for recipient in RECIPIENTS {
            texts.push(reads::listed(&self.session, recipient).await);
        }
        texts
    }

    /// What compactions would make of windows that are full again.
    pub async fn previews(&self) -> [Read; 2] {
        [reads::preview(&self.session, "trip").await, reads::preview(&self.session, "detour").await]
    }

    /// Repeats the earlier requests; the responses.
    pub async fn again(&self) -> Vec<Read> {
        let mut answers = Vec::new();
        for step in &self.sent {
            let text = step.send(&self.session).await;
            answers.push(Read { asked: "again".to_owned(), about: format!("{step:?}"), text });
        }
        answers
    }

    /// What describes everything, but never contains what was said.
    pub async fn traces(&self) -> Vec<Read> {
        let events = reads::events(&self.session, &self.start).await;
        let compactions = reads::compactions(&self.session, "trip").await;
        let read = |asked: &str, text| Read { asked: asked.to_owned(), about: "trip".to_owned(), text };
        vec![read("events", events), read("compactions", compactions)]
    }

    /// What the model was shown since the words were forgotten.
    pub fn shown(&self) -> Read {
        let text = self.shown.lock().expect("nobody panicked").clone();
        Read { asked: "shown".to_owned(), about: "the model".to_owned(), text }
    }

    async fn begin(&mut self) {
        let (preset, summary_token_limit) = (PolicyPreset::Session.into(), Some(120));
        self.create("trip", "ann", Policy { preset, summary_token_limit, ..Default::default() }).await;
        let fields = NewUtterance {
            name: word::NAME.to_owned(),
            metadata: [("note".to_owned(), word::METADATA.to_owned())].into(),
            extras_json: json!({ "audio": word::EXTRAS }).to_string(),
            ..named_secret(word::NAME)
        };
        let pinned = NewUtterance { pinned: true, ..named_secret(word::PINNED) };
        let mut said = vec![system(&format!("Guard the gate. Its keeper is {}.", word::INSTRUCTION))];
        said.extend([named_secret(word::ARCHIVED), fields, named_secret(word::EDITED_OLD)]);
        said.extend(exchange("a", word::TOOL, word::ARGUMENTS, word::RESULT));
        said.extend(exchange("b", CONTROL, CONTROL, CONTROL));
        said.extend([pinned, named_secret(word::SOFT), named_secret(word::FOLDED), secret(CONTROL)]);
        said.extend((1..=20).map(filler));
        said.extend([named_secret(word::IN_FLIGHT), secret(CONTROL)]);
        self.say("trip", said).await;
        self.edit(word::EDITED_OLD, word::EDITED_NEW, EditMode::InPlace).await;
        self.edit(word::SOFT, word::EDITED_IN_FORK, EditMode::Fork).await;
        self.note_new_conversations("ann").await;
        self.forget_in("trip", format!("id:{}", id(word::SOFT)), ForgetMode::Soft).await;
    }

    async fn note_new_conversations(&mut self, recipient: &str) {
        let request = ListConversationsRequest { recipient_id: recipient.to_owned(), ..Default::default() };
        let listed = self.session.conversations().list_conversations(request).await.reply().conversations;
        let ids = listed.into_iter().map(|conversation| conversation.conversation_id);
        let new: Vec<_> = ids.filter(|id| !self.conversations.contains(id)).collect();
        self.conversations.extend(new);
    }

    async fn go_on(&mut self, conversation: &str) {
        let mut said: Vec<_> = (21..=52).map(filler).collect();
        said.insert(3, secret(CONTROL));
        said.push(secret(CONTROL));
        self.say(conversation, said).await;
    }

    async fn fork(&mut self) {
        let fork = ForkConversationRequest {
            conversation_id: "trip".to_owned(),
            new_conversation_id: "detour".to_owned(),
            to_recipient_id: "bob".to_owned(),
            ..Default::default()
        };
        self.send(Step::Fork(fork)).await;
    }

    /// What its window drops is not archived: only the summary contains it.
    async fn say_the_dropped(&mut self) {
        let (max_utterances, archive_limit) = (Some(6), Some(0));
        let llm_summaries = Some(false);
        let policy = Policy { max_utterances, archive_limit, llm_summaries, ..Default::default() };
        self.create("dropped", "cid", policy).await;
        for said in [secret(word::DROPPED), secret(CONTROL), secret(word::DROPPED)] {
            self.say("dropped", vec![said]).await;
        }
        self.say("dropped", (1..=6).map(filler).chain([secret(CONTROL)]).collect()).await;
    }

    async fn end_one(&mut self) {
        self.create("ended", "cid", Policy::default()).await;
        let said = vec![
            user(&format!("Please find the ledger of {} for me.", word::TITLE)),
            user(&format!("Please find the ledger of {CONTROL} too.")),
            assistant(&format!("The ledger of {CONTROL} is in the safe, as decided on 12 May.")),
            assistant(&format!("I have put the ledger in the room of {}.", word::CLOSING)),
        ];
        self.say("ended", said).await;
        let end = EndConversationRequest { conversation_id: "ended".to_owned(), ..Default::default() };
        self.send(Step::End(end)).await;
    }

    async fn import(&mut self) {
        let content = json!([
            {"role": "user", "content": [{"type": "text", "text": format!("Where is {}?", word::IMPORTED)}],
                "annotations": {"of": word::IMPORTED_EXTRA}},
            {"role": "assistant", "content": format!("Beside {CONTROL}."), "refusal": CONTROL},
        ]);
        let header = ImportHeader {
            format: ConversationFormat::OpenaiChat.into(),
            conversation_id: "imported".to_owned(),
            recipient_id: "cid".to_owned(),
            ..Default::default()
        };
        let messages = [In::Header(header), In::Chunk(content.to_string().into_bytes())];
        let messages = messages.map(|message| ImportConversationRequest { message: Some(message) });
        self.session.conversations().import_conversation(stream::iter(messages)).await.reply();
    }

    async fn create(&mut self, conversation: &str, recipient: &str, policy: Policy) {
        let create = CreateConversationRequest {
            conversation_id: conversation.to_owned(),
            recipient_id: recipient.to_owned(),
            policy: Some(policy),
            ..Default::default()
        };
        self.send(Step::Create(create)).await;
    }

    async fn say(&mut self, conversation: &str, utterances: Vec<NewUtterance>) {
        let conversation_id = conversation.to_owned();
        self.send(Step::Memorize(MemorizeRequest { conversation_id, utterances, ..Default::default() }))
            .await;
    }

    async fn compact(&mut self, conversation: &str) {
        let conversation_id = conversation.to_owned();
        self.send(Step::Compact(CompactConversationRequest { conversation_id, ..Default::default() })).await;
    }

    async fn edit(&mut self, old: &str, new: &str, mode: EditMode) {
        let edit = UpdateUtteranceRequest {
            conversation_id: "trip".to_owned(),
            utterance_id: id(old),
            content: told(new),
            edit_mode: mode.into(),
            update_mask: mask(&["content"]),
            ..Default::default()
        };
        self.send(Step::Edit(edit)).await;
    }

    async fn forget_in(&mut self, conversation: &str, instructions: String, mode: ForgetMode) {
        let conversation_id = conversation.to_owned();
        let mode = mode.into();
        let forget = ForgetRequest { conversation_id, instructions, mode, ..Default::default() };
        self.send(Step::Forget(forget)).await;
    }

    async fn send(&mut self, step: Step) -> String {
        let step = step.named(format!("attempt-{}", self.sent.len()));
        let answer = step.send(&self.session).await;
        self.sent.push(step);
        answer
    }

    /// From now on, the model answers immediately.
    fn answer(&self, answers: Answers) -> JoinHandle<()> {
        let (model, shown) = (self.model.clone(), self.shown.clone());
        tokio::spawn(async move {
            loop {
                answers.give(model.called().await, &shown);
            }
        })
    }

    async fn was_folded(&self, conversation: &str) -> bool {
        let request = GetSummaryRequest { conversation_id: conversation.to_owned(), ..Default::default() };
        let summary = self.session.conversations().get_summary(request).await.reply();
        summary.segments.iter().any(|segment| segment.level() > 0)
    }

    /// Waits until a model has written the closing of an ended conversation.
    async fn until_closed(&self, id: &str) {
        let conversation_id = id.to_owned();
        let request = WatchCapacityRequest { conversation_id, ..Default::default() };
        let mut watch = self.session.memory().watch_capacity(request).await.reply();
        while watch.message().await.expect("the watch goes on").is_some() {
            let request = GetConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
            let conversation =
                self.session.conversations().get_conversation(request).await.reply().conversation;
            if conversation.is_some_and(|conversation| !conversation.closing_model.is_empty()) {
                return;
            }
        }
        panic!("the watch ended");
    }

    /// Waits until no segment of the conversation waits for a model.
    async fn until_final(&self, conversation: &str) {
        let conversation_id = conversation.to_owned();
        let request = WatchCapacityRequest { conversation_id, ..Default::default() };
        let mut watch = self.session.memory().watch_capacity(request).await.reply();
        while let Some(seen) = watch.message().await.expect("the watch goes on") {
            let summary = seen.capacity.and_then(|capacity| capacity.summary).expect("a summary");
            if summary.provisional_segment_count() == 0 {
                return;
            }
        }
        panic!("the watch ended");
    }
}

/// What the model answers: a text, or a closing about what is named.
struct Answers {
    text: String,
    closing: String,
}

impl Answers {
    fn new(text: String, [title, closing]: [&str; 2]) -> Self {
        let closing =
            format!("Title: The ledger of {title}\nSummary: The ledger of {closing} and {CONTROL}.");
        Self { text, closing }
    }

    /// Answers the call, and notes what it showed.
    fn give(&self, call: Call, shown: &Mutex<String>) {
        shown.lock().expect("nobody panicked").push_str(&format!("{:?}\n", call.material));
        let is_closing = call.material.task == Task::Closing;
        call.tell(if is_closing { &self.closing } else { &self.text });
    }
}

fn id(word: &str) -> String {
    format!("said-{}", WORDS.iter().position(|one| *one == word).expect("a word"))
}

fn told(word: &str) -> String {
    format!("It was decided on 12 May that the word of the gate is {word}.")
}

fn secret(word: &str) -> NewUtterance {
    user(&told(word))
}

fn named_secret(word: &str) -> NewUtterance {
    NewUtterance { utterance_id: id(word), ..secret(word) }
}

fn exchange(call: &str, tool: &str, arguments: &str, found: &str) -> [NewUtterance; 2] {
    let arguments_json = json!({ "path": arguments }).to_string();
    let tool_calls = vec![ToolCall { id: call.to_owned(), name: tool.to_owned(), arguments_json }];
    [NewUtterance { tool_calls, ..assistant("") }, result(call, &format!("error: {found} is locked"))]
}

fn filler(number: usize) -> NewUtterance {
    let text = format!("They talked of the weather and of the road, for the {number}th time, and went on.");
    if number.is_multiple_of(2) { user(&text) } else { assistant(&text) }
}
