//! The part of a conversation's head that almost every change modifies.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use utterd_domain::{Head, Identity, segment::Summary};

use super::{Description, Fault};

/// A head as stored, with the numbers of its summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadRecord {
    /// Without the parts that have records of their own: the identity and the description. See
    /// [`HeadRecord::complete`].
    pub head: Head,
    /// The number of the next segment, from 1.
    pub next_segment: u32,
    /// Number of segments.
    pub segments: u32,
}

impl HeadRecord {
    /// Returns the record of a conversation's head and summary.
    pub fn of(head: &Head, summary: &Summary) -> Self {
        let segments = summary.segments().len() as u32;
        Self { head: head.clone(), next_segment: summary.next_number(), segments }
    }

    /// Returns the record with the whole head: with the parts stored in other records.
    pub fn complete(self, identity: Arc<Identity>, description: Description) -> Self {
        let Description { title, labels, shares, forked_from, copies, state, made_title } = description;
        let head =
            Head { identity, title, labels, shares, forked_from, copies, state, made_title, ..self.head };
        Self { head, ..self }
    }

    /// Checks the fields against each other.
    pub(super) fn check(&self) -> Result<(), Fault> {
        self.head.check().map_err(|(part, problem)| Fault::wrong(part, problem))?;
        if self.next_segment == 0 {
            return Err(Fault::wrong("the number of the next segment", "is 0; segments count from 1"));
        }
        match self.segments >= self.next_segment {
            true => Err(Fault::wrong("the segments", "are more than were numbered")),
            false => Ok(()),
        }
    }
}
