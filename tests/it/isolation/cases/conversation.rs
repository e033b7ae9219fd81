//! ConversationService.

use base64::{Engine as _, prelude::BASE64_STANDARD as BASE64};
use serde_json::{Value, json};
use tonic::Code;

use super::{BLANK, Case, MISSING, STARTS, addressed, case};
use crate::isolation::anna::{self, Names, paged};

pub fn cases(names: &Names) -> Vec<Case> {
    let full = json!({"view": "CONVERSATION_VIEW_FULL"});
    let everything = json!({"include_archive": true, "include_forgotten": true});
    [
        create(),
        addressed("GetConversation", MISSING, json!({})),
        addressed("GetConversation", MISSING, full),
        list(names),
        update(names),
        addressed("EndConversation", MISSING, json!({})),
        vec![
            case("DeleteConversation", Code::NotFound, json!({"conversation_id": "anna-talk"})),
            case("DeleteConversation", Code::NotFound, json!({"conversation_id": "anna-ended"})),
            case("DeleteConversation", Code::NotFound, expecting(names)),
        ],
        addressed("ListUtterances", BLANK, everything),
        addressed("ListMessages", BLANK, json!({})),
        vec![
            case("ListUtterances", Code::NotFound, paged::at(paged::utterances(), &names.utterances_page)),
            case("ListUtterances", Code::Ok, paged::at(paged::of_recipient(), &names.recipients_page)),
        ],
        addressed("GetSummary", BLANK, json!({})),
        stats(),
        removal(),
        shares(names),
        fork(),
        export(),
        import(names),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn create() -> Vec<Case> {
    let mut cases = addressed("CreateConversation", STARTS, json!({"title": "Mine"}));
    cases.push(case("CreateConversation", Code::Ok, anna::create()));
    cases
}

fn list(names: &Names) -> Vec<Case> {
    let of = |recipient: &str| json!({"recipient_id": recipient});
    vec![
        case("ListConversations", Code::Ok, json!({})),
        case("ListConversations", Code::Ok, of("anna-recipient")),
        case("ListConversations", Code::Ok, of("anna-past")),
        case("ListConversations", Code::Ok, paged::at(paged::conversations(), &names.conversations_page)),
    ]
}

fn expecting(names: &Names) -> Value {
    json!({"conversation_id": "anna-talk", "expected_revision": names.revision})
}

fn update(names: &Names) -> Vec<Case> {
    let title = json!({"title": "Mine", "update_mask": "title"});
    let edit = |id: &str, mode: &str| json!({"utterance_id": id, "content": "Mine", "update_mask": "content", "edit_mode": mode});
    let own = |id: &str| {
        let mut request = edit(id, "EDIT_MODE_IN_PLACE");
        request["conversation_id"] = "own-talk".into();
        case("UpdateUtterance", Code::NotFound, request)
    };
    let mut cases = addressed("UpdateConversation", MISSING, title);
    cases.extend(addressed("GetState", BLANK, json!({})));
    cases.extend(addressed(
        "UpdateState",
        MISSING,
        json!({"change": {"set": [{"name": "mine", "json": "1"}]}}),
    ));
    let of_recipient = json!({"recipient_id": "default", "scope": "STATE_SCOPE_RECIPIENT"});
    let mut stale = of_recipient.clone();
    stale["change"] = json!({"delete": ["anna-name"], "expected_versions": {"anna-name": 1}});
    cases.push(case("GetState", Code::Ok, of_recipient));
    cases.push(case("UpdateState", Code::Aborted, stale));
    cases.extend(addressed("UpdateUtterance", MISSING, edit(&names.utterance, "EDIT_MODE_IN_PLACE")));
    cases.extend(addressed("UpdateUtterance", MISSING, edit("anna-utterance", "EDIT_MODE_FORK")));
    cases.extend([own(&names.utterance), own("anna-utterance")]);
    cases
}

fn stats() -> Vec<Case> {
    let of_recipient = json!({"recipient_id": "anna-recipient", "scope": "STATS_SCOPE_RECIPIENT"});
    let mut cases = addressed("GetStats", BLANK, json!({}));
    cases.push(case("GetStats", Code::Ok, of_recipient));
    cases.push(case("GetStats", Code::Ok, json!({"conversation_id": "own-talk"})));
    cases
}

fn removal() -> Vec<Case> {
    let of = |recipient: &str| case("DeleteRecipient", Code::Ok, json!({"recipient_id": recipient}));
    vec![of("anna-recipient"), of("anna-past"), of("default")]
}

fn shares(names: &Names) -> Vec<Case> {
    let revoke = json!({"share_id": names.share});
    let own = json!({"conversation_id": "own-talk", "share_id": names.share});
    let mut cases = addressed("ShareConversation", MISSING, json!({"include_archive": true}));
    cases.extend(addressed("RevokeShare", MISSING, revoke));
    cases.push(case("RevokeShare", Code::NotFound, own));
    // whoever has the token can read: what it gives access to has its own tests
    let guessed = |token: &str| case("ReadShared", Code::PermissionDenied, json!({"token": token}));
    let page = paged::at(paged::shared(&forged(&names.token)), &names.shared_page);
    cases.push(case("ReadShared", Code::InvalidArgument, page));
    cases.extend([guessed(&forged(&names.token)), guessed(&names.token[..names.token.len() - 1])]);
    cases
}

/// The token with another secret.
fn forged(token: &str) -> String {
    let middle = token.len() - 10;
    let turned = if token[middle..].starts_with('B') { "C" } else { "B" };
    format!("{}{turned}{}", &token[..middle], &token[middle + 1..])
}

fn fork() -> Vec<Case> {
    let own = json!({
        "conversation_id": "own-talk", "new_conversation_id": "anna-talk", "to_recipient_id": "anna-recipient",
    });
    let mut cases = addressed("ForkConversation", MISSING, json!({}));
    cases.push(case("ForkConversation", Code::Ok, own));
    cases
}

fn export() -> Vec<Case> {
    let all = json!({"recipient_id": "anna-recipient", "all_conversations": true});
    let mut cases = addressed("ExportConversation", MISSING, json!({}));
    cases.push(case("ExportConversation", Code::Ok, all));
    cases
}

fn import(names: &Names) -> Vec<Case> {
    let messages = BASE64.encode(r#"[{"role": "user", "content": "Mine."}]"#);
    let import = |header: Value, chunks: &[Value]| {
        let chunks = chunks.iter().map(|chunk| json!({"chunk": chunk}));
        let messages = [json!({"header": header})].into_iter().chain(chunks).collect();
        Case { method: "ImportConversation", messages, code: Code::Ok }
    };
    let into = |more: Value| {
        let mut header = json!({"conversation_id": "anna-talk", "recipient_id": "anna-recipient"});
        header.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        import(header, &[messages.as_str().into()])
    };
    vec![
        into(json!({})),
        into(json!({"into_existing": true})),
        into(json!({"validate_only": true})),
        import(json!({}), &names.export),
        import(json!({"into_existing": true, "recipient_id": "anna-recipient"}), &names.export),
    ]
}
