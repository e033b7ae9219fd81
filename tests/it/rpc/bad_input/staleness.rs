//! The age that a read accepts.

use prost_types::Duration;
use tonic::Code;
use utterd::proto::{
    BuildContextRequest, GetCapacityInfoRequest, GetConversationRequest, GetStatsRequest, GetSummaryRequest,
    ListCompactionsRequest, ListMessagesRequest, ListUtterancesRequest, RememberRequest, SummarizeRequest,
};

use crate::support::session::{Reply, Session, user};

/// Calls each read with this `max_staleness`, and hands the result over.
macro_rules! each {
    ($session:ident, $max:expr, $result:ident => $check:expr) => {
        each!($session, $max, $result => $check;
            memory: get_capacity_info GetCapacityInfoRequest, remember RememberRequest,
                summarize SummarizeRequest;
            context: build_context BuildContextRequest;
            compactions: list_compactions ListCompactionsRequest;
            conversations: get_conversation GetConversationRequest, get_stats GetStatsRequest,
                get_summary GetSummaryRequest, list_messages ListMessagesRequest,
                list_utterances ListUtterancesRequest);
    };
    ($session:ident, $max:expr, $result:ident => $check:expr;
        $($client:ident: $($call:ident $request:ident),+);+) => {
        $($({
            let request = $request { max_staleness: Some($max), ..Default::default() };
            let $result = $session.$client().$call(request).await;
            $check;
        })+)+
    };
}

#[tokio::test]
async fn an_answer_can_be_up_to_an_hour_old() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    for seconds in [0, 10, 3_600] {
        each!(session, Duration { seconds, nanos: 0 }, result => drop(result.reply()));
    }
}

#[tokio::test]
async fn an_age_that_is_no_age_is_refused() {
    let session = Session::new().await;
    session.say(vec![user("hello")]).await;
    let cases = [
        (Duration { seconds: -1, nanos: 0 }, "is -1 s and 0 ns; accepted: 0 s to 3600 s"),
        (Duration { seconds: 0, nanos: -1 }, "is 0 s and -1 ns; accepted"),
        (Duration { seconds: 3_600, nanos: 1 }, "is 3600 s and 1 ns; accepted"),
        (Duration { seconds: i64::MAX, nanos: i32::MIN }, "accepted: 0 s to 3600 s"),
        (Duration { seconds: i64::MIN, nanos: 1 }, "accepted: 0 s to 3600 s"),
    ];
    for (max, says) in cases {
        each!(session, max, result => {
            let refused = result.refusal();
            refused.is(Code::InvalidArgument, "INVALID_FIELD").blames("max_staleness").says(says)
        });
    }
}
