//! What compilers make of C is lifted and means what C means.

mod common;
use common::{build_objects, call, compile, evaluate, lift};
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

/// clang makes shifts of lanes by known counts into products with powers of two, which it converts from floating
/// point.
#[test]
fn conversions_of_powers_of_two() {
    let convert = |words: &[u32; 4], how: &str| {
        let text: Vec<String> = words.iter().map(|w| format!("{w:#x}")).collect();
        let body = format!(
            "movdqa xmm0, [rip+t]\n {how}\n movdqu [rdi], xmm0\n ret\n.section .rodata\n.balign 16\nt: .long {}",
            text.join(", ")
        );
        let mut graph = Graph::new();
        let lifted =
            lift(&common::assemble(&body), &call("f", 8), &mut graph).map_err(|e| e.to_string())?;
        Ok::<_, String>(evaluate(&mut graph, &lifted, 8, &[0; 8], &[0; 8]))
    };
    for how in ["cvttps2dq xmm0, xmm0", "vcvttps2dq xmm0, xmm0", "vcvttps2dq xmm0, [rip+t]"] {
        for first in (0..32).step_by(4) {
            let floats: [u32; 4] = std::array::from_fn(|k| (127 + first + k as u32) << 23);
            let got = convert(&floats, how).unwrap_or_else(|e| panic!("{e}"));
            let want: Vec<i16> = (0..4)
                .flat_map(|k| {
                    let word = 1u32 << (first + k);
                    [word as i16, (word >> 16) as i16]
                })
                .collect();
            assert_eq!(got, want, "{how} {first}");
        }
    }
    if cfg!(target_arch = "x86_64") {
        // The processor says the same of all 32.
        let main = r#"
#include <emmintrin.h>
int main(void) {
    for (unsigned k = 0; k < 32; k++) {
        volatile int bits = (int)(127 + k << 23);
        __m128i r = _mm_cvttps_epi32(_mm_castsi128_ps(_mm_set1_epi32(bits)));
        if ((unsigned)_mm_cvtsi128_si32(r) != 1u << k) return 1;
    }
    return 0;
}"#;
        let program = build_objects(compilers()[0], &[("main.c", main.into())], &[]);
        let program = program.expect("it links");
        let done = std::process::Command::new(&program).status().expect("it runs");
        let _ = std::fs::remove_dir_all(program.parent().expect("in its own directory"));
        assert!(done.success());
    }
    // 0, 1/2, 2^32, 3, -1, the nearest to 1, infinity, no number.
    for bits in
        [0, 126 << 23, 159 << 23, 0x4040_0000, 0xbf80_0000, 0x3f80_0001, 0x7f80_0000, 0x7fc0_0000]
    {
        let e = convert(&[127 << 23, 127 << 23, 127 << 23, bits], "cvttps2dq xmm0, xmm0")
            .expect_err("refused");
        assert!(e.contains("known to be a power of two"), "{bits:#x}: {e}");
    }
    let e = convert(&[0; 4], "cvttps2dq xmm0, [rsi+1]").expect_err("refused");
    assert!(e.contains("multiple of 16"), "{e}");
    for how in [
        "movdqu xmm0, [rsi]\n cvttps2dq xmm0, xmm0",
        "cvtps2dq xmm0, xmm0",
        "vcvttps2dq zmm0, zmm0",
    ] {
        assert!(convert(&[127 << 23; 4], how).is_err(), "{how}");
    }
}

/// Shifts of lanes by counts that the compiler knows, at every level.
#[test]
fn shifts_of_lanes_by_known_counts() {
    let source = r"
#include <stdint.h>
void f(uint16_t *restrict out, const uint16_t *restrict a, const uint16_t *restrict b) {
    uint32_t x[8];
    for (int i = 0; i < 8; i++) x[i] = (uint32_t)a[i] << ((5 * i) & 15);
    for (int i = 0; i < 8; i++) out[i] = (uint16_t)(x[i] ^ (uint32_t)b[i] << (i & 3));
}";
    let mut seed = 7;
    for compiler in compilers() {
        for level in ["-Os", "-O1", "-O2", "-O3"] {
            let object = compile(compiler, "c", source, &[level]);
            let mut graph = Graph::new();
            let lifted = lift(&object, &call("f", 8), &mut graph)
                .unwrap_or_else(|e| panic!("{compiler} {level}: {e}"));
            let a: Vec<i16> = (0..8).map(|_| random(&mut seed)).collect();
            let b: Vec<i16> = (0..8).map(|_| random(&mut seed)).collect();
            let want: Vec<i16> = (0..8u32)
                .map(|i| {
                    let (x, y) = (u32::from(a[i as usize] as u16), u32::from(b[i as usize] as u16));
                    ((x << ((5 * i) & 15)) ^ (y << (i & 3))) as i16
                })
                .collect();
            assert_eq!(evaluate(&mut graph, &lifted, 8, &a, &b), want, "{compiler} {level}");
        }
    }
}
