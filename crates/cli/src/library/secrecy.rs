//! Contracts of constant time for whole operations of KEMs, with what the header and the sources
//! say about them. They are files of lib/contracts, and of packages.

use ringforge_targets::{AARCH64, ARMV7E_M, Architecture, X86_64};

use crate::library::drop_in::Place;
use crate::library::multiplier::Line;
use crate::library::{file, kems};

/// Seeds of ML-KEM's matrix that the claims are made for. At every size, one of these two draws
/// more candidates for some entry than are asked for at first. The other one does not.
const SEEDS: [u8; 2] = [2, 1];
/// Bytes of stack that SHA3-512 may use.
const OF_SHA3: usize = 2048;

/// One argument that is an array.
struct Array(&'static str, &'static str, usize, String);

/// A build of the library that has contracts.
pub struct Build {
    architecture: &'static Architecture,
    /// The folder of its contracts.
    pub folder: &'static str,
    /// What is said about it after the KEM's name.
    of: &'static str,
    /// Its KEMs, or all.
    only: &'static [&'static str],
    /// Bytes of stack that an operation wipes.
    dead: fn(&str) -> usize,
    /// Bytes of stack besides those: the external function, its frames and what alignment takes.
    beside: usize,
    /// What its objects read of the processor.
    processor: &'static str,
}

/// On x86-64, which packages are made for.
pub const ON_X86_64: Build = Build {
    architecture: &X86_64,
    folder: "",
    of: "",
    only: &[],
    dead,
    beside: 1024,
    processor: PROCESSOR,
};

/// All builds that have contracts. On Arm, objects read nothing about the processor when they run.
pub const BUILDS: [Build; 3] = [
    ON_X86_64,
    Build { architecture: &AARCH64, folder: "aarch64", processor: "", ..ON_X86_64 },
    Build {
        architecture: &ARMV7E_M,
        folder: "cortex_m4",
        of: ", small code (RINGFORGE_SMALL) for Cortex-M4",
        only: &["ntruhps2048677", "sntrup761", "ntrulpr761", "mlkem512", "mlkem768"],
        dead: dead_small,
        beside: 512,
        processor: "",
    },
];

impl Build {
    /// The KEMs that it has.
    pub fn kems(&self) -> impl Iterator<Item = String> {
        kems().into_iter().filter(|kem| self.only.is_empty() || self.only.contains(&kem.as_str()))
    }

    /// The contract files of a KEM, by name and text: one for the use of keys, and one for making
    /// them.
    pub fn contracts(&self, kem: &str) -> Vec<(String, String)> {
        let head = |what: &str| {
            format!(
                "# Whole operations of {kem}: {what}. Everything that they call, hashing too, is linked in (ld -r){}. All\n\
                 # bytes count as secret, public keys and ciphertexts as well. Made by `ringforge package --contracts`.\n\
                 contract = 1\nabi = \"{}\"\nclaims = [\"constant-time\", \"clean-stack\", \"clean-registers\"]\n",
                self.of, self.architecture.abi
            )
        };
        // Inverses of polynomials are for registers of 512 bits as well, and one KEM's products.
        let inverts = kem.starts_with("sntrup") || kem.starts_with("ntruh");
        let multiplies = Line::all(file("generated/multipliers.txt"))
            .iter()
            .any(|line| line.is_of(kem) && line.plan("avx512").is_some());
        let processor = |asks: bool| match asks && !self.processor.is_empty() {
            true => WIDER,
            false => self.processor,
        };
        let uses =
            head("encapsulation and decapsulation") + &self.uses(kem) + processor(multiplies);
        let makes = head("key generation") + &self.makes(kem) + processor(inverts || multiplies);
        vec![(kem.to_owned(), uses), (format!("{kem}_keypair"), makes)]
    }

    /// A contract that is written by hand for x86-64, as it is for this build, if the build has all
    /// KEMs.
    pub fn by_hand(&self, text: &str) -> Option<String> {
        if self.folder.is_empty() || !self.only.is_empty() {
            return None;
        }
        let abi = |a: &Architecture| format!("abi = \"{}\"", a.abi);
        let text = text.replace(&abi(&X86_64), &abi(self.architecture));
        // What objects read of the processor, one table: there they read nothing of it.
        let Some(at) = text.find("\n[[data]]") else { return Some(text) };
        let end = text[at + 1..].find("\n[[").map_or(text.len(), |next| at + 1 + next);
        Some(format!("{}{}", &text[..at], &text[end..]))
    }
}

/// What the compiler's library may know about the processor. Bit 20 is AVX-512VL, which hashing
/// asks for.
const PROCESSOR: &str = "\n[[data]] # what the compiler's library knows of the processor: nothing, all but AVX-512VL, or all\n\
    symbol = \"__cpu_model\"\nwords = [[0, 0, 0, 0], [0, 0, 0, 0xffefffff], [0, 0, 0, 0xffffffff]]\n";

/// The same of operations that ask for AVX-512 with registers of 512 bits: bit 31 is its VBMI2, and the
/// second symbol says VNNI.
const WIDER: &str = "\n[[data]] # what the compiler's library knows of the processor: nothing, all but AVX-512VL or VBMI2, or all\n\
    symbol = \"__cpu_model\"\nwords = [[0, 0, 0, 0], [0, 0, 0, 0xffefffff], [0, 0, 0, 0x7fffffff], [0, 0, 0, 0xffffffff]]\n\
    \n[[data]]\nsymbol = \"__cpu_features2\"\nwords = [[0xffffffff]]\n";

/// The contract of a KEM in another project's place. It has the project's names; its generator, and
/// for sntrup761 in OpenSSH its hash, are functions of other objects.
///
/// Key generation is left out. That of sntrup761 draws until there is a key, so its calls have no
/// common bound on branches; that of ML-KEM expands a seed that is not known beforehand. The same
/// text is proved in the library's contract, with coins in the generator's place.
pub fn of_place(place: &Place, small: bool) -> String {
    let kem = place.kem;
    let (pk, sk) = (size(kem, "PUBLICKEYBYTES"), size(kem, "SECRETKEYBYTES"));
    let ct = size(kem, "CIPHERTEXTBYTES");
    let is_mlkem = kem.starts_with("mlkem");
    let array = |name, role, length| Array(name, role, length, String::new());
    let build = Build { dead: if small { dead_small } else { dead }, ..ON_X86_64 };
    let mut functions = String::new();
    for byte in SEEDS.into_iter().take(if is_mlkem { 2 } else { 1 }) {
        let (known, known_sk, keys) = build.known(kem, byte);
        let enc =
            [array("c", "output", ct), array("k", "output", 32), Array("pk", "input", pk, known)];
        let dec =
            [array("k", "output", 32), array("c", "input", ct), Array("sk", "input", sk, known_sk)];
        for (what, arrays) in [("enc", &enc), ("dec", &dec)] {
            let text = build.function(kem, what, keys, arrays);
            functions += &text.replace("\"ringforge_crypto_kem", "\"crypto_kem");
        }
    }
    let random = match place.project {
        "openssh" => "arc4random_buf",
        _ => "genrandom",
    };
    // Since 10.3, OpenSSH calls OpenSSL in place; before, another object hashed.
    let hash = match place.hash(small) {
        "2" => {
            "\n[[external]]\nsymbol = \"crypto_hash_sha512\"\nreads = [{ argument = 1, bytes_of = 2 }]\n\
                writes = [{ argument = 0, bytes = 64 }]\nreturns = 0\n\n\
                [[external]]\nsymbol = \"EVP_sha512\"\n\n\
                [[external]]\nsymbol = \"EVP_Digest\"\nreads = [{ argument = 0, bytes_of = 1 }]\n\
                writes = [{ argument = 2, bytes = 64 }]\nreturns = 1\n"
        }
        _ => "",
    };
    format!(
        "# Encapsulation and decapsulation of {kem} in the place of another project's. All bytes count as secret, random ones,\n\
         # public keys and ciphertexts as well.\n\
         contract = 1\nabi = \"sysv-x86-64\"\nclaims = [\"constant-time\", \"clean-stack\", \"clean-registers\"]\n\
         {functions}{}\n\
         [[external]]\nsymbol = \"{random}\"\nwrites = [{{ argument = 0, bytes_of = 1 }}]\n{hash}",
        if small { "" } else { PROCESSOR }
    )
}

/// A number of the header.
fn size(kem: &str, what: &str) -> usize {
    let start = format!("#define RINGFORGE_{}_{what} ", kem.to_uppercase());
    let lines = file("include/ringforge_kem.h").lines();
    lines.filter_map(|l| l.strip_prefix(&start)).find_map(|n| n.parse().ok()).unwrap_or(0)
}

/// What its sources say of the stack that it wipes.
fn dead(kem: &str) -> usize {
    let (path, nth) = match (kem.strip_prefix("sntrup"), kem.strip_prefix("ntrulpr")) {
        (Some(p), _) => (format!("src/prime/prime{p}.c"), 0),
        (_, Some(p)) => (format!("src/prime/prime{p}.c"), 1),
        _ if kem.starts_with("mlkem") => (format!("src/mlkem/{kem}.c"), 0),
        _ => (format!("src/ntru/{kem}.c"), 0),
    };
    let lines = file(&path).lines().filter_map(|l| l.strip_prefix("#define RF_DEAD "));
    let number = lines.map(|l| l.split(' ').next().unwrap_or(l)).nth(nth);
    number.and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// n of an NTRU: its name alone does not say where q ends and n begins.
fn degree(kem: &str) -> usize {
    let source = file(&format!("src/ntru/{kem}.c"));
    source.lines().find_map(|l| l.strip_prefix("#define RF_N ")?.parse().ok()).unwrap_or(0)
}

/// The same of its small form, where the size is a sum of products of the KEM's sizes.
fn dead_small(kem: &str) -> usize {
    let digits = kem.trim_start_matches(|c: char| !c.is_ascii_digit());
    let number = |digits: &str| digits.parse::<usize>().unwrap_or(0);
    let path = match kem {
        _ if kem.starts_with("sntrup") => "src/prime/sntrup.inc",
        _ if kem.starts_with("ntrulpr") => "src/prime/ntrulpr.inc",
        _ if kem.starts_with("mlkem") => "src/mlkem/mlkem.inc",
        _ => "src/ntru/ntru.inc",
    };
    let value = |word: &str| match word.trim() {
        "RF_P" => number(digits),
        "RF_N" => degree(kem),
        "RF_K" => number(digits) / 256,
        "RF_CT" => size(kem, "CIPHERTEXTBYTES"),
        "RF_SPILLED" => spilled(),
        word => number(word),
    };
    let sum =
        file(path).lines().find_map(|l| l.strip_prefix("#define RF_WIPED (")?.split_once(')'));
    let products = sum.map_or("", |(sum, _)| sum).split('+');
    products.map(|product| product.split('*').map(value).product::<usize>()).sum()
}

/// What its frames spill at any level of optimisation.
fn spilled() -> usize {
    let lines = file("src/common/wipe.h").lines();
    lines.filter_map(|l| l.strip_prefix("#define RF_SPILLED ")?.parse().ok()).max().unwrap_or(0)
}

/// Bytes of a prepared key.
fn prepared(kem: &str) -> usize {
    let number = |prefix: &str| kem.strip_prefix(prefix).and_then(|n| n.parse::<usize>().ok());
    match (number("sntrup"), number("ntrulpr"), number("mlkem")) {
        (Some(p), ..) => 2 * p + 32,
        (_, Some(p), _) => 4 * p + 32,
        (.., Some(n)) => 512 * (n / 256) * (n / 256 + 1) + 32,
        _ => 0,
    }
}

/// A seed of ML-KEM's matrix: the last bytes of a key of this length.
fn seed(length: usize, byte: u8) -> String {
    let hex = format!("{byte:02x}").repeat(32);
    format!(", known = [{{ at = {}, hex = \"{hex}\" }}]", length - 32)
}

impl Build {
    fn function(&self, kem: &str, what: &str, keys: &str, arrays: &[Array]) -> String {
        let stack = (self.dead)(kem) + self.beside;
        let arrays = arrays.iter().map(|Array(name, role, length, more)| {
        format!("    {{ name = \"{name}\", role = \"{role}\", element = \"u8\", length = {length}{more} }},\n")
    });
        format!(
            "\n[[function]]\nsymbol = \"ringforge_crypto_kem_{kem}_{what}\"\nstack = {stack}\n{keys}arguments = [\n{}]\n",
            arrays.collect::<String>()
        )
    }

    /// What is known of a public key, and of the one in a secret key, and what is released of both. A
    /// public seed is expanded by rejection. Whether a key is well-formed is no secret.
    fn known(&self, kem: &str, byte: u8) -> (String, String, &'static str) {
        if !kem.starts_with("mlkem") {
            return (String::new(), String::new(), "");
        }
        let (pk, sk) = (size(kem, "PUBLICKEYBYTES"), size(kem, "SECRETKEYBYTES"));
        let keys = "released_branches = 1 # whether the key is well-formed\n";
        (seed(pk, byte), seed(sk - 64, byte), keys)
    }

    fn uses(&self, kem: &str) -> String {
        let (pk, sk) = (size(kem, "PUBLICKEYBYTES"), size(kem, "SECRETKEYBYTES"));
        let (ct, coins) = (size(kem, "CIPHERTEXTBYTES"), size(kem, "ENCCOINS"));
        let array = |name, role, length, more: &str| Array(name, role, length, more.to_owned());
        let out = || [array("ct", "output", ct, ""), array("ss", "output", 32, "")];
        let is_mlkem = kem.starts_with("mlkem");
        let mut text = String::new();
        for byte in SEEDS.into_iter().take(if is_mlkem { 2 } else { 1 }) {
            let (known, known_sk, keys) = self.known(kem, byte);
            let [a, b] = out();
            let enc = [a, b, array("pk", "input", pk, &known), array("coins", "input", coins, "")];
            text += &self.function(kem, "enc_derand", keys, &enc);
            let dec = [
                array("ss", "output", 32, ""),
                array("ct", "input", ct, ""),
                array("sk", "input", sk, &known_sk),
            ];
            text += &self.function(kem, "dec", keys, &dec);
            if prepared(kem) > 0 {
                let all = "claims = \"constant-time\" # a public key leaves nothing secret\n";
                let prepare = [
                    array("prepared", "output", prepared(kem), ", align = 2"),
                    array("pk", "input", pk, &known),
                ];
                text += &self.function(kem, "prepare", &(all.to_owned() + keys), &prepare);
            }
        }
        if prepared(kem) > 0 {
            let [a, b] = out();
            let enc = [
                a,
                b,
                array("prepared", "input", prepared(kem), ", align = 2"),
                array("coins", "input", coins, ""),
            ];
            text += &self.function(kem, "enc_prepared_derand", "", &enc);
        }
        text
    }

    fn makes(&self, kem: &str) -> String {
        // Keys that are aligned to 8 bytes: what gcc makes of memset asks for the alignment, and each is a case.
        let arrays = [("pk", "PUBLICKEYBYTES"), ("sk", "SECRETKEYBYTES")]
            .map(|(name, what)| Array(name, "output", size(kem, what), ", align = 8".into()));
        let [pk, sk] = arrays;
        let coins = Array("coins", "input", size(kem, "KEYPAIRCOINS"), String::new());
        let keys = match kem {
            _ if kem.starts_with("sntrup") => {
                "released_branches = 1 # whether g has an inverse mod 3: one that has none is not used\n"
            }
            _ if kem.starts_with("ntru") && !kem.starts_with("ntrulpr") => {
                "released_branches = 1 # whether the coins are fit for a key\n"
            }
            _ => "",
        };
        let text = self.function(kem, "keypair_derand", keys, &[pk, sk, coins]);
        if !kem.starts_with("mlkem") {
            return text;
        }
        // The public seed comes of the secret one by SHA3-512, whose result is given in part; it has a claim of its own.
        let hex = format!("{:02x}", SEEDS[0]).repeat(32);
        format!(
            "{text}\n[[function]] # the one that makes the public seed, of 33 bytes\nsymbol = \"ringforge_library_sha3_512\"\n\
         stack = {OF_SHA3}\nclaims = \"constant-time\"\narguments = [\n\
         \x20   {{ name = \"out\", role = \"output\", element = \"u8\", length = 64, align = 8 }},\n\
         \x20   {{ name = \"in\", role = \"input\", element = \"u8\", length = 33 }},\n\
         \x20   {{ name = \"len\", value = 33 }},\n]\n\n\
         [[external]] # in its place, for key generation: a result that begins with this public seed\n\
         symbol = \"ringforge_library_sha3_512\"\nstands_in = true\nstack = {OF_SHA3}\n\
         reads = [{{ argument = 1, bytes_of = 2 }}]\n\
         writes = [{{ argument = 0, bytes = 64, known = [{{ at = 0, hex = \"{hex}\" }}] }}]\nreturns = 0\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringforge_prove::constant_time::{Function, SafetyContract};

    #[test]
    fn every_kem_has_contracts_that_are_read() {
        let parse = |name: &str, text: &str| {
            SafetyContract::parse(text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"))
        };
        let stacks = |c: &SafetyContract| c.functions.iter().map(|f| f.stack).collect::<Vec<_>>();
        for kem in kems() {
            for build in BUILDS.iter().filter(|b| b.kems().any(|k| k == kem)) {
                let [usual, here] = [&ON_X86_64, build].map(|b| b.contracts(&kem));
                for ((name, usual), (same, here)) in usual.iter().zip(&here) {
                    let (usual, parsed) = (parse(name, usual), parse(name, here));
                    assert_eq!((name, parsed.abi.name()), (same, build.architecture.abi));
                    assert!(!here.contains("length = 0") && !here.contains("stack = 0"), "{here}");
                    // The same claims of the same calls, but for the stack.
                    let symbols = |c: &SafetyContract| {
                        let of = |f: &Function| (f.symbol.clone(), f.clean, f.parameters.clone());
                        (c.functions.iter().map(of).collect::<Vec<_>>(), c.externals.len())
                    };
                    assert_eq!(symbols(&parsed), symbols(&usual), "{name}");
                    assert_eq!(parsed.data.is_empty(), build.architecture.abi != X86_64.abi);
                    if build.only.is_empty() {
                        assert_eq!(stacks(&parsed), stacks(&usual), "{name}");
                    }
                }
            }
            assert!(dead(&kem) > 16_384, "{kem}");
        }
    }

    #[test]
    fn sizes_of_the_small_form_are_those_of_its_sources() {
        assert_eq!(dead_small("sntrup761"), 10 * 761 + 2048);
        assert_eq!(dead_small("ntrulpr761"), 10 * 761 + 1167 + 1792);
        assert_eq!(dead_small("mlkem512"), 512 * 2 + 4608);
        assert_eq!(dead_small("ntruhps2048677"), 11 * 677 + 2048);
        assert_eq!(dead_small("ntruhrss1373"), 11 * 1373 + 2048);
    }
}
