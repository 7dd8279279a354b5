//! What may be settled for a transform of a whole ring: words, registers, methods and the room that accumulations leave,
//! the cheapest first.

use super::products::LONG;
use super::{Choices, Refused};
use crate::lower::ntt::{Machine, Shuffles, Words, room};
use crate::lower::{LowerError, SHORT, Square, unsupported};
use crate::method::{Modulus, MulMethod, ReduceMethod};
use crate::schedule::{BaseProducts, Order};
use ringforge_plan::{Levels, Plan, word_bits};
use ringforge_targets::{Registers, Target};

/// A transform as it is settled.
pub(crate) struct Candidate<'a> {
    pub machine: Machine<'a>,
    pub modulus: Modulus,
    pub choices: Choices,
}

/// What may be settled, whose registers fit the transform.
///
/// # Errors
/// Nothing: of all refusals the first.
pub(crate) fn candidates<'a>(
    plan: &Plan,
    ntt: &'a dyn Levels,
    (schedule, target): (&Choices, &Target),
) -> Result<Vec<Candidate<'a>>, LowerError> {
    let (mut all, mut refused) = (Vec::new(), None);
    for bits in words(plan, schedule)? {
        match candidate(plan, ntt, (schedule, target), bits) {
            Ok(loose) => all.extend([tight(&loose), Some(loose)].into_iter().flatten().rev()),
            Err(error) => drop(refused.get_or_insert(error)),
        }
    }
    match refused {
        Some(error) if all.is_empty() => Err(error),
        _ => Ok(all),
    }
}

/// Bits of the words that hold residues: the one that a user wrote, else the shortest first.
fn words(plan: &Plan, schedule: &Choices) -> Result<Vec<u8>, LowerError> {
    let q = plan.ring.q();
    if q >= 1 << 31 {
        let why = format!("the modulus {q} is too large for words of 32 bits");
        return Err(unsupported(plan.root.to_form(), why, "a modulus below 2^30"));
    }
    let given = schedule.values().word.filter(|_| schedule.given("word"));
    let held = [SHORT, LONG].into_iter().filter(|&bits| bits >= word_bits(q));
    // A sum of two residues needs room: moduli next to 2^15 take words of 32 bits.
    let usual = |&bits: &u8| bits == SHORT || q >= 1 << 14;
    let found: Vec<u8> = match given {
        Some(wanted) => held.filter(|&bits| bits == wanted).collect(),
        None => held.filter(usual).collect(),
    };
    match found.is_empty() {
        true => {
            let why = format!("residues modulo {q} are no words of 16 bits");
            Err(unsupported(plan.root.to_form(), why, "word = 32"))
        }
        false => Ok(found),
    }
}

/// The same with sums that leave accumulations room, where base products have such.
fn tight<'a>(loose: &Candidate<'a>) -> Option<Candidate<'a>> {
    let Candidate { machine, modulus, choices } = loose;
    if choices.given("limits.products") || !machine.sums() {
        return None;
    }
    let most = room(&Words::new(*modulus, &choices.unread()));
    let choices = choices.usual(|values| values.limits.products = Some(most));
    Some(Candidate { machine: machine.clone(), modulus: *modulus, choices })
}

/// The transform in words of so many bits, in the widest registers that it fits.
fn candidate<'a>(
    plan: &Plan,
    ntt: &'a dyn Levels,
    (schedule, target): (&Choices, &Target),
    bits: u8,
) -> Result<Candidate<'a>, LowerError> {
    let modulus = Modulus { q: plan.ring.q(), bits };
    // The words of one of the machine's registers, where it has no others: all levels are on whole ones then.
    let word = target.word().map(|width| width / usize::from(bits));
    let base = schedule.base();
    let shuffles = match (base, word) {
        (BaseProducts::BroadcastDot, None) => Shuffles::Interleaving,
        _ => Shuffles::Striding,
    };
    let given = schedule.values().lanes.filter(|_| schedule.given("lanes"));
    let own = given.map(|lanes| usize::from(SHORT) * lanes as usize / usize::from(bits));
    // Short loops: a part of short words, whatever the words are, or less where blocks are no multiple.
    let part = target.registers.part_lanes(16);
    // Registers that a schedule asks for have no parts where they are loops.
    let named = schedule.values().target(target).map_or(target.registers, |t| t.registers);
    let widths = match (base, word, own) {
        (BaseProducts::BroadcastDot, Some(lanes), own) if own.is_some_and(|own| own != lanes) => {
            let settled = lanes * usize::from(bits) / usize::from(SHORT);
            let value = given.unwrap_or_default();
            return Err(Refused::other("lanes", &value.to_string(), &settled.to_string()).into());
        }
        (BaseProducts::BroadcastDot, Some(lanes), _) => vec![lanes],
        (_, _, Some(own)) => vec![own],
        (BaseProducts::BroadcastDot, None, None) => {
            target.widths().map(|registers| registers.lanes(bits)).collect()
        }
        (BaseProducts::Lanes, _, None) => vec![part, part / 2, part / 4],
    };
    let choices = suited(schedule, modulus, shuffles).usual(|values| values.word = Some(bits));
    choices.word();
    let wide = shuffles == Shuffles::Interleaving;
    let mut refused = None;
    for lanes in widths {
        let width = lanes * usize::from(bits);
        let part = if wide { named.part } else { target.registers.part.min(width) };
        let machine = Machine {
            ntt,
            shape: Square { registers: Registers { bits: width, part }, bits },
            shuffles,
            standard: choices.order() == Order::Standard,
            depth: choices.depth().clamp(1, 4),
        };
        let why = match lanes.is_power_of_two() {
            true => machine.refused(),
            false => {
                Some(("registers hold no power of two of words".into(), "other `lanes`".into()))
            }
        };
        if why.is_none() {
            let choices = choices.usual(|values| {
                if !wide || target.has_widths() {
                    values.lanes = Some((width / usize::from(SHORT)) as u32);
                }
            });
            choices.lanes();
            return Ok(Candidate { machine, modulus, choices });
        }
        refused = refused.or(why);
    }
    let (why, would_work) = refused.unwrap_or_default();
    Err(unsupported(plan.root.to_form(), why, would_work))
}

/// The schedule with what words of 32 bits and this modulus call for.
fn suited(schedule: &Choices, modulus: Modulus, shuffles: Shuffles) -> Choices {
    let own = schedule.values();
    if modulus.bits != 32 {
        return schedule.clone();
    }
    let wide = shuffles == Shuffles::Interleaving;
    let with = |reduce: ReduceMethod| {
        schedule.usual(|values| {
            values.reduce = reduce;
            if wide && values.multiply == MulMethod::Montgomery {
                values.multiply = MulMethod::MontgomeryWide;
            }
        })
    };
    if !matches!(own.reduce, ReduceMethod::Barrett | ReduceMethod::Montgomery) {
        return with(own.reduce);
    }
    // Sums of two that the rounded shift left must not need another at once.
    let rounded = with(ReduceMethod::RoundedShift);
    let (words, last) = (Words::new(modulus, &rounded), modulus.words().1);
    match modulus.q >= 1 << 28 || words.reduced(last / 2) > modulus.q as i64 {
        true if wide => with(ReduceMethod::MontgomeryWide),
        true => with(ReduceMethod::Montgomery),
        false => rounded,
    }
}
