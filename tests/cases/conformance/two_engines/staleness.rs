//! Reads that accept an older answer, beside what the other engine does.

use utterd::{
    proto::{
        compaction_service_server::CompactionService, context_service_server::ContextService,
        conversation_service_server::ConversationService, memory_service_server::MemoryService,
    },
    rpc::Services,
};

use super::{
    calls::{Reply, end, forget, say, says, says_in},
    pair::Pair,
};
use crate::support::prelude::*;

const MAX: Duration = Duration::from_secs(10);

fn max(seconds: u64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds: seconds as i64, nanos: 0 })
}

/// What the first server answers when it may be this old, and how often it asks the store.
async fn read(pair: &Pair, id: &str, max_staleness: u64) -> (Capacity, usize) {
    let request = GetCapacityInfoRequest {
        conversation_id: id.to_owned(),
        max_staleness: max(max_staleness),
        ..Default::default()
    };
    pair.store.questions();
    let response = pair.one.get_capacity_info(Request::new(request)).await.reply();
    (response.capacity.expect("a capacity"), pair.store.questions())
}

/// The same: the revision.
async fn revision(pair: &Pair, id: &str, max_staleness: u64) -> (i64, usize) {
    let (capacity, questions) = read(pair, id, max_staleness).await;
    (capacity.revision, questions)
}

/// For the conversation `c` by its name, and for the default recipient's.
pub async fn an_answer_is_as_old_as_its_reader_accepts(pair: &Pair) {
    for id in ["", "c"] {
        say(&pair.one, says_in(id, "one")).await;
        assert_eq!(revision(pair, id, 10).await, (1, 0), "the commit confirmed it");
        say(&pair.other, says_in(id, "two")).await;
        assert_eq!(revision(pair, id, 10).await, (1, 0));
        assert_eq!(revision(pair, id, 0).await, (2, 1), "the newest");
        forget(&pair.other, id, "oldest", ForgetMode::Hard).await;
        assert_eq!(revision(pair, id, 10).await, (2, 0), "the question before confirmed it");
        assert_eq!(revision(pair, id, 0).await, (3, 1));

        pair.clock.advance(MAX / 2);
        assert_eq!(revision(pair, id, 0).await, (3, 1), "it is still the newest");
        say(&pair.other, says_in(id, "three")).await;
        pair.clock.advance(MAX / 2);
        pair.clock.set_back(MAX);
        assert_eq!(revision(pair, id, 10).await, (3, 0), "it was confirmed in between");
        pair.clock.advance(MAX / 2);
        assert_eq!(revision(pair, id, 11).await, (3, 0));
        assert_eq!(revision(pair, id, 10).await, (4, 1), "that was too long ago");
        assert_eq!(revision(pair, id, 10).await, (4, 0));
    }
}

pub async fn what_a_server_has_done_itself_is_never_missing(pair: &Pair) {
    for number in 0..10 {
        say(&pair.other, says_in("c", "there")).await;
        let said = say(&pair.one, says_in("c", "here")).await;
        assert_eq!(said.revision, 2 * number + 2);
        assert_eq!(revision(pair, "c", 10).await, (said.revision, 0));
    }
    forget(&pair.one, "c", "last:2", ForgetMode::Hard).await;
    let (capacity, questions) = read(pair, "c", 10).await;
    assert_eq!((capacity.utterance_count, questions), (Some(18), 0));
}

pub async fn an_older_answer_follows_the_pointer_of_its_own_server(pair: &Pair) {
    let first = say(&pair.one, says("hello")).await.conversation_id;
    end(&pair.other, "").await;
    let (old, questions) = read(pair, "", 10).await;
    assert_eq!((&old.conversation_id, questions), (&first, 0), "the end is news");

    let second = say(&pair.one, says("hello again")).await.conversation_id;
    let (new, questions) = read(pair, "", 10).await;
    assert_ne!(first, second);
    assert_eq!((&new.conversation_id, questions), (&second, 0));

    end(&pair.other, "").await;
    let third = say(&pair.other, says("and again")).await.conversation_id;
    assert_eq!(read(pair, "", 10).await.0.conversation_id, second);
    assert_eq!(read(pair, "", 0).await.0.conversation_id, third);
    end(&pair.one, "").await;
    let (none, questions) = read(pair, "", 10).await;
    assert_eq!((none.conversation_id.as_str(), questions), ("", 2), "there is no older one to show");
}

pub async fn no_read_of_one_conversation_asks_for_its_state(pair: &Pair) {
    say(&pair.one, says("the ship sails to Lisbon")).await;
    each_read(&pair.one, 10).await;
    say(&pair.other, says("and to Oslo")).await;
    pair.store.questions();
    each_read(&pair.one, 10).await;
    assert_eq!(pair.store.questions(), 0);
    each_read(&pair.one, 0).await;
    assert!(pair.store.questions() >= 10);
}

/// Calls each read of a conversation.
async fn each_read(at: &Services, seconds: u64) {
    macro_rules! read {
        ($call:ident $request:ident { $($field:ident: $value:expr),* }) => {
            let request = $request { max_staleness: max(seconds), $($field: $value,)* ..Default::default() };
            at.$call(Request::new(request)).await.reply();
        };
    }
    let conversation_id = read_id(at, seconds).await;
    read!(get_conversation GetConversationRequest { conversation_id: conversation_id });
    read!(get_summary GetSummaryRequest {});
    read!(get_stats GetStatsRequest {});
    read!(list_utterances ListUtterancesRequest { include_archive: true });
    read!(list_messages ListMessagesRequest {});
    read!(list_compactions ListCompactionsRequest {});
    read!(summarize SummarizeRequest {});
    // by their recipient, these are about all its conversations
    let conversation_id = read_id(at, seconds).await;
    read!(build_context BuildContextRequest { conversation_id: conversation_id.clone() });
    let prompt = "Lisbon".to_owned();
    read!(remember RememberRequest { conversation_id: conversation_id, prompt: prompt });
}

async fn read_id(at: &Services, seconds: u64) -> String {
    let request = GetCapacityInfoRequest { max_staleness: max(seconds), ..Default::default() };
    at.get_capacity_info(Request::new(request)).await.reply().capacity.expect("a capacity").conversation_id
}
