//! The ids that clients gave, and their utterances.

use super::survey::Findings;
use crate::{
    domain::{LineageId, Sequence},
    store::durable::records::{self, GivenIds, Utterances},
};

impl Findings<'_, '_> {
    /// Checks that an utterance's id leads to it.
    pub(super) fn check_named(&mut self, lineage: LineageId, sequence: Sequence, id: &str) {
        let Some(pairs) = self.survey.engine else { return };
        match records::get::<GivenIds>(pairs, &(lineage, id.into())) {
            Ok(None) => {
                self.add(format_args!("the id {id:?} does not lead to utterance {sequence}, which has it"));
            }
            Ok(Some(other)) if other != sequence => {
                let other_id = records::get::<Utterances>(pairs, &(lineage, other)).ok().flatten();
                if other_id.is_some_and(|other| other.given_id() == Some(id)) {
                    self.add(format_args!("the utterances {other} and {sequence} have the same id {id:?}"));
                }
            }
            Ok(Some(_)) | Err(_) => {} // unreadable records are reported elsewhere
        }
    }

    /// Checks that the utterance an id leads to has that id.
    pub(super) fn check_entry(&mut self, lineage: LineageId, id: &str, sequence: Sequence) {
        let Some(pairs) = self.survey.engine else { return };
        match records::get::<Utterances>(pairs, &(lineage, sequence)) {
            Ok(None) => {
                self.add(format_args!("the id {id:?} leads to utterance {sequence}, which is not stored"));
            }
            Ok(Some(utterance)) if utterance.given_id() != Some(id) => {
                self.add(format_args!("the id {id:?} leads to utterance {sequence}, which has another id"));
            }
            Ok(Some(_)) | Err(_) => {} // unreadable records are reported elsewhere
        }
    }
}
