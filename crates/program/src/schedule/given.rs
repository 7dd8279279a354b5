//! Which keys somebody wrote: those are kept, or refused by name.

use std::collections::BTreeSet;

/// Keys that somebody wrote, as a schedule's text names them: `limits.full`, `modulo.7681.word`. Equal values are equal,
/// whoever wrote them.
#[derive(Clone, Debug, Default)]
pub struct Given(BTreeSet<String>);

impl PartialEq for Given {
    fn eq(&self, _: &Given) -> bool {
        true
    }
}

impl Eq for Given {}

impl Given {
    /// Those of a text that is a schedule.
    pub(super) fn of(text: &str) -> Result<Given, toml::de::Error> {
        Ok(Given::of_table(&toml::from_str(text)?))
    }

    /// Those of such a table.
    pub(super) fn of_table(table: &toml::Table) -> Given {
        let mut keys = BTreeSet::new();
        for (key, value) in table {
            match value {
                toml::Value::Table(inner) if key == "limits" => {
                    keys.extend(inner.keys().map(|limit| format!("limits.{limit}")));
                }
                toml::Value::Table(sections) if key == "modulo" => {
                    let tables =
                        sections.iter().filter_map(|(p, value)| Some((p, value.as_table()?)));
                    keys.extend(tables.flat_map(|(p, inner)| {
                        let inner = Given::of_table(inner).0;
                        inner.into_iter().map(move |key| format!("modulo.{p}.{key}"))
                    }));
                }
                // No site is what there is without the key.
                toml::Value::Array(sites) if sites.is_empty() && key != "reductions" => {}
                _ => drop(keys.insert(key.clone())),
            }
        }
        Given(keys)
    }

    /// Whether this key is one of them.
    pub fn contains(&self, key: &str) -> bool {
        self.0.contains(key)
    }

    /// All of them.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// These and another.
    pub(super) fn and(&self, key: &str) -> Given {
        Given(self.keys().chain([key]).map(str::to_owned).collect())
    }

    /// Those of the whole, and those of one section in their place.
    pub(super) fn within(&self, section: &str) -> Given {
        let whole = self.keys().filter(|key| !key.starts_with("modulo."));
        let inner = self.keys().filter_map(|key| key.strip_prefix(section));
        Given(whole.chain(inner).map(str::to_owned).collect())
    }
}
