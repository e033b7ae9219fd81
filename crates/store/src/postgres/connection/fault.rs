//! Classifies the errors of the database.

use tokio_postgres::{
    Error,
    error::{DbError, SqlState},
};

use crate::StoreError;
use crate::postgres::DatabaseUrl;

/// The constraint by which each outcome is stored only once.
const OUTCOME: &str = "outcomes_pkey";

/// The meaning of an error.
#[derive(Debug)]
pub enum Fault {
    /// A statement found that something is not as it requires.
    Unexpected,
    /// The statement would have stored an outcome that is already stored.
    Present,
    /// Another transaction interfered; the statement can be retried.
    InTheWay,
    /// The statement's data was refused, and it had no effect.
    Invalid(StoreError),
    /// The statement was refused, and had no effect.
    Refused(StoreError),
    /// The answer was lost: the statement may have had an effect, and the connection can no longer be used.
    Lost(StoreError),
}

impl Fault {
    /// Classifies `error`.
    pub fn of(error: &Error) -> Self {
        let Some(answer) = error.as_db_error() else { return Self::Lost(unavailable(error)) };
        match answer.code() {
            code if code.code() == "UT001" => Self::Unexpected,
            &SqlState::UNIQUE_VIOLATION if answer.constraint() == Some(OUTCOME) => Self::Present,
            &SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED => Self::InTheWay,
            // the server is stopping or starting, or a statement's transaction ended without an answer
            code if code.code().starts_with("57P") || code.code().starts_with("08") => {
                Self::Lost(unavailable(error))
            }
            // a value or a constraint, or a size
            code if ["22", "23", "54"].iter().any(|class| code.code().starts_with(class)) => {
                Self::Invalid(unavailable(error))
            }
            _ => Self::Refused(unavailable(error)),
        }
    }

    /// Converts the fault for a caller that needs no distinction.
    pub fn into_error(self) -> StoreError {
        StoreError::Unavailable(match self {
            Self::Invalid(error) | Self::Refused(error) | Self::Lost(error) => return error,
            Self::Unexpected | Self::Present => "the database holds what it should not".to_owned(),
            Self::InTheWay => "another transaction was in the way".to_owned(),
        })
    }

    /// Whether the connection's prepared statements no longer fit the schema, which was migrated meanwhile.
    pub fn is_outdated(error: &Error) -> bool {
        matches!(error.code(), Some(&SqlState::FEATURE_NOT_SUPPORTED | &SqlState::INVALID_SQL_STATEMENT_NAME))
    }

    /// Whether the server accepts no writes: it has become a standby.
    pub fn is_read_only(error: &Error) -> bool {
        error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
    }
}

/// Converts an error, with the database's message.
pub fn unavailable(error: &Error) -> StoreError {
    described("the database", error)
}

/// Converts an error of connecting. The result names the hosts, and is for operators, not for callers.
pub fn unreachable(url: &DatabaseUrl, error: &Error) -> StoreError {
    described(&format!("the database at {}", url.hosts()), error)
}

fn described(database: &str, error: &Error) -> StoreError {
    let mut text = format!("{database}: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let more = error.downcast_ref().map_or_else(|| error.to_string(), said);
        // some errors repeat their cause
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    StoreError::Unavailable(text)
}

/// The database's message without its detail, which can quote a row and so the text of a conversation.
fn said(error: &DbError) -> String {
    format!("{}: {} ({})", error.severity(), error.message(), error.code().code())
}
