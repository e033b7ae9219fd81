//! Which file of `src/` uses which, and the circles among them.
//!
//! A file uses another if it names something that the other defines, however it is re-exported on the way. So
//! a `mod.rs` that only declares its children and re-exports their items is in no circle.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{module_of, paths::paths_in};

/// The path of a module, or of an item in one, from the crate's root.
type Path = Vec<String>;

/// For each file, the files that it uses, each with something of it that it names.
pub type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// Maximum number of re-exports between a name and its definition.
const MOST_STEPS: usize = 8;

struct File {
    name: String,
    defined: BTreeSet<String>,
    /// Its imports, by their local names: `*` for a glob import.
    imported: HashMap<String, Vec<Path>>,
    named: Vec<Path>,
}

/// The files of `src/` by module.
struct Files(HashMap<Path, File>);

/// Finds which file of `src/` uses which.
pub fn uses(sources: &[(String, String)]) -> Uses {
    let files = sources.iter().map(|(name, source)| (module_of(name), File::read(name, source)));
    let files = Files(files.collect());
    files.0.iter().map(|(module, file)| (file.name.clone(), files.used_by(module, file))).collect()
}

/// The files that use one another, and what each uses; a text for each circle.
pub fn circles(uses: &Uses) -> Vec<String> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|file| (file.as_str(), reached(uses, file))).collect();
    let circle = |file: &&str| {
        let others = reached[file].iter().copied();
        others.filter(|other| reached[other].contains(file)).collect::<BTreeSet<&str>>()
    };
    let circles: BTreeSet<_> = reached.keys().map(circle).filter(|circle| !circle.is_empty()).collect();
    circles.into_iter().map(|circle| told(&circle, uses)).collect()
}

/// Every file that `file` uses, directly or indirectly.
fn reached<'a>(uses: &'a Uses, file: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![file]);
    while let Some(file) = next.pop() {
        let used = uses.get(file).into_iter().flat_map(BTreeMap::keys);
        next.extend(used.map(String::as_str).filter(|used| reached.insert(*used)));
    }
    reached
}

fn told(circle: &BTreeSet<&str>, uses: &Uses) -> String {
    let used =
        circle.iter().flat_map(|file| uses[*file].iter().map(move |(other, name)| (file, other, name)));
    let inside = used.filter(|(_, other, _)| circle.contains(other.as_str()));
    inside.map(|(file, other, name)| format!("{file} uses {other}: {name}\n")).collect()
}

impl File {
    fn read(name: &str, source: &str) -> Self {
        let module = module_of(name);
        let tokens = without_tests(source.parse().expect("a source is Rust"));
        let (mut imported, mut named): (HashMap<_, Vec<_>>, _) = (HashMap::new(), Vec::new());
        for path in paths_in(tokens.clone(), &module) {
            if path.known_as != "*" && !path.exported {
                named.push(path.segments.clone());
            }
            if path.imported {
                imported.entry(path.known_as).or_default().push(path.segments);
            }
        }
        Self { name: name.to_owned(), defined: defined(tokens), imported, named }
    }
}

impl Files {
    fn used_by(&self, module: &[String], file: &File) -> BTreeMap<String, String> {
        // the first mention of each is reported
        let used = file.named.iter().rev().filter_map(|path| Some((self.meant(module, file, path)?, path)));
        let others = used.filter(|(other, _)| other.name != file.name);
        others.map(|(other, path)| (other.name.clone(), path.join("::"))).collect()
    }

    /// The file that defines what `path` names in `file`, the file of `module`. `None` for a module or an
    /// item of another crate.
    fn meant<'a>(&'a self, module: &[String], file: &'a File, path: &[String]) -> Option<&'a File> {
        self.inside(module, path)
            .map_or_else(|| self.local(module, file, path, 0), |path| self.definer(&path, 0))
    }

    /// The path from the crate's root, if `path` is one or begins with a child of `module`.
    fn inside(&self, module: &[String], path: &[String]) -> Option<Path> {
        let child = [module, &path[..1]].concat();
        match path[0] == "crate" {
            true => Some(path[1..].to_vec()),
            false => (path.len() > 1 && self.0.contains_key(&child)).then(|| [module, path].concat()),
        }
    }

    /// The file that defines the item at a path from the crate's root.
    fn definer(&self, path: &[String], step: usize) -> Option<&File> {
        let length = (0..path.len()).rev().find(|length| self.0.contains_key(&path[..*length]))?;
        let (module, name) = path.split_at(length);
        self.local(module, &self.0[module], name, step + 1)
    }

    /// The file that defines the item at a path that begins with a name that `file` defines or imports.
    fn local<'a>(
        &'a self,
        module: &[String],
        file: &'a File,
        path: &[String],
        step: usize,
    ) -> Option<&'a File> {
        if step > MOST_STEPS {
            return None;
        }
        let origins = |name: &str| file.imported.get(name).into_iter().flatten();
        let named = origins(&path[0]).map(|origin| (origin, &path[1..]));
        let everything = origins("*").map(|origin| (origin, path));
        let imported = || {
            named.chain(everything).find_map(|(origin, rest)| {
                let origin = self.inside(module, origin).filter(|origin| origin != module || rest != path)?;
                self.definer(&[origin.as_slice(), rest].concat(), step)
            })
        };
        let defined = || file.defined.contains(&path[0]).then_some(file);
        // a function can have the name of an imported module
        if path.len() > 1 { imported().or_else(defined) } else { defined().or_else(imported) }
    }
}

/// The items of a file, without those that exist only for tests.
fn without_tests(tokens: TokenStream) -> TokenStream {
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if !matches!(&token, TokenTree::Group(group) if group.to_string() == "[cfg (test)]") {
            kept.push(token);
            continue;
        }
        kept.pop();
        tokens.by_ref().find(|token| match token {
            TokenTree::Punct(mark) => mark.as_char() == ';',
            TokenTree::Group(body) => body.delimiter() == Delimiter::Brace,
            _ => false,
        });
    }
    kept.into_iter().collect()
}

/// The names of the file's top-level items, and those that a macro is given there or writes itself.
fn defined(tokens: TokenStream) -> BTreeSet<String> {
    const ITEMS: [&str; 9] = ["struct", "enum", "union", "trait", "type", "fn", "const", "static", "mod"];
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut names = BTreeSet::new();
    for at in tokens.windows(3) {
        match at {
            [TokenTree::Ident(item), TokenTree::Ident(name), next] => {
                let is_file = item == "mod" && !matches!(next, TokenTree::Group(_));
                if ITEMS.contains(&item.to_string().as_str()) && !is_file {
                    names.insert(name.to_string());
                }
            }
            [TokenTree::Punct(mark), TokenTree::Ident(name), TokenTree::Group(rules)]
                if mark.as_char() == '!' =>
            {
                names.insert(name.to_string());
                let bodies = rules.stream().into_iter().filter_map(|token| match token {
                    TokenTree::Group(body) => Some(body.stream()),
                    _ => None,
                });
                names.extend(bodies.flat_map(defined));
            }
            [TokenTree::Ident(_), TokenTree::Punct(mark), TokenTree::Group(given)]
                if mark.as_char() == '!' =>
            {
                let words = given.stream().into_iter().filter(|token| matches!(token, TokenTree::Ident(_)));
                names.extend(words.map(|word| word.to_string()));
            }
            _ => {}
        }
    }
    names
}
