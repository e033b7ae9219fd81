//! The steps, in order.

use crate::{
    extras::Parts,
    history::{
        Incoming, Prepared, Request, Warning, WarningKind,
        fit::{Fit, Fitted},
        normal, pairs,
        summary::Earlier,
    },
    repair,
};
use utterd_domain::{
    Conversation, Draft, Ranges, Refusal, Result, Sequence, TokenCounter,
    history::{
        DropReason, Dropped, Entry, Limit, Limits,
        alternation::{Alternation, clashes},
        conversation,
    },
};

/// Turns a history and a prompt into messages that a model accepts.
///
/// - Every outgoing call has its result directly behind it, and every result its call.
/// - The prompt goes out last, whatever is dropped for it. Long messages are cut to their head and tail, as in a context,
///   unless they are to stay whole.
/// - Only role, text, name, calls and results of a message go out.
///
/// Refuses a prompt that exceeds a limit even so, and, with [`Alternation::Reject`], consecutive messages
/// of one role.
pub fn prepare(
    incoming: Incoming,
    prompt: Option<Draft>,
    request: &Request,
    counter: &dyn TokenCounter,
) -> Result<Prepared> {
    let Incoming { field, entries, mut dropped, mut warnings, count, bytes } = incoming;
    let bytes = bytes + prompt.as_ref().map_or(0, |prompt| prompt.content.len());
    let has_prompt = prompt.is_some();
    let entries = entries.into_iter().chain(prompt.map(|draft| Entry { index: None, draft }));
    let (mut entries, unusable) = normal::all(entries, request, field);
    let earlier = request.summary.as_ref().and_then(|_| Earlier::take(&mut entries));
    let before = earlier.as_ref().map_or(0, |earlier| earlier.before);
    let said: Vec<Parts<'_>> = entries.iter().map(|entry| Parts::from(&entry.draft)).collect();
    let pairing = repair::pairing(&said);
    let (unpaired, moved) = pairs::report(&entries, &pairing, field);
    let mut whole = conversation(&entries, &pairing, before, counter);
    whole.summary = earlier.map(|earlier| earlier.summary(counter)).unwrap_or_default();
    let history_token_count = whole.window.tokens() + u64::from(whole.summary.tokens());
    let told = Told { entries: &entries, field, before };
    dropped.extend(unusable.into_iter().chain(unpaired));
    dropped.extend(told.alternate(&mut whole, request)?);
    let mut fit = Fit { said: whole.window.clone(), whole, request, counter, has_prompt };
    let folded = request.summary.as_ref().map(|compaction| fit.fold(compaction)).transpose()?;
    dropped.extend(folded.unwrap_or_default().sequences().filter_map(|sequence| told.summarised(sequence)));
    let Fitted { finished, left_out, recalled, .. } = fit.fit()?;
    let summary = fit.whole.summary.text();
    let mut prepared = Prepared { history_token_count, summary, ..finished.prepared() };
    let left_out = left_out.into_iter().map(|(sequence, limit)| told.left_out(sequence, limit, request));
    dropped.extend(left_out.flatten());
    dropped.sort_by_key(|dropped| dropped.index);
    prepared.recalled = recalled.iter().filter_map(|sequence| told.entry(*sequence)?.index).collect();
    prepared.recalled.sort_unstable();
    prepared.recalled.dedup();
    warnings.extend(moved.into_iter().chain(prepared.warnings));
    warnings.extend(request.size_warnings(count, bytes, prepared.token_count));
    (prepared.dropped, prepared.warnings) = (dropped, warnings);
    Ok(prepared)
}

/// The messages that a conversation was made of.
struct Told<'a> {
    entries: &'a [Entry],
    field: &'static str,
    /// The last sequence before theirs.
    before: u64,
}

impl Told<'_> {
    /// The message of an utterance.
    fn entry(&self, sequence: Sequence) -> Option<&Entry> {
        self.entries.get(usize::try_from(sequence.get().checked_sub(self.before + 1)?).ok()?)
    }

    /// Drops or refuses runs of one role; [`Alternation::Merge`] merges what the limits have left.
    fn alternate(&self, whole: &mut Conversation, request: &Request) -> Result<Vec<Dropped>> {
        let clashes = clashes(&whole.window, request.system_apart());
        match (request.alternation, clashes.first()) {
            (Alternation::Merge, _) | (_, None) => Ok(Vec::new()),
            (Alternation::Reject, Some((first, second))) => Err(self.rejected(*first, *second)),
            (Alternation::Drop, _) => {
                let older: Ranges = clashes.into_iter().map(|(first, _)| first).collect();
                whole.window.remove(&older);
                Ok(older.sequences().filter_map(|sequence| self.superseded(sequence)).collect())
            }
        }
    }

    /// A message that a limit leaves out.
    fn left_out(&self, sequence: Sequence, limit: Limit, request: &Request) -> Option<Dropped> {
        let (index, field) = (self.entry(sequence)?.index?, self.field);
        let (name, most) = (limit.field(), request.limits.of(limit));
        let text =
            format!("{field}[{index}] does not fit: {name} is {most}, and newer messages take precedence");
        Some(Dropped { index, reason: DropReason::from(limit), text })
    }

    /// A message that the summary is about.
    fn summarised(&self, sequence: Sequence) -> Option<Dropped> {
        let index = self.entry(sequence)?.index?;
        let text = format!("{}[{index}] does not fit, and the summary tells of it", self.field);
        Some(Dropped { index, reason: DropReason::Summarised, text })
    }

    /// A message that is followed by another one of its role.
    fn superseded(&self, sequence: Sequence) -> Option<Dropped> {
        let Entry { index, draft } = self.entry(sequence)?;
        let (index, field, role) = ((*index)?, self.field, draft.role);
        let text = format!(
            "{field}[{index}] is followed by another {role} message; only the newest in a row is kept. Accepted are user and assistant in turn"
        );
        Some(Dropped { index, reason: DropReason::Alternation, text })
    }

    fn rejected(&self, first: Sequence, second: Sequence) -> Refusal {
        let index = |sequence| self.entry(sequence).and_then(|entry| entry.index);
        let place = |sequence| {
            index(sequence).map_or_else(|| "prompt".into(), |index| format!("{}[{index}]", self.field))
        };
        let role = self.entry(first).map_or("", |entry| entry.draft.role.as_str());
        let text = format!(
            "has the role {role}, the same as {} directly before it; with the alternation REJECT, user and assistant must take turns",
            place(first)
        );
        Refusal::invalid(place(second), text)
    }
}

impl Request {
    /// Warns from three quarters of a limit.
    fn size_warnings(&self, count: usize, bytes: usize, tokens: u32) -> impl Iterator<Item = Warning> {
        let Limits { messages, bytes: most, tokens: budget } = self.limits;
        let near = |used: u64, limit: u64| used > 0 && used * 4 >= limit * 3;
        let many = near(count as u64, messages as u64).then(|| Warning {
            kind: WarningKind::ManyMessages,
            text: format!("the history has {count} messages; at most the newest {messages} go to the model"),
        });
        let large = near(bytes as u64, most as u64).then(|| Warning {
            kind: WarningKind::LargeRequest,
            text: format!("the history and the prompt have {bytes} bytes; at most {most} go to the model"),
        });
        let budget = budget.filter(|budget| near(u64::from(tokens), u64::from(*budget)));
        let tight = budget.map(|budget| Warning {
            kind: WarningKind::NearTokenBudget,
            text: format!("what goes to the model has {tokens} tokens of a budget of {budget}"),
        });
        [many, large, tight].into_iter().flatten()
    }
}
