//! What is tested every day, and what in the long run. The long run leaves out what the daily run
//! has.

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

/// The share of `items` for this run: the daily run takes those at the places `daily`, the long run
/// the others. If a test has several lists, it must share their product.
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

/// Long-run versions of tests whose daily run is a sample. The long run executes only ignored
/// tests: `rest::NAME` runs what [`long`] and [`share`] leave to it.
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
