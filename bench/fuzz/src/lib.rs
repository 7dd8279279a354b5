//! Every parser of the tool under libFuzzer: see README.md.

pub mod parsers;

use parsers::{PARSERS, Parser};
use std::sync::LazyLock;

/// The parser that `RINGFORGE_PARSER` names.
static CHOSEN: LazyLock<Parser> = LazyLock::new(|| {
    let name = std::env::var("RINGFORGE_PARSER").unwrap_or_default();
    let Some(chosen) = PARSERS.iter().find(|p| p.0 == name) else {
        let names: Vec<&str> = PARSERS.iter().map(|p| p.0).collect();
        panic!("RINGFORGE_PARSER is one of: {}", names.join(", "));
    };
    chosen.1
});

/// What libFuzzer calls, with an input.
///
/// # Safety
/// `data` points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> i32 {
    let bytes = match size {
        0 => &[],
        // SAFETY: the caller's promise.
        _ => unsafe { std::slice::from_raw_parts(data, size) },
    };
    CHOSEN(bytes);
    0
}
