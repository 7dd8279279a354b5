//! Certificates as files: `prove` writes one, `recheck` replays it, and refuses it where it is not that
//! object's, or is damaged.

mod common;

use common::{Run, Sandbox};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{Read, Write};

/// The example of the README in the sandbox: object, contract and certificate.
fn proved(dir: &Sandbox) -> (String, String, String) {
    let contract = dir.file("tiny.toml", include_str!("../docs/examples/tiny.toml"));
    let object = dir.compile("tiny", include_str!("../docs/examples/tiny.c"));
    let certificate = dir.path().join("tiny.gz").display().to_string();
    let run =
        dir.ringforge(&["prove", &object, "--contract", &contract, "--certificate", &certificate]);
    run.succeeds();
    (object, contract, certificate)
}

fn unpacked(path: &str) -> String {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

fn pack(path: &str, text: &str) {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    std::fs::write(path, encoder.finish().unwrap()).unwrap();
}

/// The verdict `refused`, with these words.
fn refused(run: Run, words: &[&str]) {
    assert_eq!(run.status, 1, "{run:?}");
    for word in words.iter().chain([&"is refused: case `disjoint`"]) {
        assert!(run.stdout.contains(word), "{word}: {run:?}");
    }
}

#[test]
fn a_certificate_is_replayed_by_itself() {
    let dir = Sandbox::new();
    let (object, contract, certificate) = proved(&dir);
    let command = ["recheck", &object, "--contract", &contract, "--certificate", &certificate];
    let run = dir.ringforge(&[&["--json"], &command[..]].concat()).succeeds();
    let found = run.json();
    assert_eq!(found["verdict"], "accepted");
    assert_eq!(found["equations"], 100);
    assert!(found["replayed"]["nodes"].as_u64().unwrap() > 100);

    // Of another function, even one that is right modulo q, it says nothing.
    let lazy = format!("#define LAZY 1\n{}", include_str!("../docs/examples/tiny.c"));
    let other = dir.compile("lazy", &lazy);
    let run =
        dir.ringforge(&["recheck", &other, "--contract", &contract, "--certificate", &certificate]);
    refused(run, &[]);
}

#[test]
fn a_damaged_certificate_is_refused() {
    let dir = Sandbox::new();
    let (object, contract, certificate) = proved(&dir);
    let text = unpacked(&certificate);
    let bad = dir.path().join("bad.gz").display().to_string();
    let recheck = |text: &str| {
        pack(&bad, text);
        dir.ringforge(&["recheck", &object, "--contract", &contract, "--certificate", &bad])
    };
    recheck(&text).succeeds();
    // A narrower interval than there is, an output left out, no case at all.
    let bound = text.lines().find(|l| l.starts_with("bound ")).unwrap();
    let words: Vec<&str> = bound.split(' ').collect();
    let narrow = bound.replacen(words[3], "0", 1);
    let at = text.lines().position(|l| l == bound).unwrap() + 1;
    let place = format!("(line {at} of the file)");
    refused(recheck(&text.replacen(bound, &narrow, 1)), &["is found", "is claimed", &place]);
    let output = text.lines().find(|l| l.starts_with("output 3 ")).unwrap();
    let less = text.replacen(&format!("{output}\n"), "", 1);
    refused(recheck(&less), &["nothing is said of output 3"]);
    let run = recheck("ringforge certificate 2\n");
    assert!(run.status == 1 && run.stdout.contains("the certificate has no case `disjoint`"));
    // What is no certificate is bad input.
    recheck("certificate\n").fails(2, &["line 1: `ringforge certificate 2` expected"]);
    recheck(&text.replacen(bound, "lemma 3", 1)).fails(2, &["no line begins with `lemma`"]);
    std::fs::write(&bad, "plain text").unwrap();
    dir.ringforge(&["recheck", &object, "--contract", &contract, "--certificate", &bad])
        .fails(2, &["is not a certificate"]);
}

/// A small file that unpacks to gigabytes, as many short lines or as one: refused in 1 GB.
#[test]
fn a_certificate_does_not_decide_how_much_memory_it_takes() {
    let dir = Sandbox::new();
    let (object, contract, certificate) = proved(&dir);
    let head = unpacked(&certificate).lines().take(2).collect::<Vec<_>>().join("\n");
    for (line, why) in [
        ("input 0 0\n", "a certificate that its file is too small for"),
        ("input 0 0 ", "more than 16777216 bytes"),
    ] {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(format!("{head}\n").as_bytes()).unwrap();
        let many = line.repeat(100_000);
        (0..1000).for_each(|_| encoder.write_all(many.as_bytes()).unwrap());
        let packed = encoder.finish().unwrap();
        assert!(packed.len() < 3 << 20, "{} bytes", packed.len());
        std::fs::write(&certificate, packed).unwrap();
        let limited = format!(
            "ulimit -v 1048576; exec {} recheck {object} --contract {contract} --certificate {certificate}",
            env!("CARGO_BIN_EXE_ringforge")
        );
        let mut shell = std::process::Command::new("sh");
        let done = shell.args(["-c", &limited]).current_dir(dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(2) && said.contains(why), "{:?}: {said}", done.status);
    }
}

/// What takes too long, or too much memory, is neither accepted nor refused.
#[test]
fn limits_end_a_replay() {
    let dir = Sandbox::new();
    let (object, contract, certificate) = proved(&dir);
    // A function that has no pieces, at 2^33 points: some ten seconds.
    let long =
        "input 0 0\nlow 33 0 1 0 1\nfun 64 lin 0 1\nfun 64 mul 0 0\nfun 64 and 0 1\nfunction 1 2\n";
    let text =
        unpacked(&certificate).replacen("case disjoint\n", &format!("case disjoint\n{long}"), 1);
    let slow = dir.path().join("slow.gz").display().to_string();
    pack(&slow, &text);
    let command = ["--json", "recheck", &object, "--contract", &contract, "--certificate", &slow];
    for (limit, reason) in [
        (["--time-limit", "1"], "the time limit of 1 s was reached"),
        (["--memory-limit", "1"], "the memory limit of 1 MB was reached"),
    ] {
        let run = dir.ringforge(&[&command[..], &limit].concat());
        assert_eq!(run.status, 1, "{run:?}");
        let found = run.json();
        assert_eq!((&found["verdict"], &found["reason"]), (&"unknown".into(), &reason.into()));
    }
    // Without a limit that is met the honest certificate is accepted.
    let limits = ["--time-limit", "60", "--memory-limit", "2000"];
    let command = ["recheck", &object, "--contract", &contract, "--certificate", &certificate];
    dir.ringforge(&[&command[..], &limits].concat()).succeeds();
}
