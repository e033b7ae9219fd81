//! What took effect in the store, in order, and the naive world that does the same: the truth that everything
//! else is compared with.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use utterd::{
    domain::{Change, ChangeId, Conversation, ConversationId, LineageId, RecipientId, Revision},
    store::{Commit, Outcome, OutcomeKey, Write},
};

use crate::{
    naive::{self, Command, Doing, World},
    story::Tick,
};

/// Who made a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// An engine: one life of one process.
    Run(usize),
    /// A process that the run does not observe.
    Stranger,
}

/// A conversation after one change.
#[derive(Clone)]
pub struct Version {
    /// When it took effect.
    pub tick: Tick,
    pub by: By,
    /// The call that made it.
    pub call: Option<u64>,
    /// Its life and its revision; `None` if there is no such conversation.
    pub place: Option<(LineageId, Revision)>,
    /// The whole state. A commit with several changes only contains the last one's.
    pub state: Option<Arc<Conversation>>,
    pub change: Option<Arc<Change>>,
    /// What it must be.
    pub naive: Option<Arc<naive::Conversation>>,
}

impl Version {
    fn absent(tick: Tick, by: By) -> Self {
        Self { tick, by, call: None, place: None, state: None, change: None, naive: None }
    }

    /// Whether the conversation exists.
    pub fn exists(&self) -> bool {
        self.place.is_some()
    }
}

/// The outcome of a request id.
pub struct Kept {
    pub tick: Tick,
    pub outcome: Arc<Outcome>,
    /// The version of its conversation that it belongs to.
    pub version: usize,
}

/// Everything that took effect.
pub struct Ledger {
    pub conversations: BTreeMap<ConversationId, Vec<Version>>,
    /// The changes that took effect. A fork changes its parent without a revision.
    changes: BTreeSet<(ConversationId, ChangeId)>,
    pub pointers: BTreeMap<RecipientId, Vec<(Tick, Option<ConversationId>)>>,
    pub outcomes: BTreeMap<OutcomeKey, Kept>,
    /// The commits whose callers know that they took effect, by tick.
    pub acknowledged: BTreeSet<Tick>,
    /// Violations of the rules by commits.
    pub wrongs: Vec<String>,
    /// What must be stored now.
    pub world: World,
    /// What had to be stored after each change.
    pub worlds: Vec<(Tick, World)>,
    /// Whether a model writes summaries.
    pub has_teller: bool,
    /// The calls with a request id.
    named: BTreeMap<String, Asked>,
    /// The calls without one that may still take effect.
    unnamed: BTreeMap<u64, Asked>,
    /// The calls that asked for a change for which others asked too: which one made it is not known.
    unsure: BTreeSet<u64>,
}

/// What a call asks for.
#[derive(Clone)]
struct Asked {
    /// The number of the call, and when it was made first.
    call: Option<(u64, Tick)>,
    /// The engines that it was made to.
    runs: Vec<usize>,
    command: Command,
}

/// A commit that takes effect.
struct Taken<'a> {
    commit: &'a Commit,
    tick: Tick,
    by: By,
    /// What another process did.
    strange: Option<&'a Command>,
}

impl Ledger {
    pub fn new(world: World) -> Self {
        let (conversations, changes, pointers, outcomes, acknowledged) = Default::default();
        let (wrongs, has_teller, named, unnamed, unsure) = Default::default();
        let worlds = vec![(0, world.clone())];
        Self {
            conversations,
            changes,
            pointers,
            outcomes,
            acknowledged,
            wrongs,
            world,
            worlds,
            has_teller,
            named,
            unnamed,
            unsure,
        }
    }

    /// The versions of a conversation, the first of which is before it ever existed.
    pub fn versions(&self, id: &ConversationId) -> Vec<Version> {
        let mut versions = vec![Version::absent(0, By::Stranger)];
        versions.extend(self.conversations.get(id).into_iter().flatten().cloned());
        versions
    }

    /// Whether a change of a conversation took effect.
    pub fn took(&self, id: &ConversationId, change: ChangeId) -> bool {
        self.changes.contains(&(id.clone(), change))
    }

    /// The state that is stored now.
    pub fn newest(&self, id: &ConversationId) -> Option<&Version> {
        self.conversations.get(id)?.last().filter(|version| version.exists())
    }

    /// What was active for a recipient, and since when.
    pub fn pointers(&self, recipient: &RecipientId) -> Vec<(Tick, Option<ConversationId>)> {
        let mut pointers = vec![(0, None)];
        pointers.extend(self.pointers.get(recipient).into_iter().flatten().cloned());
        pointers
    }

    /// What is active for a recipient now.
    pub fn active(&self, recipient: &RecipientId) -> Option<ConversationId> {
        self.pointers.get(recipient)?.last()?.1.clone()
    }

    /// What is active for each recipient once a commit has taken effect.
    fn active_with(&self, commit: &Commit) -> BTreeMap<String, String> {
        let before = self.pointers.iter().filter_map(|(recipient, list)| Some((recipient, &list.last()?.1)));
        let moved = commit.pointers.iter().map(|pointer| (&pointer.recipient.id, &pointer.after));
        let all: BTreeMap<_, _> = before.chain(moved).collect();
        let named = |(recipient, id): (&RecipientId, &Option<ConversationId>)| {
            Some((recipient.to_string(), id.as_ref()?.to_string()))
        };
        all.into_iter().filter_map(named).collect()
    }

    /// A call is made to an engine, and may take effect.
    pub fn begin(&mut self, number: u64, run: usize, command: &Command, request: Option<&str>, tick: Tick) {
        let asked = || Asked { call: Some((number, tick)), runs: Vec::new(), command: command.clone() };
        let asked = match request {
            Some(request) => self.named.entry(request.to_owned()).or_insert_with(asked),
            None => self.unnamed.entry(number).or_insert_with(asked),
        };
        asked.runs.push(run);
    }

    /// A call without a request id will not take effect any more.
    pub fn give_up(&mut self, number: u64) {
        self.unnamed.remove(&number);
    }

    /// Records a commit that took effect.
    pub fn take(&mut self, commit: &Commit, tick: Tick, by: By, strange: Option<&Command>) {
        let taken = Taken { commit, tick, by, strange };
        self.follow(&taken);
        for pointer in &commit.pointers {
            let before = self.active(&pointer.recipient.id);
            if before != pointer.before {
                self.wrongs.push(format!("{tick}: {before:?} was overwritten as active"));
            }
            if before != pointer.after {
                let changes = self.pointers.entry(pointer.recipient.id.clone()).or_default();
                changes.push((tick, pointer.after.clone()));
            }
        }
        for (key, outcome) in &commit.outcomes {
            let kept = Kept { tick, outcome: outcome.clone(), version: self.version_of(outcome) };
            if self.outcomes.insert(key.clone(), kept).is_some() {
                self.wrongs.push(format!("{tick}: {} took effect twice", key.request));
            }
        }
        self.compare(&taken);
    }

    /// The place of the version that an outcome belongs to, as [`Self::versions`] counts.
    fn version_of(&self, outcome: &Outcome) -> usize {
        let revision = |version: &Version| version.place.map(|(_, revision)| revision);
        let versions = self.conversations.get(&outcome.conversation);
        let place =
            versions.and_then(|all| all.iter().rposition(|one| revision(one) == Some(outcome.revision)));
        place.map_or(0, |place| place + 1)
    }

    /// Lets the naive world do what the commit did: each of its changes is what one call asks for, or follows
    /// from another change of the commit.
    fn follow(&mut self, taken: &Taken<'_>) {
        let mut rest: Vec<_> = taken.commit.writes.iter().map(|write| (write, changes(write))).collect();
        // what starts is what was asked for; what ends makes room for it, and a recipient's own state comes with it
        rest.sort_by_key(|(write, _)| (write.key().id.is_of_state(), write.before().is_some()));
        rest.iter().for_each(|(write, _)| self.check_before(taken, write));
        loop {
            let mut why = None;
            let before = rest.iter().map(|(_, changes)| changes.len()).sum::<usize>();
            for (write, changes) in &mut rest {
                while !changes.is_empty() {
                    match self.explain(taken, write, changes) {
                        Ok(()) => drop(changes.remove(0)),
                        Err(error) => {
                            why.get_or_insert(error);
                            break;
                        }
                    }
                }
            }
            rest.retain(|(_, changes)| !changes.is_empty());
            match why {
                Some(why) if rest.iter().map(|(_, changes)| changes.len()).sum::<usize>() == before => {
                    return self.wrongs.push(format!("{}: no call asks for this: {why}", taken.tick));
                }
                _ if rest.is_empty() => return,
                _ => {}
            }
        }
    }

    /// A change must apply to the state that is stored.
    fn check_before(&mut self, taken: &Taken<'_>, write: &Write) {
        let id = &write.key().id;
        self.changes.extend(write.after().map(|after| (id.clone(), after.head.change)));
        let known = self.newest(id).and_then(|known| known.state.clone());
        if known.as_ref() != write.before() {
            self.wrongs.push(format!("{}: {id} was changed from a state that it was not in", taken.tick));
        }
        match write.after() {
            None => {
                self.world.delete(id.as_str());
                self.push(taken, id, Version::absent(taken.tick, taken.by));
            }
            // it was forked: nothing of it changes but the branch that it writes to
            Some(after) if known.is_some_and(|known| known.head.revision == after.head.revision) => {
                let newest = self.conversations.get_mut(id).and_then(|all| all.last_mut());
                newest.into_iter().for_each(|newest| newest.state = Some(after.clone()));
            }
            Some(_) => {}
        }
    }

    /// Finds what asked for the first of these changes, and does it; or says why nothing did.
    fn explain(&mut self, taken: &Taken<'_>, write: &Write, changes: &[Arc<Change>]) -> Result<(), String> {
        let (change, rest) = changes.split_first().expect("a change");
        let (id, revision, last) = (write.key().id.clone(), change.before.next(), rest.is_empty());
        let after = write.after().expect("the state after a change");
        let is_done = match id.is_of_state() {
            // what was said with it was done in one go
            true => revision_in(&self.world, after) >= revision.get(),
            false => revision_in(&self.world, after) == revision.get(),
        };
        if is_done {
            // it was decided by itself, a little later
            let ends = write.before().is_none_or(|before| before.head.ended.is_none());
            self.world.learn_time(id.as_str(), after.head.update_time.0, ends);
            self.note(taken, write, change, last, None);
            return Ok(());
        }
        let mut why = format!("a change of {id} to revision {revision}");
        let mut worlds = Vec::new();
        for asked in self.asked(taken, &id, revision) {
            for tried in self.tried(&self.world, taken, &asked, after, change) {
                match tried {
                    Ok(world) => worlds.push((asked.call, world)),
                    Err(error) => why += &format!("; call {:?} {error}", asked.call),
                }
            }
        }
        // of several that do the same, one may lead to what is stored
        let number = |(call, _): &(Option<(u64, Tick)>, World)| call.map(|(number, _)| number);
        let several = is_several(write);
        // those of a recipient's own state also come with what is said
        let is_open = id.is_of_state() && !last;
        let fits = |made: &&(_, World)| {
            is_open || self.leads(taken, after, &made.1, (rest, &mut Vec::from_iter(number(made))), several)
        };
        let so: Vec<_> = worlds.iter().filter(fits).cloned().collect();
        let calls: BTreeSet<_> = so.iter().map(number).collect();
        if calls.len() > 1 {
            self.unsure.extend(calls.into_iter().flatten());
        }
        let almost = worlds.into_iter().filter(|_| !id.is_of_state());
        let made = so.into_iter().chain(almost).next().ok_or(why)?;
        let sure = number(&made).filter(|number| !self.unsure.contains(number));
        self.world = made.1;
        sure.into_iter().for_each(|number| self.give_up(number));
        self.note(taken, write, change, last, sure);
        Ok(())
    }

    /// Whether calls that are not among `made` can make the `rest` of the changes, which lead from `world` to what is
    /// stored.
    fn leads(
        &self,
        taken: &Taken<'_>,
        after: &Conversation,
        world: &World,
        (rest, made): (&[Arc<Change>], &mut Vec<u64>),
        several: bool,
    ) -> bool {
        let Some((change, rest)) = rest.split_first() else {
            let mut world = world.clone();
            if several {
                world.learn_times(after);
            }
            return world.compare(after).is_ok() && world.active == self.active_with(taken.commit);
        };
        self.asked(taken, &after.key().id, change.before.next()).into_iter().any(|asked| {
            let number = asked.call.map(|(number, _)| number);
            if number.is_some_and(|number| made.contains(&number)) {
                return false;
            }
            made.extend(number);
            let mut tried = self.tried(world, taken, &asked, after, change).into_iter().flatten();
            let leads = tried.any(|next| self.leads(taken, after, &next, (rest, made), several));
            made.truncate(made.len() - usize::from(number.is_some()));
            leads
        })
    }

    /// The world after what was asked for in `before`, at each time when that may have been, if it makes a change.
    fn tried(
        &self,
        before: &World,
        taken: &Taken<'_>,
        asked: &Asked,
        after: &Conversation,
        change: &Change,
    ) -> Vec<Result<World, String>> {
        let since = asked.call.map_or(taken.tick, |(_, tick)| tick);
        let command = self.aimed(&asked.command, change, since);
        let updated = before.get(after.key().id.as_str()).map(|before| before.update);
        let times = times_of(change, after, &command, updated).into_iter();
        times.map(|time| self.tried_at(time, before, taken, (&command, since), after, change)).collect()
    }

    /// The world after a command, called at `since`, in `before`, if that makes a change.
    fn tried_at(
        &self,
        time: i64,
        before: &World,
        taken: &Taken<'_>,
        (command, since): (&Command, Tick),
        after: &Conversation,
        change: &Change,
    ) -> Result<World, String> {
        let (mut world, id) = (before.clone(), after.key().id.as_str());
        if after.key().id.is_of_state() != matches!(command.doing, Doing::Own(_)) {
            return Err("is of another kind".to_owned());
        }
        let recipient = &after.head.identity.recipient;
        let had_others = || self.worlds_since(since).any(|world| world.has_any(recipient.as_str()));
        let is_heard = change.before.next().get() == 1 && had_others();
        world.heard = is_heard.then(|| (&after.head.policy).into());
        let done = world.take(command, time, id);
        let facts = done.map_err(|reason| format!("must be refused as {reason}"))?;
        if revision_in(&world, after) != change.before.next().get() {
            return Err(format!("must change {} to revision {}", facts.id, facts.revision));
        }
        if !after.key().id.is_of_state() {
            facts.compare(change)?;
            let before = before.get(id).map(|before| &**before);
            world.get(id).map_or(Ok(()), |one| one.compare_words(change, before))?;
        }
        world.learn(id, change.appended.iter().map(|one| (one.sequence.get(), one.id_text())));
        if matches!(command.doing, Doing::Create { .. }) {
            world.learn_start(id, after.head.identity.start_time.0);
        }
        let is_left = taken.commit.pointers.iter().all(|pointer| pointer.recipient.id != *recipient);
        let had_one = |world: &World| world.active.contains_key(recipient.as_str());
        if facts.started && is_left && self.worlds_since(since).any(had_one) {
            world.learn_inactive(id);
        }
        Ok(world)
    }

    /// The command, if it is a fork by recipient, for the conversation that was active when it was looked up.
    fn aimed(&self, command: &Command, change: &Change, since: Tick) -> Command {
        let mut command = command.clone();
        if let (Some(parent), None) = (&change.inherits, &command.conversation) {
            let parent = parent.id.to_string();
            let recipient = command.recipient.as_deref().unwrap_or("default");
            let was_active = |world: &World| world.active.get(recipient) == Some(&parent);
            if self.worlds_since(since).any(was_active) {
                command.conversation = Some(parent);
            }
        }
        command
    }

    /// The worlds that a call since then might have seen.
    fn worlds_since(&self, tick: Tick) -> impl Iterator<Item = &World> {
        let first = self.worlds.partition_point(|(at, _)| *at <= tick).saturating_sub(1);
        self.worlds[first..].iter().map(|(_, world)| world)
    }

    /// What may have asked for a change.
    fn asked(&self, taken: &Taken<'_>, id: &ConversationId, revision: Revision) -> Vec<Asked> {
        let uncalled = |command: Command| Asked { call: None, runs: Vec::new(), command };
        if let Some(strange) = taken.strange {
            return vec![uncalled(strange.clone())];
        }
        let is_kept = |outcome: &Outcome| {
            let is_own = outcome.conversation.is_of_state() && id.is_of_state();
            (outcome.conversation == *id || is_own) && outcome.revision == revision
        };
        let kept = taken.commit.outcomes.iter().filter(|(_, outcome)| is_kept(outcome));
        let named = kept.filter_map(|(key, _)| self.named.get(key.request.as_str()));
        // a model writes when it likes
        let (conversation, doing) = (Some(id.to_string()), Doing::Tell);
        let tell = Command { conversation, recipient: None, expected: None, doing };
        let tell = self.has_teller.then(|| uncalled(tell));
        let is_here = |asked: &&Asked| asked.runs.iter().any(|run| By::Run(*run) == taken.by);
        let all = named.chain(self.unnamed.values().filter(is_here)).cloned();
        all.flat_map(|asked| [Some(asked.clone()), self.started(asked)]).flatten().chain(tell).collect()
    }

    /// The same call if it finds nothing to replace, and starts a conversation: it may then find another that was
    /// started meanwhile.
    fn started(&self, asked: Asked) -> Option<Asked> {
        let Asked { call, runs, mut command } = asked;
        let since = call.map_or(0, |(_, tick)| tick);
        let was_there = self.worlds_since(since).all(|world| world.find(&command).is_some());
        let Doing::Memorize(said) = &mut command.doing else { return None };
        let replaces = said.after.take().is_some();
        (replaces && !was_there).then_some(Asked { call, runs, command })
    }

    /// Records a change that the naive world has made too.
    fn note(
        &mut self,
        taken: &Taken<'_>,
        write: &Write,
        change: &Arc<Change>,
        last: bool,
        call: Option<u64>,
    ) {
        let (id, after) = (&write.key().id, write.after().expect("the state after a change"));
        if last && is_several(write) {
            self.world.learn_times(after);
        }
        if last {
            let items = after.summary.segments().iter().flat_map(|segment| &segment.items);
            let told = items.map(|item| format!("{} {} {}\n", item.head, item.text, item.note));
            self.world.hear_summary(id.as_str(), told.collect());
        }
        let version = Version {
            tick: taken.tick,
            by: taken.by,
            call,
            place: Some((after.head.identity.lineage, change.before.next())),
            state: last.then(|| after.clone()),
            change: Some(change.clone()),
            naive: self.world.get(id.as_str()).cloned(),
        };
        self.push(taken, id, version);
    }

    fn push(&mut self, taken: &Taken<'_>, id: &ConversationId, version: Version) {
        self.conversations.entry(id.clone()).or_default().push(version);
        self.worlds.push((taken.tick, self.world.clone()));
    }

    /// What is stored must be what the naive world has.
    fn compare(&mut self, taken: &Taken<'_>) {
        for write in &taken.commit.writes {
            let (Some(after), id) = (write.after(), &write.key().id) else { continue };
            let compared = self.world.compare(after);
            self.wrongs.extend(compared.err().map(|how| format!("{}: {id}: {how}", taken.tick)));
        }
        let active = self.active_with(taken.commit);
        if active != self.world.active {
            let must = &self.world.active;
            self.wrongs.push(format!("{}: active are {active:?}; must be {must:?}", taken.tick));
        }
        self.compare_revisions(taken.tick);
    }

    /// Everything that must have changed is stored, and nothing else; what follows from the first fault is not told.
    fn compare_revisions(&mut self, tick: Tick) {
        let newest = |(id, versions): (&ConversationId, &Vec<Version>)| {
            Some((id.to_string(), versions.last()?.place?.1.get())).filter(|_| !id.is_of_state())
        };
        let stored: BTreeMap<_, _> = self.conversations.iter().filter_map(newest).collect();
        let all = self.world.conversations.iter().map(|(id, one)| (id.clone(), one.revision));
        let must: BTreeMap<_, _> = all.collect();
        if stored != must && self.wrongs.is_empty() {
            self.wrongs.push(format!("{tick}: the revisions are {stored:?}; must be {must:?}"));
        }
    }
}

fn revision_in(world: &World, of: &Conversation) -> u64 {
    let id = &of.key().id;
    match id.is_of_state() {
        true => world.own(of.head.identity.recipient.as_str()).revision,
        false => world.get(id.as_str()).map_or(0, |naive| naive.revision),
    }
}

/// When a change may have been decided: in a batch, only the last one's time is known, and those of what was said. A
/// message that only replaces utterances has no time of its own: before the last change it came between that one and
/// the change `before` it.
fn times_of(change: &Change, after: &Conversation, command: &Command, before: Option<i64>) -> Vec<i64> {
    let last = after.head.update_time.0;
    let Doing::Memorize(said) = &command.doing else { return vec![last] };
    let is_last = change.before.next() == after.head.revision;
    let is_own_time = said.drafts.iter().all(|draft| draft.create_time.is_none());
    match change.appended.first() {
        Some(first) if is_own_time => vec![first.create_time.0],
        None if !is_last => before.into_iter().chain([last]).collect(),
        _ => vec![last],
    }
}

/// Whether a write has several changes.
fn is_several(write: &Write) -> bool {
    matches!(write, Write::Change { changes, .. } if changes.len() > 1)
}

/// The changes of a write in order; none if it only freezes a branch.
fn changes(write: &Write) -> Vec<Arc<Change>> {
    match write {
        Write::Change { changes, after, .. } => {
            let is_change = |change: &&Arc<Change>| change.before < after.head.revision;
            changes.iter().filter(is_change).cloned().collect()
        }
        Write::Delete { .. } => Vec::new(),
    }
}

/// A state without what forks of it change: where its utterances are stored.
pub fn shown(state: &Conversation) -> Conversation {
    let mut shown = state.clone();
    let head = &mut shown.head;
    (head.change, head.trunks, head.fresh_branch) = Default::default();
    head.branch = head.identity.lineage;
    shown
}
