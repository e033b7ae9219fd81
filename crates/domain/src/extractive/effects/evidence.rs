//! Whether a text reports that something was done.

/// How much of a result, or of what was said next, is read, in bytes.
const READ_BYTES: usize = 240;

/// Whether the beginning of `text` reports that something was done: "has been booked", "successfully sent".
pub(super) fn says_done(text: &str) -> bool {
    let text = text.trim_start();
    if text.starts_with(['{', '[', '<']) {
        return false;
    }
    let text = text[..text.floor_char_boundary(READ_BYTES)].to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let opens = words.first().is_some_and(|word| is_done(word));
    opens || words.windows(3).any(says) || words.len() == 2 && is_done(words[1])
}

/// `has been booked`, `i've cancelled`, `successfully booked`, `was sent`.
fn says(said: &[&str]) -> bool {
    let &[first, second, third] = said else { return false };
    match (first, second) {
        ("has" | "have", "been") => is_done(third) || third == "successfully",
        ("i've" | "we've" | "successfully", done) => is_done(done),
        ("i" | "we", "have") => is_done(third),
        ("is" | "was" | "were" | "are" | "i", done) => {
            is_done(done) || done == "successfully" && is_done(third)
        }
        _ => is_done(first) && second == "successfully",
    }
}

/// Whether `word` is a participle of a verb that changes something.
fn is_done(word: &str) -> bool {
    DONE.split_whitespace().any(|done| done == word)
}

const DONE: &str = "activated added applied approved archived assigned booked canceled cancelled changed charged \
    closed committed completed confirmed created credited deactivated deleted delivered deployed disabled emailed \
    enabled escalated filed fixed forwarded granted installed issued merged migrated modified moved ordered paid \
    placed posted processed provisioned published purchased pushed rebooked refunded registered rejected released \
    removed renamed replaced rescheduled reserved reset resolved restarted restored reverted revoked saved scheduled \
    sent shipped signed started stopped submitted subscribed transferred uninstalled unsubscribed updated upgraded \
    uploaded withdrawn wrote written";
