//! Products modulo powers of two by Toom–Cook with divisions on the way, as compilers make them, and their
//! mutants.

mod common;

use common::{check_witness, compile_by, told};
use ringforge_kernel::check::{Limits, Rejected, recheck};
use ringforge_machine::Object;
use ringforge_prove::{Contract, Options, Quiet, ReasonKind, Report, Verdict, prove};
use ringforge_testing::{cc, compilers, program};
use std::time::Duration;

/// Z_2^K[x]/(x^16 + 1) by Toom–Cook in four parts at 0, 1, -1, 2, -2, 1/2 and infinity, words modulo 2^16.
/// The even and odd parts lose three bits, which modulo 2^13 is what there is to lose.
const SOURCE: &str = r"
#include <stdint.h>
#define N 16
#define M 4
typedef uint16_t word;
#define THIRD 43691
#define FIFTH 52429
static void leaf(word *c, const word *a, const word *b) {
  for (int i = 0; i < 2 * M - 1; i++) c[i] = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < M; j++) c[i + j] = (word)(c[i + j] + (unsigned)a[i] * b[j]);
}
static void points(word e[7][M], const int16_t *x) {
  for (int i = 0; i < M; i++) {
    word p = x[i], q = x[i + M], r = x[i + 2 * M], s = x[i + 3 * M];
    e[0][i] = p;
    e[1][i] = p + q + r + s;
    e[2][i] = p - q + r - s;
    e[3][i] = p + 2 * q + 4 * r + 8 * s;
    e[4][i] = p - 2 * q + 4 * r - 8 * s;
    e[5][i] = 8 * p + 4 * q + 2 * r + s;
    e[6][i] = s;
  }
}
void mul(int16_t *restrict c, const int16_t *restrict a, const int16_t *restrict b) {
  word x[7][M], y[7][M], z[7][2 * M - 1], w[2 * N + M];
  points(x, a);
  points(y, b);
  for (int k = 0; k < 7; k++) leaf(z[k], x[k], y[k]);
  for (int i = 0; i < 2 * N + M; i++) w[i] = 0;
  for (int i = 0; i < 2 * M - 1; i++) {
    word c0 = z[0][i], c6 = z[6][i];
    word e1 = (word)(z[1][i] + z[2][i]) >> 1;
    word o1 = (word)(z[1][i] - z[2][i]) >> 1;
    word e2 = (word)(z[3][i] + z[4][i]) >> 1;
    word o2 = (word)(z[3][i] - z[4][i]) >> 2;
    e1 = e1 - c0 - c6;
    e2 = (int16_t)(e2 - c0 - 64 * c6) >> 2;
    word c4 = (word)(e2 - e1) * THIRD;
    word c2 = e1 - c4;
    word h = (word)(z[5][i] - 64 * c0 - 16 * c2 - 4 * c4 - c6) >> 1;
    word d = (word)(o2 - o1) * THIRD;
    word k = (word)(16 * o1 - h) * THIRD;
    word c3 = (word)(k - d) * THIRD;
    word c5 = (word)(d - c3) * FIFTH;
    word c1 = o1 - c3 - c5;
    w[i] += c0;
    w[i + M] += c1;
    w[i + 2 * M] += c2;
    w[i + 3 * M] += c3;
    w[i + 4 * M] += c4;
    w[i + 5 * M] += c5;
    w[i + 6 * M] += c6;
  }
  for (int i = 0; i < N; i++) {
    word r = w[i] - w[i + N];
    c[i] = (int16_t)(r << (16 - K)) >> (16 - K);
  }
}
";

fn contract(bits: u32, ring: &str, range: Option<(i64, i64)>) -> Contract {
    let half = 1i64 << (bits - 1);
    let mut text = format!(
        "contract = 1\nsymbol = \"mul\"\nabi = \"sysv-x86-64\"\nring = \"Z{}{ring}\"\n\
         computes = \"product\"\nalias = []\n",
        2 * half
    );
    for (name, role) in [("c", "output"), ("a", "input"), ("b", "input")] {
        let (lo, hi) = range.filter(|_| role == "output").unwrap_or((-half, half - 1));
        text += &format!(
            "[[argument]]\nname = \"{name}\"\nrole = \"{role}\"\nelement = \"i16\"\nlength = 16\n\
             align = 2\nrange = [{lo}, {hi}]\n"
        );
    }
    Contract::parse(&text).unwrap()
}

const RING: &str = "[x]/(x^16 + 1)";
const CYCLIC: &str = "[x]/(x^16 - 1)";

fn proof(compiler: &str, flags: &[&str], source: &str, bits: u32, contract: &Contract) -> Report {
    let source = source.replace("- K)", &format!("- {bits})"));
    let object = compile_by(compiler, &source, flags).expect("the compiler is needed by this test");
    let options =
        Options { search: Duration::from_secs(1), certificate: true, ..Options::default() };
    prove(&object, contract, &options, &mut Quiet)
}

fn at_o3(source: &str, bits: u32) -> Report {
    proof(cc(), &["-O3"], source, bits, &contract(bits, RING, None))
}

#[test]
fn both_compilers_at_every_level() {
    for compiler in compilers() {
        for flags in [&["-O1"][..], &["-O2"], &["-O3"], &["-O2", "-mavx2"], &["-O3", "-mavx2"]] {
            for bits in [11, 13] {
                let r = proof(compiler, flags, SOURCE, bits, &contract(bits, RING, None));
                assert!(r.is_proved(), "{compiler} {flags:?}: {}", told(&r));
                let half = 1 << (bits - 1);
                assert_eq!(r.ranges.output, Some((-half, half - 1)));
                assert_eq!(r.counts.products, 7 * 16);
                assert!(r.certificate.replayed.lines > 500, "{:?}", r.certificate.replayed);
            }
        }
    }
}

#[test]
fn the_bits_that_divisions_cost_are_counted() {
    // Modulo 2^14 one bit is missing; no input need show it.
    let r = at_o3(SOURCE, 14);
    assert_ne!(r.verdict, Verdict::Proved);
    assert!(r.reasons[0].text.starts_with("only 13 low bits of c["), "{}", told(&r));
    // The same products without division go up to 2^16.
    let plain = "#include <stdint.h>\nvoid mul(int16_t *restrict c, const int16_t *restrict a, const int16_t *restrict b) {\n\
        for (int k = 0; k < 16; k++) { uint16_t s = 0;\n\
        for (int i = 0; i < 16; i++) s += (uint16_t)((unsigned)(uint16_t)a[i] * (uint16_t)b[(k - i) & 15]);\n\
        c[k] = (int16_t)(s << (16 - K)) >> (16 - K); } }";
    for bits in [1, 4, 12, 14, 15, 16] {
        let r = proof(cc(), &["-O3"], plain, bits, &contract(bits, CYCLIC, None));
        assert!(r.is_proved(), "{bits}: {}", told(&r));
    }
    // Multiples of the modulus do not matter, on either side or of both.
    let more = plain
        .replace("a[i] *", "(a[i] + 4096 * (3 * a[0] + a[k])) *")
        .replace("b[(k - i) & 15])", "(uint16_t)(b[(k - i) & 15] + 8192 * (b[k] + 5)))")
        .replace(
            "c[k] =",
            "s += 4096 * (a[k] * b[3] + b[k] * (a[1] + a[2]) + a[5] - b[5] + 7); c[k] =",
        );
    assert!(more.matches("4096").count() == 2 && more.matches("8192").count() == 1);
    let r = proof(cc(), &["-O3"], &more, 12, &contract(12, CYCLIC, None));
    assert!(r.is_proved(), "{}", told(&r));
    let r = proof(cc(), &["-O3"], &more, 13, &contract(13, CYCLIC, None));
    check_witness(&contract(13, CYCLIC, None), &r);
    // Another ring's product is another.
    let ring = contract(12, RING, None);
    check_witness(&ring, &proof(cc(), &["-O3"], plain, 12, &ring));
    // Nonnegative representatives.
    let masked = plain.replace("(int16_t)(s << (16 - K)) >> (16 - K)", "s & ((1 << 12) - 1)");
    let range = contract(12, CYCLIC, Some((0, 4095)));
    let r = proof(cc(), &["-O3"], &masked, 12, &range);
    assert!(r.is_proved(), "{}", told(&r));
    let r = proof(cc(), &["-O3"], &masked.replace("1 << 12", "1 << 13"), 12, &range);
    check_witness(&range, &r);
}

/// The same with the value at 3 instead of 1/2, where what is not sure of one quotient cancels in
/// what is divided next: 9·c2 + 81·c4 is sure of more bits than c2 and c4.
fn at_three() -> String {
    let h = SOURCE.lines().find(|l| l.contains("word h =")).unwrap();
    let three = "    word h = (word)((word)(z[5][i] - c0 - 9 * (c2 + 9 * (c4 + 9 * c6))) * THIRD - o1) >> 3;";
    let changes = [
        ("8 * p + 4 * q + 2 * r + s", "p + 3 * q + 9 * r + 27 * s"),
        (h, three),
        ("word k = (word)(16 * o1 - h) * THIRD;", "word c5 = (word)(h - d) * FIFTH;"),
        ("word c3 = (word)(k - d) * THIRD;", "word c3 = d - 5 * c5;"),
        ("    word c5 = (word)(d - c3) * FIFTH;\n", ""),
    ];
    changes.iter().fold(SOURCE.to_string(), |source, (from, to)| {
        assert!(source.contains(from), "{from}");
        source.replacen(from, to, 1)
    })
}

#[test]
fn what_is_not_sure_may_cancel() {
    for compiler in compilers() {
        for (flags, bits) in [(&["-O2"][..], 12), (&["-O3"], 11), (&["-O3", "-mavx2"], 12)] {
            let r = proof(compiler, flags, &at_three(), bits, &contract(bits, RING, None));
            assert!(r.is_proved(), "{compiler} {flags:?}: {}", told(&r));
        }
    }
    let r = at_o3(&at_three(), 13);
    assert_ne!(r.verdict, Verdict::Proved);
    assert!(r.reasons[0].text.starts_with("only 12 low bits of c["), "{}", told(&r));
    for (from, to) in [("9 * (c2", "8 * (c2"), ("9 * (c4", "10 * (c4"), (">> 3;", ">> 4;")] {
        let r = at_o3(&at_three().replacen(from, to, 1), 11);
        assert_ne!(r.verdict, Verdict::Proved, "{from} -> {to}");
        check_witness(&contract(11, RING, None), &r);
    }
}

/// The value at 3, and parts that are computed in words of 32 bits and halved there, as in PQClean's products
/// of NTRU. Of vectors of such words gcc keeps a sum's upper half that nobody knows, and both compilers halve
/// sums of words of 16 bits by averages.
const INTERPOLATE: &str = r"
static void interpolate(word z[7][2 * M]) {
  word c2[2 * M], c4[2 * M];
  for (int i = 0; i < 2 * M; i++) {
    word v = (uint32_t)(z[1][i] + z[2][i]) >> 1;
    v = v - z[0][i] - z[6][i];
    word w = (uint32_t)(z[3][i] + z[4][i] - 2 * z[0][i] - 128 * z[6][i]) >> 3;
    c4[i] = THIRD * (uint32_t)(w - v);
    c2[i] = v - c4[i];
    z[1][i] = (uint32_t)(z[1][i] - z[2][i]) >> 1;
  }
  for (int i = 0; i < 2 * M; i++) {
    word o = z[1][i];
    word d = THIRD * (((uint32_t)(z[3][i] - z[4][i]) >> 2) - o);
    word h = THIRD * (uint32_t)(z[5][i] - z[0][i] - 9 * (c2[i] + 9 * (c4[i] + 9 * z[6][i])));
    h = (uint32_t)(h - o) >> 3;
    h -= d;
    z[5][i] = FIFTH * (uint32_t)h;
    z[3][i] = d - h;
    z[1][i] = o - z[3][i] - z[5][i];
    z[2][i] = c2[i];
    z[4][i] = c4[i];
  }
}
";

fn in_wide_words() -> String {
    let at = |text: &str| SOURCE.find(text).expect("a part of the source");
    let (from, to) =
        (at("  for (int i = 0; i < 2 * M - 1; i++) {\n    word c0"), at("    w[i] += c0;"));
    let parts = (0..7).map(|k| format!("c{k} = z[{k}][i]")).collect::<Vec<_>>().join(", ");
    let head = SOURCE[..from].replace("8 * p + 4 * q + 2 * r + s", "p + 3 * q + 9 * r + 27 * s");
    let head = head.replace("z[7][2 * M - 1]", "z[7][2 * M] = {{0}}");
    let head = head.replace("void mul(", &format!("{INTERPOLATE}void mul("));
    let each = "  interpolate(z);\n  for (int i = 0; i < 2 * M - 1; i++) {\n    word";
    format!("{head}{each} {parts};\n{}", &SOURCE[to..])
}

#[test]
fn words_of_32_bits_on_the_way() {
    let mut values = 0;
    for compiler in compilers() {
        for (flags, bits) in [(&["-O1"][..], 12), (&["-O3"], 13), (&["-O3", "-mavx2"], 11)] {
            let r = proof(compiler, flags, &in_wide_words(), bits, &contract(bits, RING, None));
            assert!(r.is_proved(), "{compiler} {flags:?}: {}", told(&r));
            values += r.certificate.text.lines().filter(|l| l.starts_with("value ")).count();
        }
    }
    // Values are gcc's.
    let by_gcc = program("gcc").is_none() || values > 0;
    assert!(by_gcc, "{values} values");
    for (from, to) in [
        ("z[2][i]) >> 1;\n    v", "z[2][i]) >> 2;\n    v"),
        ("- 128 *", "- 64 *"),
        ("- 9 * (c2", "- 8 * (c2"),
        ("h -= d", "h += d"),
        ("(uint32_t)(h - o) >> 3", "(uint32_t)(h - o) >> 2"),
    ] {
        assert!(in_wide_words().contains(from), "{from}");
        let r = at_o3(&in_wide_words().replacen(from, to, 1), 11);
        assert_ne!(r.verdict, Verdict::Proved, "{from} -> {to}");
        check_witness(&contract(11, RING, None), &r);
    }
}

#[test]
fn mutants_are_refuted() {
    let changes = [
        ("THIRD 43691", "THIRD 43693"),
        ("FIFTH 52429", "FIFTH 52428"),
        ("(z[1][i] + z[2][i]) >> 1", "(z[1][i] + z[2][i] + a[0]) >> 1"),
        ("(z[3][i] - z[4][i]) >> 2", "(z[3][i] - z[4][i]) >> 1"),
        ("(z[3][i] - z[4][i]) >> 2", "(z[3][i] - z[4][i]) >> 3"),
        ("64 * c6) >> 2", "64 * c6) >> 3"),
        ("e1 - c0 - c6", "e1 - c0"),
        ("- 64 * c6)", "- 60 * c6)"),
        ("- 16 * c2", "- 17 * c2"),
        ("8 * p + 4 * q", "8 * p + 2 * q"),
        ("- 8 * s;", "+ 8 * s;"),
        ("w[i + 5 * M] += c5", "w[i + 5 * M] -= c5"),
        ("w[i] - w[i + N]", "w[i] + w[i + N]"),
        ("i < 2 * M - 1; i++) {\n    word c0", "i < 2 * M - 2; i++) {\n    word c0"),
        // One bit short, one too many, no sign, no reduction at all.
        ("(int16_t)(r << (16 - K)) >> (16 - K)", "(int16_t)(r << 6) >> 6"),
        ("(int16_t)(r << (16 - K)) >> (16 - K)", "(int16_t)(r << 4) >> 4"),
        ("(int16_t)(r << (16 - K)) >> (16 - K)", "(uint16_t)(r << 5) >> 5"),
        ("(int16_t)(r << (16 - K)) >> (16 - K)", "r & 2047"),
        ("(int16_t)(r << (16 - K)) >> (16 - K)", "r"),
        // Constants and what is not bilinear.
        ("word r = w[i]", "word r = 1 + w[i]"),
        ("word r = w[i]", "word r = a[0] + w[i]"),
        ("word r = w[i]", "word r = a[0] * a[1] + w[i]"),
        ("word r = w[i]", "word r = (a[0] > 7) + w[i]"),
        // Two divisions with a remainder of which the forms alone would cancel.
        ("word r = w[i]", "word v = a[i], r = (word)(3 * v) / 2 - 3 * (v / 2) + w[i]"),
        ("word r = w[i]", "word r = w[i] ^ (a[i] & 1)"),
    ];
    for (from, to) in changes {
        assert!(SOURCE.contains(from), "{from}");
        let r = at_o3(&SOURCE.replacen(from, to, 1), 11);
        assert_ne!(r.verdict, Verdict::Proved, "{from} -> {to}");
        check_witness(&contract(11, RING, None), &r);
    }
}

#[test]
fn what_is_right_for_no_reason_that_is_modelled_is_unknown() {
    // 1 is added to an even number before it is halved.
    let changes = [("(z[1][i] + z[2][i]) >> 1", "(z[1][i] + z[2][i] + 1) >> 1")];
    for (from, to) in changes {
        assert!(SOURCE.contains(from), "{from}");
        let r = at_o3(&SOURCE.replacen(from, to, 1), 11);
        assert_eq!(r.verdict, Verdict::Unknown, "{}", told(&r));
        assert!(r.reasons[0].text.contains("need not be a multiple of 2"), "{}", told(&r));
        assert!(r.reasons[0].instruction.is_some());
    }
}

#[test]
fn secret_branches_are_refused() {
    let leaks = SOURCE.replacen("points(x, a);", "if (a[0] == 5) w[0] = 1; points(x, a);", 1);
    let leaks =
        leaks.replacen("points(y, b);", "points(y, b); if (a[0] == 5) __asm__ volatile(\"\");", 1);
    let leaks = leaks.replacen("word r =", "if (b[i] == 3) __asm__ volatile(\"nop\"); word r =", 1);
    let r = at_o3(&leaks, 11);
    assert_eq!(r.verdict, Verdict::Refuted);
    assert_eq!(r.reasons[0].kind, ReasonKind::ConstantTime, "{}", told(&r));
}

/// A text with a number in it changed by a little.
fn damaged(text: &str, random: &mut dyn FnMut(usize) -> usize) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    let at = 2 + random(lines.len() - 2);
    let mut words: Vec<String> = lines[at].split(' ').map(String::from).collect();
    let word = random(words.len());
    if let Ok(number) = words[word].parse::<i64>() {
        let others = [number + 1, number - 1, -number, 2 * number, number ^ 1, 0];
        words[word] = others[random(others.len())].to_string();
    }
    lines[at] = words.join(" ");
    lines.join("\n")
}

#[test]
fn no_certificate_makes_a_wrong_product_right() {
    let contract = contract(11, RING, None);
    let good = at_o3(SOURCE, 11).certificate.text;
    let mut state = 1u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize % n
    };
    let (mut walked, mut outputs) = (0, 0);
    for (from, to) in [
        ("(z[1][i] + z[2][i]) >> 1", "(z[1][i] + z[2][i] + a[0]) >> 1"),
        ("(z[3][i] - z[4][i]) >> 2", "(z[3][i] - z[4][i]) >> 3"),
        ("64 * c6) >> 2", "64 * c6) >> 3"),
        ("- 16 * c2", "- 17 * c2"),
        ("8 * p + 4 * q", "8 * p + 2 * q"),
        ("word r = w[i]", "word r = w[i] + 1024 * a[5] * b[i]"),
    ] {
        let source = SOURCE.replacen(from, to, 1).replace("- K)", "- 11)");
        let object = compile_by(cc(), &source, &["-O3"]).expect("it compiles");
        let own = at_o3(&SOURCE.replacen(from, to, 1), 11).certificate.text;
        let object = Object::parse(&object).expect("an object");
        let mut refused = |text: &str| {
            let Ok(lines) = ringforge_certificate::parse(text) else { return };
            match recheck(&contract, &object, &lines, Limits::default(), &|_| true) {
                Ok(_) => panic!("{from} -> {to} is accepted"),
                Err(Rejected::Outputs(..)) => outputs += 1,
                Err(_) => walked += 1,
            }
        };
        // Its own certificate, which is right but for what outputs are, and that of the right product.
        for text in [&own, &good] {
            refused(text);
            for _ in 0..60 {
                refused(&damaged(text, &mut random));
            }
        }
    }
    assert!(walked > 300 && outputs > 40, "{walked} refused in the walk, {outputs} behind it");
}
