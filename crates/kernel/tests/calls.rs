//! An object that computes in one way where c is a and in another where it is not: each call is replayed by its own
//! case, and what was replayed is counted of both.

use ringforge_contract::Contract;
use ringforge_kernel::check::{Accepted, Limits, Rejected, recheck};
use ringforge_machine::Object;

const CERTIFICATE: &str = include_str!("objects/calls.txt");

fn replayed(certificate: &str) -> Result<Accepted, Rejected> {
    let contract = Contract::parse(include_str!("objects/calls.toml")).expect("a contract");
    let object = Object::parse(include_bytes!("objects/calls.o")).expect("an object");
    let certificate = ringforge_certificate::parse(certificate).expect("a certificate");
    recheck(&contract, &object, &certificate, Limits::default(), &|_| true)
}

#[test]
fn each_call_is_replayed_and_counted() {
    let done = replayed(CERTIFICATE).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((done.calls, done.distinct), (2, 2));
    // Of both calls each of 2 coefficients at a0, a1 and 1 times b0, b1 and 1.
    assert_eq!(done.equations, 2 * 2 * 3 * 3);
    let begins = |word: &str| CERTIFICATE.lines().filter(|l| l.starts_with(word)).count();
    assert_eq!(done.replayed.lines, CERTIFICATE.lines().count() - 1 - begins("case "));
    assert_eq!(done.replayed.names, begins("name "));
    // The search wrote the same for both, a and b exchanged; nodes of the second come after those of the first.
    let (_, second) = CERTIFICATE.split_once("case c = a\n").expect("two cases");
    assert_eq!(begins("name "), 2 * second.lines().filter(|l| l.starts_with("name ")).count());
    assert!(
        done.replayed.nodes >= begins("node ") && done.replayed.nodes.is_multiple_of(2),
        "{done:?}"
    );
    assert!(
        done.replayed.enumerated >= 2 * 8 && done.replayed.enumerated.is_multiple_of(2),
        "{done:?}"
    );
}

#[test]
fn a_call_that_differs_needs_lines_of_its_own() {
    let (first, second) = CERTIFICATE.split_once("case c = a\n").expect("two cases");
    let Err(Rejected::Missing(name)) = replayed(first) else { panic!("accepted") };
    assert_eq!(name, "c = a");
    let (head, lines) = first.split_once("case disjoint\n").expect("a case");
    // Each by the other's lines, and without its last one.
    for (text, refused) in [
        (format!("{first}case c = a\n{lines}"), "c = a"),
        (format!("{head}case disjoint\n{second}case c = a\n{second}"), "disjoint"),
        (CERTIFICATE[..CERTIFICATE.trim_end().rfind('\n').expect("lines") + 1].into(), "c = a"),
    ] {
        let Err(Rejected::Refused(name, _)) = replayed(&text) else { panic!("accepted") };
        assert_eq!(name, refused);
    }
}

/// Calls in place of which the outputs are the same nodes are one case.
#[test]
fn calls_that_do_not_differ_are_replayed_once() {
    let contract = include_str!("several_primes/contract.toml");
    let contract = Contract::parse(contract).expect("a contract");
    let object = Object::parse(include_bytes!("several_primes/small.o")).expect("an object");
    let certificate = ringforge_certificate::parse(include_str!("several_primes/certificate.txt"));
    let certificate = certificate.expect("a certificate");
    let done = recheck(&contract, &object, &certificate, Limits::default(), &|_| true);
    let done = done.unwrap_or_else(|e| panic!("{e}"));
    // Disjoint, c = a and c = b, each at four alignments of the stack.
    assert_eq!((done.calls, done.distinct, done.equations), (12, 1, 2 * 3 * 3));
}
