//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use ringforge_plan::Operand;
use serde::Deserialize;

use crate::size::Size;

/// Writes constant-time multiplication in polynomial rings and proves the machine code.
#[derive(Parser, Debug)]
#[command(name = "ringforge", version, max_term_width = 100)]
pub struct Cli {
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// List presets, plans, targets and the compilers on this machine
    List,
    /// Write, compile and prove a multiplier: C source, header, contract, object, proof and report
    Forge(Forge),
    /// Write a self-contained source package of KEMs, with proofs of its multipliers
    Package(Package),
    /// Prove that an object fulfils a contract, no matter who wrote or compiled it
    Prove(Prove),
    /// Replay the certificate of a proof in the kernel, without the search
    Recheck(Recheck),
    /// Run objects on worst cases and random pairs, and compare with the schoolbook product
    Check(Check),
    /// Show a plan: its tree, its ranges and its operation counts by stage
    Explain(Explain),
    /// Time multipliers side by side, in calibrated core cycles
    Bench(Bench),
    /// Find the fewest reductions for a transform of x^n + 1, and show that no placement has fewer
    Search(Search),
    /// List the reductions for a modulus, and verify each on all its inputs
    Primitives(Primitives),
    /// Break a multiplier in many ways, and check that the prover rejects each wrong one
    Mutate(Mutate),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages for man(1): one for the command, one for each subcommand
    Manual {
        /// The directory
        #[arg(short, long, value_name = "DIR")]
        out: String,
    },
}

/// What is multiplied and how: shared by several commands.
#[derive(Args, Debug, Clone)]
pub struct Subject {
    /// A ring such as `Z4591[x]/(x^761 - x - 1)`, or a preset (see `ringforge list`)
    #[arg(value_name = "RING|PRESET", add = ArgValueCandidates::new(presets))]
    pub ring: String,
    /// Plan: a name (see `ringforge list`) or a file [default: `forge` searches; other commands take the
    /// ring's own plan, or the cheapest by model]
    #[arg(long, value_name = "NAME|FILE", add = ArgValueCandidates::new(plans))]
    pub plan: Option<String>,
    /// Coefficients of the first factor: `big` (any), `small` (-1, 0, 1) or `within N` [default:
    /// the preset's, else big]
    #[arg(long, value_name = "OPERAND")]
    pub lhs: Option<Operand>,
    /// Coefficients of the second factor
    #[arg(long, value_name = "OPERAND")]
    pub rhs: Option<Operand>,
}

/// How code is made.
#[derive(Args, Debug, Clone)]
pub struct Make {
    /// Targets: `avx512`, `avx2`, `sse41`, `neon`, `m4`, `c`; several of one architecture,
    /// separated by commas; or `all` (`avx2,c` or `neon,c`, depending on the host). With several,
    /// the package selects one at run time
    #[arg(long, default_value = "all", value_name = "TARGET", add = ArgValueCandidates::new(targets))]
    pub target: String,
    /// C compiler, by name or path [default: $CC, else gcc, else clang; for another architecture its cross gcc,
    /// else clang]. Without this option, `forge` also times the other compiler, and says if it is faster
    #[arg(long, value_name = "COMPILER")]
    pub cc: Option<String>,
    /// Run programs with this command, such as `qemu-aarch64 -L /usr/aarch64-linux-gnu` or `ssh HOST`
    /// [default: none on the host's architecture, else an emulator]
    #[arg(long, value_name = "COMMAND")]
    pub runner: Option<String>,
    /// Optimisation level
    #[arg(long, default_value = "-O3", value_name = "LEVEL", allow_hyphen_values = true, value_parser = flags)]
    pub opt: String,
    /// Schedule file, instead of the target's default
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
}

/// `forge`.
#[derive(Args, Debug)]
pub struct Forge {
    /// What.
    #[command(flatten)]
    pub subject: Subject,
    /// How.
    #[command(flatten)]
    pub make: Make,
    /// Directory of the package [default: out/NAME]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Prefix of every file and symbol [default: the preset's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Also make entry points that work on this many elements of the ring at once, one after the other in each array, such
    /// as `NAME_mul_x2`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=8))]
    pub batch: Option<u32>,
    /// Number of random pairs to run the object on, in addition to the worst cases
    #[arg(long, default_value_t = 2000, value_name = "N")]
    pub pairs: usize,
    /// Do not time
    #[arg(long)]
    pub no_bench: bool,
    /// Do not prove; the verdict is then `unknown`
    #[arg(long)]
    pub no_prove: bool,
    /// Without --plan: how many plans to build and time, in the order of the cost model
    #[arg(long = "try", default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub tries: u16,
    /// Measure again what an earlier run remembered
    #[arg(long)]
    pub fresh: bool,
    /// Without --plan: seconds that failed proofs may take in all. After a quarter of them, `forge`
    /// skips candidates like those that failed. After all of them, it tries only plain C and the schoolbook
    /// product, for up to four times as long. The limit
    /// doubles and more for f with many coefficients and degrees above 512
    #[arg(long, default_value_t = 20, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub patience: u32,
    /// Size limit for code and constants, such as 20K: take the fastest plan and optimisation level within it, by
    /// estimated cycles if nothing can be timed
    #[arg(long, value_name = "BYTES", conflicts_with = "opt")]
    pub size: Option<Size>,
    /// Also time the peers in bench/, for the report (see `ringforge bench`)
    #[arg(long)]
    pub peers: bool,
    /// Directory of bench/
    #[arg(long, default_value = "bench", value_name = "DIR")]
    pub bench_dir: PathBuf,
}

/// `package`.
#[derive(Args, Debug)]
pub struct Package {
    /// KEMs, such as `sntrup761 mlkem768`, or `all`
    #[arg(value_name = "KEM", add = ArgValueCandidates::new(kems))]
    pub kems: Vec<String>,
    /// Targets: `c` is portable, `avx2` requires AVX2, `c,avx2` selects one at run time
    #[arg(long, default_value = "all", value_name = "TARGET", add = ArgValueCandidates::new(targets))]
    pub target: String,
    /// Prefix of every external symbol, macro and header
    #[arg(long, default_value = "ringforge_", value_name = "PREFIX")]
    pub prefix: String,
    /// Where the package goes: a directory that is empty or not there, or an earlier package, which is updated
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write only the single source and its two headers
    #[arg(long)]
    pub amalgamated: bool,
    /// Write one source with the names and types of another project, `openssh` or `dropbear`; for sntrup761 or mlkem768
    #[arg(long = "as", value_name = "PROJECT", conflicts_with_all = ["amalgamated", "prefix"])]
    pub place: Option<String>,
    /// With --as: small code and a small stack, at the cost of speed; portable C without forged multipliers
    #[arg(long, requires = "place", conflicts_with = "target")]
    pub small: bool,
    /// C compiler, by name or path [default: $CC, else gcc, else clang]
    #[arg(long, value_name = "COMPILER")]
    pub cc: Option<String>,
    /// Optimisation level
    #[arg(long, default_value = "-O3", value_name = "LEVEL", allow_hyphen_values = true, value_parser = flags)]
    pub opt: String,
    /// Do not prove; the verdict is then `unknown`, and the exit status 1
    #[arg(long)]
    pub no_prove: bool,
    /// In an earlier package, accept files that you changed: exit with 0 although the package is not as ringforge writes it
    #[arg(long)]
    pub keep: bool,
    /// Make the multipliers of the library instead, into DIR
    #[arg(long, value_name = "DIR", hide = true, conflicts_with_all = ["kems", "out"])]
    pub multipliers: Option<PathBuf>,
    /// Write the library's contracts of constant time instead, into DIR
    #[arg(long, value_name = "DIR", hide = true, conflicts_with_all = ["kems", "out", "multipliers"])]
    pub contracts: Option<PathBuf>,
}

/// `prove`.
#[derive(Args, Debug)]
pub struct Prove {
    /// ELF files: objects, shared objects or executables; COFF objects; or archives (.a), from which the
    /// member that defines the symbol is taken. If several are proved, they give equal results
    #[arg(required_unless_present = "all", value_name = "OBJECT")]
    pub objects: Vec<PathBuf>,
    /// The contract
    #[arg(long, value_name = "FILE", required_unless_present_any = ["contracts", "all"])]
    pub contract: Option<PathBuf>,
    /// Prove every contract in this directory that is for a function of the object; may be given several times
    #[arg(long, value_name = "DIR", conflicts_with_all = ["contract", "symbol", "certificate"])]
    pub contracts: Vec<PathBuf>,
    /// Prove everything that `ringforge.toml` names, in this directory or in the nearest one above that has one.
    /// Verdicts are kept, and used again while objects, contracts, options and this program are the same
    #[arg(long, conflicts_with_all = ["objects", "contract", "contracts", "symbol", "certificate"])]
    pub all: bool,
    /// With --all: read this file instead
    #[arg(long, value_name = "FILE", requires = "all")]
    pub config: Option<PathBuf>,
    /// With --all: use no verdicts of earlier runs, and keep none
    #[arg(long, requires = "all")]
    pub no_cache: bool,
    /// With --all or --contracts: how many functions to prove at the same time [default: one for each core]
    #[arg(long, short, value_name = "N", conflicts_with = "contract", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// With --all or --contracts: what becomes of contracts for functions that no object defines [default:
    /// skip; with --all, what ringforge.toml says, else unknown]
    #[arg(long, value_name = "WHAT", conflicts_with = "contract")]
    pub missing: Option<Missing>,
    /// With --all or --contracts: write the reasons as SARIF 2.1.0, for code scanning
    #[arg(long, value_name = "FILE", conflicts_with = "contract")]
    pub sarif: Option<PathBuf>,
    /// With --all or --contracts: write the verdicts as JUnit's XML, a suite for each object
    #[arg(long, value_name = "FILE", conflicts_with = "contract")]
    pub junit: Option<PathBuf>,
    /// With --all or --contracts: write a summary in Markdown; to $GITHUB_STEP_SUMMARY it is appended
    #[arg(long, value_name = "FILE", conflicts_with = "contract")]
    pub markdown: Option<PathBuf>,
    /// Prove this symbol instead of the contract's; in a linked file it may be an address (0x1f40)
    #[arg(long, value_name = "NAME")]
    pub symbol: Option<String>,
    /// Do not run a refuted object on the counterexample
    #[arg(long)]
    pub no_confirm: bool,
    /// Write the certificate for `recheck`; only with one object
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// When to give up.
    #[command(flatten)]
    pub limits: Limits,
}

impl Prove {
    /// Functions at the same time, if somebody said so.
    pub fn jobs(&self) -> Option<usize> {
        self.jobs.map(usize::from)
    }
}

/// What becomes of a contract for a function that no object defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Its verdict is `unknown`: after a function was renamed, nothing is proved of it.
    #[default]
    Unknown,
    /// It is left out, and named.
    Skip,
}

/// When a proof, or the replay of a certificate, gives up. The verdict is then `unknown` and names the limit.
#[derive(Args, Clone, Debug)]
pub struct Limits {
    /// Give up after this many seconds [default: 7200; 600 with `prove --all`, unless ringforge.toml sets it]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub time_limit: Option<u32>,
    /// Give up when the process uses more than this many megabytes [default: 24576; 8192 with `prove
    /// --all`, unless ringforge.toml sets it]
    #[arg(long, value_name = "MEGABYTES", value_parser = clap::value_parser!(u32).range(1..))]
    pub memory_limit: Option<u32>,
}

impl Limits {
    /// The prover's options with these limits.
    pub fn options(&self) -> ringforge_prove::Options {
        let usual = ringforge_prove::Options::default();
        ringforge_prove::Options {
            time_limit: self.time_limit.map_or(usual.time_limit, |seconds| {
                Some(std::time::Duration::from_secs(seconds.into()))
            }),
            memory_limit: self.memory_limit.map_or(usual.memory_limit, |mb| u64::from(mb) << 20),
            ..usual
        }
    }
}

/// `recheck`.
#[derive(Args, Debug)]
pub struct Recheck {
    /// The ELF file or COFF object, or an archive with it (.a)
    #[arg(value_name = "OBJECT")]
    pub object: PathBuf,
    /// The contract
    #[arg(long, value_name = "FILE")]
    pub contract: PathBuf,
    /// The certificate that `prove --certificate` or `forge` wrote
    #[arg(long, value_name = "FILE")]
    pub certificate: PathBuf,
    /// Recheck this symbol instead of the contract's
    #[arg(long, value_name = "NAME")]
    pub symbol: Option<String>,
    /// When to give up.
    #[command(flatten)]
    pub limits: Limits,
}

/// `check`.
#[derive(Args, Debug)]
pub struct Check {
    /// Object files that define the contract's function
    #[arg(required = true, value_name = "OBJECT")]
    pub objects: Vec<PathBuf>,
    /// The contract
    #[arg(long, value_name = "FILE")]
    pub contract: PathBuf,
    /// Run this symbol instead of the contract's
    #[arg(long, value_name = "NAME")]
    pub symbol: Option<String>,
    /// Number of random pairs, in addition to the worst cases
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub pairs: usize,
    /// Run the objects with this command [default: none on the host's architecture, else an emulator]
    #[arg(long, value_name = "COMMAND")]
    pub runner: Option<String>,
}

/// What `explain` prints.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The plan's tree
    Tree,
    /// Ranges by stage
    #[value(alias = "range")]
    Ranges,
    /// Operations by stage
    #[value(alias = "count")]
    Counts,
    /// The schedule as it was settled, and why each alternative holds or does not
    Schedule,
    /// A run on random inputs
    Run,
    /// The outputs as formulas over the inputs, compared with schoolbook for all inputs
    Formula,
    /// The program in the target's C
    C,
    /// The program in OCaml
    Ocaml,
    /// The tree as a picture
    Svg,
    /// The ranges as a picture
    RangesSvg,
    /// The operations as a picture
    CountsSvg,
    /// How busy each stage keeps a processor's ports, simulated, as a picture
    PortsSvg,
    /// The butterflies of the plan's transforms as a picture
    ButterfliesSvg,
    /// Everything as text
    All,
}

/// `explain`.
#[derive(Args, Debug)]
pub struct Explain {
    /// What.
    #[command(flatten)]
    pub subject: Subject,
    /// Target of ranges and counts: `avx512`, `avx2`, `sse41`, `neon`, `m4` or `c`
    #[arg(long, default_value = "avx2", value_name = "TARGET", add = ArgValueCandidates::new(targets))]
    pub target: String,
    /// Schedule file, instead of the target's default
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
    /// Entry point, such as `forward` [default: the whole product]
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Processor to simulate, such as `redwood-cove` [default: the target's first]
    #[arg(long, value_name = "NAME")]
    pub processor: Option<String>,
    /// Show the unsigned program of a placement from `search --arithmetic unsigned --out FILE`, instead of
    /// a plan's program
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plan", "schedule", "entry"])]
    pub placement: Option<PathBuf>,
    /// What to print
    #[arg(long = "as", value_enum, default_value = "all", value_name = "VIEW")]
    pub view: View,
}

/// `bench`.
#[derive(Args, Debug)]
pub struct Bench {
    /// What.
    #[command(flatten)]
    pub subject: Subject,
    /// Compare plans in one table, with operations, proof and cycles: `all`, or names and files separated
    /// by commas; uses only the last compiler
    #[arg(long, value_delimiter = ',', value_name = "all|NAME|FILE", conflicts_with_all = ["plan", "entries"])]
    pub plans: Vec<String>,
    /// With --plans: write plans.json, plans.md and plans.svg (operations against cycles) to DIR
    #[arg(long, short, value_name = "DIR", requires = "plans")]
    pub out: Option<PathBuf>,
    /// With --plans: measure nothing, read the results of an earlier run
    #[arg(long, value_name = "FILE", requires = "plans")]
    pub saved: Option<PathBuf>,
    /// With --plans: give up a proof after this many seconds
    #[arg(long, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub patience: u32,
    /// Targets, as for `forge`
    #[arg(long, default_value = "all", value_name = "TARGET", add = ArgValueCandidates::new(targets))]
    pub target: String,
    /// Compilers, separated by commas [default: gcc and clang, if installed]
    #[arg(long, value_delimiter = ',', value_name = "COMPILER")]
    pub cc: Vec<String>,
    /// Also time the peers in bench/ (needs the source tree, cmake and libclang)
    #[arg(long)]
    pub peers: bool,
    /// Directory of bench/
    #[arg(long, default_value = "bench", value_name = "DIR")]
    pub bench_dir: PathBuf,
    /// Number of fresh copies of every program
    #[arg(long, default_value_t = 7, value_name = "N")]
    pub copies: usize,
    /// Number of samples of each candidate in a copy
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub samples: usize,
    /// Also time the transforms and base products, not only the whole product
    #[arg(long)]
    pub entries: bool,
    /// Also time the entry points that work on this many elements of the ring at once, such as `NAME_mul_x2`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=8), conflicts_with = "plans")]
    pub batch: Option<u32>,
    /// Print the table as Markdown
    #[arg(long)]
    pub markdown: bool,
}

/// `mutate`.
#[derive(Args, Debug)]
pub struct Mutate {
    /// What.
    #[command(flatten)]
    pub subject: Subject,
    /// Target of the multiplier
    #[arg(long, default_value = "avx2", value_name = "TARGET", add = ArgValueCandidates::new(targets))]
    pub target: String,
    /// C compiler, by name or path [default: $CC, else gcc, else clang]
    #[arg(long, value_name = "COMPILER")]
    pub cc: Option<String>,
    /// Run code for another machine with this command, such as `qemu-aarch64 -L DIR` or `ssh HOST`
    /// [default: an installed emulator, if one is needed]
    #[arg(long, value_name = "COMMAND")]
    pub runner: Option<String>,
    /// Optimisation level
    #[arg(long, default_value = "-O3", value_name = "LEVEL", allow_hyphen_values = true, value_parser = flags)]
    pub opt: String,
    /// Schedule file, instead of the target's default
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
    /// Approximate number of mutants, spread evenly over the classes [default: all]
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// Only mutants of these classes, separated by commas, such as `reduction-dropped`
    #[arg(long, value_delimiter = ',', value_name = "CLASS")]
    pub class: Vec<String>,
    /// Only mutants whose description in the JSON report contains this text; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Count a mutant as timed out after this many seconds
    #[arg(long, default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub time_limit: u32,
    /// Seed of the sample and of all random inputs
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    pub seed: u64,
}

/// The arithmetic that a search is in.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchArithmetic {
    /// Unsigned arithmetic; each product ends with a conditional subtraction (TokudaKameyama23)
    Unsigned,
    /// Unsigned arithmetic; conditional subtractions only where they help
    UnsignedLazy,
    /// Signed words, Montgomery products (Seiler18)
    Montgomery,
    /// Signed words, Barrett products
    Barrett,
}

/// What shares a decision.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchGranularity {
    /// Every coefficient decides for itself
    Coefficient,
    /// The words of a register decide together
    Register,
    /// All sums of a layer decide together, and all differences
    Layer,
}

/// What is to be least.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchObjective {
    /// The number of reductions
    Reductions,
    /// Their vector operations
    Operations,
}

/// The inverse transform's butterflies.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inverse {
    /// Sum; difference times a twiddle
    GentlemanSande,
    /// Sum and difference with a twiddled operand
    CooleyTukey,
}

/// `search`.
#[derive(Args, Debug)]
pub struct Search {
    /// A ring such as `Z3329[x]/(x^256 + 1)`, or a preset
    #[arg(value_name = "RING|PRESET", required_unless_present = "tables", add = ArgValueCandidates::new(presets))]
    pub ring: Option<String>,
    /// Print all tables of docs/results/reductions.md: Masuda and Kameyama, TokudaKameyama23, and ours
    #[arg(long, conflicts_with_all = ["ring", "emitted", "out"])]
    pub tables: bool,
    /// Search the program that `forge` emits for this target: remove reductions of registers until every
    /// remaining one is needed; `--out` saves the schedule
    #[arg(long, value_name = "TARGET", add = ArgValueCandidates::new(targets))]
    pub emitted: Option<String>,
    /// The arithmetic
    #[arg(long, value_enum, default_value = "montgomery")]
    pub arithmetic: SearchArithmetic,
    /// Which words share a decision
    #[arg(long, value_enum, default_value = "coefficient")]
    pub granularity: SearchGranularity,
    /// Number of words in a register
    #[arg(long, default_value_t = ringforge_targets::AVX2.registers.lanes(16), value_name = "N")]
    pub lanes: usize,
    /// What to minimise
    #[arg(long, value_enum, default_value = "reductions")]
    pub objective: SearchObjective,
    /// The inverse transform's butterflies
    #[arg(long, value_enum, default_value = "gentleman-sande")]
    pub inverse: Inverse,
    /// Number of radix-2 layers [default: as many as q has roots for]
    #[arg(long, value_name = "N")]
    pub layers: Option<usize>,
    /// Save the result for `forge --schedule`: unsigned placements as JSON (also for `explain --placement`),
    /// or a schedule with `--emitted`
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `primitives`.
#[derive(Args, Debug)]
pub struct Primitives {
    /// An odd prime; below 2^15 the words have 16 bits, else 32
    #[arg(value_name = "Q")]
    pub modulus: u64,
}

/// Optimisation levels that compilers have. gcc silently takes any other number for its highest
/// level.
const LEVELS: &[&str] = &["-O0", "-O1", "-O2", "-O3", "-Os", "-Oz", "-Og", "-Ofast", "-O"];

/// The flags of `--opt`: a level that compilers have, and any other flags.
fn flags(text: &str) -> Result<String, String> {
    for word in text.split_whitespace() {
        let wrong = if !word.starts_with('-') {
            format!("`{word}` is not a flag")
        } else if word.starts_with("-O") && !LEVELS.contains(&word) {
            format!("`{word}` is not an optimisation level")
        } else {
            continue;
        };
        let levels = LEVELS[..LEVELS.len() - 1].join(", ");
        return Err(format!(
            "{wrong}{}; the levels are {levels}",
            crate::ui::meant(word, LEVELS.iter().copied())
        ));
    }
    Ok(text.to_owned())
}

fn candidates<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<CompletionCandidate> {
    names.into_iter().map(|name| CompletionCandidate::new(name.to_owned())).collect()
}

fn presets() -> Vec<CompletionCandidate> {
    candidates(ringforge_plan::RingFile::names())
}

fn plans() -> Vec<CompletionCandidate> {
    candidates(ringforge_plan::Plan::names())
}

fn targets() -> Vec<CompletionCandidate> {
    candidates(crate::target::TARGETS.iter().map(|target| target.name).chain(["all"]))
}

fn kems() -> Vec<CompletionCandidate> {
    candidates(crate::library::kems().iter().map(String::as_str).chain(["all"]))
}
