//! Reads on one engine of what the other has done.

use utterd::proto::conversation_service_server::ConversationService;

use super::{
    calls::{
        Reply, capacity, contents, forget, found, get, listed, memorize, say, says, says_in, sequences,
        stored, up_to,
    },
    pair::Pair,
};
use crate::support::prelude::*;

pub async fn what_one_acknowledged_the_other_reads_at_once(pair: &Pair) {
    for number in 1..=50 {
        let reply = say(pair.at(number), says(&number.to_string())).await;
        let reader = pair.at(number + 1);
        assert_eq!(capacity(reader, "").await.revision, number as i64);
        assert_eq!(sequences(reader, "").await, up_to(number));
        assert_eq!(listed(reader, "").await, [reply.conversation_id.as_str()]);
        assert_eq!(get(reader, &reply.conversation_id).await.revision, reply.revision);
    }
    forget(&pair.one, "", "sequence:2", ForgetMode::Soft).await;
    assert_eq!(capacity(&pair.other, "").await.soft_deleted_count, Some(1));
    forget(&pair.other, "", "sequence:3", ForgetMode::Hard).await;
    assert!(!contents(&pair.one, "").await.contains(&"3".to_owned()));
}

pub async fn a_search_does_not_find_what_the_other_forgot(pair: &Pair) {
    for place in ["Lisbon", "Oslo", "Lisbon"] {
        say(&pair.one, says_in("c", &format!("the ship sails to {place}"))).await;
    }
    for services in [&pair.one, &pair.other] {
        assert_eq!(found(services, "c", "Lisbon").await, [1, 3]);
    }
    forget(&pair.one, "c", "sequence:1", ForgetMode::Hard).await;
    assert_eq!(found(&pair.other, "c", "Lisbon").await, [3]);
    forget(&pair.one, "c", "sequence:3", ForgetMode::Soft).await;
    assert_eq!(found(&pair.other, "c", "Lisbon").await, [0; 0]);
    assert_eq!(found(&pair.other, "c", "ship").await, [2]);
}

pub async fn a_search_finds_what_the_other_says_anew(pair: &Pair) {
    say(&pair.one, says_in("c", "the ship sails to Lisbon")).await;
    for services in [&pair.one, &pair.other] {
        assert_eq!(found(services, "c", "Lisbon").await, [1]);
    }
    let edit = UpdateUtteranceRequest {
        conversation_id: "c".to_owned(),
        utterance_id: stored(&pair.one, "c").await[0].utterance_id.clone(),
        content: "the ship sails to Oslo".to_owned(),
        update_mask: Some(prost_types::FieldMask { paths: vec!["content".to_owned()] }),
        ..Default::default()
    };
    pair.other.update_utterance(Request::new(edit)).await.reply();
    assert_eq!(found(&pair.one, "c", "Lisbon").await, [0; 0]);
    assert_eq!(found(&pair.one, "c", "Oslo").await, [1]);
}

pub async fn a_share_opens_on_the_other_until_it_is_revoked(pair: &Pair) {
    say(&pair.one, says_in("c", "hello")).await;
    memorize(&pair.other, says_in("c", "and welcome")).await.reply();
    let share = ShareConversationRequest { conversation_id: "c".to_owned(), ..Default::default() };
    let shared = pair.one.share_conversation(Request::new(share)).await.reply();
    let read = || Request::new(ReadSharedRequest { token: shared.token.clone(), ..Default::default() });
    assert_eq!(pair.other.read_shared(read()).await.reply().utterances.len(), 2);
    let revoke = RevokeShareRequest {
        conversation_id: "c".to_owned(),
        share_id: shared.share.expect("a share").share_id,
        ..Default::default()
    };
    pair.other.revoke_share(Request::new(revoke)).await.reply();
    assert!(pair.one.read_shared(read()).await.is_err());
}
