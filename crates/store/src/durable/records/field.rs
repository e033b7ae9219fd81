//! The types of fields in records.

use std::{collections::BTreeMap, sync::Arc};

use utterd_domain::{
    ChangeId, ConversationId, Encoding, IdError, LineageId, Namespace, Oversize, Ranges, RecipientId,
    Revision, Role, Sequence, ShareId, Timestamp,
    capacity::OverLimit,
    compaction::Cause,
    extract::{Kind, Shape},
    share::ShareDigest,
};

use super::{
    Fault,
    fields::Fields,
    number::{Numbered, numbered, revision, sequence},
    payload::{
        Payload,
        Stored::{self, Bytes, Number},
    },
    ranges::{stepped, steps},
};

/// A part of a record, written and read under a field number; `part` is its name in faults.
pub trait Field: Sized {
    /// Writes the value. Writes nothing if an absent field would be read as this value.
    fn put(&self, number: u32, to: &mut Fields<'_>);
    /// Reads the value.
    fn get(part: &'static str, number: u32, from: &Payload<'_>) -> Result<Self, Fault>;
}

/// The value of a single field.
pub trait One: Sized {
    /// Writes the value.
    fn put_one(&self, number: u32, to: &mut Fields<'_>);
    /// Reads the value.
    fn get_one(part: &'static str, stored: Stored<'_>) -> Result<Self, Fault>;

    /// Whether an absent field would be read as this value.
    fn is_absent(&self) -> bool {
        false
    }
}

/// A value that consists of fields.
pub trait Message: Sized {
    /// Writes its fields.
    fn write(&self, to: &mut Fields<'_>);
    /// Reads its fields.
    fn read(from: &Payload<'_>) -> Result<Self, Fault>;
}

/// Implements `Message` for a type, given the number of each field, its name, and its name in faults. The
/// caller must import what an `impl Message` needs.
macro_rules! message {
    ($type:ident { $($number:literal $field:ident: $part:literal),* $(,)? }) => {
        impl Message for $type {
            fn write(&self, to: &mut Fields<'_>) {
                $(self.$field.put($number, to);)*
            }

            fn read(from: &Payload<'_>) -> Result<Self, Fault> {
                Ok(Self { $($field: Field::get($part, $number, from)?,)* })
            }
        }
    };
}
pub(super) use message;

impl<T: One> Field for T {
    fn put(&self, number: u32, to: &mut Fields<'_>) {
        if !self.is_absent() {
            self.put_one(number, to);
        }
    }

    fn get(part: &'static str, number: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        T::get_one(part, from.one(number))
    }
}

impl<T: One> Field for Option<T> {
    fn put(&self, number: u32, to: &mut Fields<'_>) {
        self.iter().for_each(|one| one.put_one(number, to));
    }

    fn get(part: &'static str, number: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        match from.one(number) {
            Stored::Nothing => Ok(None),
            stored => T::get_one(part, stored).map(Some),
        }
    }
}

impl<T: One> Field for Vec<T> {
    fn put(&self, number: u32, to: &mut Fields<'_>) {
        self.iter().for_each(|one| one.put_one(number, to));
    }

    fn get(part: &'static str, number: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        from.all(number).map(|stored| T::get_one(part, stored)).collect()
    }
}

impl<T: One> Field for Arc<[T]> {
    fn put(&self, number: u32, to: &mut Fields<'_>) {
        self.iter().for_each(|one| one.put_one(number, to));
    }

    fn get(part: &'static str, number: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        Vec::get(part, number, from).map(Self::from)
    }
}

/// Each entry has its key in field 1 and its value in field 2.
impl Field for BTreeMap<String, String> {
    fn put(&self, number: u32, to: &mut Fields<'_>) {
        for (key, value) in self {
            to.message(number, |to| {
                key.put(1, to);
                value.put(2, to);
            });
        }
    }

    fn get(part: &'static str, number: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        let entry = |stored: Stored<'_>| {
            let entry = stored.message(part)?;
            Ok((String::get(part, 1, &entry)?, String::get(part, 2, &entry)?))
        };
        from.all(number).map(entry).collect()
    }
}

impl Field for Arc<BTreeMap<String, String>> {
    fn put(&self, number: u32, to: &mut Fields<'_>) {
        (**self).put(number, to);
    }

    fn get(part: &'static str, number: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        Field::get(part, number, from).map(Self::new)
    }
}

/// Sixteen bytes, big-endian.
impl Field for u128 {
    fn put(&self, number: u32, to: &mut Fields<'_>) {
        to.put(number, Bytes(&self.to_be_bytes()));
    }

    fn get(part: &'static str, number: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        array(part, from.one(number)).map(Self::from_be_bytes)
    }
}

impl Field for Vec<OverLimit> {
    fn put(&self, number: u32, to: &mut Fields<'_>) {
        if !self.is_empty() {
            to.packed(number, || self.iter().map(|one| one.number().into()));
        }
    }

    fn get(part: &'static str, number: u32, from: &Payload<'_>) -> Result<Self, Fault> {
        from.one(number).packed(part)?.into_iter().map(|number| numbered(part, number)).collect()
    }
}

impl<T: Message> One for T {
    fn put_one(&self, number: u32, to: &mut Fields<'_>) {
        to.message(number, |to| self.write(to));
    }

    fn get_one(part: &'static str, stored: Stored<'_>) -> Result<Self, Fault> {
        T::read(&stored.message(part)?)
    }
}

impl<T: One> One for Arc<T> {
    fn put_one(&self, number: u32, to: &mut Fields<'_>) {
        T::put_one(self, number, to);
    }

    fn get_one(part: &'static str, stored: Stored<'_>) -> Result<Self, Fault> {
        T::get_one(part, stored).map(Self::new)
    }

    fn is_absent(&self) -> bool {
        T::is_absent(self)
    }
}

impl One for Ranges {
    fn put_one(&self, number: u32, to: &mut Fields<'_>) {
        to.packed(number, || steps(self));
    }

    fn get_one(part: &'static str, stored: Stored<'_>) -> Result<Self, Fault> {
        stepped(part, &stored.packed(part)?)
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// Implements `One` for types stored as a number or as bytes, given how each is stored and read.
macro_rules! stored {
    ($($type:ty: $stored:expr, $read:expr;)*) => {$(
        impl One for $type {
            fn put_one(&self, number: u32, to: &mut Fields<'_>) {
                let stored: fn(&Self) -> Stored<'_> = $stored;
                to.put(number, stored(self));
            }

            fn get_one(part: &'static str, stored: Stored<'_>) -> Result<Self, Fault> {
                let read: fn(&'static str, Stored<'_>) -> Result<Self, Fault> = $read;
                read(part, stored)
            }

            fn is_absent(&self) -> bool {
                let stored: fn(&Self) -> Stored<'_> = $stored;
                matches!(stored(self), Number(0) | Bytes([]))
            }
        }
    )*};
}

stored! {
    u64: |number| Number(*number), |part, stored| stored.number(part);
    u32: |number| Number((*number).into()), |part, stored| {
        let number = stored.number(part)?;
        let wrong = |_| Fault::wrong(part, format_args!("is {number}; expected at most {}", Self::MAX));
        number.try_into().map_err(wrong)
    };
    bool: |flag| Number((*flag).into()), |part, stored| Ok(stored.number(part)? != 0);
    Revision: |revision| Number(revision.0), |part, stored| revision(part, stored.number(part)?);
    Sequence: |sequence| Number(sequence.0), |part, stored| sequence(part, stored.number(part)?);
    Timestamp: |time| Number(zigzag(time.0)), |part, stored| Ok(Self(unzigzag(stored.number(part)?)));
    Role: |role| Number(role.number().into()), |part, stored| numbered(part, stored.number(part)?);
    Kind: |kind| Number(kind.number().into()), |part, stored| numbered(part, stored.number(part)?);
    Shape: |shape| Number(shape.number().into()), |part, stored| numbered(part, stored.number(part)?);
    Encoding: |encoding| Number(encoding.number().into()), |part, stored| numbered(part, stored.number(part)?);
    Oversize: |oversize| Number(oversize.number().into()), |part, stored| numbered(part, stored.number(part)?);
    Cause: |cause| Number(cause.number().into()), |part, stored| numbered(part, stored.number(part)?);
    Box<str>: |text| Bytes(text.as_bytes()), |part, stored| Ok(stored.text(part)?.into());
    Arc<str>: |text| Bytes(text.as_bytes()), |part, stored| Ok(stored.text(part)?.into());
    String: |text| Bytes(text.as_bytes()), |part, stored| Ok(stored.text(part)?.into());
    Namespace: |id| Bytes(id.as_str().as_bytes()), |part, stored| id(part, stored, Self::new);
    RecipientId: |id| Bytes(id.as_str().as_bytes()), |part, stored| id(part, stored, Self::new);
    ConversationId: |id| Bytes(id.as_str().as_bytes()), |part, stored| id(part, stored, Self::kept);
    ShareId: |id| Bytes(id.as_str().as_bytes()), |part, stored| id(part, stored, Self::new);
    ShareDigest: |digest| Bytes(&digest.0), |part, stored| array(part, stored).map(Self);
    LineageId: |id| Bytes(&id.0), |part, stored| array(part, stored).map(Self);
    ChangeId: |id| Bytes(&id.0), |part, stored| array(part, stored).map(Self);
}

/// Reads a sequence that may be absent, which is 0.
pub(super) fn sequence_or_0(part: &'static str, number: u32, from: &Payload<'_>) -> Result<Sequence, Fault> {
    match u64::get(part, number, from)? {
        0 => Ok(Sequence(0)),
        given => sequence(part, given),
    }
}

/// Encodes a signed number as an unsigned one that is small if the number is near 0.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// The inverse of [`zigzag`].
fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

fn id<T>(part: &'static str, stored: Stored<'_>, make: fn(&str) -> Result<T, IdError>) -> Result<T, Fault> {
    make(stored.text(part)?).map_err(|error| Fault::wrong(part, error))
}

/// Reads exactly `N` bytes.
fn array<const N: usize>(part: &'static str, stored: Stored<'_>) -> Result<[u8; N], Fault> {
    let bytes = stored.bytes(part)?;
    let wrong = |_| Fault::wrong(part, format_args!("has {} bytes, not {N}", bytes.len()));
    bytes.try_into().map_err(wrong)
}
