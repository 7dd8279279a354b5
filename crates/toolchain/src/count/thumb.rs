//! Cycles of a core that executes Thumb code in order, from which instruction was executed after which.
//!
//! Encodings as in the Armv7-M Architecture Reference Manual, chapter A5. Instructions of an IT block whose condition fails take their
//! cycle, and IT itself takes one: the manual lets it take none, on conditions that it does not give.

use ringforge_targets::InOrder;

use super::Counts;

/// The registers of a set, one bit each.
type Set = u16;

/// What an instruction is to the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// On registers alone, with those that it writes.
    Plain { writes: Set },
    /// The same for a division.
    Divide { writes: Set },
    /// Of one register, from an address in some registers.
    Load { writes: Set, address: Set },
    /// Of one register, to an address in some registers.
    Store { address: Set },
    /// Of several.
    Several { count: u64, address: Set },
}

const fn one(register: u32) -> Set {
    1 << (register & 15)
}

/// Whether a word as it lies in memory starts with a half that another follows.
fn is_long(word: u32) -> bool {
    word >> 11 & 0x1f >= 0x1d
}

fn kind(word: u32) -> Kind {
    if is_long(word) { long(word & 0xffff, word >> 16) } else { short(word & 0xffff) }
}

fn short(h: u32) -> Kind {
    let low = one(h & 7);
    let none = Kind::Plain { writes: 0 };
    let plain = |writes| Kind::Plain { writes };
    let single = |load: bool, writes, address| match load {
        true => Kind::Load { writes, address },
        false => Kind::Store { address },
    };
    match h >> 11 {
        0..=3 => plain(low),
        5 => none,
        4 | 6 | 7 => plain(one(h >> 8 & 7)),
        8 if h & 0x400 == 0 => match h >> 6 & 15 {
            8 | 10 | 11 => none,
            _ => plain(low),
        },
        8 => match h >> 8 & 3 {
            0 | 2 => plain(one(h & 7 | h >> 4 & 8)),
            _ => none,
        },
        9 => single(true, one(h >> 8 & 7), one(15)),
        10 | 11 => single(h >> 9 & 7 >= 3, low, one(h >> 3 & 7) | one(h >> 6 & 7)),
        12..=17 => single(h & 0x800 != 0, low, one(h >> 3 & 7)),
        18 | 19 => single(h & 0x800 != 0, one(h >> 8 & 7), one(13)),
        20 | 21 => plain(one(h >> 8 & 7)),
        22 | 23 => match h >> 8 & 15 {
            0 => plain(one(13)),
            2 | 10 => plain(low),
            4 | 5 | 12 | 13 => {
                Kind::Several { count: u64::from((h & 0x1ff).count_ones()), address: one(13) }
            }
            _ => none,
        },
        24 | 25 => {
            Kind::Several { count: u64::from((h & 0xff).count_ones()), address: one(h >> 8 & 7) }
        }
        _ => none,
    }
}

fn long(first: u32, second: u32) -> Kind {
    let none = Kind::Plain { writes: 0 };
    let (base, target) = (one(first & 15), second >> 8 & 15);
    // Number 15 stands for no result.
    let plain = Kind::Plain { writes: if target == 15 { 0 } else { one(target) } };
    let load = first & 0x10 != 0;
    match first >> 9 {
        // Several registers; two of them, or one for exclusive use, or a jump by a table.
        0b1110100 if first & 0x40 == 0 => {
            Kind::Several { count: u64::from(second.count_ones()), address: base }
        }
        0b1110100 if first & 0x120 != 0 => Kind::Several { count: 2, address: base },
        0b1110100 if load => Kind::Load { writes: one(second >> 12), address: base },
        0b1110100 => Kind::Store { address: base },
        0b1110101 => plain,
        // The floating-point unit: loads and stores of one or several registers, moves.
        0b1110110 if first & 0x1e0 == 0x40 => none,
        0b1110110 => {
            let words = u64::from(second & 0xff);
            match (first & 0x120 == 0x100, second & 0x100 == 0, load) {
                (true, true, true) => Kind::Load { writes: 0, address: base },
                (true, true, false) => Kind::Store { address: base },
                (true, false, _) => Kind::Several { count: 2, address: base },
                (false, ..) => Kind::Several { count: words, address: base },
            }
        }
        0b1110111 if load => Kind::Plain { writes: one(second >> 12) },
        0b1110111 => none,
        0b1111000..=0b1111011 if second & 0x8000 == 0 => plain,
        0b1111000..=0b1111011 => none,
        0b1111100 => {
            let by_register = first & 0x80 == 0 && second & 0xfc0 == 0 && first & 15 != 15;
            let address = base | if by_register { one(second) } else { 0 };
            match load {
                true => Kind::Load { writes: one(second >> 12), address },
                false => Kind::Store { address },
            }
        }
        0b1111101 if first & 0x180 == 0x180 => match first >> 4 & 7 {
            1 | 3 => Kind::Divide { writes: one(target) },
            _ => Kind::Plain { writes: one(target) | one(second >> 12) },
        },
        0b1111101 => plain,
        _ => none,
    }
}

/// Cycles of an instruction after another, at these addresses.
fn cycles(times: &InOrder, now: (u32, u64), before: (u32, u64)) -> u64 {
    let (kind, previous) = (kind(now.0), kind(before.0));
    let (computed, loaded) = match previous {
        Kind::Plain { writes } | Kind::Divide { writes } => (writes, None),
        Kind::Load { writes, .. } => (0, Some(writes)),
        _ => (0, None),
    };
    let waits = |address: Set| if address & computed != 0 { times.address } else { 0 };
    let own = match kind {
        Kind::Plain { .. } => times.plain,
        Kind::Divide { .. } => times.divide,
        Kind::Load { address, .. } => match loaded {
            Some(writes) if writes & address == 0 => times.next_load,
            _ => times.load + waits(address),
        },
        Kind::Store { address } => times.store + waits(address),
        Kind::Several { count, address } => times.several + count + waits(address),
    };
    let size = if is_long(before.0) { 4 } else { 2 };
    match now.1 == before.1 + size {
        true => own,
        false => own + times.taken + if now.1.is_multiple_of(4) { 0 } else { times.crooked },
    }
}

/// Sums the lines that the plugin leaves.
pub(super) fn sum(text: &str, times: &InOrder) -> Counts {
    let (mut executed, mut all) = (0, 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["unaligned", n] = words[..] {
            all += times.unaligned * n.parse::<u64>().unwrap_or(0);
            continue;
        }
        let [word, n, at, before, from] = words[..] else { continue };
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let (Some(word), Ok(n), Some(at), Some(before), Some(from)) =
            (hex(word), n.parse::<u64>(), hex(at), hex(before), hex(from))
        else {
            continue;
        };
        executed += n;
        all += n * cycles(times, (word as u32, at), (before as u32, from));
    }
    Counts { executed, in_order: Some(all), ..Counts::default() }
}

#[cfg(test)]
mod tests;
