//! What leads to conversations: lists, active conversations, due work, what waits for a model.

use super::{
    names::{Moment, Named, Names},
    survey::Survey,
};
use crate::{
    domain::{ConversationKey, Timestamp},
    store::{
        Due,
        durable::records::{self, Active, Dues, Ended, Listed, Waiting},
    },
};

/// Each entry is of a conversation, and each conversation has its entries.
pub(super) fn check(survey: &mut Survey<'_>, names: &mut Names) {
    let lists_are_known = check_lists(survey, names);
    check_active(survey, names);
    let dues_are_known = check_dues(survey, names);
    let ends_are_known = check_ended(survey, names);
    let waits_are_known = check_waiting(survey, names);
    for known in names.iter() {
        let recipient = &known.identity.recipient;
        let ended = known.ended.filter(|_| ends_are_known && !known.retired);
        let expires = known.expiry.time().filter(|_| dues_are_known && !known.due);
        let waits = known.waits.time().filter(|_| waits_are_known && !known.waiting);
        let missing = [
            (lists_are_known && !known.listed).then(|| format!("in the list of {recipient}")),
            ended.map(|at| format!("among what ended of {recipient}, and ended at {} µs", at.0)),
            expires.map(|at| format!("among what is due, and expires at {} µs", at.0)),
            waits.map(|since| format!("among what waits for a model, and waits since {} µs", since.0)),
        ];
        for place in missing.into_iter().flatten() {
            survey.problem(known.subject(), format_args!("it is not {place}"));
        }
    }
}

/// An entry of a list is of the recipient's conversation, at the time of its start. Answers whether
/// every entry could be read.
fn check_lists(survey: &mut Survey<'_>, names: &mut Names) -> bool {
    survey.walk::<Listed>(|survey, entry, _| {
        let namespace = entry.recipient.namespace.clone();
        let known = names.named(&ConversationKey { namespace, id: entry.conversation.clone() });
        let wrong = match known {
            Named::Unreadable => return,
            Named::Nothing => "there is no such conversation".to_owned(),
            Named::Known(known) => {
                let identity = &known.identity;
                if identity.recipient == entry.recipient.id && identity.start_time == entry.time {
                    known.listed = true;
                    return;
                }
                format!("the conversation is of {}, at {} µs", identity.recipient, identity.start_time.0)
            }
        };
        survey.problem(records::name::<Listed>(&entry), wrong);
    })
}

/// An entry of what ended is of the recipient's conversation, at the time of its end. Answers whether
/// every entry could be read.
fn check_ended(survey: &mut Survey<'_>, names: &mut Names) -> bool {
    survey.walk::<Ended>(|survey, entry, _| {
        let namespace = entry.recipient.namespace.clone();
        let known = names.named(&ConversationKey { namespace, id: entry.conversation.clone() });
        let wrong = match known {
            Named::Unreadable => return,
            Named::Nothing => "there is no such conversation".to_owned(),
            Named::Known(known) if known.identity.recipient != entry.recipient.id => {
                format!("the conversation is of {}", known.identity.recipient)
            }
            Named::Known(known) => match known.ended {
                Some(time) if time == entry.time => {
                    known.retired = true;
                    return;
                }
                Some(Timestamp(micros)) => format!("the conversation ended at {micros} µs"),
                None => "the conversation has not ended".to_owned(),
            },
        };
        survey.problem(records::name::<Ended>(&entry), wrong);
    })
}

/// A recipient's active conversation is one of theirs.
fn check_active(survey: &mut Survey<'_>, names: &mut Names) {
    survey.walk::<Active>(|survey, recipient, active| {
        let Some(id) = active else { return };
        let wrong =
            match names.named(&ConversationKey { namespace: recipient.namespace.clone(), id: id.clone() }) {
                Named::Unreadable => return,
                Named::Nothing => format!("there is no conversation {id}"),
                Named::Known(known) if known.identity.recipient == recipient.id => return,
                Named::Known(known) => format!("conversation {id} is of {}", known.identity.recipient),
            };
        survey.problem(records::name::<Active>(&recipient), wrong);
    });
}

/// What is due is due when its conversation expires. Answers whether every entry could be read.
fn check_dues(survey: &mut Survey<'_>, names: &mut Names) -> bool {
    survey.walk::<Dues>(|survey, entry, _| {
        let (time, Due::Expired(key)) = &entry;
        let wrong = match names.named(key) {
            Named::Unreadable => return,
            Named::Nothing => "there is no such conversation".to_owned(),
            Named::Known(known) => match known.expiry {
                Moment::Unknown => return,
                Moment::At(expiry) if expiry == *time => {
                    known.due = true;
                    return;
                }
                Moment::At(Timestamp(micros)) => format!("the conversation expires at {micros} µs"),
                Moment::Never => "the conversation never expires".to_owned(),
            },
        };
        survey.problem(records::name::<Dues>(&entry), wrong);
    })
}

/// What waits for a model waits since its conversation's first segment does. Answers whether every entry
/// could be read.
fn check_waiting(survey: &mut Survey<'_>, names: &mut Names) -> bool {
    survey.walk::<Waiting>(|survey, entry, _| {
        let (time, key) = &entry;
        let wrong = match names.named(key) {
            Named::Unreadable => return,
            Named::Nothing => "there is no such conversation".to_owned(),
            Named::Known(known) => match known.waits {
                Moment::Unknown => return,
                Moment::At(since) if since == *time => {
                    known.waiting = true;
                    return;
                }
                Moment::At(Timestamp(micros)) => format!("the conversation waits since {micros} µs"),
                Moment::Never => "no segment of the conversation waits".to_owned(),
            },
        };
        survey.problem(records::name::<Waiting>(&entry), wrong);
    })
}
