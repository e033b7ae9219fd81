//! What leads to conversations: lists, active conversations, due work, what waits for a model.

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

/// Each entry is of a conversation, and each conversation has its entries: in all lists, where the store is `listed`.
pub(super) fn check(survey: &mut Survey<'_>, names: &mut Names, listed: bool) {
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

/// The lists of namespaces, and those by update.
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
            false => Some(format!("the conversation is of {}", known.identity.recipient)),
        }
    });
}

fn in_namespace(place: &NamespacePlace) -> ConversationKey {
    ConversationKey { namespace: place.namespace.clone(), id: place.conversation.clone() }
}

/// A conversation is in the list of its namespace, and in those by update.
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
            Named::Known(known) if !known.identity.is_listed() => {
                Some("is of a recipient's state".to_owned())
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
                Named::Known(known) if !known.identity.is_listed() => "is of a recipient's state".to_owned(),
                Named::Known(known) if known.identity.recipient == recipient.id => return,
                Named::Known(known) => format!("conversation {id} is of {}", known.identity.recipient),
            };
        survey.problem(records::name::<Active>(&recipient), wrong);
    });
}

/// What keeps a recipient's own state is found by that recipient alone.
fn check_state(known: &Known, survey: &mut Survey<'_>) {
    let recipient = &known.identity.recipient;
    if known.identity.key.id != ConversationId::of_state(recipient) {
        survey.problem(known.subject(), format_args!("it tells of {recipient}"));
    }
    let moments = [known.ended, known.expiry, known.waits];
    if moments.iter().any(|moment| matches!(moment, Moment::At(_))) {
        survey.problem(known.subject(), "it ends, expires, or waits for a model");
    }
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
