//! The schoolbook product in plain C, with which every package is compared.

use std::fmt::Write as _;
use std::path::Path;

use ringforge_emit::Preamble;
use ringforge_plan::{Operand, Plain, Plan};
use ringforge_ring::Ring;
use ringforge_toolchain::timing::{Candidate, Code, Timing};
use ringforge_toolchain::{Compiler, Signature};
use serde::Serialize;

use crate::make::{self, Made};
use crate::preset::Job;
use crate::target::Target;
use crate::ui::Failure;

/// A target's product and the faster of the plain ones, both by the same compiler with the same
/// instructions.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The target.
    pub target: String,
    /// Core cycles of the plain product, in the median.
    pub cycles: f64,
    /// Those of the package's product.
    pub ours: f64,
    /// Whether the package's is slower by more than the noise of both.
    pub slower: bool,
}

impl Compared {
    /// What two timings say.
    pub fn of(target: &Target, plain: &Timing, ours: &Timing) -> Compared {
        let slower = plain.measured(0).beats(&ours.measured(0));
        let (cycles, ours) = (plain.median, ours.median);
        Compared { target: target.name.into(), cycles, ours, slower }
    }

    /// For each target the comparison with what takes fewest cycles.
    pub fn fastest(all: impl Iterator<Item = Compared>) -> Vec<Compared> {
        let mut kept: Vec<Compared> = Vec::new();
        for one in all {
            match kept.iter_mut().find(|other| other.target == one.target) {
                Some(other) if one.cycles < other.cycles => *other = one,
                Some(_) => {}
                None => kept.push(one),
            }
        }
        kept
    }

    /// A loud word, where one is due.
    pub fn warning(&self) -> Option<String> {
        let Compared { target, cycles, ours, slower } = self;
        slower.then(|| {
            format!(
                "target {target}: this product takes {ours:.0} cycles, and plain schoolbook C by the same \
                 compiler {cycles:.0}; --try N tries more plans"
            )
        })
    }
}

/// The plain product, compiled for a target, to be timed under the name that it has in tables.
///
/// # Errors
/// The compiler fails, or the scratch directory cannot be written.
pub fn candidate(
    (ring, operands): (&Ring, [Operand; 2]),
    (target, product): (&Target, &Signature),
    (compiler, opt): (&Compiler, &str),
    scratch: &Path,
) -> Result<Candidate, Failure> {
    let name = format!("plain_{}", target.name);
    let mut signature = product.clone();
    signature.symbol = format!("schoolbook_{}", target.name);
    let (file, object) = (scratch.join(format!("{name}.c")), scratch.join(format!("{name}.o")));
    let bits = if ring.q() > 1 << 16 { 32 } else { 16 };
    std::fs::write(&file, source(ring, operands, &signature.symbol, bits))
        .map_err(|e| Failure::failed(format!("cannot write {}: {e}", file.display())))?;
    let mut flags = make::flags(opt);
    flags.extend(target.features.iter().map(|feature| format!("-m{feature}")));
    compiler.compile(&file, &flags, &object).map_err(|e| Failure::failed(e.to_string()))?;
    let name = format!("schoolbook, plain C ({})", target.name);
    Ok(Candidate { name, code: Code::Objects(vec![object], signature) })
}

/// The product of the plan of plain C, unproved: sums of dots, and the form of the remainder that
/// suits f. There is none if the package uses that plan.
///
/// # Errors
/// As [`candidate`].
pub fn by_plan(
    (made, operands): (&Made, [Operand; 2]),
    (compiler, opt): (&Compiler, &str),
    scratch: &Path,
) -> Result<Option<Candidate>, Failure> {
    let ring = &made.plan.ring;
    if made.plan.is_plain() {
        return Ok(None);
    }
    let form = if Plain::suits_quotient(ring) { "(plain quotient)" } else { "(plain)" };
    let plan = Plan::parse(&format!("(plan plain (ring \"{ring}\") {form})"));
    let Ok(plan) = plan.and_then(|plan| plan.with_operands(operands)) else { return Ok(None) };
    let job = Job { name: "plain".into(), operands, plan };
    let Ok(loops) = make::make(&job, made.target, &made.target.schedule(), "loops") else {
        return Ok(None);
    };
    let file = scratch.join(format!("loops_{}.c", made.target.name));
    let object = file.with_extension("o");
    std::fs::write(&file, made.target.emit(&loops.program, &Preamble::default())?)
        .map_err(|e| Failure::failed(format!("cannot write {}: {e}", file.display())))?;
    compiler
        .compile(&file, &make::flags(opt), &object)
        .map_err(|e| Failure::failed(e.to_string()))?;
    let name = format!("loops of dots, plain C ({})", made.target.name);
    let signature = loops.entry(None)?.signature.clone();
    Ok(Some(Candidate { name, code: Code::Objects(vec![object], signature) }))
}

/// Sums in the smallest words that hold them, the remainder term by term, and one canonical residue
/// at the end.
fn source(ring: &Ring, operands: [Operand; 2], symbol: &str, bits: u8) -> String {
    let (n, q, f) = (ring.degree(), ring.q(), ring.modulus());
    let [a, b] = operands.map(|operand| i128::from(operand.bound(q)));
    let terms: Vec<(usize, i64)> =
        f[..n].iter().copied().enumerate().filter(|&(_, c)| c != 0).collect();
    let fold: i128 = terms.iter().map(|&(_, c)| i128::from(c.abs())).max().unwrap_or(0);
    let most = n as i128 * (a * b + i128::from(q) * fold);
    // Words that wrap are right modulo powers of two.
    let wraps = q.is_power_of_two() && bits == 16;
    let sum = match () {
        () if wraps => "uint16_t",
        () if most < 1 << 31 => "int32_t",
        () => "int64_t",
    };
    let mut text = "#include <stdint.h>\n\n".to_string();
    let dense = terms.len() > 8;
    if dense {
        let all: Vec<String> = f[..n].iter().map(i64::to_string).collect();
        let _ = writeln!(text, "static const int{bits}_t f[{n}] = {{ {} }};\n", all.join(", "));
    }
    let _ = write!(
        text,
        "void {symbol}(int{bits}_t *c, const int{bits}_t *a, const int{bits}_t *b)\n{{\n\
         \x20   {sum} t[{length}] = {{ 0 }};\n\
         \x20   for (int i = 0; i < {n}; i++)\n\
         \x20       for (int j = 0; j < {n}; j++)\n\
         \x20           t[i + j] += ({sum})(({wide})a[i] * b[j]);\n\
         \x20   for (int k = {last}; k >= {n}; k--) {{\n\
         \x20       const {sum} r = {rest};\n",
        length = 2 * n - 1,
        last = 2 * n - 2,
        wide = if bits == 16 { "int32_t" } else { "int64_t" },
        rest = if wraps { "t[k]".into() } else { format!("t[k] % {q}") },
    );
    if dense {
        let _ = writeln!(
            text,
            "        for (int j = 0; j < {n}; j++)\n            t[k - {n} + j] -= ({sum})(f[j] * r);"
        );
    } else {
        for (i, c) in terms {
            let at = n - i;
            let _ = match c {
                1 => writeln!(text, "        t[k - {at}] -= r;"),
                -1 => writeln!(text, "        t[k - {at}] += r;"),
                c => writeln!(text, "        t[k - {at}] -= ({sum})({c} * r);"),
            };
        }
    }
    let _ = write!(text, "    }}\n    for (int k = 0; k < {n}; k++) {{\n");
    if wraps {
        let up = 16 - q.trailing_zeros();
        let _ = writeln!(text, "        c[k] = (int16_t)((int16_t)(t[k] << {up}) >> {up});");
    } else {
        let (low, high) = (q / 2, (q - 1) / 2);
        let _ = write!(
            text,
            "        int64_t r = t[k] % {q};\n\
             \x20       r += r < -{low} ? {q} : 0;\n\
             \x20       r -= r > {high} ? {q} : 0;\n\
             \x20       c[k] = (int{bits}_t)r;\n"
        );
    }
    text + "    }\n}\n"
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::process::Command;

    /// A timing of so many cycles, with that noise.
    pub fn timing(median: f64, noise: f64) -> Timing {
        Timing {
            name: String::new(),
            min: median,
            median,
            ratio: 1.0,
            runs: 1,
            dropped: 0,
            noisy: false,
            busy: 0,
            samples: 1,
            noise,
            least: median,
            doubt: noise,
        }
    }

    /// It is the product: compiled, run on both ends of the ranges, and compared.
    #[test]
    fn is_the_product() {
        let dir = tempfile::tempdir().expect("a directory");
        let compiler = Compiler::any().expect("a compiler");
        let rings = [
            "Z4591[x]/(x^17 - x - 1)",
            "Z65521[x]/(x^16 + 3x^5 - 1)",
            "Z256[x]/(x^19 - x^3 + 1)",
            "Z6[x]/(x^18 + 1)",
            "Z97[x]/(x^12 + 2x^11 + 3x^10 + 4x^9 + 5x^8 + 6x^7 + 7x^6 + 8x^5 + 9x^4 + x^3 + 5)",
            "Z8380417[x]/(x^16 + 1)",
        ];
        for text in rings {
            let ring: Ring = text.parse().expect("a ring");
            let (n, q) = (ring.degree(), ring.q());
            let bits = if q > 1 << 16 { 32 } else { 16 };
            let half = q as i64 / 2;
            let a: Vec<i64> =
                (0..n).map(|i| if i % 3 == 0 { -half } else { (q as i64 - 1) / 2 }).collect();
            let b: Vec<i64> = (0..n as i64).map(|i| (i * i * 7919 + 3) % q as i64 - half).collect();
            let list = |all: &[i64]| all.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            let main = format!(
                "#include <stdio.h>\nint main(void) {{ int{bits}_t c[{n}], a[] = {{ {} }}, b[] = {{ {} }};\n\
                 f_(c, a, b); for (int i = 0; i < {n}; i++) printf(\"%d \", (int)c[i]); return 0; }}\n",
                list(&a),
                list(&b)
            );
            let (file, program) = (dir.path().join("p.c"), dir.path().join("p"));
            std::fs::write(&file, source(&ring, [Operand::Big; 2], "f_", bits) + &main)
                .expect("written");
            compiler
                .run(&["-O2".into(), "-o".into(), program.clone().into(), file.into()])
                .expect("compiles");
            let out = Command::new(&program).output().expect("runs").stdout;
            let c: Vec<i64> = String::from_utf8_lossy(&out)
                .split_whitespace()
                .map(|word| word.parse().expect("a number"))
                .collect();
            assert_eq!(c, ring.mul(&a, &b), "{text}");
        }
    }

    #[test]
    fn the_faster_of_two_is_compared_with() {
        let target = crate::target::find("c").unwrap_or_else(|e| panic!("{}", e.message));
        let compared = |plain| Compared::of(target, &timing(plain, 0.0), &timing(100.0, 0.0));
        let kept = Compared::fastest([120.0, 90.0, 110.0].map(compared).into_iter());
        assert!(matches!(&kept[..], [one] if one.slower && one.cycles == 90.0), "{kept:?}");
    }

    #[test]
    fn only_what_is_slower_beyond_the_noise_is_warned_of() {
        let target = crate::target::find("c").unwrap_or_else(|e| panic!("{}", e.message));
        let compared = |plain: f64, ours: f64, noise: f64| {
            Compared::of(target, &timing(plain, 0.0), &timing(ours, noise))
        };
        assert!(compared(100.0, 103.0, 0.04).warning().is_none());
        assert!(compared(100.0, 90.0, 0.0).warning().is_none());
        let said = compared(100.0, 103.0, 0.02).warning().expect("a warning");
        assert!(
            said.contains("takes 103 cycles, and plain schoolbook C by the same compiler 100"),
            "{said}"
        );
    }
}
