//! What a program is lowered by: every choice, made before any of them is used.
//!
//! A schedule says what its writer wants. `Choices` are the values that lowering goes by, and they remember which of
//! them it read: those are printed, and a key that a user wrote and that nothing read is refused. A product modulo one
//! prime has choices of its own (`Product`): its words, its layout, its methods and its limits.

pub(crate) mod defaults;

use crate::method::{FreezeMethod, MulMethod, NarrowMethod, ReduceMethod};
use crate::schedule::{BaseProducts, Order, ScalePlace, Schedule, Weights};
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
        narrow: NarrowMethod = "narrow", narrow;
        freeze: Option<FreezeMethod> = "freeze", freeze;
        scale: ScalePlace = "scale", scale;
        fused_dot: bool = "fused-dot", fused_dot;
        unroll: u32 = "unroll", unroll;
        split_sums: u32 = "split-sums", split_sums;
        base: BaseProducts = "base", base;
        weights: Weights = "weights", weights;
        rows: bool = "rows", rows;
        fuse: u32 = "fuse", fuse;
        rotate_registers: bool = "rotate-registers", rotate_registers;
        in_order: u32 = "in-order", in_order;
        wide_sums: bool = "wide-sums", wide_sums;
        lanes: Option<u32> = "lanes", lanes;
        karatsuba_from: u32 = "karatsuba-from", karatsuba_from;
        rounds: u32 = "rounds", rounds;
        order: Order = "order", order;
        straight: u32 = "straight", straight;
        depth: u32 = "depth", depth;
        merge: u32 = "merge", merge;
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

    /// The same values, of which nothing is read.
    pub fn unread(&self) -> Choices {
        Choices::of(&self.values)
    }

    /// The values, for who makes others of them.
    pub fn values(&self) -> &Schedule {
        &self.values
    }

    /// Whether a user wrote this key.
    pub fn given(&self, key: &str) -> bool {
        self.values.given.contains(key)
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
                inner.insert(key.into(), value);
            }
        }
    }
}

/// A product modulo one number, as it was settled.
#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub modulus: u64,
    /// Bits of its words.
    pub bits: u8,
    /// Where its blocks lie.
    pub layout: &'static str,
    pub choices: Choices,
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

    /// Refuses a key that a user wrote and that the program does not go by.
    ///
    /// # Errors
    /// The first such key.
    pub(crate) fn check(&self, given: &Schedule) -> Result<(), Refused> {
        for key in given.given.keys() {
            let all = std::iter::once(&self.whole).chain(self.products.iter().map(|p| &p.choices));
            let mut read = all.filter(|choices| choices.is_read(key)).peekable();
            let value = given.value(key);
            let shown =
                |value: Option<toml::Value>| value.map_or("absent".into(), |v| v.to_string());
            let key = key.to_owned();
            if read.peek().is_none() {
                return Err(Refused::Unused { key, keys: self.keys() });
            }
            if let Some(other) =
                read.map(|choices| choices.values.value(&key)).find(|v| *v != value)
            {
                return Err(Refused::Other { value: shown(value), settled: shown(other), key });
            }
        }
        Ok(())
    }

    /// What was settled for a key, each value once.
    pub(crate) fn of(&self, key: &str) -> String {
        let all = std::iter::once(&self.whole).chain(self.products.iter().map(|p| &p.choices));
        let read = all.filter(|choices| choices.is_read(key));
        let shown = |value: Option<toml::Value>| value.map_or("absent".into(), |v| v.to_string());
        let mut values: Vec<String> = read.map(|c| shown(c.values.value(key))).collect();
        values.dedup();
        if values.is_empty() { "absent".into() } else { values.join(" or ") }
    }

    /// The keys that the program goes by, as a list for people.
    fn keys(&self) -> String {
        let all = || std::iter::once(&self.whole).chain(self.products.iter().map(|p| &p.choices));
        let read = KEYS.iter().filter(|key| all().any(|choices| choices.is_read(key)));
        let keys: Vec<String> = read.map(|key| format!("`{key}`")).collect();
        keys.join(", ")
    }
}

impl std::fmt::Display for Settled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut table = self.whole.table();
        for product in &self.products {
            let mut inner = product.choices.table();
            inner.insert("word".into(), i64::from(product.bits).into());
            inner.insert("layout".into(), product.layout.into());
            insert(&mut table, &format!("modulo.{}", product.modulus), inner.into());
        }
        f.write_str(&table.to_string())
    }
}

impl Refused {
    /// A value in whose place the plan needs another.
    pub(crate) fn other(key: &str, value: &str, settled: &str) -> Refused {
        Refused::Other { key: key.into(), value: value.into(), settled: settled.into() }
    }
}

/// Why a key that a user wrote is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nothing goes by it.
    #[error(
        "the schedule's `{key}` changes nothing here; what this plan goes by on this target: {keys}"
    )]
    Unused {
        /// The key.
        key: String,
        /// Those that something goes by.
        keys: String,
    },
    /// The plan needs another value.
    #[error(
        "the schedule's `{key} = {value}` is not for this plan on this target, which needs `{key} = {settled}`"
    )]
    Other {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What the plan needs.
        settled: String,
    },
    /// Something does not fit with it.
    #[error(
        "the schedule's `{key} = {value}` cannot be kept: {why}; without the key it is {settled}"
    )]
    Unkept {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What does not fit.
        why: String,
        /// What is settled without it.
        settled: String,
    },
    /// Several keys do not fit together.
    #[error("the schedule's {keys} cannot be kept together: {why}")]
    Together {
        /// The keys.
        keys: String,
        /// What does not fit.
        why: String,
    },
}
