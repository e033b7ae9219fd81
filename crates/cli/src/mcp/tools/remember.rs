//! `remember`: finds what was said.

use std::time::SystemTime;

use prost_types::Timestamp;
use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};

use super::role::Role;
use crate::{
    args::choice,
    mcp::{
        bounds::{ANSWER_BYTES, cut},
        tool::{Aliases, Effect, Fault, Memory, Told, Tool},
        transcript::written,
    },
    terminal::text,
};
use utterd_formats as formats;
use utterd_rpc::proto::{self, RememberFilter, RememberRequest, RememberScope};

/// Matches, by default.
const LIMIT: i64 = 10;
/// The most matches.
const MOST: i64 = 50;
/// Characters of a match's content, by default.
const CHARACTERS: i64 = 1_000;

/// Finds messages.
pub struct Remember;

/// The tool's arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
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

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// The best first; without a prompt the newest first.
    matches: Vec<Match>,
    /// Whether there are more matches than the limit allows.
    more: bool,
}

/// A message that was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Match {
    /// The conversation that it was said in.
    conversation_id: String,
    /// Its number in that conversation, from 1.
    sequence: i64,
    /// Its id.
    utterance_id: String,
    /// Who said it.
    role: String,
    /// The name of the person or the tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    /// When it was said, ISO 8601.
    timestamp: String,
    /// What was said.
    content: String,
    /// Whether the end of the content is cut off; a larger max_characters shows more.
    cut: bool,
    /// How much of the prompt it covers, from 0 to 1.
    relevance: f64,
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
    type Arguments = Arguments;
    type Answer = Found;

    async fn call(memory: &Memory, arguments: Arguments) -> Result<Told<Found>, Fault> {
        let characters = within(arguments.max_characters, CHARACTERS, i64::MAX, "max_characters")?;
        let request = request(memory, arguments).await?;
        let searched = request.filter.as_ref().map(searched).unwrap_or_default();
        let response = memory.server.memory().remember(request).await?.into_inner();
        let matches = response.matches.into_iter().map(|found| shown(found, characters)).collect();
        let mut found = Found { matches, more: !response.next_page_token.is_empty() };
        found.bound(ANSWER_BYTES);
        Ok(Told { text: told(&found) + &searched, answer: found })
    }
}

impl Found {
    /// Leaves out what is beyond this many bytes of content.
    fn bound(&mut self, mut bytes: usize) {
        let fits = |found: &mut Match| {
            let has_room = bytes > 0;
            found.cut |= cut(&mut found.content, bytes);
            bytes -= found.content.len();
            has_room
        };
        let all = self.matches.len();
        self.matches.retain_mut(fits);
        self.more |= self.matches.len() < all;
    }
}

async fn request(memory: &Memory, arguments: Arguments) -> Result<RememberRequest, Fault> {
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

fn shown(found: proto::Match, characters: i64) -> Match {
    let relevance = found.relevance();
    let utterance = found.utterance.unwrap_or_default();
    let role = text::role(utterance.role());
    let timestamp = written(utterance.create_time.as_ref());
    let whole =
        if utterance.content.is_empty() { text::said(&utterance).join("\n") } else { utterance.content };
    let end = usize::try_from(characters).ok().and_then(|count| whole.char_indices().nth(count));
    let content = match end {
        Some((end, _)) => whole[..end].to_owned(),
        None => whole,
    };
    Match {
        conversation_id: found.conversation_id,
        sequence: utterance.sequence,
        utterance_id: utterance.utterance_id,
        role,
        name: utterance.name,
        timestamp,
        content,
        cut: end.is_some(),
        relevance,
    }
}

fn told(found: &Found) -> String {
    if found.matches.is_empty() {
        return "Nothing was found. Try other words, or leave arguments out; get_conversation with list_recent lists what \
                past conversations were about.\n"
            .into();
    }
    let mut text: String = found.matches.iter().map(line).collect();
    if found.more {
        text += "There is more: raise limit, or be more specific about what to look for.\n";
    }
    if found.matches.iter().any(|found| found.cut) {
        text += "[…] is cut off: max_characters shows more.\n";
    }
    text
}

fn line(found: &Match) -> String {
    let name = if found.name.is_empty() { String::new() } else { format!(" {}", found.name) };
    let cut = if found.cut { " […]" } else { "" };
    format!(
        "[conversation {}, {}, {}] {}{name}: {}{cut}\n",
        found.conversation_id, found.sequence, found.timestamp, found.role, found.content
    )
}
