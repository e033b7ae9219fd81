//! The words that the grammar knows.

/// Why a sentence, or an unquoted text to look for, that holds `word` (in lower case) is
/// refused wherever it stands: an exception, a negation or a condition would turn the
/// meaning of all the rest.
pub(super) fn refused(word: &str) -> Option<&'static str> {
    match word {
        "except" | "excepting" | "excluding" | "exclude" | "excludes" | "but" | "besides" | "barring"
        | "save" | "only" | "rather" | "instead" | "however" | "although" | "though" | "aside" | "apart" => {
            Some("an exception cannot be expressed; put quotes around it if it is part of a text to look for")
        }
        "not" | "never" | "no" | "none" | "nor" | "neither" | "without" | "cannot" | "dont" | "doesnt"
        | "didnt" | "cant" | "wont" | "keep" | "keeping" | "keeps" | "kept" | "retain" | "preserve" => {
            Some("what to keep cannot be expressed; put quotes around it if it is part of a text to look for")
        }
        "if" | "unless" | "whenever" => {
            Some("a condition cannot be expressed; put quotes around it if it is part of a text to look for")
        }
        _ if word.ends_with("n't") => {
            Some("a negation cannot be expressed; put quotes around it if it is part of a text to look for")
        }
        _ => None,
    }
}
