//! What a schedule says otherwise for the product modulo one prime: `[modulo.7681]` in its text.

use super::Schedule;
use serde::de::Error;
use serde::{Deserialize, Serialize};

/// Some keys of a schedule with their values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Section(toml::Table);

// No key has a value that differs from itself.
impl Eq for Section {}

impl Schedule {
    /// The schedule of the product modulo a prime: what the section says, else what the whole says.
    pub fn section(&self, modulus: u64) -> Schedule {
        let whole = Schedule { modulo: Default::default(), ..self.clone() };
        let section = self.modulo.get(&modulus.to_string());
        let within = section.and_then(|section| whole.over(section.0.clone()).ok());
        // A text whose sections are no schedules is refused when it is read.
        let given = self.given.within(&format!("modulo.{modulus}."));
        Schedule { given, ..within.unwrap_or(whole) }
    }

    /// Refuses a section that is no schedule.
    pub(super) fn check_section(&self, modulus: &str) -> Result<(), toml::de::Error> {
        let place = |e: &dyn std::fmt::Display| Error::custom(format!("`modulo.{modulus}`: {e}"));
        modulus.parse::<u64>().map_err(|e| place(&e))?;
        let whole = Schedule { modulo: Default::default(), ..self.clone() };
        let Some(Section(keys)) = self.modulo.get(modulus) else { return Ok(()) };
        if keys.contains_key("modulo") {
            return Err(place(&"a section has no sections"));
        }
        whole.over(keys.clone()).map(drop).map_err(|e| place(&e.message()))
    }
}
