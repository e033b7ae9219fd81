//! Random valid parts of records.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use proptest::{collection::vec, option, prelude::*};

use crate::{
    RecipientKey,
    records::{HeadRecord, OutcomeName},
};
use utterd_domain::{
    ChangeId, Conversation, ConversationId, ConversationKey, Encoding, Ending, Head, Identity, LineageId,
    Marks, More, Namespace, Original, Oversize, Policy, Ranges, RecipientId, RequestId, Revision, Role,
    Sequence, Timestamp, ToolCall, Trunk, Utterance, UtteranceId,
    compaction::{Cause, Compaction},
    conversation::Teller,
    exchange::{AbandonedCall, LateResult, OpenExchange},
    extract::{Item, ItemMarks, Kind, Line, Seen, Shape},
    segment::{Awaits, Imported, LlmText, Segment},
};

/// The largest sequence and revision.
pub const MOST: u64 = i64::MAX as u64;

pub fn text(most: usize) -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..=most).prop_map(String::from_iter)
}

/// An id of 1 to 256 bytes without control characters.
pub fn id() -> impl Strategy<Value = String> {
    let printable = any::<char>().prop_map(|c| if c.is_control() { 'é' } else { c });
    let most = prop_oneof![4 => Just(32), 1 => Just(64)];
    most.prop_flat_map(move |most| vec(printable.clone(), 1..=most)).prop_map(String::from_iter)
}

pub fn boxed(most: usize) -> impl Strategy<Value = Box<str>> {
    text(most).prop_map(Box::from)
}

pub fn map() -> impl Strategy<Value = BTreeMap<String, String>> {
    prop::collection::btree_map(text(6), text(6), 0..4)
}

pub fn lineage() -> impl Strategy<Value = LineageId> {
    any::<[u8; 16]>().prop_map(LineageId)
}

pub fn time() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp)
}

pub fn sequence() -> impl Strategy<Value = Sequence> {
    prop_oneof![1..300u64, 1..=MOST].prop_map(Sequence)
}

/// A sequence, or the 0 that stands for none.
pub fn sequence_or_0() -> impl Strategy<Value = Sequence> {
    prop_oneof![Just(Sequence(0)), sequence()]
}

pub fn revision() -> impl Strategy<Value = Revision> {
    prop_oneof![1..300u64, 1..=MOST].prop_map(Revision)
}

pub fn ranges() -> impl Strategy<Value = Ranges> {
    let small = || vec((0..5u64, 0..200u64), 0..6);
    let wide = || vec((0..MOST / 8, 0..MOST / 8), 0..3);
    prop_oneof![small(), wide()].prop_map(|steps| {
        let (mut ranges, mut end) = (Ranges::new(), 0);
        for (gap, length) in steps {
            ranges.insert(Sequence(end + 1 + gap), Sequence(end + 1 + gap + length));
            end += 2 + gap + length;
        }
        ranges
    })
}

pub fn namespace() -> impl Strategy<Value = Namespace> {
    id().prop_map(|id| Namespace::new(&id).unwrap())
}

pub fn conversation_id() -> impl Strategy<Value = ConversationId> {
    let of_state = id().prop_map(|id| ConversationId::of_state(&RecipientId::new(&id).unwrap()));
    prop_oneof![4 => id().prop_map(|id| ConversationId::new(&id).unwrap()), 1 => of_state]
}

pub fn conversation() -> impl Strategy<Value = ConversationKey> {
    (namespace(), conversation_id()).prop_map(|(namespace, id)| ConversationKey { namespace, id })
}

pub fn recipient() -> impl Strategy<Value = RecipientKey> {
    (namespace(), id())
        .prop_map(|(namespace, id)| RecipientKey { namespace, id: RecipientId::new(&id).unwrap() })
}

pub fn outcome_name() -> impl Strategy<Value = OutcomeName> {
    (namespace(), prop_oneof![Just("Memorize"), Just("Forget")], id()).prop_map(|(namespace, rpc, id)| {
        OutcomeName { namespace, rpc: rpc.into(), request: RequestId::new(&id).unwrap() }
    })
}

pub fn encoding() -> impl Strategy<Value = Encoding> {
    prop::sample::select(&Encoding::ALL[..])
}

fn policy() -> impl Strategy<Value = Policy> {
    let oversize = prop_oneof![Just(Oversize::Keep), Just(Oversize::Reject)];
    let expiry = option::of((any::<u64>(), 0..1_000_000_000u32).prop_map(|(s, n)| Duration::new(s, n)));
    let marks = || option::of(marks());
    let summaries = (any::<bool>(), any::<Option<u32>>(), any::<Option<bool>>(), option::of(text(9)));
    ([marks(), marks(), marks()], summaries, oversize, any::<u32>(), expiry).prop_map(
        |([utterances, tokens, turns], summaries, oversize, archive_limit, expire_after)| Policy {
            utterances,
            tokens,
            turns,
            summarization_enabled: summaries.0,
            summary_token_limit: summaries.1,
            oversize,
            archive_limit,
            expire_after,
            llm_summaries: summaries.2,
            summary_model: summaries.3.map(Into::into),
        },
    )
}

fn marks() -> impl Strategy<Value = Marks> {
    (1..=u32::MAX, any::<u32>(), any::<bool>()).prop_map(|(max, keep, given)| match given {
        true => Marks::with_keep(max, 1 + keep % max).unwrap(),
        false => Marks::of(max),
    })
}

/// A consistent head, without an open exchange.
fn head() -> impl Strategy<Value = HeadRecord> {
    let sets = (ranges(), 0..4u64, 1..300u64);
    let times = (time(), prop_oneof![Just(None), time().prop_map(Some)]);
    let open = option::of((any::<u64>(), vec(boxed(9), 1..4)));
    let counts = (any::<u32>(), 0..1_000_000u64, 1..=u32::MAX);
    let ids = (lineage(), any::<[u8; 16]>());
    (sets, times, (revision(), ids), any::<u64>(), open, counts, any::<(bool, bool)>()).prop_map(
        |(
            (left, lost, gap),
            (update_time, said),
            (revision, (lineage, change)),
            erased,
            open,
            (turn, more, segment),
            flags,
        )| {
            let mut archived = left.clone();
            archived.take_first(lost);
            let pinned_away = archived.clone().take_last(segment.into());
            let next = Sequence(left.last().map_or(0, Sequence::get) + gap);
            let exchange = |(unit, calls)| OpenExchange { unit: Sequence(1 + unit % (next.0 - 1)), calls };
            let head = Head {
                revision,
                change: ChangeId(change),
                update_time,
                said_time: said.unwrap_or(update_time),
                next,
                turn,
                only_instructions: flags.0,
                open: open.filter(|_| next.0 > 1).map(exchange).map(Into::into),
                awaits_answer: flags.1,
                stored: archived.count() + more,
                left: left.into(),
                archived: archived.into(),
                pinned_away: pinned_away.into(),
                erased_at: Revision(erased % (revision.0 + 1)),
                branch: lineage,
                ..Conversation::new(Identity::default(), Policy::ROLLING).head
            };
            HeadRecord { head, next_segment: segment, segments: segment / 2 }
        },
    )
}

fn ending() -> impl Strategy<Value = Ending> {
    let teller = (text(9), any::<u32>());
    let model = (option::of(time()), option::of(teller));
    (time(), text(20), option::of(text(20)), option::of(text(80)), model).prop_map(
        |(time, reason, title, summary, (awaits, teller))| {
            let (title, summary) = (title.map(Into::into), summary.map(Into::into));
            let teller = teller.map(|(model, prompt)| Teller { model: model.into(), prompt });
            Ending { time, reason: reason.into(), title, summary, awaits, teller }
        },
    )
}

/// A consistent head of a conversation that may have ended, and may have been compacted.
pub fn compacted_head() -> impl Strategy<Value = HeadRecord> {
    let numbers = (any::<u32>(), 1..=u32::MAX, any::<[u64; 2]>());
    let abandoned = vec((boxed(9), any::<[u64; 2]>(), any::<bool>()), 0..3);
    let settled = (policy(), option::of(ending()));
    (forked_head(), any::<[u64; 2]>(), numbers, abandoned, settled).prop_map(
        |(record, [silenced, at], (advice_answered, next_compaction, counts), abandoned, (policy, ended))| {
            let [window_tokens, stored_bytes] = counts;
            let newest = record.head.next.0 - 1;
            let call = |(id, [caller, answer], answered): (_, [u64; 2], bool)| {
                let caller = 1 + caller % newest.max(1);
                let after = newest.saturating_sub(caller);
                let answer = (answered && after > 0).then(|| Sequence(caller + 1 + answer % after.max(1)));
                AbandonedCall { id, caller: Sequence(caller), answer }
            };
            let head = Head {
                abandoned: abandoned.into_iter().filter(|_| newest > 0).map(call).collect(),
                silenced_at: Revision(silenced % (record.head.revision.0 + 1)),
                advice_answered,
                compacted_at: Sequence(at % (record.head.next.0 + 1)),
                next_compaction,
                window_tokens,
                stored_bytes,
                policy,
                ended: ended.map(Arc::new),
                ..record.head
            };
            HeadRecord { head, ..record }
        },
    )
}

/// A consistent head of a conversation that may have been forked.
fn forked_head() -> impl Strategy<Value = HeadRecord> {
    let trunks = vec((lineage(), any::<u64>()), 0..4);
    (head(), trunks, option::of(lineage()), any::<bool>()).prop_map(
        |(record, trunks, branch, fresh_branch)| {
            let trunk =
                |(lineage, through)| Trunk { lineage, through: Sequence(through % record.head.next.0) };
            let trunks = trunks.into_iter().map(trunk).collect();
            let branch = branch.unwrap_or(record.head.branch);
            HeadRecord { head: Head { trunks, branch, fresh_branch, ..record.head }, ..record }
        },
    )
}

fn segment() -> impl Strategy<Value = Segment> {
    let (lines, items) = (vec(line(), 0..6), vec(item(), 0..6));
    (1..=u32::MAX, any::<u32>(), ranges(), lines, items, any::<u64>()).prop_map(
        |(number, level, covers, own_lines, items, source_tokens)| {
            let tokens = own_lines.iter().map(|line| line.tokens).sum();
            let (llm_text, awaits, imported) = (None, None, None);
            Segment {
                number,
                level,
                covers,
                items,
                own_lines,
                tokens,
                source_tokens,
                llm_text,
                awaits,
                imported,
            }
        },
    )
}

fn line() -> impl Strategy<Value = Line> {
    (boxed(30), 0..10_000u32, ranges()).prop_map(|(text, tokens, from)| Line { text, tokens, from })
}

fn item() -> impl Strategy<Value = Item> {
    let kind = prop::sample::select(&[Kind::Goal, Kind::Said, Kind::Did, Kind::Fact, Kind::Open][..]);
    let texts = (boxed(9), boxed(30), boxed(9));
    let numbers = (any::<u32>(), 0..=MOST, option::of(1..=MOST), any::<[u32; 2]>());
    (kind, texts, numbers, option::of(seen())).prop_map(|(kind, (head, text, note), numbers, seen)| {
        let (marks, sequence, also, [worth, day]) = numbers;
        let mut item = Item::new(kind, head, text, sequence);
        (item.note, item.marks, item.also, item.worth, item.seen) =
            (note.into(), ItemMarks(marks), also, worth, seen);
        item.day = day;
        item
    })
}

fn seen() -> impl Strategy<Value = Seen> {
    let shape = prop::sample::select(&[Shape::Path, Shape::Url, Shape::Name][..]);
    (shape, any::<[u32; 4]>(), any::<u64>(), option::of(any::<u64>())).prop_map(
        |(shape, [users, assistants, calls, results], last, used)| Seen {
            shape,
            users,
            assistants,
            calls,
            results,
            last,
            used,
        },
    )
}

/// A segment that a model may have written, or that may wait for one.
pub fn told_segment() -> impl Strategy<Value = Segment> {
    (segment(), option::of(llm_text()), option::of(awaits())).prop_map(|(segment, llm_text, awaits)| {
        let llm_text = llm_text.map(Arc::new);
        let lines = llm_text.as_ref().map_or(&segment.own_lines, |llm_text| &llm_text.lines);
        let tokens = lines.iter().map(|line| line.tokens).sum();
        Segment { tokens, llm_text, awaits: awaits.map(Arc::new), ..segment }
    })
}

fn llm_text() -> impl Strategy<Value = LlmText> {
    (vec(line(), 0..5), boxed(9), any::<u32>(), ranges()).prop_map(|(lines, model, prompt, from)| LlmText {
        lines,
        model,
        prompt,
        from,
    })
}

fn awaits() -> impl Strategy<Value = Awaits> {
    (time(), boxed(30), ranges(), vec(text(6), 0..3)).prop_map(|(since, told, from, focus)| Awaits {
        since,
        told,
        from,
        focus: focus.into(),
    })
}

/// An imported segment.
pub fn imported_segment() -> impl Strategy<Value = Segment> {
    (segment(), time(), time(), any::<u64>()).prop_map(|(mut segment, start, end, conversations)| {
        segment.items.iter_mut().for_each(|item| item.kind = Kind::Quoted);
        let imported = Some(Imported { start, end, conversations });
        Segment { covers: Ranges::new(), imported, ..segment }
    })
}

/// A consistent compaction.
pub fn compaction() -> impl Strategy<Value = Compaction> {
    let cause = prop::sample::select(&[Cause::Asked, Cause::Advised, Cause::Policy][..]);
    let made = (1..=u32::MAX, revision(), time(), cause);
    let folded = prop::collection::btree_map(1..=u32::MAX, told_segment(), 0..4);
    let later = (option::of(text(9)), option::of(time()), option::of(folded), option::of(any::<u32>()));
    (made, ranges(), 0..1_000u64, any::<[u64; 4]>(), later).prop_map(
        |(
            (number, revision, time, cause),
            compacted,
            erased,
            tokens,
            (model, undone, folded, keep_recent),
        )| {
            let numbered = |(number, segment)| Arc::new(Segment { number, ..segment });
            Compaction {
                number,
                revision,
                time,
                cause,
                count: compacted.count() + erased,
                compacted,
                kept: tokens[0],
                keep_recent,
                summarised: tokens[0] % 2 == 0,
                source_tokens: tokens[1],
                tokens_before: tokens[2],
                tokens_after: tokens[3],
                model: model.map(Into::into),
                undone,
                folded: folded
                    .filter(|_| undone.is_none())
                    .map(|folded| folded.into_iter().map(numbered).collect()),
            }
        },
    )
}

/// An utterance, and the lineage it is stored in.
pub fn utterance() -> impl Strategy<Value = (LineageId, Utterance)> {
    let place = (sequence(), any::<u64>(), time(), any::<(u32, u32)>());
    let role = prop::sample::select(&Role::ALL[..]);
    let flags = any::<(bool, bool, bool, bool)>();
    let id = prop_oneof![
        id().prop_map(|id| Some(UtteranceId::Given(id.into()))),
        lineage().prop_map(|other| Some(UtteranceId::Assigned(other))),
        Just(None),
    ];
    (lineage(), place, role, flags, id, boxed(200), option::of(more())).prop_map(
        |(lineage, (sequence, unit, create_time, (turn, tokens)), role, flags, id, content, more)| {
            let utterance = Utterance {
                sequence,
                unit: Sequence(1 + unit % sequence.0),
                create_time,
                turn,
                tokens,
                id: id.unwrap_or(UtteranceId::Assigned(lineage)),
                role,
                forgotten: flags.0,
                pinned: flags.1,
                instruction: flags.2,
                aside: flags.3,
                content,
                more: more.map(Box::new),
            };
            (lineage, utterance)
        },
    )
}

fn more() -> impl Strategy<Value = More> {
    let call = (boxed(6), boxed(6), boxed(150));
    let call = call.prop_map(|(id, name, arguments_json)| ToolCall { id, name, arguments_json });
    let optional = || option::of(boxed(6));
    let texts = (optional(), optional(), option::of(boxed(150)));
    let original = (boxed(30), time()).prop_map(|(content, edit_time)| Original { content, edit_time });
    let late = (sequence(), boxed(6)).prop_map(|(caller, tool)| LateResult { caller, tool });
    let rest = (any::<bool>(), any::<u32>(), option::of(original), option::of(late), any::<bool>());
    (texts, vec(call, 0..4), vec(boxed(5), 0..3), map(), rest).prop_map(
        |(
            (name, tool_call_id, extras_json),
            tool_calls,
            tools_used,
            metadata,
            (awaits_answer, extras_tokens, original, late, continues),
        )| {
            More {
                name,
                tool_calls,
                tool_call_id,
                tools_used,
                metadata,
                awaits_answer,
                extras_json,
                extras_tokens,
                original,
                late,
                continues,
            }
        },
    )
}
