//! Short names for the ids that a server makes. How many it makes depends on the store, as a commit that is
//! decided again gets a new one.

/// The ids seen so far: the first is `id1`.
#[derive(Default)]
pub struct Ids(Vec<String>);

/// Ids of a test's clock are small numbers, so they begin with many zeros.
const BEGINNING: &str = "0000000000000000";
/// Characters of a ULID.
const LENGTH: usize = 26;

impl Ids {
    /// Replaces the ids in a text by their names.
    pub fn shortened(&mut self, text: &str) -> String {
        let (mut short, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(start) = rest.find(BEGINNING)
            && let Some(id) = rest.get(start..start + LENGTH)
        {
            short += &rest[..start];
            short += &self.name(id);
            rest = &rest[start + LENGTH..];
        }
        short + rest
    }

    /// The id with the given name; anything else is already an id.
    pub fn id<'a>(&'a self, name: &'a str) -> &'a str {
        let number = name.strip_prefix("id").and_then(|number| number.parse::<usize>().ok());
        let id = number.and_then(|number| self.0.get(number.checked_sub(1)?));
        id.map_or(name, String::as_str)
    }

    fn name(&mut self, id: &str) -> String {
        let place = self.0.iter().position(|seen| seen == id).unwrap_or_else(|| {
            self.0.push(id.to_owned());
            self.0.len() - 1
        });
        format!("id{}", place + 1)
    }
}
