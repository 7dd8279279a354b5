//! The functions that a chain may call.

use crate::arguments::interval;
use crate::calls::Interface;
use crate::clauses::At;
use crate::contract::{Abi, Argument, Contract, ContractError, Given, Role};
use crate::map::{self, MapContract, MapKind};
use ringforge_ring::Ring;
use toml::Spanned;

/// A function's contract.
#[derive(Clone, Debug)]
pub enum Callee {
    /// Of a function of a ring.
    Ring(Contract),
    /// Of one that handles each element by itself.
    Map(MapContract),
}

/// An argument.
pub(super) struct Slot<'a> {
    pub memory: &'a Argument,
    /// Coefficients, and the bits of each.
    pub fields: usize,
    pub bits: u8,
}

impl Slot<'_> {
    /// Whether a step names an array for it.
    pub fn is_array(&self) -> bool {
        self.memory.role.reads() || self.memory.role.writes()
    }
}

/// Why what a function leaves is of more than single coefficients, if so.
fn of_more(contract: &MapContract) -> Option<&'static str> {
    let written = || contract.arguments.iter().filter_map(|a| a.formula.as_ref());
    if !contract.sums.is_empty() || written().any(|f| contract.counts(&f.root)) {
        return Some("has `sum` or `index` in a formula");
    }
    let encodes = contract.arguments.iter().any(|a| !a.radices.is_empty());
    encodes.then_some("encodes digits of several coefficients together")
}

impl Callee {
    /// Reads a contract of either kind.
    ///
    /// # Errors
    /// With the position of the first thing that is wrong.
    pub fn parse(text: &str) -> Result<Callee, ContractError> {
        match map::is_for(text) {
            true => MapContract::parse(text).map(Callee::Map),
            false => Contract::parse(text).map(Callee::Ring),
        }
    }

    /// The function's symbol.
    pub fn symbol(&self) -> &str {
        match self {
            Callee::Ring(contract) => &contract.symbol,
            Callee::Map(contract) => &contract.symbol,
        }
    }

    /// Its calling convention.
    pub fn abi(&self) -> Abi {
        match self {
            Callee::Ring(contract) => contract.abi,
            Callee::Map(contract) => contract.abi,
        }
    }

    /// The data that other objects give it.
    pub(super) fn given(&self) -> &[Given] {
        match self {
            Callee::Ring(contract) => &contract.given,
            Callee::Map(contract) => &contract.given,
        }
    }

    pub(super) fn ring(&self) -> Option<&Ring> {
        match self {
            Callee::Ring(contract) => Some(&contract.ring),
            Callee::Map(_) => None,
        }
    }

    pub(super) fn interface(&self) -> Interface<'_> {
        match self {
            Callee::Ring(contract) => contract.interface(),
            Callee::Map(contract) => contract.interface(),
        }
    }

    /// Why no chain can have it, if so.
    pub(super) fn refused(&self) -> Option<String> {
        let contract = match self {
            Callee::Map(contract) => contract,
            Callee::Ring(contract) if contract.batch > 1 => {
                let m =
                    "handles several elements at once: for a chain, name one for a single element";
                return Some(m.into());
            }
            Callee::Ring(_) => return None,
        };
        let m = match contract.computes {
            MapKind::Map => of_more(contract),
            MapKind::Equal(_) => Some("compares two arrays and leaves none"),
            MapKind::Sort => Some("sorts an array, which is no formula"),
        };
        if let Some(m) = m {
            return Some(format!("{m}: a chain has no place for it"));
        }
        let number = contract.arguments.iter().find(|a| a.any_number())?;
        let name = &number.memory.name;
        Some(format!("takes any number as `{name}`: for a chain, give it a `value`"))
    }

    /// The same function's contract for another range of an argument that is read or written.
    pub(super) fn narrow(
        &mut self,
        argument: &Spanned<String>,
        range: &Spanned<[i64; 2]>,
    ) -> Result<(), At> {
        let packed = |bits: u8, a: &Argument| bits != a.element.bits();
        let name = argument.as_ref();
        let found = match self {
            Callee::Ring(contract) => contract.arguments.iter_mut().find(|a| a.name == *name),
            Callee::Map(contract) => (contract.arguments.iter_mut())
                .find(|a| a.memory.name == *name && !packed(a.bits, &a.memory))
                .map(|a| &mut a.memory),
        };
        let one = |a: &&mut Argument| matches!(a.role, Role::Input | Role::Output);
        let Some(a) = found.filter(one) else {
            let m = format!(
                "`{name}` is no input or output of whole words of `{}`: give the contract itself another range",
                self.symbol()
            );
            return Err((argument.span().start, m));
        };
        a.range = interval(range, a.element)?;
        a.exit = a.range;
        // As in the contract: the proof takes what is common to both.
        if let Callee::Ring(contract) = self
            && contract.computes.accumulates()
            && contract.alias.iter().any(|&(x, y)| {
                let (x, y) = (contract.arguments[x].range, contract.arguments[y].range);
                x.0 > y.1 || y.0 > x.1
            })
        {
            let m = "the aliased arguments have no value in common in their ranges";
            return Err((range.span().start, m.into()));
        }
        Ok(())
    }

    pub(super) fn slots(&self) -> Vec<Slot<'_>> {
        match self {
            Callee::Ring(contract) => (contract.arguments.iter())
                .map(|a| Slot { memory: a, fields: a.length, bits: a.element.bits() })
                .collect(),
            Callee::Map(contract) => (contract.arguments.iter())
                .map(|a| Slot { memory: &a.memory, fields: a.length, bits: a.bits })
                .collect(),
        }
    }
}
