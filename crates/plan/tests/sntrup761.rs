//! The two shipped plans of sntrup761 against the schoolbook product.

use ringforge_plan::Plan;

fn plans() -> Vec<Plan> {
    [
        include_str!("../../../plans/sntrup761-chiu.plan"),
        include_str!("../../../plans/sntrup761.plan"),
    ]
    .map(|text| Plan::parse(text).unwrap_or_else(|e| panic!("{e}")))
    .to_vec()
}

/// A small deterministic generator; tests need no more.
fn random(seed: &mut u64, q: i64) -> i64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    ((*seed >> 33) as i64).rem_euclid(q) - q / 2
}

#[test]
fn products_agree_with_the_oracle() {
    let mut seed = 1;
    for plan in plans() {
        let ring = &plan.ring;
        let mut pairs = Vec::new();
        for _ in 0..3 {
            let mut operand = || (0..761).map(|_| random(&mut seed, 4591)).collect::<Vec<i64>>();
            pairs.push((operand(), operand()));
        }
        let signs = |period: usize| -> Vec<i64> {
            (0..761).map(|i| if i / period % 2 == 0 { 2295 } else { -2295 }).collect()
        };
        pairs.push((vec![2295; 761], vec![2295; 761]));
        pairs.push((vec![2295; 761], vec![-2295; 761]));
        pairs.push((signs(1), signs(16)));
        let monomial = |i: usize| (0..761).map(|j| i64::from(i == j)).collect::<Vec<i64>>();
        for (i, j) in [(0, 0), (80, 0), (0, 80), (80, 80), (79, 1), (760, 760), (81, 0), (760, 1)] {
            pairs.push((monomial(i), monomial(j)));
        }
        for (a, b) in pairs {
            assert_eq!(plan.multiply(&a, &b), ring.mul(&a, &b), "{}", plan.name);
        }
    }
}

#[test]
fn texts_read_back() {
    for plan in plans() {
        plan.check().unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn scale_of_the_seed() {
    let chiu = &plans()[0];
    assert_eq!(46080 % 4591, 170);
    assert_eq!(chiu.scale(), 170);
    assert_eq!(plans()[1].scale(), 90);
}
