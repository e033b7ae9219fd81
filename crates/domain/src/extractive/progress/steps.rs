//! What a change was for, by the sentence that announces it.

use crate::extractive::text::{clip::folded, cues::Cues};
use crate::phrases::phrases;

/// The longest step, in bytes.
const STEP_BYTES: usize = 110;
/// The shortest.
const LEAST_BYTES: usize = 8;

/// How announcements begin, in lower case; each can follow another.
const OPENINGS: [&str; 34] = phrases(
    "now|next|first|then|ok|okay|so|alright|good|great|perfect|finally|also|and|let me|let's|let us|\
    i'll|i will|i need to|we need to|i should|i want to|i'm going to|i am going to|i can|we can|we should|\
    just|try to|proceed to|start by|we'll|we will",
);

/// The step that the sentences before a call announce: the last announcement, or else the last sentence.
pub(in crate::extractive) fn step(sentences: &[String]) -> Option<String> {
    let announces = |said: &&String| Cues::of_opening(said).has(Cues::STEP);
    let said = sentences.iter().rev().find(announces).or(sentences.last())?;
    let text = folded(bare(said), STEP_BYTES);
    let step = text.trim_end_matches([' ', ',', ':', '.']).replace("; ", ", ");
    (step.len() >= LEAST_BYTES).then_some(step)
}

/// A sentence without the words that only announce it.
fn bare(said: &str) -> &str {
    let mut rest = said.trim();
    while let Some(next) = OPENINGS.iter().find_map(|opening| {
        let (start, behind) = rest.split_at_checked(opening.len())?;
        let ends = behind.starts_with([' ', ',', '.', '!', ':']);
        (start.replace('’', "'").eq_ignore_ascii_case(opening) && ends).then_some(behind)
    }) {
        rest = next.trim_start_matches([' ', ',', '.', '!', ':']);
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_what_the_announcement_announces() {
        let said = |text: &str| step(&[text.to_owned()]);
        assert_eq!(said("Now let me fix the escape handler:").as_deref(), Some("fix the escape handler"));
        assert_eq!(said("Great. I'll start by reading a.rs.").as_deref(), Some("reading a.rs"));
        assert_eq!(said("Ok."), None);
    }
}
