//! The unsigned scheme of [TokudaKameyama23] under every meaning.

use ringforge_interpret::unsigned::{Part, count, forms, ranges, run, text};
use ringforge_program::ir::{Computes, TransformLayout};
use ringforge_program::unsigned::{Algorithm, Kind, Placement, Scheme, Site, transform};
use ringforge_ring::{Ring, zq};
use std::process::Command;

const Q: i64 = 12289;

/// Every sum and difference is reduced where `layers` says: a placement by whole layers, as the
/// seed's.
fn by_layers(n: usize, sums_after: &[u32], all_after: &[u32], csub: bool, k: Vec<u8>) -> Placement {
    let mut sites = Vec::new();
    for &after in sums_after.iter().chain(all_after) {
        let o = 1u32 << (after - 1);
        let of = |p: &u32| all_after.contains(&after) || p & o == 0;
        let positions = (0..n as u32).filter(of);
        sites.extend(positions.map(|position| Site { after, position, kind: Kind::Barrett }));
    }
    Placement { csub_products: csub, sites, multiples: k.into_iter().map(|k| vec![k]).collect() }
}

/// The seed's own placement: forward after every fourth layer, inverse twice in three.
fn seed(n: usize) -> Scheme {
    let layers = n.ilog2();
    let fourth: Vec<u32> = (1..=layers).filter(|s| s % 4 == 0).collect();
    let twice: Vec<u32> = (2..layers).filter(|s| s % 3 != 1).collect();
    let forward = by_layers(n, &[], &fourth, true, vec![1; layers as usize]);
    // After a layer without reduction sums are below 3q, else below 2q.
    let k = (1..=layers)
        .map(|s| {
            if s == 1 {
                1
            } else if s % 3 == 2 {
                3
            } else {
                2
            }
        })
        .collect();
    let inverse = by_layers(n, &twice, &[], true, k);
    Scheme::new(Q as u64, n, forward, Algorithm::InverseGentlemanSande, inverse).unwrap()
}

#[test]
fn the_seed_s_placement_counts_and_fits() {
    for (n, forward, inverse) in [(512, 4, 5), (1024, 4, 6)] {
        let scheme = seed(n);
        let reductions = |part| count(&scheme, part).unwrap().barretts * 2 / n as u64;
        assert_eq!(reductions(Part::Forward), forward, "n = {n}");
        assert_eq!(reductions(Part::Inverse), inverse, "n = {n}");
        assert_eq!(reductions(Part::Product), 2 * forward + inverse, "n = {n}");
        let out = ranges(&scheme, Part::Product, (0, Q - 1)).unwrap();
        assert!(out.iter().all(|r| r.0 >= 0 && r.1 < Q));
        // One reduced layer less, and a word may overflow.
        let mut spared = scheme.clone();
        spared.inverse.sites.retain(|s| s.after != 2);
        let refused = ranges(&spared, Part::Product, (0, Q - 1)).unwrap_err();
        assert!(refused.reason.contains("not within [0, 65535]"), "{refused}");
    }
}

#[test]
fn forms_of_the_whole_product_for_all_coefficients() {
    for n in [512, 1024] {
        let ring = Ring::parse(&format!("Z12289[x]/(x^{n} + 1)")).unwrap();
        let mut scheme = seed(n);
        let agreement = forms(&scheme, Part::Product).unwrap().agrees_with(&ring).unwrap();
        assert_eq!((agreement.pairs, agreement.outputs), ((n * n) as u64, n));
        assert_eq!(agreement.evaluations, 2 * n as u64 - 1);
        scheme.tables[0].words[n / 2 + 3] ^= 1;
        assert!(forms(&scheme, Part::Product).unwrap().agrees_with(&ring).is_err());
    }
}

fn small(n: usize, by: Algorithm) -> Scheme {
    let layers = n.ilog2() as usize;
    let forward = Placement::without(layers, true, 1);
    let mut inverse = Placement::without(layers, true, 1);
    for layer in 0..layers as u32 {
        let all = (0..n as u32).map(|position| Site { after: layer, position, kind: Kind::Csub });
        inverse.sites.extend(all);
    }
    Scheme::new(Q as u64, n, forward, by, inverse).unwrap()
}

/// Transforms and products against their definitions: T(a) = (a(ψ^(2·brv(i)+1)))_i.
#[test]
fn small_schemes_compute_what_they_should() {
    for n in [4usize, 8, 16] {
        for by in [Algorithm::InverseGentlemanSande, Algorithm::InverseCooleyTukey] {
            let scheme = small(n, by);
            let (q, bits) = (Q as u64, n.ilog2());
            let ring = Ring::parse(&format!("Z12289[x]/(x^{n} + 1)")).unwrap();
            let root =
                |i| zq::pow(scheme.root(), 2 * transform::bit_reverse(i, bits) as u64 + 1, q);
            let mut layout = TransformLayout {
                degree: 1,
                weights: (0..n).map(root).collect(),
                order: (0..n as u32).collect(),
            };
            let forward = forms(&scheme, Part::Forward).unwrap();
            let scaled = Computes::Forward { scale: 1 };
            forward.agrees(scaled, Some(&layout), &ring).unwrap();
            assert!(forward.agrees(Computes::Forward { scale: 2 }, Some(&layout), &ring).is_err());
            let inverse = forms(&scheme, Part::Inverse).unwrap();
            inverse.agrees(Computes::Inverse { scale: 1 }, Some(&layout), &ring).unwrap();
            layout.order.swap(0, 1);
            assert!(inverse.agrees(Computes::Inverse { scale: 1 }, Some(&layout), &ring).is_err());
            let product = forms(&scheme, Part::Product).unwrap();
            product.agrees_with(&ring).unwrap();
            let a: Vec<u16> = (0..n as u16).map(|i| 12288 - i * 77).collect();
            let b: Vec<u16> = (0..n as u16).map(|i| 9000 + i * 177).collect();
            let wide = |x: &[u16]| x.iter().map(|&v| i64::from(v)).collect::<Vec<_>>();
            let want: Vec<u16> =
                ring.mul(&wide(&a), &wide(&b)).iter().map(|&c| zq::unsigned(c, q) as u16).collect();
            assert_eq!(run(&scheme, Part::Product, &a, &b).unwrap(), want, "n = {n}, {by:?}");
        }
    }
}

/// C and OCaml texts, compiled or interpreted, against the run; skipped where a tool is missing.
#[test]
fn texts_run() {
    let (n, scheme) = (16usize, small(16, Algorithm::InverseGentlemanSande));
    let a: Vec<u16> = (0..n as u16).map(|i| 12288 - i * 77).collect();
    let b: Vec<u16> = (0..n as u16).map(|i| 9000 + i * 177).collect();
    let want: Vec<String> =
        run(&scheme, Part::Product, &a, &b).unwrap().iter().map(u16::to_string).collect();
    let dir = std::env::temp_dir().join(format!("ringforge-unsigned-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let list = |x: &[u16], by: &str| x.iter().map(u16::to_string).collect::<Vec<_>>().join(by);
    let c = text::product(&scheme, text::Syntax::C)
        + &format!(
            "#include <stdio.h>\nint main(void) {{ uint16_t c[{n}], a[] = {{{}}}, b[] = {{{}}};\n\
             product(c, a, b);\nfor (int i = 0; i < {n}; i++) printf(\"%d \", c[i]);\nreturn 0; }}\n",
            list(&a, ","),
            list(&b, ",")
        );
    let ml = text::product(&scheme, text::Syntax::OCaml)
        + &format!(
            "\nlet () = let c = Array.make {n} 0 in product c [|{}|] [|{}|];\n\
             Array.iter (Printf.printf \"%d \") c\n",
            list(&a, ";"),
            list(&b, ";")
        );
    std::fs::write(dir.join("p.c"), c).unwrap();
    std::fs::write(dir.join("p.ml"), ml).unwrap();
    let output = |mut command: Command| {
        let done = command.current_dir(&dir).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        text.split_whitespace().map(String::from).collect::<Vec<_>>()
    };
    let mut cc = Command::new(ringforge_testing::cc());
    cc.args(["-std=c99", "-Wall", "-Werror", "-O1", "p.c", "-o", "p"]);
    output(cc);
    assert_eq!(output(Command::new(dir.join("p"))), want);
    if let Some(program) = ringforge_testing::program("ocaml") {
        let mut ocaml = Command::new(program);
        ocaml.arg("p.ml");
        assert_eq!(output(ocaml), want);
    }
    std::fs::remove_dir_all(&dir).unwrap();
}
