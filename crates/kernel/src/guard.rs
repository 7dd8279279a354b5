//! A computation that cannot go on is a refusal.
//!
//! The kernel is compiled with checks of overflow (the workspace's Cargo.toml), so that a number that does not fit
//! its type is a panic and never another number. What panics has proved nothing.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a computation, or what it says when it panics, on this thread or on one that it waits for.
///
/// What the computation changed is not to be used after a panic: callers drop it with the case.
pub(crate) fn guarded<T>(compute: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(compute)).map_err(|panic| {
        let said = words(panic.as_ref()).unwrap_or("nothing is said why");
        format!("the kernel cannot go on: {said}")
    })
}

/// Whether this crate is compiled so. A profile belongs to who builds: the workspace's does not reach a build from a
/// registry's package, and such a kernel must not be believed.
///
/// It lets a sum overflow, so a hook for panics is called; to be asked once, with a hook that is silent.
pub fn overflow_is_a_panic() -> bool {
    let largest = std::hint::black_box(u8::MAX);
    catch_unwind(|| std::hint::black_box(largest + std::hint::black_box(1))).is_err()
}

fn words(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied())
}

#[cfg(test)]
mod tests {
    use super::{guarded, overflow_is_a_panic};
    use rayon::prelude::*;

    #[test]
    fn this_kernel_checks_its_sums() {
        assert!(overflow_is_a_panic());
    }

    #[test]
    fn a_panic_of_any_thread_is_told() {
        assert_eq!(guarded(|| 5), Ok(5));
        let one = |x: u32| if x == 700 { panic!("at {x}") } else { x };
        let told = guarded(|| (0..1000u32).into_par_iter().map(one).sum::<u32>());
        assert_eq!(told, Err("the kernel cannot go on: at 700".into()));
        let told = guarded(|| std::panic::panic_any(5));
        assert_eq!(told, Err("the kernel cannot go on: nothing is said why".into()));
    }
}
