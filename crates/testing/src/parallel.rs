//! Work on all processors.

use std::sync::Mutex;

/// Works on `items` with all processors; each takes the next item when it has finished one.
///
/// # Panics
/// Where `work` does.
pub fn in_parallel<I>(items: I, work: impl Fn(I::Item) + Sync)
where
    I: IntoIterator<IntoIter: Send>,
{
    let next = Mutex::new(items.into_iter());
    let one = || next.lock().expect("taking one does not panic").next();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(item) = one() {
                    work(item);
                }
            });
        }
    });
}
