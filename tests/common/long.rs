//! What is tested every day, and what in the long run. Tests of crates take this file by its path.
#![allow(dead_code)] // each test binary uses its share

/// Whether everything is tested, or a sample that leaves a day's work quick: `RINGFORGE_LONG=1`.
pub fn long() -> bool {
    match std::env::var("RINGFORGE_LONG").as_deref() {
        Ok("1") => true,
        Ok("") | Err(std::env::VarError::NotPresent) => false,
        other => panic!("RINGFORGE_LONG is 1, or not set; it is {other:?}"),
    }
}

/// All of `items` in the long run, else those at the places `daily`.
pub fn sample<T: Clone>(items: &[T], daily: &[usize]) -> Vec<T> {
    if long() { items.to_vec() } else { daily.iter().map(|&i| items[i].clone()).collect() }
}
