//! File descriptors: how many there may be, and how many of them connections may take.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::domain::limits::RESERVED_DESCRIPTORS;

/// Raises the limit as far as the system lets a process, and says what holds; `None` is no limit.
pub fn raise_limit() -> Option<usize> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let holds = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::warn!(%error, "could not raise the limit of open files");
            limit.current
        }
    };
    holds.and_then(|descriptors| usize::try_from(descriptors).ok())
}

/// The connections that `descriptors` leave room for, at most `asked`. Where there are few, half of them are kept
/// for everything else.
pub fn connections(asked: usize, descriptors: Option<usize>) -> usize {
    let Some(descriptors) = descriptors else { return asked };
    let room = descriptors.saturating_sub(RESERVED_DESCRIPTORS).max(descriptors / 2);
    if room < asked {
        tracing::warn!(
            max_connections = room,
            asked,
            "the limit of open files, {descriptors}, leaves room for fewer connections than asked; raise it (ulimit -n)"
        );
    }
    asked.min(room).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_to_the_store() {
        for (asked, descriptors, room) in [
            (10_000, None, 10_000),
            (10_000, Some(1_048_576), 10_000),
            (10_000, Some(4_096), 3_328),
            (100, Some(4_096), 100),
            (10_000, Some(1_024), 512),
            (10_000, Some(1), 1),
        ] {
            assert_eq!(connections(asked, descriptors), room, "{asked} {descriptors:?}");
        }
    }
}
