//! Records of compactions and models' summaries: literal bytes that must never change.

use std::sync::Arc;

use super::{
    stable::{LINEAGE, TIME, bytes, ending, head, hex, identity, name, outcome, policy, segment},
    *,
};
use crate::{
    domain::{
        Ending, Head, Policy, Ranges, Revision, Sequence, Timestamp,
        capacity::Capacity,
        compaction::{Advice, Cause, Compaction},
        conversation::Teller,
        extractive::{Item, LineKind, Sentence},
        segment::{Awaits, Imported, LlmText, Segment, UNSAID},
    },
    store::Outcome,
};

/// Number, version, key and value of each of the [`examples`], as first written. Lines are never changed.
const WRITTEN: [(u8, u8, &str, &str); 8] = [
    (
        3,
        3,
        "030102030405060708090a0b0c0d0e0f10",
        "03080c108080a6a09982a206180a2015280630013a120802120663616c6c2d31120663616c6c2d3240014a040104030052040a0203025812600468047002f80105800232880211900203a505c9b2",
    ),
    (
        4,
        1,
        "040102030405060708090a0b0c0d0e0f10",
        "010a020814120608c03e10f02e200128e807300238904e42060880a305100548015205736d616c6c20669198",
    ),
    (
        6,
        2,
        "060102030405060708090a0b0c0d0e0f1000000003",
        "020801120201041a170802120f557365723a20546f204f736c6f2e0a180620461a1e08021216417373697374616e743a204f6e204d6f6e6461792e0a18062046205aa201370a140808120c2d204f6e204d6f6e6461790a1804203c0a120805120a2d20546f204f736c6f0a1804203c1205736d616c6c1802220201089fb82bcc",
    ),
    (
        6,
        2,
        "060102030405060708090a0b0c0d0e0f1000000003",
        "020801120201041a170802120f557365723a20546f204f736c6f2e0a180620461a1e08021216417373697374616e743a204f6e204d6f6e6461792e0a18062046205aaa0128088080a6a09982a206120a2d20546f204f736c6f0a1a0201042205646174657322067072696365733cad1abb",
    ),
    (
        11,
        1,
        "0b0461636d65084d656d6f72697a657265712d31",
        "0109776655443322110011ffeeddccbbaa9988188080a6a09982a206220474616c6b280c30013a021400420201044a02070052020901581460026a27080f1001180620e121281430c03e3800420201044803500c58e8076001680570027a04083210343fd426c2",
    ),
    (
        18,
        1,
        "120102030405060708090a0b0c0d0e0f1000000002",
        "01080c108080a6a09982a2061801220206062808300f38900340840748f4035205736d616c6c62f3010a7f0803127b0801120201041a170802120f557365723a20546f204f736c6f2e0a180620461a1e08021216417373697374616e743a204f6e204d6f6e6461792e0a18062046205aa201370a140808120c2d204f6e204d6f6e6461790a1804203c0a120805120a2d20546f204f736c6f0a1804203c1205736d616c6c1802220201080a700804126c0801120201041a170802120f557365723a20546f204f736c6f2e0a180620461a1e08021216417373697374616e743a204f6e204d6f6e6461792e0a18062046205aaa0128088080a6a09982a206120a2d20546f204f736c6f0a1a020104220564617465732206707269636573b994037c",
    ),
    (
        18,
        1,
        "120102030405060708090a0b0c0d0e0f1000000003",
        "01080c108080a6a09982a2061802220206062808300f38900340840748f403588280a6a09982a206e879a846",
    ),
    (19, 1, "1380064408ca04c0000461636d6574616c6b", "01ede84d89"),
];

#[test]
fn what_compactions_brought_is_stable() {
    for (record, (number, version, key, value)) in examples().into_iter().zip(WRITTEN) {
        let (stored_key, stored) = record.written();
        assert_eq!((hex(&stored_key), hex(&stored)), (key.to_owned(), value.to_owned()), "{record:?}");
        assert_eq!((stored_key[0], stored[0]), (number, version), "{record:?}");
        assert_eq!(Record::read(&bytes(key), &bytes(value)), Ok(record));
    }
    assert_eq!(examples().len(), WRITTEN.len());
}

/// An ending that waits for a model, and one written by a model. Their bytes never change.
#[test]
fn what_models_bring_to_an_ending_is_stable() {
    const WAITS: &str = "02088080a6a09982a206120e7461736b20636f6d706c657465641a104120666c6967687420746f204f736c6f221f4164612061736b656420666f72206120666c6967687420746f204f736c6f2e288080a6a09982a2062e687512";
    const TOLD: &str = "01088080a6a09982a206120e7461736b20636f6d706c657465641a104120666c6967687420746f204f736c6f221f4164612061736b656420666f72206120666c6967687420746f204f736c6f2e32090a05736d616c6c100221e944b2";
    let waits = Ending { awaits: Some(TIME), ..ending() };
    let told = Ending { teller: Some(Teller { model: "small".into(), prompt: 2 }), ..ending() };
    for (ending, version, written) in [(waits, 2, WAITS), (told, 1, TOLD)] {
        let record = Record::Endings(LINEAGE, ending);
        let (key, value) = record.written();
        assert_eq!((hex(&value).as_str(), value[0]), (written, version));
        assert_eq!(Record::read(&key, &bytes(written)), Ok(record));
    }
}

/// An imported segment. Its bytes never change.
#[test]
fn an_imported_segment_is_stable() {
    const WRITTEN: &str = "0308011a10120a54686579206d65742e0a1804203c2004b20114088080a6a09982a206108280a6a09982a20618033a2311c8";
    let sentence = Sentence::plain(LineKind::Said, UNSAID, "They met.\n".into(), 60, 4);
    let imported = Imported { start: TIME, end: Timestamp(TIME.0 + 1), conversations: 3 };
    let segment = Segment {
        covers: Ranges::new(),
        sentences: vec![sentence],
        tokens: 4,
        source_tokens: 4,
        imported: Some(imported),
        ..segment()
    };
    let record = Record::Segments((LINEAGE, 3), segment);
    let (key, value) = record.written();
    assert_eq!((hex(&value).as_str(), value[0]), (WRITTEN, 3));
    assert_eq!(Record::read(&key, &bytes(WRITTEN)), Ok(record));
}

/// A line that quotes a result, and a list with an item that quotes one. Their bytes never change.
#[test]
fn a_segment_that_quotes_results_is_stable() {
    const WRITTEN: &str = "050801120201041a240802121a557365722063616c6c65642066282920e28692206f6b3a20370a1809203c38031a29120b662831293a20313b20370a18082002280332080802100618072001320a08021009180a20012803205a710722a3";
    let call = Sentence::plain(LineKind::Said, Sequence(2), "User called f() → ok: 7\n".into(), 60, 9);
    let call = Sentence { result: Some(Sequence(3)), ..call };
    let item = Item { sequence: Sequence(2), result: None, start: 6, end: 7, weight: 1 };
    let items = [item, Item { result: Some(Sequence(3)), start: 9, end: 10, ..item }];
    let facts = Sentence::plain(LineKind::Facts, Sequence(2), "f(1): 1; 7\n".into(), 2, 8);
    let facts = Sentence { items: items.into(), ..facts };
    let segment = Segment { sentences: vec![call, facts], tokens: 17, ..segment() };
    let folded = Some([Arc::new(segment.clone())].into());
    let compaction = Record::Compactions((LINEAGE, 2), Compaction { folded, ..compaction() });
    assert_eq!(compaction.written().1[0], 3);
    let record = Record::Segments((LINEAGE, 3), segment);
    let (key, value) = record.written();
    assert_eq!((hex(&value).as_str(), value[0]), (WRITTEN, 5));
    assert_eq!(Record::read(&key, &bytes(WRITTEN)), Ok(record));
}

/// A field that was added later is absent if it has no value.
#[test]
fn how_many_were_to_stay_is_stable() {
    let written = |compaction| Record::Compactions((LINEAGE, 2), compaction).written().1;
    let (without, with) =
        (written(compaction()), written(Compaction { keep_recent: Some(15), ..compaction() }));
    let payload = without.len() - 4;
    assert_eq!(with[..payload], without[..payload]);
    assert_eq!(with[payload..with.len() - 4], [0x68, 15]);
}

/// A head, a policy and an outcome with the fields of compactions; segments written by a model, and waiting
/// for one; a compaction that can be undone, and one that was undone; a waiting conversation.
pub fn examples() -> Vec<Record> {
    let undone = Compaction {
        number: 3,
        cause: Cause::Advised,
        model: None,
        undone: Some(Timestamp(TIME.0 + 1)),
        folded: None,
        ..compaction()
    };
    vec![
        Record::Heads(LINEAGE, compacted_head()),
        Record::Policies(
            LINEAGE,
            Policy { llm_summaries: Some(true), summary_model: Some("small".into()), ..policy() },
        ),
        Record::Segments((LINEAGE, 3), llm_segment()),
        Record::Segments((LINEAGE, 3), awaiting_segment()),
        Record::Outcomes(name(), advised_outcome()),
        Record::Compactions((LINEAGE, 2), compaction()),
        Record::Compactions((LINEAGE, 3), undone),
        Record::Waiting((TIME, identity().key), ()),
    ]
}

fn compacted_head() -> HeadRecord {
    let record = head();
    let head = Head {
        silenced_at: Revision(5),
        advice_answered: 50,
        compacted_at: Sequence(17),
        next_compaction: 4,
        ..record.head
    };
    HeadRecord { head, ..record }
}

fn llm_segment() -> Segment {
    let line = |sequence, text: &str| Sentence::plain(LineKind::Said, Sequence(sequence), text.into(), 60, 4);
    let lines = vec![line(4, "- On Monday\n"), line(1, "- To Oslo\n")];
    let from = Ranges::of(Sequence(1), Sequence(9));
    let llm_text = LlmText { lines, model: "small".into(), prompt: 2, from };
    Segment { tokens: 8, llm_text: Some(Arc::new(llm_text)), ..segment() }
}

fn awaiting_segment() -> Segment {
    let awaits = Awaits {
        since: TIME,
        told: "- To Oslo\n".into(),
        from: Ranges::of(Sequence(1), Sequence(5)),
        focus: ["dates".to_owned(), "prices".to_owned()].into(),
    };
    Segment { awaits: Some(Arc::new(awaits)), ..segment() }
}

fn advised_outcome() -> Outcome {
    let outcome = outcome();
    let advice = Some(Advice { threshold: 50, utterances: 52 });
    Outcome { capacity: Capacity { provisional: 2, advice, ..outcome.capacity }, ..outcome }
}

fn compaction() -> Compaction {
    let other = Segment { number: 4, ..awaiting_segment() };
    Compaction {
        number: 2,
        revision: Revision(12),
        time: TIME,
        cause: Cause::Asked,
        compacted: Ranges::of(Sequence(6), Sequence(12)),
        count: 8,
        kept: 15,
        keep_recent: None,
        summarised: true,
        source_tokens: 400,
        tokens_before: 900,
        tokens_after: 500,
        model: Some("small".into()),
        undone: None,
        folded: Some([llm_segment(), other].map(Arc::new).into()),
    }
}
