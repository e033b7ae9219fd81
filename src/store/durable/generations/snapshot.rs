//! All pairs at one moment, for an engine whose ranges go along with the writes: a copy of its files, which goes
//! with the last reader.

use std::{ops::Bound, path::PathBuf, sync::Arc};

use super::{Copy, Engine, Generation, Generations, Reading, names::copy_path};
use crate::store::durable::{
    files,
    key_value::{KeyValueError, Pairs},
    panics::caught,
};

impl<E: Engine> Generations<E> {
    /// The pairs of a copy that is of one moment.
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
            // What an engine that does not open has left; if it cannot be removed, it goes at the next opening.
            let _removed = files::remove_directory(&path);
        })
    }

    /// Gives the copy the last of what was written. Nothing is written meanwhile.
    fn complete(&self, old: &Generation<E>, copy: Copy<E>) -> Result<Arc<Generation<E>>, KeyValueError> {
        let mut writer = self.writer.lock();
        writer.check()?;
        old.recopy(writer.changed.take().unwrap_or_default(), &copy.0)?;
        Ok(copy.0)
    }

    /// Where no other copy is.
    fn next_path(&self) -> PathBuf {
        let mut writer = self.writer.lock();
        writer.snapshots += 1;
        copy_path(writer.snapshots, &self.directory)
    }
}
