//! `ringforge recheck`: the certificate of a proof, replayed by the kernel.
//!
//! Nothing here calls the prover: object, contract and certificate go to `ringforge_kernel`.

use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use ringforge_kernel::check::{Limits, recheck};
use ringforge_kernel::text::Certificate;
use ringforge_machine::Object;

use crate::args::Recheck;
use crate::package::Tool;
use crate::preset::read;
use crate::proof;
use crate::ui::{Failure, Ui};

/// Bytes of a certificate at most, unpacked: some thirty times what the largest of ours takes.
const LARGEST: u64 = 1 << 31;

/// A certificate as it is kept in a file.
///
/// # Errors
/// If it cannot be compressed, for want of memory say.
pub fn packed(text: &str) -> std::io::Result<Vec<u8>> {
    // The clock and the file's name stay out: the same proof makes the same file.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

/// The text of a certificate's file.
fn unpacked(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let file = std::fs::File::open(path)
        .map_err(|e| Failure::input(format!("cannot read `{name}`: {e}")))?;
    let mut text = String::new();
    let read = GzDecoder::new(file).take(LARGEST).read_to_string(&mut text);
    read.map_err(|e| {
        Failure::input(format!(
            "`{name}` is no certificate: {e}; `prove --certificate FILE` writes one, compressed by gzip"
        ))
    })?;
    Ok(text)
}

/// Runs the command.
///
/// # Errors
/// Bad input. A certificate that is refused is no error.
pub fn run(ui: &Ui, args: &Recheck) -> Result<u8, Failure> {
    let origin = args.contract.display().to_string();
    let contract = proof::contract(&origin, &read(&origin)?, args.symbol.as_deref())?;
    let name = args.object.display().to_string();
    let bytes = std::fs::read(&args.object)
        .map_err(|e| Failure::input(format!("cannot read `{name}`: {e}")))?;
    let object = Object::parse(&bytes)
        .map_err(|e| Failure::input(format!("cannot read `{name}` as an object: {e}")))?;
    contract.abi.check(&object).map_err(|e| Failure::input(format!("`{name}`: {e}")))?;
    let certificate = Certificate::parse(&unpacked(&args.certificate)?)
        .map_err(|e| Failure::input(format!("`{}`: {e}", args.certificate.display())))?;
    let bar = ui.spinner(&format!("rechecking {}", contract.symbol));
    let result = recheck(&contract, &object, &certificate, Limits::default(), &|_| true);
    bar.finish_and_clear();
    let symbol = &contract.symbol;
    let status = match result {
        Ok(done) => {
            ui.json(&serde_json::json!({
                "verdict": "accepted", "tool": Tool::THIS, "symbol": symbol, "calls": done.calls,
                "distinct": done.distinct, "replayed": done.replayed, "equations": done.equations,
            }))?;
            ui.say(format!(
                "{name}: the certificate of {symbol} is accepted: {} calls, {} of them distinct; {} lines, {} nodes, {} names and {} enumerated facts were replayed, {} coefficients compared",
                done.calls,
                done.distinct,
                done.replayed.lines,
                done.replayed.nodes,
                done.replayed.names,
                done.replayed.enumerated,
                done.equations
            ));
            0
        }
        Err(why) => {
            let why = why.to_string();
            ui.json(&serde_json::json!({
                "verdict": "refused", "tool": Tool::THIS, "symbol": symbol, "reason": why,
            }))?;
            ui.say(format!("{name}: the certificate of {symbol} is refused: {why}"));
            1
        }
    };
    Ok(status)
}
