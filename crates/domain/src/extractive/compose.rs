//! Writes a summary from the candidates.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    TokenCounter,
    extractive::{
        choose::{Voice, Weighed, Weigher},
        focus::{Focus, Kind},
        naming::ledger::{Told, ledger},
        pool::{MENTIONED, Pool, Said},
        progress::{
            open::{self, failure},
            state,
        },
        sentence::{LineKind, Part, Sentence, total},
        share::{Section, Shares},
        text::clip::fitted,
        tools::acts,
    },
};

/// The factor for facts that are still being talked about: they are more likely to be needed.
const TALK_FACTOR: u32 = 4;
/// A smaller budget, in tokens, that holds no section has the best sentence, clipped.
const LEAST_SENTENCES_TOKENS: u32 = 48;
/// Lines rarely have more tokens than their bytes divided by this.
const LEAST_TOKEN_BYTES: usize = 3;
/// A remainder larger than one part in this many of the budget is offered to the ledger again.
const LEAST_USED_PART: u32 = 20;
/// A remainder smaller than this is left unused.
const LEAST_REST: u32 = 6;

/// The most informative lines that fit in `budget` tokens.
///
/// Each section takes at most its share, in the order of their importance; what a section leaves goes to the next ones,
/// and in the end to more sentences.
pub(super) fn compose(
    mut pool: Pool,
    focus: &Focus,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    if budget < LEAST_SENTENCES_TOKENS && !pool.saids.is_empty() {
        pool.only_said();
    }
    let Pool {
        goal,
        steps,
        checks,
        mut acts,
        acts_left_out,
        mut saids,
        pages,
        mut facts,
        mut matters,
        mut days,
        ..
    } = pool;
    let is_talk = !matches!(focus.kind(), Some(Kind::Code | Kind::Feature | Kind::Review | Kind::Debugging))
        && acts.is_empty()
        && pages.iter().all(|page| page.head.ends_with(MENTIONED));
    let bytes: usize = saids.iter().map(|said| said.text.len()).sum();
    let fits = bytes / LEAST_TOKEN_BYTES <= budget as usize / 2;
    let is_work = !checks.is_empty() || acts.iter().any(|act| act.is_of_file);
    let mut shares = Shares::new(budget, is_talk, is_work, fits);
    shares.spent(days.within(budget));
    acts.sort_by_key(|act| act.sequence);
    saids.sort_by_key(|said| said.sequence);
    matters.extend(acts.iter().filter(|act| act.failed).map(failure));
    for fact in facts.iter_mut().filter(|fact| focus.is_talked_of(fact.concepts[0])) {
        fact.worth = fact.worth.saturating_mul(TALK_FACTOR);
    }

    let goal = shares.spend(Section::Goal, |room| state::goal(&goal, room, counter));
    let open = shares.spend(Section::Open, |room| open::line(matters, &acts, &saids, room, counter));
    let checks = shares.spend(Section::Checks, |room| state::checks(&checks, room, counter));
    let most = shares.most_acts();
    let acts = acts::newest(acts);
    let written_acts = |room: u32| acts::written(&acts, &acts_left_out, room, most, counter);
    let mut done = shares.spend(Section::Acts, written_acts);
    let steps = shares.spend(Section::Steps, |room| state::steps(&steps, room, counter));

    let mut weigher = Weigher::default();
    saids.retain(|said| weigher.add(said.said(), said.voice, said.worth, focus));
    let mut sentences = Sentences::new(saids, weigher.weighed(), Told::nothing_of(&facts), counter);
    for line in goal.iter().chain(&open).chain(&checks) {
        sentences.weighed.tell(&line.text);
    }
    let mut spare = 0;
    for (section, voice) in [(Section::User, Voice::User), (Section::Others, Voice::Other)] {
        let room = shares.room(section).saturating_add(spare / 2).min(shares.left());
        let before = sentences.tokens();
        sentences.choose(Some(voice), room);
        let spent = sentences.tokens() - before;
        // where users say little, what the assistant found counts more
        spare = room.saturating_sub(spent);
        shares.spent(spent);
    }
    if done.iter().any(|line| line.left_out() > 0) {
        let before = total(&done);
        done = written_acts(before.saturating_add(shares.spare()));
        shares.spent(total(&done).saturating_sub(before));
    }
    for line in goal.iter().chain(&done).chain(&steps).chain(&checks).chain(&open) {
        sentences.told.add(&line.text);
    }
    let written = |sentences: &Sentences<'_>| -> Vec<Sentence> {
        let said = days.above(&sentences.lines);
        goal.iter().chain(&said).chain(&done).chain(&steps).chain(&checks).cloned().collect()
    };
    if budget < LEAST_SENTENCES_TOKENS && written(&sentences).is_empty() && !sentences.saids.is_empty() {
        return sentences.clipped(budget).into_iter().collect();
    }
    let spoken = sentences.tokens();
    let entries =
        |sentences: &Sentences<'_>, room: u32| ledger(&facts, &pages, &sentences.told, room, counter);
    let (left, candidates) = (shares.left(), facts.len());
    let mut facts = entries(&sentences, left);
    sentences.weighed.take_rest();
    let rest = left.saturating_sub(total(&facts));
    if rest >= LEAST_REST {
        let more = sentences.choose(Some(Voice::User), rest);
        let rest = (spoken + rest).saturating_sub(sentences.tokens());
        if sentences.choose(None, rest) || more {
            // what these sentences mention need not be in the ledger
            facts = entries(&sentences, (spoken + left).saturating_sub(sentences.tokens()));
        }
    }
    let room = (spoken + left).saturating_sub(sentences.tokens());
    let unused = room.saturating_sub(total(&facts));
    if unused > budget / LEAST_USED_PART
        && facts.iter().map(|line| line.items.len()).sum::<usize>() < candidates
    {
        // entries that a head named later were dropped
        let more = entries(&sentences, room.saturating_add(unused));
        facts = if total(&more) <= room { more } else { facts };
    }
    let mut lines = written(&sentences);
    lines.extend(facts);
    lines.extend(open);
    if lines.is_empty() {
        lines.extend(sentences.clipped(budget));
    }
    lines
}

/// Candidate sentences, and the chosen ones.
struct Sentences<'a> {
    saids: Vec<Said>,
    weighed: Weighed,
    chosen: Vec<usize>,
    /// The lines of the chosen sentences.
    lines: Vec<Sentence>,
    /// Every line that was written so far, by the places of its sentences.
    written: FxHashMap<Vec<usize>, Sentence>,
    /// What the lines mention of the facts.
    told: Told,
    counter: &'a dyn TokenCounter,
}

impl<'a> Sentences<'a> {
    fn new(saids: Vec<Said>, weighed: Weighed, told: Told, counter: &'a dyn TokenCounter) -> Self {
        let (chosen, lines, written) = (Vec::new(), Vec::new(), FxHashMap::default());
        Self { saids, weighed, chosen, lines, written, told, counter }
    }

    /// Chooses the sentences that add most to those chosen before; returns whether there are any.
    fn choose(&mut self, voice: Option<Voice>, budget: u32) -> bool {
        let (saids, counter, mut seen) = (&self.saids, self.counter, 0);
        let mut shared: FxHashSet<_> = self.chosen.iter().filter_map(|at| saids[*at].shared()).collect();
        let chosen = self.weighed.choose(voice, budget, |at, chosen| {
            shared.extend(chosen[seen..].iter().filter_map(|at| saids[*at].shared()));
            seen = chosen.len();
            let said = &saids[at];
            match said.shared().is_some_and(|line| shared.contains(&line)) {
                // without the speaker
                true => counter.count(&format!(" {}", &said.text[said.start..])),
                false => said.count(counter),
            }
        });
        if chosen.is_empty() {
            return false;
        }
        chosen.iter().for_each(|at| self.told.add(&saids[*at].text));
        self.chosen.extend(chosen);
        self.chosen.sort_unstable();
        self.write();
        true
    }

    /// Writes the lines of the chosen sentences: whole sentences of one utterance share a line, ahead of its
    /// fragments.
    fn write(&mut self) {
        let Self { saids, weighed, chosen, written, counter, .. } = self;
        self.lines.clear();
        for utterance in chosen.chunk_by(|one, next| saids[*one].shares_utterance(&saids[*next])) {
            let (whole, rest): (Vec<usize>, Vec<usize>) =
                utterance.iter().partition(|at| saids[**at].is_sentence());
            let places = Some(whole).filter(|whole| !whole.is_empty());
            for places in places.into_iter().chain(rest.into_iter().map(|at| vec![at])) {
                let line = written.entry(places);
                let line = line.or_insert_with_key(|places| joined(saids, places, weighed, *counter));
                self.lines.push(line.clone());
            }
        }
    }

    fn tokens(&self) -> u32 {
        total(&self.lines)
    }

    /// The most informative line, clipped to `budget`.
    fn clipped(&self, budget: u32) -> Option<Sentence> {
        let best = self.weighed.best()?;
        let said = &self.saids[best];
        let (text, tokens) = fitted(&said.text[..said.start], said.said(), budget, self.counter)?;
        let (sequence, weight) = (said.sequence, self.weighed.weight(best));
        let line = Sentence::plain(LineKind::Said, sequence, text.into(), weight, tokens);
        Some(Sentence { result: said.result, ..line })
    }
}

/// The line of some sentences of one utterance.
fn joined(saids: &[Said], places: &[usize], weighed: &Weighed, counter: &dyn TokenCounter) -> Sentence {
    let first = &saids[places[0]];
    if let [at] = places {
        let (weight, tokens) = (weighed.weight(*at), first.count(counter));
        let line = Sentence::plain(LineKind::Said, first.sequence, first.text.clone(), weight, tokens);
        return Sentence { result: first.result, ..line };
    }
    let part = |at: &usize| Part {
        sequence: first.sequence,
        result: None,
        text: saids[*at].said().into(),
        weight: weighed.weight(*at),
    };
    let parts: Vec<Part> = places.iter().map(part).collect();
    let head = first.text[..first.start].trim_end();
    Sentence::listed(LineKind::Said, head, &parts, 0, counter)
}
