//! What the other compiler of this machine makes of the same source, timed with the package's
//! product.

use std::path::Path;

use ringforge_toolchain::timing::{Candidate, Code, Timing};
use ringforge_toolchain::{Compiler, Signature};

use crate::bench;
use crate::make;
use crate::target::Target;
use crate::ui::Failure;

/// Another compiler, on trial.
pub struct Rival {
    compiler: Compiler,
    /// The symbol that both make.
    pub symbol: String,
}

impl Rival {
    /// The first compiler here of another family, if there is one.
    pub fn of(compiler: &Compiler, symbol: &str) -> Option<Rival> {
        let all = bench::compilers(&[]).ok()?;
        let other = all.into_iter().find(|c| c.family != compiler.family)?;
        Some(Rival { compiler: other, symbol: symbol.into() })
    }

    /// Its product, to be timed; none if it cannot compile the source, which is nobody's fault.
    ///
    /// # Errors
    /// The scratch directory cannot be written.
    pub fn candidate(
        &self,
        (target, product): (&Target, &Signature),
        (source, opt): (&str, &str),
        scratch: &Path,
    ) -> Result<Option<Candidate>, Failure> {
        let [file, object] =
            ["c", "o"].map(|end| scratch.join(format!("rival_{}.{end}", target.name)));
        std::fs::write(&file, source)
            .map_err(|e| Failure::failed(format!("cannot write {}: {e}", file.display())))?;
        let compiled = self.compiler.compile(&file, &make::flags(opt), &object);
        let name = format!("{} by {}", self.symbol, self.compiler.name);
        let code = Code::Objects(vec![object], product.clone());
        Ok(compiled.is_ok().then_some(Candidate { name, code }))
    }

    /// What to say of two timings, where it is faster by more than the noise of both.
    pub fn hint(&self, its: &Timing, ours: &Timing) -> Option<String> {
        its.measured(0).beats(&ours.measured(0)).then(|| {
            format!(
                "{}: {:.0} cycles; with {} it takes {:.0}: try `--cc {}`",
                self.symbol, ours.median, self.compiler.version, its.median, self.compiler.name
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schoolbook::tests::timing;

    #[test]
    fn only_what_is_faster_beyond_the_noise_is_told() {
        let compiler = Compiler::any().expect("a compiler");
        let rival = Rival { compiler: compiler.clone(), symbol: "f".into() };
        assert_eq!(rival.hint(&timing(100.0, 0.0), &timing(99.0, 0.0)), None);
        assert_eq!(rival.hint(&timing(100.0, 0.0), &timing(103.0, 0.04)), None);
        let said = rival.hint(&timing(100.0, 0.0), &timing(110.0, 0.0)).expect("a hint");
        assert!(said.contains(&format!("try `--cc {}`", compiler.name)), "{said}");
        let other = Rival::of(&compiler, "f");
        assert!(other.is_none_or(|o| o.compiler.family != compiler.family));
    }
}
