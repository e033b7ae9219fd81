//! Random sequences of commands.

use proptest::{collection::vec, option, prelude::*};
use utterd::proto::{Oversize, Policy};

use crate::{
    commands::{
        Attempt, Command, Given, How, Listing, Named, Place, Prompt, Say, Scope, Search, Step, Values, Who,
    },
    forms::Form,
};

/// The length of a sequence, and what can be in it.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Maximum number of commands.
    pub most: usize,
    /// Whether a server is restarted now and then.
    pub restarts: bool,
    /// How many engines the commands go to.
    pub engines: usize,
}

/// Sequences in one conversation and a fork of it.
pub fn in_one(shape: Shape) -> BoxedStrategy<Vec<Step>> {
    let place = prop_oneof![3 => Just(Place::First), 2 => Just(Place::Forked)];
    sequences(place.boxed(), shape)
}

/// Sequences in three conversations of two recipients.
pub fn in_three(shape: Shape) -> BoxedStrategy<Vec<Step>> {
    let place = prop_oneof![
        3 => Just(Place::First),
        3 => Just(Place::Active),
        3 => Just(Place::Second),
        1 => Just(Place::Forked),
    ];
    sequences(place.boxed(), shape)
}

/// The first command nearly always says something, so that the others find a conversation.
fn sequences(place: BoxedStrategy<Place>, shape: Shape) -> BoxedStrategy<Vec<Step>> {
    let command = match shape.restarts {
        true => prop_oneof![12 => command(), 1 => Just(Command::Restart)].boxed(),
        false => command().boxed(),
    };
    let engine = match shape.engines {
        1 => Just(0).boxed(),
        engines => (0..engines).boxed(),
    };
    let step = |(at, on, command)| Step { at, on, command };
    let first = (place.clone(), engine.clone(), memorize()).prop_map(step);
    let step = (place, engine, command).prop_map(step);
    let first = option::weighted(0.98, first);
    (first, vec(step, 0..shape.most))
        .prop_map(|(first, rest)| first.into_iter().chain(rest).collect())
        .boxed()
}

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        60 => memorize(),
        24 => forget(),
        20 => drop_named(),
        14 => restore(),
        12 => mark(),
        15 => update(),
        4 => create(),
        12 => (values(), prop::bool::weighted(0.4), attempt())
            .prop_map(|(values, own, attempt)| Command::Keep { values, own, attempt }),
        10 => fork(),
        14 => compact(),
        9 => attempt().prop_map(|attempt| Command::Undo { attempt }),
        3 => attempt().prop_map(|attempt| Command::End { attempt }),
        1 => attempt().prop_map(|attempt| Command::Delete { attempt }),
        6 => prop_oneof![Just(1), Just(31), Just(61), Just(25 * 60)].prop_map(Command::Wait),
        9 => any::<u8>().prop_map(Command::Retry),
        3 => any::<u8>().prop_map(Command::Reuse),
        9 => list(),
        9 => listing().prop_map(Command::Messages),
        15 => search().prop_map(Command::Remember),
        9 => summarize(),
        3 => vec(say(80), 0..3).prop_map(|says| Command::Count { says }),
        3 => any::<u8>().prop_map(Command::Watch),
        3 => vec(any::<u8>(), 0..3).prop_map(Command::Kept),
        3 => Just(Command::Conversations),
    ]
}

fn memorize() -> impl Strategy<Value = Command> {
    let rarely = || option::weighted(0.15, values());
    let more = (option::weighted(0.12, any::<u8>()), rarely(), rarely());
    // batches that replace by id give ids more often
    let said = prop_oneof![
        3 => (batch(80), Just(false)),
        1 => (batch(1), prop::bool::weighted(0.8)),
    ];
    let how = (prop::bool::weighted(0.3), prop::bool::weighted(0.3));
    (said, how, more, attempt()).prop_map(
        |((says, upsert), (lenient, messages), (instead, state, own), attempt)| Command::Memorize {
            says,
            lenient,
            instead,
            upsert,
            messages,
            state,
            own,
            attempt,
        },
    )
}

/// Occasionally a name is given twice, or none.
fn values() -> impl Strategy<Value = Values> {
    let expects = (any::<u8>(), prop_oneof![6 => Just(0i8), 1 => Just(-1), 1 => Just(1)]);
    (vec((any::<u8>(), any::<u8>()), 0..3), vec(any::<u8>(), 0..2), vec(expects, 0..3))
        .prop_map(|(set, delete, expects)| Values { set, delete, expects })
}

/// The higher `by_server`, the more ids the server assigns.
fn batch(by_server: u32) -> impl Strategy<Value = Vec<Say>> {
    prop_oneof![1 => Just(Vec::new()), 60 => vec(say(by_server), 1..=6)]
}

fn forget() -> impl Strategy<Value = Command> {
    let how = (prop::bool::weighted(0.4), prop::bool::weighted(0.1), prop::bool::weighted(0.2));
    (form(), any::<bool>(), how, attempt()).prop_map(|(form, english, (hard, dry_run, told), attempt)| {
        Command::Forget { form, english, hard, dry_run, told, attempt }
    })
}

fn drop_named() -> impl Strategy<Value = Command> {
    let named = prop_oneof![
        2 => (Just(Vec::new()), (any::<u8>(), any::<u8>()).prop_map(Some), Just(None)),
        2 => (Just(Vec::new()), Just(None), (0..3u8).prop_map(Some)),
        1 => (vec(any::<u8>(), 1..3), Just(None), option::of(0..2u8)),
    ];
    let named = named.prop_map(|(picks, sequences, newest)| Named { picks, sequences, newest });
    let how = prop_oneof![1 => Just(How::Soft), 1 => Just(How::Hard), 4 => Just(How::Exact)];
    (named, how, prop::bool::weighted(0.1), prop::bool::weighted(0.4), attempt())
        .prop_map(|(named, how, dry_run, told, attempt)| Command::Drop { named, how, dry_run, told, attempt })
}

fn fork() -> impl Strategy<Value = Command> {
    let back = prop_oneof![2 => Just(0), 1 => any::<u8>()];
    (back, attempt()).prop_map(|(back, attempt)| Command::Fork { back, attempt })
}

fn compact() -> impl Strategy<Value = Command> {
    let count = prop_oneof![6 => 1..4u8, 1 => 0..7u8];
    (count, prop::bool::weighted(0.3), prop::bool::weighted(0.1), attempt()).prop_map(
        |(count, no_summary, preview, attempt)| Command::Compact { count, no_summary, preview, attempt },
    )
}

fn restore() -> impl Strategy<Value = Command> {
    (vec(any::<u8>(), 1..4), prop::bool::weighted(0.05), attempt())
        .prop_map(|(picks, unknown, attempt)| Command::Restore { picks, unknown, attempt })
}

fn mark() -> impl Strategy<Value = Command> {
    let masked = prop_oneof![
        (any::<bool>().prop_map(Some), Just(None)),
        (Just(None), any::<u8>().prop_map(Some)),
        (any::<bool>().prop_map(Some), any::<u8>().prop_map(Some)),
    ];
    (any::<u8>(), masked, attempt()).prop_map(|(pick, (pinned, note), attempt)| Command::Mark {
        pick,
        pinned,
        note,
        attempt,
    })
}

fn update() -> impl Strategy<Value = Command> {
    let masked = prop_oneof![
        6 => (policy().prop_map(Some), Just(None)),
        1 => (Just(None), any::<u8>().prop_map(Some)),
    ];
    (masked, attempt()).prop_map(|((policy, title), attempt)| Command::Update { policy, title, attempt })
}

fn create() -> impl Strategy<Value = Command> {
    (option::of(policy()), any::<bool>(), attempt()).prop_map(|(policy, cl100k, attempt)| Command::Create {
        policy,
        cl100k,
        attempt,
    })
}

fn list() -> impl Strategy<Value = Command> {
    (option::of(0..12u8), any::<bool>(), any::<bool>(), any::<bool>(), any::<u8>()).prop_map(
        |(last, newest_first, archive, forgotten, page)| Command::List {
            last,
            newest_first,
            archive,
            forgotten,
            page,
        },
    )
}

fn listing() -> impl Strategy<Value = Listing> {
    let rarely = || option::weighted(0.2, 0..20u8);
    let picks = prop_oneof![5 => Just(Vec::new()), 1 => vec(any::<u8>(), 1..4)];
    let shape = (any::<bool>(), prop_oneof![4 => Just(0), 1 => 0..4u8], any::<u8>());
    (rarely(), rarely(), rarely(), option::weighted(0.2, 0..4u8), picks, shape).prop_map(
        |(last, after, before, role, picks, (newest_first, skip, page))| Listing {
            last,
            after,
            before,
            role,
            picks,
            newest_first,
            skip,
            page,
        },
    )
}

fn summarize() -> impl Strategy<Value = Command> {
    let scope = prop_oneof![
        Just(Scope::All),
        (0..10u8).prop_map(Scope::Recent),
        Just(Scope::Evicted),
        (0..8u8, 0..4u8).prop_map(|(first, more)| Scope::Turns(first, more)),
    ];
    (scope, option::of(any::<u8>()), any::<bool>()).prop_map(|(scope, limit, focus)| Command::Summarize {
        scope,
        limit,
        focus,
    })
}

fn search() -> impl Strategy<Value = Search> {
    let prompt = prop_oneof![
        Just(Prompt::None),
        any::<u8>().prop_map(Prompt::Marker),
        any::<u8>().prop_map(Prompt::Marker),
        Just(Prompt::Words),
    ];
    let rarely = |strategy: BoxedStrategy<u8>| option::weighted(0.15, strategy);
    let range = || option::weighted(0.15, (0..10u8, 0..6u8));
    let shape = (prompt, 0..4i32, any::<bool>(), 0..4u8, any::<u8>());
    let marks = (option::weighted(0.15, any::<bool>()), prop::bool::weighted(0.1));
    let names = (rarely((0..4u8).boxed()), rarely((0..3u8).boxed()), rarely((0..90u8).boxed()));
    (shape, marks, names, range(), range()).prop_map(|(shape, marks, names, turns, sequences)| Search {
        prompt: shape.0,
        scope: shape.1,
        recency: shape.2,
        neighbors: shape.3,
        page: shape.4,
        role: names.0,
        name: names.1,
        pinned: marks.0,
        noted: marks.1,
        turns,
        sequences,
        since: names.2,
    })
}

fn attempt() -> impl Strategy<Value = Attempt> {
    let expects = option::weighted(0.2, prop_oneof![4 => Just(0i8), 1 => Just(-1), 1 => Just(1)]);
    (prop::bool::weighted(0.4), expects).prop_map(|(named, expects)| Attempt { named, expects })
}

fn say(by_server: u32) -> impl Strategy<Value = Say> {
    let rarely = prop::bool::weighted(0.07);
    let marks = (rarely, prop::bool::weighted(0.15), prop::bool::weighted(0.15), prop::bool::weighted(0.08));
    let name = option::weighted(0.2, 0..3u8);
    let turn = option::weighted(0.1, prop_oneof![8 => 0..3i8, 1 => Just(-1i8)]);
    (who(), any::<u8>(), name, given(by_server), turn, option::weighted(0.1, 0..90u8), marks).prop_map(
        |(who, text, name, id, turn, ago, (pinned, note, awaits, extras))| Say {
            who,
            text,
            name,
            id,
            turn,
            ago,
            pinned,
            note,
            awaits,
            extras,
        },
    )
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![
        60 => Just(Who::User),
        40 => Just(Who::Assistant),
        50 => vec(0..3u8, 1..4).prop_map(Who::Calls),
        100 => any::<u8>().prop_map(Who::Answer),
        20 => Just(Who::System),
        4 => (0..3u8).prop_map(Who::Result),
        2 => Just(Who::Stray),
        3 => Just(Who::Silence),
        1 => Just(Who::Nobody),
    ]
}

fn given(by_server: u32) -> impl Strategy<Value = Given> {
    prop_oneof![
        by_server => Just(Given::ByServer),
        15 => Just(Given::New),
        3 => any::<u8>().prop_map(Given::Earlier),
        if by_server > 10 { 1 } else { 15 } => any::<u8>().prop_map(Given::Assigned),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    let limit = |range: std::ops::Range<i32>| option::weighted(0.4, range);
    let keep = |range: std::ops::Range<i32>| option::weighted(0.1, range);
    let preset = prop_oneof![8 => Just(0), 1 => 1..4i32];
    (
        (preset, limit(0..9), keep(0..9), limit(0..150), keep(0..150), limit(0..5), keep(0..5)),
        option::weighted(0.2, any::<bool>()),
        option::weighted(0.4, prop_oneof![2 => 1..120i32, 1 => 0..4i32]),
        option::weighted(0.3, any::<bool>()),
        option::weighted(0.4, prop_oneof![3 => 0..14i32, 1 => 20..30i32]),
    )
        .prop_map(|(marks, summarization_enabled, summary_token_limit, reject, archive_limit)| Policy {
            preset: marks.0,
            max_utterances: marks.1,
            keep_utterances: marks.2,
            max_tokens: marks.3,
            keep_tokens: marks.4,
            max_turns: marks.5,
            keep_turns: marks.6,
            summarization_enabled,
            summary_token_limit,
            oversize: reject
                .map_or(
                    Oversize::Unspecified,
                    |reject| if reject { Oversize::Reject } else { Oversize::Keep },
                )
                .into(),
            archive_limit,
            llm_summaries: None,
            summary_model: None,
            expire_after: None,
        })
}

fn form() -> impl Strategy<Value = Form> {
    let n = || any::<u8>();
    let two = || (any::<u8>(), any::<u8>());
    prop_oneof![
        prop_oneof![Just(Form::Oldest), Just(Form::Newest), Just(Form::All)],
        prop_oneof![n().prop_map(Form::First), n().prop_map(Form::Last)],
        prop_oneof![n().prop_map(Form::FirstTurns), n().prop_map(Form::LastTurns)],
        two().prop_map(|(at, more)| Form::Position(at, more)),
        prop_oneof![n().prop_map(Form::Before), n().prop_map(Form::After)],
        two().prop_map(|(back, more)| Form::Turn(back, more)),
        prop_oneof![n().prop_map(Form::Speaker), n().prop_map(Form::Name)],
        two().prop_map(|(at, more)| Form::Sequence(at, more)),
        two().prop_map(|(at, more)| Form::Sequence(at, more)),
        prop_oneof![n().prop_map(Form::Id), n().prop_map(Form::AboutMarker)],
        prop_oneof![n().prop_map(Form::Id), n().prop_map(Form::AboutTopic)],
        two().prop_map(|(who, back)| Form::SpeakerBefore(who, back)),
        two().prop_map(|(who, n)| Form::SpeakerLast(who, n)),
        two().prop_map(|(who, which)| Form::SpeakerAbout(who, which)),
        two().prop_map(|(name, back)| Form::NameAfter(name, back)),
        n().prop_map(Form::Nonsense),
    ]
}
