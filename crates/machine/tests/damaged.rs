//! Damaged objects: whatever is lifted, right or wrong as a product, computes when it is linked and run
//! what its terms say. No contract and no proof take part, so this sees every misreading.

mod common;
use common::coff::WINDOWS;
use common::damage::{self, Anatomy, CALLS, N, Random, Run, good_objects, run};
use common::{assemble, call, compile};
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId};
use ringforge_machine::{Object, lift};
use ringforge_testing::{cc, needs, program};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The outputs of all calls by the terms; [`None`] if the object is refused or an output has no value.
fn by_terms(object: &[u8]) -> Option<Vec<i16>> {
    let object = Object::parse(object).ok()?;
    let mut graph = Graph::new();
    let mut call = call("mul", N as u64);
    call.max_steps = 20_000;
    let lifted = lift(&object, &call, &mut graph, &mut |_| true).ok()?;
    let [case] = &lifted.cases[..] else { return None };
    let roots: Option<Vec<NodeId>> =
        (0..N).map(|i| case.regions[0].element(&mut graph, i, 16).ok()).collect();
    let tape = Tape::new(&graph, &roots?).ok()?;
    let outputs = damage::inputs().into_iter().flat_map(|arrays| {
        tape.run(|operand, i| arrays[usize::from(operand)][i as usize] as u16 as u64)
    });
    Some(outputs.map(|v| v as u16 as i16).collect())
}

/// `RINGFORGE_FLIPS` says another number, `RINGFORGE_FLIP_SEED` another seed.
#[test]
fn damaged_objects_compute_what_their_terms_say() {
    let count = damage::number("RINGFORGE_FLIPS", 2500) as usize;
    let mut random = Random(damage::number("RINGFORGE_FLIP_SEED", 2_463_534_242));
    let name = format!("ringforge-machine-damaged-{}", std::process::id());
    let dir = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&dir).expect("the temporary directory is writable");
    let (driver, path) = (dir.join("driver.o"), dir.join("damaged.o"));
    let program = compile(cc(), "c", &damage::driver(), &damage::DRIVER_FLAGS);
    std::fs::write(&driver, program).expect("it is writable");
    let good = good_objects(|compiler, source, flags| Some(compile(compiler, "c", source, flags)));
    let mut right = Vec::new();
    for object in &good {
        let said = by_terms(object).expect("a good object is lifted");
        assert_eq!(said.len(), N * CALLS);
        std::fs::write(&path, object).expect("it is writable");
        assert_eq!(run(&path, &driver, false), Run::Wrote(said.clone()));
        right = said;
    }
    let anatomies: Vec<Anatomy> = good.iter().map(|o| Anatomy::of(o)).collect();
    let (mut lifted, mut ran, mut wrong) = (0, 0, Vec::new());
    for i in 0..count {
        let which = i % good.len();
        let (bad, what) = anatomies[which].damage(&good[which], &mut random);
        let Some(said) = by_terms(&bad) else { continue };
        lifted += 1;
        std::fs::write(&path, &bad).expect("it is writable");
        // What is no product would be refused anyway: one way of linking is enough.
        let ways: &[bool] = if said == right { &[false, true] } else { &[false] };
        for &pie in ways {
            match run(&path, &driver, pie) {
                Run::Unlinked => {}
                Run::Wrote(got) if got == said => ran += 1,
                other => {
                    if let Some(keep) = std::env::var_os("RINGFORGE_FLIP_KEEP") {
                        let to = std::path::Path::new(&keep).join(format!("wrong-{i}.o"));
                        std::fs::copy(&path, to).expect("the directory to keep them in is there");
                    }
                    let got = if other == Run::Failed { "it fails" } else { "it differs" };
                    wrong.push(format!(
                        "object {i} (of good object {which}), pie {pie}: {what}: {got}"
                    ));
                }
            }
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
    println!("{count} objects, {lifted} lifted, {ran} runs as said, {} not", wrong.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(lifted > count / 20 && ran > lifted / 2, "{lifted} lifted, {ran} ran");
}

/// The same for Windows. A file is linked by mingw's `ld` or by `lld-link`, and run as if that system had loaded it.
#[test]
fn damaged_objects_for_windows_compute_what_their_terms_say() {
    needs!("mingw gcc", "gcc");
    let count = damage::number("RINGFORGE_FLIPS", 1000) as usize;
    let mut random = Random(damage::number("RINGFORGE_FLIP_SEED", 88_172_645_463_325_252));
    let name = format!("ringforge-machine-windows-{}", std::process::id());
    let dir = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&dir).expect("the temporary directory is writable");
    let at = |name: &str| dir.join(name);
    let write = |path: &Path, bytes: &[u8]| std::fs::write(path, bytes).expect("it is writable");
    let outputs = format!("-DOUTPUTS={}", N * CALLS);
    write(&at("loader"), &common::link("gcc", damage::WINDOWS_LOADER, &["-O1", &outputs]));
    let mut permissions = std::fs::metadata(at("loader")).expect("it was written").permissions();
    permissions.set_mode(0o755);
    std::fs::set_permissions(at("loader"), permissions).expect("it is ours");
    let mingw = program("mingw gcc").expect("it is there");
    let driver = compile(mingw, "c", &damage::windows_driver(), &["-O1", "-ffreestanding"]);
    write(&at("driver.o"), &driver);
    // A frame beyond a page, which is probed.
    let source = damage::source().replace("s[64]", "s[4096]");
    let mut good = vec![
        compile(mingw, "c", &source, &["-O1"]),
        compile(mingw, "c", &source, &["-O3", "-mavx2", "-ffunction-sections", "-fdata-sections"]),
    ];
    if let Some(clang) = program("clang") {
        let flags = [&["-O2", "-mavx2"][..], &["-O2", "-ffunction-sections"]];
        good.extend(flags.map(|f| compile(clang, "c", &source, &[f, &[WINDOWS]].concat())));
    }
    let run = |linker: &str, object: &[u8]| {
        write(&at("damaged.o"), object);
        damage::run_windows(linker, &at("damaged.o"), &at("driver.o"), &at("loader"))
    };
    let linkers = [Some("x86_64-w64-mingw32-ld"), program("lld-link")];
    let linkers: Vec<&str> = linkers.into_iter().flatten().collect();
    for object in &good {
        let said = by_terms(object).expect("a good object is lifted");
        for linker in &linkers {
            assert_eq!(run(linker, object), Run::Wrote(said.clone()), "{linker}");
        }
    }
    let anatomies: Vec<Anatomy> = good.iter().map(|o| Anatomy::of_coff(o)).collect();
    let (mut lifted, mut ran, mut wrong) = (0, 0, Vec::new());
    for i in 0..count {
        let which = i % good.len();
        let (bad, what) = anatomies[which].damage(&good[which], &mut random);
        let Some(said) = by_terms(&bad) else { continue };
        lifted += 1;
        let linker = linkers[i / good.len() % linkers.len()];
        match run(linker, &bad) {
            Run::Unlinked => {}
            Run::Wrote(got) if got == said => ran += 1,
            other => {
                let got = if other == Run::Failed { "it fails" } else { "it differs" };
                wrong.push(format!("object {i} (of good object {which}), {linker}: {what}: {got}"));
                if let Some(keep) = std::env::var_os("RINGFORGE_FLIP_KEEP") {
                    write(&Path::new(&keep).join(format!("wrong-{i}.obj")), &bad);
                }
            }
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
    println!("{count} objects, {lifted} lifted, {ran} runs as said, {} not", wrong.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(lifted > count / 20 && ran > lifted / 2, "{lifted} lifted, {ran} ran");
}

#[test]
fn objects_that_are_none() {
    assert!(Object::parse(b"").is_err());
    assert!(Object::parse(b"#include <stdio.h>").is_err());
    let good = assemble("mov rax, [rip+table]\n ret\n.section .rodata\ntable: .quad 5, f");
    assert!(Object::parse(&good).is_ok());
    // Truncations and flipped bytes: an error or a refusal, never a panic.
    for n in 0..good.len() {
        if let Ok(object) = Object::parse(&good[..n]) {
            let _ = lift(&object, &call("f", 4), &mut Graph::new(), &mut |_| true);
        }
    }
    for i in 0..good.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[i] ^= flip;
            if let Ok(object) = Object::parse(&bad) {
                let mut c = call("f", 4);
                c.max_steps = 100;
                let _ = lift(&object, &c, &mut Graph::new(), &mut |_| true);
            }
        }
    }
}
