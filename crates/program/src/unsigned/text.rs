//! Placements of reductions as a schedule's text has them.

use super::{Algorithm, Kind, Placement, Site};
use serde::{Deserialize, Serialize};

/// The transforms of an unsigned product, as a schedule says them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub struct Unsigned {
    /// The forward transform's choices.
    pub forward: Placement,
    /// Which inverse.
    pub inverse_by: Algorithm,
    /// The inverse transform's choices.
    pub inverse: Placement,
}

/// `[unsigned]` of a schedule.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Text {
    inverse_by: Algorithm,
    forward: Transform,
    inverse: Transform,
}

/// One transform: reductions as `AFTER KIND POSITIONS`, offsets layer by layer.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Transform {
    #[serde(default)]
    reductions: Vec<String>,
    multiples: Vec<String>,
}

/// `0..8 12 16..20` for ascending numbers.
fn ranges(numbers: &[u32]) -> String {
    let mut all: Vec<String> = Vec::new();
    let mut i = 0;
    while i < numbers.len() {
        let mut end = i + 1;
        while end < numbers.len() && numbers[end] == numbers[end - 1] + 1 {
            end += 1;
        }
        all.push(match end - i {
            1 => numbers[i].to_string(),
            _ => format!("{}..{}", numbers[i], numbers[end - 1] + 1),
        });
        i = end;
    }
    all.join(" ")
}

/// The largest array that a text may speak of.
const MOST: u32 = 1 << 16;

fn numbers(word: &str) -> Result<std::ops::Range<u32>, String> {
    let number = |text: &str| {
        let found: Option<u32> = text.parse().ok().filter(|n| *n <= MOST);
        found.ok_or_else(|| format!("`{text}` is no position up to {MOST}"))
    };
    match word.split_once("..") {
        Some((from, to)) => Ok(number(from)?..number(to)?),
        None => number(word).map(|n| n..n + 1),
    }
}

const KINDS: [(Kind, &str); 2] = [(Kind::Csub, "csub"), (Kind::Barrett, "barrett")];

fn write(placement: &Placement) -> Transform {
    let mut reductions = Vec::new();
    for after in 0..=placement.multiples.len() as u32 {
        for (kind, name) in KINDS {
            let here = placement.sites.iter().filter(|s| s.after == after && s.kind == kind);
            let mut positions: Vec<u32> = here.map(|s| s.position).collect();
            positions.sort_unstable();
            positions.dedup();
            if !positions.is_empty() {
                reductions.push(format!("{after} {name} {}", ranges(&positions)));
            }
        }
    }
    let runs = |all: &Vec<u8>| {
        let runs = all.chunk_by(|a, b| a == b);
        let runs = runs.map(|run| match run.len() {
            1 => run[0].to_string(),
            n => format!("{}x{n}", run[0]),
        });
        runs.collect::<Vec<_>>().join(" ")
    };
    Transform { reductions, multiples: placement.multiples.iter().map(runs).collect() }
}

fn read(text: Transform) -> Result<Placement, String> {
    let mut sites = Vec::new();
    let layers = text.multiples.len();
    for line in &text.reductions {
        let mut words = line.split_whitespace();
        let after: Option<u32> = words.next().and_then(|word| word.parse().ok());
        let after = after.filter(|&after| after as usize <= layers).ok_or_else(|| {
            format!(
                "`{line}` starts with no number of layers up to {layers}; `4 barrett 0..512` does"
            )
        })?;
        let kind = words.next().and_then(|word| KINDS.iter().find(|(_, name)| *name == word));
        let Some(&(kind, _)) = kind else {
            return Err(format!("`{line}` names no reduction; `csub` and `barrett` are some"));
        };
        for word in words {
            let range = numbers(word).map_err(|e| format!("`{line}`: {e}"))?;
            sites.extend(range.map(|position| Site { after, position, kind }));
        }
    }
    sites.sort_unstable();
    sites.dedup();
    let mut multiples = Vec::new();
    for line in &text.multiples {
        let mut all: Vec<u8> = Vec::new();
        for word in line.split_whitespace() {
            let (k, count) = word.split_once('x').unwrap_or((word, "1"));
            let both = k.parse::<u8>().ok().zip(count.parse::<u32>().ok().filter(|&n| n <= MOST));
            let (k, count) = both.ok_or_else(|| {
                format!("`{word}` is no multiple of q; `3`, or `2x16` for 16 butterflies, is one")
            })?;
            all.extend(std::iter::repeat_n(k, count as usize));
        }
        if all.is_empty() || all.len() > MOST as usize {
            return Err("a layer has one multiple of q, or one for each butterfly".into());
        }
        multiples.push(all);
    }
    Ok(Placement { csub_products: true, sites, multiples })
}

impl TryFrom<Text> for Unsigned {
    type Error = String;
    fn try_from(text: Text) -> Result<Unsigned, String> {
        if text.inverse_by == Algorithm::Forward {
            return Err("`inverse-by` is inverse-gentleman-sande or inverse-cooley-tukey".into());
        }
        let part = |name: &str, transform| {
            read(transform).map_err(|error| format!("`unsigned.{name}`: {error}"))
        };
        let forward = part("forward", text.forward)?;
        Ok(Unsigned {
            forward,
            inverse_by: text.inverse_by,
            inverse: part("inverse", text.inverse)?,
        })
    }
}

impl From<Unsigned> for Text {
    fn from(unsigned: Unsigned) -> Text {
        Text {
            inverse_by: unsigned.inverse_by,
            forward: write(&unsigned.forward),
            inverse: write(&unsigned.inverse),
        }
    }
}

impl Unsigned {
    /// The n of its x^n + 1, by its layers: transforms are complete.
    pub fn size(&self) -> Option<usize> {
        u32::try_from(self.forward.multiples.len()).ok().and_then(|l| 1usize.checked_shl(l))
    }

    /// The first number that does not fit the ring, as a sentence; nothing where all do.
    pub fn misfit(&self, q: u64, n: usize) -> Option<String> {
        let layers = n.checked_ilog2().filter(|_| n.is_power_of_two()).unwrap_or(0) as usize;
        if super::Constants::new(q).is_none() {
            return Some(format!("unsigned words need an odd modulus below 2^14, not {q}"));
        }
        for (name, part) in [("forward", &self.forward), ("inverse", &self.inverse)] {
            if part.multiples.len() != layers {
                return Some(format!(
                    "`unsigned.{name}` has multiples for {} layers, and x^{n} + 1 has {layers}",
                    part.multiples.len()
                ));
            }
            let by_layer = name == "forward" || self.inverse_by.is_cooley_tukey();
            let wrong = |all: &Vec<u8>| all.len() != 1 && (by_layer || all.len() != n / 2);
            if let Some(layer) = part.multiples.iter().position(wrong) {
                let many = if by_layer { "one".into() } else { format!("one, or {}", n / 2) };
                return Some(format!(
                    "`unsigned.{name}` has {} multiples of q in layer {layer}; it takes {many}",
                    part.multiples[layer].len()
                ));
            }
            let words = part.multiples.iter().flatten().find(|&&k| u64::from(k) * q > 65535);
            if let Some(k) = words {
                return Some(format!("`unsigned.{name}`: {k}·{q} is no word of 16 bits"));
            }
            if let Some(site) = part.sites.iter().find(|s| s.position as usize >= n) {
                return Some(format!(
                    "`unsigned.{name}` reduces coefficient {}, and the last one is {}",
                    site.position,
                    n - 1
                ));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_are_written() {
        let site = |after, position, kind| Site { after, position, kind };
        let forward = Placement {
            csub_products: true,
            sites: vec![
                site(1, 3, Kind::Csub),
                site(2, 0, Kind::Barrett),
                site(2, 1, Kind::Barrett),
            ],
            multiples: vec![vec![1], vec![2]],
        };
        let inverse = Placement { multiples: vec![vec![1, 1], vec![3, 2]], ..forward.clone() };
        let inverse_by = Algorithm::InverseGentlemanSande;
        let unsigned = Unsigned { forward, inverse_by, inverse };
        let text = toml::to_string(&unsigned).unwrap();
        assert!(text.contains("\"2 barrett 0..2\"") && text.contains("\"1x2\""), "{text}");
        assert_eq!(toml::from_str::<Unsigned>(&text).unwrap(), unsigned);
        assert_eq!(unsigned.misfit(12289, 4), None);
        assert!(unsigned.misfit(12289, 8).unwrap().contains("2 layers"));
        assert!(unsigned.misfit(65537, 4).unwrap().contains("2^14"));
        for (from, to) in [("2 barrett", "9 barrett"), ("barrett", "floor"), ("0..2", "0..x")] {
            assert!(toml::from_str::<Unsigned>(&text.replace(from, to)).is_err(), "{to}");
        }
    }
}
