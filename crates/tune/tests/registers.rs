//! The descent over the sites of emitted programs.

use ringforge_plan::RingFile;
use ringforge_program::lower::lower;
use ringforge_program::schedule::Schedule;
use ringforge_targets::AVX2;
use ringforge_tune::registers::{improve, reductions};

/// What it finds is accepted, cheaper than the lowering's own placement, and minimal.
#[test]
fn kyber_s_first_ring_needs_fewer() {
    let plan = RingFile::find("kyber1").unwrap().default_plan(&AVX2).unwrap();
    let schedule = Schedule::default();
    let mut calls = 0;
    let found = improve(&plan, &schedule, &AVX2, "kyber1", 7, &mut |p| {
        calls += 1;
        p.done <= p.of
    });
    let found = found.unwrap();
    assert_eq!(calls, 21);
    assert!(found.after < found.before, "{found}");
    let with = |sites: Vec<String>| {
        lower(&plan, &Schedule { reductions: Some(sites), ..schedule.clone() }, &AVX2, "kyber1")
    };
    assert_eq!(reductions(&with(found.sites.clone()).unwrap().program), found.after);
    for i in 0..found.sites.len() {
        let mut fewer = found.sites.clone();
        let site = fewer.remove(i);
        assert!(with(fewer).is_err(), "{site} is not needed");
    }
    // The text is a schedule's line.
    let line = found.to_string();
    assert_eq!(Schedule::parse(&line).unwrap().reductions, Some(found.sites));
}

#[test]
fn a_search_can_be_ended() {
    let plan = RingFile::find("kyber1").unwrap().default_plan(&AVX2).unwrap();
    let found = improve(&plan, &Schedule::default(), &AVX2, "kyber1", 7, &mut |_| false).unwrap();
    assert!(found.after <= found.before);
}
