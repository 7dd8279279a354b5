//! Unsigned programs as C and as OCaml: the same walk as [`super::execute`], over texts
//! [TokudaKameyama23 §2.3].

use ringforge_program::unsigned::primitive::{self, Word32};
use ringforge_program::unsigned::{Array, Body, Constants, Kind, Language, Scheme};
use std::convert::Infallible;
use std::fmt::Write;

/// What a program is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// C99. The operands are overwritten by their transforms.
    C,
    /// OCaml on `int array`s.
    OCaml,
}

/// The whole product as text: tables, the three reductions and a function or procedure `product` of c, a and b. Each has
/// n words in `[0, q)`; c need not be initialised.
pub fn product(scheme: &Scheme, syntax: Syntax) -> String {
    let mut out = header(scheme, syntax);
    for table in scheme.tables.iter().filter(|t| !t.words.is_empty()) {
        let words: Vec<String> = table.words.iter().map(u16::to_string).collect();
        let lines: Vec<String> = words.chunks(16).map(|row| row.join(syntax.comma())).collect();
        let body = lines.join(&format!("{}\n  ", syntax.comma().trim_end()));
        let _ = match syntax {
            Syntax::C => writeln!(
                out,
                "/* {} */\nstatic const uint16_t {}[{}] = {{\n  {body}\n}};\n",
                table.what,
                table.name,
                words.len()
            ),
            Syntax::OCaml => {
                writeln!(out, "(* {} *)\nlet {} = [|\n  {body}\n|]\n", table.what, table.name)
            }
        };
    }
    let k = &scheme.constants;
    out += &function(syntax, "montgomery_reduce", |a, x| primitive::montgomery_reduce(a, k, x));
    out += &function(syntax, "barrett_reduce", |a, x| primitive::barrett_reduce(a, k, x));
    out += &function(syntax, "csub", |a, x| primitive::csub(a, k, x));
    let mut printer = Print { scheme, syntax, out: String::new(), depth: 1, names: 0, loops: 0 };
    let Ok(()) = scheme.product_program(&mut printer);
    let body = printer.out;
    out += &match syntax {
        Syntax::C => format!("void product(uint16_t *c, uint16_t *a, uint16_t *b)\n{{\n{body}}}\n"),
        Syntax::OCaml => format!("let product c a b =\n{body}  ()\n"),
    };
    out
}

fn header(scheme: &Scheme, syntax: Syntax) -> String {
    let (n, Constants { q, .. }) = (scheme.n, scheme.constants);
    let about = format!(
        "c = a*b in Z{q}[x]/(x^{n} + 1), coefficients in [0, {q}); a and b are overwritten.\n\
         \x20  The unsigned scheme of [TokudaKameyama23]; generated, do not edit."
    );
    match syntax {
        Syntax::C => format!("/* {about} */\n#include <stdint.h>\n\n"),
        Syntax::OCaml => format!("(* {about} *)\n\n"),
    }
}

impl Syntax {
    fn comma(self) -> &'static str {
        if self == Syntax::C { ", " } else { "; " }
    }

    fn element(self, name: &str, at: &str) -> String {
        match self {
            Syntax::C => format!("{name}[{at}]"),
            Syntax::OCaml => format!("{name}.({at})"),
        }
    }
}

/// A function of one 32-bit word; its body binds every intermediate value.
fn function(syntax: Syntax, name: &str, body: impl Fn(&mut Lines, &String) -> String) -> String {
    let mut lines = Lines { syntax, lines: String::new(), names: 0 };
    let result = body(&mut lines, &"x".to_string());
    let lines = lines.lines;
    match syntax {
        Syntax::C => format!(
            "static inline uint16_t {name}(uint32_t x)\n{{\n{lines}  return (uint16_t){result};\n}}\n\n"
        ),
        Syntax::OCaml => format!("let {name} x =\n{lines}  {result} land 0xffff\n\n"),
    }
}

/// The low-level domain of texts.
struct Lines {
    syntax: Syntax,
    lines: String,
    names: usize,
}

impl Lines {
    fn bind(&mut self, c: String, ocaml: String) -> String {
        self.names += 1;
        let name = format!("t{}", self.names);
        let _ = match self.syntax {
            Syntax::C => writeln!(self.lines, "  uint32_t {name} = {c};"),
            // Words of 32 bits in OCaml's 63.
            Syntax::OCaml => writeln!(self.lines, "  let {name} = ({ocaml}) land 0xffffffff in"),
        };
        name
    }
}

impl Word32 for Lines {
    type Word = String;
    fn constant(&mut self, c: u32) -> String {
        if self.syntax == Syntax::C { format!("{c}u") } else { c.to_string() }
    }
    fn add(&mut self, a: &String, b: &String) -> String {
        self.bind(format!("{a} + {b}"), format!("{a} + {b}"))
    }
    fn sub(&mut self, a: &String, b: &String) -> String {
        self.bind(format!("{a} - {b}"), format!("{a} - {b}"))
    }
    fn mul(&mut self, a: &String, b: &String) -> String {
        self.bind(format!("{a} * {b}"), format!("{a} * {b}"))
    }
    fn and(&mut self, a: &String, b: &String) -> String {
        self.bind(format!("{a} & {b}"), format!("{a} land {b}"))
    }
    fn shr(&mut self, a: &String, k: u32) -> String {
        self.bind(format!("{a} >> {k}"), format!("{a} lsr {k}"))
    }
}

/// The language abstraction of texts.
struct Print<'s> {
    scheme: &'s Scheme,
    syntax: Syntax,
    out: String,
    depth: usize,
    names: usize,
    loops: usize,
}

impl Print<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "  ".repeat(self.depth));
    }

    fn bind(&mut self, expression: &str) -> String {
        self.names += 1;
        let name = format!("v{}", self.names);
        match self.syntax {
            Syntax::C => self.line(&format!("uint16_t {name} = (uint16_t)({expression});")),
            Syntax::OCaml => self.line(&format!("let {name} = ({expression}) land 0xffff in")),
        }
        name
    }

    fn call(&mut self, function: &str, argument: &str) -> String {
        match self.syntax {
            Syntax::C => self.bind(&format!("{function}({argument})")),
            Syntax::OCaml => self.bind(&format!("{function} ({argument})")),
        }
    }

    fn array(&self, array: Array) -> String {
        match array {
            Array::Data(i) => ["c", "a", "b"][usize::from(i) % 3].into(),
            Array::Table(i) => self.scheme.tables[usize::from(i)].name.clone(),
        }
    }
}

impl Language for Print<'_> {
    type Index = String;
    type Value = String;
    type Error = Infallible;

    fn number(&mut self, i: usize) -> String {
        i.to_string()
    }
    fn plus(&mut self, a: &String, b: &String) -> String {
        match (a.as_str(), b.as_str()) {
            ("0", _) => b.clone(),
            (_, "0") => a.clone(),
            _ => format!("{a} + {b}"),
        }
    }
    fn times(&mut self, a: &String, k: usize) -> String {
        match (a.as_str(), k) {
            ("0", _) | (_, 0) => "0".into(),
            (_, 1) => a.clone(),
            _ => format!("{k} * {a}"),
        }
    }
    fn for_(&mut self, count: usize, body: &mut Body<'_, Self>) -> Result<(), Infallible> {
        if count == 1 {
            match self.syntax {
                Syntax::C => self.line("{"),
                Syntax::OCaml => self.line("begin"),
            }
            self.depth += 1;
            body(self, &"0".to_string())?;
        } else {
            self.loops += 1;
            let i = format!("i{}", self.loops);
            match self.syntax {
                Syntax::C => self.line(&format!("for (int {i} = 0; {i} < {count}; {i}++) {{")),
                Syntax::OCaml => self.line(&format!("for {i} = 0 to {} do", count - 1)),
            }
            self.depth += 1;
            body(self, &i)?;
        }
        self.depth -= 1;
        match self.syntax {
            Syntax::C => self.line("}"),
            Syntax::OCaml if count == 1 => self.line("end;"),
            Syntax::OCaml => self.line("done;"),
        }
        Ok(())
    }
    fn stage(&mut self, title: &str) {
        match self.syntax {
            Syntax::C => self.line(&format!("/* {title} */")),
            Syntax::OCaml => self.line(&format!("(* {title} *)")),
        }
    }
    fn get(&mut self, array: Array, at: &String) -> Result<String, Infallible> {
        let element = self.syntax.element(&self.array(array), at);
        Ok(self.bind(&element))
    }
    fn set(&mut self, array: Array, at: &String, v: &String) -> Result<(), Infallible> {
        let element = self.syntax.element(&self.array(array), at);
        match self.syntax {
            Syntax::C => self.line(&format!("{element} = {v};")),
            Syntax::OCaml => self.line(&format!("{element} <- {v};")),
        }
        Ok(())
    }
    fn add(&mut self, a: &String, b: &String) -> Result<String, Infallible> {
        Ok(self.bind(&format!("{a} + {b}")))
    }
    fn sub(&mut self, a: &String, offset: &String, b: &String) -> Result<String, Infallible> {
        Ok(self.bind(&format!("{a} + {offset} - {b}")))
    }
    fn multiple(&mut self, k: u8) -> Result<String, Infallible> {
        Ok((u32::from(k) * self.scheme.constants.q).to_string())
    }
    fn constant(&mut self, word: u16) -> Result<String, Infallible> {
        Ok(word.to_string())
    }
    fn mul(&mut self, a: &String, b: &String) -> Result<String, Infallible> {
        let product = match self.syntax {
            Syntax::C => format!("(uint32_t){a} * {b}"),
            Syntax::OCaml => format!("{a} * {b}"),
        };
        Ok(self.call("montgomery_reduce", &product))
    }
    fn reduce(&mut self, a: &String, kind: Kind) -> Result<String, Infallible> {
        let function = match kind {
            Kind::Csub => "csub",
            Kind::Barrett => "barrett_reduce",
        };
        Ok(self.call(function, a))
    }
}
