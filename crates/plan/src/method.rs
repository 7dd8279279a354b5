//! What a plan's text knows of a method, and how forms are read: by a table of methods that this file
//! does not know.

use crate::base::{BaseRef, BaseSpec};
use crate::domain::Domain;
use crate::error::Refusal;
use crate::product::ProductRef;
use crate::sexpr::{Form, FormKind};
use crate::stages::Inside;
use crate::transform::TransformRef;
use crate::weighted_convolution::WeightedConvolution;
use ringforge_ring::zq;

/// A method of decomposition, as the plan text knows it.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The word that opens its form.
    pub name: &'static str,
    /// The shape of its form: `(good-thomas P Q TRANSFORM TRANSFORM)`.
    pub usage: &'static str,
    /// One sentence: the map, and the condition it needs.
    pub summary: &'static str,
    /// Where it is from.
    pub citation: &'static str,
    /// How its form is read.
    pub build: Build,
}

/// How a form is read, by what the method computes.
#[derive(Clone, Copy, Debug)]
pub enum Build {
    /// A product in a quotient of Z_q\[x\].
    Product(fn(&mut Arguments, &Domain) -> Result<ProductRef, Refusal>),
    /// Values at points of Z_q.
    Points(fn(&mut Arguments, &PointsSpec) -> Result<TransformRef, Refusal>),
    /// A discrete Fourier transform.
    Transform(fn(&mut Arguments, &DftSpec) -> Result<TransformRef, Refusal>),
    /// A small product: a weighted convolution or a Toeplitz matrix-vector product.
    Base(fn(&mut Arguments, &BaseSpec) -> Result<BaseRef, Refusal>),
}

/// The transform that a parent asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DftSpec {
    /// The modulus.
    pub q: u64,
    /// The length n.
    pub len: usize,
    /// A principal n-th root of unity is this times x^`x`.
    pub root: u64,
    /// The power of x in the root; 0 but below `schoenhage`.
    pub x: usize,
    /// W, where blocks are polynomials mod x^W + 1; 0 where they are of any kind.
    pub width: usize,
}

/// The points that a parent asks for: `len` blocks in and out, and what t is to fulfil.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PointsSpec {
    /// The modulus.
    pub q: u64,
    /// N, how many points.
    pub len: usize,
    /// w where products are modulo t^N − w; `None` where any modulus of degree N serves.
    pub weight: Option<u64>,
}

impl DftSpec {
    /// The spec of length n modulo q with the root of [`zq::root_of_unity`].
    pub fn new(q: u64, len: usize) -> Result<DftSpec, zq::MissingRoot> {
        Ok(DftSpec { q, len, root: zq::root_of_unity(len as u64, q)?, x: 0, width: 0 })
    }

    /// The same root with a power of x below W, as x^W = −1.
    pub fn normal(self) -> DftSpec {
        let (w, q) = (self.width, self.q);
        match self.x.checked_rem(2 * w).unwrap_or(0) {
            x if x < w.max(1) => DftSpec { x, ..self },
            x => DftSpec { x: x - w, root: zq::sub(0, self.root, q), ..self },
        }
    }

    /// e, where the root is x^e mod x^W + 1, below 2W.
    pub fn exponent(&self) -> Option<usize> {
        match self.root {
            _ if self.width == 0 => None,
            1 => Some(self.x),
            minus if minus == self.q - 1 => Some(self.x + self.width),
            _ => None,
        }
    }

    /// Refuses roots that are no numbers, for methods that multiply by them.
    pub(crate) fn of_numbers(&self, arguments: &Arguments) -> Result<(), Refusal> {
        if self.x == 0 {
            return Ok(());
        }
        let message = format!(
            "`{}` multiplies by powers of a number, but the root here has a power of x",
            arguments.name
        );
        Err(arguments.refuse(message).instead("(rotations …), or good-thomas above it"))
    }

    /// ω^e, for roots that are numbers.
    pub fn power(&self, e: usize) -> u64 {
        zq::pow(self.root, e as u64, self.q)
    }

    /// The transform of length `len` (a divisor of this one's) on the matching power of ω.
    pub fn part(&self, len: usize) -> DftSpec {
        let e = self.len / len;
        DftSpec { len, root: self.power(e), x: self.x * e, ..*self }.normal()
    }
}

/// The methods that forms name.
#[derive(Clone, Copy, Debug)]
pub struct Methods(pub &'static [&'static Method]);

impl Methods {
    /// Those whose form is read in this way: `Transform`, `Product` or `Base`.
    fn names(self, same: impl Fn(&Build) -> bool) -> String {
        let all: Vec<&str> = self.0.iter().filter(|m| same(&m.build)).map(|m| m.usage).collect();
        all.join(", ")
    }

    /// The method that a form names; `same` says which kinds are wanted here.
    fn find(
        self,
        form: &Form,
        same: impl Fn(&Build) -> bool,
    ) -> Result<(&'static Method, Arguments), Refusal> {
        let FormKind::List(items) = &form.kind else {
            return Err(Refusal::new(
                form.at,
                format!("a method is expected here, not {}", form.describe()),
            )
            .instead("a list such as `(schoolbook)`"));
        };
        let Some(Form { at, kind: FormKind::Word(name) }) = items.first() else {
            return Err(Refusal::new(
                form.at,
                "this list does not start with the name of a method",
            ));
        };
        let method = self.0.iter().find(|m| m.name == name).ok_or_else(|| {
            let of_kind = self.0.iter().filter(|m| same(&m.build));
            let mut all: Vec<&str> = of_kind.map(|m| m.name).collect();
            // The nearest spelling first.
            all.sort_by_key(|known| strsim::damerau_levenshtein(name, known));
            Refusal::new(*at, format!("there is no method `{name}`")).instead(all.join(", "))
        })?;
        let rest = items[1..].to_vec();
        Ok((
            method,
            Arguments {
                methods: self,
                name: method.name,
                usage: method.usage,
                at: form.at,
                rest,
                next: 0,
            },
        ))
    }

    /// Reads a product of polynomials in `domain`.
    pub fn product(self, form: &Form, domain: &Domain) -> Result<ProductRef, Refusal> {
        let same = |b: &Build| matches!(b, Build::Product(_));
        let (method, mut arguments) = self.find(form, same)?;
        let Build::Product(build) = method.build else {
            let names = self.names(same);
            return Err(wrong_kind(form, method, "a product of polynomials", names));
        };
        let product = build(&mut arguments, domain)?;
        arguments.end()?;
        Ok(product)
    }

    /// Reads the values at points that meet `spec`, where the form is a method for that; `None` where it
    /// is not, as transforms are.
    pub fn points(self, form: &Form, spec: &PointsSpec) -> Result<Option<TransformRef>, Refusal> {
        // Where points serve, a transform does as well.
        let same = |b: &Build| matches!(b, Build::Points(_) | Build::Transform(_));
        let (method, mut arguments) = self.find(form, same)?;
        let Build::Points(build) = method.build else { return Ok(None) };
        let points = build(&mut arguments, spec)?;
        arguments.end()?;
        Ok(Some(points))
    }

    /// Reads a transform that meets `spec`.
    pub fn transform(self, form: &Form, spec: &DftSpec) -> Result<TransformRef, Refusal> {
        let same = |b: &Build| matches!(b, Build::Transform(_));
        let (method, mut arguments) = self.find(form, same)?;
        let Build::Transform(build) = method.build else {
            let names = self.names(same);
            return Err(wrong_kind(form, method, "a transform", names));
        };
        let transform = build(&mut arguments, spec)?;
        arguments.end()?;
        Ok(transform)
    }

    /// Reads a small product that meets `spec`.
    pub fn base(self, form: &Form, spec: &BaseSpec) -> Result<BaseRef, Refusal> {
        let same = |b: &Build| matches!(b, Build::Base(_));
        let (method, mut arguments) = self.find(form, same)?;
        let Build::Base(build) = method.build else {
            let names = self.names(same);
            return Err(wrong_kind(form, method, "a small product", names));
        };
        let base = build(&mut arguments, spec)?;
        arguments.end()?;
        Ok(base)
    }
}

fn wrong_kind(form: &Form, method: &Method, what: &str, names: String) -> Refusal {
    Refusal::new(form.at, format!("`{}` is not {what}, which is what is needed here", method.name))
        .instead(names)
}

/// The arguments of one form, taken from left to right.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// What forms among them may name.
    pub methods: Methods,
    name: &'static str,
    usage: &'static str,
    /// Byte position of the whole form.
    pub at: usize,
    rest: Vec<Form>,
    next: usize,
}

impl Arguments {
    /// A refusal of the form as a whole.
    pub fn refuse(&self, message: impl Into<String>) -> Refusal {
        Refusal::new(self.at, message)
    }

    /// Takes the next argument, whatever it is; `what` names it in the error.
    pub fn form(&mut self, what: &str) -> Result<Form, Refusal> {
        let form = self.rest.get(self.next).cloned().ok_or_else(|| {
            self.refuse(format!("`{}` lacks {what}", self.name)).instead(self.usage)
        })?;
        self.next += 1;
        Ok(form)
    }

    /// Takes the next argument as a number of at least 1 and at most 2^20.
    pub fn number(&mut self, what: &str) -> Result<usize, Refusal> {
        self.number_to(what, 1 << 20)
    }

    /// Takes the next argument as a number of at least 1 and at most `most`.
    pub fn number_to(&mut self, what: &str, most: usize) -> Result<usize, Refusal> {
        let form = self.form(what)?;
        let value = match &form.kind {
            FormKind::Word(word) => word.parse().ok().filter(|n| (1..=most).contains(n)),
            _ => None,
        };
        value.ok_or_else(|| {
            let message = format!("{what} is expected here, not {}", form.describe());
            Refusal::new(form.at, message)
                .instead(format!("a number from 1 to {most}: {}", self.usage))
        })
    }

    /// The byte position of the argument taken last.
    pub fn last_at(&self) -> usize {
        self.next.checked_sub(1).map_or(self.at, |i| self.rest[i].at)
    }

    /// Takes the next argument if it is this word.
    pub fn option(&mut self, word: &str) -> bool {
        let found = matches!(self.rest.get(self.next),
            Some(Form { kind: FormKind::Word(w), .. }) if w == word);
        self.next += usize::from(found);
        found
    }

    /// Takes the next argument if it is `(word)`.
    pub fn option_list(&mut self, word: &str) -> bool {
        let found = matches!(self.rest.get(self.next), Some(Form { kind: FormKind::List(items), .. })
            if matches!(items.as_slice(), [Form { kind: FormKind::Word(w), .. }] if w == word));
        self.next += usize::from(found);
        found
    }

    /// Takes the next argument, `(word FORM)`, and gives the FORM.
    pub fn labelled(&mut self, word: &str) -> Result<Form, Refusal> {
        let form = self.form(&format!("`({word} …)`"))?;
        if let FormKind::List(items) = &form.kind
            && let [Form { kind: FormKind::Word(head), .. }, inner] = items.as_slice()
            && head == word
        {
            return Ok(inner.clone());
        }
        Err(Refusal::new(
            form.at,
            format!("`({word} …)` is expected here, not {}", form.describe()),
        )
        .instead(self.usage))
    }

    /// Whether an argument is left.
    pub fn more(&self) -> bool {
        self.next < self.rest.len()
    }

    /// Takes the next argument, `(word …)`, and gives what follows the word as arguments.
    pub fn nested(&mut self, word: &str) -> Result<Arguments, Refusal> {
        let form = self.form(&format!("`({word} …)`"))?;
        match &form.kind {
            FormKind::List(items) if items.first() == Some(&Form::word(word)) => {
                let rest = items[1..].to_vec();
                Ok(Arguments { at: form.at, rest, next: 0, ..*self })
            }
            _ => Err(Refusal::new(
                form.at,
                format!("`({word} …)` is expected here, not {}", form.describe()),
            )
            .instead(self.usage)),
        }
    }

    /// Takes the next argument as a transform.
    pub fn transform(&mut self, spec: &DftSpec) -> Result<TransformRef, Refusal> {
        let form = self.form("a transform")?;
        self.methods.transform(&form, spec)
    }

    /// Takes the next argument as a product.
    pub fn product(&mut self, domain: &Domain) -> Result<ProductRef, Refusal> {
        let form = self.form("a product")?;
        self.methods.product(&form, domain)
    }

    /// Takes the next argument as a small product.
    pub fn base(&mut self, spec: &BaseSpec) -> Result<BaseRef, Refusal> {
        let form = self.form("a small product")?;
        self.methods.base(&form, spec)
    }

    /// Takes the next argument as the products of a transform's blocks.
    pub fn convolutions(&mut self, spec: &BaseSpec) -> Result<WeightedConvolution, Refusal> {
        let inner = self.base(spec)?;
        match inner.inside() {
            Inside::Convolutions(convolution) => Ok(convolution.clone()),
            _ => {
                let message = format!("{} ends in weighted convolutions", self.name);
                Err(Refusal::new(self.last_at(), message)
                    .instead("(weighted-convolution (toeplitz))"))
            }
        }
    }

    /// Refuses arguments that are left over.
    pub fn end(&self) -> Result<(), Refusal> {
        match self.rest.get(self.next) {
            None => Ok(()),
            Some(form) => Err(Refusal::new(
                form.at,
                format!("`{}` does not take {} here", self.name, form.describe()),
            )
            .instead(self.usage)),
        }
    }
}
