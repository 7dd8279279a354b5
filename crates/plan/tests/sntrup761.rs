//! The two shipped plans of sntrup761: against the oracle, and the paper's constants recomputed.

use ringforge_plan::{Border, Lift, MonomialCrt, Plan, Substitute};
use ringforge_ring::zq;

fn plans() -> [Plan; 2] {
    ["sntrup761-chiu", "sntrup761"].map(|name| Plan::find(name).unwrap_or_else(|e| panic!("{e}")))
}

/// A small deterministic generator; tests need no more.
struct Random(u64);

impl Random {
    /// Uniform in [−bound, bound].
    fn operand(&mut self, bound: i64) -> Vec<i64> {
        let mut next = || {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((self.0 >> 33) as i64).rem_euclid(2 * bound + 1) - bound
        };
        (0..761).map(|_| next()).collect()
    }
}

fn agree(a: &[i64], b: &[i64]) {
    for plan in plans() {
        assert_eq!(plan.multiply(a, b), plan.ring.mul(a, b), "{}", plan.name);
    }
}

#[test]
fn random_operands() {
    let mut random = Random(1);
    for _ in 0..10 {
        agree(&random.operand(2295), &random.operand(2295));
        agree(&random.operand(2295), &random.operand(1));
        agree(&random.operand(1), &random.operand(1));
    }
}

#[test]
fn extreme_operands() {
    let signs = |pattern: fn(usize) -> bool| -> Vec<i64> {
        (0..761).map(|i| if pattern(i) { 2295 } else { -2295 }).collect()
    };
    let all: Vec<Vec<i64>> = vec![
        signs(|_| true),
        signs(|_| false),
        signs(|i| i % 2 == 0),
        signs(|i| i / 16 % 2 == 0),
        signs(|i| i % 9 < 5),
        signs(|i| i < 81),
    ];
    for a in &all {
        for b in &all {
            agree(a, b);
        }
    }
}

/// Around every seam: block borders, the low part's 80 and 81, the ends.
#[test]
fn monomials() {
    let monomial = |i: usize| -> Vec<i64> { (0..761).map(|j| i64::from(i == j)).collect() };
    let seams = [0, 1, 15, 16, 79, 80, 81, 679, 680, 720, 759, 760];
    for i in seams {
        for j in seams {
            agree(&monomial(i), &monomial(j));
        }
    }
}

#[test]
fn texts_read_back() {
    for plan in plans() {
        plan.check().unwrap_or_else(|e| panic!("{e}"));
    }
}

/// 8·8·18·40 = 46080 ≡ 170, and the low part's 4·4·40 = 640, brought to it by 72.
#[test]
fn scales_of_the_seed() {
    let [chiu, ours] = plans();
    assert_eq!((8 * 8 * 18 * 40, 46080 % 4591), (46080, 170));
    assert_eq!((chiu.scale(), chiu.final_factor() * 170 % 4591), (170, 1));
    assert_eq!(ours.scale(), 90);
    let crt = chiu.root.as_method::<Lift>().and_then(|l| l.inner.as_method::<MonomialCrt>());
    let crt = crt.expect("the paper's tree");
    let scales = [crt.main.scale().value(), crt.low.scale().value(), crt.low_factor()];
    assert_eq!(scales, [170, 640, 72]);
    let main = &crt.main.as_method::<Substitute>().expect("main part").blocks;
    assert_eq!((main.transform.scale(), main.transform.inverse_scale()), (8, 18 * 40));
    assert!(crt.low.as_method::<Border>().is_some());
}

/// 48 of 90 blocks are not zero; 6 of the low part's 10 are read; the root has order 90 and its
/// ninth power is the low part's ω_10.
#[test]
fn shape_of_the_seed() {
    let [chiu, _] = plans();
    let lift = chiu.root.as_method::<Lift>().expect("lift");
    let crt = lift.inner.as_method::<MonomialCrt>().expect("monomial-crt");
    let main = &crt.main.as_method::<Substitute>().expect("main part").blocks;
    assert_eq!(main.present().iter().filter(|&&p| p).count(), 48);
    let border = crt.low.as_method::<Border>().expect("border");
    let low = border.inner.as_method::<Lift>().and_then(|l| l.inner.as_method::<Substitute>());
    let low = &low.expect("low part").blocks;
    assert_eq!((low.present().iter().filter(|&&p| p).count()), 5);
    assert_eq!((low.wanted().iter().filter(|&&p| p).count()), 6);
    let (w90, w10) = (main.transform.root(), low.transform.root());
    assert_eq!(zq::order(w90, 4591), Some(90));
    assert_eq!(zq::pow(w90, 9, 4591), w10);
    assert_eq!(main.convolution.weights[1], w90);
}

/// The tree for people: titles, rings and scales of the paper's plan.
#[test]
fn tree_for_people() {
    let [chiu, _] = plans();
    let tree = chiu.tree();
    assert_eq!(tree.before, "Z4591[x]/(x^761 - x - 1)");
    let crt = &tree.children[0];
    assert_eq!(crt.after, "Z4591[x]/(x^1440 - 1) × Z4591[x]/(x^81)");
    let main = &crt.children[0];
    assert_eq!(main.title, "main, mod x^1440 - 1: Substitute x^16 = t");
    assert_eq!((main.after.as_str(), main.scale), ("Z4591[x, t]/(x^16 - t, t^90 - 1)", 170));
    assert_eq!(main.children[0].title, "Good–Thomas 10 × 9");
    assert_eq!(main.children[1].title, "90 weighted convolutions of size 16");
    assert_eq!(main.children[1].cost.products, 45 * 128 + 45 * 192);
    let text = tree.to_text();
    assert!(text.lines().count() > 20 && text.contains("[Chiu25 §3.1]"), "{text}");
}
