//! What a mutant does when it runs: compared with the original on random and on worst inputs,
//! in a process of its own.

use rand::{Rng, SeedableRng, rngs::StdRng};
use ringforge_ring::Ring;
use ringforge_toolchain::{
    Argument, CallError, Callee, Compiler, Element, Guard, Role, Scratch, Signature,
};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The product that objects are to compute.
#[derive(Clone, Debug)]
pub struct Product {
    /// The function's symbol.
    pub symbol: String,
    /// The ring; all three arrays have its degree.
    pub ring: Ring,
    /// Type of the coefficients.
    pub element: Element,
    /// Intervals of the two inputs' coefficients.
    pub inputs: [(i64, i64); 2],
    /// Interval of the output's coefficients.
    pub output: (i64, i64),
}

impl Product {
    /// The C function's arguments.
    pub fn signature(&self) -> Signature {
        let argument = |name: &str, role, range| Argument {
            name: name.into(),
            role,
            element: self.element,
            length: self.ring.degree(),
            align: self.element.bytes(),
            range,
        };
        Signature {
            symbol: self.symbol.clone(),
            arguments: vec![
                argument("c", Role::Output, self.output),
                argument("a", Role::Input, self.inputs[0]),
                argument("b", Role::Input, self.inputs[1]),
            ],
        }
    }
}

/// Two operands.
pub type Pair = (Vec<i64>, Vec<i64>);

/// What running a mutant showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// All products equal the original's.
    Same {
        /// How many.
        products: usize,
    },
    /// A product differs.
    Differs {
        /// The operands.
        operands: Box<Pair>,
        /// How many products were right before.
        after: usize,
    },
    /// It crashed, hung, wrote beside the output or changed an input.
    Misbehaves(String),
}

/// The original object, linked and ready to answer; mutants are compared with it.
pub struct Native {
    compiler: Compiler,
    product: Product,
    original: Callee,
    worst: Vec<Pair>,
    /// Random batches of one seed, kept: every mutant meets the same ones.
    kept: Mutex<Kept>,
}

/// Seed, and for each round the pairs' records with the original's answers.
type Kept = (u64, Vec<Arc<Batch>>);

/// Records of pairs and the original's answers.
struct Batch {
    records: Vec<u8>,
    wanted: Vec<u8>,
}

/// Pairs in a batch.
const ROUND: usize = 5_000;

const LIMIT: Duration = Duration::from_secs(60);

impl Native {
    /// Links the original and checks it against the ring product on a few inputs, so that the
    /// comparison means something.
    ///
    /// # Errors
    /// It does not link, does not run, or computes something else.
    pub fn new(compiler: &Compiler, product: &Product, object: &Path) -> Result<Native, String> {
        let original = Callee::build(compiler, &[object], &product.signature(), &[])
            .map_err(|e| e.to_string())?;
        let native = Native {
            compiler: compiler.clone(),
            product: product.clone(),
            original,
            worst: worst_pairs(product),
            kept: Mutex::default(),
        };
        let few: Vec<Pair> =
            native.worst.iter().take(6).cloned().chain(native.random(4, 1)).collect();
        let answers = native.run(&native.original, &few).map_err(|e| e.to_string())?;
        for ((a, b), c) in few.iter().zip(answers) {
            if c != product.ring.mul(a, b) {
                return Err("the original object does not compute the ring product".into());
            }
        }
        Ok(native)
    }

    /// `count` random pairs.
    pub fn random(&self, count: usize, seed: u64) -> Vec<Pair> {
        let mut rng = StdRng::seed_from_u64(seed);
        let [a, b] = self.product.inputs;
        let n = self.product.ring.degree();
        let mut operand =
            |(lo, hi)| (0..n).map(|_| rng.random_range(lo..=hi)).collect::<Vec<i64>>();
        (0..count).map(|_| (operand(a), operand(b))).collect()
    }

    fn records(&self, pairs: &[Pair]) -> Vec<u8> {
        let signature = self.original.signature();
        pairs.iter().flat_map(|(a, b)| signature.record(&[a, b])).collect()
    }

    fn run(&self, callee: &Callee, pairs: &[Pair]) -> Result<Vec<Vec<i64>>, CallError> {
        let answers = callee.call_many(self.records(pairs), Guard::Behind, LIMIT)?;
        let size = callee.signature().output_bytes();
        Ok(answers.chunks(size).map(|c| callee.signature().outputs(c).remove(0)).collect())
    }

    /// Links a mutant's object.
    ///
    /// # Errors
    /// It does not link.
    pub fn link(&self, object: &[u8]) -> Result<Callee, CallError> {
        let dir = Scratch::new()?;
        let path = dir.path().join("mutant.o");
        std::fs::write(&path, object)?;
        Callee::build(&self.compiler, &[&path], &self.product.signature(), &[])
    }

    /// Compares a mutant with the original on the worst cases (both guards) and on `random`
    /// random pairs.
    pub fn compare(&self, object: &[u8], random: usize, seed: u64) -> Behaviour {
        let callee = match self.link(object) {
            Ok(callee) => callee,
            Err(e) => return Behaviour::Misbehaves(e.to_string()),
        };
        let mut products = 0;
        for guard in [Guard::Before, Guard::Behind] {
            match self.batch(&callee, &self.worst, guard, products) {
                Behaviour::Same { products: n } => products += n,
                other => return other,
            }
        }
        self.random_search(&callee, random, seed, products)
    }

    /// Random pairs alone: what a test suite would see.
    pub fn random_search(
        &self,
        callee: &Callee,
        count: usize,
        seed: u64,
        before: usize,
    ) -> Behaviour {
        let mut products = before;
        for round in 0..count.div_ceil(ROUND) {
            let batch = match self.kept(seed, round) {
                Ok(batch) => batch,
                Err(e) => return Behaviour::Misbehaves(format!("the original: {e}")),
            };
            match self.answers(callee, &batch, Guard::Behind, products) {
                Behaviour::Same { products: n } => products += n,
                other => return other,
            }
        }
        Behaviour::Same { products }
    }

    /// Random batch number `round` of `seed`.
    fn kept(&self, seed: u64, round: usize) -> Result<Arc<Batch>, CallError> {
        let mut kept = self.kept.lock().unwrap_or_else(|e| e.into_inner());
        if kept.0 != seed {
            *kept = (seed, Vec::new());
        }
        while kept.1.len() <= round {
            let mut rng = StdRng::seed_from_u64(seed ^ ((kept.1.len() as u64 + 1) << 32));
            let (n, element) = (self.product.ring.degree(), self.product.element);
            let mut records = Vec::with_capacity(ROUND * 2 * n * element.bytes());
            for (lo, hi) in self.product.inputs.into_iter().cycle().take(2 * ROUND) {
                let words: Vec<i64> = (0..n).map(|_| rng.random_range(lo..=hi)).collect();
                element.encode(&words, &mut records);
            }
            let wanted = self.original.call_many(records.clone(), Guard::Behind, LIMIT)?;
            kept.1.push(Arc::new(Batch { records, wanted }));
        }
        Ok(kept.1[round].clone())
    }

    /// The pair of record number `i`.
    fn pair(&self, records: &[u8], i: usize) -> Pair {
        let size = self.product.ring.degree() * self.product.element.bytes();
        let operand = |k: usize| self.product.element.decode(&records[size * k..size * (k + 1)]);
        (operand(2 * i), operand(2 * i + 1))
    }

    fn batch(&self, callee: &Callee, pairs: &[Pair], guard: Guard, before: usize) -> Behaviour {
        let records = self.records(pairs);
        match self.original.call_many(records.clone(), guard, LIMIT) {
            Ok(wanted) => self.answers(callee, &Batch { records, wanted }, guard, before),
            Err(e) => Behaviour::Misbehaves(format!("the original: {e}")),
        }
    }

    fn answers(&self, callee: &Callee, batch: &Batch, guard: Guard, before: usize) -> Behaviour {
        let answers = match callee.call_many(batch.records.clone(), guard, LIMIT) {
            Ok(answers) => answers,
            Err(e) => return Behaviour::Misbehaves(e.to_string()),
        };
        let size = callee.signature().output_bytes();
        let pairs = answers.len() / size;
        match answers.chunks(size).zip(batch.wanted.chunks(size)).position(|(x, y)| x != y) {
            None => Behaviour::Same { products: pairs },
            Some(i) => Behaviour::Differs {
                operands: Box::new(self.pair(&batch.records, i)),
                after: before + i,
            },
        }
    }

    /// Whether the mutant's product of one pair is wrong (or it misbehaves).
    pub fn fails_on(&self, object: &[u8], pair: &Pair) -> bool {
        match self.link(object) {
            Ok(callee) => {
                let want = self.product.ring.mul(&pair.0, &pair.1);
                self.run(&callee, std::slice::from_ref(pair)).is_ok_and(|c| c[0] != want)
            }
            Err(_) => false,
        }
    }
}

/// Extreme coefficients in many sign patterns, monomials, small operands.
pub fn worst_pairs(product: &Product) -> Vec<Pair> {
    let [all_a, all_b] = product.inputs.map(|range| worst_operands(product.ring.degree(), range));
    let mut pairs = Vec::new();
    for (i, a) in all_a.iter().enumerate() {
        for b in all_b.iter().skip(i % 3).step_by(3).chain([&all_b[i]]) {
            pairs.push((a.clone(), b.clone()));
        }
    }
    pairs
}

fn worst_operands(n: usize, (lo, hi): (i64, i64)) -> Vec<Vec<i64>> {
    let mut operands: Vec<Vec<i64>> = vec![vec![hi; n], vec![lo; n], vec![0; n]];
    for block in [1, 2, 3, 5, 8, 9, 16, 48, 80, 90, 144, 160] {
        operands.push((0..n).map(|i| if i / block % 2 == 0 { hi } else { lo }).collect());
        operands.push((0..n).map(|i| if i % (block + 1) == 0 { hi } else { lo }).collect());
    }
    for at in [0, 1, n / 2, n - 1] {
        operands.push((0..n).map(|i| if i == at { hi } else { 0 }).collect());
    }
    operands.push((0..n).map(|i| (i % 3) as i64 - 1).map(|x| x.clamp(lo, hi)).collect());
    operands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(body: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("f.c"), dir.path().join("f.o"));
        let text = format!(
            "void f(short *c, const short *a, const short *b) {{ int x = a[0] * b[0]; {body} }}"
        );
        std::fs::write(&from, text).unwrap();
        Compiler::find(ringforge_testing::cc())
            .unwrap()
            .compile(&from, &["-O1".into()], &to)
            .unwrap();
        (dir, to)
    }

    const RIGHT: &str = "x %= 17; x -= x > 8 ? 17 : 0; x += x < -8 ? 17 : 0; c[0] = (short)x;";

    fn native() -> (tempfile::TempDir, Native) {
        let product = Product {
            symbol: "f".into(),
            ring: Ring::parse("Z17[x]/(x - 1)").unwrap(),
            element: Element::I16,
            inputs: [(-8, 8); 2],
            output: (-8, 8),
        };
        let (dir, path) = object(RIGHT);
        let native =
            Native::new(&Compiler::find(ringforge_testing::cc()).unwrap(), &product, &path)
                .unwrap();
        (dir, native)
    }

    #[test]
    fn tells_equal_from_wrong_from_dangerous() {
        let (_dir, native) = native();
        let run = |body: &str| {
            let (_dir, path) = object(body);
            native.compare(&std::fs::read(path).unwrap(), 500, 1)
        };
        assert!(matches!(run(RIGHT), Behaviour::Same { products } if products >= 500));
        let wrong = format!("{RIGHT} if (a[0] == 3 && b[0] == -2) c[0]++;");
        let Behaviour::Differs { operands, after } = run(&wrong) else { panic!() };
        assert_eq!((operands.0[0], operands.1[0]), (3, -2));
        assert!(after > 0);
        assert!(matches!(run(&format!("{RIGHT} c[1] = 0;")), Behaviour::Misbehaves(_)));
        assert!(matches!(run("__builtin_trap();"), Behaviour::Misbehaves(_)));
        let (_dir2, path) = object(&wrong);
        let bytes = std::fs::read(path).unwrap();
        assert!(native.fails_on(&bytes, &(vec![3], vec![-2])));
        assert!(!native.fails_on(&bytes, &(vec![3], vec![2])));
    }

    /// Words of 32 bits are drawn from their interval as well, and reported whole.
    #[test]
    fn wide_words_keep_to_their_range() {
        let dir = tempfile::tempdir().unwrap();
        let build = |name: &str, more: &str| {
            let (from, to) = (dir.path().join("f.c"), dir.path().join(name));
            let text = format!(
                "void f(int *c, const int *a, const int *b) {{ int x = a[0] * b[0]; {RIGHT} {more} }}"
            );
            std::fs::write(&from, text.replace("short", "int")).unwrap();
            Compiler::find(ringforge_testing::cc())
                .unwrap()
                .compile(&from, &["-O1".into()], &to)
                .unwrap();
            to
        };
        let product = Product {
            symbol: "f".into(),
            ring: Ring::parse("Z17[x]/(x - 1)").unwrap(),
            element: Element { bits: 32, signed: true },
            inputs: [(-8, 8); 2],
            output: (-8, 8),
        };
        let right = build("right.o", "");
        let native =
            Native::new(&Compiler::find(ringforge_testing::cc()).unwrap(), &product, &right)
                .unwrap();
        let compare =
            |more: &str| native.compare(&std::fs::read(build("mutant.o", more)).unwrap(), 500, 1);
        let outside = "if (a[0] > 8 || a[0] < -8 || b[0] > 8 || b[0] < -8) c[0]++;";
        assert!(matches!(compare(outside), Behaviour::Same { .. }));
        let wrong = compare("if (a[0] == 3 && b[0] == -2) c[0]++;");
        let Behaviour::Differs { operands, .. } = wrong else { panic!("{wrong:?}") };
        assert_eq!((operands.0[0], operands.1[0]), (3, -2));
    }

    #[test]
    fn a_wrong_original_is_noticed() {
        let (_dir, native) = native();
        let (_dir2, path) = object("c[0] = (short)x;");
        let again = Native::new(&native.compiler, &native.product, &path);
        assert!(again.is_err_and(|e| e.contains("does not compute")));
    }
}
