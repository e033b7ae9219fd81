//! Stored data stays readable: literal records that must not change.

use std::{fs, sync::Arc, time::Duration};

use super::*;
use crate::{Derived, Due, Outcome, RecipientKey, Reference};
use utterd_domain::{
    Block, ChangeId, Conversation, ConversationId, ConversationKey, Copied, Encoding, Ending, ForkedFrom,
    Head, Identity, LineageId, Marks, More, Namespace, Origin, Original, Oversize, Policy, Ranges,
    RecipientId, RequestId, Revision, Role, Sequence, ShareId, Timestamp, ToolCall, Trunk, Utterance,
    UtteranceId,
    capacity::{Capacity, OverLimit},
    compaction::{Advice, Cause, Compaction},
    conversation::Teller,
    exchange::{AbandonedCall, LateResult, OpenExchange},
    extract::{Item, ItemMarks, Kind, Line, Seen, Shape},
    forget::erasure::InForks,
    segment::{Awaits, Imported, LlmText, Segment},
    share::{Share, ShareDigest},
    state::{StateContent, StateEntry, StateValue},
};

pub const LINEAGE: LineageId = LineageId([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
const OTHER: LineageId = LineageId([9; 16]);
const TIME: Timestamp = Timestamp(1_763_654_400_000_000);

/// The bytes of the [`examples`]: a line with the name, the key and the value of each.
const WRITTEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/records/tests/written.txt");

#[test]
fn the_bytes_of_each_kind_are_stable() {
    let written = fs::read_to_string(WRITTEN).unwrap();
    assert_eq!(lines(), written, "a released record never changes: see how a record may change");
    let mut numbers = Vec::new();
    for record in examples() {
        let (key, value) = record.written();
        numbers.push(key[0]);
        assert_eq!(Record::read(&key, &value), Ok(record));
    }
    numbers.dedup();
    assert_eq!(numbers, Record::NUMBERS, "there is an example of each kind");
}

#[test]
#[ignore = "writes the literal records anew"]
fn write_the_records() {
    fs::write(WRITTEN, lines()).unwrap();
}

fn lines() -> String {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let line = |record: &Record| {
        let (key, value) = record.written();
        format!("{}: {} {}\n", record.name(), hex(&key), hex(&value))
    };
    examples().iter().map(line).collect()
}

/// Typical records: a user's utterance, and a head without an open exchange.
#[test]
fn what_is_usual_is_small() {
    let (lineage, utterance) = utterance();
    let usual = Utterance {
        unit: utterance.sequence,
        id: UtteranceId::Assigned(lineage),
        forgotten: false,
        pinned: false,
        instruction: false,
        aside: false,
        content: "x".repeat(120).into(),
        more: None,
        ..utterance
    };
    let (key, value) = pair::<Utterances>(&(lineage, Sequence(17)), &usual.into());
    assert!(key.len() == 25 && value.len() <= 120 + 41, "{} bytes", value.len());
    let left = Arc::new(Ranges::of(Sequence(1), Sequence(984)));
    let usual = Head {
        revision: Revision(1_010),
        update_time: TIME,
        said_time: TIME,
        next: Sequence(1_001),
        turn: 500,
        only_instructions: false,
        archived: left.clone(),
        left,
        stored: 1_000,
        stored_bytes: 250_000,
        window_tokens: 900,
        ..blank()
    };
    let usual = HeadRecord { head: usual, next_segment: 200, segments: 7 };
    let (key, value) = pair::<Heads>(&LINEAGE, &usual.into());
    assert!(key.len() == 17 && value.len() <= 112, "{} bytes", value.len());
}

/// At least one record of each kind, in the order of kind numbers; together they have every field.
pub fn examples() -> Vec<Record> {
    let (lineage, utterance) = utterance();
    let identity = identity();
    let key = identity.key.clone();
    let state_key = ConversationKey { id: ConversationId::of_state(&identity.recipient), ..key.clone() };
    let state_identity = Identity { key: state_key.clone(), ..identity.clone() };
    let given = Utterance { id: UtteranceId::given("mine").unwrap(), more: None, ..utterance.clone() };
    let state = |name: &str, content| StateValue { name: name.into(), version: Revision(9), content };
    let (bytes, json) = (StateContent::Bytes([0, 255][..].into()), StateContent::Json("{}".into()));
    let block = |kind, number| BlockName { kind, block: Block(number) };
    let place = |conversation| ListPlace { owner: owner(), time: TIME, conversation };
    let namespace_place =
        NamespacePlace { owner: key.namespace.clone(), time: TIME, conversation: key.id.clone() };
    vec![
        Record::Metas(Meta::Group, 300),
        Record::ConversationName(key.clone(), identity.into()),
        Record::ConversationName(state_key, state_identity.into()),
        Record::Heads(LINEAGE, head().into()),
        Record::Descriptions(LINEAGE, description()),
        Record::Segments((LINEAGE, 3), segment().into()),
        Record::Segments((LINEAGE, 4), imported_segment().into()),
        Record::Utterances((lineage, utterance.sequence), utterance.into()),
        Record::Utterances((lineage, given.sequence), given.into()),
        Record::GivenIds((LINEAGE, "mine".into()), Sequence(17)),
        Record::Listed(place(key.id.clone()), ()),
        Record::Active(recipient(), key.id.clone()),
        Record::Outcomes(name(), outcome().into()),
        Record::OutcomeAges((TIME, name()), ()),
        Record::Dues((TIME, Due::Expired(key.clone())), ()),
        Record::Links(300, ()),
        Record::Readers((OTHER, LINEAGE), LineageReader { conversation: key.clone(), through: Sequence(9) }),
        Record::Ended(place(key.id.clone()), ()),
        Record::Compactions((LINEAGE, 2), compaction().into()),
        Record::Waiting((TIME, key.clone()), ()),
        Record::Blocks((LINEAGE, block(Derived::Index, 0)), BlockBytes(b"an index".to_vec())),
        Record::Blocks((LINEAGE, block(Derived::Embeddings, 7)), BlockBytes(b"a vector".to_vec())),
        Record::Started(namespace_place.clone(), ()),
        Record::Updated(namespace_place, ()),
        Record::RecipientUpdated(place(key.id), ()),
        Record::StateValues((LINEAGE, StateName("bytes".into())), state("bytes", bytes).into()),
        Record::StateValues((LINEAGE, StateName("json".into())), state("json", json).into()),
    ]
}

pub fn identity() -> Identity {
    let RecipientKey { namespace, id } = recipient();
    Identity {
        key: ConversationKey { namespace, id: ConversationId::new("talk").unwrap() },
        recipient: id,
        lineage: LINEAGE,
        start_time: TIME,
        encoding: Encoding::Cl100kBase,
    }
}

pub fn recipient() -> RecipientKey {
    RecipientKey { namespace: Namespace::new("acme").unwrap(), id: RecipientId::new("ada").unwrap() }
}

fn owner() -> (Namespace, RecipientId) {
    let RecipientKey { namespace, id } = recipient();
    (namespace, id)
}

pub fn name() -> OutcomeName {
    let request = RequestId::new("req-1").unwrap();
    OutcomeName { namespace: recipient().namespace, rpc: "Memorize".into(), request }
}

/// The head of a conversation in which nothing was said.
fn blank() -> Head {
    Conversation::new(Identity::default(), Policy::ROLLING).head
}

pub fn head() -> HeadRecord {
    let mut left = Ranges::of(Sequence(1), Sequence(5));
    left.add(Sequence(8));
    let calls = vec!["call-1".into(), "call-2".into()];
    let abandoned = AbandonedCall { id: "c6".into(), caller: Sequence(3), answer: Some(Sequence(9)) };
    let head = Head {
        revision: Revision(12),
        change: ChangeId([7; 16]),
        update_time: TIME,
        said_time: Timestamp(TIME.0 - 5),
        next: Sequence(21),
        turn: 6,
        only_instructions: true,
        open: Some(Arc::new(OpenExchange { unit: Sequence(19), calls })),
        abandoned: [abandoned].into(),
        awaits_answer: true,
        left: Arc::new(left),
        archived: Arc::new(Ranges::of(Sequence(3), Sequence(5))),
        pinned_away: Arc::new(Ranges::of(Sequence(4), Sequence(4))),
        stored: 18,
        stored_bytes: 4_321,
        window_tokens: 300,
        erased_at: Revision(4),
        silenced_at: Revision(5),
        advice_answered: 50,
        compacted_at: Sequence(17),
        next_compaction: 4,
        trunks: [Trunk { lineage: LineageId([8; 16]), through: Sequence(9) }].into(),
        branch: OTHER,
        fresh_branch: true,
        policy: policy(),
        ended: Some(Arc::new(ending())),
        ..blank()
    };
    HeadRecord { head, next_segment: 4, segments: 2 }
}

fn policy() -> Policy {
    Policy {
        utterances: Some(Marks::of(20)),
        tokens: Marks::with_keep(8000, 6000),
        turns: Some(Marks::of(9)),
        summarization_enabled: true,
        summary_token_limit: Some(1000),
        oversize: Oversize::Reject,
        archive_limit: 10_000,
        expire_after: Some(Duration::new(86_400, 5)),
        llm_summaries: Some(true),
        summary_model: Some("small".into()),
    }
}

fn description() -> Description {
    let share = Share {
        id: ShareId::assigned(7),
        digest: ShareDigest([6; 32]),
        create_time: TIME,
        expire_time: Timestamp(TIME.0 + 1),
        include_archive: true,
    };
    let conversation = ConversationId::new("parent").unwrap();
    let origin = Origin { lineage: OTHER, sequence: Sequence(5) };
    Description {
        title: Some("A flight to Oslo".into()),
        labels: Arc::new([("team".to_owned(), "blue".to_owned())].into()),
        shares: [share].into(),
        forked_from: Some(Arc::new(ForkedFrom { conversation, sequence: Sequence(9), approximate: true })),
        copies: [Copied { first: Sequence(10), last: Sequence(12), origin, edited: true }].into(),
        state: [StateEntry { name: "bytes".into(), version: Revision(9), bytes: 2 }].into(),
        made_title: Some("Fly to Oslo".into()),
    }
}

/// A segment with items that depend on a result, a model's text, and a new text awaited.
pub fn segment() -> Segment {
    let line = |text: &str, from| Line { text: text.into(), tokens: 6, from };
    let mut did = Item::new(Kind::Did, "book", "A1", 2);
    (did.note, did.marks, did.also) = ("no seats".into(), ItemMarks::FAILED, Some(3));
    let seen =
        Seen { shape: Shape::Code, users: 1, assistants: 2, calls: 3, results: 4, last: 4, used: Some(2) };
    let mut named = Item::new(Kind::Fact, "", "A1", 4);
    (named.worth, named.seen, named.day) = (7, Some(seen), 19_485);
    let covers = Ranges::of(Sequence(1), Sequence(5));
    let llm_text = LlmText {
        lines: vec![line("- To Oslo\n", Ranges::new())],
        model: "small".into(),
        prompt: 2,
        from: covers.clone(),
    };
    let awaits = Awaits {
        since: TIME,
        told: "- To Oslo\n".into(),
        from: covers.clone(),
        focus: ["dates".to_owned()].into(),
    };
    Segment {
        number: 3,
        level: 1,
        covers,
        items: vec![did, named],
        own_lines: vec![line("book(A1) → failed: no seats\n", Ranges::of(Sequence(2), Sequence(3)))],
        tokens: 6,
        source_tokens: 90,
        llm_text: Some(Arc::new(llm_text)),
        awaits: Some(Arc::new(awaits)),
        imported: None,
    }
}

fn imported_segment() -> Segment {
    Segment {
        number: 4,
        level: 0,
        covers: Ranges::new(),
        items: vec![Item::new(Kind::Quoted, "", "They met.", 0)],
        own_lines: vec![Line { text: "They met.\n".into(), tokens: 4, from: Ranges::new() }],
        tokens: 4,
        source_tokens: 4,
        llm_text: None,
        awaits: None,
        imported: Some(Imported { start: TIME, end: Timestamp(TIME.0 + 1), conversations: 3 }),
    }
}

/// An utterance with every field.
pub fn utterance() -> (LineageId, Utterance) {
    let call = ToolCall { id: "call-1".into(), name: "find".into(), arguments_json: "{\"n\":1}".into() };
    let more = More {
        name: Some("Ada".into()),
        tool_calls: vec![call],
        tool_call_id: Some("call-0".into()),
        tools_used: vec!["find".into()],
        metadata: [("mood".to_owned(), "good".to_owned())].into(),
        awaits_answer: true,
        extras_json: Some("{}".into()),
        extras_tokens: 2,
        original: Some(Original { content: "To Bergen.".into(), edit_time: TIME }),
        late: Some(LateResult { caller: Sequence(12), tool: "find".into() }),
        continues: true,
    };
    let utterance = Utterance {
        sequence: Sequence(17),
        unit: Sequence(16),
        create_time: TIME,
        turn: 5,
        tokens: 31,
        id: UtteranceId::Assigned(OTHER),
        role: Role::Assistant,
        forgotten: true,
        pinned: true,
        instruction: true,
        aside: true,
        content: "To Oslo, then.".into(),
        more: Some(Box::new(more)),
    };
    (LINEAGE, utterance)
}

fn outcome() -> Outcome {
    let reference = |sequence, id| Reference {
        sequence: Sequence(sequence),
        id,
        role: Role::User,
        turn: 1,
        tokens: 300,
        position: Some(4),
        late: true,
    };
    let assigned = UtteranceId::Assigned(OTHER);
    Outcome {
        body: 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff,
        time: TIME,
        conversation: ConversationId::new("talk").unwrap(),
        revision: Revision(12),
        started: true,
        ended: Some(ConversationId::new("before").unwrap()),
        memorized: Ranges::of(Sequence(20), Sequence(20)),
        evicted: Ranges::of(Sequence(1), Sequence(5)),
        forgotten: Ranges::of(Sequence(7), Sequence(7)),
        restored: Ranges::of(Sequence(9), Sequence(10)),
        target: Some(Sequence(20)),
        still_told: Ranges::of(Sequence(2), Sequence(2)),
        rebuilt_segments: 2,
        capacity: capacity(),
        references: vec![
            reference(7, assigned.clone()),
            reference(9, UtteranceId::given("mine").unwrap()),
            reference(20, assigned),
        ],
        in_forks: Some(InForks { conversations: 2, utterances: 3 }),
    }
}

fn capacity() -> Capacity {
    Capacity {
        utterances: 15,
        forgotten: 1,
        turns: 6,
        tokens: 4321,
        max_utterances: Some(20),
        max_tokens: Some(8000),
        max_turns: Some(0),
        keep_utterances: Some(15),
        keep_tokens: Some(6000),
        keep_turns: Some(0),
        over_limit: vec![OverLimit::NewestUnit, OverLimit::Pinned],
        archived: 3,
        summary_tokens: 12,
        summary_limit: Some(1000),
        segments: 1,
        covered: 5,
        provisional: 2,
        advice: Some(Advice { threshold: 50, utterances: 52 }),
    }
}

fn ending() -> Ending {
    Ending {
        time: TIME,
        reason: "task completed".into(),
        title: Some("A flight to Oslo".into()),
        summary: Some("Ada asked for a flight to Oslo.".into()),
        awaits: Some(TIME),
        teller: Some(Teller { model: "small".into(), prompt: 2 }),
    }
}

/// A compaction with every field but `undone`, which excludes `folded`.
fn compaction() -> Compaction {
    Compaction {
        number: 2,
        revision: Revision(12),
        time: TIME,
        cause: Cause::Asked,
        compacted: Ranges::of(Sequence(6), Sequence(12)),
        count: 8,
        kept: 15,
        keep_recent: Some(15),
        summarised: true,
        source_tokens: 400,
        tokens_before: 900,
        tokens_after: 500,
        model: Some("small".into()),
        undone: None,
        folded: Some([segment(), imported_segment()].map(Arc::new).into()),
    }
}
