//! What compilers make of C is lifted and means what C means.

mod common;
use common::{call, compile, evaluate, lift};
use ringforge_machine::graph::Graph;
use ringforge_testing::compilers;

const SOURCE: &str = r"
#include <stdint.h>
static int16_t reduce(int32_t x) {
    int16_t t = (int16_t)(((int32_t)(int16_t)x * 12287 ) & 0xffff);
    t = (int16_t)((x - (int32_t)t * 4591) >> 16);
    return t;
}
void f(int16_t *restrict out, const int16_t *restrict a, const int16_t *restrict b) {
    for (int i = 0; i < 48; i++) {
        int32_t s = (int32_t)a[i] * b[i];
        out[i] = (int16_t)(reduce(s) + a[i] - b[47 - i]);
    }
    for (int i = 0; i < 48; i++) {
        int16_t v = out[i];
        out[i] = (int16_t)(v - (4591 & -(v > 2295)));
    }
}
";

fn model(a: &[i16], b: &[i16]) -> Vec<i16> {
    (0..48)
        .map(|i| {
            let s = i32::from(a[i]) * i32::from(b[i]);
            let t = i32::from(s as i16).wrapping_mul(12287) as i16;
            let r = (s.wrapping_sub(i32::from(t) * 4591) >> 16) as i16;
            let v = r.wrapping_add(a[i]).wrapping_sub(b[47 - i]);
            if v > 2295 { v.wrapping_sub(4591) } else { v }
        })
        .collect()
}

/// A small generator, the same on every run.
fn random(seed: &mut u64) -> i16 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 40) as i16
}

#[test]
fn every_level_of_both_compilers() {
    let mut seed = 1;
    for compiler in compilers() {
        for flags in [
            ["-O0", "-march=x86-64"],
            ["-O1", "-march=x86-64"],
            ["-O2", "-march=x86-64"],
            ["-O3", "-march=x86-64"],
            ["-Os", "-march=x86-64"],
            ["-O2", "-mavx2"],
            ["-O3", "-mavx2"],
            ["-O3", "-msse4.1"],
            ["-O3", "-march=haswell"],
            ["-O3", "-march=alderlake"],
            ["-O2", "-fstack-protector-all"],
            ["-O1", "-fcf-protection=full"],
            ["-O2", "-fstack-clash-protection"],
        ] {
            let object = compile(compiler, "c", SOURCE, &flags);
            let mut graph = Graph::new();
            let lifted = lift(&object, &call("f", 48), &mut graph)
                .unwrap_or_else(|e| panic!("{compiler} {flags:?}: {e}"));
            assert!(lifted.stats.instructions > 10);
            for _ in 0..20 {
                let a: Vec<i16> = (0..48).map(|_| random(&mut seed)).collect();
                let b: Vec<i16> = (0..48).map(|_| random(&mut seed)).collect();
                let got = evaluate(&mut graph, &lifted, 48, &a, &b);
                assert_eq!(got, model(&a, &b), "{compiler} {flags:?}");
            }
        }
    }
}
