//! Writes a summary from the candidates.

use crate::domain::{
    TokenCounter,
    extractive::{
        acts,
        choose::{Weighed, Weigher},
        clip::fitted,
        focus::{Focus, Kind},
        ledger::{Told, ledger},
        open::{self, failure},
        pool::{MENTIONED, Pool, Said},
        sentence::{LineKind, Part, Sentence, total},
    },
};

/// The sentences' first share of a budget that cannot hold everything, in percent. The ledger comes next,
/// then sentences again if there is room.
const SENTENCES_PERCENT: u64 = 33;
/// The same share if no tool was called: then what was said matters most.
const TALK_PERCENT: u64 = 70;
/// The factor for facts that are still being talked about: they are more likely to be needed.
const TALK_FACTOR: u32 = 4;
/// The minimum for sentences, in tokens.
const LEAST_SENTENCES_TOKENS: u32 = 48;
/// Lines rarely have more tokens than their bytes divided by this.
const LEAST_TOKEN_BYTES: usize = 3;

/// The most informative lines that fit in `budget` tokens.
pub(super) fn compose(pool: Pool, focus: &Focus, budget: u32, counter: &dyn TokenCounter) -> Vec<Sentence> {
    let Pool { mut acts, acts_left_out, mut saids, pages, mut facts, mut matters, .. } = pool;
    acts.sort_by_key(|act| act.sequence);
    matters.extend(acts.iter().filter(|act| act.failed).map(failure));
    let open = open::line(matters, &acts, &saids, budget, counter);
    for fact in facts.iter_mut().filter(|fact| focus.is_talked_of(fact.concepts[0])) {
        fact.worth = fact.worth.saturating_mul(TALK_FACTOR);
    }
    let acts = acts::written(acts, &acts_left_out, budget, counter);
    let left = budget.saturating_sub(total(&acts) + open.as_ref().map_or(0, |open| open.tokens));

    saids.sort_by_key(|said| said.sequence);
    let mut weigher = Weigher::default();
    saids.retain(|said| weigher.add(said.said(), said.worth, focus));
    let mut sentences =
        Sentences { weighed: weigher.weighed(), chosen: Vec::new(), lines: Vec::new(), saids, counter };
    let fits = sentences.bytes() / LEAST_TOKEN_BYTES <= left as usize;
    let is_talk = !matches!(focus.kind(), Some(Kind::Code | Kind::Debugging))
        && acts.is_empty()
        && pages.iter().all(|page| page.head.ends_with(MENTIONED));
    let share = match () {
        () if fits => 100,
        () if is_talk => TALK_PERCENT,
        () => SENTENCES_PERCENT,
    };
    let share = (u64::from(left) * share / 100).max(LEAST_SENTENCES_TOKENS.into()) as u32;
    sentences.choose(share.min(left));
    let entries = |sentences: &Sentences<'_>| {
        let told = Told::of(acts.iter().map(|act| &*act.text).chain(sentences.told()));
        ledger(&facts, &pages, &told, left.saturating_sub(sentences.tokens()), counter)
    };
    if sentences.chosen.is_empty()
        && acts.is_empty()
        && budget < LEAST_SENTENCES_TOKENS
        && !sentences.saids.is_empty()
    {
        return sentences.clipped(budget).into_iter().collect();
    }
    let mut facts = entries(&sentences);
    sentences.weighed.take_rest();
    if sentences.choose(left.saturating_sub(sentences.tokens() + total(&facts))) {
        // what these sentences mention need not be in the ledger
        facts = entries(&sentences);
    }
    let mut lines = acts.clone();
    lines.append(&mut sentences.lines);
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
    counter: &'a dyn TokenCounter,
}

impl Sentences<'_> {
    fn bytes(&self) -> usize {
        self.saids.iter().map(|said| said.text.len()).sum()
    }

    fn told(&self) -> impl Iterator<Item = &str> {
        self.chosen.iter().map(|at| &*self.saids[*at].text)
    }

    /// Chooses the sentences that add most to those chosen before; returns whether there are any.
    fn choose(&mut self, budget: u32) -> bool {
        let Self { saids, weighed, chosen: before, lines, counter } = self;
        let chosen = weighed.choose(budget, |at, chosen| {
            let said = &saids[at];
            let joins = |other: &usize| saids[*other].is_sentence() && saids[*other].shares_utterance(said);
            match said.is_sentence() && before.iter().chain(chosen).any(joins) {
                // without the speaker
                true => counter.count(&format!(" {}", &said.text[said.start..])),
                false => counter.count(&said.text),
            }
        });
        if chosen.is_empty() {
            return false;
        }
        before.extend(chosen);
        before.sort_unstable();
        *lines = lines_of(saids, before, weighed, *counter);
        true
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

/// The lines of the chosen sentences: whole sentences of one utterance share a line, ahead of its fragments.
fn lines_of(
    saids: &[Said],
    chosen: &[usize],
    weighed: &Weighed,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    let mut lines = Vec::new();
    for utterance in chosen.chunk_by(|one, next| saids[*one].shares_utterance(&saids[*next])) {
        let (whole, rest): (Vec<usize>, Vec<usize>) =
            utterance.iter().partition(|at| saids[**at].is_sentence());
        lines.extend(joined(saids, &whole, weighed, counter));
        lines.extend(rest.iter().filter_map(|at| joined(saids, &[*at], weighed, counter)));
    }
    lines
}

fn joined(saids: &[Said], said: &[usize], weighed: &Weighed, counter: &dyn TokenCounter) -> Option<Sentence> {
    let first = &saids[*said.first()?];
    if let [at] = said {
        let (weight, tokens) = (weighed.weight(*at), counter.count(&first.text));
        let line = Sentence::plain(LineKind::Said, first.sequence, first.text.clone(), weight, tokens);
        return Some(Sentence { result: first.result, ..line });
    }
    let part = |at: &usize| Part {
        sequence: first.sequence,
        result: None,
        text: saids[*at].said().into(),
        weight: weighed.weight(*at),
    };
    let parts: Vec<Part> = said.iter().map(part).collect();
    let head = first.text[..first.start].trim_end();
    Some(Sentence::listed(LineKind::Said, head, &parts, 0, counter))
}
