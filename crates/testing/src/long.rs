//! What is tested every day, and what in the long run, which leaves out what a day's run has.

/// Whether this is the long run, `RINGFORGE_LONG=1`, or a sample that leaves a day's work quick.
///
/// # Panics
/// Where `RINGFORGE_LONG` is anything else.
pub fn long() -> bool {
    match std::env::var("RINGFORGE_LONG").as_deref() {
        Ok("1") => true,
        Ok("") | Err(std::env::VarError::NotPresent) => false,
        other => panic!("RINGFORGE_LONG is 1, or not set; it is {other:?}"),
    }
}

/// The share of `items` of this run: every day those at the places `daily`, in the long run the others. Where a test
/// has several lists, it is their product that must be shared.
///
/// # Panics
/// Where there are fewer items.
pub fn share<T: Clone>(items: &[T], daily: &[usize]) -> Vec<T> {
    let there = daily.iter().all(|&i| i < items.len());
    assert!(there, "{daily:?} of {} items", items.len());
    let long = long();
    items
        .iter()
        .enumerate()
        .filter(|(i, _)| daily.contains(i) != long)
        .map(|(_, x)| x.clone())
        .collect()
}

/// Tests of which a day runs a sample, for the long run, which takes ignored tests alone: `rest::NAME` of each runs what
/// [`long`] and [`share`] leave to it.
#[macro_export]
macro_rules! rest {
    ($($test:ident),+ $(,)?) => {
        mod rest {
            $(
                #[test]
                #[ignore = "in the long run"]
                fn $test() {
                    assert!($crate::long(), "in the long run: RINGFORGE_LONG=1, as ./test --long sets it");
                    super::$test();
                }
            )+
        }
    };
}
