//! Instructions as text, in unified syntax as LLVM writes it.

use super::{Instruction, Moved, Sets, tables};
use crate::core::bits::Shift;
use std::fmt::Write;

/// Conditions by number.
pub(super) const CONDITIONS: [&str; 15] =
    ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al"];

fn register(n: u8) -> String {
    match n {
        13 => "sp".into(),
        14 => "lr".into(),
        15 => "pc".into(),
        _ => format!("r{n}"),
    }
}

fn join(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

impl Instruction {
    /// Its text as in no IT block.
    pub fn text(&self) -> String {
        let template = tables()[usize::from(self.is_wide)][usize::from(self.row)].0.text;
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let (token, after) = after.split_once('}').expect("every brace is closed");
            self.token(token, &mut out);
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// Its name, without what differs from use to use.
    pub fn mnemonic(&self) -> String {
        let text = self.text();
        let end = text.find([' ', '.']).unwrap_or(text.len());
        text[..end].to_string()
    }

    fn token(&self, token: &str, out: &mut String) {
        let minus = if self.minus || self.immediate < 0 { "-" } else { "" };
        let half = |top: bool| if top { "t" } else { "b" };
        let x = if self.x { "x" } else { "" };
        let part = match token {
            "d" => register(self.d),
            "n" => register(self.n),
            "m" => register(self.m),
            "a" => register(self.a),
            "t" => register(self.t),
            "u" => register(self.u),
            "s" if self.sets == Sets::Never => String::new(),
            "s" => "s".into(),
            "c" => CONDITIONS[usize::from(self.condition)].into(),
            "it" => self.then_else(),
            "i" => self.immediate.unsigned_abs().to_string(),
            "#i" => format!("#{minus}{}", self.immediate.unsigned_abs()),
            "o" if self.immediate == 0 && !self.minus => String::new(),
            "o" => format!(", #{minus}{}", self.immediate.unsigned_abs()),
            "q" => self.last.to_string(),
            "q+1" => (self.last + 1).to_string(),
            "q/2" => (self.last / 2).to_string(),
            "2m" => self.float_source().to_string(),
            "sl" => format!("{{{}}}", join(self.floats().map(|f| format!("s{f}")))),
            "dl" => {
                format!("{{{}}}", join(self.floats().step_by(2).map(|f| format!("d{}", f / 2))))
            }
            "q-i" => (i64::from(self.last) + 1 - self.immediate).to_string(),
            "r" => match self.moved {
                Moved::By(_, n) => n.to_string(),
                _ => String::new(),
            },
            "sh" => self.shift_text(),
            "move" => self.move_name().0,
            "amount" => self.move_name().1,
            "ror" if self.turn == 0 => String::new(),
            "ror" => format!(", ror #{}", 8 * self.turn),
            "xy" => format!("{}{}", half(self.x), half(self.y)),
            "y" => half(self.y).into(),
            "x" => x.into(),
            "xr" => if self.x { "r" } else { "" }.into(),
            "!" => if self.back { "!" } else { "" }.into(),
            "l" => self.list_text(),
            "mem" => self.memory_text(),
            _ => unreachable!("no token of that name"),
        };
        out.push_str(&part);
    }

    fn shift_text(&self) -> String {
        match self.moved {
            Moved::By(Shift::Left, 0) => String::new(),
            Moved::By(Shift::Left, n) => format!(", lsl #{n}"),
            Moved::By(Shift::Logical, n) => format!(", lsr #{n}"),
            Moved::By(Shift::Arithmetic, n) => format!(", asr #{n}"),
            Moved::Rotated(n) => format!(", ror #{n}"),
            Moved::ThroughCarry => ", rrx".into(),
        }
    }

    /// A move that shifts is printed as that shift: its name, and how far.
    fn move_name(&self) -> (String, String) {
        let s = if self.sets == Sets::Never { "" } else { "s" };
        let (name, by) = match self.moved {
            Moved::By(Shift::Left, 0) => return (format!("mov{s}.w"), String::new()),
            Moved::By(Shift::Left, n) => ("lsl", n),
            Moved::By(Shift::Logical, n) => ("lsr", n),
            Moved::By(Shift::Arithmetic, n) => ("asr", n),
            Moved::Rotated(n) => ("ror", n),
            Moved::ThroughCarry => return (format!("rrx{s}"), String::new()),
        };
        (format!("{name}{s}.w"), format!(", #{by}"))
    }

    /// The letters behind `it`: then or else for each further instruction.
    fn then_else(&self) -> String {
        let mask = self.immediate as u8;
        let more = 3 - mask.trailing_zeros();
        let low = self.condition & 1;
        (0..more).map(|k| if mask >> (3 - k) & 1 == low { 't' } else { 'e' }).collect()
    }

    fn list_text(&self) -> String {
        let names = (0..16).filter(|r| self.list >> r & 1 == 1).map(|r| register(r as u8));
        format!("{{{}}}", join(names))
    }

    fn memory_text(&self) -> String {
        let base = register(self.n);
        let minus = if self.minus { "-" } else { "" };
        let by = format!("#{minus}{}", self.immediate.unsigned_abs());
        let mut text = String::new();
        let plain = self.before && !self.back && self.immediate == 0 && !self.minus;
        let written = match (self.before, self.back) {
            (true, _) if plain => write!(text, "[{base}]"),
            (true, false) => write!(text, "[{base}, {by}]"),
            (true, true) => write!(text, "[{base}, {by}]!"),
            _ => write!(text, "[{base}], {by}"),
        };
        written.expect("a string takes everything");
        text
    }
}
