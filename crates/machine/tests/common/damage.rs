//! Good small objects, damage to their structures and code by a fixed seed, and programs that run what
//! is left of them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Elements of each array.
pub const N: usize = 4;
/// Calls that a program makes.
pub const CALLS: usize = 24;

/// The product in Z_17[x]/(x^4 + 1) through tables, a local function and the C library's: everything
/// that objects have.
const SOURCE: &str = r#"
#include <stdint.h>
#include <string.h>
#define N 4
#define Q 17
static const int16_t weights[8] = { 1, 1, 1, 1, 16, 16, 16, 16 };
static const uint8_t order[8] = { 0, 1, 2, 3, 0, 1, 2, 3 };
extern const int16_t ring_q;
const int16_t ring_q = Q;
static __attribute__((noinline)) int16_t reduce(int32_t x) {
    return (int16_t)(x - Q * ((x * 61681 + (1 << 19)) >> 20));
}
__attribute__((noinline)) void fold(int16_t *out, const int16_t *in) {
    for (int i = 0; i < 2 * N; i++)
        out[order[i]] = (int16_t)(out[order[i]] + weights[i] * in[i]);
}
void mul(int16_t *restrict c, const int16_t *restrict a, const int16_t *restrict b) {
    int16_t s[64], r[N];
    memset(s, 0, sizeof s);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) s[i + j] = (int16_t)(s[i + j] + a[i] * b[j]);
    for (int i = 0; i < 2 * N; i++) s[i] = reduce(s[i]);
    memset(r, 0, sizeof r);
    fold(r, s);
    for (int i = 0; i < N; i++) r[i] = (int16_t)(reduce(r[i] + ring_q));
    memcpy(c, r, sizeof r);
}
"#;

/// The source.
pub fn source() -> String {
    SOURCE.to_string()
}

/// The same function as several compilers make it.
pub fn good_objects(compile: impl Fn(&str, &str, &[&str]) -> Option<Vec<u8>>) -> Vec<Vec<u8>> {
    let plain = ["-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-fcf-protection=none"];
    let ways = [
        ("gcc", &["-O1", "-fno-pie"][..]),
        ("gcc", &["-O2", "-fPIC"]),
        ("gcc", &["-O3", "-mavx2", "-ffunction-sections", "-fdata-sections"]),
        ("clang", &["-O2", "-mavx2"]),
        ("clang", &["-Os", "-fPIC"]),
    ];
    let one = |(compiler, flags): (&str, &[&str])| {
        compile(ringforge_testing::program(compiler)?, SOURCE, &[flags, &plain].concat())
    };
    ways.into_iter().filter_map(one).collect()
}

/// A number from the environment.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |v| v.parse().expect("a number"))
}

/// Inputs of all calls: extremes and random values from -8 to 8.
pub fn inputs() -> Vec<[[i16; N]; 2]> {
    let mut random = Random(7);
    let value = |round: usize, random: &mut Random| match round {
        0 => 8,
        1 => -8,
        2..=5 => [-8, 8][random.below(2)],
        _ => random.below(17) as i16 - 8,
    };
    let one = |round| [(); 2].map(|()| std::array::from_fn(|_| value(round, &mut random)));
    (0..CALLS).map(one).collect()
}

/// C of all inputs, one array after the other.
fn arrays() -> [String; 2] {
    [0, 1].map(|k| inputs().iter().flat_map(|i| i[k]).map(|x| format!("{x}, ")).collect())
}

/// C of a program for Windows without a library: its entry calls `mul`, and writes all outputs to the address that the loader passes.
pub fn windows_driver() -> String {
    let [a, b] = arrays();
    format!(
        r#"
typedef short i16;
typedef unsigned long long size_t;
void mul(i16 *, const i16 *, const i16 *);
void *memset(void *d, int c, size_t n) {{ volatile char *p = d; while (n--) *p++ = (char)c; return d; }}
void *memcpy(void *d, const void *s, size_t n) {{
    volatile char *p = d; const char *q = s; while (n--) *p++ = *q++; return d; }}
__asm__(".globl ___chkstk_ms; ___chkstk_ms: ret");
static const i16 a[] = {{ {a} }}, b[] = {{ {b} }};
void entry(i16 *c) {{ for (int i = 0; i < {CALLS}; i++) mul(c + {N} * i, a + {N} * i, b + {N} * i); }}
"#
    )
}

/// C of a program for Linux that maps a linked file for Windows as that system's loader does, calls its entry and
/// writes what it filled in.
pub const WINDOWS_LOADER: &str = r#"
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static unsigned char file[1 << 22];
static unsigned word(const unsigned char *p) { unsigned x; memcpy(&x, p, 4); return x; }
int main(int count, char **names) {
    FILE *in = fopen(names[count - 1], "rb");
    if (!in || !fread(file, 1, sizeof file, in)) return 2;
    const unsigned char *pe = file + word(file + 0x3c), *optional = pe + 24;
    uint64_t base;
    memcpy(&base, optional + 24, 8);
    unsigned char *image = mmap((void *)base, word(optional + 56), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (image != (void *)base) return 3;
    const unsigned char *section = optional + (word(pe + 20) & 0xffff);
    for (unsigned i = 0; i < word(pe + 4) >> 16; i++, section += 40) {
        unsigned size = word(section + 16), in_memory = word(section + 8), flags = word(section + 36);
        unsigned char *to = image + word(section + 12);
        memcpy(to, file + word(section + 20), size < in_memory ? size : in_memory);
        int may = (flags >> 29 & 1 ? PROT_EXEC : 0) | (flags >> 30 & 1 ? PROT_READ : 0) | (flags >> 31 ? PROT_WRITE : 0);
        if (mprotect(to, in_memory, may)) return 4;
    }
    static int16_t out[OUTPUTS];
    ((__attribute__((ms_abi)) void (*)(int16_t *))(image + word(optional + 16)))(out);
    return write(1, out, sizeof out) != sizeof out;
}
"#;

/// Links the object for Windows, by GNU's `ld` or as Microsoft's linker does, and runs it by the loader.
pub fn run_windows(linker: &str, object: &Path, driver: &Path, loader: &Path) -> Run {
    let program = object.with_extension("exe");
    let mut link = Command::new(linker);
    if linker.contains("lld-link") {
        link.args(["/entry:entry", "/subsystem:console", "/nodefaultlib"]);
        link.arg(format!("/out:{}", program.display()));
    } else {
        link.args(["-e", "entry", "-o"]).arg(&program);
    }
    let linked = link.args([driver, object]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !linked.unwrap_or_else(|e| panic!("{linker}: {e}")).success() {
        return Run::Unlinked;
    }
    wrote(execute(loader, &[&program]))
}

/// C of a program without a library that calls `mul` on all inputs and writes the outputs.
pub fn driver() -> String {
    let [a, b] = arrays();
    format!(
        r#"
#ifndef __clang__
#pragma GCC optimize ("no-tree-loop-distribute-patterns") /* memset would call itself */
#endif
typedef short i16;
typedef unsigned long size_t;
void mul(i16 *, const i16 *, const i16 *);
void *memset(void *d, int c, size_t n) {{ char *p = d; while (n--) *p++ = (char)c; return d; }}
void *memcpy(void *d, const void *s, size_t n) {{
    char *p = d; const char *q = s; while (n--) *p++ = *q++; return d; }}
void *memmove(void *d, const void *s, size_t n) {{
    char *p = d; const char *q = s;
    if (p < q) while (n--) *p++ = *q++; else while (n--) p[n] = q[n];
    return d; }}
static const i16 a[] = {{ {a} }}, b[] = {{ {b} }};
__asm__(".globl _start; _start: xor %ebp,%ebp; and $-16,%rsp; call run; mov %eax,%edi; mov $60,%eax; syscall");
int run(void) {{
    static i16 c[{N} * {CALLS}];
    for (int i = 0; i < {CALLS}; i++) mul(c + {N} * i, a + {N} * i, b + {N} * i);
    long done = 1;
    __asm__ volatile("syscall" : "+a"(done) : "D"(1), "S"(c), "d"(sizeof c) : "rcx", "r11", "memory");
    return done != sizeof c;
}}
"#
    )
}

/// Flags to compile it.
pub const DRIVER_FLAGS: [&str; 4] = ["-O1", "-ffreestanding", "-fno-stack-protector", "-fPIE"];

/// What became of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Run {
    /// The linker refuses: nothing runs.
    Unlinked,
    /// It crashed or did not end.
    Failed,
    /// All outputs.
    Wrote(Vec<i16>),
}

/// Links and runs the object, as a program at any place or at a fixed one.
pub fn run(object: &Path, driver: &Path, pie: bool) -> Run {
    let program: PathBuf = object.with_extension(if pie { "pie" } else { "exe" });
    let mut link = Command::new("ld");
    if pie {
        link.args(["-pie", "-dynamic-linker", "/lib64/ld-linux-x86-64.so.2"]);
    }
    link.arg("-o").args([program.as_path(), driver, object]);
    let linked = link.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !linked.expect("ld is needed by this test").success() {
        return Run::Unlinked;
    }
    wrote(execute(&program, &[]))
}

/// The outputs that a program wrote.
fn wrote(done: Option<(bool, Vec<u8>)>) -> Run {
    match done {
        Some((true, out)) => {
            Run::Wrote(out.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect())
        }
        _ => Run::Failed,
    }
}

/// Whether a program ends well, and what it writes; [`None`] if it does not start or does not end.
pub fn execute(program: &Path, words: &[&Path]) -> Option<(bool, Vec<u8>)> {
    let started = Instant::now();
    let child =
        Command::new(program).args(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.ok()?;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if started.elapsed() < Duration::from_secs(10) => {
                std::thread::sleep(Duration::from_micros(300));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    let done = child.wait_with_output().ok()?;
    Some((done.status.success(), done.stdout))
}

/// A small generator, the same on every run.
pub struct Random(pub u64);

impl Random {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % n.max(1) as u64) as usize
    }
}

fn half(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn long(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// One table of a good object: where it starts, and its entries' size and number.
#[derive(Clone, Copy)]
struct Table {
    at: usize,
    entry: usize,
    count: usize,
    /// Offset and size of each field of an entry.
    fields: &'static [(usize, usize)],
}

const HEADER: &[(usize, usize)] =
    &[(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8), (56, 8)];
const SYMBOL: &[(usize, usize)] = &[(0, 4), (4, 1), (5, 1), (6, 2), (8, 8), (16, 8)];
const RELOCATION: &[(usize, usize)] = &[(0, 8), (8, 4), (12, 4), (16, 8)];
const SEGMENT: &[(usize, usize)] =
    &[(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 8), (48, 8)];
const DYNAMIC: &[(usize, usize)] = &[(0, 8), (8, 8)];
const COFF_FILE: &[(usize, usize)] = &[(0, 2), (2, 2), (4, 4), (8, 4), (12, 4), (16, 2), (18, 2)];
const COFF_SECTION: &[(usize, usize)] =
    &[(0, 8), (8, 4), (12, 4), (16, 4), (20, 4), (24, 4), (28, 4), (32, 2), (34, 2), (36, 4)];
const COFF_SYMBOL: &[(usize, usize)] = &[(0, 8), (8, 4), (12, 2), (14, 2), (16, 1), (17, 1)];
const COFF_RELOCATION: &[(usize, usize)] = &[(0, 4), (4, 4), (8, 2)];
const BYTE: &[(usize, usize)] = &[(0, 1)];

/// The structures of a good object that damage is done to.
pub struct Anatomy {
    tables: Vec<Table>,
}

impl Anatomy {
    /// Finds the file's header, section and program headers, the dynamic section, symbols, relocations, names and
    /// content.
    pub fn of(object: &[u8]) -> Anatomy {
        let (start, count) = (long(object, 40), half(object, 60));
        let mut tables = vec![
            Table { at: 0, entry: 1, count: 64, fields: BYTE },
            Table { at: start, entry: 64, count, fields: HEADER },
            Table { at: long(object, 32), entry: 56, count: half(object, 56), fields: SEGMENT },
        ];
        for i in 0..count {
            let h = start + 64 * i;
            let (kind, flags) = (word(object, h + 4), long(object, h + 8));
            let (at, size) = (long(object, h + 24), long(object, h + 32));
            let fields = match kind {
                2 | 11 => SYMBOL,
                6 => DYNAMIC,
                4 => RELOCATION,
                3 => BYTE,
                1 if flags & 2 != 0 => BYTE,
                _ => continue,
            };
            let entry = match fields.len() {
                1 => 1,
                2 => 16,
                _ => 24,
            };
            tables.push(Table { at, entry, count: size / entry, fields });
        }
        tables.retain(|t| t.count > 0);
        Anatomy { tables }
    }

    /// The same of a COFF object.
    pub fn of_coff(object: &[u8]) -> Anatomy {
        let (symbols, count) = (word(object, 8), word(object, 12));
        let mut tables = vec![
            Table { at: 0, entry: 20, count: 1, fields: COFF_FILE },
            Table { at: 20, entry: 40, count: half(object, 2), fields: COFF_SECTION },
            Table { at: symbols, entry: 18, count, fields: COFF_SYMBOL },
            Table { at: symbols, entry: 1, count: object.len() - symbols, fields: BYTE },
        ];
        for h in (0..half(object, 2)).map(|i| 20 + 40 * i) {
            let (size, at) = (word(object, h + 16), word(object, h + 20));
            let content = if at == 0 { 0 } else { size };
            tables.push(Table { at, entry: 1, count: content, fields: BYTE });
            let (at, count) = (word(object, h + 24), half(object, h + 32));
            tables.push(Table { at, entry: 10, count, fields: COFF_RELOCATION });
        }
        tables.retain(|t| t.count > 0);
        Anatomy { tables }
    }

    /// A damaged copy, and what was done.
    pub fn damage(&self, object: &[u8], random: &mut Random) -> (Vec<u8>, String) {
        let mut bad = object.to_vec();
        let table = self.tables[random.below(self.tables.len())];
        let entry = |random: &mut Random| table.at + table.entry * random.below(table.count);
        let (a, b) = (entry(random), entry(random));
        let (offset, size) = table.fields[random.below(table.fields.len())];
        let at = a + offset;
        let what = match random.below(8) {
            0..=3 => {
                let bit = random.below(8 * size);
                bad[at + bit / 8] ^= 1 << (bit % 8);
                format!("bit {bit} of the {size} bytes at {at:#x}")
            }
            4 => {
                let byte = random.below(256) as u8;
                bad[at + random.below(size)] = byte;
                format!("a byte at {at:#x} becomes {byte:#x}")
            }
            5 => {
                let values = [0, 1, 2, 4, 5, 8, 10, 11, 0x18, 0x40, 0xff, 0xfff1, 0xfff2, u64::MAX];
                let value = values[random.below(values.len())].to_le_bytes();
                bad[at..at + size].copy_from_slice(&value[..size]);
                format!("the {size} bytes at {at:#x} become {value:x?}")
            }
            6 => {
                // A field of another entry.
                bad.copy_within(b + offset..b + offset + size, at);
                format!("the {size} bytes at {at:#x} become those at {:#x}", b + offset)
            }
            _ => {
                for k in 0..table.entry {
                    bad.swap(a + k, b + k);
                }
                format!("{} bytes at {a:#x} and {b:#x} change places", table.entry)
            }
        };
        (bad, what)
    }
}
