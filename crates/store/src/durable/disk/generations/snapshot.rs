//! Snapshots for an engine whose ranges see later writes: a copy of all pairs at one moment, removed with its
//! last reader.

use std::{ops::Bound, path::PathBuf, sync::Arc};

use super::{Copy, Engine, Generation, Generations, Reading, names::copy_path};
use crate::durable::{
    disk::files,
    key_value::{KeyValueError, Pairs},
    panics::caught,
};

impl<E: Engine> Generations<E> {
    /// Returns the pairs of a copy made at one moment.
    pub(super) fn copied_pairs(&self) -> Result<Pairs<'static>, KeyValueError> {
        let copy = self.copy_of_a_moment()?;
        let pairs = caught(|| Ok(copy.engine()?.range(Bound::Unbounded, Bound::Unbounded)))?;
        Ok(Box::new(Reading { pairs: Some(pairs), _generation: copy }))
    }

    fn copy_of_a_moment(&self) -> Result<Arc<Generation<E>>, KeyValueError> {
        let _alone = self.scrub.lock();
        let (old, _) = self.begin_copy()?;
        let path = self.next_path();
        let copied = self.copy(&old, &path, true).and_then(|copy| self.complete(&old, copy));
        self.writer.lock().changed = None;
        copied.inspect_err(|_| {
            // Leftovers of an engine that did not open; if they cannot be removed now, the next opening
            // removes them.
            let _removed = files::remove_directory(&path);
        })
    }

    /// Copies the last written keys. Blocks writes meanwhile.
    fn complete(&self, old: &Generation<E>, copy: Copy<E>) -> Result<Arc<Generation<E>>, KeyValueError> {
        let mut writer = self.writer.lock();
        writer.check()?;
        old.recopy(writer.changed.take().unwrap_or_default(), &copy.0)?;
        Ok(copy.0)
    }

    /// Returns a directory that no other copy uses.
    fn next_path(&self) -> PathBuf {
        let mut writer = self.writer.lock();
        writer.snapshots += 1;
        copy_path(writer.snapshots, &self.directory)
    }
}
