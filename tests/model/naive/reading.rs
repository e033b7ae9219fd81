//! What reads must return.

use std::collections::BTreeSet;

use prost_types::Timestamp;
use utterd::proto::{
    self, GetSummaryResponse, ListUtterancesRequest, RememberFilter, UtteranceRef, UtteranceState,
};

use super::{Conversation, Home};

impl Conversation {
    /// The position in the window, from 1.
    pub fn position(&self, sequence: i64) -> Option<i32> {
        let place = self.window().iter().position(|member| *member == sequence)?;
        Some(place as i32 + 1)
    }

    /// An utterance as responses show it.
    pub fn shown(&self, sequence: i64) -> proto::Utterance {
        self.show(&[sequence]).remove(0)
    }

    /// Utterances as responses show them.
    pub fn show(&self, sequences: &[i64]) -> Vec<proto::Utterance> {
        let (pairing, window) = (self.pairing(), self.window());
        let one = |sequence: &i64| {
            let said = self.get(*sequence);
            let what = said.what.clone();
            let state = match (said.forgotten, said.home) {
                (true, _) => UtteranceState::Forgotten,
                (false, Home::Window) => UtteranceState::Live,
                (false, _) => UtteranceState::Evicted,
            };
            proto::Utterance {
                utterance_id: said.id.clone(),
                sequence: *sequence,
                position: window.binary_search(sequence).ok().map(|place| place as i32 + 1),
                role: what.role,
                name: what.name,
                content: what.content,
                tool_calls: what.tool_calls,
                tool_call_id: what.tool_call_id,
                turn_number: Some(said.turn),
                create_time: Some(time(said.time)),
                token_count: Some(said.tokens),
                state: state.into(),
                pinned: said.pinned,
                tools_used: what.tools_used,
                metadata: what.metadata,
                awaits_answer: what.awaits_answer,
                extras_json: what.extras_json,
                aside: pairing.aside[*sequence as usize - 1],
                original_content: None,
                edit_time: None,
                late: said.late.is_some(),
                late_tool: said.late.map(|_| said.late_tool.clone()).unwrap_or_default(),
            }
        };
        sequences.iter().map(one).collect()
    }

    /// A reference as responses show it.
    pub fn reference(&self, sequence: i64) -> UtteranceRef {
        let said = self.get(sequence);
        UtteranceRef {
            utterance_id: said.id.clone(),
            sequence,
            position: self.position(sequence),
            role: said.what.role,
            turn_number: Some(said.turn),
            token_count: Some(said.tokens),
            late: said.late.is_some(),
        }
    }

    /// The conversation as responses show it, in the BASIC view.
    pub fn basic(&self, active: bool, now: i64) -> proto::Conversation {
        proto::Conversation {
            conversation_id: self.id.clone(),
            recipient_id: self.recipient.clone(),
            title: self.title.clone(),
            start_time: Some(time(self.start)),
            update_time: Some(time(self.update)),
            status: self.status(now).into(),
            encoding: self.encoding.to_owned(),
            policy: Some(self.policy.wire()),
            revision: self.revision,
            utterance_count: Some((self.window().len() + self.archive().len()) as i32),
            window_token_count: Some(self.measures().tokens),
            is_compacted: self.is_compacted(),
            active,
            end_time: self.ended.as_ref().map(|(at, _)| time(*at)),
            forked_from: self.forked_from.as_ref().map(|(_, id, sequence)| proto::ForkedFrom {
                conversation_id: id.clone(),
                sequence: Some(*sequence),
                approximate: false,
            }),
            ended_reason: self.ended.as_ref().map(|(_, reason)| reason.clone()).unwrap_or_default(),
            ..proto::Conversation::default()
        }
    }

    /// The conversation in the FULL view.
    pub fn full(&self, summary: &GetSummaryResponse, active: bool, now: i64) -> proto::Conversation {
        proto::Conversation { summary: summary.text.clone(), ..self.basic(active, now) }
    }

    /// What ListUtterances returns, over all pages.
    pub fn listed(&self, request: &ListUtterancesRequest) -> Vec<i64> {
        let mut listed = self.sequences(|said| {
            (said.home == Home::Window || said.home == Home::Archive && request.include_archive)
                && (request.include_forgotten || !said.forgotten)
        });
        if let Some(last) = request.last {
            listed = listed.split_off(listed.len().saturating_sub(last as usize));
        }
        if request.order() == proto::ListOrder::NewestFirst {
            listed.reverse();
        }
        listed
    }

    /// What Remember can find with this filter, the newest first.
    pub fn findable(&self, filter: &RememberFilter, window_only: bool) -> Vec<i64> {
        let micros = |time: &Timestamp| time.seconds * 1_000_000 + i64::from(time.nanos) / 1_000;
        let mut found = self.sequences(|said| {
            let what = &said.what;
            said.is_stored()
                && !said.forgotten
                && (said.home == Home::Window || !window_only)
                && (filter.roles.is_empty() || filter.roles.contains(&what.role))
                && (filter.names.is_empty() || filter.names.contains(&what.name))
                && filter.min_turn.is_none_or(|turn| said.turn >= turn)
                && filter.max_turn.is_none_or(|turn| said.turn <= turn)
                && filter.start_time.as_ref().is_none_or(|start| said.time >= micros(start))
                && filter.pinned.is_none_or(|pinned| said.pinned == pinned)
                && filter.metadata.iter().all(|(key, value)| what.metadata.get(key) == Some(value))
        });
        found.retain(|sequence| filter.min_sequence.is_none_or(|first| *sequence >= first));
        found.retain(|sequence| filter.max_sequence.is_none_or(|last| *sequence <= last));
        found.reverse();
        found
    }

    /// Stored utterances at most `count` sequences away that are not forgotten.
    pub fn neighbors(&self, sequence: i64, count: i64) -> Vec<i64> {
        let mut around = self.sequences(|said| said.is_stored() && !said.forgotten);
        around.retain(|other| *other != sequence && (*other - sequence).abs() <= count);
        around
    }

    /// The markers that a summary of `sequences` can contain: those of live utterances that are not head
    /// instructions. A tool result can be quoted with its call.
    pub fn tellable(&self, sequences: impl IntoIterator<Item = i64>) -> BTreeSet<u32> {
        let pairing = self.pairing();
        let told = sequences.into_iter().filter(|sequence| {
            self.is_live(*sequence, &pairing)
                && !self.is_instruction(*sequence)
                && self.get(*sequence).home != Home::Erased
        });
        told.flat_map(|sequence| self.get(sequence).markers.clone()).collect()
    }

    /// The markers that the summary can contain.
    pub fn summarizable(&self) -> BTreeSet<u32> {
        self.tellable(self.covered.iter().copied())
    }

    /// The markers that the title and the closing summary of an ended conversation can contain: those of
    /// everything except what was forgotten.
    pub fn tellable_at_the_end(&self) -> BTreeSet<u32> {
        self.tellable(self.sequences(|said| said.home != Home::Erased && !said.forgotten))
    }

    /// Live utterances of the window or, with the archive, of everything stored.
    pub fn live(&self, archive: bool) -> Vec<i64> {
        let pairing = self.pairing();
        let mut live = self.sequences(|said| said.home == Home::Window || archive && said.is_stored());
        live.retain(|sequence| self.is_live(*sequence, &pairing));
        live
    }
}

/// Microseconds as a message.
pub fn time(micros: i64) -> Timestamp {
    let nanos = micros.rem_euclid(1_000_000) * 1_000;
    Timestamp { seconds: micros.div_euclid(1_000_000), nanos: nanos as i32 }
}
