//! The SQL forms of values, and the parameters of statements.

use std::{error::Error, fmt};

use bytes::{BufMut as _, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

use utterd_domain::{Ranges, Sequence, Timestamp};

/// A parameter of a statement.
pub(super) type Param = Box<dyn ToSql + Send + Sync>;

/// Collects parameters.
macro_rules! params {
    ($($param:expr),* $(,)?) => { vec![$(Box::new($param) as $crate::postgres::types::Param),*] };
}
pub(super) use params;

/// Borrows the parameters, as the client requires.
pub(super) fn borrowed(params: &[Param]) -> Vec<&(dyn ToSql + Sync)> {
    params.iter().map(|param| &**param as &(dyn ToSql + Sync)).collect()
}

type Encoded = Result<IsNull, Box<dyn Error + Sync + Send>>;

/// 16 bytes, as a `uuid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Uuid(pub(super) [u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl ToSql for Uuid {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Encoded {
        out.put_slice(&self.0);
        Ok(IsNull::No)
    }

    accepts!(UUID);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Uuid {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw.try_into()?))
    }

    accepts!(UUID);
}

/// A time, as a `timestamptz`. Times beyond its range become infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time(pub(super) Timestamp);

/// Microseconds from 1970 to 2000, the epoch of PostgreSQL.
const EPOCH: i64 = 946_684_800_000_000;

impl ToSql for Time {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Encoded {
        out.put_i64(self.0.0.saturating_sub(EPOCH));
        Ok(IsNull::No)
    }

    accepts!(TIMESTAMPTZ);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Time {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Timestamp(i64::from_be_bytes(raw.try_into()?).saturating_add(EPOCH))))
    }

    accepts!(TIMESTAMPTZ);
}

/// Sequences, as an `int8multirange`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sequences(pub(super) Ranges);

impl ToSql for Sequences {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Encoded {
        const LOWER_INCLUSIVE: u8 = 2;
        const NUMBER: usize = 8;
        out.put_u32(u32::try_from(self.0.iter().count())?);
        for range in self.0.iter() {
            let behind = range.end().0.saturating_add(1).min(i64::MAX as u64);
            out.put_u32((1 + 2 * (4 + NUMBER)) as u32);
            out.put_u8(LOWER_INCLUSIVE);
            for bound in [range.start().0, behind] {
                out.put_u32(NUMBER as u32);
                out.put_u64(bound);
            }
        }
        Ok(IsNull::No)
    }

    accepts!(INT8MULTI_RANGE);
    to_sql_checked!();
}

/// A sequence as a `bigint`. Every stored sequence fits.
pub(super) fn number(sequence: Sequence) -> i64 {
    i64::try_from(sequence.0).unwrap_or(i64::MAX)
}
