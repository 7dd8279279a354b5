//! What a program is lowered by: every choice, made before any of them is used.
//!
//! A schedule says what its writer wants. `Choices` are the values that lowering uses, and they
//! remember which of them it read. Those values are printed. A key that a user wrote and that
//! nothing read is refused. A product modulo one prime has choices of its own (`Product`): its
//! words, its layout, its methods and its limits.

pub(crate) mod defaults;
pub(crate) mod products;
mod refused;
pub(crate) mod transforms;

pub use refused::Refused;

use crate::lower::{LowerError, unsupported};
use crate::method::{FreezeMethod, MulMethod, NarrowMethod, ReduceMethod};
use crate::schedule::{BaseProducts, Layout, Operands, Order, ScalePlace, Schedule, Weights};
use crate::unsigned::Unsigned;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The values that lowering goes by.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    values: Schedule,
    /// Bit i: key i of [`KEYS`] was read, by this or by what was made from it.
    read: Arc<AtomicU64>,
}

macro_rules! keys {
    (
        values { $($name:ident: $type:ty = $key:literal, $($field:ident).+;)* }
        lists { $($list:ident: $listed:ty = $named:literal;)* }
    ) => {
        /// All keys, as a schedule's text names them.
        pub const KEYS: &[&str] = &[$($key,)* $($named),*];

        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Bit { $($name,)* $($list),* }

        impl Choices {
                $(pub fn $name(&self) -> $type {
                self.read.fetch_or(1 << Bit::$name as u32, Relaxed);
                self.values.$($field).+.clone()
            })*
            $(pub fn $list(&self) -> &$listed {
                self.read.fetch_or(1 << Bit::$list as u32, Relaxed);
                &self.values.$list
            })*

            /// These with other values, but for those that a user wrote; read of as they are.
            pub fn usual(&self, change: impl FnOnce(&mut Schedule)) -> Choices {
                let mut other = self.with(change);
                $(if self.given($key) {
                    other.values.$($field).+ = self.values.$($field).+.clone();
                })*
                $(if self.given($named) {
                    other.values.$list.clone_from(&self.values.$list);
                })*
                other
            }
        }
    };
}

keys! {
    values {
        multiply: MulMethod = "multiply", multiply;
        reduce: ReduceMethod = "reduce", reduce;
        long_multiply: Option<MulMethod> = "long-multiply", long_multiply;
        long_reduce: Option<ReduceMethod> = "long-reduce", long_reduce;
        narrow: NarrowMethod = "narrow", narrow;
        freeze: Option<FreezeMethod> = "freeze", freeze;
        scale: ScalePlace = "scale", scale;
        fused_dot: bool = "fused-dot", fused_dot;
        unroll: u32 = "unroll", unroll;
        base: BaseProducts = "base", base;
        interleave: Option<bool> = "interleave", interleave;
        weights: Weights = "weights", weights;
        rows: bool = "rows", rows;
        fuse: u32 = "fuse", fuse;
        rotate_registers: bool = "rotate-registers", rotate_registers;
        in_order: u32 = "in-order", in_order;
        wide_sums: bool = "wide-sums", wide_sums;
        lanes: Option<u32> = "lanes", lanes;
        word: Option<u8> = "word", word;
        layout: Option<Layout> = "layout", layout;
        karatsuba_from: u32 = "karatsuba-from", karatsuba_from;
        rounds: u32 = "rounds", rounds;
        order: Order = "order", order;
        straight: u32 = "straight", straight;
        depth: u32 = "depth", depth;
        operands: Operands = "operands", operands;
        batch: u32 = "batch", batch;
        forward_first: i64 = "limits.forward-first", limits.forward_first;
        forward: i64 = "limits.forward", limits.forward;
        inverse_first: i64 = "limits.inverse-first", limits.inverse_first;
        full: i64 = "limits.full", limits.full;
        products: Option<i64> = "limits.products", limits.products;
    }
    lists {
        reductions: Option<Vec<String>> = "reductions";
        drop: Vec<String> = "drop";
        add: Vec<String> = "add";
        inner_products: Vec<u32> = "inner-products";
        unsigned: Option<Unsigned> = "unsigned";
    }
}

impl Choices {
    /// The values of a schedule, none of them read.
    pub fn of(schedule: &Schedule) -> Choices {
        Choices { values: schedule.clone(), read: Arc::default() }
    }

    /// These with other values; what is read of them is read of these.
    pub fn with(&self, change: impl FnOnce(&mut Schedule)) -> Choices {
        let mut other = self.clone();
        change(&mut other.values);
        other
    }

    /// The same values, none of them read.
    pub fn unread(&self) -> Choices {
        Choices::of(&self.values)
    }

    /// The values, for code that makes others from them.
    pub fn values(&self) -> &Schedule {
        &self.values
    }

    /// Whether a user wrote this key.
    pub fn given(&self, key: &str) -> bool {
        self.values.given.contains(key)
    }

    /// What settlements differ in, as a schedule's text in one line.
    fn stated(&self) -> String {
        let keys = ["word", "layout", "lanes", "reduce", "limits"];
        let said = |key: &&str| Some(format!("{key} = {}", self.values.value(key)?));
        keys.iter().filter_map(said).collect::<Vec<_>>().join(", ")
    }

    /// Whether a key was read.
    fn is_read(&self, key: &str) -> bool {
        let read = self.read.load(Relaxed);
        KEYS.iter().position(|known| *known == key).is_some_and(|bit| read >> bit & 1 == 1)
    }

    /// The keys that were read, and their values as a schedule's text has them.
    fn table(&self) -> toml::Table {
        let mut table = toml::Table::new();
        for key in KEYS.iter().filter(|key| self.is_read(key)) {
            match self.values.value(key) {
                Some(toml::Value::Array(sites)) if sites.is_empty() && *key != "reductions" => {}
                Some(value) => insert(&mut table, key, value),
                None => {}
            }
        }
        table
    }
}

/// Puts a value where its key says, `limits.full` into a table.
pub(crate) fn insert(table: &mut toml::Table, key: &str, value: toml::Value) {
    match key.split_once('.') {
        None => drop(table.insert(key.into(), value)),
        Some((name, key)) => {
            let inner = table.entry(name).or_insert_with(|| toml::Table::new().into());
            if let Some(inner) = inner.as_table_mut() {
                insert(inner, key, value);
            }
        }
    }
}

/// A product modulo one number, as it was settled.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub modulus: u64,
    pub choices: Choices,
}

/// One of the settlements that were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The modulus of its product.
    pub modulus: u64,
    /// Its choices, as a schedule's text in one line.
    pub choices: String,
    /// Why it does not hold.
    pub refused: Option<String>,
}

/// The first candidate that holds, as it was made, and what was found of those that were looked at: with `survey` of all.
/// No choice is made anywhere else.
///
/// # Errors
/// None holds. Of all failures the last kind's first says most.
pub(crate) fn first<C, T>(
    candidates: Vec<C>,
    (modulus, survey): (u64, bool),
    choices: impl Fn(&C) -> &Choices,
    mut holds: impl FnMut(&C) -> Result<T, LowerError>,
) -> Result<(T, Vec<Verdict>), LowerError> {
    let (mut taken, mut failure) = (None, None);
    let mut verdicts = Vec::new();
    for candidate in &candidates {
        if taken.is_some() && !survey {
            break;
        }
        let made = holds(candidate);
        let refused = made.as_ref().err().map(LowerError::to_string);
        verdicts.push(Verdict { modulus, choices: choices(candidate).stated(), refused });
        match made {
            Ok(made) => drop(taken.get_or_insert(made)),
            Err(error) => {
                let kind = |e: &LowerError| matches!(e, LowerError::Unsupported { .. });
                if failure.as_ref().is_none_or(|f| kind(f) && !kind(&error)) {
                    failure = Some(error);
                }
            }
        }
    }
    match (taken, failure) {
        (Some(made), _) => Ok((made, verdicts)),
        (None, Some(failure)) if survey => {
            Err(LowerError::Unsettled { failure: failure.into(), verdicts })
        }
        (None, Some(failure)) => Err(failure),
        (None, None) => Err(unsupported("this product", "nothing can be settled", "another plan")),
    }
}

/// Everything that a program was lowered by.
#[derive(Clone, Debug)]
pub struct Settled {
    whole: Choices,
    /// Products with choices of their own.
    products: Vec<Product>,
}

impl From<Choices> for Settled {
    fn from(whole: Choices) -> Settled {
        Settled { whole, products: Vec::new() }
    }
}

impl Settled {
    pub(crate) fn new(whole: Choices, products: Vec<Product>) -> Settled {
        Settled { whole, products }
    }

    /// The choices that may have read a key, and its name there. A key of a product's section
    /// belongs to that product. Any other key belongs to the whole and to all products whose
    /// sections do not set it.
    fn scope<'a>(&'a self, given: &Schedule, key: &'a str) -> (Vec<&'a Choices>, &'a str) {
        let named = |p: &&Product, key: &str| key == format!("modulo.{}", p.modulus);
        if let Some((section, inner)) = key.strip_prefix("modulo.").and_then(|k| k.split_once('.'))
        {
            let section = format!("modulo.{section}");
            let own = self.products.iter().filter(|p| named(p, &section));
            return (own.map(|p| &p.choices).collect(), inner);
        }
        let others = self.products.iter().filter(|p| {
            let own = format!("modulo.{}.{key}", p.modulus);
            !given.given.contains(&own)
        });
        (std::iter::once(&self.whole).chain(others.map(|p| &p.choices)).collect(), key)
    }

    /// Refuses a key that a user wrote and that the program does not go by.
    ///
    /// # Errors
    /// The first such key.
    pub(crate) fn check(&self, given: &Schedule) -> Result<(), Refused> {
        for key in given.given.keys() {
            let (scope, inner) = self.scope(given, key);
            let mut read = scope.into_iter().filter(|choices| choices.is_read(inner)).peekable();
            let value = given.value(key);
            if read.peek().is_none() {
                return Err(Refused::Unused { key: key.to_owned(), keys: self.keys() });
            }
            if let Some(other) = read.map(|c| c.values.value(inner)).find(|v| *v != value) {
                return Err(Refused::other(key, &shown(value), &shown(other)));
            }
        }
        Ok(())
    }

    /// What was settled for a key, each value once.
    pub(crate) fn of(&self, given: &Schedule, key: &str) -> String {
        let (scope, inner) = self.scope(given, key);
        let read = scope.into_iter().filter(|choices| choices.is_read(inner));
        let mut values: Vec<String> = read.map(|c| shown(c.values.value(inner))).collect();
        values.dedup();
        if values.is_empty() { "absent".into() } else { values.join(" or ") }
    }

    /// The keys that the program goes by, as a list for people.
    fn keys(&self) -> String {
        let all = || std::iter::once(&self.whole).chain(self.products.iter().map(|p| &p.choices));
        let read = KEYS.iter().filter(|key| all().any(|choices| choices.is_read(key)));
        let keys = read.map(|key| format!("`{key}`"));
        let sections = self.products.iter().map(|p| format!("those of `[modulo.{}]`", p.modulus));
        keys.chain(sections).collect::<Vec<_>>().join(", ")
    }
}

/// A value as a text has it.
pub(crate) fn shown(value: Option<toml::Value>) -> String {
    value.map_or("absent".into(), |value| value.to_string())
}

impl std::fmt::Display for Settled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut table = self.whole.table();
        for product in &self.products {
            let inner = product.choices.table().into();
            insert(&mut table, &format!("modulo.{}", product.modulus), inner);
        }
        f.write_str(&table.to_string())
    }
}
