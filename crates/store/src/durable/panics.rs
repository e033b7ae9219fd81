//! Turns an engine's panic into an error.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
    thread,
};

use super::key_value::KeyValueError;
use utterd_telemetry::panics::Within;

/// Returns the result of `operation`; a panic becomes an error with the panic's message.
///
/// - The panic is counted, but neither logged nor reported on stderr: the error already contains its message.
/// - After a panic, the objects that `operation` changed must no longer be used; objects that are only read
///   may be.
/// - A second panic, while the first one unwinds, ends the process; stderr then shows both.
pub fn caught<T>(operation: impl FnOnce() -> Result<T, KeyValueError>) -> Result<T, KeyValueError> {
    hush_the_hook();
    let before = CATCHING.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(operation));
    CATCHING.set(before);
    outcome.unwrap_or_else(|panic| {
        HUSHED.take();
        Within::Store.count();
        Err(KeyValueError(format!("the engine panicked: {}", message(&*panic))))
    })
}

thread_local! {
    /// Whether this thread is inside [`caught`].
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    /// The report of a caught panic, held back until the panic is caught.
    static HUSHED: Cell<Option<String>> = const { Cell::new(None) };
}

/// Installs a panic hook in front of the process's own that holds back panics caught here.
fn hush_the_hook() {
    static ONCE: Once = Once::new();
    if ONCE.is_completed() || thread::panicking() {
        return; // a panicking thread must not change the hook
    }
    ONCE.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let first = HUSHED.take();
            if CATCHING.get() && first.is_none() {
                HUSHED.set(Some(info.to_string()));
                return;
            }
            if let Some(first) = first {
                eprintln!("{first}");
            }
            report(info);
        }));
    });
}

fn message(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "no message"
    }
}
