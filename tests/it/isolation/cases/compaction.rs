//! CompactionService.

use serde_json::json;
use tonic::Code;

use super::{BLANK, Case, MISSING, addressed, case};
use crate::isolation::anna::{Names, paged};

pub fn cases(names: &Names) -> Vec<Case> {
    let never = json!({"answer": "COMPACTION_ANSWER_NEVER_THIS_SESSION", "session_id": "anna-session"});
    [
        addressed("CompactConversation", MISSING, json!({})),
        addressed("CompactConversation", MISSING, json!({"preview": true})),
        addressed("UndoCompaction", MISSING, json!({})),
        addressed("ListCompactions", BLANK, json!({})),
        vec![case(
            "ListCompactions",
            Code::NotFound,
            paged::at(paged::compactions(), &names.compactions_page),
        )],
        addressed("AnswerCompactionPrompt", MISSING, json!({"answer": "COMPACTION_ANSWER_COMPACT_NOW"})),
        addressed("AnswerCompactionPrompt", MISSING, json!({"answer": "COMPACTION_ANSWER_NOT_NOW"})),
        addressed("AnswerCompactionPrompt", MISSING, never),
    ]
    .into_iter()
    .flatten()
    .collect()
}
