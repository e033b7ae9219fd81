//! What leads to conversations: lists, active conversations, due work, what waits for a model.

use super::{
    names::{Known, Moment, Named, Names},
    survey::Survey,
};
use crate::{
    domain::{ConversationKey, Timestamp},
    store::{
        Due,
        durable::records::{self, Active, Dues, Ended, Kind, ListPlace, Listed, Waiting},
    },
};

/// Each entry is of a conversation, and each conversation has its entries.
pub(super) fn check(survey: &mut Survey<'_>, names: &mut Names) {
    check_entries::<Listed>(survey, names, named, |known, place| {
        let (right, identity) = (ListPlace::of(&known.identity), &known.identity);
        (*place != right).then(|| {
            format!("the conversation is of {}, at {} µs", identity.recipient, identity.start_time.0)
        })
    });
    check_active(survey, names);
    check_entries::<Dues>(
        survey,
        names,
        |(_, Due::Expired(key))| key.clone(),
        |known, (time, _)| wrong(known.expiry, *time, "expires at", "the conversation never expires"),
    );
    check_entries::<Ended>(survey, names, named, |known, place| {
        match known.identity.recipient == place.recipient.id {
            true => wrong(known.ended, place.time, "ended at", "the conversation has not ended"),
            false => Some(format!("the conversation is of {}", known.identity.recipient)),
        }
    });
    check_entries::<Waiting>(
        survey,
        names,
        |(_, key)| key.clone(),
        |known, (time, _)| wrong(known.waits, *time, "waits since", "nothing of the conversation waits"),
    );
    for known in names.iter() {
        check_led_to(known, survey);
    }
}

/// An entry of an index is of a conversation, and `wrong` finds nothing wrong with it.
fn check_entries<K: Kind>(
    survey: &mut Survey<'_>,
    names: &mut Names,
    conversation: impl Fn(&K::Key) -> ConversationKey,
    wrong: impl Fn(&Known, &K::Key) -> Option<String>,
) {
    survey.walk::<K>(|survey, entry, _| {
        let wrong = match names.named(&conversation(&entry)) {
            Named::Unreadable => None,
            Named::Nothing => Some("there is no such conversation".to_owned()),
            Named::Known(known) => wrong(known, &entry),
        };
        if let Some(wrong) = wrong {
            survey.problem(records::name::<K>(&entry), wrong);
        }
    });
}

fn named(place: &ListPlace) -> ConversationKey {
    ConversationKey { namespace: place.recipient.namespace.clone(), id: place.conversation.clone() }
}

/// What is wrong with an entry of a time.
fn wrong(right: Moment, time: Timestamp, does: &str, never: &str) -> Option<String> {
    match right {
        Moment::Unknown => None,
        Moment::At(right) if right == time => None,
        Moment::At(Timestamp(micros)) => Some(format!("the conversation {does} {micros} µs")),
        Moment::Never => Some(never.to_owned()),
    }
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

/// A conversation has its entries.
fn check_led_to(known: &Known, survey: &mut Survey<'_>) {
    let (identity, listed) = (&known.identity, ListPlace::of(&known.identity));
    let (key, recipient) = (&identity.key, &identity.recipient);
    if survey.lacks::<Listed>(&listed) {
        survey.problem(known.subject(), format_args!("it is not in the list of {recipient}"));
    }
    if let Moment::At(time) = known.ended
        && survey.lacks::<Ended>(&ListPlace { time, ..listed })
    {
        let what = format_args!("it is not among what ended of {recipient}, and ended at {} µs", time.0);
        survey.problem(known.subject(), what);
    }
    if let Moment::At(time) = known.expiry
        && survey.lacks::<Dues>(&(time, Due::Expired(key.clone())))
    {
        let what = format_args!("it is not among what is due, and expires at {} µs", time.0);
        survey.problem(known.subject(), what);
    }
    if let Moment::At(time) = known.waits
        && survey.lacks::<Waiting>(&(time, key.clone()))
    {
        let what = format_args!("it is not among what waits for a model, and waits since {} µs", time.0);
        survey.problem(known.subject(), what);
    }
}
