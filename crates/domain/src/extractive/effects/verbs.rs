//! Verbs in the names of tools and commands.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// What a word of a name indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// A change, wherever the word is.
    Changes,
    /// No change.
    Reads,
    /// A change if the word comes first; it is also a noun (`book_flight`, but `book_search`).
    Opens,
    /// A lookup if the word comes last: `order_status`.
    Noun,
}

/// The meaning of `word`, in lower case; `None` if it has none.
pub(super) fn verb(word: &str) -> Option<Verb> {
    static VERBS: LazyLock<FxHashMap<&str, Verb>> = LazyLock::new(|| {
        let lists =
            [(CHANGES, Verb::Changes), (READS, Verb::Reads), (OPENS, Verb::Opens), (NOUNS, Verb::Noun)];
        let words =
            |(list, verb): (&'static str, Verb)| list.split_whitespace().map(move |word| (word, verb));
        lists.into_iter().flat_map(words).collect()
    });
    VERBS.get(word).copied()
}

const CHANGES: &str = "abort accept acknowledge activate add adjust allocate alter amend annotate append apply approve \
    assign attach authorize ban bind block borrow broadcast buy cancel capture change checkout checkin claim clear \
    clone close commit complete confirm consume copy create credit deactivate debit decline decrement dequeue del \
    delete deliver deny deploy deposit destroy detach disable discard dismiss dispatch donate downgrade draft drop \
    duplicate edit email eject emit enable encrypt enqueue enroll erase escalate evict expire extend fix format fmt \
    forget forward freeze grant halt handoff hire import increment initialize init insert install invite join kill \
    launch leave lock mark merge migrate modify mount move mkdir mutate mute notify overwrite patch pay persist pin \
    poweroff prepend promote provision prune publish purchase purge push put reactivate reassign reboot rebook rebase \
    recreate redeem redeploy redo refund regenerate register reject rm rmdir relocate remind remove rename renew \
    reorder replace reply republish reschedule reserve reset resize respond restart restore resubmit resume \
    revert revise revoke rollback rotate save scale seed sell send settle signup snooze spawn spend star start stop \
    submit subscribe suspend swap sync terminate toggle transfer trash trigger truncate turn unarchive unassign \
    unblock unfollow uninstall unlink unlock unmount unpin unregister unsubscribe update upgrade upload \
    upsert vote wipe withdraw write touch";

const READS: &str = "access analyse analyze ask assess audit browse calc calculate calculator check classify compare \
    compute convert count decode describe detect diff discover display download enumerate estimate evaluate examine \
    exists explain explore extract fetch filter find finish forecast get glob goto grep has help identify inspect \
    interpret is lint list load locate look lookup ls measure monitor navigate observe peek ping plan poll predict \
    preview print profile ps quote read recall recommend reflect remember retrieve scan screenshot scroll search see \
    show sleep snapshot stat suggest summarise summarize tail test tests think thinking thought trace translate \
    validate verify view visit wait watch whoami";

const OPENS: &str = "archive book call charge comment exchange fill follow fork give hold issue label like link log \
    message note order pause place play post react record redirect release rent report request return \
    schedule set share ship sign store stream switch tag take text trade tweet unset";

const NOUNS: &str = "availability balance balances counts detail details exchanges health \
    history info information latest limits logs messages metadata metrics orders overview policy price \
    prices quotes rate rates result results schedules stats statistics status summary tracking \
    transactions usage values version versions";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_one_thing() {
        let mut words: Vec<&str> =
            [CHANGES, READS, OPENS, NOUNS].into_iter().flat_map(str::split_whitespace).collect();
        words.sort_unstable();
        let twice: Vec<_> = words.windows(2).filter(|two| two[0] == two[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
