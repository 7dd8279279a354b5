// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Shared objects and executables: what is lifted of them computes what they do when they are loaded
//! and run, whole and damaged, and what the loader does not fix is refused by name.

mod common;
use common::damage::{self, Anatomy, CALLS, N, Random, Run};
use common::{build_objects, call, link};
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId};
use ringforge_machine::{Initial, Lifted, Object, lift};
use ringforge_testing::{needs, program};
use std::path::{Path, PathBuf};

/// A call of `mul`, as far as `limit` steps.
fn lifted(file: &[u8], limit: u64) -> Result<(Graph, Lifted), String> {
    let object = Object::parse(file).map_err(|e| e.to_string())?;
    let mut graph = Graph::new();
    let mut call = call("mul", N as u64);
    call.max_steps = limit;
    let lifted = lift(&object, &call, &mut graph, &mut |_| true).map_err(|e| e.to_string())?;
    Ok((graph, lifted))
}

/// The outputs of all calls by the terms, or why there are none.
fn by_terms(file: &[u8]) -> Result<Vec<i16>, String> {
    let (mut graph, lifted) = lifted(file, 20_000)?;
    let [case] = &lifted.cases[..] else { return Err("several cases".into()) };
    let roots: Result<Vec<NodeId>, String> = (0..N)
        .map(|i| case.regions[0].element(&mut graph, i, 16).map_err(|_| "undefined".to_string()))
        .collect();
    let tape = Tape::new(&graph, &roots?).map_err(|_| "an address".to_string())?;
    let outputs = damage::inputs().into_iter().flat_map(|arrays| {
        tape.run(|operand, i| arrays[usize::from(operand)][i as usize] as u16 as u64)
    });
    Ok(outputs.map(|v| v as u16 as i16).collect())
}

/// A processor: how C is compiled for it, and how its programs are run.
struct Kind {
    compiler: &'static str,
    runner: &'static [&'static str],
    ways: &'static [(&'static str, &'static [&'static str])],
}

/// Shared objects are linked in several ways: slots bound when first used or at once, symbols that
/// others may replace or not, relocations packed or not, code and data in one segment or two.
const X86_64: Kind = Kind {
    compiler: "gcc",
    runner: &[],
    ways: &[
        ("gcc", &["-O2"]),
        ("gcc", &["-O1", "-Wl,-z,now", "-Wl,-z,relro"]),
        ("gcc", &["-O3", "-mavx2", "-Wl,-Bsymbolic", "-Wl,-z,noseparate-code"]),
        ("gcc", &["-O2", "-Wl,-z,pack-relative-relocs", "-Wl,--hash-style=sysv"]),
        ("clang", &["-O2", "-mavx2", "-Wl,-z,now"]),
    ],
};
const AARCH64: Kind = Kind {
    compiler: "aarch64-linux-gnu-gcc",
    runner: &["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    ways: &[
        ("aarch64-linux-gnu-gcc", &["-O2"]),
        ("aarch64-linux-gnu-gcc", &["-O1", "-Wl,-z,now", "-mbranch-protection=standard"]),
        ("aarch64-linux-gnu-gcc", &["-O3", "-Wl,-Bsymbolic", "-Wl,-z,max-page-size=4096"]),
    ],
};

impl Kind {
    fn shared_objects(&self) -> Vec<Vec<u8>> {
        let plain = ["-shared", "-fPIC", "-fno-stack-protector"];
        let one = |&(compiler, flags): &(&str, &[&str])| {
            Some(link(program(compiler)?, &damage::source(), &[&plain, flags].concat()))
        };
        self.ways.iter().filter_map(one).collect()
    }

    /// A program that loads the shared object of its argument, calls `mul` and writes the outputs.
    /// It writes a byte first, once the file is loaded.
    fn driver(&self) -> PathBuf {
        let array = |k: usize| -> String {
            damage::inputs().iter().flat_map(|i| i[k]).map(|x| format!("{x}, ")).collect()
        };
        let text = format!(
            r#"
#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>
static const int16_t a[] = {{ {} }}, b[] = {{ {} }};
int main(int count, char **words) {{
    static int16_t c[{N} * {CALLS}];
    alarm(5);
    void *file = dlopen(words[count - 1], RTLD_NOW);
    void (*mul)(int16_t *, const int16_t *, const int16_t *) =
        file ? (void (*)(int16_t *, const int16_t *, const int16_t *))dlsym(file, "mul") : 0;
    if (!mul || write(1, "+", 1) != 1) _exit(0);
    for (int i = 0; i < {CALLS}; i++) mul(c + {N} * i, a + {N} * i, b + {N} * i);
    _exit(write(1, c, sizeof c) != sizeof c);
}}
"#,
            array(0),
            array(1)
        );
        let compiler = program(self.compiler).expect("its shared objects were compiled");
        build_objects(compiler, &[("driver.c", text.into_bytes())], &["-O1", "-ldl"])
            .expect("a driver")
    }

    /// What the file does when it is loaded: [`Run::Unlinked`] if it cannot be.
    fn run(&self, driver: &Path, file: &Path) -> Run {
        let mut words: Vec<&Path> = self.runner.iter().map(Path::new).collect();
        words.extend([driver, file]);
        match damage::execute(words[0], &words[1..]) {
            // It cannot be loaded, or code that runs then ends the program or does not end.
            Some((_, out)) if out.is_empty() => Run::Unlinked,
            Some((true, out)) => Run::Wrote(
                out[1..].chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect(),
            ),
            _ => Run::Failed,
        }
    }

    fn whole_files_compute_what_their_terms_say(&self) {
        let good = self.shared_objects();
        let driver = self.driver();
        let path = driver.with_extension("so");
        for (i, file) in good.iter().enumerate() {
            let said = by_terms(file).unwrap_or_else(|e| panic!("file {i}: {e}"));
            std::fs::write(&path, file).expect("it is writable");
            assert_eq!(self.run(&driver, &path), Run::Wrote(said), "file {i}");
            // Section headers name tables of symbols and nothing else.
            let mut bare = file.clone();
            bare[40..48].fill(0);
            bare[60..64].fill(0);
            assert_eq!(by_terms(&bare), by_terms(file), "file {i}");
        }
        let _ = std::fs::remove_dir_all(driver.parent().expect("in its own directory"));
    }

    fn damaged_files_compute_what_their_terms_say(&self, count: usize, seed: u64) {
        let mut random = Random(seed);
        let good = self.shared_objects();
        let driver = self.driver();
        let path = driver.with_extension("so");
        let anatomies: Vec<Anatomy> = good.iter().map(|o| Anatomy::of(o)).collect();
        let (mut read, mut ran, mut wrong) = (0, 0, Vec::new());
        for i in 0..count {
            let which = i % good.len();
            let (bad, what) = anatomies[which].damage(&good[which], &mut random);
            let Ok(said) = by_terms(&bad) else { continue };
            read += 1;
            std::fs::write(&path, &bad).expect("it is writable");
            match self.run(&driver, &path) {
                Run::Unlinked => {}
                Run::Wrote(got) if got == said => ran += 1,
                other => {
                    if let Some(keep) = std::env::var_os("RINGFORGE_FLIP_KEEP") {
                        let to = Path::new(&keep).join(format!("wrong-{i}.so"));
                        std::fs::copy(&path, to).expect("the directory to keep them in is there");
                    }
                    let got = if other == Run::Failed { "it fails" } else { "it differs" };
                    wrong.push(format!("file {i} (of good file {which}): {what}: {got}"));
                }
            }
        }
        let _ = std::fs::remove_dir_all(driver.parent().expect("in its own directory"));
        println!("{count} files, {read} lifted, {ran} runs as said, {} not", wrong.len());
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
        assert!(read > count / 20 && ran > read / 2, "{read} lifted, {ran} ran");
    }
}

#[test]
fn shared_objects_compute_what_their_terms_say() {
    needs!("gcc");
    X86_64.whole_files_compute_what_their_terms_say();
}

#[test]
fn shared_objects_for_aarch64_compute_what_their_terms_say() {
    needs!("aarch64-linux-gnu-gcc", "qemu-aarch64");
    AARCH64.whole_files_compute_what_their_terms_say();
}

/// `RINGFORGE_FLIPS` says another number, `RINGFORGE_FLIP_SEED` another seed.
#[test]
fn damaged_shared_objects_compute_what_their_terms_say() {
    needs!("gcc");
    let seed = damage::number("RINGFORGE_FLIP_SEED", 362_436_069);
    X86_64.damaged_files_compute_what_their_terms_say(flips(1000), seed);
}

#[test]
fn damaged_shared_objects_for_aarch64_compute_what_their_terms_say() {
    needs!("aarch64-linux-gnu-gcc", "qemu-aarch64");
    let seed = damage::number("RINGFORGE_FLIP_SEED", 521_288_629);
    AARCH64.damaged_files_compute_what_their_terms_say(flips(200), seed);
}

fn flips(usual: u64) -> usize {
    damage::number("RINGFORGE_FLIPS", usual) as usize
}

#[test]
fn executables_of_each_kind_are_read() {
    needs!("gcc");
    let source =
        damage::source() + "int main(void) { short c[4], a[4] = {0}; mul(c, a, a); return c[0]; }";
    let want = by_terms(&X86_64.shared_objects()[0]).expect("a good file");
    for flags in [
        &["-O2", "-pie", "-fPIE"][..],
        &["-O2", "-no-pie", "-fno-pie"],
        &["-O2", "-pie", "-fPIE", "-Wl,-z,now", "-fcf-protection=full"],
    ] {
        let file = link("gcc", &source, &[flags, &["-fno-stack-protector"]].concat());
        assert_eq!(by_terms(&file).as_ref(), Ok(&want), "{flags:?}");
    }
}

#[test]
fn what_the_loader_leaves_open_is_assumed_or_refused() {
    needs!("gcc");
    let flags = ["-shared", "-fPIC", "-O1", "-fno-stack-protector"];
    let with = |source: &str, more: &[&str]| {
        let file = link("gcc", source, &[&flags, more].concat());
        match lifted(&file, 20_000) {
            Ok((_, lifted)) => lifted.stats.assumptions.join("; "),
            Err(e) => e,
        }
    };
    let head = "#include <stdint.h>\n#include <string.h>\n";
    let mul = |body: &str| {
        format!("{head}void mul(int16_t *c, const int16_t *a, const int16_t *b) {{ {body} }}")
    };
    let copies = mul("memcpy(c, a, b ? 8 : 8); c[0] += 1;");
    let copies = copies.replace("{ memcpy", "{ extern void *(*volatile unused)(void); memcpy");
    let bound = "the loader has bound `memcpy` before the call";
    let lazy = with(&copies, &["-fno-builtin", "-Wl,-z,lazy"]);
    assert!(lazy.contains(bound), "{lazy}");
    // What is protected once it is relocated needs no assumption.
    let now = with(&copies, &["-fno-builtin", "-Wl,-z,now,-z,relro"]);
    assert!(!now.contains(bound) && now.contains("the linked `memcpy`"), "{now}");
    let table = format!(
        "int16_t one[4] = {{ 1, 1, 1, 1 }}; static const int16_t *const all[2] = {{ one, one }};\n{}",
        mul("c[0] = c[1] = c[2] = c[3] = a[0] + (all[b == 0] == one);")
    );
    let found = with(&(head.to_string() + &table), &[]);
    assert!(found.contains("`one` is not replaced by another definition"), "{found}");
    let written = format!(
        "{head}int16_t one[4] = {{ 1, 1, 1, 1 }};\n{}",
        mul("c[0] = c[1] = c[2] = c[3] = a[0] + one[0];").replace(head, "")
    );
    let found = with(&written, &[]);
    assert!(found.contains("in a segment that can be written"), "{found}");
    let other = format!(
        "{head}extern int16_t other[4];\n{}",
        mul("c[0] = c[1] = c[2] = c[3] = a[0] + other[0];").replace(head, "")
    );
    let found = with(&other, &[]);
    assert!(found.contains("`other` is data of another file"), "{found}");
    // A function of the file chooses what the loader writes, and may write all else.
    let chosen = format!(
        "{head}static int16_t one[4] = {{ 1, 1, 1, 1 }};\nstatic const int16_t *const all[2] = {{ one, one }};\n\
         static int f(void) {{ return 1; }}\nint (*choose(void))(void) {{ return f; }}\n\
         int chosen(void) __attribute__((ifunc(\"choose\")));\nint (*const table[2])(void) = {{ chosen, chosen }};\n{}",
        mul("c[0] = c[1] = c[2] = c[3] = a[0] + (all[b == 0] == one);").replace(head, "")
    );
    let found = with(&chosen, &["-Wl,-z,now"]);
    assert!(found.contains("in a segment that can be written"), "{found}");
    // The loader's own words lie among what it protects.
    let own = format!(
        "{head}extern const uint64_t _DYNAMIC[] __attribute__((visibility(\"hidden\")));\n{}",
        mul("c[0] = c[1] = c[2] = c[3] = a[0] + (int16_t)_DYNAMIC[1];").replace(head, "")
    );
    let found = with(&own, &["-Wl,-z,now"]);
    assert!(found.contains("the loader writes it for its own use"), "{found}");
    // A variable of another file, with which the loader fills a place of this one when it starts.
    let other = "const short table[4] = { 7, 7, 7, 7 };";
    let other = link("gcc", other, &["-shared", "-fPIC", "-Wl,-soname,other"]);
    let path = std::env::temp_dir().join(format!("ringforge-other-{}.so", std::process::id()));
    std::fs::write(&path, other).expect("it is writable");
    let main = format!(
        "{head}extern const int16_t table[4];\n{}\nint main(void) {{ int16_t c[4], a[4] = {{0}}; mul(c, a, a); return c[0]; }}",
        mul("for (int i = 0; i < 4; i++) c[i] = (int16_t)(a[i] + table[i]);").replace(head, "")
    );
    let whole = path.to_str().expect("text");
    let file = link(
        "gcc",
        &main,
        &[
            "-O1",
            "-pie",
            "-fPIE",
            "-Wl,--no-as-needed",
            "-fno-stack-protector",
            "-Wl,-z,now",
            whole,
        ],
    );
    let found = lifted(&file, 20_000).map(|_| ()).expect_err("what the loader copies is not known");
    let _ = std::fs::remove_file(&path);
    assert!(found.contains("R_X86_64_COPY") || found.contains("can be written"), "{found}");
    // A variable that the contract gives, of the file itself: its content is the contract's.
    let given = format!(
        "{head}volatile int16_t choice[2] = {{ 5, 6 }}; static int16_t other[2];\n{}",
        mul("c[0] = c[1] = c[2] = c[3] = (int16_t)(a[0] + choice[1]); if (choice[0] == 9) other[0]++;").replace(head, "")
    );
    let file = link("gcc", &given, &[&flags[..], &["-fvisibility=hidden"]].concat());
    let mut spec = call("mul", N as u64);
    spec.regions.push(common::region("choice", 4, 2, false, Initial::Bytes(vec![1, 0, 7, 0])));
    for (name, bytes, said) in [
        ("choice", vec![1, 0, 7, 0], None),
        ("choice", vec![1, 0], Some("can be written")),
        ("other", vec![1, 0, 7, 0], Some("can be written")),
    ] {
        spec.regions[3] = common::region(name, bytes.len() as u64, 2, false, Initial::Bytes(bytes));
        spec.data = vec![(name.into(), 3)];
        let object = Object::parse(&file).expect("a good file");
        let mut graph = Graph::new();
        spec.symbol = format!("{:#x}", object.function("mul").expect("it is there").address);
        match (lift(&object, &spec, &mut graph, &mut |_| true), said) {
            (Ok(lifted), None) => {
                let assumed = |a: &String| a == "`choice` holds what the contract says";
                assert!(lifted.stats.assumptions.iter().any(assumed));
                assert_eq!(common::evaluate(&mut graph, &lifted, N, &[2; N], &[0; N]), [9; N]);
            }
            (Err(e), Some(said)) => assert!(e.to_string().contains(said), "{e}"),
            (found, _) => panic!("{name}: {:?}", found.map(|l| l.stats.assumptions)),
        }
    }
    // What another file defines is no wrong access here.
    let aligned = format!(
        "{head}extern const int16_t other[8] __attribute__((aligned(16)));\n{}",
        mul("__asm__ volatile(\"movdqa (%0), %%xmm0\" :: \"r\"(other) : \"xmm0\"); c[0] = c[1] = c[2] = c[3] = a[0];")
            .replace(head, "")
    );
    let found = with(&aligned, &[]);
    assert!(found.contains("`other` is data of another file"), "{found}");
}

#[test]
fn a_local_function_does_not_stand_for_a_global_one() {
    needs!("gcc");
    let chosen = "#include <stdint.h>\nstatic void f(int16_t *c, const int16_t *a, const int16_t *b) {}\n\
                  static void (*choose(void))(int16_t *, const int16_t *, const int16_t *) { return f; }\n\
                  void mul(int16_t *c, const int16_t *a, const int16_t *b) __attribute__((ifunc(\"choose\")));\n\
                  __asm__(\".section .text.z,\\\"ax\\\"\\n.type local,@function\\nlocal: ret\\n.text\");";
    let mut file = link("gcc", chosen, &["-shared", "-fPIC", "-O1"]);
    common::elf::rename_symbol(&mut file, "local", "mul");
    let why = lifted(&file, 1000).map(|_| ()).expect_err("it is chosen when the file is loaded");
    assert!(why.contains("IFUNC") || why.contains("several addresses"), "{why}");
}

/// The dynamic section: where each entry's value stands, by tag.
fn dynamic(file: &[u8]) -> Vec<(u64, usize)> {
    let long = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"));
    let count = usize::from(u16::from_le_bytes([file[56], file[57]]));
    let headers = (0..count).map(|i| 64 + 56 * i);
    let at = headers.into_iter().find(|h| file[*h..h + 4] == [2, 0, 0, 0]).expect("one");
    let (start, size) = (long(at + 8) as usize, long(at + 32) as usize);
    (0..size / 16).map(|i| (long(start + 16 * i), start + 16 * i + 8)).collect()
}

#[test]
fn files_that_linkers_do_not_write_are_refused() {
    needs!("gcc");
    let good = &X86_64.shared_objects()[1];
    assert!(lifted(good, 20_000).is_ok());
    let header = |kind: u32| {
        let count = usize::from(u16::from_le_bytes([good[56], good[57]]));
        let mut headers = (0..count).map(|i| 64 + 56 * i);
        headers.find(|h| good[*h..h + 4] == kind.to_le_bytes()).expect("a segment of that type")
    };
    let value = |tag: u64| dynamic(good).into_iter().find(|d| d.0 == tag).expect("a tag").1;
    let long = |at: usize| u64::from_le_bytes(good[at..at + 8].try_into().expect("eight bytes"));
    let relocations = long(value(7)) as usize;
    let cases: [(&str, usize, u64, &str); 9] = [
        ("a dynamic section elsewhere", header(2) + 16, long(header(2) + 16) + 16, "is not where"),
        ("more memory than a file has", header(1) + 40, 1 << 40, "bytes in the file and"),
        ("a tag that is not known", value(11) - 8, 0x7fff_fffd, "the tag 0x7ffffffd"),
        ("relocated code", value(30), 4 | 8, "DT_TEXTREL"),
        ("a table without its entries' size", value(9) - 8, 24, "and not all"),
        (
            "symbols where data can be written",
            value(6),
            long(header(2) + 16),
            "there is no dynamic symbol",
        ),
        (
            "relocations that are not relative first",
            relocations + 8,
            0,
            "relative relocations come first",
        ),
        ("a relocation of the loader's words", relocations, long(header(2) + 16), "uses itself"),
        ("a relocation of code", relocations, long(24), "cannot write"),
    ];
    for (what, at, new, said) in cases {
        let mut bad = good.clone();
        bad[at..at + 8].copy_from_slice(&new.to_le_bytes());
        let why = lifted(&bad, 20_000).map(|_| ()).expect_err(what);
        assert!(why.contains(said), "{what}: {why}");
    }
    // The same file, its slots not bound at once: an assumption more.
    let mut lazy = good.clone();
    for (tag, at) in dynamic(good) {
        if tag == 30 || tag == 0x6fff_fffb {
            lazy[at..at + 8].fill(0);
        }
    }
    let (_, lifted) = lifted(&lazy, 20_000).expect("a good file");
    let bound = |a: &String| a.contains("the loader has bound `fold`");
    assert!(lifted.stats.assumptions.iter().any(bound), "{:?}", lifted.stats.assumptions);
}
