//! What every engine has to do, tested on each.

mod files;
mod pairs;
mod store;
