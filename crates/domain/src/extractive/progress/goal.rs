//! The request that a conversation begins with, without the template around it.
//!
//! Programs wrap a task in instructions: how to answer, which commands exist, what to submit. The request is what
//! stands between the tags of a description or an issue, or behind a line such as `ISSUE:`; without such a mark, it is
//! the message up to the first heading of instructions.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::{
    extractive::text::{
        clip::clip,
        cues::Cues,
        split::sentences,
        words::{concepts, has_words},
    },
    phrases::phrases,
};

/// How much of a message is read, in bytes.
pub(super) const READ_BYTES: usize = 16 << 10;
/// A longer message, in bytes, is taken for a template.
const TEMPLATE_BYTES: usize = 1_200;
/// The most lines of a request.
const MOST_LINES: usize = 60;
/// The longest title, in bytes.
const TITLE_BYTES: usize = 160;
/// The weight of a title among the parts of a goal.
pub(in crate::extractive) const ISSUE_WEIGHT: u32 = 1_000;
/// A rule with fewer words with content is not clear on its own: "This will not work."
pub(super) const LEAST_RULE: usize = 3;
/// A sentence of a template with fewer words with content is a placeholder or a heading: "No response".
const LEAST_TOLD: usize = 2;
/// A sentence of a goal with more of its words in another one, in percent, repeats it.
const REPEATED_GOAL: usize = 75;
/// How much of a first line says what a message is, in bytes.
const FIRST_BYTES: usize = 200;
/// How many tags are tried.
const MOST_TAGS: usize = 24;

/// A request.
#[derive(Debug, Default)]
pub(in crate::extractive) struct Request {
    /// The title of an issue, or the name of a task.
    pub title: Option<String>,
    /// The sentences behind the title.
    pub sentences: Vec<String>,
    /// Whether it was taken out of a template.
    pub is_template: bool,
    /// Its text, with the title.
    pub text: String,
}

impl Request {
    /// Reads a message.
    pub(in crate::extractive) fn of(content: &str) -> Self {
        let content = clip(content, READ_BYTES);
        let section = section(content);
        let marked = section.or_else(|| behind_heading(content));
        let is_template = marked.is_some() || content.len() > TEMPLATE_BYTES;
        let body = marked.unwrap_or(content);
        let mut lines = if is_template { plain_lines(body) } else { vec![body] };
        let text = section.map_or_else(|| lines.join("\n"), str::to_owned);
        let named = named(clip(content, 800));
        let is_headed =
            named.is_none() && is_template && lines.first().is_some_and(|line| line.len() <= TITLE_BYTES);
        let title = if is_headed {
            Some(lines.remove(0).trim_start_matches(['#', ' ']).trim().to_owned())
        } else {
            named
        };
        let sentences = sentences(&joined(&lines));
        Self { title: title.filter(|title| !title.is_empty()), sentences, is_template, text }
    }

    /// The title of an issue or a task that a message hands over; `None` for a plain message.
    pub(in crate::extractive) fn issue(content: &str) -> Option<String> {
        let request = Self::of(content);
        request.title.filter(|_| request.is_template)
    }

    /// The sentences without those of a template that say nothing about what is wanted.
    pub(in crate::extractive) fn told(&self) -> Vec<String> {
        let tells = |said: &&String| {
            let restricts = || Cues::of(said).has(Cues::CONSTRAINT);
            !is_interface(&said.to_lowercase())
                && (!self.is_template || tells(said, LEAST_TOLD) || restricts())
        };
        self.sentences.iter().filter(tells).cloned().collect()
    }

    /// The title and the sentences that say most about what is wanted, in order: requests come before the rest. Behind a
    /// title, what repeats it and what is too short to say more is left out.
    pub(in crate::extractive) fn parts(&self) -> Vec<(String, u32)> {
        let rank = |(at, sentence): (usize, &String)| {
            let asks = Cues::of(sentence).has(Cues::REQUEST);
            let rank = 100 - at as u32 + if asks && self.title.is_none() { 100 } else { 0 };
            (sentence.clone(), rank)
        };
        let most = if self.title.is_some() { 4 } else { 8 };
        let title = self.title.iter().map(|title| (title.clone(), ISSUE_WEIGHT));
        let mut told = Vec::new();
        let is_titled = self.title.is_some();
        if let Some(title) = &self.title {
            repeats(title, &mut told, REPEATED_GOAL);
        }
        let tells = |(_, sentence): &(usize, &String)| {
            tells(sentence, if is_titled { LEAST_RULE } else { 1 })
                && !(is_titled && repeats(sentence, &mut told, REPEATED_GOAL))
        };
        let sentences = self.sentences.iter().enumerate().filter(tells);
        title.chain(sentences.take(most).map(rank)).collect()
    }
}

/// Whether a message shows how another task was done: an agent was given an example.
pub(in crate::extractive) fn is_demonstration(content: &str) -> bool {
    const SHOWS: [&str; 4] =
        ["demonstration", "example of how", "example trajectory", "example conversation"];
    let first = || clip(content.lines().next().unwrap_or_default(), FIRST_BYTES).to_lowercase();
    content.len() > TEMPLATE_BYTES && SHOWS.iter().any(|words| first().contains(words))
}

/// Whether more than `percent` of the words with content of a sentence are in one told before; it counts as told from
/// then on.
pub(super) fn repeats(said: &str, told: &mut Vec<FxHashSet<u32>>, percent: usize) -> bool {
    let mut own = FxHashSet::default();
    concepts(said, |concept| {
        own.insert(concept);
    });
    let shares = |other: &FxHashSet<u32>| own.intersection(other).count() * 100 > own.len() * percent;
    let repeats = told.iter().any(shares);
    told.push(own);
    repeats
}

/// Whether a sentence says at least so many words with content, and not only that something follows.
fn tells(said: &str, least: usize) -> bool {
    !said.ends_with([':', ',']) && has_words(said, least)
}

/// What stands between the tags of a description, an issue or a task.
pub(super) fn section(content: &str) -> Option<&str> {
    const NAMES: [&str; 13] = phrases(
        "description|issue|task|request|query|problem|bug|goal|question|feature|objective|prompt|ticket",
    );
    let inside = |range: Range<usize>| content[range].trim();
    tagged(content, &NAMES).map(inside).find(|inside| inside.len() > 15)
}

/// What stands between tags whose names contain one of these.
pub(super) fn tagged(content: &str, names: &[&str]) -> impl Iterator<Item = Range<usize>> {
    content.match_indices('<').take(MOST_TAGS).filter_map(|(at, _)| {
        let (tag, rest) = content[at + 1..].split_once('>')?;
        let is_name = tag.len() < 40 && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let lower = tag.to_ascii_lowercase();
        let is_asked = is_name && names.iter().any(|name| lower.contains(name));
        let length = is_asked.then(|| rest.find(&format!("</{tag}>")))??;
        let start = content.len() - rest.len();
        Some(start..start + length)
    })
}

/// What follows a line such as `ISSUE:`.
fn behind_heading(content: &str) -> Option<&str> {
    const HEADINGS: [&str; 8] =
        phrases("issue|task|problem|request|question|description|the description is|pr description");
    let mut start = 0;
    content.split_inclusive('\n').find_map(|line| {
        start += line.len();
        let heading = line.trim().strip_suffix(':')?.trim_start_matches(['#', '*', ' ']).to_ascii_lowercase();
        let is_heading = HEADINGS.contains(&&*heading) || heading.ends_with("pr description");
        is_heading.then(|| &content[start..])
    })
}

/// The name and the kind in `a cryptography problem named "…"`.
fn named(content: &str) -> Option<String> {
    const VERBS: [&str; 3] = [" named \"", " called \"", " titled \""];
    const THINGS: [&str; 6] = ["challenge", "problem", "task", "issue", "project", "ticket"];
    VERBS.iter().find_map(|verb| {
        let (before, rest) = content.split_once(verb)?;
        let (name, _) = rest.split_once('"')?;
        let kind = &before[before.rfind(['.', '\n', ',']).map_or(0, |at| at + 1)..];
        let words: Vec<&str> = kind.split_whitespace().collect();
        let thing = words.last()?.trim_end_matches('s').to_ascii_lowercase();
        let article = words.iter().rposition(|word| ["a", "an", "the"].contains(word));
        let kind =
            words.get(article.map_or(0, |at| at + 1)..).filter(|kind| kind.len() > 1 && kind.len() < 4);
        let is_named = THINGS.contains(&&*thing) && (3..=60).contains(&name.len());
        is_named.then(|| kind.map_or(name.to_owned(), |kind| format!("{name}: {}", kind.join(" "))))
    })
}

/// The lines of a template that state the request.
fn plain_lines(body: &str) -> Vec<&str> {
    let (mut lines, mut in_comment, mut is_setting) = (Vec::new(), false, false);
    for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let was_comment = in_comment || line.starts_with("<!--");
        in_comment = was_comment && !line.ends_with("-->");
        if was_comment {
            continue;
        }
        let lower = line.to_lowercase();
        let bare = lower.trim_start_matches(['#', '*', '<', ' ']);
        let starts = |list: &[&str]| list.iter().any(|start| bare.starts_with(start));
        if !lines.is_empty() && starts(&INSTRUCTIONS) {
            break;
        }
        let is_heading =
            line.starts_with('#') || REPORTED.contains(&bare.trim_end_matches([':', '*', '?', '.', ' ']));
        if is_heading {
            // what stands below it is said of every report
            is_setting = SETTINGS.iter().any(|word| bare.contains(word));
        }
        let announces = lines.is_empty() && line.ends_with(':') && line.len() < TITLE_BYTES;
        let is_placeholder = line.len() > 1 && line.starts_with('_') && line.ends_with('_');
        let is_skipped = starts(&LEAD_INS)
            || is_placeholder
            || is_interface(&lower)
            || announces
            || !lines.is_empty() && is_heading
            || is_setting;
        if !is_skipped {
            lines.push(line);
        }
        if lines.len() == MOST_LINES {
            break;
        }
    }
    lines
}

/// The text of these lines. A sentence goes on before and behind a line that is a single piece of code: `I expect`,
/// the call, `to give`, its result.
fn joined(lines: &[&str]) -> String {
    let is_code = |line: &str| {
        line.len() > 2 && line.starts_with('`') && line.ends_with('`') && !line.starts_with("```")
    };
    let mut text = String::new();
    for (before, line) in std::iter::once(&"").chain(lines).zip(lines) {
        let leads_in = is_code(line) && !before.is_empty() && !before.ends_with(['.', '!', '?', ':']);
        let goes_on = is_code(before) && line.starts_with(char::is_lowercase);
        text.push_str(match () {
            () if leads_in || goes_on => " ",
            // a long line would be taken for a wrapped one
            () if is_code(before) => "\n\n",
            () => "\n",
        });
        text.push_str(line);
    }
    text
}

/// Whether a line, in lower case, is about how to use the interface.
fn is_interface(lower: &str) -> bool {
    INTERFACE.iter().any(|phrase| lower.contains(phrase))
}

/// How the headings of instructions begin.
const INSTRUCTIONS: [&str; 30] = phrases(
    "important|instruction|rules|rule |notes|note:|format|tips|recommended workflow|boundaries|submission|\
    steps to follow|steps to resolve|step to resolve|follow these steps|useful command|command execution|\
    overview|your task|your terminal|now, you're going|now you're going|remember,|can you help me implement|\
    output format|response format|guidelines|constraints on|hints|hint:",
);
/// How lines begin that introduce a request.
const LEAD_INS: [&str; 22] = phrases(
    "we're currently solving|consider the following|here's the issue|here's the task|here is the issue|\
    here is the task|i've uploaded|you are a |you are an |you are the |your task is|the following|\
    please solve|solve the following|below is|issue:|description:|task:|problem:|title:|(last modified by|_originally posted",
);
/// The headings of reports.
const REPORTED: [&str; 47] = phrases(
    "bug summary|bug report|bug description|code for reproduction|actual outcome|actual behavior|\
    actual behaviour|actual result|actual results|actual output|expected outcome|expected behavior|\
    expected behaviour|expected result|expected results|expected output|additional information|\
    additional context|operating system|python version|matplotlib version|software version|\
    package version|version|versions|installation|description|steps to reproduce|to reproduce|\
    steps/code to reproduce|environment|environment info|environment details|screenshots|screenshot|\
    checklist|what happened|summary|describe the bug|how to reproduce|your project|os|python|output|\
    example|desktop|possible solution",
);
/// What the headings contain below which a report describes the machine.
const SETTINGS: &[&str] =
    &["version", "operating system", "environment", "installation", "backend", "checklist"];
/// What instructions about an interface contain.
const INTERFACE: [&str; 19] = phrases(
    "your response|terminal session|your thinking|one command|bash block|thought:|non-interactive|submit|\
    line number|the special interface|interactive session|session has started|environment is already|\
    feedback after every|you can use any|you may use any|must contain|triple backticks|repository's root",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_found_within_its_template() {
        let text = "You are a helpful agent.\nHere's the task:\n<issue_description>\nWrong dash offset\n\
            ### Bug summary\nThe offset of a dash has no effect.\n</issue_description>\n# Instructions\nSubmit at the end.";
        let request = Request::of(text);
        assert_eq!(request.title.as_deref(), Some("Wrong dash offset"));
        assert_eq!(request.sentences, ["The offset of a dash has no effect."]);
        assert!(request.is_template);
    }

    #[test]
    fn a_sentence_goes_on_around_lines_of_code() {
        let text = "<issue>\nRows are removed\nI expect\n`flip([1, 0])`\nto give\n`[0, 1]`\nThe order is lost.\n</issue>";
        let request = Request::of(text);
        assert_eq!(request.sentences, ["I expect flip([1, 0]) to give [0, 1]", "The order is lost."]);
    }

    #[test]
    fn what_introduces_code_is_no_part_of_the_goal() {
        let text =
            "<issue>\nWrong results\nOn master,\n```python\n>>> a = 1\n```\nThis should be `True`.\n</issue>";
        let parts = Request::of(text).parts();
        assert!(parts.iter().all(|(part, _)| !part.starts_with("On master")), "{parts:?}");
        assert_eq!(parts[0].0, "Wrong results");
    }

    #[test]
    fn a_title_is_not_repeated_and_a_placeholder_says_nothing() {
        let text = "<issue>\nParser crashes on an empty tuple\nThe parser crashes on an empty tuple.\n_No response_\n\
            It works with two elements, as expected.\n</issue>";
        let request = Request::of(text);
        let told: Vec<String> = request.parts().into_iter().map(|(part, _)| part).collect();
        assert_eq!(told, ["Parser crashes on an empty tuple", "It works with two elements, as expected."]);
    }

    #[test]
    fn what_a_report_leaves_empty_is_not_told() {
        let text = "<issue>\nWrong rows\n### Actual outcome\nThe rows overlap on each page.\n### Version\n3.7\n\
            ### More\n_No response_\n</issue>";
        assert_eq!(Request::of(text).told(), ["The rows overlap on each page."]);
    }

    #[test]
    fn a_plain_message_is_its_own_request() {
        let request = Request::of("I need to change my flight. It is HAT084.");
        assert_eq!((request.title, request.sentences.len()), (None, 2));
    }

    #[test]
    fn an_example_for_the_agent_is_no_request() {
        let shown = |first: &str| is_demonstration(&format!("{first}\n{}", "ISSUE:\nAnother.\n".repeat(100)));
        assert!(shown("Here is a demonstration of how to correctly accomplish this task."));
        assert!(!shown("We're solving the following issue."));
        assert!(!is_demonstration("Give me a demonstration."));
    }

    #[test]
    fn a_named_task_has_that_title() {
        let request = Request::of("Solve the challenge named \"Networking 1\" in the category pwn.");
        assert_eq!(request.title.as_deref(), Some("Networking 1"));
    }
}
