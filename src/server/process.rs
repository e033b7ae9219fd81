//! What the process asks of the operating system: small pages, and many descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::domain::limits::RESERVED_DESCRIPTORS;

/// Keeps the process's memory in small pages. Of a huge page nothing goes back to the system as long as a few bytes
/// of it are in use, so that a server would keep gigabytes after a load.
pub fn keep_pages_small() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::warn!(%error, "could not turn transparent huge pages off: memory may not go back after a load");
    }
}

/// Raises the limit of descriptors as far as the system lets a process, and says what holds; `None` is no limit.
pub fn raise_descriptor_limit() -> Option<usize> {
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
