//! The certificate of an object that multiplies through three primes: accepted as the search writes it, and
//! refused wherever a condition of the rules *congruent forms* and *Chinese remainder theorem* fails.
//!
//! The object in `several_primes` was made by `ringforge forge "Z4591[x]/(x^2 - x - 1)" --plan small.plan
//! --target avx2 --cc gcc --name small`. What the search writes for it is compared with the certificate by
//! `crates/prove/tests/digits.rs`, which rewrites it with `RINGFORGE_BLESS=1`.

use ringforge_contract::Contract;
use ringforge_kernel::check::{Accepted, Limits, Rejected, recheck};
use ringforge_machine::Object;

const OBJECT: &[u8] = include_bytes!("several_primes/small.o");
const CONTRACT: &str = include_str!("several_primes/contract.toml");
const CERTIFICATE: &str = include_str!("several_primes/certificate.txt");

/// 2017·2113·2593 is more than twice 2·2295² and what the digits are beside the integers.
const PRIMES: [&str; 3] = ["2017", "2113", "2593"];

fn replayed(contract: &str, lines: &[String]) -> Result<Accepted, Rejected> {
    let contract = Contract::parse(contract).expect("a contract");
    let object = Object::parse(OBJECT).expect("an object");
    let certificate = ringforge_certificate::parse(&lines.join("\n")).expect("a certificate");
    recheck(&contract, &object, &certificate, Limits::default(), &|_| true)
}

fn good() -> Vec<String> {
    CERTIFICATE.lines().map(str::to_string).collect()
}

/// The place of the n-th line that begins so.
fn place(lines: &[String], start: &str, n: usize) -> usize {
    let mut all = (0..lines.len()).filter(|&i| lines[i].starts_with(start));
    all.nth(n).unwrap_or_else(|| panic!("no line `{start}`"))
}

/// A line with the word at this place replaced.
fn with(line: &str, at: usize, word: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    assert_ne!(words[at], word, "`{line}` is not changed");
    words[at] = word;
    words.join(" ")
}

/// The word at this place of a line, plus one.
fn more(line: &str, at: usize) -> String {
    let number: i128 = line.split(' ').nth(at).and_then(|w| w.parse().ok()).expect("a number");
    with(line, at, &(number + 1).to_string())
}

/// Replayed with the lines from `at` on replaced: refused at line `refused_at` of the text, for this reason.
fn refuses(at: usize, count: usize, instead: &[String], refused_at: usize, why: &str) {
    let mut lines = good();
    let was: Vec<String> = lines.splice(at..at + count, instead.iter().cloned()).collect();
    assert_ne!(was, instead);
    match replayed(CONTRACT, &lines) {
        // Two lines of the text come before the case's first one, and lines count from 1.
        Err(Rejected::Refused(_, e)) if e.line + 1 == refused_at && e.why.contains(why) => {}
        other => panic!("line {at}, {instead:?} for {was:?}: {other:?}, not `{why}`"),
    }
}

#[test]
fn what_the_search_writes_is_accepted() {
    let accepted = replayed(CONTRACT, &good()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(accepted.equations, 3 * 3 * 2);
    assert!(accepted.replayed.names > 50, "{accepted:?}");
}

/// Rule *congruent forms*: what a tower of digits is modulo each of the primes.
#[test]
fn congruent_forms() {
    let lines = good();
    let chinese = place(&lines, "chinese ", 0);
    for (n, prime) in PRIMES.iter().enumerate() {
        let at = place(&lines, "modulo ", n);
        let line = &lines[at];
        assert_eq!(line.split(' ').nth(2), Some(*prime));
        let left = "left of a difference";
        // Another constant, another coefficient, another atom.
        refuses(at, 1, &[more(line, 3)], at, &format!("left of a difference modulo {prime}"));
        refuses(at, 1, &[more(line, 6)], at, left);
        refuses(at, 1, &[with(line, 5, "0")], at, left);
        // Another modulus: one of the others, a multiple, none.
        refuses(at, 1, &[with(line, 2, PRIMES[(n + 1) % 3])], at, left);
        let twice = 2 * prime.parse::<u32>().expect("a prime");
        refuses(at, 1, &[with(line, 2, &twice.to_string())], at, left);
        refuses(at, 1, &[with(line, 2, "1")], at, "a modulus of 1");
        // Of itself, which would be its own residue for ever.
        let name = line.split(' ').nth(1).expect("an atom");
        let itself = format!("modulo {name} {prime} 0 1 {name} 1 0");
        refuses(at, 1, &[itself], at, "a residue over later atoms");
    }
    // Without the line nothing is known modulo the last prime, for the digits before are there.
    for n in [1, 2] {
        let at = place(&lines, "modulo ", n);
        let why = format!("is not known modulo {}", PRIMES[n]);
        refuses(at, 1, &[], chinese - 1, &why);
    }
}

/// Digits that are sums of others are so by equations that are proved.
#[test]
fn equations_of_digits() {
    let lines = good();
    let near = place(&lines, "near ", 0);
    // What is not zero is no equation, even if it is a multiple of a smaller power of two.
    refuses(near, 1, &[more(&lines[near], 2)], near, "left of a difference");
    refuses(near, 1, &[with(&lines[near], 5, "-2")], near, "left of a difference");
    refuses(near, 1, &[with(&lines[near], 1, "4")], near, "is not within [-15, 15]");
    let at = (near..).find(|&i| lines[i].starts_with("modulo ")).expect("a congruence");
    let line = &lines[at];
    let words: Vec<&str> = line.split(' ').collect();
    let fact = words.iter().position(|w| *w == "fact").expect("an equation");
    let left = "left of a difference modulo 4591";
    // Another multiple of an equation, another equation, none.
    refuses(at, 1, &[more(line, fact + 2)], at, left);
    refuses(at, 1, &[with(line, fact + 1, "0")], at, "does not vanish modulo 4591");
    refuses(at, 1, &[with(line, fact + 1, "9999")], at, "no such equation yet");
    let none = [&words[..fact - 1], &["0"]].concat().join(" ");
    refuses(at, 1, &[none], at, left);
    refuses(at, 1, &[more(line, 6)], at, left);
    refuses(at, 1, &[more(line, 3)], at, left);
}

/// Rule *Chinese remainder theorem*: the mixed-radix forms are the integers.
#[test]
fn integers() {
    let lines = good();
    let at = place(&lines, "chinese ", 0);
    let words: Vec<&str> = lines[at].split(' ').collect();
    let [head, primes @ .., a0, a1] = &words[..7] else { panic!("{}", lines[at]) };
    assert_eq!((*head, primes, *a0), ("chinese", &["3", "2017", "2113", "2593"][..], "2"));
    let [a2, "2", b1, b2, "3", names @ ..] = &words[7..] else { panic!("{}", lines[at]) };
    let line = |primes: &str, left: &str, right: &str| {
        vec![format!("chinese {primes} {left} {right} 3 {}", names.join(" "))]
    };
    let all = "3 2017 2113 2593";
    let (left, right) = (format!("2 {a1} {a2}"), format!("2 {b1} {b2}"));
    assert_eq!(line(all, &left, &right), [lines[at].clone()]);
    // Moduli that do not cover the integers, that have a common divisor, in which nothing is known.
    for some in ["2 2017 2113", "2 2113 2593", "1 2593", "0"] {
        refuses(at, 1, &line(some, &left, &right), at, "may differ from it by a multiple");
    }
    for (some, why) in [
        ("4 2017 2113 2593 2113", "is no modulus beside the others"),
        ("3 2017 2113 5186", "is not known modulo 5186"),
        ("3 2017 2113 2609", "is not known modulo 2609"),
        ("3 2017 2113 1", "a modulus of 1"),
        ("3 2147483648 2147483647 2593", "great moduli"),
    ] {
        refuses(at, 1, &line(some, &left, &right), at, why);
    }
    // Elements that are left out, or on the wrong side.
    refuses(at, 1, &line(all, &format!("1 {a1}"), &right), at, "is not known modulo 2017");
    refuses(at, 1, &line(all, &left, "0"), at, "is not known modulo 2017");
    let both = format!("4 {a1} {a2} {b1} {b2}");
    refuses(at, 1, &line(all, &both, "0"), at, "is no product of the two operands");
    // An interval too wide by as much as there is room, and none.
    let name = names[0];
    let bound = place(&lines, &format!("bound {name} "), 0);
    let wide = with(&lines[bound], 3, "5600000000000");
    refuses(bound, 1, &[wide], at, "may differ from it by a multiple");
    refuses(bound, 1, &[], at - 1, "has no interval");
}

/// Each call has a case of its name.
#[test]
fn a_case_of_another_name_is_none() {
    let text = CERTIFICATE.replacen("case disjoint", "case joint", 1);
    assert_ne!(text, CERTIFICATE);
    let lines: Vec<String> = text.lines().map(str::to_string).collect();
    let Err(Rejected::Missing(name)) = replayed(CONTRACT, &lines) else { panic!("accepted") };
    assert!(name.starts_with("disjoint"), "{name}");
}

/// What follows from the integers follows from nothing else.
#[test]
fn without_the_integers_nothing_is_known_modulo_q() {
    let mut lines = good();
    lines.remove(place(&lines, "chinese ", 0));
    let Err(Rejected::Outputs(_, why)) = replayed(CONTRACT, &lines) else { panic!("accepted") };
    assert!(why.to_string().contains("is not known modulo 4591"), "{why}");
    // Of another ring they are not what is asked for.
    let other = CONTRACT.replacen("x^2 - x - 1", "x^2 - x - 2", 1);
    assert_ne!(other, CONTRACT);
    let Err(Rejected::Outputs(_, why)) = replayed(&other, &good()) else { panic!("accepted") };
    assert!(why.to_string().contains("the coefficient of"), "{why}");
}
