//! The summary, as a message.

use crate::{
    Role, TokenCounter,
    context::{Format, How, Message, SummaryPlacement},
    draft::MESSAGE_TOKENS,
    extract::{Line, Part, Wanted, tell},
    segment::Summary,
};

/// Precedes the lines in a system message.
const SYSTEM_BEFORE: &str = "Summary of the conversation so far:\n";
/// Precede the lines in a user message, around the number of messages.
const USER_BEFORE: [&str; 2] = ["[CONVERSATION HISTORY SUMMARY - ", " messages]\n\n"];
/// Follows the lines in a user message.
const USER_AFTER: &str = "\n[END SUMMARY - Recent conversation continues below]";

/// A summary in a message that a context told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognized<'t> {
    /// What precedes and follows it in the message.
    pub around: [&'t str; 2],
    /// Its lines.
    pub text: &'t str,
    /// How many messages it is about; 1 if it does not say.
    pub messages: u64,
}

/// Finds the summary in a message that a context told, with what was joined to that.
pub fn recognize(role: Role, content: &str) -> Option<Recognized<'_>> {
    match role {
        Role::System => {
            let place = content.find(SYSTEM_BEFORE)?;
            let (before, told) = (&content[..place], &content[place + SYSTEM_BEFORE.len()..]);
            // no line of a summary is empty
            let (text, after) = told.split_once("\n\n").unwrap_or((told, ""));
            let stands_alone = before.is_empty() || before.ends_with("\n\n");
            stands_alone.then_some(Recognized { around: [before.trim_end(), after], text, messages: 1 })
        }
        Role::User => {
            let (count, told) = content.strip_prefix(USER_BEFORE[0])?.split_once(USER_BEFORE[1])?;
            let (text, after) = told.split_once(USER_AFTER)?;
            let messages = count.parse::<u32>().ok()?.max(1).into();
            Some(Recognized { around: ["", after.trim_start()], text, messages })
        }
        Role::Assistant | Role::Tool => None,
    }
}

/// What comes before and after the lines.
struct Frame {
    role: Role,
    before: String,
    after: &'static str,
}

impl Frame {
    /// The opening of a system message contains no number that changes, so that an addition to a summary
    /// leaves the text before it unchanged.
    fn of(messages: u64, placement: SummaryPlacement, format: Format) -> Self {
        match (format, placement) {
            (Format::Text, _) => Self {
                role: Role::System,
                before: "## Summary of the conversation so far\n".to_owned(),
                after: "",
            },
            (_, SummaryPlacement::System) => {
                Self { role: Role::System, before: SYSTEM_BEFORE.to_owned(), after: "" }
            }
            (_, SummaryPlacement::UserMessage) => Self {
                role: Role::User,
                before: format!("{}{messages}{}", USER_BEFORE[0], USER_BEFORE[1]),
                after: USER_AFTER,
            },
        }
    }
}

/// The summary, as far as there is room for it.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// `None` if there is nothing to say, or no room to say it.
    pub(super) message: Option<Message>,
    /// Whether it is the whole summary.
    pub(super) whole: bool,
}

impl Told {
    pub(super) fn tokens(&self) -> u64 {
        self.message.as_ref().map_or(0, |message| message.tokens.into())
    }
}

/// The message with `summary` in at most `room` tokens: whole, or the best of what it can tell.
pub(super) fn message(
    summary: &Summary,
    placement: SummaryPlacement,
    format: Format,
    room: u64,
    counter: &dyn TokenCounter,
) -> Told {
    let frame = Frame::of(summary.covered_count(), placement, format);
    let around = counter.count(&frame.before) + counter.count(frame.after) + MESSAGE_TOKENS;
    let mut limit = u32::try_from(room.saturating_sub(around.into())).unwrap_or(u32::MAX);
    if summary.tokens() <= limit {
        let message = framed(&frame, summary.lines(), counter);
        if message.as_ref().is_none_or(|whole| u64::from(whole.tokens) <= room) {
            return Told { message, whole: true };
        }
    }
    // models' texts fit whole or not at all
    let items = summary.items();
    while limit > 0 {
        let wanted = Wanted { budget: limit, part: Part::START, focus: Vec::new() };
        let chosen = tell(&items, &wanted, counter);
        match framed(&frame, chosen.iter(), counter) {
            // the frame costs more together with these lines than alone
            Some(message) if u64::from(message.tokens) > room => {
                limit = limit.min(summary.tokens()).saturating_sub(message.tokens - room as u32);
            }
            message => return Told { message, whole: false },
        }
    }
    Told::default()
}

/// The lines in their frame. The tokens of lines add up; those behind a blank line and before the end of the frame are
/// counted with it.
fn framed<'a>(
    frame: &Frame,
    lines: impl Iterator<Item = &'a Line> + Clone,
    counter: &dyn TokenCounter,
) -> Option<Message> {
    let bytes: usize = lines.clone().map(|line| line.text.len()).sum();
    let mut text = String::with_capacity(frame.before.len() + bytes + frame.after.len());
    text.push_str(&frame.before);
    let (mut tokens, mut count, mut last) = (counter.count(&text), 0, 0);
    for line in lines {
        text.push_str(&line.text);
        // a blank line is counted with what follows it
        let is_seam = count == 0 && frame.before.ends_with("\n\n");
        tokens = if is_seam { counter.count(&text) } else { tokens + line.tokens };
        (count, last) = (count + 1, line.text.len());
    }
    if count == 0 {
        return None;
    }
    if !frame.after.is_empty() {
        let start = if count == 1 { 0 } else { text.len() - last };
        tokens -= counter.count(&text[start..]);
        text.push_str(frame.after);
        tokens += counter.count(&text[start..]);
    }
    Some(Message::own(frame.role, How::Summary, text, tokens + MESSAGE_TOKENS))
}
