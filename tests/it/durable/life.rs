//! What happens to a store before its files are damaged: a little of everything.

use crate::{
    durable::{answers::Questions, call::Call},
    support::{prelude::*, random::Random},
};

/// The conversations, each with its recipient.
const TALKS: [(&str, &str); 6] = [
    ("trip", "ann"),
    ("flat", "ann"),
    ("garden", "ann"),
    ("taxes", "bob"),
    ("parser", "bob"),
    ("choir", "bob"),
];

/// Forks of conversations, by their parents.
const FORKS: [(&str, &str); 2] = [("gone", "kept"), ("trip", "detour")];

/// A store's life, in parts; the store can be closed between them.
#[derive(Debug)]
pub struct Life {
    random: Random,
    attempts: u32,
    retries: Vec<Call>,
}

impl Life {
    pub fn new() -> Self {
        Self { random: Random::new(1), attempts: 0, retries: Vec::new() }
    }

    /// The beginning: conversations with their own policies, titles and labels.
    pub fn beginning(&mut self) -> Vec<Call> {
        let mut calls = Vec::new();
        for (id, recipient) in TALKS.into_iter().chain([("gone", "bob")]) {
            let request = CreateConversationRequest {
                conversation_id: id.to_owned(),
                recipient_id: recipient.to_owned(),
                title: format!("About the {id}"),
                labels: [("topic".to_owned(), id.to_owned())].into(),
                policy: Some(policy()),
                request_id: self.attempt(),
                ..Default::default()
            };
            calls.push(Call::Create(request));
        }
        self.keep(&calls);
        for (parent, id) in FORKS {
            calls.extend(self.talk(parent, 3));
            let fork = fork(parent, id, &self.attempt());
            self.keep(std::slice::from_ref(&fork));
            calls.push(fork);
        }
        calls
    }

    /// The next part: `rounds` of messages in each conversation, and other changes.
    pub fn part(&mut self, rounds: usize) -> Vec<Call> {
        let mut calls = Vec::new();
        for id in TALKS.map(|(id, _)| id).into_iter().chain(FORKS.map(|(_, id)| id)) {
            calls.extend(self.talk(id, rounds));
            calls.push(forget(id, "newest", ForgetMode::Soft, &self.attempt()));
            calls.push(label(id, &self.attempt()));
        }
        calls.push(Call::Wait(Duration::from_secs(60)));
        self.keep(&calls);
        calls
    }

    /// Hard-forgets and deletes, and rewrites the files.
    pub fn purge(&mut self) -> Vec<Call> {
        let delete = DeleteConversationRequest { conversation_id: "gone".to_owned(), ..Default::default() };
        let mut calls: Vec<_> =
            TALKS.iter().map(|(id, _)| forget(id, "sequence:3", ForgetMode::Hard, &self.attempt())).collect();
        self.keep(&calls);
        calls.extend([Call::Delete(delete), Call::Scrub]);
        calls
    }

    /// One more small write in a conversation.
    pub fn step(&mut self, number: usize) -> Call {
        let (id, _) = TALKS[number % TALKS.len()];
        let call = memorize(id, vec![said(Role::User, &self.sentence())], &self.attempt());
        self.keep(std::slice::from_ref(&call));
        call
    }

    /// The questions that the server must be able to answer by now.
    pub fn questions(&self) -> Questions {
        let forks = FORKS.into_iter().flat_map(|(parent, id)| [parent, id]);
        let conversations = TALKS.map(|(id, _)| id).into_iter().chain(forks).map(str::to_owned).collect();
        Questions { recipients: vec!["ann", "bob"], conversations, retries: self.retries.clone() }
    }

    /// Users ask, tools are called, assistants answer.
    fn talk(&mut self, id: &str, rounds: usize) -> Vec<Call> {
        let mut calls = Vec::new();
        for round in 0..rounds {
            let call = format!("call-{}", self.attempts);
            let given = NewUtterance {
                utterance_id: format!("{id}-{}", self.attempts),
                metadata: [("round".to_owned(), round.to_string())].into(),
                pinned: self.random.percent(10),
                ..said(Role::User, &self.sentence())
            };
            let tool = ToolCall { id: call.clone(), name: "look_up".into(), arguments_json: "{}".into() };
            let calling = NewUtterance { tool_calls: vec![tool], ..said(Role::Assistant, "") };
            let result = NewUtterance { tool_call_id: call, ..said(Role::Tool, &self.sentence()) };
            calls.push(memorize(id, vec![given, calling, result], &self.attempt()));
            calls.push(memorize(id, vec![said(Role::Assistant, &self.sentence())], &self.attempt()));
        }
        self.keep(&calls);
        calls
    }

    fn attempt(&mut self) -> String {
        self.attempts += 1;
        format!("attempt-{:04}", self.attempts)
    }

    fn keep(&mut self, calls: &[Call]) {
        let known: Vec<_> = self.retries.iter().map(|call| call.request_id().to_owned()).collect();
        let new = calls.iter().filter(|call| !call.request_id().is_empty());
        let new = new.filter(|call| !known.iter().any(|id| id == call.request_id()));
        self.retries.extend(new.cloned());
    }

    fn sentence(&mut self) -> String {
        const WORDS: [&str; 16] = [
            "invoice",
            "flight",
            "Tuesday",
            "error",
            "/etc/hosts",
            "because",
            "agreed",
            "42",
            "window",
            "please",
            "order",
            "never",
            "rewrite",
            "Lisbon",
            "0x7f",
            "later",
        ];
        let count = self.random.between(6, 30);
        let words: Vec<_> = (0..count).filter_map(|_| self.random.pick(&WORDS)).collect();
        format!("Number {}: {}.", self.random.below(1_000_000), words.join(" "))
    }
}

fn policy() -> Policy {
    Policy {
        max_utterances: Some(12),
        max_tokens: Some(2_000),
        archive_limit: Some(60),
        summary_token_limit: Some(300),
        expire_after: Some(prost_types::Duration { seconds: 48 * 3_600, nanos: 0 }),
        ..Default::default()
    }
}

fn said(role: Role, content: &str) -> NewUtterance {
    NewUtterance { role: role.into(), content: content.to_owned(), ..Default::default() }
}

fn memorize(id: &str, utterances: Vec<NewUtterance>, request_id: &str) -> Call {
    Call::Memorize(MemorizeRequest {
        conversation_id: id.to_owned(),
        utterances,
        request_id: request_id.to_owned(),
        ..Default::default()
    })
}

fn forget(id: &str, instructions: &str, mode: ForgetMode, request_id: &str) -> Call {
    Call::Forget(ForgetRequest {
        conversation_id: id.to_owned(),
        instructions: instructions.to_owned(),
        mode: mode.into(),
        request_id: request_id.to_owned(),
        ..Default::default()
    })
}

/// A fork at the newest utterance.
fn fork(parent: &str, id: &str, request_id: &str) -> Call {
    Call::Fork(ForkConversationRequest {
        conversation_id: parent.to_owned(),
        new_conversation_id: id.to_owned(),
        request_id: request_id.to_owned(),
        ..Default::default()
    })
}

fn label(id: &str, request_id: &str) -> Call {
    Call::Update(UpdateConversationRequest {
        conversation_id: id.to_owned(),
        labels: [("last".to_owned(), request_id.to_owned())].into(),
        update_mask: Some(prost_types::FieldMask { paths: vec!["labels".to_owned()] }),
        request_id: request_id.to_owned(),
        ..Default::default()
    })
}
