//! Shares and their tokens.

use proptest::prelude::*;

use super::*;
use crate::{
    ConversationId, ConversationKey, Identity, Loaded, Namespace, Policy, Revision, test_life::Letters,
};

const DAY: Duration = Duration::from_secs(86_400);

fn key() -> ConversationKey {
    ConversationKey { namespace: Namespace::default(), id: ConversationId::new("talk").unwrap() }
}

fn conversation() -> Conversation {
    let identity = Identity { key: key(), ..Identity::default() };
    let mut conversation = Conversation::new(identity, Policy::ROLLING);
    conversation.head.revision = Revision(1);
    conversation
}

fn id(number: u8) -> ShareId {
    ShareId::new(&format!("share-{number}")).unwrap()
}

fn secret(number: u8) -> Secret {
    Secret([number; 16])
}

fn shared(
    before: &Conversation,
    number: u8,
    lifetime: Duration,
    now: Timestamp,
) -> Result<Conversation, Refusal> {
    let digest = ShareDigest::of(&secret(number));
    let command = Sharing { id: id(number), digest, lifetime, include_archive: false };
    let context = Context { now, counter: &Letters, loaded: &Loaded::default(), llm: false };
    share(before, &command, &context).map(|(transition, _)| transition.after)
}

fn revoked(before: &Conversation, number: u8, now: Timestamp) -> Result<Conversation, Refusal> {
    let context = Context { now, counter: &Letters, loaded: &Loaded::default(), llm: false };
    revoke(before, &id(number), &context).map(|transition| transition.after)
}

#[test]
fn a_secret_opens_its_share_until_it_expires_or_is_revoked() {
    let start = Timestamp(5);
    let both = shared(&conversation(), 1, DAY, start).unwrap();
    let both = shared(&both, 2, DAY * 2, start).unwrap();
    let opens = |state: &Conversation, number, now| {
        state.head.opened_by(&secret(number), now).map(|share| share.id.clone())
    };
    assert_eq!(opens(&both, 1, start), Some(id(1)));
    assert_eq!(opens(&both, 2, start), Some(id(2)));
    assert_eq!(opens(&both, 3, start), None);
    assert_eq!(opens(&both, 1, Timestamp(start.plus(DAY).0 - 1)), Some(id(1)));
    assert_eq!(opens(&both, 1, start.plus(DAY)), None);

    let one = revoked(&both, 2, start).unwrap();
    assert_eq!((opens(&one, 1, start), opens(&one, 2, start)), (Some(id(1)), None));
    assert_eq!(one.head.revision, Revision(4));
    assert_eq!(revoked(&one, 2, start), Err(Refusal::no_share("share-2")));
}

/// Each change drops expired shares; there is room for 64.
#[test]
fn shares_that_expired_make_room() {
    let mut state = conversation();
    for number in 0..MAX_SHARES as u8 {
        state = shared(&state, number, DAY, Timestamp(0)).unwrap();
    }
    let refused = shared(&state, 99, DAY, Timestamp(1));
    assert_eq!(refused, Err(Refusal::TooManyShares("talk".to_owned())));
    let later = shared(&state, 99, DAY, Timestamp(0).plus(DAY)).unwrap();
    assert_eq!(later.head.shares.len(), 1);
}

#[test]
fn the_secret_is_not_kept_and_not_printed() {
    let state = shared(&conversation(), 7, DAY, Timestamp(0)).unwrap();
    let kept = state.head.shares[0].digest.0;
    assert!(!kept.windows(4).any(|bytes| bytes == [7; 4]));
    let token = ShareToken { key: key(), secret: secret(7) };
    assert!(!format!("{token:?}").contains('7'));
}

#[test]
fn what_is_no_token_is_none() {
    let good = ShareToken { key: key(), secret: secret(1) }.text();
    assert!(ShareToken::read(&format!(" {good}\n")).is_some());
    for end in 0..good.len() {
        assert_eq!(ShareToken::read(&good[..end]), None, "{end}");
    }
    for text in [format!("{good}AAAA"), good.replace("utterd", "other"), good.replace('_', "/"), "…".into()]
    {
        assert_eq!(ShareToken::read(&text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn a_token_is_read_as_it_was_written(
        namespace in "[^\\pC]{1,64}", id in "[^\\pC]{1,64}", secret in any::<[u8; 16]>(),
    ) {
        let key = ConversationKey {
            namespace: Namespace::new(&namespace).unwrap(),
            id: ConversationId::new(&id).unwrap(),
        };
        let token = ShareToken { key, secret: Secret(secret) };
        prop_assert_eq!(ShareToken::read(&token.text()), Some(token));
    }

    #[test]
    fn any_text_may_be_read(text in "(utterd_share_)?[A-Za-z0-9_-]{0,80}") {
        let _ = ShareToken::read(&text);
    }
}
