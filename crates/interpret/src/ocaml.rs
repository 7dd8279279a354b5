//! A program as OCaml: the same loops over `int array`s, with words that wrap as on the machine. The original paper also
//! generates OCaml [TokudaKameyama23 §2.3]. You can read it and run it.
//!
//! A register is an array of signed words; wide elements are pairs of words, low half first.

mod prelude;

use ringforge_program::ir::*;
use std::fmt::Write;

/// The OCaml text of a program: its expansion, so that everything is word operations. Parameters
/// that a procedure takes are an array and the index of its first word each; `None` where the
/// program exports nothing.
pub fn text(program: &Program) -> Option<String> {
    let program = &program.expand();
    program.procedures.iter().find(|p| p.exported)?;
    let mut out = prelude::text(program);
    for procedure in &program.procedures {
        let mut printer = Printer { program, procedure, out: String::new(), depth: 1 };
        printer.procedure();
        out += &printer.out;
    }
    Some(out)
}

/// A name that OCaml does not keep for itself.
fn name(text: &str) -> String {
    const KEPT: [&str; 22] = [
        "and", "as", "do", "done", "end", "for", "fun", "if", "in", "land", "let", "lor", "lsl",
        "lsr", "mod", "new", "of", "open", "or", "rec", "to", "val",
    ];
    let lower: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .collect();
    if KEPT.contains(&lower.as_str()) { format!("{lower}_") } else { lower }
}

struct Printer<'p> {
    program: &'p Program,
    procedure: &'p Procedure,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "  ".repeat(self.depth));
    }

    fn buffer(&self, b: BufferId) -> String {
        let buffer = &self.procedure.buffers[b.0 as usize];
        match buffer.role {
            Role::Table(_) => format!("{}_{}", name(&self.procedure.name), name(&buffer.name)),
            _ => format!("b_{}", name(&buffer.name)),
        }
    }

    fn start(&self, b: BufferId) -> String {
        let buffer = &self.procedure.buffers[b.0 as usize];
        let parameter = buffer.role.is_parameter();
        if parameter { format!("at_{} + ", name(&buffer.name)) } else { String::new() }
    }

    /// A buffer and the index of a word in it, as two arguments.
    fn place(&self, b: BufferId, at: &Index) -> String {
        let mut index = at.base.to_string();
        for (counter, stride) in &at.terms {
            let _ = write!(index, " + {stride} * i{}", counter.0);
        }
        format!("{} ({}{index})", self.buffer(b), self.start(b)).replace("+ -", "- ")
    }

    fn procedure(&mut self) {
        let procedure = self.procedure;
        let mut parameters = String::new();
        let mut locals = Vec::new();
        for (i, buffer) in procedure.buffers.iter().enumerate() {
            let id = BufferId(i as u32);
            match &buffer.role {
                Role::Table(words) => {
                    let rows: Vec<String> = words
                        .chunks(16)
                        .map(|row| {
                            let row: Vec<String> = row.iter().map(i32::to_string).collect();
                            format!("  {}", row.join("; "))
                        })
                        .collect();
                    let table = self.buffer(id);
                    let _ = writeln!(self.out, "let {table} = [|\n{}\n|]\n", rows.join(";\n"));
                }
                Role::Local => {
                    locals.push(format!(
                        "let {} = Array.make {} 0 in",
                        self.buffer(id),
                        buffer.words
                    ));
                }
                Role::Factors(_) => {}
                _ => {
                    let _ = write!(parameters, " {} at_{}", self.buffer(id), name(&buffer.name));
                }
            }
        }
        if let Some(computes) = procedure.computes {
            let _ = writeln!(self.out, "(* {computes:?} *)");
        }
        let _ = writeln!(self.out, "let {}{parameters} =", name(&procedure.name));
        prelude::opened(self.program, procedure).iter().for_each(|l| self.line(l));
        locals.iter().for_each(|l| self.line(l));
        self.statements(&procedure.body);
        self.line("()");
        self.out.push('\n');
    }

    fn statements(&mut self, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Stage { title, cite, body } => {
                    let text = format!("{title} {cite}").replace("(*", "( *").replace("*)", "* )");
                    self.line(&format!("(* {} *)", text.trim_end()));
                    self.statements(body);
                }
                Stmt::Loop { counter, count, body } => {
                    self.line(&format!("for i{} = 0 to {} do", counter.0, count.saturating_sub(1)));
                    self.depth += 1;
                    self.statements(body);
                    self.depth -= 1;
                    self.line("done;");
                }
                Stmt::Call { procedure, arguments } => {
                    let callee = &self.program.procedures[procedure.0 as usize];
                    let given: Vec<String> =
                        arguments.iter().map(|(b, at)| self.place(*b, at)).collect();
                    self.line(&format!("{} {};", name(&callee.name), given.join(" ")));
                }
                Stmt::Block(block) => {
                    self.line("begin");
                    self.depth += 1;
                    for (i, op) in block.ops.iter().enumerate() {
                        let text = self.operation(op);
                        match op.shape() {
                            Shape::Nothing => self.line(&format!("{text};")),
                            _ => self.line(&format!("let v{i} = {text} in")),
                        }
                    }
                    self.line("()");
                    self.depth -= 1;
                    self.line("end;");
                }
            }
        }
    }

    fn places(&self, b: BufferId, at: &[Index]) -> String {
        let one = |index: &Index| {
            let place = self.place(b, index);
            let open = place.find('(').unwrap_or(0);
            place[open..].to_string()
        };
        format!("{} [| {} |]", self.buffer(b), at.iter().map(one).collect::<Vec<_>>().join("; "))
    }

    /// A value as a buffer keeps it.
    fn kept(&self, b: BufferId, a: Value) -> String {
        match self.procedure.buffers[b.0 as usize].bits {
            bits if bits == self.procedure.bits => format!("v{}", a.0),
            bits => format!("(cut {bits} v{})", a.0),
        }
    }

    fn operation(&self, op: &Op) -> String {
        let list = |all: &[u8]| {
            let all: Vec<String> = all.iter().map(u8::to_string).collect();
            format!("[| {} |]", all.join("; "))
        };
        let words = |unit: u8| unit / self.procedure.bits;
        let kept = |b: &BufferId, a: &Value| self.kept(*b, *a);
        match op {
            Op::MulMod { .. }
            | Op::Reduce { .. }
            | Op::Narrow { .. }
            | Op::MulWords { .. }
            | Op::Unsigned(_)
            | Op::Freeze { .. } => "invalid_arg \"not expanded\"".into(),
            Op::Load { buffer, at } => format!("load {}", self.place(*buffer, at)),
            Op::LoadPartial { buffer, at, count } => {
                format!("load_partial {} {count}", self.place(*buffer, at))
            }
            Op::LoadParts { buffer, at } => format!("load_parts {}", self.places(*buffer, at)),
            Op::BroadcastPair { buffer, at } => {
                format!("broadcast_pair {}", self.place(*buffer, at))
            }
            Op::Broadcast { buffer, at } => format!("broadcast {}", self.place(*buffer, at)),
            Op::Store { buffer, at, a } => {
                format!("store {} {}", self.place(*buffer, at), kept(buffer, a))
            }
            Op::StorePartial { buffer, at, count, a } => {
                format!("store_partial {} {count} {}", self.place(*buffer, at), kept(buffer, a))
            }
            Op::StoreStrided { buffer, at, stride, a } => {
                format!("store_strided {} {stride} {}", self.place(*buffer, at), kept(buffer, a))
            }
            Op::AddSum { buffer, at, a } => {
                let bits = self.procedure.buffers[buffer.0 as usize].bits;
                format!("add_sum {bits} {} v{}", self.place(*buffer, at), a.0)
            }
            Op::StoreParts { buffer, at, a } => {
                format!("store_parts {} {}", self.places(*buffer, at), kept(buffer, a))
            }
            Op::Splat(w) => format!("splat ({w})"),
            Op::Lanes(all) => {
                let all: Vec<String> = all.iter().map(i32::to_string).collect();
                format!("[| {} |]", all.join("; "))
            }
            Op::Shl(a, k) => format!("shl {k} v{}", a.0),
            Op::Sar(a, k) => format!("sar {k} v{}", a.0),
            Op::Shr(a, k) => format!("shr {k} v{}", a.0),
            Op::ShlWide(a, k) => format!("shl_wide {k} v{}", a.0),
            Op::SarWide(a, k) => format!("sar_wide {k} v{}", a.0),
            Op::ShrWide(a, k) => format!("shr_wide {k} v{}", a.0),
            Op::PairDotAdd { acc, a, b } => {
                format!("add_wide v{} (pair_dot v{} v{})", acc.0, a.0, b.0)
            }
            Op::Blend { a, b, mask } => format!("blend {mask} v{} v{}", a.0, b.0),
            Op::SwapPairs(a) => format!("pick (fun i -> i lxor 1) v{}", a.0),
            Op::OddToEven(a) => format!("pick (fun i -> i lor 1) v{}", a.0),
            Op::PermuteParts { a, pattern } => {
                format!("permute_parts {} v{}", list(pattern), a.0)
            }
            Op::Parts { a, b, pick } => format!("parts {} v{} v{}", list(pick), a.0, b.0),
            Op::Interleave { a, b, unit, half } => {
                let high = *half == Half::High;
                format!("interleave {} {high} v{} v{}", words(*unit), a.0, b.0)
            }
            Op::Deinterleave { a, b, unit, half } => {
                let odd = *half == Parity::Odd;
                format!("deinterleave {} {odd} v{} v{}", words(*unit), a.0, b.0)
            }
            Op::Add(a, b)
            | Op::Sub(a, b)
            | Op::MulLo(a, b)
            | Op::MulHi(a, b)
            | Op::MulHiU(a, b)
            | Op::MulHrs(a, b)
            | Op::Greater(a, b)
            | Op::MinU(a, b)
            | Op::Min(a, b)
            | Op::Max(a, b)
            | Op::And(a, b)
            | Op::Or(a, b)
            | Op::Xor(a, b)
            | Op::PairDot(a, b)
            | Op::MulEven(a, b)
            | Op::AddWide(a, b)
            | Op::SubWide(a, b)
            | Op::MulLoWide(a, b) => format!("{} v{} v{}", function(op), a.0, b.0),
        }
    }
}

/// The prelude's function for an operation on two registers.
fn function(op: &Op) -> &'static str {
    match op {
        Op::Add(..) => "add",
        Op::Sub(..) => "sub",
        Op::MulLo(..) => "mul_lo",
        Op::MulHi(..) => "mul_hi",
        Op::MulHiU(..) => "mul_hi_u",
        Op::MulHrs(..) => "mul_hrs",
        Op::Greater(..) => "greater",
        Op::MinU(..) => "min_unsigned",
        Op::Min(..) => "min_signed",
        Op::Max(..) => "max_signed",
        Op::And(..) => "and_bits",
        Op::Or(..) => "or_bits",
        Op::Xor(..) => "xor_bits",
        Op::PairDot(..) => "pair_dot",
        Op::MulEven(..) => "mul_even",
        Op::AddWide(..) => "add_wide",
        Op::SubWide(..) => "sub_wide",
        _ => "mul_lo_wide",
    }
}
