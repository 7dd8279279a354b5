//! What contracts say of other people's functions: in place, tables, numbers, inner products,
//! conversions, data of other objects; right and wrong, from C to verdict.

mod common;

use common::{check_witness, compile, list, told};
use ringforge_prove::{Contract, Options, Quiet, ReasonKind, Report, Verdict, prove};
use ringforge_testing::needs;
use std::time::Duration;

/// x^4 + 1 modulo 257 in linear leaves, in place, with Montgomery products.
const SOURCE: &str = r#"
#include <stdint.h>
#define Q 257
static const int16_t own[3] = {ZETAS};
extern const int16_t other[3];
int16_t written[3] = {ZETAS};
int16_t empty[3];
static inline int16_t mont(int32_t p) {
    int16_t t = (int16_t)((uint32_t)p * 65281u);
    return (int16_t)((p - (int32_t)t * Q) >> 16);
}
static inline void butterfly(int16_t *x, int16_t *y, int16_t z) {
    int16_t t = mont((int32_t)z * *y);
    *y = (int16_t)(*x - t);
    *x = (int16_t)(*x + t);
}
static inline void transform(int16_t r[4], const int16_t *z) {
    butterfly(r, r + 2, z[0]); butterfly(r + 1, r + 3, z[0]);
    butterfly(r, r + 1, z[1]); butterfly(r + 2, r + 3, z[2]);
}
void ntt(int16_t r[4]) { transform(r, own); }
void ntt_table(int16_t r[4], const int16_t *z) { transform(r, z); }
void ntt_other(int16_t r[4]) { transform(r, other); }
void ntt_written(int16_t r[4]) { transform(r, written); }
void ntt_empty(int16_t r[4]) { transform(r, empty); }
void ntt_writes(int16_t r[4]) { transform(r, written); written[0]++; }
void tomont(int16_t r[4]) { for (int i = 0; i < 4; i++) r[i] = mont((int32_t)r[i] * 1); }
void mul(int16_t a[4], const int16_t b[4]) {
    for (int i = 0; i < 4; i++) a[i] = mont((int32_t)a[i] * b[i]);
}
void inner(int16_t c[4], const int16_t *a, const int16_t *b, int count) {
    for (int i = 0; i < 4; i++) {
        int32_t s = 0;
        for (int k = 0; k < count; k++) s += (int32_t)a[4 * k + i] * b[4 * k + i];
        c[i] = mont(s);
    }
}
void product(uint16_t a[4], const uint16_t b[4]) {
    uint16_t r[4];
    for (int k = 0; k < 4; k++) {
        r[k] = 0;
        for (int i = 0; i < 4; i++)
            r[k] += (uint16_t)(i <= k ? 1 : -1) * a[i] * b[(k - i) & 3];
    }
    for (int k = 0; k < 4; k++) a[k] = r[k];
}
"#;

/// Twiddles in the Montgomery domain, where 2^16 = 1: 16 = sqrt(-1), 4 = sqrt(16), 64 = sqrt(-16).
const ZETAS: [i16; 3] = [16, 4, 64];

fn object() -> Vec<u8> {
    compile(&SOURCE.replace("ZETAS", &list(&ZETAS)), &["-O2", "-fno-tree-vectorize"])
}

fn verdict(contract: &Contract) -> Report {
    let options = Options { search: Duration::from_secs(1), ..Options::default() };
    prove(&object(), contract, &options, &mut Quiet)
}

/// A contract with the given lines and arguments.
fn contract(symbol: &str, kind: &str, lines: &str, arguments: &str) -> Contract {
    let layout = match kind {
        "scale" | "product" => String::new(),
        _ => "[transform]\ndegree = 1\nweights = [4, 253, 64, 193]\n".into(),
    };
    let ring = if kind == "product" { "Z64[x]/(x^4 + 1)" } else { "Z257[x]/(x^4 + 1)" };
    let text = format!(
        "contract = 1\nsymbol = \"{symbol}\"\nabi = \"sysv-x86-64\"\nring = \"{ring}\"\ncomputes = \"{kind}\"\n{lines}\n{layout}{arguments}"
    );
    Contract::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn array(name: &str, role: &str, length: usize, more: &str) -> String {
    format!(
        "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = {length}\n{more}\n"
    )
}

fn table(values: &[i16]) -> String {
    let values = list(values);
    format!(
        "[[argument]]\nname = \"z\"\nrole = \"table\"\nelement = \"i16\"\nvalues = [{values}]\n"
    )
}

const SMALL: &str = "range = [-256, 256]\nexit = [-770, 770]";

fn assert_proved(c: &Contract) -> Report {
    let r = verdict(c);
    assert!(r.is_proved(), "{}", told(&r));
    r
}

#[test]
fn a_transform_in_place_is_proved_and_its_exit_is_checked() {
    let make = |more: &str| contract("ntt", "forward", "", &array("r", "inout", 4, more));
    let r = assert_proved(&make(SMALL));
    let (lo, hi) = r.ranges.output.unwrap();
    // The interval at exit is neither that at entry nor wider than it must be.
    assert!(lo < -256 && hi > 256, "{lo} {hi}");
    let exact = format!("range = [-256, 256]\nexit = [{lo}, {hi}]");
    assert_proved(&make(&exact));
    let narrow = make(&format!("range = [-256, 256]\nexit = [{lo}, {}]", hi - 1));
    let r = verdict(&narrow);
    assert!(r.reasons.iter().any(|r| r.kind == ReasonKind::Range), "{}", told(&r));
    assert_ne!(r.verdict, Verdict::Proved);
    // What the entry promises is what the exit must keep, unless it says otherwise.
    assert!(!verdict(&make("range = [-256, 256]")).is_proved());
    // A wrong function in place has a counterexample.
    let swapped = contract("ntt", "inverse", "", &array("r", "inout", 4, SMALL));
    check_witness(&swapped, &verdict(&swapped));
}

#[test]
fn a_table_is_what_the_contract_lists() {
    let make = |values: &[i16]| {
        let arguments = array("r", "inout", 4, SMALL) + &table(values);
        contract("ntt_table", "forward", "", &arguments)
    };
    let r = assert_proved(&make(&ZETAS));
    assert!(r.assumptions.iter().any(|a| a.starts_with("z points to [16, 4, 64]")));
    // Congruent constants would do as well.
    assert_proved(&make(&[16, 4, 64 - 257]));
    let wrong = make(&[16, 4, 65]);
    check_witness(&wrong, &verdict(&wrong));
    // A table that ends early is read beyond its end.
    let short = verdict(&make(&ZETAS[..2]));
    assert_eq!(short.verdict, Verdict::Refuted, "{}", told(&short));
    assert!(short.reasons.iter().any(|r| r.kind == ReasonKind::Memory), "{}", told(&short));
    // Nobody writes to a table.
    let into = array("t", "input", 4, "range = [-1, 1]").replace("input", "inout");
    let written = contract("ntt_table", "scale", "", &(table(&[1, 2, 3, 4]) + &into));
    let r = verdict(&written);
    assert!(r.reasons.iter().any(|r| r.kind == ReasonKind::Memory), "{}", told(&r));
}

#[test]
fn data_of_another_object_is_what_the_contract_gives() {
    let make = |given: &str| {
        contract("ntt_other", "forward", "", &(array("r", "inout", 4, SMALL) + given))
    };
    let given =
        |z: &str| format!("[[given]]\nsymbol = \"other\"\nelement = \"i16\"\nvalues = [{z}]\n");
    let r = assert_proved(&make(&given("16, 4, 64")));
    let said = "`other` of another object holds [16, 4, 64], 16 bits each, aligned to 2 bytes";
    assert!(r.assumptions.iter().any(|a| a == said), "{:?}", r.assumptions);
    let wrong = make(&given("16, 64, 4"));
    check_witness(&wrong, &verdict(&wrong));
    // Without it nothing is known.
    let r = verdict(&make(""));
    assert_eq!(r.verdict, Verdict::Unknown);
    assert!(told(&r).contains("other"), "{}", told(&r));
    assert!(!verdict(&make(&given("16, 4"))).is_proved());
    // It says nothing of data that the object defines.
    let own = given("16, 4, 65").replace("other", "own");
    assert_proved(&contract("ntt", "forward", "", &(array("r", "inout", 4, SMALL) + &own)));
}

#[test]
fn a_section_that_can_be_written_holds_what_the_file_says_if_the_contract_says_so() {
    let make = |symbol: &str, section: &str| {
        let given = match section {
            "" => String::new(),
            s => format!("[[given]]\nsection = \"{s}\"\n"),
        };
        contract(symbol, "forward", "", &(array("r", "inout", 4, SMALL) + &given))
    };
    let r = assert_proved(&make("ntt_written", ".data"));
    let said = "the section .data, which can be written, holds at entry what the object says";
    assert!(r.assumptions.iter().any(|a| a == said), "{:?}", r.assumptions);
    for section in ["", ".bss", ".rodata"] {
        let r = verdict(&make("ntt_written", section));
        assert_eq!(r.verdict, Verdict::Unknown, "{section}");
        assert!(told(&r).contains("can be written"), "{}", told(&r));
    }
    // What has no content in the file is not given.
    assert_eq!(verdict(&make("ntt_empty", ".bss")).verdict, Verdict::Unknown);
    // What the function writes there would be another content at the next call.
    let r = verdict(&make("ntt_writes", ".data"));
    assert!(r.reasons.iter().any(|r| r.kind == ReasonKind::Memory), "{}", told(&r));
    // The numbers in the section are those that count.
    let wrong = contract(
        "ntt_written",
        "inverse",
        "",
        &(array("r", "inout", 4, SMALL) + "[[given]]\nsection = \".data\"\n"),
    );
    check_witness(&wrong, &verdict(&wrong));
}

#[test]
fn scaling_alone_is_proved_with_its_scale() {
    // 2^-16 is 1 modulo 257, so a Montgomery reduction by one only reduces.
    let make = |scale: u64, exit: &str| {
        let more = format!("range = [-32768, 32767]\nexit = {exit}");
        contract("tomont", "scale", &format!("scale = {scale}"), &array("r", "inout", 4, &more))
    };
    assert_proved(&make(1, "[-129, 129]"));
    let wrong = make(256, "[-129, 129]");
    check_witness(&wrong, &verdict(&wrong));
    assert!(!verdict(&make(1, "[-100, 100]")).is_proved());
}

#[test]
fn products_in_place_take_two_operands() {
    needs!("gcc"); // what clang makes of it stays open
    let b = array("b", "input", 4, "range = [-256, 256]");
    let make = |scale: u64| {
        let a = array("a", "inout", 4, "range = [-256, 256]\nexit = [-257, 257]");
        contract("mul", "base-product", &format!("scale = {scale}"), &(a + &b))
    };
    assert_proved(&make(1));
    let wrong = make(2);
    check_witness(&wrong, &verdict(&wrong));
    let words =
        |role: &str, name: &str| array(name, role, 4, "range = [0, 65535]").replace("i16", "u16");
    let whole = contract("product", "product", "", &(words("inout", "a") + &words("input", "b")));
    assert_proved(&whole);
    let text = whole.ring.to_string();
    assert_eq!(text, "Z64[x]/(x^4 + 1)");
}

#[test]
fn inner_products_sum_over_their_pairs() {
    needs!("gcc"); // what clang makes of it stays open
    let make = |pairs: usize, count: i64| {
        let arguments = array("c", "output", 4, "range = [-257, 257]")
            + &array("a", "input", 4 * pairs, "range = [-256, 256]")
            + &array("b", "input", 4 * pairs, "range = [-256, 256]")
            + &format!("[[argument]]\nname = \"count\"\nrole = \"number\"\nvalue = {count}\n");
        contract("inner", "base-product", &format!("pairs = {pairs}"), &arguments)
    };
    let r = assert_proved(&make(3, 3));
    assert!(r.assumptions.iter().any(|a| a == "count is 3 in all 64 bits"));
    assert_proved(&make(1, 1));
    // The last pair is left out.
    let wrong = make(3, 2);
    let r = verdict(&wrong);
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
    let w = r.witness.unwrap();
    assert_eq!((w.inputs[0].1.len(), w.inputs[1].1.len(), w.found.len()), (12, 12, 4));
    // One pair too many lies outside the operands.
    let r = verdict(&make(2, 3));
    assert_eq!(r.verdict, Verdict::Refuted, "{}", told(&r));
    assert!(r.reasons.iter().any(|r| r.kind == ReasonKind::Memory), "{}", told(&r));
}
