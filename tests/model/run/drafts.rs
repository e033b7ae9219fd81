//! Turns what a command says into the utterances of a request.

use utterd::proto::{NewUtterance, Role, ToolCall};

use super::Run;
use crate::{
    commands::{Given, Say, Who},
    naive::{Conversation, Policy, Said, time},
    text::{CALLS, NAMES, TOOLS, content, marker, result},
};

impl Run {
    /// The batch, each utterance with its own marker. What a result answers depends on what is said before
    /// it.
    pub(super) fn drafts(&mut self, says: &[Say], conversation: Option<&Conversation>) -> Vec<NewUtterance> {
        let mut scratch = match conversation {
            Some(conversation) => conversation.clone(),
            None => Conversation::new(0, "", "", Policy::rolling(0, 0, 0, 0), 0),
        };
        let mut drafts = Vec::new();
        for say in says {
            self.markers += 1;
            let draft = self.draft(say, &scratch);
            scratch.note(&draft);
            drafts.push(draft);
        }
        drafts
    }

    fn draft(&self, say: &Say, so_far: &Conversation) -> NewUtterance {
        let marker = marker(self.markers);
        let mut draft = NewUtterance {
            utterance_id: given_id(say.id, self.markers, so_far),
            name: say.name.map(|name| pick(&NAMES, name)).unwrap_or_default(),
            content: content(say.text, &marker),
            turn_number: say.turn.map(|off| so_far.last_turn() + i32::from(off)),
            create_time: say.ago.map(|minutes| time(self.now() - i64::from(minutes) * 60_000_000)),
            pinned: say.pinned,
            metadata: say.note.then(|| ("team".to_owned(), "red".to_owned())).into_iter().collect(),
            ..NewUtterance::default()
        };
        if say.extras {
            draft.extras_json = format!("{{\"signature\": \"{marker}\"}}");
            draft.extras_token_count = 5;
        }
        match speaker(&say.who, so_far) {
            Speaker::Plain(role) => draft.role = role.into(),
            Speaker::Tool(call) => {
                draft.role = Role::Tool.into();
                draft.tool_call_id = call;
                draft.content = result(say.text, &marker);
            }
            Speaker::Silent => draft.content = String::new(),
        }
        if matches!(say.who, Who::Silence | Who::Calls(_) | Who::Assistant) {
            draft.role = Role::Assistant.into();
            draft.awaits_answer = say.awaits;
        }
        if let Who::Calls(calls) = &say.who {
            draft.tool_calls = calls.iter().map(|call| tool_call(*call, &marker)).collect();
            draft.content = if say.text.is_multiple_of(2) { String::new() } else { draft.content };
        }
        draft
    }
}

enum Speaker {
    Plain(Role),
    Tool(String),
    Silent,
}

fn speaker(who: &Who, so_far: &Conversation) -> Speaker {
    let open = || so_far.pairing().open.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    let late = |which: u8| so_far.any_late().filter(|_| which.is_multiple_of(2));
    match who {
        Who::System => Speaker::Plain(Role::System),
        Who::User => Speaker::Plain(Role::User),
        Who::Assistant | Who::Calls(_) => Speaker::Plain(Role::Assistant),
        Who::Answer(which) => match open().get(usize::from(*which) % open().len().max(1)) {
            Some(call) => Speaker::Tool(call.clone()),
            None => late(*which).map_or(Speaker::Plain(Role::Assistant), Speaker::Tool),
        },
        Who::Result(call) => Speaker::Tool(pick(&CALLS, *call)),
        Who::Stray => Speaker::Tool(String::new()),
        Who::Silence => Speaker::Silent,
        Who::Nobody => Speaker::Plain(Role::Unspecified),
    }
}

fn tool_call(id: u8, marker: &str) -> ToolCall {
    let arguments_json = format!("{{\"order\": \"{marker}\"}}");
    ToolCall { id: pick(&CALLS, id), name: pick(&TOOLS, id), arguments_json }
}

fn given_id(given: Given, number: u32, so_far: &Conversation) -> String {
    let earlier = |wanted: bool, which: u8| {
        let has = |said: &&Said| said.what.utterance_id.is_empty() != wanted && !said.id.is_empty();
        let ids: Vec<_> = so_far.said.iter().filter(has).map(|said| said.id.clone()).collect();
        ids.get(usize::from(which) % ids.len().max(1)).cloned().unwrap_or_default()
    };
    match given {
        Given::ByServer => String::new(),
        Given::New => format!("said-{number}"),
        Given::Earlier(which) => earlier(true, which),
        Given::Assigned(which) => earlier(false, which),
    }
}

fn pick(names: &[&str], which: u8) -> String {
    names[usize::from(which) % names.len()].to_owned()
}
