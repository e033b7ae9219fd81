//! Families of forks that change at random, compared with a list of what each of them says.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{prelude::*, test_runner::TestRunner};
use utterd::proto::{
    DeleteConversationRequest, EditMode, ForgetMode, ForgetRequest, ForkConversationRequest,
    GetConversationRequest, GetSummaryRequest, ListUtterancesRequest, MemorizeRequest, RestoreRequest,
    UpdateUtteranceRequest, Utterance, UtteranceState,
};

use crate::support::session::{Reply, Session, assistant, forget, mask, memorize, user};

/// What to do to one of the conversations; numbers are taken modulo what there is.
#[derive(Clone, Copy, Debug)]
enum Step {
    Say(usize),
    Fork(usize, usize),
    Edit(usize, usize),
    EditAsFork(usize, usize),
    Pin(usize, usize),
    Forget(usize, usize),
    Restore(usize, usize),
    Erase(usize, usize),
    Delete(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let which = || any::<usize>();
    let both = || (any::<usize>(), any::<usize>());
    prop_oneof![
        8 => which().prop_map(Step::Say),
        4 => both().prop_map(|(one, at)| Step::Fork(one, at)),
        2 => both().prop_map(|(one, at)| Step::Edit(one, at)),
        1 => both().prop_map(|(one, at)| Step::EditAsFork(one, at)),
        1 => both().prop_map(|(one, at)| Step::Pin(one, at)),
        2 => both().prop_map(|(one, at)| Step::Forget(one, at)),
        1 => both().prop_map(|(one, at)| Step::Restore(one, at)),
        2 => both().prop_map(|(one, at)| Step::Erase(one, at)),
        1 => which().prop_map(Step::Delete),
    ]
}

/// An utterance as one conversation has it.
#[derive(Clone, Debug, PartialEq)]
struct Said {
    /// Identifies an utterance that several share.
    origin: usize,
    /// Those whose content was given anew.
    replaced: BTreeSet<usize>,
    content: String,
    pinned: bool,
    forgotten: bool,
}

type Conversation = BTreeMap<i64, Said>;

/// A server and what each of its conversations says.
struct Family {
    session: Session,
    members: BTreeMap<String, Conversation>,
    /// The next sequence of each conversation.
    next: BTreeMap<String, i64>,
    count: usize,
    erased: BTreeSet<String>,
}

impl Family {
    async fn new() -> Self {
        let (members, next, erased) = Default::default();
        let mut family = Self { session: Session::new().await, members, next, count: 0, erased };
        for _ in 0..4 {
            family.say("root").await;
        }
        family
    }

    async fn take(&mut self, step: Step) {
        use Step::{Delete, Edit, EditAsFork, Erase, Forget, Fork, Pin, Restore, Say};
        let (Say(one) | Delete(one)) = step else {
            let (Fork(one, at)
            | Edit(one, at)
            | EditAsFork(one, at)
            | Pin(one, at)
            | Forget(one, at)
            | Restore(one, at)
            | Erase(one, at)) = step
            else {
                return;
            };
            let Some(id) = self.nth(one) else { return };
            let member = &self.members[&id];
            let Some(sequence) = member.keys().nth(at % member.len().max(1)).copied() else { return };
            return match step {
                Fork(..) => self.fork(&id, sequence).await,
                Edit(..) | Pin(..) => self.change(&id, sequence, matches!(step, Edit(..))).await,
                EditAsFork(..) => self.edit_as_fork(&id, sequence).await,
                Forget(..) => self.forget(&id, sequence, ForgetMode::Soft).await,
                Erase(..) => self.forget(&id, sequence, ForgetMode::Hard).await,
                _ => self.restore(&id, sequence).await,
            };
        };
        let Some(id) = self.nth(one) else { return self.say("root").await };
        match step {
            // several at once, so that windows roll
            Say(_) => {
                for _ in 0..7 {
                    self.say(&id).await;
                }
            }
            _ => self.delete(&id).await,
        }
    }

    fn nth(&self, which: usize) -> Option<String> {
        self.members.keys().nth(which % self.members.len().max(1)).cloned()
    }

    /// A unique word, so that it can be found.
    fn word(&mut self) -> (usize, String) {
        self.count += 1;
        (self.count, format!("The invoice INV-{:05} is due.", self.count))
    }

    async fn say(&mut self, id: &str) {
        let (origin, content) = self.word();
        let utterance = if origin.is_multiple_of(2) { user(&content) } else { assistant(&content) };
        let request = MemorizeRequest { conversation_id: id.to_owned(), ..memorize(vec![utterance]) };
        let response = self.session.memory().memorize(request).await.reply();
        let next = self.next.entry(id.to_owned()).or_insert(1);
        assert_eq!(response.memorized[0].sequence, *next);
        let said = Said { origin, replaced: BTreeSet::new(), content, pinned: false, forgotten: false };
        self.members.entry(id.to_owned()).or_default().insert(*next, said);
        *next += 1;
    }

    async fn fork(&mut self, id: &str, at: i64) {
        let request = ForkConversationRequest {
            conversation_id: id.to_owned(),
            at_sequence: Some(at),
            ..Default::default()
        };
        let response = self.session.conversations().fork_conversation(request).await.reply();
        self.branch(id, at, response.conversation.unwrap().conversation_id);
    }

    fn branch(&mut self, id: &str, at: i64, fork: String) {
        let shared = self.members[id].range(..=at).map(|(sequence, said)| (*sequence, said.clone()));
        self.members.insert(fork.clone(), shared.collect());
        self.next.insert(fork, at + 1);
    }

    async fn edit_as_fork(&mut self, id: &str, sequence: i64) {
        if self.members[id][&sequence].forgotten {
            return;
        }
        let (origin, content) = self.word();
        let request = UpdateUtteranceRequest {
            content: content.clone(),
            edit_mode: EditMode::Fork.into(),
            ..self.update(id, sequence, "content").await
        };
        let response = self.session.conversations().update_utterance(request).await.reply();
        let fork = response.forked_conversation_id;
        let old = self.members[id][&sequence].clone();
        self.branch(id, sequence - 1, fork.clone());
        let mut replaced = old.replaced;
        replaced.insert(old.origin);
        let said = Said { origin, replaced, content, pinned: old.pinned, forgotten: false };
        self.members.entry(fork.clone()).or_default().insert(sequence, said);
        self.next.insert(fork, sequence + 1);
    }

    async fn change(&mut self, id: &str, sequence: i64, edit: bool) {
        let content = self.word().1;
        let update = self.update(id, sequence, if edit { "content" } else { "pinned" }).await;
        let request = UpdateUtteranceRequest { content: content.clone(), pinned: true, ..update };
        self.session.conversations().update_utterance(request).await.reply();
        let said = self.members.get_mut(id).unwrap().get_mut(&sequence).unwrap();
        match edit {
            true => said.content = content,
            false => said.pinned = true,
        }
    }

    async fn update(&self, id: &str, sequence: i64, path: &str) -> UpdateUtteranceRequest {
        UpdateUtteranceRequest {
            conversation_id: id.to_owned(),
            utterance_id: self.id_of(id, sequence).await,
            update_mask: mask(&[path]),
            ..Default::default()
        }
    }

    async fn forget(&mut self, id: &str, sequence: i64, mode: ForgetMode) {
        let request =
            ForgetRequest { conversation_id: id.to_owned(), ..forget(&format!("sequence:{sequence}"), mode) };
        self.session.memory().forget(request).await.reply();
        let said = self.members.get_mut(id).unwrap().get_mut(&sequence).unwrap();
        said.forgotten = true;
        if mode == ForgetMode::Hard {
            let mut origins = said.replaced.clone();
            origins.insert(said.origin);
            for member in self.members.values_mut() {
                let gone = member.values().filter(|said| origins.contains(&said.origin));
                self.erased.extend(gone.map(|said| said.content.clone()));
                member.retain(|_, said| !origins.contains(&said.origin));
            }
        }
    }

    async fn restore(&mut self, id: &str, sequence: i64) {
        let utterance_ids = vec![self.id_of(id, sequence).await];
        let request = RestoreRequest { conversation_id: id.to_owned(), utterance_ids, ..Default::default() };
        self.session.memory().restore(request).await.reply();
        self.members.get_mut(id).unwrap().get_mut(&sequence).unwrap().forgotten = false;
    }

    async fn delete(&mut self, id: &str) {
        let request = DeleteConversationRequest { conversation_id: id.to_owned(), ..Default::default() };
        self.session.conversations().delete_conversation(request).await.reply();
        self.members.remove(id);
        self.next.remove(id);
    }

    async fn stored(&self, id: &str) -> Vec<Utterance> {
        let request = ListUtterancesRequest {
            conversation_id: id.to_owned(),
            include_archive: true,
            include_forgotten: true,
            ..Default::default()
        };
        self.session.list(request).await
    }

    async fn id_of(&self, id: &str, sequence: i64) -> String {
        let stored = self.stored(id).await;
        stored.into_iter().find(|one| one.sequence == sequence).unwrap().utterance_id
    }

    /// Every conversation says what it must, and nothing erased appears anywhere.
    async fn check(&self) {
        for (id, member) in &self.members {
            let stored = self.stored(id).await;
            let shown = stored.iter().map(|one| {
                (one.sequence, one.content.clone(), one.pinned, one.state() == UtteranceState::Forgotten)
            });
            let said = member.iter();
            let said =
                said.map(|(sequence, said)| (*sequence, said.content.clone(), said.pinned, said.forgotten));
            assert_eq!(shown.collect::<Vec<_>>(), said.collect::<Vec<_>>(), "{id}");
            let ids: BTreeSet<_> = stored.iter().map(|one| one.utterance_id.as_str()).collect();
            assert_eq!(ids.len(), stored.len(), "ids are unique in {id}");
            let request = GetSummaryRequest { conversation_id: id.clone(), ..Default::default() };
            let summary = self.session.conversations().get_summary(request).await.reply();
            let live: BTreeSet<_> =
                member.values().filter(|said| !said.forgotten).map(|said| &said.content).collect();
            for line in summary.text.lines() {
                let (label, told) = line.split_once(": ").unwrap();
                // names stand alone; sentences are whole, one behind the other
                let is_name = |name: &str| live.iter().any(|said| said.contains(name));
                let names = told.split("; ").flat_map(|some| some.split(' ')).all(is_name);
                let names = names && label.trim() == "Named" || told.split("; ").all(is_name);
                let rest = live.iter().fold(told.to_owned(), |rest, said| rest.replace(said.as_str(), ""));
                let is_said = names || !rest.contains(char::is_alphanumeric);
                assert!(is_said, "{id} tells {told}, which it does not say");
            }
            let mut covered: Vec<_> = summary.segments.iter().flat_map(|segment| &segment.covers).collect();
            covered.sort_by_key(|range| range.first);
            assert!(covered.windows(2).all(|pair| pair[0].last < pair[1].first), "{id}: {covered:?}");
            let request = GetConversationRequest { conversation_id: id.clone(), ..Default::default() };
            let shown = self.session.conversations().get_conversation(request).await.reply();
            assert_eq!(shown.conversation.unwrap().utterance_count, Some(member.len() as i32));
        }
    }
}

#[test]
fn each_says_what_it_must() {
    let cases = ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let steps = prop::collection::vec(step(), 1..40);
    let told = TestRunner::new(cases).run(&steps, |steps| {
        runtime.block_on(async {
            let mut family = Family::new().await;
            for step in steps {
                family.take(step).await;
                family.check().await;
            }
        });
        Ok(())
    });
    told.unwrap();
}
