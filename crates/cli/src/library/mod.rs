//! The C library inside the command: its sources, which KEMs it has, and packages of some of them.

mod command;
mod conditions;
mod drop_in;
mod evidence;
mod multiplier;
mod secrecy;
mod sources;
mod texts;
mod update;

pub use command::run;

include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// A file of lib/ by its path there; build.rs embeds all that are asked for.
fn file(path: &str) -> &'static str {
    FILES.iter().find(|(name, _)| *name == path).map_or("", |(_, text)| text)
}

/// The KEMs, as the configuration lists them.
pub(crate) fn kems() -> Vec<String> {
    let lines = file("include/ringforge_config.h").lines();
    let names = lines.filter_map(|line| line.strip_prefix("#ifndef RINGFORGE_ENABLE_"));
    names.filter(|name| *name != "ALL").map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_library_is_inside() {
        assert_eq!(super::kems().len(), 21);
        let missing = [
            "include/ringforge_kem.h",
            "src/common/common.h",
            "tests/kat.c",
            "generated/multipliers.txt",
        ];
        assert!(missing.iter().all(|path| super::file(path).len() > 100));
    }
}
