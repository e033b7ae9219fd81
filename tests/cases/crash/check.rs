//! Whether a restarted server still has what it acknowledged before.

use crate::{
    crash::{
        client::Client,
        known::{Known, Said},
        ledger::{Attempt, Ledger, Slot},
        load::Watch,
        observed::{Observed, same},
        request::{Facts, Failure, Request},
        tally::Tally,
    },
    ensure,
    support::random::Random,
};

/// Checks every conversation of `ledger`, and retries what was not answered, so that afterwards every attempt
/// is. `watch` is told of these answers.
pub async fn check(
    address: &str,
    ledger: &mut Ledger,
    random: &mut Random,
    watch: &impl Watch,
) -> Result<Tally, String> {
    let mut checker = Checker { client: Client::connect(address).await, random, watch };
    let mut tally = Tally { crashes: 1, acknowledged: ledger.answered(), ..Tally::default() };
    for slot in &mut ledger.slots {
        let id = slot.id.clone();
        let checked = checker.check(slot).await;
        tally += checked.map_err(|error| format!("{id}: {error}"))?;
    }
    Ok(tally)
}

struct Checker<'a, W> {
    client: Client,
    random: &'a mut Random,
    watch: &'a W,
}

impl<W: Watch> Checker<'_, W> {
    async fn check(&mut self, slot: &mut Slot) -> Result<Tally, String> {
        let mut tally = Tally::default();
        let found = Observed::read(&mut self.client, &slot.id).await?;
        found.as_ref().map_or(Ok(()), Observed::is_consistent)?;
        has_all_acknowledged(slot, found.as_ref())?;
        let revision = found.map_or(0, |found| found.capacity.revision);
        self.repeat_unanswered(slot, revision, &mut tally).await?;
        self.repeat_answered(slot, &mut tally).await?;
        is_exactly(&slot.known, Observed::read(&mut self.client, &slot.id).await?.as_ref())?;
        Ok(tally)
    }

    /// Retries each unanswered attempt: those that had taken effect, which are the first of them, return
    /// their outcome; together they account for `revision`.
    async fn repeat_unanswered(
        &mut self,
        slot: &mut Slot,
        revision: i64,
        tally: &mut Tally,
    ) -> Result<(), String> {
        let (mut reached, mut lost) = (slot.known.revision, false);
        for attempt in slot.unanswered().to_vec() {
            let facts = self.repeat(&attempt).await?;
            if facts.replayed {
                ensure!(!lost, "{} was stored although an earlier one was not", attempt.name);
                reached = facts.revision;
                tally.unanswered_stored += 1;
            } else {
                lost = true;
                tally.unanswered_lost += 1;
            }
            self.watch.answered(&attempt.name);
            slot.answer(facts)?;
        }
        same("the revision that the replayed attempts account for", &reached, &revision)
    }

    /// Repeats a few answered attempts: the answers must be the same.
    async fn repeat_answered(&mut self, slot: &Slot, tally: &mut Tally) -> Result<(), String> {
        let answered = slot.answered_in_this_life();
        let newest = answered.len().saturating_sub(1);
        let places = [newest, self.random.below(answered.len()), self.random.below(answered.len())];
        let attempts = places.iter().filter_map(|place| answered.get(*place));
        for attempt in attempts.filter(|attempt| attempt.request.is_named()) {
            let facts = self.repeat(attempt).await?;
            ensure!(facts.replayed, "{} was answered before and is not replayed: {facts:?}", attempt.name);
            let first = attempt.facts.clone().unwrap_or_default();
            let (is, must_be) = (attempt.references(&facts), attempt.references(&first));
            same(&format!("the outcome of {}", attempt.name), &is, &must_be)?;
            tally.replayed += 1;
        }
        Ok(())
    }

    async fn repeat(&mut self, attempt: &Attempt) -> Result<Facts, String> {
        match attempt.request.send(&mut self.client).await {
            Ok(facts) => Ok(facts),
            // It had been deleted: there is no outcome to return.
            Err(Failure::Refused(status))
                if !attempt.request.is_named() && status.code() == tonic::Code::NotFound =>
            {
                Ok(Facts { replayed: true, ..Facts::default() })
            }
            Err(failure) => Err(format!("{} is not answered: {failure:?}", attempt.name)),
        }
    }
}

/// What was acknowledged is there, whether or not the unanswered attempts took effect.
fn has_all_acknowledged(slot: &Slot, found: Option<&Observed>) -> Result<(), String> {
    let (known, pending) = (&slot.known, slot.unanswered());
    let Some(found) = found else {
        let deleted = pending.iter().any(|attempt| matches!(attempt.request, Request::Delete(_)));
        ensure!(!known.exists() || deleted, "the conversation is gone; it was acknowledged with {known:?}");
        return Ok(());
    };
    if pending.is_empty() {
        return is_exactly(known, Some(found));
    }
    let revisions = known.revision..=known.revision + pending.len() as i64;
    ensure!(
        revisions.contains(&found.capacity.revision),
        "the revision is {} and must be {revisions:?}",
        found.capacity.revision
    );
    if pending.iter().any(|attempt| attempt.request.erases()) {
        return Ok(()); // what is missing must be in the answer to the retry
    }
    let drops = Drops { most: pending_utterances(pending) };
    drops.only_explain(known, found)?;
    let covered = found.covered()?;
    ensure!(known.left.is_subset(&covered), "acknowledged as evicted and not covered: {:?}", known.left);
    Ok(())
}

fn pending_utterances(pending: &[Attempt]) -> usize {
    let utterances = |attempt: &Attempt| match &attempt.request {
        Request::Memorize(request) => request.utterances.len(),
        _ => 0,
    };
    pending.iter().map(utterances).sum()
}

/// Utterances that pending calls might have dropped from a full archive.
struct Drops {
    /// The number of utterances in the pending calls.
    most: usize,
}

impl Drops {
    /// Each acknowledged utterance is there unchanged, or older than the oldest archived one while pending
    /// calls might push it out.
    fn only_explain(&self, known: &Known, found: &Observed) -> Result<(), String> {
        let oldest = found.utterances.first().map_or(i64::MAX, |said| said.sequence);
        for (sequence, said) in &known.stored {
            let place = found.utterances.binary_search_by_key(sequence, |shown| shown.sequence);
            let Ok(place) = place else {
                let may_be_dropped = self.most > 0 && *sequence < oldest;
                ensure!(may_be_dropped, "acknowledged and gone: {sequence}, {said:?}");
                continue;
            };
            let shown = &found.utterances[place];
            let is = (&shown.utterance_id, &shown.content, shown.token_count());
            same("an acknowledged utterance", &is, &(&said.id, &said.content, said.tokens))?;
            ensure!(said.in_window || shown.position.is_none(), "evicted and in the window: {shown:?}");
        }
        Ok(())
    }
}

impl Attempt {
    /// The part of an answer that a replay always repeats. For CreateConversation, it is the current
    /// conversation.
    fn references(&self, facts: &Facts) -> (Option<i64>, [Vec<i64>; 4]) {
        let is_created = matches!(self.request, Request::Create(_));
        let refs = [&facts.memorized, &facts.evicted, &facts.forgotten, &facts.restored];
        let sequences = refs.map(|refs| refs.iter().map(|at| at.sequence).collect());
        ((!is_created).then_some(facts.revision), sequences)
    }
}

/// The conversation is exactly what all its answers together say.
fn is_exactly(known: &Known, found: Option<&Observed>) -> Result<(), String> {
    same("whether the conversation is there", &found.is_some(), &known.exists())?;
    let Some(found) = found else { return Ok(()) };
    found.is_consistent()?;
    let mut must_be = known.stored.iter();
    for shown in &found.utterances {
        let is = (shown.sequence, Said::shown(shown));
        same("what is stored", &Some((&is.0, &is.1)), &must_be.next())?;
    }
    ensure!(must_be.len() == 0, "acknowledged and gone: {:?}", must_be.collect::<Vec<_>>());
    same("what segments cover", &found.covered()?, &known.left)?;
    same("the revision", &found.capacity.revision, &known.revision)
}
