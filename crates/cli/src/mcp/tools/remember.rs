//! `remember`: finds what was said.

use std::time::SystemTime;

use prost_types::Timestamp;
use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;

use super::role::Role;
use crate::{
    args::choice,
    mcp::{
        bounds::{ANSWER_BYTES, cut},
        tool::{Aliases, Answer, Effect, Fault, Memory, Tool},
        transcript::written,
    },
    terminal::text,
};
use utterd_formats as formats;
use utterd_rpc::proto::{Match, RememberFilter, RememberRequest, RememberResponse, RememberScope, Utterance};

/// Matches, by default.
const LIMIT: i64 = 10;
/// The most matches.
const MOST: i64 = 50;
/// Characters of a match's content, by default.
const CHARACTERS: i64 = 1_000;
/// The end of a content that is cut off.
const CUT: &str = " […]";

/// Finds messages.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Remember {
    /// A question or a few words. Without it, the newest messages are found.
    prompt: Option<String>,
    /// Default: all conversations, current and past.
    conversation_id: Option<String>,
    /// Whose conversations. Default: this server's recipient.
    recipient_id: Option<String>,
    /// `window`: what is in view; `conversation`: all of one conversation; `recipient`: all conversations. Default: conversation with a conversation_id, else recipient.
    scope: Option<Scope>,
    /// Only what this speaker said.
    role: Option<Role>,
    /// A time in UTC: 2026-11-20, 2026-11-20T10:00:00Z, yesterday, 3 days ago.
    since: Option<String>,
    /// The same; of a day, its beginning.
    before: Option<String>,
    /// Default: 10 matches.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<i64>,
    /// Cuts each match's content. Default: 1000.
    #[schemars(range(min = 1))]
    max_characters: Option<i64>,
}

choice! {
    /// Where to search.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Scope means RememberScope {
        Window = Window,
        Conversation = Conversation,
        Recipient = Recipient,
    }
}

impl Tool for Remember {
    const NAME: &'static str = "remember";
    const TITLE: &'static str = "Remember what was said";
    const DESCRIPTION: &'static str = "Find what was said, in this and in past conversations, by subject, speaker or time. \
         Use it before you say that you do not know something that the user may have told you before.";
    const EFFECT: Effect = Effect::Reads;
    const RARE: &'static [&'static str] = &["recipient_id", "scope", "max_characters"];
    const ALIASES: Aliases = &[
        ("prompt", &["query", "q", "question", "search", "search_query", "text", "keywords"]),
        ("limit", &["max_results", "top_k", "count"]),
        ("since", &["start_time", "from"]),
        ("before", &["end_time"]),
        ("role", &["speaker"]),
    ];

    async fn call(self, memory: &Memory) -> Result<Answer, Fault> {
        let characters = within(self.max_characters, CHARACTERS, i64::MAX, "max_characters")?;
        let request = request(memory, self).await?;
        let searched = request.filter.as_ref().map(searched).unwrap_or_default();
        let mut found = memory.server.memory().remember(request).await?.into_inner();
        let all = found.matches.len();
        let mut bytes = ANSWER_BYTES;
        let characters = usize::try_from(characters).unwrap_or(usize::MAX);
        found.matches.retain_mut(|found| fits(found, characters, &mut bytes));
        let is_more = !found.next_page_token.is_empty() || found.matches.len() < all;
        Answer::new(&found, told(&found, is_more) + &searched)
    }
}

/// Reduces a match to what is told of it, within this many characters; returns whether any of the `bytes` was left for it.
fn fits(found: &mut Match, characters: usize, bytes: &mut usize) -> bool {
    let has_room = *bytes > 0;
    let mut said = found.utterance.take().unwrap_or_default();
    if said.content.is_empty() {
        said.content = text::said(&said).join("\n");
    }
    let end = said.content.char_indices().nth(characters).map_or(said.content.len(), |(end, _)| end);
    let is_cut = cut(&mut said.content, end.min(*bytes));
    *bytes -= said.content.len();
    if is_cut {
        said.content += CUT;
    }
    let Utterance { sequence, utterance_id, role, name, content, create_time, .. } = said;
    let told = Utterance { sequence, utterance_id, role, name, content, create_time, ..Default::default() };
    found.utterance = Some(told);
    has_room
}

async fn request(memory: &Memory, arguments: Remember) -> Result<RememberRequest, Fault> {
    let usual = if arguments.conversation_id.is_some() { Scope::Conversation } else { Scope::Recipient };
    let scope = arguments.scope.unwrap_or(usual).wire();
    let limit = within(arguments.limit, LIMIT, MOST, "limit")?;
    let (conversation_id, recipient_id) = match (scope, arguments.conversation_id) {
        (RememberScope::Recipient, None) => (String::new(), memory.recipient(arguments.recipient_id)),
        (_, named) => memory.address(named, arguments.recipient_id).await?,
    };
    let filter = RememberFilter {
        roles: arguments.role.into_iter().map(|role| role.wire().into()).collect(),
        start_time: time(arguments.since, "since")?,
        end_time: time(arguments.before, "before")?,
        ..Default::default()
    };
    Ok(RememberRequest {
        conversation_id,
        recipient_id,
        prompt: arguments.prompt.unwrap_or_default(),
        filter: Some(filter),
        scope: scope.into(),
        page_size: i32::try_from(limit).unwrap_or_default(),
        ..Default::default()
    })
}

/// The number that was given, or else `usual`; an error unless it is from 1 to `most`.
fn within(given: Option<i64>, usual: i64, most: i64, name: &str) -> Result<i64, Fault> {
    let number = given.unwrap_or(usual);
    match (1..=most).contains(&number) {
        true => Ok(number),
        false if most == i64::MAX => Err(Fault::Wrong(format!("{name}: is {number}; accepted: 1 or more."))),
        false => Err(Fault::Wrong(format!("{name}: is {number}; accepted: 1 to {most}."))),
    }
}

fn time(given: Option<String>, name: &str) -> Result<Option<Timestamp>, Fault> {
    let Some(text) = given.filter(|text| !text.is_empty()) else { return Ok(None) };
    let time = formats::moment(&text, jiff::Timestamp::now());
    let accepted =
        "accepted: 2026-11-20, 2026-11-20T10:00:00Z, today, yesterday, Monday, 3 days ago, last week";
    let time = time.ok_or_else(|| Fault::Wrong(format!("{name}: is {text:?}; {accepted}.")))?;
    Ok(Some(SystemTime::from(time).into()))
}

/// The times that were searched: a relative one is relative to UTC, which a caller may not expect.
fn searched(filter: &RememberFilter) -> String {
    let named =
        |name: &str, time: &Option<Timestamp>| time.map(|time| format!(" {name} {time}")).unwrap_or_default();
    match named("since", &filter.start_time) + &named("before", &filter.end_time) {
        none if none.is_empty() => none,
        times => format!("Searched:{times}.\n"),
    }
}

fn told(found: &RememberResponse, is_more: bool) -> String {
    if found.matches.is_empty() {
        return "Nothing was found. Try other words, or leave arguments out; get_conversation with list_recent lists what \
                past conversations were about.\n"
            .into();
    }
    let mut text: String = found.matches.iter().map(line).collect();
    if is_more {
        text += "There is more: raise limit, or be more specific about what to look for.\n";
    }
    if text.contains(CUT) {
        text += "[…] is cut off: max_characters shows more.\n";
    }
    text
}

fn line(found: &Match) -> String {
    let said = found.utterance.clone().unwrap_or_default();
    let time = written(said.create_time.as_ref());
    format!(
        "[conversation {}, {}, {time}] {}: {}\n",
        found.conversation_id,
        said.sequence,
        text::speaker(&said),
        said.content
    )
}
