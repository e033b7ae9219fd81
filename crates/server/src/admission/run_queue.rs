//! Decides whether a worker is overloaded, and which calls it turns away then.

use std::{mem, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    board::{Board, Overload},
    shares::Shares,
};
use utterd_domain::limits::{LEAST_OVERLOAD, OVERLOAD_WAIT, OVERLOAD_WINDOW, STANDING_WAIT};

/// The state of one worker's queue of calls that wait for its thread. It has no clock: callers pass the time.
///
/// - Nothing is turned away while a long queue gets shorter again: so a burst of many calls is served, and so are
///   thousands of callers that each wait for an answer before they call again.
/// - The worker is overloaded once a call has waited for half a second, and either at least as many calls wait behind
///   it as waited before it, or it arrived after another had waited that long.
/// - A queue of fewer than 64 calls is not overload: something else delays the thread.
/// - Under overload, a call is admitted if it waited for at most 2 ms, or if its caller asks for less than an even
///   share of what all workers serve, so that many calls of one caller do not displace the few of another.
/// - A quarter of the usual number of calls is served however long they waited, so that not all time goes to turning
///   calls away.
/// - The overload ends after the first 50 ms in which no call waited that long and nearly all calls that arrived were
///   admitted, or in which there was nothing to do.
#[derive(Debug)]
pub struct RunQueue {
    window: Window,
    shares: Shares,
    long_waits: Option<LongWaits>,
    board: Arc<Board>,
    /// The overload, while there is one.
    overload: Option<Overload>,
    /// The calls admitted in the last window without overload.
    usual: u32,
    /// All calls that ever arrived, and all that had their turn.
    arrived: u64,
    turned: u64,
    /// When a call last arrived or had its turn.
    last: Instant,
}

/// When a call arrived, and how many calls had arrived and had their turn by then.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    came: Instant,
    waits_since: Instant,
    arrived: u64,
    turned: u64,
    /// Whether no call had arrived or had its turn for a whole window.
    after_silence: bool,
}

impl Ticket {
    /// Restarts the wait at `now`, as the call had to wait for its client.
    pub fn wait(&mut self, now: Instant) {
        self.waits_since = now;
        // a part of the request that was handled in time does not show that other waiting calls are
        self.after_silence = false;
    }
}

/// A period in which calls waited for long.
#[derive(Debug)]
struct LongWaits {
    since: Instant,
    last: Instant,
}

/// What happened in one window.
#[derive(Debug)]
struct Window {
    started: Instant,
    arrived: u32,
    admitted: u32,
    longest_wait: Duration,
}

impl RunQueue {
    /// The queue of a new worker, which shares `board` with the others.
    pub fn new(board: Arc<Board>, now: Instant) -> Self {
        let (long_waits, overload, usual, arrived, turned) = Default::default();
        let (window, shares) = (Window::starting(now), Shares::new(board.clone(), now));
        Self { window, shares, long_waits, board, overload, usual, arrived, turned, last: now }
    }

    /// Notes the arrival of a call, which then waits for its turn.
    pub fn arrive(&mut self, now: Instant) -> Ticket {
        let after_silence = now.saturating_duration_since(self.last) >= OVERLOAD_WINDOW;
        self.move_on(now);
        self.window.arrived += 1;
        self.arrived += 1;
        Ticket { came: now, waits_since: now, arrived: self.arrived, turned: self.turned, after_silence }
    }

    /// Whether a call is turned away although its request is incomplete: it waited too long, and its turn would be
    /// refused now.
    pub fn turns_away(&mut self, now: Instant, ticket: Ticket, caller: u64) -> bool {
        self.move_on(now);
        let waited = now.saturating_duration_since(ticket.waits_since);
        !self.is_in_time(now, waited) && !self.turn(now, ticket, Some(caller), false)
    }

    /// Notes that a call no longer waits for its turn.
    pub fn leave(&mut self) {
        self.turned += 1;
    }

    /// Gives a call its turn; returns whether it is admitted. A call without a caller always is. A call that `adds` to
    /// a store that is behind is treated as if the worker were overloaded.
    pub fn turn(&mut self, now: Instant, ticket: Ticket, caller: Option<u64>, adds: bool) -> bool {
        self.move_on(now);
        self.turned += 1;
        let waited = now.saturating_duration_since(ticket.waits_since);
        if ticket.after_silence && waited <= OVERLOAD_WAIT {
            self.end_overload();
        }
        if waited > STANDING_WAIT && !self.is_overloaded() {
            self.note_long_wait(now, ticket);
        }
        let is_admitted = (self.is_in_time(now, waited) && !adds)
            || caller.is_none_or(|caller| self.shares.is_modest(now, caller));
        self.window.count(waited, is_admitted);
        // a worker that keeps up also publishes what callers get from it
        let matters = waited > OVERLOAD_WAIT || adds || self.board.has_overload();
        if let Some(caller) = caller.filter(|_| matters) {
            self.shares.count(now, caller, is_admitted);
        }
        is_admitted
    }

    /// Whether calls are turned away.
    pub fn is_overloaded(&self) -> bool {
        self.overload.is_some()
    }

    fn is_in_time(&self, now: Instant, waited: Duration) -> bool {
        !self.is_overloaded() || waited <= OVERLOAD_WAIT || self.serves_too_little(now)
    }

    /// Whether less was admitted in this window than a quarter of what is usual by this time.
    fn serves_too_little(&self, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.window.started).as_secs_f64();
        let usual = f64::from(self.usual) * elapsed / OVERLOAD_WINDOW.as_secs_f64();
        f64::from(self.window.admitted) < (usual / 4.0).floor()
    }

    fn note_long_wait(&mut self, now: Instant, ticket: Ticket) {
        let (before, behind) = (self.turned - ticket.turned, self.arrived - ticket.arrived);
        let goes_on = |long: &&mut LongWaits| now.saturating_duration_since(long.last) <= 2 * STANDING_WAIT;
        let came_later = match self.long_waits.as_mut().filter(goes_on) {
            Some(long) => {
                long.last = now;
                ticket.came > long.since
            }
            None => {
                self.long_waits = Some(LongWaits { since: now, last: now });
                false
            }
        };
        let is_long = before.max(behind) >= LEAST_OVERLOAD;
        if is_long && (behind >= before || came_later) {
            self.overload = Some(self.board.overload());
            tracing::warn!("a worker is overloaded: calls are turned away");
        }
    }

    fn move_on(&mut self, now: Instant) {
        self.last = now;
        if now.saturating_duration_since(self.window.started) < OVERLOAD_WINDOW {
            return;
        }
        let is_bearable = self.start_window(now);
        if self.is_overloaded() && is_bearable {
            self.end_overload();
        }
    }

    fn end_overload(&mut self) {
        if self.overload.take().is_some() {
            tracing::info!("a worker is no longer overloaded");
        }
        self.long_waits = None;
    }

    /// Starts a window; returns whether the one before was bearable.
    fn start_window(&mut self, now: Instant) -> bool {
        let window = mem::replace(&mut self.window, Window::starting(now));
        let is_bearable = window.is_bearable();
        if !self.is_overloaded() {
            self.usual = window.admitted;
        }
        is_bearable
    }
}

impl Window {
    fn starting(started: Instant) -> Self {
        let (arrived, admitted, longest_wait) = Default::default();
        Self { started, arrived, admitted, longest_wait }
    }

    fn count(&mut self, waited: Duration, is_admitted: bool) {
        self.longest_wait = self.longest_wait.max(waited);
        self.admitted += u32::from(is_admitted);
    }

    /// Whether nobody waited for long, and nearly as many calls were admitted as arrived.
    fn is_bearable(&self) -> bool {
        self.longest_wait < OVERLOAD_WINDOW && self.arrived <= self.admitted + self.admitted / 20
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use rustc_hash::FxHashMap;

    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);
    const GREEDY: u64 = 1;
    const MODEST: u64 = 2;

    /// A worker that needs a fixed time for a call, and the calls that wait for it.
    struct Worker {
        queue: RunQueue,
        now: Instant,
        waiting: VecDeque<(Ticket, u64)>,
        /// Per caller: how long each admitted call had waited, and how many calls were turned away.
        admitted: FxHashMap<u64, Vec<Duration>>,
        refused: FxHashMap<u64, u32>,
    }

    impl Worker {
        fn new() -> Self {
            Self::beside(Arc::default(), Instant::now())
        }

        /// One of several workers.
        fn beside(board: Arc<Board>, now: Instant) -> Self {
            let (admitted, refused, waiting) = Default::default();
            Self { queue: RunQueue::new(board, now), now, waiting, admitted, refused }
        }

        fn arrive(&mut self, caller: u64) {
            let ticket = self.queue.arrive(self.now);
            self.waiting.push_back((ticket, caller));
        }

        /// Works for a millisecond, enough to serve `capacity` calls; turning a call away costs a tenth of serving it.
        fn work(&mut self, capacity: u32) {
            let end = self.now + MILLISECOND;
            while self.now < end
                && let Some((ticket, caller)) = self.waiting.pop_front()
            {
                let waited = self.now - ticket.waits_since;
                let admitted = self.queue.turn(self.now, ticket, Some(caller), false);
                let cost = MILLISECOND / capacity;
                match admitted {
                    true => self.admitted.entry(caller).or_default().push(waited),
                    false => *self.refused.entry(caller).or_default() += 1,
                }
                self.now += if admitted { cost } else { cost / 10 };
            }
            self.now = self.now.max(end);
        }

        /// Like [`Self::run`], but connections are read only when all calls read before have had their turn.
        fn run_by_rounds(&mut self, callers: u64, offered: u32, capacity: u32, milliseconds: u32) {
            let end = self.now + milliseconds * MILLISECOND;
            let mut last = self.now;
            while self.now < end {
                let elapsed = (self.now - last).max(MILLISECOND);
                last = self.now;
                let came = (elapsed.as_micros() * u128::from(offered) / 1_000).min(6_000);
                let came = came as u64;
                (0..came).for_each(|call| self.arrive(GREEDY + call * callers / came));
                while !self.waiting.is_empty() {
                    self.work(capacity);
                }
            }
        }

        /// Runs for `milliseconds`: in each, every caller makes its `offered` calls, and `capacity` can be served.
        fn run(&mut self, offered: &[(u64, u32)], capacity: u32, milliseconds: u32) {
            for _ in 0..milliseconds {
                for (caller, count) in offered {
                    (0..*count).for_each(|_| self.arrive(*caller));
                }
                self.work(capacity);
            }
        }

        fn refused(&self, caller: u64) -> u32 {
            self.refused.get(&caller).copied().unwrap_or(0)
        }

        fn worst(&self, caller: u64) -> Duration {
            self.admitted[&caller].iter().copied().max().unwrap_or_default()
        }

        fn forget(&mut self) {
            self.admitted.clear();
            self.refused.clear();
        }
    }

    #[test]
    fn load_that_can_be_served_is_never_refused() {
        let mut worker = Worker::new();
        worker.run(&[(GREEDY, 9)], 10, 1_000);
        assert_eq!(worker.refused(GREEDY), 0);
    }

    #[test]
    fn many_calls_at_once_are_served() {
        let mut worker = Worker::new();
        (0..10_000).for_each(|_| worker.arrive(GREEDY));
        worker.run(&[], 10, 2_000);
        assert_eq!(worker.refused(GREEDY), 0);
        assert_eq!(worker.admitted[&GREEDY].len(), 10_000);
    }

    /// Each caller waits for its answer before it calls again: the queue is long, but does not grow.
    #[test]
    fn callers_that_wait_for_their_answers_are_served() {
        let mut worker = Worker::new();
        (0..3_200).for_each(|_| worker.arrive(GREEDY));
        for _ in 0..1_000 {
            let served = worker.admitted.get(&GREEDY).map_or(0, Vec::len);
            worker.work(10);
            let served = worker.admitted[&GREEDY].len() - served;
            (0..served).for_each(|_| worker.arrive(GREEDY));
        }
        assert_eq!(worker.refused(GREEDY), 0);
    }

    #[test]
    fn overload_is_turned_away_and_what_is_admitted_waits_little() {
        let mut worker = Worker::new();
        worker.run(&[(GREEDY, 40)], 10, 3_000);
        worker.forget();
        worker.run(&[(GREEDY, 40)], 10, 1_000);
        assert!(worker.worst(GREEDY) <= OVERLOAD_WAIT, "{:?}", worker.worst(GREEDY));
        let served = worker.admitted[&GREEDY].len();
        assert!(served > 6_000, "of 10,000 that could be served {served} were");
        assert!(worker.refused(GREEDY) > 30_000);
    }

    /// A worker reads new calls only between rounds of its queue: the first call of each round has not waited.
    #[test]
    fn overload_is_noticed_when_calls_come_in_rounds() {
        let mut worker = Worker::new();
        worker.run_by_rounds(1, 40, 10, 3_000);
        worker.forget();
        worker.run_by_rounds(1, 40, 10, 1_000);
        assert!(worker.worst(GREEDY) <= 2 * OVERLOAD_WAIT, "{:?}", worker.worst(GREEDY));
        let served = worker.admitted[&GREEDY].len();
        assert!(served > 5_000, "of 10,000 that could be served {served} were");
        worker.run_by_rounds(1, 5, 10, 1_000);
        assert!(!worker.queue.is_overloaded());
    }

    /// Each round lasts several windows, and handles one connection's calls after another's.
    #[test]
    fn a_connection_that_is_read_after_others_is_not_modest() {
        let mut worker = Worker::new();
        worker.run_by_rounds(32, 40, 10, 3_000);
        worker.forget();
        worker.run_by_rounds(32, 40, 10, 2_000);
        let long = worker.admitted.values().flatten().filter(|waited| **waited > 2 * OVERLOAD_WAIT).count();
        let served: usize = worker.admitted.values().map(Vec::len).sum();
        assert!(served > 10_000 && long < served / 100, "of {served} that were served, {long} had waited");
    }

    /// Turning a call away costs a tenth of serving it, and forty times as many calls arrive as can be served.
    #[test]
    fn some_are_served_however_many_come() {
        let mut worker = Worker::new();
        worker.run_by_rounds(1, 40, 10, 3_000);
        worker.forget();
        worker.run_by_rounds(1, 400, 10, 1_000);
        let served = worker.admitted[&GREEDY].len();
        assert!(served > 2_000, "of 10,000 that could be served {served} were");
    }

    #[test]
    fn it_is_over_soon_after() {
        let mut worker = Worker::new();
        worker.run(&[(GREEDY, 40)], 10, 3_000);
        assert!(worker.queue.is_overloaded());
        worker.run(&[(GREEDY, 5)], 10, 200);
        worker.forget();
        worker.run(&[(GREEDY, 5)], 10, 1_000);
        assert_eq!(worker.refused(GREEDY), 0);
        assert!(!worker.queue.is_overloaded());
    }

    /// The last of a crowd is turned away or gives up; a caller that comes long after is not affected.
    #[test]
    fn it_is_over_once_nothing_is_left_to_do() {
        let mut worker = Worker::new();
        worker.run(&[(GREEDY, 40)], 10, 3_000);
        worker.waiting.clear();
        worker.now += OVERLOAD_WINDOW;
        worker.forget();
        (0..1_000).for_each(|_| worker.arrive(MODEST));
        worker.run(&[], 10, 200);
        assert_eq!(worker.refused(MODEST), 0);
    }

    #[test]
    fn the_few_calls_of_one_caller_are_admitted_beside_the_many_of_another() {
        let mut worker = Worker::new();
        worker.run(&[(GREEDY, 40), (MODEST, 1)], 10, 3_000);
        worker.forget();
        worker.run(&[(GREEDY, 40), (MODEST, 1)], 10, 1_000);
        assert_eq!(worker.refused(MODEST), 0);
        assert!(worker.refused(GREEDY) > 25_000);
        assert!(worker.worst(MODEST) <= 2 * OVERLOAD_WAIT, "{:?}", worker.worst(MODEST));
    }

    /// Runs workers side by side, each with its own calls. No caller is always the first.
    fn run_beside(workers: &mut [(Worker, Vec<(u64, u32)>)], capacity: u32, milliseconds: u32) {
        for _ in 0..milliseconds {
            for (worker, offered) in &mut *workers {
                offered.rotate_left(1);
                worker.run(offered, capacity, 1);
            }
        }
    }

    /// Callers with connections to both workers are served by each, so a fair share is one of both. The modest caller
    /// asks for less than that, and for more than an even share of its only worker.
    #[test]
    fn a_share_is_one_of_all_workers() {
        let (board, now) = (Arc::<Board>::default(), Instant::now());
        let greedy = [(11, 10), (12, 10), (13, 10), (14, 10)];
        let with_modest = [&greedy[..], &[(MODEST, 2)]].concat();
        let mut workers = [
            (Worker::beside(board.clone(), now), with_modest),
            (Worker::beside(board.clone(), now), greedy.to_vec()),
        ];
        run_beside(&mut workers, 10, 4_000);
        workers.iter_mut().for_each(|(worker, _)| worker.forget());
        run_beside(&mut workers, 10, 2_000);
        let served = |worker: &Worker| worker.admitted.values().map(Vec::len).sum::<usize>();
        let (here, both) = (served(&workers[0].0), served(&workers[0].0) + served(&workers[1].0));
        assert!(here / 5 < 4_000 && 4_000 < both / 5, "{here} and {both} served make another case");
        assert_eq!(workers[0].0.refused(MODEST), 0);
        assert!(workers.iter().all(|(worker, _)| worker.refused(14) > 0));
        drop(workers);
        assert!(!board.has_overload());
    }

    /// Calls that one worker serves for callers of its own do not make another worker admit more than it can serve.
    #[test]
    fn callers_of_other_workers_raise_no_share() {
        let (board, now) = (Arc::<Board>::default(), Instant::now());
        let many = (11..21).map(|caller| (caller, 2)).collect();
        let mut workers =
            [(Worker::beside(board.clone(), now), vec![(GREEDY, 40)]), (Worker::beside(board, now), many)];
        run_beside(&mut workers, 10, 4_000);
        workers.iter_mut().for_each(|(worker, _)| worker.forget());
        run_beside(&mut workers, 10, 2_000);
        let waited: Vec<_> = workers[1].0.admitted.values().flatten().copied().collect();
        let long = waited.iter().filter(|waited| **waited > 2 * OVERLOAD_WAIT).count();
        assert!(
            waited.len() > 10_000 && long < waited.len() / 20,
            "of {} served, {long} waited",
            waited.len()
        );
    }

    /// A worker that stalled for a second is not overloaded by the calls that arrived meanwhile.
    #[test]
    fn a_stall_is_no_overload() {
        let mut worker = Worker::new();
        worker.run(&[(GREEDY, 5)], 10, 100);
        worker.now += 1_000 * MILLISECOND;
        (0..5_000).for_each(|_| worker.arrive(GREEDY));
        worker.run(&[(GREEDY, 5)], 10, 2_000);
        assert_eq!(worker.refused(GREEDY), 0);
    }

    #[test]
    fn what_has_no_caller_is_always_admitted() {
        let mut worker = Worker::new();
        worker.run(&[(GREEDY, 40)], 10, 3_000);
        let ticket = worker.queue.arrive(worker.now);
        worker.now += 10 * OVERLOAD_WAIT;
        assert!(worker.queue.turn(worker.now, ticket, None, false));
        assert!((0..1_000).any(|_| !worker.queue.turn(worker.now, ticket, Some(GREEDY), false)));
    }
}
