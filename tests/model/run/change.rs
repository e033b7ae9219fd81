//! Calls that can change something: their responses, their trace events, and their effects.

use std::collections::BTreeSet;

use tonic::Status;
use utterd::proto::{Event, GetSummaryResponse, Operation, Segment, UtteranceRef};

use super::{
    Run,
    messages::{compare_texts, unmarked},
    own,
    send::{Reply, reason, send},
    trace,
};
use crate::{
    checks::same,
    ensure,
    naive::{Call, Conversation, Earlier, Expected, Facts, Selection},
    text::markers,
};

impl Run {
    /// Sends the call and compares all of its results.
    pub(super) async fn change(&mut self, call: Call) -> Result<(), String> {
        if let Call::Forget(request, selection) = &call
            && request.dry_run
        {
            let wet = utterd::proto::ForgetRequest { dry_run: false, ..request.clone() };
            let obeyed = selection.clone().map(|selection| Selection { english: false, ..selection });
            return self.rehearse(&call, &Call::Forget(wet, obeyed)).await;
        }
        if let Call::Compact(request) = &call
            && request.preview
        {
            let wet = utterd::proto::CompactConversationRequest { preview: false, ..request.clone() };
            return self.rehearse(&call, &Call::Compact(wet)).await;
        }
        let before = self.world.conversations.clone();
        let expected = self.world.call(&call, self.now());
        let reply = send(self.services(), &call).await;
        match (expected, reply) {
            (Err(expected), Err(status)) => self.refused(expected, &status, &own(&call)),
            (Err(expected), Ok(reply)) => {
                Err(format!("accepted, but must be refused as {expected}: {reply:?}"))
            }
            (Ok(expected), Err(status)) => Err(format!("refused by {status:?}\nmust be: {expected:?}")),
            (Ok(expected), Ok(reply)) if call.keeps_own() => self.kept_own(&call, expected, reply).await,
            (Ok(Expected::Now(facts)), Ok(reply)) => {
                let before = before.iter().find(|one| one.birth == facts.birth);
                compare_messages(&call, &reply, &facts, before)?;
                self.decided(&call, &facts, reply).await
            }
            (Ok(Expected::Earlier(earlier)), Ok(reply)) => self.replayed(&earlier, &reply),
        }
    }

    /// A refusal gives its reason, creates no event, and shows no text but `own`, the caller's.
    pub(super) fn refused(
        &mut self,
        expected: &str,
        status: &Status,
        own: &BTreeSet<u32>,
    ) -> Result<(), String> {
        self.tally.count(&format!("refused: {expected}"), 1);
        same("the reason of the refusal", &reason(status).as_str(), &expected)?;
        self.allowed(status.message().as_bytes(), own)?;
        self.allowed(status.details(), own)?;
        self.expect_event(None)
    }

    /// A dry run returns what the call would, and changes nothing.
    async fn rehearse(&mut self, call: &Call, wet: &Call) -> Result<(), String> {
        let mut rehearsed = self.world.clone();
        let expected = rehearsed.call(wet, self.now());
        let reply = send(self.services(), call).await;
        let (facts, reply) = match (expected, reply) {
            (Err(expected), Err(status)) => return self.refused(expected, &status, &own(call)),
            (Ok(Expected::Now(facts)), Ok(reply)) => (facts, reply),
            other => return Err(format!("dry run: {other:?}")),
        };
        self.expect_event(None)?;
        let present = self.world.by_birth(facts.birth);
        compare_messages(call, &reply, &facts, present)?;
        let present = present.map_or(0, |present| present.revision);
        let after = rehearsed.by_birth(facts.birth).ok_or("the model lost the conversation")?;
        // The content of the hypothetical summary is up to the server.
        let mut capacity = after.capacity(&self.summary_of(facts.birth), self.now());
        let answered = reply.capacity.clone().unwrap_or_default();
        (capacity.summary, capacity.total_token_count) = (answered.summary, answered.total_token_count);
        let mut facts = *facts;
        if let Some(compaction) = &reply.compaction {
            // a preview has the present revision, and a compaction without a number
            (facts.compaction, facts.revision, capacity.revision) = (None, present, present);
            compare_compaction(call, compaction, &facts, after)?;
        }
        same("the capacity of a dry run", &reply.capacity, &Some(capacity))?;
        compare_references(&reply, &facts, after)?;
        self.observe(facts.birth).await
    }

    async fn decided(&mut self, call: &Call, facts: &Facts, reply: Reply) -> Result<(), String> {
        ensure!(!reply.replayed, "is called a replay");
        self.tally.facts(facts);
        self.tally.count("came as messages", usize::from(matches!(call, Call::Memorize(_, Some(_)))));
        self.tally.count("forked", usize::from(matches!(call, Call::Fork(_))));
        self.tally.count("lost with another", facts.reached.len());
        self.tally.count("compacted", usize::from(matches!(call, Call::Compact(_))));
        self.learn(call, facts, &reply)?;
        let news = self.engine().trace.news()?;
        let Some(after) = self.world.by_birth(facts.birth).cloned() else {
            return self.removed(call, facts, &reply, &news).await;
        };
        self.recipients.insert(facts.birth, after.recipient.clone());
        let before = self.summary_of(facts.birth);
        let summary = self.read_summary(&after).await?;
        let segments = Segments::between(&before, &summary);
        let event = facts.changed.then(|| Event {
            conversation_id: after.id.clone(),
            recipient_id: after.recipient.clone(),
            request_id: call.request_id().to_owned(),
            written_segment_numbers: segments.written.iter().map(|one| one.segment_number).collect(),
            removed_segment_numbers: segments.removed.clone(),
            compaction_number: facts.compaction,
            ..trace::change(call.operation(), facts)
        });
        let mut events: Vec<Event> = facts.ended.map(|left| self.end_of(left)).into_iter().collect();
        events.extend(facts.parent.map(|parent| self.event_of_parent(call, parent)));
        events.extend(event);
        for (birth, lost) in &facts.reached {
            events.push(self.lost(call, *birth, lost).await?);
        }
        events.extend(facts.own.map(|revision| own::change(&after.recipient, call.request_id(), revision)));
        self.compare_event(&news, events)?;
        self.compare_ended(&reply, facts)?;
        self.tally.count("ended", usize::from(facts.ended.is_some() || matches!(call, Call::End(_))));
        self.tally.count("folded", segments.written.iter().filter(|segment| segment.level() > 0).count());
        compare_references(&reply, facts, &after)?;
        compare_summary(&reply, facts, &segments, &after)?;
        if let Some(compaction) = &reply.compaction {
            compare_compaction(call, compaction, facts, &after)?;
        }
        if let Some(told) = &reply.told {
            same("the text of the summary", told, &summary.text)?;
        }
        self.compare_states(&reply, facts, &after, &summary)?;
        self.allowed(&reply.wire, &made(&reply))?;
        if !call.request_id().is_empty() {
            self.firsts.insert(first_key(call), reply);
        }
        for birth in facts.parent.into_iter().chain(facts.reached.iter().map(|(birth, _)| *birth)) {
            self.observe(birth).await.map_err(|error| format!("in the other conversation: {error}"))?;
        }
        self.observe(facts.birth).await
    }

    /// The event of a conversation that was forked.
    fn event_of_parent(&self, call: &Call, birth: usize) -> Event {
        let parent = self.world.by_birth(birth);
        let facts = Facts { revision: parent.map_or(0, |parent| parent.revision), ..Facts::default() };
        Event {
            conversation_id: parent.map(|parent| parent.id.clone()).unwrap_or_default(),
            recipient_id: parent.map(|parent| parent.recipient.clone()).unwrap_or_default(),
            request_id: call.request_id().to_owned(),
            ..trace::change(call.operation(), &facts)
        }
    }

    /// The event for what another conversation that shares the erased utterances lost.
    async fn lost(&mut self, call: &Call, birth: usize, lost: &Facts) -> Result<Event, String> {
        let after = self.world.by_birth(birth).cloned().ok_or("the model lost the conversation")?;
        let before = self.summary_of(birth);
        let summary = self.read_summary(&after).await?;
        let segments = Segments::between(&before, &summary);
        Ok(Event {
            conversation_id: after.id.clone(),
            recipient_id: after.recipient.clone(),
            request_id: call.request_id().to_owned(),
            written_segment_numbers: segments.written.iter().map(|one| one.segment_number).collect(),
            removed_segment_numbers: segments.removed,
            compaction_number: lost.compaction,
            ..trace::change(call.operation(), lost)
        })
    }

    /// Learns server-made ids; an utterance's id ends in its sequence.
    fn learn(&mut self, call: &Call, facts: &Facts, reply: &Reply) -> Result<(), String> {
        let conversation = reply.conversation.as_ref().and_then(Option::as_ref);
        let named = conversation.map(|one| one.conversation_id.clone()).or(reply.conversation_id.clone());
        let ids: Vec<_> = reply.memorized.iter().map(|one| one.utterance_id.clone()).collect();
        same("the number of utterances memorized", &ids.len(), &facts.memorized.len())?;
        if let Call::Memorize(request, _) = call {
            let new = (0..).zip(&request.utterances).filter(|(place, _)| !facts.instead.contains(place));
            for (((_, said), id), sequence) in new.zip(&ids).zip(&facts.memorized) {
                let right = match said.utterance_id.as_str() {
                    "" => id.ends_with(&format!("-{sequence}")),
                    given => given == id,
                };
                ensure!(right, "the utterance {sequence} is named {id:?}");
            }
        }
        if let Some(named) = named {
            self.world.learn(facts, &named, &ids);
        }
        Ok(())
    }

    async fn removed(
        &mut self,
        call: &Call,
        facts: &Facts,
        reply: &Reply,
        news: &[Event],
    ) -> Result<(), String> {
        same("the utterances removed", &reply.removed, &facts.removed)?;
        let known = self.recipients.get(&facts.birth).cloned().unwrap_or_default();
        let event = Event {
            conversation_id: call.address().0.to_owned(),
            recipient_id: known,
            ..trace::change(Operation::DeleteConversation, facts)
        };
        self.compare_event(news, [event])
    }

    /// The event for the end of a conversation that was idle.
    fn end_of(&self, birth: usize) -> Event {
        let left = self.world.by_birth(birth);
        let facts = Facts { revision: left.map_or(0, |left| left.revision), ..Facts::default() };
        Event {
            conversation_id: left.map(|left| left.id.clone()).unwrap_or_default(),
            recipient_id: left.map(|left| left.recipient.clone()).unwrap_or_default(),
            ..trace::change(Operation::EndConversation, &facts)
        }
    }

    /// The response names the conversation that was ended to start this one.
    fn compare_ended(&mut self, reply: &Reply, facts: &Facts) -> Result<(), String> {
        let left = facts.ended.and_then(|left| self.world.by_birth(left)).map(|left| left.id.clone());
        self.tally.count("left idle", usize::from(left.is_some()));
        match &reply.ended {
            Some(ended) => same("the conversation that ended", ended, &left.unwrap_or_default()),
            None => Ok(()),
        }
    }

    pub(super) fn compare_event(
        &self,
        news: &[Event],
        expected: impl IntoIterator<Item = Event>,
    ) -> Result<(), String> {
        let bare = |event: &Event| Event { event_id: String::new(), time: None, ..event.clone() };
        same("the events of the call", &news.iter().map(bare).collect(), &Vec::from_iter(expected))
    }

    fn compare_states(
        &self,
        reply: &Reply,
        facts: &Facts,
        after: &Conversation,
        summary: &GetSummaryResponse,
    ) -> Result<(), String> {
        let now = self.now();
        if let Some(id) = &reply.conversation_id {
            same("the conversation", id, &after.id)?;
        }
        if let Some(capacity) = &reply.capacity {
            same("the capacity", capacity, &after.capacity(summary, now))?;
        }
        if let Some(conversation) = &reply.conversation {
            let basic = after.basic(self.world.is_active(after), now);
            let shown = conversation.clone().unwrap_or_default();
            let basic = self.with_what_was_made(basic, &shown, after)?;
            same("the conversation", conversation, &Some(basic))?;
        }
        if let Some(utterance) = &reply.utterance {
            let utterance = unmarked(utterance.clone().into_iter().collect(), after).pop();
            same("the utterance", &utterance, &facts.target.map(|target| after.shown(target)))?;
        }
        Ok(())
    }

    /// A replay refers to what the first call did, as it was then, and contains no text.
    fn replayed(&mut self, earlier: &Earlier, reply: &Reply) -> Result<(), String> {
        ensure!(reply.replayed, "a replay that does not say so");
        self.tally.count("replayed", 1);
        self.expect_event(None)?;
        let first = self.firsts.get(&first_key(&earlier.call)).cloned().ok_or("a replay of nothing")?;
        let alive = self.world.by_birth(earlier.facts.birth);
        compare_earlier(&earlier.facts, reply, &first)?;
        if reply.conversation != Some(None) {
            same("the conversation replayed", &reply.conversation_id, &first.conversation_id)?;
        }
        same("the revision replayed", &reply.revision, &first.revision)?;
        same("the segments replayed", &reply.rebuilt_segments, &first.rebuilt_segments)?;
        same("the start replayed", &reply.started, &first.started)?;
        let status = alive.map_or(0, |one| one.status(self.now()).into());
        let recipient_id = alive.map(|one| one.recipient.clone()).unwrap_or_default();
        let now = |first| utterd::proto::Capacity { status, recipient_id, ..first };
        let capacity = first.capacity.map(now);
        same("the capacity replayed", &reply.capacity, &capacity)?;
        if let Some(conversation) = &reply.conversation {
            let shown = conversation.clone().unwrap_or_default();
            let basic = |one: &Conversation| {
                self.with_what_was_made(one.basic(self.world.is_active(one), self.now()), &shown, one)
            };
            let basic = alive.map(basic).transpose()?;
            same("the conversation of a replay", conversation, &basic)?;
        }
        if let Some(utterance) = &reply.utterance {
            let target = earlier.facts.target.zip(alive).filter(|(target, one)| one.get(*target).is_stored());
            let utterance = utterance.clone().into_iter().collect();
            let utterance = alive.and_then(|alive| unmarked(utterance, alive).pop());
            same("the utterance of a replay", &utterance, &target.map(|(target, one)| one.shown(target)))?;
        }
        same("the end replayed", &reply.ended, &first.ended)?;
        self.allowed(&reply.wire, &made(reply))
    }

    /// Checks that a response contains no other markers than these.
    pub(super) fn allowed(&self, wire: &[u8], allowed: &BTreeSet<u32>) -> Result<(), String> {
        let found = markers(wire);
        let leaked: Vec<_> = found.difference(allowed).collect();
        ensure!(
            leaked.is_empty(),
            "the response holds text of {leaked:?}: {}",
            String::from_utf8_lossy(wire)
        );
        Ok(())
    }
}

/// The markers in the title and the closing summary of a response, which are checked separately.
fn made(reply: &Reply) -> BTreeSet<u32> {
    let shown = reply.conversation.iter().flatten();
    shown.flat_map(|one| markers(format!("{} {}", one.title, one.closing_summary).as_bytes())).collect()
}

/// The changes of a summary.
struct Segments {
    written: Vec<Segment>,
    removed: Vec<i32>,
    token_count: Option<i32>,
}

impl Segments {
    fn between(before: &GetSummaryResponse, after: &GetSummaryResponse) -> Self {
        let has = |summary: &GetSummaryResponse, number: i32| {
            summary.segments.iter().any(|segment| segment.segment_number == number)
        };
        let written = after.segments.iter().filter(|one| !has(before, one.segment_number)).cloned().collect();
        let numbers = before.segments.iter().map(|segment| segment.segment_number);
        let mut removed: Vec<i32> = numbers.filter(|number| !has(after, *number)).collect();
        removed.sort_unstable();
        Self { written, removed, token_count: after.token_count }
    }
}

fn compare_references(reply: &Reply, facts: &Facts, after: &Conversation) -> Result<(), String> {
    let refer = |sequences: &[i64]| -> Vec<UtteranceRef> {
        sequences.iter().map(|sequence| after.reference(*sequence)).collect()
    };
    same("what was memorized", &reply.memorized, &refer(&facts.memorized))?;
    if let Some(evicted) = &reply.evicted {
        same("what was evicted", evicted, &refer(&facts.evicted))?;
    }
    same("what was restored", &reply.restored, &refer(&[&*facts.restored, &*facts.returned].concat()))?;
    let forgotten = [&*facts.forgotten, &*facts.erased].concat();
    same("what was forgotten", &reply.forgotten, &refer(&forgotten))?;
    if let Some(revision) = reply.revision {
        same("the revision", &revision, &facts.revision)?;
    }
    if let Some(started) = reply.started {
        same("whether the conversation started", &started, &facts.started)?;
    }
    let irregular: Vec<_> =
        reply.irregularities.iter().map(|one| (one.index.unwrap_or(-1), one.sequence)).collect();
    same("the irregularities", &irregular, &facts.irregular)
}

/// Forgotten messages are returned as they were, if that is requested.
fn compare_messages(
    call: &Call,
    reply: &Reply,
    facts: &Facts,
    before: Option<&Conversation>,
) -> Result<(), String> {
    let asks = matches!(call, Call::Forget(request, _) if request.return_messages);
    match before.filter(|_| asks) {
        Some(before) => {
            let forgotten = [&*facts.forgotten, &*facts.erased].concat();
            compare_texts(&reply.messages, &forgotten, before)
        }
        None => same("the messages", &reply.messages, &Vec::new()),
    }
}

fn compare_compaction(
    call: &Call,
    compaction: &Option<utterd::proto::Compaction>,
    facts: &Facts,
    after: &Conversation,
) -> Result<(), String> {
    let shown = compaction.clone().unwrap_or_default();
    same("the number of the compaction", &shown.compaction_number, &facts.compaction)?;
    match call {
        Call::Compact(_) => {
            let left = facts.evicted.len() as i32;
            let counts = (shown.compacted_utterance_count(), shown.kept_utterance_count());
            same("what was compacted", &shown.compacted, &trace::ranges(&facts.evicted))?;
            same("how many left and stayed", &counts, &(left, after.window().len() as i32))?;
            let is_undoable =
                facts.compaction.is_some() && facts.dropped.iter().all(|one| !facts.evicted.contains(one));
            same("whether it can be undone", &shown.undoable, &is_undoable)
        }
        _ => same("what was given back", &shown.compacted, &trace::ranges(&facts.returned)),
    }
}

/// A replay refers to what the first answer referred to, as it was then.
fn compare_earlier(facts: &Facts, reply: &Reply, first: &Reply) -> Result<(), String> {
    same("what was memorized first", &reply.memorized, &first.memorized)?;
    same("what was evicted first", &reply.evicted, &first.evicted)?;
    same("what was restored first", &reply.restored, &first.restored)?;
    same("what was forgotten first", &reply.forgotten, &first.forgotten)?;
    same("the messages of a replay", &reply.messages, &Vec::new())?;
    if let Some(Some(compaction)) = &reply.compaction {
        same("the compaction of a replay", &compaction.compaction_number, &facts.compaction)?;
    }
    same("the summary of a replay", &reply.summary.clone().flatten(), &None)
}

fn compare_summary(
    reply: &Reply,
    facts: &Facts,
    segments: &Segments,
    after: &Conversation,
) -> Result<(), String> {
    if let Some(rebuilt) = reply.rebuilt_segments {
        same("the segments rebuilt", &rebuilt, &(segments.removed.len() as i32))?;
    }
    if let Some(update) = &reply.summary {
        let changed = !segments.written.is_empty() || !segments.removed.is_empty();
        let expected = changed.then(|| utterd::proto::SummaryUpdate {
            written: segments.written.clone(),
            replaced_segment_numbers: segments.removed.clone(),
            token_count: segments.token_count,
        });
        same("what changed in the summary", update, &expected)?;
    }
    same("whether the revision moved", &(facts.changed || segments.written.is_empty()), &true)?;
    let fresh = |one: &&Segment| one.level() == 0 && one.covers == trace::ranges(&facts.evicted);
    for segment in segments.written.iter().filter(fresh) {
        let pairing = after.pairing();
        let live = facts.evicted.iter().filter(|sequence| after.is_live(**sequence, &pairing));
        let source: i32 = live.map(|sequence| after.get(*sequence).tokens).sum();
        let most = (source / 2).max(40);
        ensure!(segment.token_count <= Some(most), "a segment of more than {most} tokens: {segment:?}");
    }
    Ok(())
}

/// The markers that the caller itself writes.
fn own(call: &Call) -> BTreeSet<u32> {
    markers(format!("{call:?}").as_bytes())
}

fn first_key(call: &Call) -> String {
    format!("{} {}", call.operation().as_str_name(), call.request_id())
}
