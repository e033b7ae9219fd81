//! How tests, builds and programs ended, and which calls failed.

use rustc_hash::FxHashMap;

use crate::{
    Sequence,
    extractive::{
        effects::Effect,
        naming::root::Root,
        pool::{Act, Check},
        sentence::{CHECK, ERROR, OUTDATED, Origin},
        text::clip::fold,
        tools::{
            acts::{outdates_checks, takes_all_back},
            calls::Call,
            outcome::{bad_end, success_line},
        },
    },
};

/// The limit for a check's command, in bytes.
const CHECK_BYTES: usize = 60;
/// The limit for the words of a failure, in bytes.
const ERROR_BYTES: usize = 160;

/// The checks and failures so far.
#[derive(Default)]
pub(in crate::extractive) struct Checks {
    all: Vec<Check>,
    /// The places of the newest failures, by tool and command or identifying argument.
    failures: FxHashMap<(Box<str>, Box<str>), usize>,
}

impl Checks {
    /// Notes how a test, a build or a program ended, or that a call failed. The same call solves an earlier failure of
    /// its own, or takes its place.
    pub(in crate::extractive) fn add(
        &mut self,
        (sequence, result): Origin,
        tool: &str,
        key: &str,
        made: &Call<'_>,
        root: &Root,
    ) {
        let label = made.ran.as_ref().and_then(|ran| ran.check.as_deref());
        let place = (Box::from(tool), Box::from(label.unwrap_or(key)));
        let failed = made.failure.is_some();
        let told = match label {
            Some(label) => checked(label, made).map(|text| (CHECK, text)),
            None => failure(tool, key, made).map(|text| (ERROR, text)),
        };
        let older = match told {
            Some(_) if failed => self.failures.insert(place, self.all.len()),
            _ if !failed => self.failures.remove(&place),
            _ => None,
        };
        if let Some(older) = older {
            self.all[older].solved = true;
        }
        self.all.extend(told.map(|(head, text)| Check {
            sequence,
            result,
            head,
            text: root.shortened(text.trim_end()).into(),
            solved: false,
            is_test: made.ran.as_ref().is_some_and(|ran| ran.is_test),
            failed,
        }));
    }

    /// Where the last check was made, if all was well.
    pub(in crate::extractive) fn last_passed(&self) -> Option<Sequence> {
        let last = self.all.iter().rfind(|check| check.head == CHECK)?;
        (!last.failed).then_some(last.sequence)
    }

    /// All of them, in order.
    pub(in crate::extractive) fn done(self) -> Vec<Check> {
        self.all
    }
}

/// Says of the checks that are older than the last change of a file, and drops those of what was taken back.
pub(in crate::extractive) fn date(checks: &mut Vec<Check>, acts: &[Act]) {
    let last = |is: fn(&Act) -> bool| acts.iter().filter(|act| is(act)).map(|act| act.sequence).max();
    let (back, changed) = (last(takes_all_back), last(outdates_checks));
    checks.retain(|check| check.head != CHECK || Some(check.sequence) >= back);
    for check in checks {
        let is_new = Some(check.sequence) >= changed || check.text.starts_with(OUTDATED);
        if check.head == CHECK && !is_new {
            check.text = format!("{OUTDATED}{}", check.text).into();
        }
    }
}

/// A check's command with its outcome.
fn checked(label: &str, made: &Call<'_>) -> Option<String> {
    let (_, answer) = made.answer?;
    let mut text = String::new();
    fold(label, CHECK_BYTES, &mut text);
    text.push_str(" → ");
    let (head, line) = match (made.failure, success_line(answer)) {
        (None, Some(line)) => ("ok: ", line),
        (None, None) => bad_end(answer).map_or(("ok", ""), |line| ("", line)),
        (Some(failure), _) => ("error: ", failure),
    };
    text.push_str(head);
    fold(placed(line), ERROR_BYTES, &mut text);
    Some(text)
}

/// A message with the name of the file that it begins with in place of its path: `a.ts(7,40): error TS2345: …`.
fn placed(message: &str) -> &str {
    let place = message.split(' ').next().filter(|place| place.ends_with(':') && !place.contains("://"));
    place.and_then(|place| place.rfind('/')).map_or(message, |at| &message[at + 1..])
}

/// A failed call with the words of its failure; one that was to change something has a line of its own.
fn failure(tool: &str, key: &str, made: &Call<'_>) -> Option<String> {
    let failure = made.failure.filter(|_| made.answer.is_some() && made.effect == Effect::Reads)?;
    let mut text = format!("{tool}(");
    fold(key, CHECK_BYTES, &mut text);
    text.push_str("): ");
    fold(placed(failure), ERROR_BYTES, &mut text);
    Some(text)
}
