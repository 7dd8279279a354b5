//! Running AArch64 code under the user emulator: one process for many functions and inputs.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// One function with its inputs: state and memory.
pub struct Job {
    pub code: Vec<u8>,
    pub cases: Vec<(Vec<u64>, Vec<u64>)>,
}

const DRIVER: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
typedef void function(const uint64_t *, uint64_t *, uint64_t *);
static void take(void *to, size_t n) { if (fread(to, 1, n, stdin) != n) exit(3); }
int main(void) {
    static uint64_t state[4096], result[4096];
    static uint64_t memory[4096] __attribute__((aligned(64)));
    unsigned char *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t sizes[3], head[2];
    if (page == MAP_FAILED) return 2;
    take(sizes, sizeof sizes);
    for (;;) {
        take(head, sizeof head);
        if (head[0] == 0) break;
        take(page, head[0]);
        __builtin___clear_cache((char *)page, (char *)page + head[0]);
        for (uint32_t i = 0; i < head[1]; i++) {
            take(state, 8 * sizes[0]);
            take(memory, 8 * sizes[1]);
            ((function *)(void *)page)(state, memory, result);
            fwrite(result, 8, sizes[2], stdout);
            fwrite(memory, 8, sizes[1], stdout);
        }
    }
    return 0;
}
"#;

/// The results of all jobs, case by case: result and memory. `sizes`: words of state, memory, result.
pub fn run(jobs: &[Job], sizes: [usize; 3]) -> Vec<Vec<Vec<u64>>> {
    let flags = ["-O1", "-static"];
    let files = [("driver.c", DRIVER.as_bytes().to_vec())];
    let program = super::build_objects("aarch64-linux-gnu-gcc", &files, &flags)
        .expect("the driver is compiled and linked");
    let mut input = Vec::new();
    sizes.iter().for_each(|s| input.extend((*s as u32).to_le_bytes()));
    for job in jobs {
        assert!(job.code.len() <= 4096 && !job.code.is_empty());
        input.extend((job.code.len() as u32).to_le_bytes());
        input.extend((job.cases.len() as u32).to_le_bytes());
        input.extend(&job.code);
        for (state, memory) in &job.cases {
            state.iter().chain(memory).for_each(|w| input.extend(w.to_le_bytes()));
        }
    }
    input.extend([0; 8]);
    let mut child = Command::new("qemu-aarch64")
        .arg(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the emulator starts");
    let mut stdin = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let mut output = Vec::new();
    child.stdout.take().expect("piped").read_to_end(&mut output).expect("its output is read");
    writer.join().expect("no panic").expect("it takes all input");
    assert!(child.wait().expect("it ends").success(), "the emulated program failed");
    let _ = std::fs::remove_dir_all(program.parent().expect("in a directory"));
    let mut words =
        output.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes")));
    let all = jobs
        .iter()
        .map(|job| {
            let one = || words.by_ref().take(sizes[1] + sizes[2]).collect::<Vec<u64>>();
            std::iter::repeat_with(one).take(job.cases.len()).collect()
        })
        .collect();
    assert_eq!(words.next(), None);
    all
}
