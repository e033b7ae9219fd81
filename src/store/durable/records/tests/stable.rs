//! Stored data stays readable: literal records that must never change.

use std::{sync::Arc, time::Duration};

use super::*;
use crate::{
    domain::{
        ConversationId, ConversationKey, Encoding, Ending, ForkedFrom, Head, Identity, LineageId, Marks,
        More, Namespace, Original, Oversize, Policy, Ranges, RecipientId, RequestId, Revision, Role,
        Sequence, Timestamp, ToolCall, Trunk, Utterance, UtteranceId,
        capacity::{Capacity, OverLimit},
        exchange::{LateResult, OpenExchange},
        extractive::{LineKind, Sentence},
        segment::Segment,
    },
    store::{Due, Outcome, RecipientKey},
};

pub const LINEAGE: LineageId = LineageId([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
pub const TIME: Timestamp = Timestamp(1_763_654_400_000_000);

/// A record of each kind, as its version 1 wrote it: number, version, key, value. Lines are never changed; a
/// new version of a kind adds one.
const WRITTEN: [(u8, u8, &str, &str); 16] = [
    (1, 1, "0101", "0108ac02fa620ec6"),
    (
        2,
        1,
        "020461636d6574616c6b",
        "010a0361646112100102030405060708090a0b0c0d0e0f10188080a6a09982a206200241fa81c6",
    ),
    (
        3,
        1,
        "030102030405060708090a0b0c0d0e0f10",
        "01080c108080a6a09982a206180a2015280630013a120802120663616c6c2d31120663616c6c2d3240014a040104030052040a0203025812600468047002b2a2f505",
    ),
    (
        4,
        1,
        "040102030405060708090a0b0c0d0e0f10",
        "010a020814120608c03e10f02e200128e807300238904e42060880a3051005bf883c2a",
    ),
    (
        5,
        1,
        "050102030405060708090a0b0c0d0e0f10",
        "010a104120666c6967687420746f204f736c6f120c0a047465616d1204626c7565480071f7",
    ),
    (
        6,
        1,
        "060102030405060708090a0b0c0d0e0f1000000003",
        "010801120201041a170802120f557365723a20546f204f736c6f2e0a180620461a1e08021216417373697374616e743a204f6e204d6f6e6461792e0a18062046205af7ac77ce",
    ),
    (
        7,
        1,
        "070102030405060708090a0b0c0d0e0f100000000000000011",
        "010801108080a6a09982a2061805201f280330013801400148015a1009090909090909090909090909090909620e546f204f736c6f2c207468656e2e6a420a0341646112170a0663616c6c2d31120466696e641a077b226e223a317d1a0663616c6c2d30220466696e642a0c0a046d6f6f641204676f6f6430013a027b7d4002fdc490ac",
    ),
    (8, 1, "080102030405060708090a0b0c0d0e0f10676976656e", "010811698ac0b2"),
    (9, 1, "090461636d650361646180064408ca04c00074616c6b", "0184926981"),
    (10, 1, "0a0461636d65616461", "010a0474616c6b2bcdfbde"),
    (
        11,
        1,
        "0b0461636d65084d656d6f72697a657265712d31",
        "0109776655443322110011ffeeddccbbaa9988188080a6a09982a206220474616c6b280c30013a021400420201044a02070052020901581460026a1f080f1001180620e121281430c03e3800420201044803500c58e8076001680534bf1209",
    ),
    (12, 1, "0c80064408ca04c0000461636d65084d656d6f72697a657265712d31", "015f4f324b"),
    (13, 1, "0d80064408ca04c000010461636d6574616c6b", "01893f0761"),
    (14, 1, "0e000000000000012c", "01a2533587"),
    (
        15,
        1,
        "0f0102030405060708090a0b0c0d0e0f10",
        "01088080a6a09982a206120e7461736b20636f6d706c657465641a104120666c6967687420746f204f736c6f221f4164612061736b656420666f72206120666c6967687420746f204f736c6f2ea3860301",
    ),
    (17, 1, "110461636d650361646180064408ca04c00074616c6b", "011120a8b5"),
];

#[test]
fn the_numbers_are_stable() {
    for (record, (number, version, key, value)) in examples().into_iter().zip(WRITTEN) {
        let (stored_key, stored) = record.written();
        assert_eq!((hex(&stored_key), hex(&stored)), (key.to_owned(), value.to_owned()), "{record:?}");
        assert_eq!((stored_key[0], stored[0]), (number, version), "{record:?}");
        assert_eq!(Record::read(&bytes(key), &bytes(value)), Ok(record));
    }
    let numbers: Vec<u8> = WRITTEN.map(|(number, ..)| number).into();
    assert_eq!(numbers, Vec::from_iter((1..=15).chain([17])), "one of each kind");
}

/// The key of a recipient's own state, as first written. Never changed.
const STATE_OF_RECIPIENT: (&str, &str) = (
    "020461636d6501616461",
    "010a0361646112100102030405060708090a0b0c0d0e0f10188080a6a09982a20620024e92875f",
);

#[test]
fn what_finds_a_recipients_state_is_stable() {
    let (key, value) = STATE_OF_RECIPIENT;
    let identity = identity();
    let id = ConversationId::of_state(&identity.recipient);
    let identity = Identity { key: ConversationKey { id, ..identity.key }, ..identity };
    let record = Record::ConversationName(identity.key.clone(), identity);
    let (stored_key, stored) = record.written();
    assert_eq!((&*hex(&stored_key), &*hex(&stored)), (key, value));
    assert_eq!(Record::read(&bytes(key), &bytes(value)), Ok(record));
}

/// Records that forks added, as first written. Lines are never changed.
const FORKED: [(u8, u8, &str, &str); 3] = [
    (
        3,
        2,
        "030102030405060708090a0b0c0d0e0f10",
        "02080c108080a6a09982a206180a2015280630013a120802120663616c6c2d31120663616c6c2d3240014a040104030052040a0203025812600468047002a201140a10070707070707070707070707070707071009a201140a10080808080808080808080808080808081014aa011009090909090909090909090909090909b001011fb8c1d3",
    ),
    (
        5,
        1,
        "050102030405060708090a0b0c0d0e0f10",
        "010a104120666c6967687420746f204f736c6f120c0a047465616d1204626c7565f2010a0a0474616c6b10091801bda3fd45",
    ),
    (
        16,
        1,
        "10070707070707070707070707070707070102030405060708090a0b0c0d0e0f10",
        "010a0461636d65120474616c6b1809184ae291",
    ),
];

#[test]
fn what_forks_brought_is_stable() {
    for (record, (number, version, key, value)) in forked_examples().into_iter().zip(FORKED) {
        let (stored_key, stored) = record.written();
        assert_eq!((hex(&stored_key), hex(&stored)), (key.to_owned(), value.to_owned()), "{record:?}");
        assert_eq!((stored_key[0], stored[0]), (number, version), "{record:?}");
        assert_eq!(Record::read(&bytes(key), &bytes(value)), Ok(record));
    }
}

/// An edited utterance, as first written. Never changed.
const EDITED: (u8, u8, &str, &str) = (
    7,
    1,
    "070102030405060708090a0b0c0d0e0f100000000000000011",
    "010801108080a6a09982a2061805201f280330013801400148015a1009090909090909090909090909090909620e546f204f736c6f2c207468656e2e6a5a0a0341646112170a0663616c6c2d31120466696e641a077b226e223a317d1a0663616c6c2d30220466696e642a0c0a046d6f6f641204676f6f6430013a027b7d4002a201150a0a546f2042657267656e2e108080a6a09982a206f4bfeed1",
);

#[test]
fn what_edits_brought_is_stable() {
    let (number, version, key, value) = EDITED;
    let (lineage, utterance) = edited_utterance();
    let record = Record::Utterances((lineage, utterance.sequence), utterance);
    let (stored_key, stored) = record.written();
    assert_eq!((hex(&stored_key), hex(&stored)), (key.to_owned(), value.to_owned()));
    assert_eq!((stored_key[0], stored[0]), (number, version));
    assert_eq!(Record::read(&bytes(key), &bytes(value)), Ok(record));
}

/// A late result, as first written. Never changed.
const LATE: (u8, u8, &str, &str) = (
    7,
    2,
    "070102030405060708090a0b0c0d0e0f100000000000000011",
    "020801108080a6a09982a2061805201f280330013801400148015a1009090909090909090909090909090909620e546f204f736c6f2c207468656e2e6a4d0a0341646112170a0663616c6c2d31120466696e641a077b226e223a317d1a0663616c6c2d30220466696e642a0c0a046d6f6f641204676f6f6430013a027b7d4002aa0108080c120466696e64f6104b7e",
);

#[test]
fn what_late_results_brought_is_stable() {
    let (number, version, key, value) = LATE;
    let (lineage, utterance) = late_utterance();
    let record = Record::Utterances((lineage, utterance.sequence), utterance);
    let (stored_key, stored) = record.written();
    assert_eq!((hex(&stored_key), hex(&stored)), (key.to_owned(), value.to_owned()));
    assert_eq!((stored_key[0], stored[0]), (number, version));
    assert_eq!(Record::read(&bytes(key), &bytes(value)), Ok(record));
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
    let (key, value) = pair::<Utterances>(&(lineage, usual.sequence), &usual);
    assert_eq!((key.len(), value.len()), (25, 142));
    let left = Arc::new(Ranges::of(Sequence(1), Sequence(984)));
    let usual = Head {
        revision: Revision(1_010),
        said_time: TIME,
        next: Sequence(1_001),
        turn: 500,
        only_instructions: false,
        open: None,
        awaits_answer: false,
        archived: left.clone(),
        left,
        stored: 1_000,
        erased_at: Revision::NONE,
        ..head().head
    };
    let usual = HeadRecord { head: usual, next_segment: 200, segments: 7 };
    let (key, value) = pair::<Heads>(&LINEAGE, &usual);
    assert_eq!((key.len(), value.len()), (17, 36));
}

/// A record of each kind, in the order of kind numbers.
pub fn examples() -> Vec<Record> {
    let (lineage, utterance) = utterance();
    let identity = identity();
    let key = identity.key.clone();
    vec![
        Record::Metas(Meta::Group, 300),
        Record::ConversationName(key.clone(), identity.clone()),
        Record::Heads(LINEAGE, head()),
        Record::Policies(LINEAGE, policy()),
        Record::Descriptions(LINEAGE, description()),
        Record::Segments((LINEAGE, 3), segment()),
        Record::Utterances((lineage, utterance.sequence), utterance),
        Record::GivenIds((LINEAGE, "given".into()), Sequence(17)),
        Record::Listed(listed(&identity), ()),
        Record::Active(recipient(), key.id.clone()),
        Record::Outcomes(name(), outcome()),
        Record::OutcomeAges((TIME, name()), ()),
        Record::Dues((TIME, Due::Expired(key)), ()),
        Record::Links(300, ()),
        Record::Endings(LINEAGE, ending()),
        Record::Ended(ended(), ()),
    ]
}

/// Records of a conversation that was forked, and is a fork.
pub fn forked_examples() -> Vec<Record> {
    let reader = LineageReader { conversation: identity().key, through: Sequence(9) };
    vec![
        Record::Heads(LINEAGE, forked_head()),
        Record::Descriptions(LINEAGE, forked_description()),
        Record::Readers((LineageId([7; 16]), LINEAGE), reader),
    ]
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

pub fn identity() -> Identity {
    let namespace = Namespace::new("acme").unwrap();
    Identity {
        key: ConversationKey { namespace, id: ConversationId::new("talk").unwrap() },
        recipient: RecipientId::new("ada").unwrap(),
        lineage: LINEAGE,
        start_time: TIME,
        encoding: Encoding::Cl100kBase,
    }
}

pub fn recipient() -> RecipientKey {
    RecipientKey { namespace: Namespace::new("acme").unwrap(), id: RecipientId::new("ada").unwrap() }
}

pub fn ending() -> Ending {
    Ending {
        time: TIME,
        reason: "task completed".into(),
        title: Some("A flight to Oslo".into()),
        summary: Some("Ada asked for a flight to Oslo.".into()),
        awaits: None,
        teller: None,
    }
}

fn ended() -> ListPlace {
    let conversation = ConversationId::new("talk").unwrap();
    let RecipientKey { namespace, id } = recipient();
    ListPlace { owner: (namespace, id), time: TIME, conversation }
}

fn listed(identity: &Identity) -> ListPlace {
    let (ConversationKey { namespace, id }, recipient) = (identity.key.clone(), identity.recipient.clone());
    ListPlace { owner: (namespace, recipient), time: identity.start_time, conversation: id }
}

pub fn name() -> OutcomeName {
    let request = RequestId::new("req-1").unwrap();
    OutcomeName { namespace: Namespace::new("acme").unwrap(), rpc: "Memorize".into(), request }
}

pub fn head() -> HeadRecord {
    let mut left = Ranges::of(Sequence(1), Sequence(5));
    left.add(Sequence(8));
    let blank = HeadRecord::blank(LINEAGE);
    let head = Head {
        revision: Revision(12),
        update_time: TIME,
        said_time: Timestamp(TIME.0 - 5),
        next: Sequence(21),
        turn: 6,
        only_instructions: true,
        open: Some(Arc::new(OpenExchange {
            unit: Sequence(19),
            calls: vec!["call-1".into(), "call-2".into()],
        })),
        awaits_answer: true,
        left: Arc::new(left),
        archived: Arc::new(Ranges::of(Sequence(3), Sequence(5))),
        stored: 18,
        erased_at: Revision(4),
        ..blank.head
    };
    HeadRecord { head, next_segment: 4, segments: 2 }
}

fn forked_head() -> HeadRecord {
    let trunk = |lineage, through| Trunk { lineage: LineageId([lineage; 16]), through: Sequence(through) };
    let record = head();
    let head = Head {
        trunks: [trunk(7, 9), trunk(8, 20)].into(),
        branch: LineageId([9; 16]),
        fresh_branch: true,
        ..record.head
    };
    HeadRecord { head, ..record }
}

pub fn policy() -> Policy {
    Policy {
        utterances: Some(Marks::of(20)),
        tokens: Marks::with_keep(8000, 6000),
        turns: None,
        summarization_enabled: true,
        summary_token_limit: Some(1000),
        oversize: Oversize::Reject,
        archive_limit: 10_000,
        expire_after: Some(Duration::new(86_400, 5)),
        llm_summaries: None,
        summary_model: None,
    }
}

fn description() -> Description {
    let labels = [("team".to_owned(), "blue".to_owned())].into();
    Description { title: Some("A flight to Oslo".into()), labels: Arc::new(labels), ..Description::default() }
}

fn forked_description() -> Description {
    let conversation = ConversationId::new("talk").unwrap();
    let from = ForkedFrom { conversation, sequence: Sequence(9), approximate: true, repeats_through: None };
    Description { forked_from: Some(Arc::new(from)), ..description() }
}

pub fn segment() -> Segment {
    let sentence = |sequence, text: &str, tokens| {
        Sentence::plain(LineKind::Said, Sequence(sequence), text.into(), 70, tokens)
    };
    let sentences = vec![sentence(2, "User: To Oslo.\n", 6), sentence(4, "Assistant: On Monday.\n", 6)];
    let covers = Ranges::of(Sequence(1), Sequence(5));
    Segment {
        number: 3,
        level: 1,
        covers,
        sentences,
        tokens: 12,
        source_tokens: 90,
        llm_text: None,
        awaits: None,
        imported: None,
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
        original: None,
        late: None,
        continues: false,
    };
    let utterance = Utterance {
        sequence: Sequence(17),
        unit: Sequence(16),
        create_time: TIME,
        turn: 5,
        tokens: 31,
        id: UtteranceId::Assigned(LineageId([9; 16])),
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

fn edited_utterance() -> (LineageId, Utterance) {
    let (lineage, utterance) = utterance();
    let original = Some(Original { content: "To Bergen.".into(), edit_time: TIME });
    let more = utterance.more.clone().map(|more| Box::new(More { original, ..*more }));
    (lineage, Utterance { more, ..utterance })
}

fn late_utterance() -> (LineageId, Utterance) {
    let (lineage, utterance) = utterance();
    let late = Some(LateResult { caller: Sequence(12), tool: "find".into() });
    let more = utterance.more.clone().map(|more| Box::new(More { late, ..*more }));
    (lineage, Utterance { more, ..utterance })
}

pub fn outcome() -> Outcome {
    Outcome {
        body: 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff,
        time: TIME,
        conversation: ConversationId::new("talk").unwrap(),
        revision: Revision(12),
        started: true,
        ended: None,
        memorized: Ranges::of(Sequence(20), Sequence(20)),
        evicted: Ranges::of(Sequence(1), Sequence(5)),
        forgotten: Ranges::of(Sequence(7), Sequence(7)),
        restored: Ranges::of(Sequence(9), Sequence(10)),
        target: Some(Sequence(20)),
        still_told: Ranges::new(),
        rebuilt_segments: 2,
        capacity: Capacity {
            utterances: 15,
            forgotten: 1,
            turns: 6,
            tokens: 4321,
            max_utterances: Some(20),
            max_tokens: Some(8000),
            max_turns: Some(0),
            keep_utterances: None,
            keep_tokens: None,
            keep_turns: None,
            over_limit: vec![OverLimit::NewestUnit, OverLimit::Pinned],
            archived: 3,
            summary_tokens: 12,
            summary_limit: Some(1000),
            segments: 1,
            covered: 5,
            provisional: 0,
            advice: None,
        },
        references: Vec::new(),
        in_forks: None,
    }
}
