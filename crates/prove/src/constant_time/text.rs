//! The text of a contract of constant time.

use super::clean::Clean;
use super::contract::{Buffer, Data, Function, Parameter, SafetyContract};
use crate::contract::{Abi, ContractError, Element, Role};
use ringforge_machine::{Extent, ExternalFunction};
use serde::Deserialize;
use toml::Spanned;

/// Cases of one function.
const MOST_CASES: usize = 256;
/// Bytes of one array.
const MOST_BYTES: usize = 1 << 24;
/// Arguments in registers.
const REGISTERS: usize = 6;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    contract: Spanned<u64>,
    abi: Abi,
    claims: Spanned<Claims>,
    function: Vec<Spanned<FunctionText>>,
    #[serde(default)]
    data: Vec<Spanned<DataText>>,
    #[serde(default)]
    external: Vec<Spanned<ExternalText>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "claims is a string, or a list of strings")]
enum Claims {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionText {
    symbol: String,
    stack: u64,
    claims: Option<Spanned<Claims>>,
    #[serde(default)]
    released_branches: usize,
    arguments: Vec<Spanned<ArgumentText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentText {
    name: String,
    role: Option<Role>,
    element: Option<Element>,
    length: Option<usize>,
    align: Option<u64>,
    #[serde(default)]
    known: Vec<KnownText>,
    value: Option<u64>,
    values: Option<Vec<u64>>,
    secret: Option<bool>,
    same: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownText {
    at: usize,
    hex: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DataText {
    symbol: String,
    words: Vec<Vec<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExternalText {
    symbol: String,
    #[serde(default)]
    reads: Vec<ExtentText>,
    #[serde(default)]
    writes: Vec<ExtentText>,
    returns: Option<u64>,
    #[serde(default)]
    stands_in: bool,
    stack: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtentText {
    argument: usize,
    bytes: Option<u64>,
    bytes_of: Option<usize>,
    #[serde(default)]
    known: Vec<KnownText>,
}

/// Whether a contract's text is one of constant time, not of a ring.
pub fn is_for(text: &str) -> bool {
    toml::from_str::<toml::Table>(text).is_ok_and(|t| t.contains_key("claims"))
}

/// See [`SafetyContract::parse`].
pub(super) fn parse(text: &str) -> Result<SafetyContract, ContractError> {
    let at = |offset: usize, message: String| ContractError::at(text, offset, message);
    let parsed: Text = toml::from_str(text)
        .map_err(|e| at(e.span().map_or(0, |s| s.start), e.message().to_string()))?;
    if *parsed.contract.as_ref() != 1 {
        return Err(at(parsed.contract.span().start, "this tool reads `contract = 1`".into()));
    }
    let claimed = |c: &Spanned<Claims>| clean(c.as_ref()).map_err(|m| at(c.span().start, m));
    let all = claimed(&parsed.claims)?;
    let abi = parsed.abi;
    let mut contract =
        SafetyContract { abi, functions: Vec::new(), data: Vec::new(), externals: Vec::new() };
    for d in &parsed.data {
        contract.data.push(data(d.as_ref()).map_err(|m| at(d.span().start, m))?);
    }
    for e in &parsed.external {
        contract.externals.push(external(e.as_ref()).map_err(|m| at(e.span().start, m))?);
    }
    let variants: usize = contract.data.iter().map(|d| d.contents.len()).product();
    for f in &parsed.function {
        let (offset, f) = (f.span().start, f.as_ref());
        let mut function = Function {
            symbol: f.symbol.clone(),
            stack: f.stack,
            clean: f.claims.as_ref().map_or(Ok(all), claimed)?,
            released_branches: f.released_branches,
            parameters: Vec::new(),
        };
        let mut cases = variants;
        for a in &f.arguments {
            let earlier = &f.arguments[..function.parameters.len()];
            let parameter = parameter(a.as_ref(), earlier, &function.parameters)
                .map_err(|m| at(a.span().start, m))?;
            if let Parameter::Public(values) = &parameter {
                cases = cases.saturating_mul(values.len());
            }
            function.parameters.push(parameter);
        }
        if cases > MOST_CASES {
            let m = format!("`{}` has {cases} cases; at most {MOST_CASES} are checked", f.symbol);
            return Err(at(offset, m));
        }
        contract.functions.push(function);
    }
    if contract.functions.is_empty() {
        return Err(at(0, "the contract names no [[function]]".into()));
    }
    Ok(contract)
}

/// What is claimed beyond constant time.
fn clean(claims: &Claims) -> Result<Clean, String> {
    let names = match claims {
        Claims::One(name) => std::slice::from_ref(name),
        Claims::Many(names) => names,
    };
    let mut clean = Clean::default();
    for name in names {
        match name.as_str() {
            "constant-time" => {}
            "clean-stack" => clean.stack = true,
            "clean-registers" => clean.registers = true,
            _ => {
                return Err(format!(
                    "claims = {name:?}: known is \"constant-time\", with it \"clean-stack\" and \"clean-registers\""
                ));
            }
        }
    }
    match names.iter().filter(|n| *n == "constant-time").count() {
        1 => Ok(clean),
        _ => {
            Err("claims: \"constant-time\" is expected, once; the other claims are optional".into())
        }
    }
}

fn data(d: &DataText) -> Result<Data, String> {
    let size = d.words.first().map_or(0, Vec::len);
    if size == 0 || d.words.iter().any(|w| w.len() != size) {
        return Err(format!(
            "`words` of {}: one list or several of one length are expected",
            d.symbol
        ));
    }
    let contents =
        d.words.iter().map(|w| w.iter().flat_map(|w| w.to_le_bytes()).collect()).collect();
    Ok(Data { symbol: d.symbol.clone(), contents })
}

fn external(e: &ExternalText) -> Result<ExternalFunction, String> {
    let extent = |x: &ExtentText| {
        let extent = match (x.bytes, x.bytes_of) {
            (Some(n), None) => Extent::Bytes(n),
            (None, Some(i)) if i < REGISTERS => Extent::Argument(i),
            _ => {
                return Err(format!(
                    "a buffer of `{}` has `bytes` or `bytes_of`, the position of an argument below \
                     {REGISTERS}",
                    e.symbol
                ));
            }
        };
        if x.argument >= REGISTERS {
            let m = format!("argument {} of `{}`: below {REGISTERS} only", x.argument, e.symbol);
            return Err(m);
        }
        Ok((x.argument, extent))
    };
    if e.reads.iter().any(|x| !x.known.is_empty()) {
        return Err(format!("`known` of `{}`: of what it writes bytes can be known", e.symbol));
    }
    if e.stands_in && e.stack.is_none() {
        return Err(format!(
            "`{}` is not executed: `stack` says how many bytes of stack it uses at most, as a contract of its own shows",
            e.symbol
        ));
    }
    let mut known = Vec::new();
    for (i, write) in e.writes.iter().enumerate() {
        for k in &write.known {
            let bytes = hex(&k.hex).filter(|_| k.at <= MOST_BYTES);
            let bytes = bytes.ok_or_else(|| {
                format!(
                    "`known` of `{}`: an offset and pairs of hexadecimal digits are expected",
                    e.symbol
                )
            })?;
            known.push((i, k.at, bytes));
        }
    }
    Ok(ExternalFunction {
        known,
        stands_in: e.stands_in,
        stack: e.stack.unwrap_or(0),
        symbol: e.symbol.clone(),
        reads: e.reads.iter().map(extent).collect::<Result<_, _>>()?,
        writes: e.writes.iter().map(extent).collect::<Result<_, _>>()?,
        returns: e.returns,
    })
}

fn parameter(
    a: &ArgumentText,
    earlier: &[Spanned<ArgumentText>],
    before: &[Parameter],
) -> Result<Parameter, String> {
    let name = &a.name;
    if earlier.iter().any(|e| e.as_ref().name == *name) {
        return Err(format!("two arguments are called `{name}`"));
    }
    let values = a.value.map(|v| vec![v]).or(a.values.clone());
    let secret = a.secret == Some(true);
    let numbers =
        usize::from(values.is_some()) + usize::from(a.value.is_some() && a.values.is_some());
    let kinds = numbers + usize::from(secret) + usize::from(a.same.is_some());
    let array = a.role.is_some() || a.element.is_some() || a.length.is_some();
    if kinds + usize::from(array) != 1 {
        return Err(format!(
            "`{name}` is an array (`role`, `element`, `length`), a public number (`value` or \
             `values`), a secret one (`secret = true`) or the pointer of another (`same`)"
        ));
    }
    if !array && (a.align.is_some() || !a.known.is_empty()) {
        return Err(format!("`{name}` is no array: leave out `align` and `known`"));
    }
    if let Some(values) = values {
        return match values.is_empty() {
            true => Err(format!("`values` of `{name}` is empty: nothing would be checked")),
            false => Ok(Parameter::Public(values)),
        };
    }
    if let Some(other) = &a.same {
        let found = earlier.iter().position(|e| e.as_ref().name == *other);
        return match found.filter(|&i| matches!(before[i], Parameter::Buffer(_))) {
            Some(i) => Ok(Parameter::Same(i)),
            None => Err(format!("no array before `{name}` is called `{other}`")),
        };
    }
    if secret {
        return Ok(Parameter::Secret);
    }
    let (Some(role), Some(element), Some(length)) = (a.role, a.element, a.length) else {
        return Err(format!("the array `{name}` needs `role`, `element` and `length`"));
    };
    let size = usize::from(element.bits() / 8);
    if length.saturating_mul(size) > MOST_BYTES {
        return Err(format!("`{name}` has {length} elements, more than 16 MiB"));
    }
    let align = a.align.unwrap_or(size as u64);
    if !align.is_power_of_two() || align > 4096 {
        return Err(format!("align = {align}: a power of two up to 4096 is expected"));
    }
    let mut known = Vec::new();
    for k in &a.known {
        let bytes = hex(&k.hex).ok_or_else(|| {
            format!("`hex` of `{name}`: pairs of hexadecimal digits are expected")
        })?;
        if k.at.saturating_add(bytes.len()) > length * size || role == Role::Output {
            return Err(format!("`known` of `{name}`: bytes that it has at entry are expected"));
        }
        known.push((k.at, bytes));
    }
    Ok(Parameter::Buffer(Buffer { name: name.clone(), role, element, length, align, known }))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
    let digits = digits?;
    (digits.len() % 2 == 0).then(|| digits.chunks(2).map(|d| 16 * d[0] + d[1]).collect())
}
