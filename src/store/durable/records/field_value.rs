//! What a field of a record can be.

use std::sync::Arc;

use crate::domain::{ChangeId, Ranges, Revision, Sequence, Timestamp, Trunk};

use super::{
    Fault,
    conversation::lineage,
    fields::Fields,
    number::{revision, sequence},
    payload::{Payload, unreadable},
    ranges::{stepped, steps},
};

/// Written under a field's number, and read from there; `part` is what a fault calls it. What reads when
/// the field is absent is not written.
pub(super) trait FieldValue: Sized {
    fn write(&self, field: u32, to: &mut Fields<'_>);
    fn read(part: &'static str, field: u32, from: &Payload<'_>) -> Result<Self, Fault>;
}

impl FieldValue for u64 {
    fn write(&self, field: u32, to: &mut Fields<'_>) {
        to.number(field, *self);
    }

    fn read(_: &'static str, field: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        from.number(field)
    }
}

impl FieldValue for u32 {
    fn write(&self, field: u32, to: &mut Fields<'_>) {
        to.number(field, *self);
    }

    fn read(part: &'static str, field: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        let number = from.number(field)?;
        let wrong = |_| Fault::wrong(part, format_args!("is {number}; possible are up to {}", u32::MAX));
        number.try_into().map_err(wrong)
    }
}

impl FieldValue for bool {
    fn write(&self, field: u32, to: &mut Fields<'_>) {
        to.flag(field, *self);
    }

    fn read(_: &'static str, field: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        Ok(from.number(field)? != 0)
    }
}

impl FieldValue for Revision {
    fn write(&self, field: u32, to: &mut Fields<'_>) {
        to.number(field, self.0);
    }

    fn read(part: &'static str, field: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        revision(part, from.number(field)?)
    }
}

/// 0 included.
impl FieldValue for Sequence {
    fn write(&self, field: u32, to: &mut Fields<'_>) {
        to.number(field, self.0);
    }

    fn read(_: &'static str, field: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        from.number(field).map(Self)
    }
}

impl FieldValue for Timestamp {
    fn write(&self, field: u32, to: &mut Fields<'_>) {
        to.signed(field, self.0);
    }

    fn read(_: &'static str, field: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        from.signed(field).map(Self)
    }
}

impl FieldValue for ChangeId {
    fn write(&self, field: u32, to: &mut Fields<'_>) {
        if *self != Self::default() {
            to.bytes(field, &self.0);
        }
    }

    fn read(part: &'static str, field: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        match from.bytes(field)? {
            [] => Ok(Self::default()),
            stored => lineage(part, stored).map(|id| Self(id.0)),
        }
    }
}

impl FieldValue for Arc<Ranges> {
    fn write(&self, field: u32, to: &mut Fields<'_>) {
        to.packed(field, || steps(self));
    }

    fn read(part: &'static str, field: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        stepped(part, &from.packed(field)?).map(Self::new)
    }
}

/// Of each, the lineage in field 1 and the last sequence in field 2.
impl FieldValue for Arc<[Trunk]> {
    fn write(&self, field: u32, to: &mut Fields<'_>) {
        for trunk in self.iter() {
            to.message(field, |to| {
                to.bytes(1, &trunk.lineage.0);
                to.number(2, trunk.through.0);
            });
        }
    }

    fn read(_: &'static str, field: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        from.repeated(field)?.into_iter().map(trunk).collect()
    }
}

fn trunk(stored: &[u8]) -> Result<Trunk, Fault> {
    let stored = Payload::read(stored)?;
    let lineage = lineage("the lineage of a trunk", stored.bytes(1)?)?;
    Ok(Trunk { lineage, through: sequence("the last sequence of a trunk", stored.number(2)?)? })
}

/// A text as it stands in a message.
pub(super) fn text(stored: &[u8]) -> Result<Box<str>, Fault> {
    str::from_utf8(stored).map(Box::from).map_err(unreadable)
}
