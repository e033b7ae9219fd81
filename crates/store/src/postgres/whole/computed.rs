//! The columns of a conversation's row that are computed from its records.

use crate::entries::span_of;
use crate::postgres::types::{Param, Sequences, Time, Uuid, number, params};
use utterd_domain::{Head, Ranges, Timestamp};

/// Defines the columns: the name of each, and the type of its value.
macro_rules! columns {
    ($($name:ident: $type:ty,)*) => {
        /// The values of the computed columns.
        #[derive(Clone)]
        pub struct Computed {
            $(pub(in crate::postgres) $name: $type,)*
        }

        impl Computed {
            /// The names of the columns.
            pub const NAMES: &[&'static str] = &[$(stringify!($name)),*];

            /// Returns the values, in the order of the names.
            pub fn into_values(self) -> Vec<Param> {
                params![$(self.$name),*]
            }
        }
    };
}

columns! {
    lineage: Uuid,
    recipient: String,
    listed: bool,
    change: Uuid,
    revision: i64,
    start_time: Time,
    update_time: Time,
    update_span: Time,
    end_time: Option<Time>,
    expire_time: Option<Time>,
    waits_since: Option<Time>,
    erased_at: i64,
    bytes: i64,
    live: Sequences,
    archived: Sequences,
    lineages: Vec<Uuid>,
    through: Vec<i64>,
}

impl Computed {
    /// Computes the columns of a conversation that has been waiting for a model since `awaits_since`.
    pub fn of(head: &Head, awaits_since: Option<Timestamp>) -> Self {
        let identity = &head.identity;
        let listed = identity.is_listed();
        let mut live = Ranges::before(head.next);
        live.subtract(&head.left);
        let (lineages, through) = lineages(head).unzip();
        Self {
            lineage: Uuid(identity.lineage.0),
            recipient: identity.recipient.as_str().to_owned(),
            listed,
            change: Uuid(head.change.0),
            revision: head.revision.0 as i64,
            start_time: Time(identity.start_time),
            update_time: Time(head.update_time),
            update_span: Time(span_of(head.update_time)),
            end_time: head.ended.as_ref().map(|ending| Time(ending.time)),
            expire_time: head.expire_time().filter(|_| listed).map(Time),
            waits_since: awaits_since.filter(|_| listed).map(Time),
            erased_at: head.erased_at.0 as i64,
            bytes: head.counted_bytes() as i64,
            live: Sequences(live),
            archived: Sequences((*head.archived).clone()),
            lineages,
            through,
        }
    }
}

/// The lineages that a conversation reads, in the order of lookup, each with the last sequence to read.
fn lineages(head: &Head) -> impl Iterator<Item = (Uuid, i64)> {
    let trunks = head.trunks.iter().rev().map(|trunk| (Uuid(trunk.lineage.0), number(trunk.through)));
    std::iter::once((Uuid(head.branch.0), i64::MAX)).chain(trunks)
}
