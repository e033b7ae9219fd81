//! The lines for calls that changed something, each with its identifying argument and its outcome.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    TokenCounter,
    extractive::{
        pool::{Act, line},
        progress::fitting::ordered,
        sentence::{LineKind, Part, Sentence, done, total},
        text::clip::{fold, folded},
        tools::target::is_path,
    },
    phrases::phrases,
};

/// When room is short: the most bytes shown of a call that failed or has no identifying argument, and of its
/// outcome.
const BRIEF_BYTES: [usize; 3] = [160, 80, 40];
/// Separates a call from its outcome.
const OUTCOME: &str = ") → ";
/// How a commit begins; its title follows.
pub(in crate::extractive) const COMMIT: &str = "git commit";
/// The most bytes shown of commits but the last one: of all if they fit, or else so that more of them do.
const TITLE_BYTES: [usize; 2] = [72, 32];

/// The lines of the [`newest`] acts, within `room` tokens; within `most` if the shortest lines need more.
///
/// If the full lines do not all fit, the calls that succeeded are grouped by tool; if the groups do not fit either,
/// the oldest calls are only counted, together with those already counted in `left_out`, by head.
pub(in crate::extractive) fn written(
    acts: &[Act],
    left_out: &FxHashMap<Box<str>, usize>,
    room: u32,
    most: u32,
    counter: &dyn TokenCounter,
) -> Vec<Sentence> {
    let whole = |act: &Act| act.text.as_deref().map(|text| line(act, text, counter.count(text)));
    if left_out.is_empty() && acts.iter().all(|act| act.text.is_some()) && !is_repetitive(acts) {
        let lines: Vec<Sentence> = acts.iter().filter_map(whole).collect();
        if total(&lines) <= room {
            return lines;
        }
    }
    let (rest, together): (Vec<&Act>, Vec<&Act>) =
        acts.iter().partition(|act| act.failed || act.key.is_empty());
    let grouped = |title: usize| -> Vec<Group> {
        let group = |(head, parts): (&str, Vec<Part>)| {
            let before = left_out.get(head).copied().unwrap_or_default();
            let order = ordered(parts.len(), |at| is_unrepeatable(&parts[at].text));
            Group { head: done(head), parts, order, before }
        };
        by_tool(&together, title).into_iter().map(group).collect()
    };
    let whole = |group: &Group| group.line(0, counter).tokens;
    let mut groups = grouped(TITLE_BYTES[0]);
    if groups.iter().map(whole).fold(0, u32::saturating_add) > room {
        groups = grouped(TITLE_BYTES[1]);
    }
    // what the shorter lines leave goes to the longer ones
    groups.sort_by_cached_key(whole);
    // the shortest lines: of the groups, and of the rest
    let least: Vec<u32> =
        groups.iter().map(|group| group.line(group.parts.len() - 1, counter).tokens).collect();
    let in_brief = |act: &Act, bytes: usize| brief(act, bytes, counter).map_or(0, |line| line.tokens);
    let mut short: Vec<u32> = rest.iter().map(|act| in_brief(act, BRIEF_BYTES[2])).collect();
    let mut needed = least.iter().chain(&short).fold(0u32, |sum, tokens| sum.saturating_add(*tokens));
    if let (Some(act), Some(last)) = (rest.last(), short.last_mut()) {
        // how the newest call failed counts more than a longer list
        let more = in_brief(act, BRIEF_BYTES[1]).saturating_sub(*last).min(room.saturating_sub(needed));
        (needed, *last) = (needed + more, *last + more);
    }
    let mut left = needed.clamp(room, most.max(room));
    let mut lines = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        // the later ones have their shortest lines at least
        let spare = left.saturating_sub(needed) / (groups.len() - at) as u32;
        needed -= least[at];
        if let Some(line) = group.within((least[at] + spare).min(left), counter) {
            left -= line.tokens;
            lines.push(line);
        }
    }
    // the newest first
    for (act, short) in rest.iter().zip(&short).rev() {
        needed = needed.saturating_sub(*short);
        let room = left.saturating_sub(needed).max((*short).min(left));
        let fitting = BRIEF_BYTES.iter().filter_map(|bytes| brief(act, *bytes, counter));
        if let Some(line) = { fitting }.find(|line| line.tokens <= room) {
            left -= line.tokens;
            lines.push(line);
        }
    }
    lines.sort_by_key(|line| line.sequence);
    lines
}

/// Calls of one tool that succeeded.
struct Group {
    head: String,
    parts: Vec<Part>,
    /// Their places, in the order in which they are left out.
    order: Vec<usize>,
    /// How many more were left out earlier.
    before: usize,
}

impl Group {
    /// The line without `left_out` calls, which are counted: the oldest of those that could be made again come first.
    fn line(&self, left_out: usize, counter: &dyn TokenCounter) -> Sentence {
        let all = self.before.saturating_add(left_out);
        let mut told = self.order[left_out..].to_vec();
        told.sort_unstable();
        let part = |at: usize| {
            let Part { sequence, result, text, weight } = &self.parts[at];
            Part { sequence: *sequence, result: *result, text: &**text, weight: *weight }
        };
        let parts: Vec<Part<&str>> = told.into_iter().map(part).collect();
        Sentence::listed(LineKind::Act, &self.head, &parts, all, counter)
    }

    /// As many of the calls as fit.
    fn within(&self, room: u32, counter: &dyn TokenCounter) -> Option<Sentence> {
        // an item is at least one token
        let (mut least, mut most) = (self.parts.len().saturating_sub(room as usize), self.parts.len());
        while least < most {
            let middle = least.midpoint(most);
            match self.line(middle, counter).tokens <= room {
                true => most = middle,
                false => least = middle + 1,
            }
        }
        (least < self.parts.len()).then(|| self.line(least, counter))
    }
}

/// Whether several acts of one tool change files: listed together, they take less room and say the same.
fn is_repetitive(acts: &[Act]) -> bool {
    let mut heads: FxHashMap<&str, usize> = FxHashMap::default();
    let files = acts.iter().filter(|act| !act.failed && act.is_of_file);
    files.for_each(|act| *heads.entry(&act.head).or_default() += 1);
    heads.values().any(|times| *times > 1)
}

/// The identifying arguments, grouped by caller and tool.
fn by_tool<'a>(acts: &[&'a Act], title: usize) -> Vec<(&'a str, Vec<Part>)> {
    let mut groups: Vec<(&str, Vec<Part>)> = Vec::new();
    let commits = |act: &&Act| act.key.starts_with(COMMIT);
    let last = acts.iter().rposition(commits);
    for (at, act) in acts.iter().enumerate() {
        let is_old_commit = last > Some(at) && commits(act);
        let text = match is_old_commit && act.key.len() > title {
            true => (folded(&act.key, title) + "\"").into(),
            false => act.key.clone(),
        };
        let part = Part { sequence: act.sequence, result: act.result, text, weight: 0 };
        match groups.iter_mut().find(|(head, _)| *head == &*act.head) {
            Some((_, parts)) => parts.push(part),
            None => groups.push((&act.head, vec![part])),
        }
    }
    groups
}

/// Keeps the last of the calls with the same tool and argument or edited file, at the last one's position, and no edit that `git`
/// took back.
pub(in crate::extractive) fn newest(acts: Vec<Act>) -> Vec<Act> {
    let mut seen: FxHashSet<(Box<str>, Box<str>)> = FxHashSet::default();
    let mut restored: Vec<Box<str>> = Vec::new();
    let mut kept: Vec<Act> = acts.into_iter().rev().collect();
    kept.retain(|act| {
        if act.key.starts_with(COMMIT) && !act.failed {
            restored.clear();
        }
        restored.extend(RESTORES.iter().find_map(|head| act.key.strip_prefix(head)).map(Box::from));
        !(edits(act) && restored.iter().any(|path| &**path == "." || act.key.ends_with(&**path)))
            && (act.key.is_empty() || seen.insert((act.head.clone(), file(act).into())))
    });
    kept.reverse();
    kept.sort_by_key(|act| act.sequence);
    kept
}

/// The commands that take back what was not committed of a file.
const RESTORES: [&str; 2] = ["git checkout ", "git restore "];

/// Whether making the call again would fail or do harm: it moved or deleted something, or wrote a version.
fn is_unrepeatable(key: &str) -> bool {
    const COMMANDS: [&str; 12] = phrases(
        "git checkout|git commit|git merge|git mv|git push|git rebase|git reset|git restore|git revert|git rm|mv |rm ",
    );
    COMMANDS.iter().any(|command| key.starts_with(command))
}

/// Programs that change a file in place.
const EDITORS: [&str; 2] = ["sed ", "perl "];

/// The file that an editor changed, or the whole argument: a file that was written and then edited is listed once.
fn file(act: &Act) -> &str {
    EDITORS.iter().find_map(|editor| act.key.strip_prefix(editor)).unwrap_or(&act.key)
}

/// Whether a check made before the act says little about what is there now: the act changed a file other than a script of
/// the conversation's own, notes or output.
pub(in crate::extractive) fn outdates_checks(act: &Act) -> bool {
    const CHANGES: [&str; 7] = phrases("cp |git mv |git rm |mv |patch |perl |rm ");
    const ASIDE: [&str; 6] = phrases("diff|json|log|md|patch|txt");
    const SCRIPTS: [&str; 7] = phrases("js|mjs|php|pl|py|rb|sh");
    let changes = |head: &&str| act.key.starts_with(*head);
    let is_command = act.key.contains(' ');
    let path = file(act).rsplit(' ').next().unwrap_or_default();
    let end = path.rsplit_once('.').map_or("", |(_, end)| end);
    let is_aside = ASIDE.contains(&end) || !path.contains('/') && SCRIPTS.contains(&end);
    !act.failed
        && is_path(path)
        && !is_aside
        && (!is_command || EDITORS.iter().chain(&RESTORES).chain(&CHANGES).any(changes))
}

/// Whether the act took back all that was not committed.
pub(in crate::extractive) fn takes_all_back(act: &Act) -> bool {
    const ALL: [&str; 3] = ["git checkout .", "git restore .", "git stash"];
    !act.failed && (ALL.contains(&&*act.key) || act.key.starts_with("git revert"))
}

/// Whether the act changed a file that existed before.
fn edits(act: &Act) -> bool {
    let tool = act.head.rsplit(' ').next().unwrap_or_default().to_ascii_lowercase();
    act.is_of_file
        && (["edit", "replace", "patch"].iter().any(|word| tool.contains(word))
            || EDITORS.iter().any(|editor| act.key.starts_with(editor)))
}

/// The line of an act with at most `bytes` of its arguments, and as many of its outcome.
fn brief(act: &Act, bytes: usize, counter: &dyn TokenCounter) -> Option<Sentence> {
    let full = act.text.as_deref()?.trim_end();
    let (call, outcome) = full.rsplit_once(OUTCOME).unwrap_or((full, ""));
    let mut text = String::new();
    fold(call, act.head.len() + bytes, &mut text);
    text.push_str(OUTCOME);
    fold(outcome, bytes, &mut text);
    text.push('\n');
    Some(line(act, &text, counter.count(&text)))
}
