//! A conversation as the server shows it, and its invariants.

use std::collections::{BTreeMap, BTreeSet};

use crate::{crash::client::Client, support::prelude::*};

/// Returns an error unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

/// Returns an error that shows both, unless they are equal.
pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, is: &T, must_be: &T) -> Result<(), String> {
    ensure!(is == must_be, "{what}\n     is: {is:?}\nmust be: {must_be:?}");
    Ok(())
}

/// An idle conversation.
#[derive(Debug)]
pub struct Observed {
    /// Window and archive, including soft-forgotten utterances.
    pub utterances: Vec<Utterance>,
    /// The summary of what left the window.
    pub summary: GetSummaryResponse,
    /// How full the window is.
    pub capacity: Capacity,
}

impl Observed {
    /// Reads a conversation; `None` if it does not exist.
    pub async fn read(client: &mut Client, id: &str) -> Result<Option<Self>, String> {
        match Self::try_read(client, id).await {
            Ok(observed) => Ok(Some(observed)),
            Err(status) if status.code() == Code::NotFound => Ok(None),
            Err(status) => Err(format!("{id} cannot be read: {status:?}")),
        }
    }

    async fn try_read(client: &mut Client, id: &str) -> Result<Self, Status> {
        let conversation_id = id.to_owned();
        let request = GetCapacityInfoRequest { conversation_id, ..Default::default() };
        let capacity = client.memory.get_capacity_info(request).await?.into_inner().capacity;
        let request = GetSummaryRequest { conversation_id: id.to_owned(), ..Default::default() };
        let summary = client.conversations.get_summary(request).await?.into_inner();
        let utterances = list(client, id).await?;
        Ok(Self { utterances, summary, capacity: capacity.unwrap_or_default() })
    }

    /// Checks the invariants, independently of the earlier requests.
    pub fn is_consistent(&self) -> Result<(), String> {
        let window: Vec<&Utterance> = self.window().collect();
        let positions: Vec<i32> = window.iter().filter_map(|said| said.position).collect();
        same("the window's positions", &positions, &(1..).take(window.len()).collect())?;
        let ascending = self.utterances.is_sorted_by(|a, b| a.sequence < b.sequence);
        ensure!(ascending, "the list is not in the order said");
        self.counts(&window)?;
        self.coverage(&window)?;
        self.nothing_twice()?;
        self.exchanges()
    }

    /// The sequences that segments cover, each once.
    pub fn covered(&self) -> Result<BTreeSet<i64>, String> {
        let mut covered = BTreeSet::new();
        for range in self.summary.segments.iter().flat_map(|segment| &segment.covers) {
            for sequence in range.first..=range.last {
                ensure!(covered.insert(sequence), "{sequence} is covered twice: {:?}", self.summary.segments);
            }
        }
        Ok(covered)
    }

    fn window(&self) -> impl Iterator<Item = &Utterance> {
        self.utterances.iter().filter(|said| said.position.is_some())
    }

    /// Every count, recomputed from the list.
    fn counts(&self, window: &[&Utterance]) -> Result<(), String> {
        let capacity = &self.capacity;
        let count = |number: usize| Some(number as i32);
        let is_forgotten = |said: &&&Utterance| said.state() == UtteranceState::Forgotten;
        let live = || window.iter().filter(|said| !is_forgotten(said));
        let turns: BTreeSet<i32> =
            live().filter_map(|said| said.turn_number).filter(|turn| *turn > 0).collect();
        let tokens = live().map(|said| said.token_count()).sum::<i32>();
        same("utterance_count", &capacity.utterance_count, &count(window.len()))?;
        same(
            "soft_deleted_count",
            &capacity.soft_deleted_count,
            &count(window.iter().filter(is_forgotten).count()),
        )?;
        same("turn_count", &capacity.turn_count, &count(turns.len()))?;
        same("token_count", &capacity.token_count, &Some(tokens))?;
        same("archived", &capacity.archived_utterance_count, &count(self.utterances.len() - window.len()))?;
        let summary = capacity.summary.unwrap_or_default();
        same("summary tokens", &summary.token_count, &self.summary.token_count)?;
        same("segment_count", &summary.segment_count, &count(self.summary.segments.len()))?;
        same("covered", &summary.covered_utterance_count, &count(self.covered()?.len()))?;
        same("the summary's revision", &self.summary.revision, &capacity.revision)
    }

    /// What is archived is covered, and what is in the window is not.
    fn coverage(&self, window: &[&Utterance]) -> Result<(), String> {
        let covered = self.covered()?;
        let twice: Vec<i64> =
            window.iter().map(|said| said.sequence).filter(|sequence| covered.contains(sequence)).collect();
        ensure!(twice.is_empty(), "in the window and covered by a segment: {twice:?}");
        let archived = self.utterances.iter().filter(|said| said.position.is_none());
        let bare: Vec<i64> =
            archived.map(|said| said.sequence).filter(|sequence| !covered.contains(sequence)).collect();
        ensure!(bare.is_empty(), "left the window and covered by no segment: {bare:?}");
        Ok(())
    }

    fn nothing_twice(&self) -> Result<(), String> {
        let (mut ids, mut contents) = (BTreeSet::new(), BTreeSet::new());
        for said in &self.utterances {
            ensure!(ids.insert(&said.utterance_id), "{} is stored twice", said.utterance_id);
            ensure!(contents.insert(&said.content), "{} says what is stored already", said.utterance_id);
        }
        Ok(())
    }

    /// Each result stays with its call: both in the window or not, both forgotten or not.
    fn exchanges(&self) -> Result<(), String> {
        let calls = self
            .utterances
            .iter()
            .flat_map(|said| said.tool_calls.iter().map(move |call| (call.id.as_str(), said)));
        let calls: BTreeMap<&str, &Utterance> = calls.collect();
        for result in self.utterances.iter().filter(|said| !said.tool_call_id.is_empty()) {
            let call = calls.get(result.tool_call_id.as_str());
            let call = call.ok_or_else(|| format!("{} stands without its call", result.utterance_id))?;
            let place = |said: &Utterance| (said.position.is_some(), said.state);
            ensure!(place(call) == place(result), "an exchange is split: {call:?} and {result:?}");
        }
        Ok(())
    }
}

async fn list(client: &mut Client, id: &str) -> Result<Vec<Utterance>, Status> {
    let mut request = ListUtterancesRequest {
        conversation_id: id.to_owned(),
        include_archive: true,
        include_forgotten: true,
        page_size: 1_000,
        ..Default::default()
    };
    let mut utterances = Vec::new();
    loop {
        let page = client.conversations.list_utterances(request.clone()).await?.into_inner();
        utterances.extend(page.utterances);
        match page.next_page_token {
            token if token.is_empty() => return Ok(utterances),
            token => request.page_token = token,
        }
    }
}
