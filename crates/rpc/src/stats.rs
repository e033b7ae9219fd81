//! GetStats: converts statistics to messages.

use crate::convert::status::OrStatus;
use std::cmp::Reverse;

use tonic::Status;

use crate::{
    Services,
    convert::{decode, encode},
    proto,
};
use utterd_domain::{
    Refusal, Role, Timestamp,
    conversation::Status as Doing,
    limits::MAX_TOOLS,
    stats::{Bucket, Compression, Count, Counts, Evictions, ToolUse},
};
use utterd_engine::{Caller, EmbeddingStanding, LlmStanding, StatsCall, StatsReply};

impl Services {
    pub(super) async fn stats(
        &self,
        caller: &Caller,
        request: &proto::GetStatsRequest,
    ) -> Result<proto::GetStatsResponse, Status> {
        let reply = self.engine.stats(caller, &call(request).or_status()?).await.or_status()?;
        let llm = self.engine.llm_standing(caller).as_ref().map(llm);
        let embedding = self.engine.embedding_standing(caller).as_ref().map(embedding);
        Ok(proto::GetStatsResponse { stats: Some(proto::Stats { llm, embedding, ..message(&reply) }) })
    }
}

fn call(request: &proto::GetStatsRequest) -> Result<StatsCall, Refusal> {
    let scope: proto::StatsScope =
        decode::choice("scope", request.scope, "CONVERSATION (1) and RECIPIENT (2)")?;
    let of_recipient = scope == proto::StatsScope::Recipient;
    if of_recipient && !request.conversation_id.is_empty() {
        let text = "is given, but the scope is RECIPIENT; accepted: one of the two";
        return Err(Refusal::invalid("conversation_id", text));
    }
    Ok(StatsCall {
        address: decode::read_address_of!(request)?,
        of_recipient,
        bucket: decode::same_name!("bucket", request.bucket, TimeBucket to Bucket: Hour Day Week Month)?
            .unwrap_or_default(),
    })
}

fn message(reply: &StatsReply) -> proto::Stats {
    let stats = &reply.stats;
    let span = |(start, counts): (&Timestamp, &Counts)| proto::SpanCount {
        start_time: Some(encode::time(*start)),
        total: Some(count(&counts.all)),
        roles: roles(counts),
    };
    let level = |(level, one): (&u32, &Compression)| proto::LevelCompression {
        level: Some(encode::int(*level)),
        compression: Some(compression(one)),
    };
    let conversations = |(status, number): (&Doing, &u64)| proto::StatusCount {
        status: encode::status(*status).into(),
        conversation_count: Some(encode::int(*number)),
    };
    let mut tools: Vec<_> = stats.tools.iter().collect();
    tools.sort_by_key(|(_, used)| Reverse(used.calls));
    let omitted = tools.len().saturating_sub(MAX_TOOLS);
    tools.truncate(MAX_TOOLS);
    proto::Stats {
        conversation_id: reply.state.as_ref().map(|state| state.key().id.to_string()).unwrap_or_default(),
        recipient_id: reply.recipient.to_string(),
        revision: reply.state.as_ref().map(|state| encode::long(state.head.revision.get())),
        total: Some(count(&stats.counts.all)),
        roles: roles(&stats.counts),
        spans: stats.spans.iter().map(span).collect(),
        forgotten_utterance_count: Some(encode::int(stats.forgotten)),
        aside_utterance_count: Some(encode::int(stats.aside)),
        tools: tools.into_iter().map(tool).collect(),
        omitted_tool_count: Some(encode::int(omitted)),
        evictions: Some(evictions(&stats.evictions)),
        compression: Some(compression(&stats.compression)),
        levels: stats.levels.iter().map(level).collect(),
        conversations: stats.conversations.iter().map(conversations).collect(),
        llm: None,
        embedding: None,
    }
}

fn llm(standing: &LlmStanding) -> proto::LlmStats {
    proto::LlmStats {
        in_flight_count: Some(encode::int(standing.in_flight)),
        stored_count: Some(encode::int(standing.stored)),
        dropped_count: Some(encode::int(standing.dropped)),
        failed_count: Some(encode::int(standing.failed)),
        held_back: standing.held_back,
        waiting_since: standing.waiting_since.map(encode::time),
    }
}

fn embedding(standing: &EmbeddingStanding) -> proto::EmbeddingStats {
    proto::EmbeddingStats {
        embedded_count: Some(encode::int(standing.embedded)),
        dropped_count: Some(encode::int(standing.dropped)),
        failed_count: Some(encode::int(standing.failed)),
        hybrid_search_count: Some(encode::int(standing.hybrid)),
        lexical_search_count: Some(encode::int(standing.without)),
        waiting_conversation_count: Some(encode::int(standing.waiting)),
        held_back: standing.held_back,
    }
}

fn roles(counts: &Counts) -> Vec<proto::RoleCount> {
    let spoke = Role::ALL.into_iter().zip(&counts.by_role).filter(|(_, count)| count.utterances > 0);
    let message =
        |(role, of_role)| proto::RoleCount { role: encode::role(role).into(), count: Some(count(of_role)) };
    spoke.map(message).collect()
}

fn count(count: &Count) -> proto::UtteranceCount {
    proto::UtteranceCount {
        utterance_count: Some(encode::int(count.utterances)),
        token_count: Some(encode::int(count.tokens)),
        turn_count: Some(encode::int(count.turns)),
    }
}

fn tool((name, used): (&str, &ToolUse)) -> proto::ToolCount {
    proto::ToolCount {
        name: name.to_owned(),
        call_count: Some(encode::int(used.calls)),
        answered_count: Some(encode::int(used.answered)),
        unanswered_count: Some(encode::int(used.calls - used.answered)),
        result_token_count: Some(encode::int(used.result_tokens)),
        mention_count: Some(encode::int(used.mentions)),
    }
}

fn evictions(evictions: &Evictions) -> proto::EvictionCount {
    proto::EvictionCount {
        evicted_utterance_count: Some(encode::int(evictions.left)),
        archived_utterance_count: Some(encode::int(evictions.archived)),
        dropped_utterance_count: Some(encode::int(evictions.dropped)),
    }
}

fn compression(compression: &Compression) -> proto::Compression {
    proto::Compression {
        segment_count: Some(encode::int(compression.segments)),
        covered_utterance_count: Some(encode::int(compression.covered)),
        source_token_count: Some(encode::int(compression.source_tokens)),
        summary_token_count: Some(encode::int(compression.summary_tokens)),
        ratio: compression.ratio(),
    }
}
