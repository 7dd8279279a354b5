//! The tasks, several at a time; each result is kept as soon as it is there.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::ProgressBar;
use ringforge_prove::{Options, Verdict};

use super::cache::{self, Digests, Key};
use super::row::Row;
use super::task::Task;
use crate::signals;
use crate::ui::{Failure, Ui};

/// Bytes of stack for each thread: deep terms recurse.
const STACK: usize = 64 << 20;

/// How the tasks are proved.
#[derive(Clone, Debug)]
pub struct How {
    /// Limits.
    pub options: Options,
    /// Whether refuted objects are run on their counterexamples.
    pub confirms: bool,
    /// Tasks at the same time; one for each core if left out.
    pub jobs: Option<usize>,
    /// The directory of earlier verdicts.
    pub cache: Option<PathBuf>,
}

/// Proves all tasks. `done` gets each row with the place of its task, in whatever order they end.
///
/// # Errors
/// No thread can be started, or a task fails for a reason that is no verdict.
pub fn run(
    ui: &Ui,
    tasks: &[Task],
    how: &How,
    bar: &ProgressBar,
    done: &(dyn Fn(usize, Row) + Sync),
) -> Result<(), Failure> {
    let mut digests = Digests::default();
    let key = |task| digests.key(task, &how.options, how.confirms).filter(|_| how.cache.is_some());
    let keys: Vec<Option<Key>> = tasks.iter().map(key).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = how.jobs.unwrap_or(cores).clamp(1, tasks.len().max(1));
    let (next, warned) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failed: Mutex<Option<Failure>> = Mutex::new(None);
    let fail = |failure| {
        if let Ok(mut failed) = failed.lock() {
            failed.get_or_insert(failure);
        }
        next.store(tasks.len(), Ordering::Relaxed);
    };
    let worker = || {
        // Threads of one proof wait for each other. With a pool of its own, no proof waits for another's.
        let threads = (cores / jobs).max(1);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
        let pool = match pool {
            Ok(pool) => pool,
            Err(e) => return fail(Failure::failed(format!("cannot start threads: {e}"))),
        };
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(task), Some(key)) = (tasks.get(at), keys.get(at)) else { return };
            let earlier = how.cache.as_ref().zip(key.as_ref());
            let known = earlier.and_then(|(directory, key)| cache::find(directory, key));
            let (found, cached) = match known {
                Some(found) => (found, true),
                None => match pool.install(|| task.prove(&how.options, how.confirms)) {
                    Ok(found) => (found, false),
                    Err(failure) => return fail(failure),
                },
            };
            // After a signal, what a run on a counterexample showed may be a compiler's that was stopped.
            let stopped = signals::came().is_some();
            if stopped && found.verdict == Verdict::Refuted {
                return;
            }
            if let Some((directory, key)) = earlier.filter(|_| !cached)
                && let Err(error) = cache::keep(directory, key, &found)
                && warned.fetch_add(1, Ordering::Relaxed) == 0
            {
                ui.warn(format!("results are not kept: {error}"));
            }
            bar.inc(1);
            done(at, Row::of(task.label.clone(), found, cached, &task.parts));
            if stopped {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let thread = std::thread::Builder::new().stack_size(STACK);
            if let Err(e) = thread.spawn_scoped(scope, worker) {
                fail(Failure::failed(format!("cannot start a thread: {e}")));
            }
        }
    });
    match failed.into_inner() {
        Ok(Some(failure)) => Err(failure),
        _ => Ok(()),
    }
}
