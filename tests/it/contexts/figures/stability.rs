//! How much of each context the provider has seen before.

use utterd::domain::{
    Draft, Policy, Role,
    context::{Format, Request},
    policy::Marks,
};

use super::super::replay::{prefix::Prefix, rebuilt::Rebuilt, said::Said, transcripts::Transcript};

/// A window, and how contexts are requested.
pub struct Case {
    /// What it is called.
    pub name: &'static str,
    /// The limits.
    pub policy: Policy,
    /// The tokens of a context; `None` for what the limits allow.
    pub budget: Option<u32>,
}

/// The results of a case.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Transcripts in which something left the window at least ten times.
    pub transcripts: usize,
    /// Changes by which something left the window.
    pub evictions: usize,
    /// Changes by which the summary was folded.
    pub folds: usize,
    /// Contexts built when the model is called, on the assistant's turn.
    pub calls: Prefix,
    /// Contexts built after every message.
    pub steps: Prefix,
    /// Contexts that did not begin with what the previous one had promised, although nothing left the window.
    /// Counted if no budget cuts.
    pub broken_promises: usize,
}

/// The evictions that a transcript must have to count.
const LEAST_EVICTIONS: usize = 10;

/// All cases.
pub fn cases() -> Vec<Case> {
    let window = |utterances: (u32, u32), tokens: (u32, u32)| Policy {
        utterances: Marks::with_keep(utterances.0, utterances.1),
        tokens: Marks::with_keep(tokens.0, tokens.1),
        ..Policy::ROLLING
    };
    let case = |name, policy, budget| Case { name, policy, budget };
    vec![
        case("ROLLING: 20 keeps 16, 8k keeps 6.4k", Policy::ROLLING, None),
        case("40 keeps 32, 16k keeps 12.8k", window((40, 32), (16_000, 12_800)), None),
        case("80 keeps 64, 32k keeps 25.6k", window((80, 64), (32_000, 25_600)), None),
        case("20 keeps 10, 8k keeps 4k", window((20, 10), (8_000, 4_000)), None),
        case("80 keeps 40, 32k keeps 16k", window((80, 40), (32_000, 16_000)), None),
        case("TURNS: 10 keeps 3, 8k keeps 6.4k", Policy::TURNS, None),
        case("TURNS without a limit of tokens", Policy { tokens: None, ..Policy::TURNS }, None),
    ]
}

/// Cases in which nothing leaves the window, and the budget cuts.
pub fn budget_cases() -> Vec<Case> {
    let case = |name, budget| Case { name, policy: Policy::SESSION, budget: Some(budget) };
    vec![
        case("SESSION, budget 4k", 4_000),
        case("SESSION, budget 8k", 8_000),
        case("SESSION, budget 32k", 32_000),
    ]
}

/// The same limits, evicting no more than necessary.
pub fn one_at_a_time(policy: &Policy) -> Policy {
    let tight = |marks: Option<Marks>| marks.and_then(|marks| Marks::with_keep(marks.max(), marks.max()));
    Policy {
        utterances: tight(policy.utterances),
        tokens: tight(policy.tokens),
        turns: tight(policy.turns),
        ..policy.clone()
    }
}

/// Replays transcripts under a policy; only those with enough evictions count, unless the case has none.
pub fn figures(transcripts: &[Transcript], policy: &Policy, budget: Option<u32>, format: Format) -> Figures {
    let mut figures = Figures::default();
    let request = Request { format, budget, max_turns: None, ..Request::default() };
    for transcript in transcripts {
        let one = of_transcript(&transcript.drafts, policy, &request);
        if budget.is_some() || one.evictions >= LEAST_EVICTIONS {
            figures.add(&one);
        }
    }
    figures
}

impl Figures {
    fn add(&mut self, one: &Self) {
        self.transcripts += 1;
        self.evictions += one.evictions;
        self.folds += one.folds;
        self.calls.sum(&one.calls);
        self.steps.sum(&one.steps);
        self.broken_promises += one.broken_promises;
    }
}

fn of_transcript(drafts: &[Draft], policy: &Policy, request: &Request) -> Figures {
    let mut said = Said::nothing(policy.clone());
    let mut figures = Figures { transcripts: 1, ..Figures::default() };
    let mut promised: Vec<String> = Vec::new();
    for (step, draft) in drafts.iter().enumerate() {
        let moved = said.say(draft);
        let Ok(built) = Rebuilt::of(&said, request) else { continue };
        let messages = built.messages();
        let kept = moved || request.budget.is_some() || messages.starts_with(&promised);
        figures.broken_promises += usize::from(!kept);
        promised = messages[..built.stable_messages.min(messages.len())].to_vec();
        if drafts.get(step + 1).is_some_and(|next| next.role == Role::Assistant) {
            figures.calls.add(built.counted.clone());
        }
        figures.steps.add(built.counted);
    }
    figures.evictions = said.evictions;
    figures.folds = said.folds;
    figures
}

/// All transcripts of a file as one long conversation, for each file.
pub fn joined(transcripts: &[Transcript]) -> Vec<Transcript> {
    let mut joined: Vec<Transcript> = Vec::new();
    for transcript in transcripts {
        match joined.last_mut() {
            Some(last) if last.file == transcript.file => {
                last.drafts.extend(transcript.drafts.iter().cloned())
            }
            _ => joined.push(Transcript { file: transcript.file.clone(), drafts: transcript.drafts.clone() }),
        }
    }
    joined
}

/// Prints a table: each case, and the same limits evicting one at a time.
pub fn print(name: &str, transcripts: &[Transcript], format: Format) {
    println!("\n{name}");
    println!(
        "{:<38}{:>6}{:>10}{:>7}{:>10}{:>10}   {:>10}{:>10}{:>10}",
        "window", "files", "evictions", "folds", "calls", "steps", "evictions", "calls", "steps"
    );
    for case in cases() {
        let ours = figures(transcripts, &case.policy, case.budget, format);
        let other = figures(transcripts, &one_at_a_time(&case.policy), case.budget, format);
        println!("{:<38}{}   {}", case.name, ours.columns(), other.short_columns());
    }
    for case in budget_cases() {
        println!("{:<38}{}", case.name, figures(transcripts, &case.policy, case.budget, format).columns());
    }
}

impl Figures {
    fn columns(&self) -> String {
        let Self { transcripts, evictions, folds, calls, steps, .. } = self;
        format!("{transcripts:>6}{evictions:>10}{folds:>7}{:>10.2}{:>10.2}", calls.share(), steps.share())
    }

    fn short_columns(&self) -> String {
        format!("{:>10}{:>10.2}{:>10.2}", self.evictions, self.calls.share(), self.steps.share())
    }
}
