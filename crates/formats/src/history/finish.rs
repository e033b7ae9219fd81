//! A context as it goes out of PrepareHistory.

use crate::{
    Rendered,
    history::{Prepared, Warning, WarningKind},
};
use utterd_domain::{
    Role, TokenCounter,
    context::{
        Context, Format, How, Message,
        wording::{OPENING, says},
    },
    draft::MESSAGE_TOKENS,
    history::alternation::merge,
};

/// A context as it goes out.
pub struct Finished {
    /// The context.
    pub context: Context,
    /// The number of its messages before some were merged.
    pub count: usize,
    /// How many were merged.
    merged: usize,
    /// The text of the system messages, in a format that separates them.
    pub system: String,
    /// The messages as they are written.
    pub rendered: Rendered,
}

impl Finished {
    /// Puts system messages where the format has them, and merges messages of one role.
    pub fn of(mut context: Context, counter: &dyn TokenCounter) -> Self {
        let mut system = String::new();
        if context.format == Format::AnthropicMessages {
            separate_system(&mut context);
            open(&mut context, counter);
            let head = context.messages[..context.head].iter().map(Message::text);
            let texts: Vec<&str> = head.filter(|text| says(text, context.format)).collect();
            system = texts.join("\n\n");
        }
        let count = context.messages.len();
        let (messages, merged) = merge(&context.messages, counter);
        context.messages = messages;
        if context.format == Format::AnthropicMessages {
            context.messages.last_mut().filter(|last| last.role == Role::Assistant).map(trim_end);
        }
        Self { context, count, merged, system, rendered: Rendered::default() }
    }

    /// The tokens of all messages.
    pub fn tokens(&self) -> u32 {
        self.context.messages.iter().map(|message| message.tokens).fold(0, u32::saturating_add)
    }

    /// The bytes of all texts.
    pub fn text_bytes(&self) -> usize {
        self.context.messages.iter().map(|message| message.text().len()).sum()
    }

    /// What is returned of it.
    pub fn prepared(self) -> Prepared {
        let (token_count, warnings) = (self.tokens(), self.warnings().collect());
        let Rendered { messages_json, places, .. } = self.rendered;
        let message_count = places.iter().flatten().max().map_or(0, |last| last + 1);
        Prepared {
            messages_json,
            message_count,
            token_count,
            warnings,
            system: self.system,
            ..Prepared::default()
        }
    }

    fn warnings(&self) -> impl Iterator<Item = Warning> + use<> {
        let of = |how: How| self.context.messages.iter().filter(move |message| message.how == how);
        let added = of(How::Placeholder).next().map(|_| Warning {
            kind: WarningKind::PlaceholderAdded,
            text: format!("the messages kept do not begin with a user's; {OPENING:?} was put before them"),
        });
        let trimmed = of(How::Trimmed).count();
        let trimmed = (trimmed > 0).then(|| Warning {
            kind: WarningKind::MessagesTrimmed,
            text: format!(
                "messages cut to their head and tail, because they are long for the limits: {trimmed}"
            ),
        });
        let merged = (self.merged > 0).then(|| Warning {
            kind: WarningKind::MessagesMerged,
            text: format!("messages merged with the one of the same role before them: {}", self.merged),
        });
        let renamed = self.rendered.renamed;
        let renamed = (renamed > 0).then(|| Warning {
            kind: WarningKind::CallIdsChanged,
            text: format!(
                "{renamed} call ids were changed, in calls and results, to ones that the format accepts"
            ),
        });
        renamed.into_iter().chain(trimmed).chain(added).chain(merged)
    }
}

/// Puts all system messages, and what is recalled, at the head.
fn separate_system(context: &mut Context) {
    for message in context.messages.iter_mut().filter(|message| message.how == How::Recalled) {
        message.role = Role::System;
    }
    // the sort is stable: messages stay in their order
    context.messages.sort_by_key(|message| message.role != Role::System);
    context.head = context.messages.partition_point(|message| message.role == Role::System);
}

/// Puts a user message first if a system message was there.
fn open(context: &mut Context, counter: &dyn TokenCounter) {
    if context.messages.get(context.head).is_none_or(|first| first.role != Role::Assistant) {
        return;
    }
    let tokens = counter.count(OPENING) + MESSAGE_TOKENS;
    let opening = Message::own(Role::User, How::Placeholder, OPENING.to_owned(), tokens);
    context.messages.insert(context.head, opening);
}

/// Anthropic refuses white space at the end of an assistant's last text.
fn trim_end(last: &mut Message) {
    last.instead = Some(last.text().trim_end().into());
}
