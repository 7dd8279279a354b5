//! Entry points of a target's program: what they take, promise and compute.

use ringforge_interpret::count::{Costs, count};
use ringforge_interpret::range::{Ranges, ranges};
use ringforge_plan::Operand;
use ringforge_program::ir::{Computes, Procedure, Program, Role, TransformLayout};
use ringforge_ring::Ring;
use ringforge_targets::Architecture;
use ringforge_toolchain as toolchain;
use ringforge_toolchain::{Argument, Element, Signature};

use crate::target::Target;
use crate::ui::Failure;

/// One entry point, with what the interpretations say of it.
pub struct Entry {
    /// Name of its procedure, such as `forward`.
    pub procedure: String,
    /// What it computes.
    pub computes: Computes,
    /// Elements of the ring that each array holds.
    pub batch: usize,
    /// The calling convention that its contract names.
    pub abi: &'static str,
    /// Its symbol in C and its arguments, whose ranges are the contract's.
    pub signature: Signature,
    /// The program with this entry point alone.
    pub program: Program,
    /// Ranges by stage.
    pub ranges: Ranges,
    /// Costs by stage.
    pub costs: Costs,
}

/// The entry points of a program, in its order.
///
/// # Errors
/// An entry point may overflow, or leave the ranges that it promises: a fault of ringforge.
pub fn entries(
    program: &Program,
    target: &Target,
    operands: [Operand; 2],
) -> Result<Vec<Entry>, Failure> {
    let mut all = Vec::new();
    for procedure in &program.procedures {
        let Some(computes) = procedure.computes.filter(|_| procedure.exported) else { continue };
        let Some(narrow) = program.entry(&procedure.name) else { continue };
        let fault = |e| {
            let (name, target) = (&procedure.name, target.name);
            Failure::failed(format!("the program of `{name}` for target `{target}` is faulty: {e}"))
        };
        all.push(Entry {
            procedure: procedure.name.clone(),
            computes,
            batch: procedure.copies,
            abi: abi(target.architecture),
            signature: signature(program, procedure, target, operands),
            ranges: ranges(&narrow).map_err(fault)?,
            costs: count(&narrow).map_err(fault)?,
            program: narrow,
        });
    }
    Ok(all)
}

/// The calling convention of an architecture's objects; without an architecture, of the host's.
pub fn abi(architecture: Option<&'static Architecture>) -> &'static str {
    // Of other hosts' objects nothing is proved.
    architecture.or_else(Architecture::host).unwrap_or(&ringforge_targets::X86_64).abi
}

fn signature(
    program: &Program,
    procedure: &Procedure,
    target: &Target,
    operands: [Operand; 2],
) -> Signature {
    let mut operand = operands.iter().filter(|_| procedure.computes == Some(Computes::Product));
    let parameters = procedure.buffers.iter().filter(|b| b.role.is_parameter());
    let arguments = parameters.map(|buffer| {
        let word = 1i64 << (buffer.bits - 1);
        let mut range = buffer.range.unwrap_or((-word, word - 1));
        let role = match buffer.role {
            Role::Input => toolchain::Role::Input,
            Role::InOut => toolchain::Role::InOut,
            _ => toolchain::Role::Output,
        };
        if role == toolchain::Role::Input
            && let Some(operand) = operand.next()
            // Words without sign hold the residues that are not negative.
            && range.0 < 0
        {
            let (low, high) = operand.range(program.q);
            range = (range.0.max(low), range.1.min(high));
        }
        Argument {
            name: buffer.name.clone(),
            role,
            element: Element { bits: buffer.bits, signed: true },
            length: buffer.words,
            align: buffer.align,
            range,
        }
    });
    Signature {
        symbol: format!("{}_{}_{}", program.name, procedure.name, target.name),
        arguments: arguments.collect(),
    }
}

/// `product`, `forward`, … as contracts say it.
pub fn kind(computes: Computes) -> &'static str {
    match computes {
        Computes::Product => "product",
        Computes::Forward { .. } => "forward",
        Computes::Inverse { .. } => "inverse",
        Computes::BaseProduct { .. } | Computes::InnerProduct { .. } => "base-product",
        Computes::Accumulate { .. } => "accumulate",
        Computes::ToStandard => "to-standard",
        Computes::FromStandard => "from-standard",
    }
}

fn scale(computes: Computes) -> Option<u64> {
    match computes {
        Computes::Forward { scale }
        | Computes::Inverse { scale }
        | Computes::BaseProduct { scale }
        | Computes::InnerProduct { scale, .. }
        | Computes::Accumulate { scale } => Some(scale),
        Computes::Product | Computes::ToStandard | Computes::FromStandard => None,
    }
}

/// What is computed of each element of the ring, in a line of text.
fn formula(computes: Computes, ring: &Ring) -> String {
    let times = scale(computes).filter(|s| *s != 1).map_or(String::new(), |s| format!("{s} * "));
    match computes {
        Computes::Product => format!("c = a * b in {ring}"),
        Computes::Forward { .. } => format!("c = {times}T(a) mod {}", ring.q()),
        Computes::Inverse { .. } => format!("c = {times}T^-1(a) mod {}", ring.q()),
        Computes::BaseProduct { .. } => {
            format!("c = {times}(a o b) mod {}, remainder by remainder", ring.q())
        }
        Computes::InnerProduct { pairs, .. } => format!(
            "c = {times}(a1 o b1 + ... + a{pairs} o b{pairs}) mod {}, remainder by remainder",
            ring.q()
        ),
        Computes::Accumulate { .. } => {
            format!("c = c + {times}(a o b) mod {}, remainder by remainder", ring.q())
        }
        Computes::ToStandard => "c = a brought from this target's order to the standard one".into(),
        Computes::FromStandard => {
            "c = a brought from the standard order to this target's own".into()
        }
    }
}

impl Entry {
    /// What is computed, in a line of text.
    pub fn formula(&self, ring: &Ring) -> String {
        let one = formula(self.computes, ring);
        match self.batch {
            1 => one,
            k => format!("{one}, for each of {k} elements of the ring, one after the other"),
        }
    }

    /// Pairs (output, input) of argument numbers that may be one array. Sums have none: neither an
    /// accumulator nor the output of an inner product may be one of the factors.
    pub fn alias(&self) -> Vec<(usize, usize)> {
        if matches!(self.computes, Computes::Accumulate { .. } | Computes::InnerProduct { .. }) {
            return Vec::new();
        }
        (1..self.signature.arguments.len()).map(|i| (0, i)).collect()
    }

    /// The parameter list of its C prototype.
    pub fn parameters(&self) -> String {
        let one = |a: &Argument| {
            let fixed = if a.role == toolchain::Role::Input { "const " } else { "" };
            format!("{fixed}int{}_t {}[{}]", a.element.bits, a.name, a.length)
        };
        self.signature.arguments.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// The ranges of its arguments: `a in [-1664, 1664], c in [-3000, 3000]`.
    pub fn promises(&self) -> String {
        let one = |a: &Argument| format!("{}[i] in [{}, {}]", a.name, a.range.0, a.range.1);
        let (written, read): (Vec<&Argument>, Vec<&Argument>) =
            self.signature.arguments.iter().partition(|a| a.role == toolchain::Role::Output);
        let list = |all: &[&Argument]| all.iter().map(|a| one(a)).collect::<Vec<_>>().join(", ");
        match written.is_empty() {
            true => format!("{}, and c again at exit", list(&read)),
            false => format!("{}; then {}", list(&read), list(&written)),
        }
    }

    /// The file that its contract is in.
    pub fn contract_file(&self, name: &str) -> String {
        match self.computes {
            Computes::Product if self.batch == 1 => format!("{name}.contract.toml"),
            Computes::Product => format!("{name}_x{}.contract.toml", self.batch),
            _ => format!("{}.contract.toml", self.signature.symbol),
        }
    }

    /// Its contract.
    pub fn contract(&self, name: &str, ring: &Ring, layout: Option<&TransformLayout>) -> String {
        let Signature { symbol, arguments } = &self.signature;
        let mut text = format!(
            "# What `{symbol}` in {name}.o promises. Prove it again:\n\
             #   ringforge prove {name}.o --contract {}{}\n\
             contract = 1\nsymbol = \"{symbol}\"\nabi = \"{}\"\nring = \"{ring}\"\n\
             computes = \"{}\"  # {}\n",
            self.contract_file(name),
            if self.computes == Computes::Product { " [--symbol NAME]" } else { "" },
            self.abi,
            kind(self.computes),
            self.formula(ring),
        );
        if let Some(scale) = scale(self.computes) {
            text += &format!("scale = {scale}\n");
        }
        if let Computes::InnerProduct { pairs, .. } = self.computes {
            text += &format!("pairs = {pairs}\n");
        }
        if self.batch > 1 {
            text += &format!("batch = {}\n", self.batch);
        }
        let alias = self.alias();
        if !alias.is_empty() {
            let pair = |&(o, i): &(usize, usize)| {
                format!("[\"{}\", \"{}\"]", arguments[o].name, arguments[i].name)
            };
            let pairs: Vec<String> = alias.iter().map(pair).collect();
            text += &format!("alias = [{}]  # calls in place are allowed\n", pairs.join(", "));
        }
        if let Some(layout) = layout.filter(|_| self.computes != Computes::Product) {
            let list = |all: &mut dyn Iterator<Item = u64>| {
                let words: Vec<String> = all.map(|x| x.to_string()).collect();
                let lines: Vec<String> =
                    words.chunks(16).map(|line| format!("  {},\n", line.join(", "))).collect();
                format!("[\n{}]", lines.concat())
            };
            text += &format!(
                "\n# T(a): the remainders of a by x^degree - w, for each weight w; element p of the array is\n\
                 # coefficient order[p] mod degree of remainder number order[p] div degree.\n\
                 [transform]\ndegree = {}\nweights = {}\norder = {}\n",
                layout.degree,
                list(&mut layout.weights.iter().copied()),
                list(&mut layout.order.iter().map(|&p| u64::from(p))),
            );
        }
        for a in arguments {
            let role = match a.role {
                toolchain::Role::Input => "input",
                toolchain::Role::Output => "output",
                toolchain::Role::InOut => "inout",
            };
            text += &format!(
                "\n[[argument]]\nname = \"{}\"\nrole = \"{role}\"\nelement = \"i{}\"\nlength = {}\nalign = {}\nrange = [{}, {}]\n",
                a.name, a.element.bits, a.length, a.align, a.range.0, a.range.1
            );
        }
        text
    }
}
