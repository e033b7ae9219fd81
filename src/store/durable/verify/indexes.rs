//! The indexes of conversations: lists, active conversations, due work, waiting summaries.

use super::{
    names::{Known, Moment, Named, Names},
    survey::Survey,
};
use crate::{
    domain::{ConversationId, ConversationKey, Timestamp},
    store::{
        Due,
        durable::records::{
            self, Active, Dues, Ended, Kind, ListPlace, Listed, NamespacePlace, RecipientUpdated, Started,
            Updated, Waiting,
        },
    },
};

/// Checks that each entry has a conversation, and each conversation its entries; in all lists if the store is
/// `listed`.
pub(super) fn check(survey: &mut Survey<'_>, names: &mut Names, listed: bool) {
    check_entries::<Listed>(survey, names, named, |known, place| {
        let (right, identity) = (ListPlace::of(&known.identity), &known.identity);
        (*place != right).then(|| {
            format!("the conversation belongs to {}, at {} µs", identity.recipient, identity.start_time.0)
        })
    });
    check_entries::<Dues>(
        survey,
        names,
        |(_, Due::Expired(key))| key.clone(),
        |known, (time, _)| wrong(known.expiry, *time, "expires at", "the conversation never expires"),
    );
    check_entries::<Ended>(survey, names, named, |known, place| {
        match known.identity.recipient == place.recipient.id {
            true => wrong(known.ended, place.time, "ended at", "the conversation has not ended"),
            false => Some(format!("the conversation belongs to {}", known.identity.recipient)),
        }
    });
    check_entries::<Waiting>(
        survey,
        names,
        |(_, key)| key.clone(),
        |known, (time, _)| wrong(known.waits, *time, "has waited since", "the conversation is not waiting"),
    );
    check_lists(survey, names);
    for known in names.iter() {
        if !known.identity.is_listed() {
            check_state(known, survey);
            continue;
        }
        check_led_to(known, survey);
        if listed {
            check_listed(known, survey);
        }
    }
}

/// Checks the lists of namespaces, and the lists by update.
fn check_lists(survey: &mut Survey<'_>, names: &mut Names) {
    let never = "the conversation never changed";
    check_entries::<Started>(survey, names, in_namespace, |known, place| {
        wrong(Moment::At(known.identity.start_time), place.time, "started at", never)
    });
    check_entries::<Updated>(survey, names, in_namespace, |known, place| {
        wrong(known.updated, place.time, "changed in the span from", never)
    });
    check_entries::<RecipientUpdated>(survey, names, named, |known, place| {
        match known.identity.recipient == place.recipient.id {
            true => wrong(known.updated, place.time, "changed in the span from", never),
            false => Some(format!("the conversation belongs to {}", known.identity.recipient)),
        }
    });
}

fn in_namespace(place: &NamespacePlace) -> ConversationKey {
    ConversationKey { namespace: place.namespace.clone(), id: place.conversation.clone() }
}

/// Checks that a conversation is in its namespace's list, and in the lists by update.
fn check_listed(known: &Known, survey: &mut Survey<'_>) {
    let identity = &known.identity;
    let (namespace, recipient) = (&identity.key.namespace, &identity.recipient);
    if survey.lacks::<Started>(&NamespacePlace::of(identity, identity.start_time)) {
        survey.problem(known.subject(), format_args!("it is not in the list of the namespace {namespace}"));
    }
    let Moment::At(time) = known.updated else { return };
    if survey.lacks::<Updated>(&NamespacePlace::of(identity, time)) {
        let what = format_args!("it is not in the list by update of the namespace {namespace}");
        survey.problem(known.subject(), what);
    }
    if survey.lacks::<RecipientUpdated>(&ListPlace { time, ..ListPlace::of(identity) }) {
        survey.problem(known.subject(), format_args!("it is not in the list by update of {recipient}"));
    }
}

/// Checks that each index entry has a conversation, and that `wrong` finds nothing wrong with it.
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
            Named::Known(known) if !known.identity.is_listed() => {
                Some("it is a recipient's state".to_owned())
            }
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

/// Compares an entry's time with the right one.
fn wrong(right: Moment, time: Timestamp, does: &str, never: &str) -> Option<String> {
    match right {
        Moment::Unknown => None,
        Moment::At(right) if right == time => None,
        Moment::At(Timestamp(micros)) => Some(format!("the conversation {does} {micros} µs")),
        Moment::Never => Some(never.to_owned()),
    }
}

/// Checks that each recipient's active conversation belongs to the recipient.
pub(super) fn check_active(survey: &mut Survey<'_>, names: &mut Names) {
    survey.walk::<Active>(|survey, recipient, active| {
        let Some(id) = active else { return };
        let wrong =
            match names.named(&ConversationKey { namespace: recipient.namespace.clone(), id: id.clone() }) {
                Named::Unreadable => return,
                Named::Nothing => format!("there is no conversation {id}"),
                Named::Known(known) if !known.identity.is_listed() => "it is a recipient's state".to_owned(),
                Named::Known(known) if known.identity.recipient == recipient.id => return,
                Named::Known(known) => format!("conversation {id} belongs to {}", known.identity.recipient),
            };
        survey.problem(records::name::<Active>(&recipient), wrong);
    });
}

/// Checks that a recipient's own state has the recipient's id, and no end, expiry or wait.
fn check_state(known: &Known, survey: &mut Survey<'_>) {
    let recipient = &known.identity.recipient;
    if known.identity.key.id != ConversationId::of_state(recipient) {
        survey.problem(known.subject(), format_args!("it holds the state of {recipient}"));
    }
    let moments = [known.ended, known.expiry, known.waits];
    if moments.iter().any(|moment| matches!(moment, Moment::At(_))) {
        survey.problem(known.subject(), "it ends, expires, or waits for a model");
    }
}

/// Checks that a conversation has its entries.
fn check_led_to(known: &Known, survey: &mut Survey<'_>) {
    let (identity, listed) = (&known.identity, ListPlace::of(&known.identity));
    let (key, recipient) = (&identity.key, &identity.recipient);
    if survey.lacks::<Listed>(&listed) {
        survey.problem(known.subject(), format_args!("it is not in the list of {recipient}"));
    }
    if let Moment::At(time) = known.ended
        && survey.lacks::<Ended>(&ListPlace { time, ..listed })
    {
        let what = format_args!("it is not among {recipient}'s ended ones, but ended at {} µs", time.0);
        survey.problem(known.subject(), what);
    }
    if let Moment::At(time) = known.expiry
        && survey.lacks::<Dues>(&(time, Due::Expired(key.clone())))
    {
        let what = format_args!("it is not in the list of due work, but expires at {} µs", time.0);
        survey.problem(known.subject(), what);
    }
    if let Moment::At(time) = known.waits
        && survey.lacks::<Waiting>(&(time, key.clone()))
    {
        let what = format_args!("it is not among the waiting summaries, but has waited since {} µs", time.0);
        survey.problem(known.subject(), what);
    }
}
