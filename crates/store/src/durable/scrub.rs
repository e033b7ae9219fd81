//! Rewrites the files of an offline store so that they contain no removed data.

use super::disk::directory::Directory;
use crate::{
    Result, StoreError,
    records::{self, Meta, Metas},
};

/// The result of a scrub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scrubbed {
    /// Size of the engine's files on disk before.
    pub before: u64,
    /// Their size now.
    pub after: u64,
}

/// Rewrites the engine's files until they contain no byte of erased, dropped or deleted data.
///
/// - Takes time and disk space in proportion to the whole store.
/// - After an error nothing is lost, but removed data may still be in the files.
pub fn scrub(directory: &mut Directory) -> Result<Scrubbed> {
    directory.check_finished().map_err(StoreError::unavailable)?;
    let pairs = directory.pairs();
    let before = pairs.disk_bytes().map_err(StoreError::unavailable)?;
    pairs.scrub().map_err(StoreError::unavailable)?;
    let after = pairs.disk_bytes().map_err(StoreError::unavailable)?;
    let unscrubbed = records::key::<Metas>(&Meta::Unscrubbed);
    if pairs.get(&unscrubbed).map_err(StoreError::unavailable)?.is_some() {
        directory.write(vec![(unscrubbed, None)]).map_err(StoreError::unavailable)?;
    }
    Ok(Scrubbed { before, after })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        conformance::{self, support::family::Family},
        durable::{
            DurableStore, EngineKind, Options,
            tests::{
                conversation::{TestConversation, TestStore, user},
                holds, problems,
            },
        },
    };
    use utterd_domain::Policy;

    #[test]
    fn what_was_removed_is_not_in_the_files() {
        for engine in EngineKind::ALL {
            let files = tempfile::tempdir().unwrap();
            let test_store = TestStore::open(engine, files.path());
            let mut conversation = TestConversation::new(&test_store, "demo", 1, Policy::SESSION);
            conversation.say(vec![user("The secret is xylophone-7."), user("The rest may stay.")]);
            conversation.forget("sequence:1", true);
            drop(conversation);
            drop(test_store);
            assert!(holds(files.path(), b"xylophone"), "{engine} still has it");
            let mut directory = Directory::open(engine, files.path()).unwrap();
            scrub(&mut directory).unwrap();
            scrub(&mut directory).unwrap();
            assert_eq!(directory.pairs().get(&records::key::<Metas>(&Meta::Unscrubbed)), Ok(None));
            drop(directory);
            assert!(!holds(files.path(), b"xylophone"), "{engine} has it no more");
            assert!(holds(files.path(), b"The rest may stay."));
            assert_eq!(problems(engine, files.path()), [""; 0]);
        }
    }

    /// The utterances were dropped before: only the summary and the compactions still hold their text.
    #[test]
    fn what_was_removed_of_summaries_is_not_in_the_files() {
        for engine in EngineKind::ALL {
            let files = tempfile::tempdir().unwrap();
            let test_store = TestStore::open(engine, files.path());
            let policy = Policy { archive_limit: 0, summary_token_limit: Some(60), ..Policy::SESSION };
            let mut conversation = TestConversation::new(&test_store, "demo", 1, policy);
            let secret = |number| user(&format!("The secret of room {number} is xylophone-{number}."));
            conversation.say((0..40).map(secret).collect());
            conversation.compact(5);
            assert!(conversation.state.summary.text().contains("xylophone"));
            conversation.say(
                (0..40).map(|number| user(&format!("The key of room {number} is R-{number}."))).collect(),
            );
            conversation.compact(5);
            let keeps = |conversation: &TestConversation<'_>| {
                let folded =
                    conversation.state.compactions.iter().flat_map(|compaction| compaction.folded.iter());
                folded.flat_map(|folded| folded.iter()).any(|segment| segment.text().contains("xylophone"))
            };
            assert!(keeps(&conversation), "an undo would bring it back");
            conversation.forget("sequence:1-40", true);
            assert!(!keeps(&conversation) && !conversation.state.summary.text().contains("xylophone"));
            drop(conversation);
            drop(test_store);
            let mut directory = Directory::open(engine, files.path()).unwrap();
            let unscrubbed = directory.pairs().get(&records::key::<Metas>(&Meta::Unscrubbed)).unwrap();
            assert!(unscrubbed.is_some(), "{engine} is to be scrubbed");
            scrub(&mut directory).unwrap();
            drop(directory);
            assert!(!holds(files.path(), b"xylophone"), "{engine} has it no more");
        }
    }

    /// Erased utterances that forks share, and data deleted with a parent.
    #[test]
    fn what_was_removed_of_a_family_is_not_in_the_files() {
        for engine in EngineKind::ALL {
            let files = tempfile::tempdir().unwrap();
            let store =
                async { (DurableStore::open(engine, files.path(), &Options::default()).unwrap(), ()) };
            conformance::run(store, async |store| {
                let mut family = Family::of(&store, "parent", Policy::SESSION);
                let texts =
                    ["The secret is xylophone-7.", "The rest may stay.", "Only the parent has yellow-8."];
                family.member("parent").say(texts.map(user).into()).await;
                family.fork_at("parent", "fork", 2).await;
                assert!(family.member("fork").mark(1, true, "copied").await);
                assert!(family.erase("parent", 1).await);
                family.delete(&["parent"]).await;
            });
            assert!(
                holds(files.path(), b"xylophone") && holds(files.path(), b"yellow"),
                "{engine} still has it"
            );
            let mut directory = Directory::open(engine, files.path()).unwrap();
            scrub(&mut directory).unwrap();
            drop(directory);
            assert!(!holds(files.path(), b"xylophone") && !holds(files.path(), b"yellow"), "{engine}");
            assert!(holds(files.path(), b"The rest may stay."));
        }
    }
}
