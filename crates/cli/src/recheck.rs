//! `ringforge recheck`: the certificate of a proof, replayed by the kernel.
//!
//! Nothing here calls the search: object, contract and certificate go to `ringforge_kernel`.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use ringforge_kernel::check::{Accepted, Limits, Rejected, recheck};
use ringforge_machine::Object;
use ringforge_prove::contract::Contract;

use crate::args::Recheck;
use crate::objects::{Found, Input};
use crate::package::Tool;
use crate::preset::read;
use crate::proof;
use crate::ui::{Failure, Ui};

/// Bytes of memory that a certificate may take in addition to [`TIMES`] those of its file.
const SMALL: u64 = 64 << 20;
/// Bytes of memory for a byte of a file: more than twice what the largest of ours take. What
/// unpacks to more is not a certificate.
const TIMES: u64 = 128;

/// A certificate as it is kept in a file.
///
/// # Errors
/// If it cannot be compressed, for lack of memory, say.
pub fn packed(text: &str) -> std::io::Result<Vec<u8>> {
    // The clock and the file's name stay out: the same proof makes the same file.
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

/// How often time and memory are looked at.
const PAUSE: Duration = Duration::from_millis(20);

/// What became of a certificate.
enum Outcome {
    /// Replayed to its end.
    Done(Result<Accepted, String>),
    /// Not replayed to its end: why.
    Stopped(String),
}

/// Computes something on a thread of its own, until a limit is reached. Then that thread is left
/// alone: the command ends, whatever the thread is doing.
///
/// # Errors
/// Those of `compute`.
fn limited(
    limits: &crate::args::Limits,
    compute: impl FnOnce() -> Result<Result<Accepted, String>, Failure> + Send + 'static,
) -> Result<Outcome, Failure> {
    let (options, started) = (limits.options(), Instant::now());
    let (send, receive) = channel();
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    let spawned = thread.spawn(move || send.send(compute()));
    spawned.map_err(|e| Failure::failed(format!("cannot start a thread: {e}")))?;
    loop {
        match receive.recv_timeout(PAUSE) {
            Ok(done) => return done.map(Outcome::Done),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(limit) = options.reached(started) {
                    return Ok(Outcome::Stopped(limit));
                }
            }
            // A panic, which the thread has reported, and which accepts nothing.
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(Outcome::Stopped("an error of this tool, shown above".into()));
            }
        }
    }
}

/// Replays a certificate's file.
///
/// # Errors
/// It is none.
fn replayed(
    contract: &Contract,
    object: &Object,
    path: &Path,
) -> Result<Result<Accepted, String>, Failure> {
    let name = path.display();
    let unreadable = |e| Failure::input(format!("cannot read `{name}`: {e}"));
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let most =
        SMALL.saturating_add(file.metadata().map_err(unreadable)?.len().saturating_mul(TIMES));
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let certificate = ringforge_certificate::read_from(BufReader::new(GzDecoder::new(file)), most).map_err(|e| {
        Failure::input(format!(
            "`{name}` is not a certificate: {e}; `prove --certificate FILE` writes one, compressed by gzip"
        ))
    })?;
    let done = recheck(contract, object, &certificate, Limits::default(), &|_| true);
    Ok(done.map_err(|why| match &why {
        // The kernel counts the lines of a call.
        Rejected::Refused(call, refused) => {
            match ringforge_certificate::line_of(&certificate, call, refused.line) {
                Some(line) => format!("{why} (line {line} of the file)"),
                None => why.to_string(),
            }
        }
        _ => why.to_string(),
    }))
}

/// Runs the command.
///
/// # Errors
/// Bad input. A refused certificate is not an error.
pub fn run(ui: &Ui, args: &Recheck) -> Result<u8, Failure> {
    let origin = args.contract.display().to_string();
    let text = read(&origin)?;
    if ringforge_prove::map::is_for(&text) {
        let m = format!(
            "`{origin}` has no certificates: `prove` compares code and formula in the kernel itself"
        );
        return Err(Failure::input(m));
    }
    let contract = proof::contract(&origin, &text, args.symbol.as_deref())?;
    let input = Input::read(&args.object)?;
    let Found { name, bytes } = input.defining(&contract.symbol)?;
    let object = Object::parse(bytes)
        .map_err(|e| Failure::input(format!("cannot read `{name}` as an object: {e}")))?;
    contract.abi.check(&object).map_err(|e| Failure::input(format!("`{name}`: {e}")))?;
    let symbol = &contract.symbol.clone();
    let bar = ui.spinner(&format!("rechecking {symbol}"));
    let path: PathBuf = args.certificate.clone();
    let outcome = limited(&args.limits, move || replayed(&contract, &object, &path));
    bar.finish_and_clear();
    let status = match outcome? {
        Outcome::Done(Ok(done)) => {
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
        Outcome::Stopped(why) => {
            ui.json(&serde_json::json!({
                "verdict": "unknown", "tool": Tool::THIS, "symbol": symbol, "reason": why,
            }))?;
            ui.say(format!(
                "{name}: the certificate of {symbol} was not replayed to its end: {why}"
            ));
            1
        }
        Outcome::Done(Err(why)) => {
            ui.json(&serde_json::json!({
                "verdict": "refused", "tool": Tool::THIS, "symbol": symbol, "reason": why,
            }))?;
            ui.say(format!("{name}: the certificate of {symbol} is refused: {why}"));
            1
        }
    };
    Ok(status)
}
