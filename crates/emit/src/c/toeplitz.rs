//! A Toeplitz matrix–vector product as assembly for Cortex-M4. It keeps six sums, their factors and
//! the pointers to these in fourteen registers, which compilers do not.
//!
//! Words of 32 bits are pairs of coefficients: D_k is (d_2k, d_(2k+1)), V_j is (v_2j, v_(2j+1)).
//! Rows of the result are computed in pairs. For pair i, let k = top + i - j. The odd row is the
//! sum over j of the crosswise dot product of V_j and D_k (`smladx`). The even row is the sum over
//! j of the dot product of V_j and (d_2k, d_(2k-1)) (`smlad`). `pkhbt` makes that pair from D_k and
//! D_(k-1).
//!
//! Three pairs of rows are a tile. Along a diagonal k is constant. So each D_k is loaded once in a
//! tile, used for the three pairs and dropped. Three V_j wait in registers that take turns. Sums
//! are Montgomery-reduced, two instructions each, or their low halves are the result.

use super::Writer;
use super::block::index;
use super::fused::{All, Fused, Kind};
use ringforge_program::ir::*;

/// Pairs of rows in a tile. With these, all registers but the stack pointer are in use.
const TILE: usize = 3;

/// Where the next results go.
const OUT: &str = "r0";

/// The diagonals of the tile.
const DIAGONALS: &str = "r1";

/// The vector.
const VECTOR: &str = "r2";

/// Words of the diagonals, in turns.
const WINDOW: [&str; 2] = ["r3", "r4"];

/// Words of the vector, in turns.
const WAITING: [&str; TILE] = ["r5", "r6", "r7"];

/// Sums of even rows and of odd ones.
const SUMS: [[&str; 2]; TILE] = [["r8", "r9"], ["r10", "r11"], ["r12", "lr"]];

/// The most pairs of columns in all tiles together for which tiles are written one after another:
/// some 9,000 bytes.
const STRAIGHT: usize = 256;

/// Where the quotients of Montgomery's reductions are made, and 1/q with -q above it.
const QUOTIENT: &str = WAITING[0];
const OVER_Q: &str = WAITING[1];

/// A block that is such a product.
pub struct Toeplitz {
    out: Place,
    vector: Place,
    /// The lowest word of the diagonals that is read.
    diagonals: Place,
    /// Pairs of columns.
    columns: usize,
    /// Pairs of rows.
    rows: usize,
    /// q and 1/q mod 2^16 where sums are reduced, else their low halves are taken.
    reduced: Option<(i32, i32)>,
}

/// A place in a buffer.
type Place = (BufferId, Index);

fn moved((buffer, at): &Place, by: i64) -> Place {
    (*buffer, Index { base: at.base + by, terms: at.terms.clone() })
}

/// Where the factors of a sum of dot products lie: pairs of a vector, exchanged, and of the diagonals.
fn factors(ops: &[Op], sum: Value) -> Option<Vec<[Place; 2]>> {
    let of = |v: Value| &ops[v.0 as usize];
    let one = |a: Value, b: Value| {
        let (&Op::SwapPairs(pair), Op::Load { buffer, at }) = (of(a), of(b)) else { return None };
        let Op::BroadcastPair { buffer: vector, at: column } = of(pair) else { return None };
        Some([(*vector, column.clone()), (*buffer, at.clone())])
    };
    let (mut all, mut sum) = (Vec::new(), sum);
    loop {
        match *of(sum) {
            Op::PairDot(a, b) => {
                all.push(one(a, b)?);
                all.reverse();
                return Some(all);
            }
            Op::PairDotAdd { acc, a, b } => {
                all.push(one(a, b)?);
                sum = acc;
            }
            _ => return None,
        }
    }
}

impl Toeplitz {
    /// Recognises the product in a block over `lanes` lanes.
    pub fn of(block: &Block, fused: &All, lanes: usize) -> Option<Toeplitz> {
        let ops = &block.ops;
        let of = |v: Value| &ops[v.0 as usize];
        let stores = ops.iter().filter(|op| matches!(op, Op::Store { .. })).count();
        let Some(Op::Store { buffer, at, a }) = ops.last() else { return None };
        let (even, odd, reduced) = match (of(*a), &fused.last[a.0 as usize]) {
            (_, Some(Fused { kind: Kind::Narrow { even, odd, inverse }, q, .. })) => {
                (*even, *odd, Some((*q, *inverse)))
            }
            (&Op::Blend { a: even, b: up, mask: 0xaa }, _) => match of(up) {
                &Op::ShlWide(odd, 16) => (even, odd, None),
                _ => return None,
            },
            _ => return None,
        };
        let (evens, odds) = (factors(ops, even)?, factors(ops, odd)?);
        let [vector, first] = evens.first()?;
        let columns = evens.len();
        let same = |found: &[[Place; 2]], parity: i64| {
            let expected = (0..)
                .step_by(2)
                .map(|column| [moved(vector, column), moved(first, parity - column)]);
            found.len() == columns && found.iter().cloned().eq(expected.take(columns))
        };
        let diagonals = moved(first, 1 - 2 * columns as i64);
        // Words are whole ones of 32 bits wherever loops have come to.
        let whole =
            |(_, at): &Place| at.base % 2 == 0 && at.terms.iter().all(|term| term.1 % 2 == 0);
        let out = (*buffer, at.clone());
        let regular = stores == 1 && same(&evens, 0) && same(&odds, 1);
        let whole = [&out, vector, &diagonals].into_iter().all(whole) && diagonals.1.base >= 0;
        let fits = columns >= TILE && lanes.is_multiple_of(2);
        (regular && whole && fits).then(|| Toeplitz {
            out,
            vector: vector.clone(),
            diagonals,
            columns,
            rows: lanes / 2,
            reduced,
        })
    }

    /// The instructions for `pairs` pairs of rows. `DIAGONALS` points to the first pair's
    /// diagonals.
    fn tile(&self, pairs: usize) -> Vec<String> {
        let mut code = Vec::new();
        // The first term of a sum is no sum yet.
        let mut begun = [[false; 2]; TILE];
        let top = self.columns + pairs - 1;
        code.push(format!("ldr {}, [{DIAGONALS}, #{}]", WINDOW[top % 2], 4 * top));
        for k in (1..=top).rev() {
            let [now, next] = [k, k - 1].map(|k| WINDOW[k % 2]);
            // The pair that comes last is the one that needs a word of the vector first.
            let column = |pair: usize| (self.columns + pair).checked_sub(k);
            if let Some(new) = column(pairs - 1).filter(|j| *j < self.columns) {
                code.push(format!("ldr {}, [{VECTOR}, #{}]", WAITING[new % TILE], 4 * new));
            }
            code.push(format!("ldr {next}, [{DIAGONALS}, #{}]", 4 * (k - 1)));
            for parity in [1, 0] {
                if parity == 0 {
                    code.push(format!("pkhbt {now}, {now}, {next}"));
                }
                let cross = if parity == 1 { "x" } else { "" };
                for pair in 0..pairs {
                    let Some(j) = column(pair).filter(|j| *j < self.columns) else { continue };
                    let (sum, v) = (SUMS[pair][parity], WAITING[j % TILE]);
                    code.push(match std::mem::replace(&mut begun[pair][parity], true) {
                        false => format!("smuad{cross} {sum}, {v}, {now}"),
                        true => format!("smlad{cross} {sum}, {v}, {now}, {sum}"),
                    });
                }
            }
        }
        // Early: an address that was just computed is waited for.
        code.push(format!("add {DIAGONALS}, {DIAGONALS}, #{}", 4 * TILE));
        if let Some((q, inverse)) = self.reduced {
            code.push(format!("movw {OVER_Q}, #{}", inverse as u16));
            code.push(format!("movt {OVER_Q}, #{}", -q as u16));
            for sum in SUMS[..pairs].iter().flatten() {
                code.push(format!("smulbb {QUOTIENT}, {sum}, {OVER_Q}"));
                code.push(format!("smlabt {sum}, {QUOTIENT}, {OVER_Q}, {sum}"));
            }
        }
        for [even, odd] in &SUMS[..pairs] {
            code.push(match self.reduced {
                Some(_) => format!("pkhtb {even}, {odd}, {even}, asr #16"),
                None => format!("pkhbt {even}, {even}, {odd}, lsl #16"),
            });
        }
        for [even, _] in &SUMS[..pairs] {
            code.push(format!("str {even}, [{OUT}], #4"));
        }
        code
    }

    /// All lines of the assembly, with those of the preprocessor between them. Few tiles are
    /// written one after another unless the compiler optimises for size; otherwise they are in a
    /// loop. A smaller tile computes what is left. The end of the loop waits on the stack, and so
    /// does r7, which compilers may keep for themselves.
    fn code(&self) -> Vec<String> {
        let (tiles, rest) = (self.rows / TILE, self.rows % TILE);
        let (end, step) = (WINDOW[0], 4 * TILE);
        let instructions = |lines: &[String]| -> Vec<String> {
            lines.iter().map(|line| format!("\"{line}\\n\"")).collect()
        };
        let choice = |looped: Vec<String>, straight: String| -> Vec<String> {
            let looped = instructions(&looped);
            if tiles * self.columns > STRAIGHT {
                return looped;
            }
            let straight = instructions(&[straight]);
            let between = |line: &str| vec![line.to_owned()];
            let parts = [between("#ifdef __OPTIMIZE_SIZE__"), looped, between("#else"), straight];
            [parts.concat(), between("#endif")].concat()
        };
        let mut code = instructions(&[
            format!("add {end}, {DIAGONALS}, #{}", step * tiles),
            format!("push {{{end}, r7}}"),
        ]);
        if tiles > 0 {
            code.extend(choice(vec![".p2align 2".into(), "1:".into()], format!(".rept {tiles}")));
            code.extend(instructions(&self.tile(TILE)));
            let turn =
                [format!("ldr {end}, [sp]"), format!("cmp {DIAGONALS}, {end}"), "bne 1b".into()];
            code.extend(choice(turn.to_vec(), ".endr".into()));
        }
        if rest > 0 {
            code.extend(instructions(&self.tile(rest)));
        }
        code.extend(instructions(&[format!("pop {{{end}, r7}}")]));
        code
    }
}

impl Writer<'_> {
    /// Renders a Toeplitz product as assembly.
    pub fn toeplitz(&mut self, product: &Toeplitz) {
        let place =
            |(buffer, at): &Place| format!("&{}[{}]", self.buffer(*buffer), index(at, None));
        let Toeplitz { out, vector, diagonals, .. } = product;
        let [out, vector, diagonals] = [out, vector, diagonals].map(place);
        self.line("{");
        self.depth += 1;
        self.line(&format!("register int16_t *rows __asm__(\"{OUT}\") = {out};"));
        self.line(&format!("register const int16_t *at __asm__(\"{DIAGONALS}\") = {diagonals};"));
        self.line(&format!("register const int16_t *v __asm__(\"{VECTOR}\") = {vector};"));
        self.long_assembly(&product.code());
        self.line(": \"+r\"(rows), \"+r\"(at)");
        self.line(": \"r\"(v)");
        let taken = WINDOW.iter().chain(&WAITING[..TILE - 1]).chain(SUMS.iter().flatten());
        let taken: Vec<String> = taken.map(|register| format!("\"{register}\"")).collect();
        self.line(&format!(": {}, \"cc\", \"memory\");", taken.join(", ")));
        self.end_assembly();
        self.depth -= 1;
        self.line("}");
    }
}
