//! `docs/developers/methods.md` is the registry's page, and the recipe's example is in the registry.

use ringforge_plan::{METHODS, methods_page};
use std::path::Path;

#[test]
fn methods_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/developers/methods.md");
    if std::env::var_os("RINGFORGE_BLESS").is_some() {
        std::fs::write(&path, methods_page()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == methods_page(),
        "docs/developers/methods.md is stale: run this test with RINGFORGE_BLESS=1"
    );
}

#[test]
fn the_recipe_speaks_of_what_there_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/developers/add-a-method.md");
    let recipe = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(METHODS.iter().any(|m| m.name == "direct"));
    for place in
        ["crates/plan/src/direct.rs", "crates/plan/src/registry.rs", "crates/plan/src/lib.rs"]
    {
        assert!(recipe.contains(place), "the recipe does not mention {place}");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(place);
        assert!(file.exists(), "{place} is gone");
    }
}
