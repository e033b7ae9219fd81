//! The language of the scripts.

/// One command. It addresses the conversation that its prefix names; or, without a prefix, the active one of
/// the recipient `default`.
#[derive(goldenscript::Command)]
pub enum Command {
    /// `memorize user="Hi" assistant="Hello" pinned=true`: one batch. `system=`, `user=`, `assistant=` and
    /// `tool=` start an utterance; see [`crate::golden::batch`] for what can follow.
    Memorize(#[arg(key, many, optional)] Vec<(String, String)>),

    /// `chat turns=30`: turns with a user's order and the assistant's answer, one Memorize each.
    Chat {
        #[arg(key)]
        turns: usize,
    },

    /// `forget "speaker:user" mode=hard dry_run=true`
    Forget {
        instructions: String,
        #[arg(key)]
        mode: Option<String>,
        #[arg(key, optional)]
        dry_run: bool,
        #[arg(key)]
        request: Option<String>,
        #[arg(key)]
        expect: Option<i64>,
    },

    /// `restore 3 4`: by sequence, or by the id that the client gave.
    Restore(Vec<String>),

    /// `pin 3`: the unit of an utterance.
    Pin(String),

    /// `unpin 3`
    Unpin(String),

    /// `note 3 topic=weather`: all metadata of an utterance.
    Note(String, #[arg(key, many, optional)] Vec<(String, String)>),

    /// `edit 3 "Rather Bergen."`: the content of an utterance. `edit 3 "Rather Bergen." mode=fork`: in a
    /// fork.
    Edit {
        name: String,
        content: String,
        #[arg(key)]
        mode: Option<String>,
        #[arg(key)]
        request: Option<String>,
    },

    /// `fork into=other at=12 to=ada title="Again" activate=true`
    Fork {
        #[arg(key, optional)]
        into: String,
        #[arg(key)]
        at: Option<i64>,
        #[arg(key, optional)]
        to: String,
        #[arg(key, optional)]
        title: String,
        #[arg(key, optional)]
        activate: bool,
        #[arg(key)]
        request: Option<String>,
    },

    /// `prepare "And tomorrow?" history='[{"role":"user","content":"Hi"}]'`: PrepareHistory. With `count=25`,
    /// a history of this many alternating messages.
    Prepare {
        prompt: String,
        #[arg(key, optional)]
        history: String,
        #[arg(key)]
        count: Option<usize>,
        #[arg(key)]
        format: Option<String>,
        #[arg(key)]
        alternation: Option<String>,
        #[arg(key)]
        bytes: Option<i32>,
    },

    /// `forks`: the conversation that this one was forked from, and its forks.
    Forks,

    /// `remember "the weather" role=user scope=window`
    Remember {
        #[arg(optional)]
        prompt: String,
        #[arg(key)]
        role: Option<String>,
        #[arg(key)]
        name: Option<String>,
        #[arg(key)]
        min_turn: Option<i32>,
        #[arg(key)]
        max_turn: Option<i32>,
        #[arg(key)]
        min_sequence: Option<i64>,
        #[arg(key)]
        max_sequence: Option<i64>,
        #[arg(key)]
        pinned: Option<bool>,
        /// `key:value`
        #[arg(key)]
        metadata: Option<String>,
        #[arg(key)]
        scope: Option<String>,
        #[arg(key)]
        order: Option<String>,
        #[arg(key, optional)]
        neighbors: i32,
        #[arg(key, optional)]
        page_size: i32,
        /// `next` is the token that the last Remember returned.
        #[arg(key)]
        page: Option<String>,
    },

    /// `summarize scope=recent recent=5 limit=40 focus=Paris`: makes a summary, stores nothing.
    Summarize {
        #[arg(key)]
        scope: Option<String>,
        #[arg(key)]
        recent: Option<i32>,
        #[arg(key)]
        first_turn: Option<i32>,
        #[arg(key)]
        last_turn: Option<i32>,
        #[arg(key)]
        limit: Option<i32>,
        #[arg(key)]
        focus: Option<String>,
    },

    /// `context format=anthropic_messages budget=300 turns=3 placement=user_message mask=2
    /// unanswered=placeholder recall=lamps limit=2`: the context for the model. A line marks the end of its
    /// stable part.
    Context {
        #[arg(key)]
        format: Option<String>,
        #[arg(key)]
        budget: Option<i32>,
        #[arg(key)]
        turns: Option<i32>,
        #[arg(key)]
        placement: Option<String>,
        #[arg(key)]
        mask: Option<i32>,
        #[arg(key)]
        unanswered: Option<String>,
        #[arg(key)]
        recall: Option<String>,
        #[arg(key)]
        limit: Option<i32>,
    },

    /// `summary`: the summary of what left the window. `summary text=false`: only its segments.
    Summary {
        #[arg(key)]
        text: Option<bool>,
    },

    /// `window`: every slot, and how full it is.
    Window,

    /// `capacity`: GetCapacityInfo. With `session=tui`, as a session sees it.
    Capacity {
        #[arg(key, optional)]
        session: String,
    },

    /// `compact keep=20 focus=store`: folds all but the last utterances into the summary. With
    /// `preview=true`, the summary is only shown.
    Compact {
        #[arg(key)]
        keep: Option<i32>,
        #[arg(key)]
        focus: Option<String>,
        #[arg(key, optional)]
        preview: bool,
        #[arg(key)]
        request: Option<String>,
        #[arg(key)]
        expect: Option<i64>,
    },

    /// `undo`: undoes the last compaction.
    Undo {
        #[arg(key)]
        request: Option<String>,
        #[arg(key)]
        expect: Option<i64>,
    },

    /// `compactions`: the newest first.
    Compactions,

    /// `answer compact_now keep=20`, `answer not_now`, `answer never_this_session session=tui`: answers the
    /// advice to compact.
    Answer {
        answer: String,
        #[arg(key)]
        keep: Option<i32>,
        #[arg(key)]
        session: Option<String>,
    },

    /// `list last=5 order=newest_first archive=true forgotten=true`
    List {
        #[arg(key)]
        last: Option<i32>,
        #[arg(key)]
        order: Option<String>,
        #[arg(key, optional)]
        archive: bool,
        #[arg(key, optional)]
        forgotten: bool,
    },

    /// `policy preset=turns max_tokens=100`: changes limits.
    Policy(Vec<(String, String)>),

    /// `create title="Rain" recipient=ada preset=session`: a conversation and its limits.
    Create(#[arg(key, many, optional)] Vec<(String, String)>),

    /// `conversations recipient=ada`: the newest first.
    Conversations {
        #[arg(key, optional)]
        recipient: String,
    },

    /// `end reason="task completed" recipient=ada`: the conversation, its title and its closing summary.
    End(#[arg(key, many, optional)] Vec<(String, String)>),

    /// `delete weather`: a conversation by its id; `id1` is the first id printed.
    Delete(String),

    /// `advance 31m`: moves the clock and does what is due.
    Advance(String),

    /// `restart`: another server over the same store, with the same clock.
    Restart,

    /// `events`: the events since the last `events`, including reads.
    Events,

    /// `> GetStats {"scope": "STATS_SCOPE_RECIPIENT"} show=stats.total,stats.roles`: any call by its name, with its
    /// request in JSON, or several for a stream, and the fields of its response to show; see
    /// [`crate::golden::calls`].
    #[command(other)]
    Call(goldenscript::Command),
}
