//! The panics of the server, on whatever thread.

use std::{
    panic,
    sync::{Mutex, PoisonError},
};

static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Remembers panics from now on, other than those of the tests.
pub fn watch() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !panic.location().is_some_and(|place| place.file().starts_with("tests/")) {
            PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(panic.to_string());
        }
        before(panic);
    }));
}

/// Those so far, of the servers of all tests.
pub fn all() -> Vec<String> {
    PANICS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
