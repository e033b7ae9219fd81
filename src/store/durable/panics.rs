//! Engines that panic: the panic becomes an error.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
    thread,
};

use super::key_value::KeyValueError;

/// What `operation` answers; a panic in it becomes an error with the panic's message.
///
/// - The panic is not reported on stderr: the error says the same.
/// - What `operation` worked on has to be left alone after a panic, unless it is only read.
/// - A second panic, while what the first one left is dropped, ends the process; then stderr has both.
pub fn caught<T>(operation: impl FnOnce() -> Result<T, KeyValueError>) -> Result<T, KeyValueError> {
    hush_the_hook();
    let before = CATCHING.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(operation));
    CATCHING.set(before);
    outcome.unwrap_or_else(|panic| {
        HUSHED.take();
        Err(KeyValueError(format!("the engine panicked: {}", message(&*panic))))
    })
}

thread_local! {
    /// Whether a panic of this thread is caught here.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    /// The panic that is not reported, until it is caught.
    static HUSHED: Cell<Option<String>> = const { Cell::new(None) };
}

/// Puts a hook before the process's own that holds back panics that are caught here.
fn hush_the_hook() {
    static ONCE: Once = Once::new();
    if ONCE.is_completed() || thread::panicking() {
        return; // a panicking thread may not change the hook
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
        "it does not say why"
    }
}
