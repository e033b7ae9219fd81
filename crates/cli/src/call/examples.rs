//! A request for each method, as an example in its help.

/// The requests, by the names of their methods.
const EXAMPLES: [(&str, &str); 37] = [
    ("AnswerCompactionPrompt", r#"{"conversationId": "trip", "answer": "COMPACTION_ANSWER_NOT_NOW"}"#),
    ("Backup", "{}"),
    ("BuildContext", r#"{"conversationId": "trip", "tokenBudget": 2000, "recall": {"prompt": "hotel"}}"#),
    ("CompactConversation", r#"{"conversationId": "trip", "keepRecent": 15, "preview": true}"#),
    ("CountTokens", r#"{"texts": ["The train leaves at nine."], "model": "gpt-4o"}"#),
    (
        "CreateConversation",
        r#"{"conversationId": "trip", "recipientId": "anna", "title": "Lisbon", "policy": {"preset": "POLICY_PRESET_SESSION"}}"#,
    ),
    ("DeleteConversation", r#"{"conversationId": "trip"}"#),
    ("DeleteRecipient", r#"{"recipientId": "anna"}"#),
    ("EndConversation", r#"{"conversationId": "trip", "reason": "task completed"}"#),
    ("ExportConversation", r#"{"conversationId": "trip", "format": "CONVERSATION_FORMAT_OPENAI_CHAT"}"#),
    (
        "Forget",
        r#"{"conversationId": "trip", "instructions": "sequence:6-7", "mode": "FORGET_MODE_SOFT", "dryRun": true}"#,
    ),
    (
        "ForkConversation",
        r#"{"conversationId": "trip", "atSequence": 12, "title": "By train", "activate": true}"#,
    ),
    ("GetCapacityInfo", r#"{"conversationId": "trip"}"#),
    ("GetConversation", r#"{"conversationId": "trip", "view": "CONVERSATION_VIEW_FULL"}"#),
    ("GetState", r#"{"scope": "STATE_SCOPE_RECIPIENT", "recipientId": "anna"}"#),
    ("GetStats", r#"{"conversationId": "trip", "bucket": "TIME_BUCKET_HOUR"}"#),
    ("GetSummary", r#"{"conversationId": "trip"}"#),
    ("ImportConversation", r#"{"header": {"conversationId": "trip", "validateOnly": true}}"#),
    ("ListCompactions", r#"{"conversationId": "trip"}"#),
    ("ListConversations", r#"{"allRecipients": true, "status": "CONVERSATION_STATUS_ACTIVE"}"#),
    ("ListMessages", r#"{"conversationId": "trip", "last": 10}"#),
    ("ListUtterances", r#"{"conversationId": "trip", "last": 10, "includeArchive": true}"#),
    (
        "Memorize",
        r#"{"conversationId": "trip", "utterances": [{"role": "ROLE_USER", "content": "Four nights."}]}"#,
    ),
    ("MemorizeStream", r#"{"memorize": {"utterances": [{"role": "ROLE_USER", "content": "Four nights."}]}}"#),
    (
        "PrepareHistory",
        r#"{"messagesJson": "[{\"role\": \"user\", \"content\": \"hi\"}]", "tokenBudget": 500}"#,
    ),
    ("ReadShared", r#"{"token": "utterd_share_…"}"#),
    ("Remember", r#"{"recipientId": "anna", "prompt": "Which hotel?", "minRelevance": 0.5}"#),
    ("Restore", r#"{"conversationId": "trip", "utteranceIds": ["01M84GDF840JF4XZN8GR0H225Z"]}"#),
    ("RevokeShare", r#"{"conversationId": "trip", "shareId": "01M8FF2QVAQ8HCQ8A30RRVVXT3"}"#),
    ("ShareConversation", r#"{"conversationId": "trip", "ttl": "86400s", "includeArchive": true}"#),
    ("Summarize", r#"{"conversationId": "trip", "recentCount": 20, "focusAreas": ["budget"]}"#),
    ("UndoCompaction", r#"{"conversationId": "trip"}"#),
    (
        "UpdateConversation",
        r#"{"conversationId": "trip", "title": "Lisbon", "policy": {"maxTokens": 4000}, "updateMask": "title,policy"}"#,
    ),
    (
        "UpdateState",
        r#"{"conversationId": "trip", "change": {"set": [{"name": "plan", "json": "{\"nights\": 4}"}]}}"#,
    ),
    (
        "UpdateUtterance",
        r#"{"conversationId": "trip", "utteranceId": "01M84GDF840JF4XZN8GR0H225Z", "pinned": true, "updateMask": "pinned"}"#,
    ),
    ("WatchCapacity", r#"{"conversationId": "trip"}"#),
    ("WatchEvents", r#"{"operations": ["OPERATION_FORGET"]}"#),
];

/// A request for the method called `name`.
pub fn of(name: &str) -> &'static str {
    EXAMPLES.iter().find(|(of, _)| *of == name).map_or("{}", |(_, request)| request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{json::read, methods::services};

    #[test]
    fn every_method_has_an_example_that_is_one_of_its_requests() {
        let methods: Vec<_> = services().flat_map(|service| service.methods().collect::<Vec<_>>()).collect();
        assert_eq!(methods.len(), EXAMPLES.len());
        for method in methods {
            let example = EXAMPLES.iter().find(|(name, _)| *name == method.name()).unwrap().1;
            assert_eq!(read(method.input(), example.as_bytes()).err(), None, "{example}");
            assert!(!example.contains('\''), "it stands in quotes");
        }
    }
}
