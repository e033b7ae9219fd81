//! The words to search for: no text contains a part of one by accident.

/// A word that is never forgotten: a search that works finds it.
pub const CONTROL: &str = "kestrmol";

/// The words to forget, each named after its place.
pub mod word {
    pub const INSTRUCTION: &str = "wobrunk";
    pub const ARCHIVED: &str = "quimbolt";
    pub const NAME: &str = "zefirnak";
    pub const METADATA: &str = "jorvlund";
    pub const EXTRAS: &str = "pyxagrob";
    pub const EDITED_OLD: &str = "trulvash";
    pub const EDITED_NEW: &str = "hembigor";
    pub const EDITED_IN_FORK: &str = "cazdwimp";
    pub const TOOL: &str = "fluxnerd";
    pub const ARGUMENTS: &str = "gwixtobb";
    pub const RESULT: &str = "skodvreb";
    pub const PINNED: &str = "ulmchawk";
    pub const SOFT: &str = "dribzoff";
    pub const TOLD: &str = "nuvqesht";
    pub const FOLDED: &str = "mofgrixt";
    pub const IN_FLIGHT: &str = "byldwonk";
    pub const WINDOW: &str = "ravkjump";
    pub const TITLE: &str = "olgdrift";
    pub const CLOSING: &str = "sprevuzk";
    pub const DROPPED: &str = "chyndlow";
    pub const IMPORTED: &str = "eptwargh";
    pub const IMPORTED_EXTRA: &str = "iskvolph";
}

/// All of these.
pub const WORDS: [&str; 22] = {
    use word::*;
    [
        INSTRUCTION,
        ARCHIVED,
        NAME,
        METADATA,
        EXTRAS,
        EDITED_OLD,
        EDITED_NEW,
        EDITED_IN_FORK,
        TOOL,
        ARGUMENTS,
        RESULT,
        PINNED,
        SOFT,
        TOLD,
        FOLDED,
        IN_FLIGHT,
        WINDOW,
        TITLE,
        CLOSING,
        DROPPED,
        IMPORTED,
        IMPORTED_EXTRA,
    ]
};
