//! Conversations that share the utterances from before they were forked.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    script::{Script, Step},
    values::{key, lineage},
};
use crate::{Commit, Store};
use utterd_domain::{
    Policy, Ranges, Refusal, Revision, Sequence,
    fork::{Fork, ForkEdited, Forked, fork, fork_edited},
};

/// Conversations by id, each with its expected state in the store.
pub struct Family {
    store: Arc<dyn Store>,
    pub members: BTreeMap<String, Script>,
}

/// A fork that is not committed yet.
pub struct Forking {
    parent: String,
    freezing: Step,
    child: Script,
    starting: Step,
}

impl Forking {
    pub fn commit(&self) -> Commit {
        Commit { writes: vec![self.starting.write(), self.freezing.write()], ..Commit::default() }
    }
}

impl Family {
    /// A family of one conversation, before its first revision.
    pub fn of(store: &Arc<dyn Store>, id: &str, policy: Policy) -> Self {
        let script = Script::with(store, id, policy);
        Self { store: store.clone(), members: BTreeMap::from([(id.to_owned(), script)]) }
    }

    pub fn member(&mut self, id: &str) -> &mut Script {
        self.members.get_mut(id).expect("a member of the family")
    }

    /// Forks `parent` at its newest utterance.
    pub async fn fork(&mut self, parent: &str, id: &str) {
        let forking = self.forking(parent, id, None).await.expect("the rules accept the fork");
        self.apply(forking).await;
    }

    /// Forks `parent` at a sequence.
    pub async fn fork_at(&mut self, parent: &str, id: &str, at: u64) {
        let forking = self.forking(parent, id, Some(at)).await.expect("the rules accept the point");
        self.apply(forking).await;
    }

    pub async fn forking(&self, parent: &str, id: &str, at: Option<u64>) -> Result<Forking, Refusal> {
        let command = Fork { at: at.map(Sequence), ..naming(id) };
        let forked = self.members[parent].decided(|before, context| fork(before, &command, context)).await?;
        Ok(self.forked(parent, id, forked))
    }

    /// A fork of `parent` whose newest utterance is an edited copy.
    pub async fn forking_edited(
        &self,
        parent: &str,
        id: &str,
        sequence: u64,
        content: &str,
    ) -> Result<Forking, Refusal> {
        let script = &self.members[parent];
        let command = ForkEdited { fork: naming(id), update: script.editing(sequence, content) };
        let edited = script.decided(|before, context| fork_edited(before, &command, context)).await?;
        Ok(self.forked(parent, id, edited.forked))
    }

    fn forked(&self, parent: &str, id: &str, forked: Forked) -> Forking {
        let script = &self.members[parent];
        let mut child = Script::with(&self.store, id, script.state.head.policy.clone());
        child.now = script.now;
        let starting = Step::of(&child.state, forked.fork);
        let archived = script.archive.iter().filter(|(at, _)| starting.after.head.archived.contains(**at));
        child.archive = archived.map(|(at, utterance)| (*at, utterance.clone())).collect();
        let freezing = Step::of(&script.state, forked.parent);
        Forking { parent: parent.to_owned(), freezing, child, starting }
    }

    pub async fn apply(&mut self, forking: Forking) {
        self.store.commit(forking.commit()).await.expect("the parent is at this revision");
        self.adopt(forking);
        self.check().await;
    }

    /// Records the expected result of `forking`.
    pub fn adopt(&mut self, forking: Forking) {
        let Forking { parent, freezing, mut child, starting } = forking;
        self.member(&parent).advance(&freezing);
        child.advance(&starting);
        self.members.insert(child.key().id.to_string(), child);
    }

    /// Erases an utterance's unit in every conversation that shares it, in one commit; returns whether the unit
    /// was stored.
    pub async fn erase(&mut self, id: &str, sequence: u64) -> bool {
        let Some(step) = self.members[id].forgetting(&format!("sequence:{sequence}"), true).await else {
            return false;
        };
        let mut steps = vec![(id.to_owned(), step)];
        for (other, through) in self.sharing(id).await {
            let kept = self.members[&other].state.head.kept();
            let mut shared = steps[0].1.change.erased.intersection(&kept);
            shared.remove(Sequence(through).next(), Sequence(u64::MAX >> 1));
            let Some(Sequence(first)) = shared.first() else { continue };
            let step = self.members[&other].forgetting(&format!("sequence:{first}"), true).await;
            steps.extend(step.map(|step| (other, step)));
        }
        let writes = steps.iter().map(|(_, step)| step.write()).collect();
        let commit = Commit { writes, ..Commit::default() };
        self.store.commit(commit).await.expect("the conversations are at these revisions");
        steps.iter().for_each(|(id, step)| self.member(id).advance(step));
        self.check().await;
        true
    }

    /// Deletes conversations in one commit.
    pub async fn delete(&mut self, ids: &[&str]) {
        let writes = ids.iter().map(|id| self.members[*id].deleting()).collect();
        let commit = Commit { writes, ..Commit::default() };
        self.store.commit(commit).await.expect("the conversations are at these revisions");
        for id in ids {
            let mut deleted = self.members.remove(*id).expect("a member of the family");
            deleted.renew();
            deleted.check().await;
            assert_eq!(self.store.sharing(deleted.key()).await, Ok(Vec::new()));
        }
        self.check().await;
    }

    pub async fn delete_all(&mut self) {
        let ids: Vec<String> = self.members.keys().cloned().collect();
        self.delete(&ids.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }

    /// The conversations that share utterances with this one, each with the last shared sequence; by id.
    pub async fn sharing(&self, id: &str) -> Vec<(String, u64)> {
        let sharing = self.store.sharing(&key(id)).await.expect("readers are looked up");
        sharing.into_iter().map(|(other, Sequence(through))| (other.id.to_string(), through)).collect()
    }

    /// The stored texts of a conversation, in order.
    pub fn contents(&self, id: &str) -> Vec<String> {
        let mut stored: Vec<_> = self.members[id].stored().collect();
        stored.sort_by_key(|utterance| utterance.sequence);
        stored.iter().map(|utterance| utterance.content.to_string()).collect()
    }

    /// Checks that the store has every conversation in the expected state, and that any two that share
    /// utterances agree on the last shared sequence.
    pub async fn check(&self) {
        self.check_heads().await;
        for (id, member) in &self.members {
            member.check().await;
            for (other, through) in self.sharing(id).await {
                let back = self.sharing(&other).await;
                assert!(back.contains(&(id.clone(), through)), "{id} and {other} share up to {through}");
            }
        }
    }

    /// Checks that the store returns the heads of all members, and no others.
    async fn check_heads(&self) {
        let keys: Vec<_> = self.members.keys().map(|id| key(id)).chain([key("nobody")]).collect();
        let mut heads = self.store.heads(&keys).await.expect("heads are read");
        heads.sort_by(|one, other| one.identity.key.cmp(&other.identity.key));
        let stored = self.members.values().map(|member| &member.state.head);
        let stored: Vec<_> = stored.filter(|head| head.revision != Revision::NONE).cloned().collect();
        assert_eq!(heads, stored);
    }

    /// The sequences in a conversation's window or archive.
    pub fn kept(&self, id: &str) -> Ranges {
        self.members[id].stored().map(|utterance| utterance.sequence).collect()
    }
}

/// A fork with this id, at the newest utterance.
fn naming(id: &str) -> Fork {
    Fork {
        start: None,
        key: key(id),
        recipient: None,
        lineage: lineage(),
        branch: lineage(),
        at: None,
        title: None,
        expected: None,
    }
}
