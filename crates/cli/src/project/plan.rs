//! What is proved: a function in an object, against a contract.

use std::path::{Path, PathBuf};

use ringforge_machine::Object;
use ringforge_prove::chain::{self, Called, Callee, Chain};
use ringforge_prove::constant_time::SafetyContract;
use ringforge_prove::constant_time::contract::{self as constant_time, Function};
use ringforge_prove::contract::Abi;
use serde::Serialize;

use super::task::{Label, Part, Promise, Task};
use crate::objects::{Found, Input};
use crate::preset::read;
use crate::proof;
use crate::ui::Failure;

/// Everything that is proved, and what is not.
pub struct Plan<'a> {
    /// In the order of the contracts, for each in that of the objects.
    pub tasks: Vec<Task<'a>>,
    /// What no object has, or no contract is about.
    pub left_out: LeftOut,
}

/// What was left out, by the reason.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LeftOut {
    /// Functions that no object defines.
    pub not_defined: Vec<String>,
    /// Contracts for other processors.
    pub other_processors: Vec<String>,
    /// Objects that no contract is about.
    pub without_contract: Vec<String>,
    /// The contracts of those functions, and what the objects say.
    #[serde(skip)]
    pub missing: Vec<(Label, String)>,
}

/// A file of objects, read once.
pub struct Loaded {
    path: PathBuf,
    input: Input,
    /// The object, unless the file is an archive.
    object: Option<Object>,
}

impl Loaded {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is neither an object nor an archive.
    pub fn read(path: &Path) -> Result<Loaded, Failure> {
        let input = Input::read(path)?;
        let parsed = |bytes| {
            let name = path.display();
            Object::parse(bytes)
                .map_err(|e| Failure::input(format!("cannot read `{name}` as an object: {e}")))
        };
        let object = if input.is_archive() { None } else { Some(parsed(input.bytes())?) };
        Ok(Loaded { path: path.to_owned(), input, object })
    }

    /// The file, for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Where a function is, if it is here.
    fn function(&self, symbol: &str, abi: Abi) -> Result<Place<'_>, Failure> {
        let place = |object: &Object, found| match (abi.check(object), object.function(symbol)) {
            (Err(_), _) => Place::OtherProcessor,
            (Ok(()), Err(why)) => Place::Nowhere(why),
            (Ok(()), Ok(_)) => Place::Here(Part { path: &self.path, found }),
        };
        let name = self.name();
        if let Some(object) = &self.object {
            return Ok(place(object, Found { name, bytes: self.input.bytes() }));
        }
        let Some(found) = self.input.finding(symbol)? else {
            return Ok(Place::Nowhere(format!("no member defines `{symbol}`")));
        };
        let object = Object::parse(found.bytes).map_err(|e| {
            Failure::input(format!("cannot read `{}` as an object: {e}", found.name))
        })?;
        Ok(place(&object, found))
    }
}

/// Where a function of a contract is.
enum Place<'a> {
    Here(Part<'a>),
    Nowhere(String),
    OtherProcessor,
}

/// Finds out what is to be proved: each contract of each function, in each object that defines it.
///
/// # Errors
/// A contract makes no sense, or an archive cannot be read.
pub fn plan<'a>(objects: &'a [Loaded], contracts: &[PathBuf]) -> Result<Plan<'a>, Failure> {
    let mut plan = Plan { tasks: Vec::new(), left_out: LeftOut::default() };
    for file in contracts {
        let origin = file.display().to_string();
        let text = read(&origin)?;
        if chain::is_for(&text) {
            plan.add_chain(objects, file, &origin, &text)?;
            continue;
        }
        for (function, abi, promise) in promised(&origin, &text)? {
            plan.add(objects, (function, abi), &origin, &text, &promise)?;
        }
    }
    let LeftOut { not_defined, other_processors, without_contract, .. } = &mut plan.left_out;
    other_processors.dedup();
    not_defined.sort();
    not_defined.dedup();
    let used = |path: &Path| plan.tasks.iter().flat_map(|t| &t.parts).any(|p| p.path == path);
    let unused = objects.iter().filter(|o| !used(&o.path));
    without_contract.extend(unused.map(Loaded::name));
    Ok(plan)
}

impl<'a> Plan<'a> {
    fn add(
        &mut self,
        objects: &'a [Loaded],
        (function, abi): (String, Abi),
        origin: &str,
        text: &str,
        promise: &Promise,
    ) -> Result<(), Failure> {
        let (mut here, mut nowhere) = (false, Vec::new());
        for object in objects {
            match object.function(&function, abi)? {
                Place::OtherProcessor => (),
                Place::Nowhere(why) => nowhere.push(why),
                Place::Here(part) => {
                    here = true;
                    let object = part.found.name.clone();
                    let contract = origin.to_owned();
                    self.tasks.push(Task {
                        label: Label { function: function.clone(), object, contract },
                        promise: promise.clone(),
                        parts: vec![part],
                        texts: vec![text.to_owned()],
                    });
                }
            }
        }
        if !here {
            self.leave_out(objects, function, origin, nowhere);
        }
        Ok(())
    }

    fn add_chain(
        &mut self,
        objects: &'a [Loaded],
        file: &Path,
        origin: &str,
        text: &str,
    ) -> Result<(), Failure> {
        let chain = Chain::parse(text, |name| crate::chain::contract(origin, name))
            .map_err(|e| proof::refused_as("this chain does not fit", origin, text, e))?;
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        let (mut parts, mut texts) = (Vec::new(), vec![text.to_owned()]);
        for Called { file: beside, contract, .. } in &chain.contracts {
            let (mut found, mut nowhere): (Vec<Part>, Vec<String>) = Default::default();
            for object in objects {
                match object.function(contract.symbol(), contract.abi())? {
                    Place::OtherProcessor => (),
                    Place::Nowhere(why) => nowhere.push(why),
                    Place::Here(part) => found.push(part),
                }
            }
            if found.len() > 1 {
                let names: Vec<&str> = found.iter().map(|p| p.found.name.as_str()).collect();
                let m = format!(
                    "the chain `{origin}` calls `{}`, which {} define: which is meant? name one of them",
                    contract.symbol(),
                    names.join(" and ")
                );
                return Err(Failure::input(m));
            }
            let Some(part) = found.pop() else {
                self.leave_out(objects, contract.symbol().to_string(), origin, nowhere);
                return Ok(());
            };
            parts.push(part);
            texts.push(read(&file.with_file_name(beside).display().to_string())?);
        }
        let mut names: Vec<&str> = parts.iter().map(|p| p.found.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let label = Label { function: name, object: names.join(", "), contract: origin.into() };
        self.tasks.push(Task { label, promise: Promise::Chain(Box::new(chain)), parts, texts });
        Ok(())
    }

    fn leave_out(
        &mut self,
        objects: &[Loaded],
        function: String,
        origin: &str,
        mut nowhere: Vec<String>,
    ) {
        if nowhere.is_empty() {
            self.left_out.other_processors.push(origin.to_owned());
            return;
        }
        self.left_out.not_defined.push(function.clone());
        nowhere.dedup();
        let (why, object) = match (&nowhere[..], objects) {
            ([why], [object]) => (why.clone(), object.name()),
            _ => (format!("no object defines `{function}`"), String::new()),
        };
        let label = Label { function, object, contract: origin.to_owned() };
        self.left_out.missing.push((label, why));
    }
}

/// The functions of a contract, each with its calling convention and what it promises.
fn promised(origin: &str, text: &str) -> Result<Vec<(String, Abi, Promise)>, Failure> {
    if constant_time::is_for(text) {
        let whole = SafetyContract::parse(text).map_err(|e| proof::refused(origin, text, e))?;
        let alone = |function: &Function| {
            let contract = SafetyContract { functions: vec![function.clone()], ..whole.clone() };
            (function.symbol.clone(), contract.abi, Promise::ConstantTime(contract))
        };
        return Ok(whole.functions.iter().map(alone).collect());
    }
    let callee = Callee::parse(text).map_err(|e| proof::refused(origin, text, e))?;
    Ok(vec![(callee.symbol().to_string(), callee.abi(), Promise::Function(Box::new(callee)))])
}
