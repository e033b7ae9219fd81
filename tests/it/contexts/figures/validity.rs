//! Checks the contexts of every step; compares them with what keeping the last messages breaks, at the steps
//! at which a model is called: there, every exchange of most transcripts is complete.

use utterd::domain::{
    Policy, Role,
    context::{Format, RecallLimits, Request, SummaryPlacement, Unanswered},
};

use super::super::{
    replay::{
        naive::Cut,
        rebuilt::{Rebuilt, needed},
        said::Said,
        transcripts::Transcript,
    },
    validator::{Fault, Rule},
};

/// The budgets, in tokens.
pub const BUDGETS: [u32; 5] = [500, 1_000, 2_000, 4_000, 8_000];
/// The formats, and their names.
pub const FORMATS: [(Format, &str); 3] =
    [(Format::OpenAiChat, "openai"), (Format::AnthropicMessages, "anthropic"), (Format::Text, "text")];

/// The result for messages.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// How often messages were requested.
    pub steps: u64,
    /// Those with any fault.
    pub faulty: u64,
    /// Results without their call.
    pub orphans: u64,
    /// Calls without their result.
    pub unanswered: u64,
    /// Those over a limit.
    pub over: u64,
    /// The first fault.
    pub first: Option<String>,
}

impl Outcome {
    /// Adds messages with their faults.
    pub fn add(&mut self, faults: Vec<Fault>, over: bool, place: impl Fn() -> String) {
        let of = |rules: &[Rule]| faults.iter().filter(|fault| rules.contains(&fault.rule)).count() as u64;
        self.steps += 1;
        self.faulty += u64::from(!faults.is_empty());
        self.orphans += of(&[Rule::Orphan, Rule::AnsweredTwice]);
        self.unanswered += of(&[Rule::Unanswered]);
        self.over += u64::from(over);
        if over || !faults.is_empty() {
            self.note(|| format!("{}: over {over}, {faults:?}", place()));
        }
    }

    fn note(&mut self, text: impl FnOnce() -> String) {
        self.first.get_or_insert_with(text);
    }
}

/// The results of the contexts of one format and budget.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The requested contexts, and their faults.
    pub outcome: Outcome,
    /// Budgets refused as too small.
    pub refused: u64,
    /// Contexts whose declared token count is wrong.
    pub miscounted: u64,
    /// Refusals that name a budget other than the smallest accepted.
    pub wrong_need: u64,
    /// As many of the last messages as were rendered.
    pub last: Cuts,
    /// As many of the last messages as fit.
    pub fitting: Cuts,
}

/// Naive cuts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cuts {
    /// Those that leave something out.
    pub cut: u64,
    /// Those with a result without its call.
    pub orphaned: u64,
    /// Those with a result without its call or a call without its result.
    pub broken: u64,
}

impl Cuts {
    fn add(&mut self, cut: Cut) {
        if cut.cuts {
            self.cut += 1;
            self.orphaned += u64::from(cut.orphaned);
            self.broken += u64::from(cut.broken);
        }
    }

    /// Shares in percent.
    pub fn percent(&self) -> (f64, f64) {
        let of = |count: u64| 100.0 * count as f64 / (self.cut as f64).max(1.0);
        (of(self.orphaned), of(self.broken))
    }
}

impl Row {
    /// Whether anything is wrong.
    pub fn is_wrong(&self) -> bool {
        self.outcome.faulty + self.outcome.over + self.miscounted + self.wrong_need > 0
    }

    /// Builds a context and checks it; returns how many utterances it renders.
    fn check(&mut self, said: &Said, request: &Request, place: impl Fn() -> String) -> Option<usize> {
        let budget = request.budget.unwrap_or(u32::MAX);
        match Rebuilt::of(said, request) {
            Ok(built) => {
                let (says, has) = (built.tokens, built.counted.tokens());
                if !built.is_counted_exactly() {
                    self.miscounted += 1;
                    self.outcome.note(|| format!("{}: says {says} tokens, has {has}", place()));
                }
                let rendered = built.said;
                let over = built.is_over(budget);
                self.outcome.add(built.faults, over, place);
                Some(rendered)
            }
            Err(refusal) => {
                self.refused += 1;
                self.outcome.steps += 1;
                let least = needed(&refusal);
                let with = |budget| Rebuilt::of(said, &Request { budget: Some(budget), ..request.clone() });
                if with(least).is_err() || with(least - 1).is_ok() || least <= budget {
                    self.wrong_need += 1;
                    self.outcome.note(|| format!("{}: {refusal}", place()));
                }
                None
            }
        }
    }
}

/// The rows of every format and budget, in the order of [`FORMATS`] and [`BUDGETS`].
pub fn rows(transcripts: &[Transcript], policy: &Policy) -> Vec<Row> {
    let mut rows = vec![Row::default(); FORMATS.len() * BUDGETS.len()];
    for (number, transcript) in transcripts.iter().enumerate() {
        let mut said = Said::nothing(policy.clone());
        for (step, draft) in transcript.drafts.iter().enumerate() {
            said.say(draft);
            let (before, behind) = transcript.drafts.split_at(step + 1);
            let is_call = behind.first().is_some_and(|next| next.role == Role::Assistant);
            for (index, row) in rows.iter_mut().enumerate() {
                let (format, name) = FORMATS[index / BUDGETS.len()];
                let budget = BUDGETS[index % BUDGETS.len()];
                let request = Request { format, budget: Some(budget), ..varied(step) };
                let place = || {
                    format!(
                        "{} #{number} step {step}, {name} {budget}, variant {}",
                        transcript.file,
                        step % VARIANTS
                    )
                };
                let rendered = row.check(&said, &request, place);
                if format == Format::OpenAiChat && is_call {
                    rendered.into_iter().for_each(|count| row.last.add(Cut::last(before, count)));
                    row.fitting.add(Cut::fitting(before, budget));
                }
            }
        }
    }
    rows
}

/// The variants of requests that the steps go through in turn.
const VARIANTS: usize = 4;

fn varied(step: usize) -> Request {
    match step % VARIANTS {
        0 => Request::default(),
        1 => Request { max_turns: None, unanswered: Unanswered::Placeholder, ..Request::default() },
        2 => Request {
            mask_after_turns: Some(1),
            summary: SummaryPlacement::UserMessage,
            ..Request::default()
        },
        _ => Request { max_turns: Some(2), recall: Some(RecallLimits::default()), ..Request::default() },
    }
}

/// Prints the rows as a table.
pub fn print(name: &str, rows: &[Row]) {
    println!("\n{name}");
    println!(
        "{:<10}{:>7}{:>8}{:>8}{:>8}{:>8}{:>11}{:>6}{:>9}{:>7}   {:>22}{:>22}",
        "",
        "budget",
        "steps",
        "refused",
        "faulty",
        "orphans",
        "unanswered",
        "over",
        "miscount",
        "need",
        "last N: orphan, broken",
        "fitting: the same"
    );
    for (index, row) in rows.iter().enumerate() {
        let (name, budget) = (FORMATS[index / BUDGETS.len()].1, BUDGETS[index % BUDGETS.len()]);
        let naive = match row.last.cut + row.fitting.cut {
            0 => String::new(),
            _ => {
                let ((orphaned, broken), (orphaned_fitting, broken_fitting)) =
                    (row.last.percent(), row.fitting.percent());
                format!("{orphaned:>13.0} %{broken:>5.0} %{orphaned_fitting:>14.0} %{broken_fitting:>5.0} %")
            }
        };
        let out = &row.outcome;
        println!(
            "{name:<10}{budget:>7}{:>8}{:>8}{:>8}{:>8}{:>11}{:>6}{:>9}{:>7}   {naive}",
            out.steps,
            row.refused,
            out.faulty,
            out.orphans,
            out.unanswered,
            out.over,
            row.miscounted,
            row.wrong_need
        );
    }
    for row in rows.iter().filter_map(|row| row.outcome.first.as_ref()) {
        println!("  {row}");
    }
}
