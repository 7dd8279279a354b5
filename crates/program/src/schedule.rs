//! A schedule: the choices between a plan and a program, as data (TOML). docs/schedules.md has every key.
//!
//! ```
//! use ringforge_program::schedule::Schedule;
//! let schedule = Schedule::parse("multiply = \"barrett\"\n[limits]\nfull = 10922\n").unwrap();
//! assert_eq!(Schedule::parse(&schedule.to_string()).unwrap(), schedule);
//! ```

mod given;
mod section;

pub use given::Given;
pub use section::Section;

use crate::method::{FreezeMethod, MulMethod, NarrowMethod, ReduceMethod};
use crate::settle::insert;
use crate::unsigned::Unsigned;
use ringforge_targets::{Products, Target};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

include!(concat!(env!("OUT_DIR"), "/schedules.rs"));

/// All choices; what a text leaves out has the value of [`Schedule::default`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Schedule {
    /// Modular products by constants.
    pub multiply: MulMethod,
    /// Reductions of words.
    pub reduce: ReduceMethod,
    /// Modular products by constants in words of 32 bits, of digits and of last sums modulo q; absent: as the target has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_multiply: Option<MulMethod>,
    /// Reductions of such words; absent: as the target has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_reduce: Option<ReduceMethod>,
    /// 32-bit sums of products to words.
    pub narrow: NarrowMethod,
    /// The last step; `None` takes the cheapest whose domain holds what comes.
    pub freeze: Option<FreezeMethod>,
    /// Where the scale that the plan leaves is made good.
    pub scale: ScalePlace,
    /// Fused multiply-and-accumulate of pairs (AVX-VNNI) instead of two operations.
    pub fused_dot: bool,
    /// Base products per iteration of their loop.
    pub unroll: u32,
    /// How blocks are multiplied.
    pub base: BaseProducts,
    /// By lanes, squares of words are transposed by interleaving registers, else by strided stores; absent: interleaved where
    /// the plan asks for lanes and the machine has dot products.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interleave: Option<bool>,
    /// Where blocks are weighted before dot products.
    pub weights: Weights,
    /// If the products of the last level fill registers, products modulo 2^k stay rows of words
    /// down to that level, each by dot products. This is for machines whose registers hold only a
    /// pair of words.
    pub rows: bool,
    /// Steps of a transform of blocks run as one where a group of them has at most so many registers; 0 for none.
    pub fuse: u32,
    /// Blocks of Schönhage's transform are rotated in registers where a step's blocks fit the
    /// machine's registers. Otherwise they are rotated by loads, of blocks that are stored with
    /// half of their negatives. This is for machines that cut words out of two registers faster
    /// than they store one.
    pub rotate_registers: bool,
    /// After how many operations of straight-line code the compiler starts a new schedule. This is
    /// for compilers that would otherwise schedule for latency and spill registers; 0 for never.
    pub in_order: u32,
    /// By lanes, sums of products of 16-bit words are accumulated in words of 32 and reduced once.
    /// This is for machines that multiply and add into such words.
    pub wide_sums: bool,
    /// Words of 16 bits in a register, where the target has several widths, or loops, so that blocks of five, say, fill
    /// them; absent: the target's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes: Option<u32>,
    /// Bits of the words that products are computed in; absent: the shortest whose ranges fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<u8>,
    /// Where the blocks of a product lie; absent: the first that fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// By lanes, direct Toeplitz products of at least this size take one level of Karatsuba that
    /// the plan does not have; 0 for never.
    pub karatsuba_from: u32,
    /// Random orders that the placing of reductions tries.
    pub rounds: u32,
    /// How transformed arrays of x^n + 1 are ordered.
    pub order: Order,
    /// Transforms of x^n + 1 up to this n are straight-line code, longer ones loops.
    pub straight: u32,
    /// Most levels on whole registers between load and store, 1 to 3.
    pub depth: u32,
    /// Whether a product's operands are transformed one after the other, or side by side.
    pub operands: Operands,
    /// Every entry point gets one more, for arrays that hold so many elements of the ring; 1 for none.
    pub batch: u32,
    /// A transform of the whole ring has an entry point for the sum of so many base products, for each number.
    pub inner_products: Vec<u32>,
    /// The reductions of a transform of x^n + 1, all of them, by site; absent: as late as ranges
    /// allow.
    pub reductions: Option<Vec<String>>,
    /// Largest magnitudes at the borders of stages.
    pub limits: Limits,
    /// What is said otherwise for the products modulo some primes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub modulo: BTreeMap<String, Section>,
    /// Reductions to leave out, by site, whatever the ranges say (mutation tests).
    pub drop: Vec<String>,
    /// Reductions to add, by site.
    pub add: Vec<String>,
    /// Unsigned words, and where they are reduced: transforms of x^n + 1 down to single
    /// coefficients [TokudaKameyama23 §3.4]. Absent: signed words.
    pub unsigned: Option<Unsigned>,
    /// The keys that a text says: they are kept, or refused by name. Others are what usually serves.
    #[serde(skip)]
    pub given: Given,
}

/// How a transformed array is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As the last shuffles leave it: least work.
    Own,
    /// As FIPS 203 and 204 have it: leaf after leaf, the split by x^m - s before that by x^m + s.
    Standard,
}

/// How a product's operands are transformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operands {
    /// One after the other.
    Apart,
    /// Both at once, instruction by instruction: for processors that wait for results and have registers enough.
    Together,
}

/// How blocks of coefficients are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaseProducts {
    /// Dot products of broadcast pairs with unaligned loads, in 32-bit sums, where the plan says
    /// `(toeplitz)`; by lanes where it has another method.
    BroadcastDot,
    /// Transposed, one convolution in a lane, 16-bit Montgomery products, by the plan's methods:
    /// for machines (or compilers) without a dot product.
    Lanes,
}

/// Where the blocks of a product lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Each fills a register.
    Registers,
    /// A register holds several.
    Packed,
    /// Each has registers of its own.
    Apart,
}

/// Where blocks are weighted before dot products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// All before the first of the products, which read them from memory.
    Apart,
    /// Each with its own product: for machines that cut words out of registers.
    Within,
}

/// Where the scale is made good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScalePlace {
    /// In the inverse transform, where multiplications absorb most of it.
    Inverse,
    /// The same, in the last of its steps instead of the first one, where blocks fill registers.
    Last,
}

/// Largest magnitudes that a stage may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    /// First phase of the forward transform.
    pub forward_first: i64,
    /// Forward transform.
    pub forward: i64,
    /// First phase of the inverse transform.
    pub inverse_first: i64,
    /// The unreduced product's coefficients.
    pub full: i64,
    /// Small products in parts, by lanes, as the inverse transform finds them; sums of base products of whole transforms;
    /// absent: words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub products: Option<i64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            forward_first: 14_500,
            forward: 8_700,
            inverse_first: 10_900,
            full: 10_922,
            products: None,
        }
    }
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule {
            multiply: MulMethod::Montgomery,
            reduce: ReduceMethod::Barrett,
            long_multiply: None,
            long_reduce: None,
            narrow: NarrowMethod::Montgomery,
            freeze: None,
            scale: ScalePlace::Inverse,
            fused_dot: false,
            unroll: 1,
            base: BaseProducts::BroadcastDot,
            interleave: None,
            weights: Weights::Apart,
            rows: false,
            fuse: 0,
            rotate_registers: false,
            in_order: 0,
            wide_sums: false,
            lanes: None,
            word: None,
            layout: None,
            karatsuba_from: 16,
            rounds: 200,
            order: Order::Own,
            straight: 256,
            depth: 3,
            operands: Operands::Apart,
            batch: 1,
            inner_products: Vec::new(),
            reductions: None,
            limits: Limits::default(),
            modulo: BTreeMap::new(),
            drop: Vec::new(),
            add: Vec::new(),
            unsigned: None,
            given: Given::default(),
        }
    }
}

impl Schedule {
    /// The choices for portable C: nothing but operations on single words that every compiler
    /// turns to vector code, baseline x86-64 included.
    pub fn portable() -> Schedule {
        Schedule {
            base: BaseProducts::Lanes,
            reduce: ReduceMethod::Montgomery,
            // Karatsuba doubles both factors: 8·(2296 + 4·forward²/2^16) has to fit a word.
            limits: Limits {
                forward_first: 14_500,
                forward: 5_400,
                inverse_first: 10_900,
                full: 10_922,
                products: None,
            },
            ..Schedule::default()
        }
    }

    /// The choices for a target where none are given: what its products ask for.
    pub fn of(target: &Target) -> Schedule {
        let usual = match target.products {
            Products::Dots => Schedule::default(),
            Products::Words => Schedule::portable(),
        };
        // A test parses every description's text.
        usual.with(target.schedule).unwrap_or(usual)
    }

    /// The target with registers of the width that this schedule asks for; nothing where it has no such.
    pub fn target(&self, target: &Target) -> Option<Target> {
        let bits = self.lanes.map(|lanes| 16 * lanes as usize);
        bits.map_or(Some(*target), |bits| target.with_registers(bits))
    }

    /// This schedule where a text says nothing else.
    fn with(&self, text: &str) -> Result<Schedule, toml::de::Error> {
        self.over(toml::from_str(text)?)
    }

    /// This schedule with these values in place of its own.
    fn over(&self, given: toml::Table) -> Result<Schedule, toml::de::Error> {
        let mut all: toml::Table = toml::from_str(&self.to_string())?;
        for (key, value) in given {
            match (all.get_mut(&key), value) {
                (Some(toml::Value::Table(known)), toml::Value::Table(value)) if key == "limits" => {
                    known.extend(value);
                }
                (_, value) => {
                    all.insert(key, value);
                }
            }
        }
        Schedule::parse(&all.to_string())
    }

    /// What `schedules/PLAN.TARGET.toml` keeps for a plan on a target, as a search found it, and `schedules/PLAN.toml` for
    /// the plan on any target; nothing where there is no such file.
    ///
    /// # Errors
    /// A file is no schedule.
    pub fn saved(plan: &str, target: &str) -> Result<Option<Schedule>, toml::de::Error> {
        let names = [plan.to_owned(), format!("{plan}.{target}")];
        let found = SAVED.iter().filter(|(stem, _)| names.iter().any(|name| name == stem));
        let Some(target) = Target::find(target) else { return Ok(None) };
        let mut all = None;
        for (_, text) in found {
            let saved = toml::from_str::<toml::Table>(text)?;
            all.get_or_insert_with(toml::Table::new).extend(saved);
        }
        all.map(|text| Schedule::parse_for(&text.to_string(), target)).transpose()
    }

    /// Reads a TOML text; what it leaves out has the value of [`Schedule::default`].
    ///
    /// # Errors
    /// Where and what is no schedule, or out of range.
    pub fn parse(text: &str) -> Result<Schedule, toml::de::Error> {
        let schedule: Schedule = toml::from_str(text)?;
        if let Some(why) = schedule.out_of_range() {
            return Err(serde::de::Error::custom(why));
        }
        for modulus in schedule.modulo.keys() {
            schedule.check_section(modulus)?;
        }
        Ok(schedule)
    }

    /// The same; what the text leaves out has the value of [`Schedule::of`] this target.
    ///
    /// # Errors
    /// Where and what is no schedule, or out of range.
    pub fn parse_for(text: &str, target: &Target) -> Result<Schedule, toml::de::Error> {
        Schedule::parse(text)?; // whose errors know their place in the text
        Ok(Schedule { given: Given::of(text)?, ..Schedule::of(target).with(text)? })
    }

    /// The value of a key, as a text has it; nothing where a text need not say it.
    pub fn value(&self, key: &str) -> Option<toml::Value> {
        let all = toml::Value::try_from(self).ok()?;
        key.split('.').try_fold(all, |at, key| at.get(key).cloned())
    }

    /// This schedule with a layout, as if a user had written it.
    pub fn stating(&self, layout: Layout) -> Schedule {
        Schedule { layout: Some(layout), given: self.given.and("layout"), ..self.clone() }
    }

    /// This schedule with registers of so many words, as if a user had written it.
    pub fn with_lanes(&self, lanes: u32) -> Schedule {
        Schedule { lanes: Some(lanes), given: self.given.and("lanes"), ..self.clone() }
    }

    /// This schedule with a batch, as if a user had written it.
    pub fn batching(&self, batch: u32) -> Schedule {
        Schedule { batch, given: self.given.and("batch"), ..self.clone() }
    }

    /// This schedule where a key was not written: with the value that it has elsewhere.
    ///
    /// # Errors
    /// No value of another schedule is out of range.
    pub fn without(&self, key: &str, target: &Target) -> Result<Schedule, toml::de::Error> {
        let mut text = toml::Table::new();
        for given in self.given.keys().filter(|given| *given != key) {
            let Some(value) = self.value(given) else { continue };
            insert(&mut text, given, value);
        }
        Schedule::parse_for(&text.to_string(), target)
    }

    /// The first value that no program can go by, as a sentence.
    fn out_of_range(&self) -> Option<String> {
        let counts = [
            ("unroll", self.unroll, 1, 64),
            ("rounds", self.rounds, 1, 1_000_000),
            ("depth", self.depth, 1, 4),
            ("batch", self.batch, 1, 8),
        ];
        for (key, value, least, most) in counts {
            if !(least..=most).contains(&value) {
                return Some(match most {
                    u32::MAX => format!("`{key}` is {value}; it is at least {least}"),
                    _ => format!("`{key}` is {value}; it lies in [{least}, {most}]"),
                });
            }
        }
        if let Some(pairs) = self.inner_products.iter().find(|n| !(2..=64).contains(*n)) {
            return Some(format!("`inner-products` has {pairs}; each lies in [2, 64]"));
        }
        if let Some((first, _)) =
            self.inner_products.iter().zip(self.inner_products.iter().skip(1)).find(|(a, b)| a >= b)
        {
            return Some(format!(
                "`inner-products` has {first} before a number that is not larger; list them in order"
            ));
        }
        if let Some(bits) = self.word.filter(|bits| ![16, 32].contains(bits)) {
            return Some(format!("`word` is {bits}; it is 16 or 32"));
        }
        if let Some(lanes) = self.lanes.filter(|n| !(2..=50).contains(n) || n % 2 != 0) {
            return Some(format!("`lanes` is {lanes}; it is an even number in [2, 50]"));
        }
        let Limits { forward_first, forward, inverse_first, full, products } = self.limits;
        let limits = [
            ("forward-first", forward_first),
            ("forward", forward),
            ("inverse-first", inverse_first),
            ("full", full),
            ("products", products.unwrap_or(full)),
        ];
        let most = i64::from(i32::MAX);
        let wrong = limits.into_iter().find(|(_, value)| !(1..=most).contains(value));
        wrong.map(|(key, value)| format!("`limits.{key}` is {value}; it lies in [1, {most}]"))
    }
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&toml::to_string(self).map_err(|_| std::fmt::Error)?)
    }
}
