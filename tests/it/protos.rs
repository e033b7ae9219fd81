//! `proto/v1.binpb` has the descriptors of the protos. The build generates code from it, and `buf breaking` checks the
//! protos against what it was before. `UPDATE_PROTOS=1 cargo test --features full protos` writes it anew.

use std::{env, fs, path::Path};

use prost::Message;
use prost_types::{FileDescriptorProto, FileDescriptorSet};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Compiles every proto of the package, with what they import.
fn compiled() -> FileDescriptorSet {
    let root = Path::new(ROOT).join("proto");
    let entries = fs::read_dir(root.join("utterd/v1")).expect("the protos are there");
    let mut protos: Vec<_> = entries.map(|entry| entry.expect("a proto").path()).collect();
    protos.sort();
    protox::compile(protos, [root]).expect("the protos compile")
}

/// Returns the files by name. Where a comment stands in its file does not matter.
fn by_name(mut set: FileDescriptorSet) -> Vec<FileDescriptorProto> {
    set.file.iter_mut().for_each(|file| file.source_code_info = None);
    set.file.sort_by(|one, other| one.name().cmp(other.name()));
    set.file
}

#[test]
fn the_descriptors_are_those_of_the_protos() {
    let path = Path::new(ROOT).join("proto/v1.binpb");
    if env::var_os("UPDATE_PROTOS").is_some() {
        fs::write(&path, compiled().encode_to_vec()).expect("the descriptors are written");
    }
    let stored =
        FileDescriptorSet::decode(&*fs::read(path).expect("the descriptors are there")).expect("they decode");
    assert!(
        by_name(stored) == by_name(compiled()),
        "proto/v1.binpb is not what the protos say: UPDATE_PROTOS=1 cargo test --features full protos writes it anew"
    );
}
