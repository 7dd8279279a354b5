//! Calling a compiled function in a process of its own.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::driver::Signature;
use crate::runner::Placed;
use crate::{CompileError, Compiler, Scratch};

/// A compiled function linked with a driver, ready to be called any number of times. Its
/// directory vanishes with it.
#[derive(Debug)]
pub struct Callee {
    program: Placed,
    _dir: Scratch,
    signature: Signature,
}

/// What went wrong instead of answers.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The object does not link with a driver.
    #[error("the object does not link: {0}")]
    Link(#[from] CompileError),
    /// The process died.
    #[error("the call crashes ({how}) after at least {answered} good calls")]
    Crashed {
        /// Signal or exit status.
        how: String,
        /// Answers received before.
        answered: usize,
    },
    /// It did not end in time and was killed.
    #[error("the calls do not end within {} s ({answered} answers so far)", limit.as_secs_f32())]
    TimedOut {
        /// The time allowed.
        limit: Duration,
        /// Answers received before.
        answered: usize,
    },
    /// An input was changed.
    #[error("call {call} changes its input `{argument}`")]
    InputChanged {
        /// Number of the call, from 0.
        call: usize,
        /// The argument.
        argument: String,
    },
    /// Bytes beside an argument were changed.
    #[error("call {call} writes at byte {offset} of `{argument}`, outside it")]
    WroteOutside {
        /// Number of the call, from 0.
        call: usize,
        /// The argument.
        argument: String,
        /// Offset from its first byte.
        offset: i64,
    },
    /// The driver could not be written, started or fed.
    #[error("cannot run the driver: {0}")]
    Io(#[from] std::io::Error),
}

/// On which side of each buffer the forbidden page lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Directly behind the last element (as far as the alignment allows).
    Behind,
    /// Directly before the first element.
    Before,
}

impl Callee {
    /// Links `objects` (which define the signature's symbol) with a driver. `alias` lists
    /// pairs of argument numbers (output, input) that shall share memory.
    ///
    /// # Errors
    /// The temporary directory cannot be written, or the linker complains.
    pub fn build(
        compiler: &Compiler,
        objects: &[&Path],
        signature: &Signature,
        alias: &[(usize, usize)],
    ) -> Result<Callee, CallError> {
        let dir = Scratch::new()?;
        let source = dir.path().join("driver.c");
        std::fs::write(&source, signature.call_driver(alias))?;
        let program = dir.path().join("driver");
        link(compiler, &source, objects, &program)?;
        let program = compiler.runner.place(&program)?;
        Ok(Callee { program, _dir: dir, signature: signature.clone() })
    }

    /// What is called.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// One call on `inputs` (in the order of the arguments); the outputs in theirs.
    ///
    /// # Errors
    /// The call crashed, hung or misbehaved.
    pub fn call(&self, inputs: &[&[i64]]) -> Result<Vec<Vec<i64>>, CallError> {
        let answer =
            self.call_many(self.signature.record(inputs), Guard::Behind, Duration::from_secs(20))?;
        Ok(self.signature.outputs(&answer))
    }

    /// Calls on every record of `records` ([`Signature::record`], one after the other) and
    /// returns the answers one after the other.
    ///
    /// # Errors
    /// A call crashed, hung or misbehaved; answers up to there are lost.
    pub fn call_many(
        &self,
        records: Vec<u8>,
        guard: Guard,
        limit: Duration,
    ) -> Result<Vec<u8>, CallError> {
        self.run(self.program.command(), records, guard, limit)
    }

    /// The command that starts the driver.
    pub(crate) fn command(&self) -> Command {
        self.program.command()
    }

    /// The same by another command that starts the driver.
    pub(crate) fn run(
        &self,
        mut command: Command,
        records: Vec<u8>,
        guard: Guard,
        limit: Duration,
    ) -> Result<Vec<u8>, CallError> {
        let expected =
            records.len() / self.signature.input_bytes().max(1) * self.signature.output_bytes();
        let mut child = command
            .arg(if guard == Guard::Before { "front" } else { "back" })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(mut stdout), Some(mut stderr)) = pipes else {
            return Err(std::io::Error::other("the driver has no pipes").into());
        };
        // All three pipes at once: a full pipe on one side must not block the other.
        let feed = std::thread::spawn(move || {
            // A driver that ends early closes its end; its exit status tells why.
            let _ = stdin.write_all(&records);
        });
        let answers = std::thread::spawn(move || {
            let mut bytes = Vec::with_capacity(expected);
            let _ = stdout.read_to_end(&mut bytes);
            bytes
        });
        let complaint = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let deadline = Instant::now() + limit;
        let mut pause = Duration::from_micros(200);
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if Instant::now() >= deadline {
                child.kill()?;
                child.wait()?;
                break None;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        };
        let panicked = |_| std::io::Error::other("a thread of the driver's pipes panicked");
        feed.join().map_err(panicked)?;
        let answers = answers.join().map_err(panicked)?;
        let complaint = complaint.join().map_err(panicked)?;
        let answered = answers.len() / self.signature.output_bytes().max(1);
        match status {
            None => Err(CallError::TimedOut { limit, answered }),
            Some(status) if status.success() && answers.len() == expected => Ok(answers),
            Some(status) => Err(self.misconduct(status, &complaint, answered)),
        }
    }

    fn misconduct(&self, status: ExitStatus, complaint: &str, answered: usize) -> CallError {
        let numbers: Vec<i64> =
            complaint.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let name = |i: i64| {
            let argument = usize::try_from(i).ok().and_then(|i| self.signature.arguments.get(i));
            argument.map_or_else(|| i.to_string(), |a| a.name.clone())
        };
        match (status.code(), numbers.as_slice()) {
            (Some(91), &[call, argument, _]) => {
                CallError::InputChanged { call: call as usize, argument: name(argument) }
            }
            (Some(92), &[call, argument, offset]) => {
                CallError::WroteOutside { call: call as usize, argument: name(argument), offset }
            }
            _ => CallError::Crashed {
                how: format!("{status} {}", complaint.trim()).trim().to_owned(),
                answered,
            },
        }
    }
}

/// Links without position independence, so that foreign objects of both kinds are accepted, and with all its
/// libraries where the program is to run elsewhere. A program without a system is the work of its
/// architecture's own compiler.
pub(crate) fn link(
    compiler: &Compiler,
    source: &Path,
    objects: &[&Path],
    program: &Path,
) -> Result<(), CompileError> {
    let mut args: Vec<std::ffi::OsString> =
        ["-O2", "-w", "-no-pie", "-fno-pie"].map(Into::into).to_vec();
    if compiler.architecture.is_some_and(|a| a.bare) {
        args.extend(["-nostartfiles", "-Wl,-Ttext=0x10000", "-Wl,--build-id=none"].map(Into::into));
    }
    if !compiler.runner.is_native() {
        args.push("-static".into());
    }
    args.push(source.into());
    args.extend(objects.iter().map(|o| o.as_os_str().to_owned()));
    args.extend(["-o".into(), program.into()]);
    compiler.link(&args).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Argument, Element, Role};

    fn signature() -> Signature {
        let argument = |name: &str, role| Argument {
            name: name.into(),
            role,
            element: Element::I16,
            length: 5,
            align: 2,
            range: (-9, 9),
        };
        Signature {
            symbol: "f".into(),
            arguments: vec![argument("c", Role::Output), argument("a", Role::Input)],
        }
    }

    fn callee(body: &str, alias: &[(usize, usize)]) -> Callee {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("f.c");
        let text =
            format!("void f(short *c, short *a) {{ int i; (void)i; (void)c; (void)a; {body} }}");
        std::fs::write(&source, text).unwrap();
        let cc = Compiler::any().unwrap();
        let object = dir.path().join("f.o");
        cc.compile(&source, &["-O1".into()], &object).unwrap();
        Callee::build(&cc, &[&object], &signature(), alias).unwrap()
    }

    const DOUBLE: &str = "for (i = 0; i < 5; i++) c[i] = (short)(2 * a[i]);";

    #[test]
    fn calls_once_often_and_in_place() {
        for alias in [&[][..], &[(0, 1)]] {
            let f = callee(DOUBLE, alias);
            assert_eq!(f.call(&[&[1, -2, 3, -4, 5]]).unwrap(), [[2, -4, 6, -8, 10]]);
            let record = f.signature().record(&[&[1, 1, 1, 1, 1]]);
            for guard in [Guard::Behind, Guard::Before] {
                let answers =
                    f.call_many(record.repeat(20_000), guard, Duration::from_secs(60)).unwrap();
                assert_eq!(answers, f.signature().record(&[&[2, 2, 2, 2, 2]]).repeat(20_000));
            }
        }
    }

    #[test]
    fn what_is_read_and_written_is_given_and_returned() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("f.c");
        let text = "void f(short *c, const short *a) { for (int i = 0; i < 5; i++) c[i] += a[i]; }";
        std::fs::write(&source, text).unwrap();
        let cc = Compiler::any().unwrap();
        let object = dir.path().join("f.o");
        cc.compile(&source, &["-O1".into()], &object).unwrap();
        let mut signature = signature();
        signature.arguments[0].role = Role::InOut;
        let f = Callee::build(&cc, &[&object], &signature, &[]).unwrap();
        let sum = f.call(&[&[1, 2, 3, 4, 5], &[10, -10, 10, -10, 10]]).unwrap();
        assert_eq!(sum, [[11, -8, 13, -6, 15]]);
    }

    #[test]
    fn misconduct_is_reported_and_survived() {
        let call = |body: &str, guard| {
            let f = callee(body, &[]);
            let record = f.signature().record(&[&[0; 5]]);
            f.call_many(record, guard, Duration::from_millis(500)).unwrap_err()
        };
        use Guard::{Before, Behind};
        assert!(matches!(call("c[5] = 1;", Behind), CallError::Crashed { .. }));
        assert!(matches!(call("c[0] = a[-1];", Before), CallError::Crashed { .. }));
        assert!(matches!(
            call("c[-1] = 1;", Behind),
            CallError::WroteOutside { call: 0, offset: -2, argument } if argument == "c"
        ));
        assert!(matches!(call("c[5] = 1;", Before), CallError::WroteOutside { offset: 10, .. }));
        assert!(matches!(
            call("a[2] = 1;", Behind),
            CallError::InputChanged { argument, .. } if argument == "a"
        ));
        assert!(matches!(
            call("for (;;) *(volatile short *)c = 1;", Behind),
            CallError::TimedOut { answered: 0, .. }
        ));
        assert!(matches!(call("__builtin_trap();", Behind), CallError::Crashed { .. }));
    }

    #[test]
    fn an_object_without_the_symbol_does_not_link() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("g.c");
        std::fs::write(&source, "int g;").unwrap();
        let object = dir.path().join("g.o");
        let cc = Compiler::any().unwrap();
        cc.compile(&source, &[], &object).unwrap();
        let error = Callee::build(&cc, &[&object], &signature(), &[]).unwrap_err();
        assert!(matches!(error, CallError::Link(_)) && error.to_string().contains('f'));
    }
}
