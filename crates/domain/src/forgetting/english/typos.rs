//! Typos in command words: one letter extra, missing, wrong, or swapped with the next one.

use crate::forgetting::{doubts, words};

use super::number::is_numeric;

/// The words that are corrected. None of them makes the selection larger on its own: "all", "every", the
/// names for the whole conversation, short names of speakers and numbers must be spelled correctly.
const COMMANDS: &str = "forget remove delete erase discard clear purge scratch oldest newest latest earliest first last \
message messages utterance utterances turn turns position sequence before after between since about everything today \
yesterday assistant the what said from except please could would";

/// English words that resemble commands but are not typos.
const OTHERS: &str = "forgot forge forger forged forgets remote removed remover removes deleted deletes deplete erased \
eraser erases ease discards discord pure purged clears least lasts massage massages toady";

/// A wrong letter counts as a typo only in a word at least this long: shorter words resemble too many others.
const LEAST_WITH_WRONG_LETTER: usize = 6;

/// The command word that `word`, in lower case, is a typo of.
pub(super) fn corrected(word: &str) -> Option<&'static str> {
    let is_word = word.len() >= 3 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let known = doubts::is_no_name(word) || is_numeric(word) || words::VERBS.contains(&word);
    let other = OTHERS.split(' ').any(|other| other == word);
    if !is_word || known || other {
        return None;
    }
    COMMANDS.split(' ').find(|command| is_slip(word, command))
}

/// Whether a word is almost one that selects utterances.
pub(super) fn resembles(word: &str) -> bool {
    let nouns =
        ["conversation", "history", "transcript", "dialogue", "memory", "results", "outputs", "replies"];
    corrected(word).is_some() || word.len() > 4 && nouns.iter().any(|noun| is_slip(word, noun))
}

/// Whether a word with the command's first letter is one typo away from it.
fn is_slip(word: &str, command: &str) -> bool {
    let (word, command) = (word.as_bytes(), command.as_bytes());
    if word.first() != command.first() {
        return false;
    }
    let same = word.iter().zip(command).take_while(|(one, other)| one == other).count();
    let (rest, wanted) = (&word[same..], &command[same..]);
    match (rest, wanted) {
        ([], [_]) | ([_], []) => true,
        ([one, other, rest @ ..], [wanted, next, after @ ..])
            if rest == after && one == next && other == wanted =>
        {
            true
        }
        ([_, rest @ ..], wanted) if rest == wanted => true,
        (rest, [_, wanted @ ..]) if rest == wanted => true,
        ([_, rest @ ..], [_, wanted @ ..]) => rest == wanted && command.len() >= LEAST_WITH_WRONG_LETTER,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_one_letter() {
        for (word, command) in [
            ("forgt", "forget"),
            ("forgett", "forget"),
            ("fogret", "forget"),
            ("delate", "delete"),
            ("lst", "last"),
            ("lats", "last"),
            ("mesage", "message"),
            ("messsages", "messages"),
            ("trun", "turn"),
            ("abuot", "about"),
            ("evrything", "everything"),
            ("yesteday", "yesterday"),
        ] {
            assert_eq!(corrected(word), Some(command), "{word}");
        }
    }

    #[test]
    fn other_words_are_left_as_they_are() {
        for word in [
            "al",
            "eveyr",
            "chta",
            "convesation",
            "usr",
            "tol",
            "blast",
            "lost",
            "list",
            "past",
            "torn",
            "massage",
            "remote",
            "forgot",
            "alter",
            "abort",
            "message",
            "turn",
            "paris",
            "tree",
            "fout",
            "msseage",
            "",
        ] {
            assert_eq!(corrected(word), None, "{word}");
        }
    }
}
