//! How a run ends that something outside ends, and what it says on the way where nobody looks at a terminal.

mod common;

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::Sandbox;

const RING: &str = "Z257[x]/(x^32 + 1)";

/// The tool with signals as a terminal has them: tests that run behind `nohup` inherit ignored ones.
fn ringforge(dir: &Sandbox, temporary: &Sandbox, args: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,TERM", env!("CARGO_BIN_EXE_ringforge")]);
    command.args(args).current_dir(dir.path());
    command.env("TMPDIR", temporary.path()).env("RINGFORGE_WISDOM", "").stdin(Stdio::null());
    command
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
}

/// A compiler that answers as gcc does, and takes `seconds` for an object; it writes that it began. While what it wrote is
/// there, it is as fast as gcc.
fn slow_compiler(place: &Sandbox, seconds: u32) -> (String, std::path::PathBuf) {
    let (path, began) = (place.path().join("slow"), place.path().join("began"));
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *\" -c \"*) [ -e {0} ] || {{ echo > {0}; sleep {seconds}.0625; }};; esac\nexec gcc \"$@\"\n",
        began.display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    (path.display().to_string(), began)
}

/// The running processes of a group: the third word behind the name in `/proc/PID/stat`, the first says `Z` for those
/// that ended and that nobody asked about yet.
fn group(of: u32) -> Vec<String> {
    let stats = std::fs::read_dir("/proc").expect("/proc").flatten();
    let stats = stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let is_of = |stat: &String| {
        let words: Vec<&str> =
            stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        words.first() != Some(&"Z") && words.get(2) == Some(&of.to_string().as_str())
    };
    stats.filter(is_of).collect()
}

fn within(limit: Duration, what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < limit, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_interrupt_leaves_nothing() {
    let (dir, temporary) = (Sandbox::new(), Sandbox::new());
    for patience in [30, 300, 1500, 4000] {
        let mut command = ringforge(&dir, &temporary, &["--quiet", "forge", "sntrup761"]);
        let mut child = command.spawn().expect("ringforge");
        std::thread::sleep(Duration::from_millis(patience));
        signal(&child, "INT");
        let status = child.wait().expect("ringforge ends");
        if status.code() != Some(130) {
            // It was done before the signal came.
            assert!(status.code().is_some_and(|c| c <= 1), "{status}");
            return;
        }
        dir.is_untouched();
        let ours = temporary.names().into_iter().find(|name| name.starts_with("ringforge"));
        assert_eq!(ours, None);
    }
}

/// `kill` and a closed terminal reach one process; the compiler below it must end too.
#[test]
fn a_signal_ends_the_compiler_too() {
    let (dir, temporary, tools) = (Sandbox::new(), Sandbox::new(), Sandbox::new());
    let (slow, began) = slow_compiler(&tools, 600);
    for (name, number) in [("TERM", 15), ("HUP", 1)] {
        let args = ["forge", RING, "--target", "c", "--no-bench", "--cc", &slow];
        // A group of its own: no signal reaches the children but through ringforge.
        let mut child =
            ringforge(&dir, &temporary, &args).process_group(0).spawn().expect("ringforge");
        within(Duration::from_secs(60), "no compilation", || began.exists());
        std::fs::remove_file(&began).unwrap();
        signal(&child, name);
        let status = child.wait().expect("ringforge ends");
        assert_eq!(status.code(), Some(128 + number), "{name}");
        within(Duration::from_secs(5), "a process is left", || group(child.id()).is_empty());
        dir.is_untouched();
        assert_eq!(temporary.names(), Vec::<String>::new());
    }
}

/// What was tried before the end is reported, and nothing that was cut short by it: from the third mutant on the compiler
/// hangs, and Ctrl-C reaches it as well.
#[test]
fn an_interrupted_run_of_mutants_reports_what_it_has() {
    let (dir, temporary, tools) = (Sandbox::new(), Sandbox::new(), Sandbox::new());
    let (path, count) = (tools.path().join("hangs"), tools.path().join("count"));
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *\"/mutant.c \"*) echo >> {0}; [ $(wc -l < {0}) -lt 3 ] || sleep 600;; esac\nexec gcc \"$@\"\n",
        count.display()
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let cc = path.display().to_string();
    let classes = "subtraction-dropped,freeze-dropped,write-outside";
    let args = ["--json", "mutate", RING, "--target", "c", "--cc", &cc, "--class", classes];
    let mut command = ringforge(&dir, &temporary, &args);
    let mut child = command.process_group(0).stdout(Stdio::piped()).spawn().expect("ringforge");
    let compiled = || std::fs::read_to_string(&count).map_or(0, |text| text.lines().count());
    within(Duration::from_secs(120), "no mutants", || compiled() >= 3);
    std::thread::sleep(Duration::from_secs(1));
    let group_id = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-INT", "--", &group_id]).status().unwrap().success());
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let report: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    let total = &report["summary"]["total"];
    let tried = total["tried"].as_u64().unwrap();
    assert!(tried > 0 && report["mutants_chosen"].as_u64() > Some(tried), "{tried} tried");
    assert_eq!((&report["interrupted"], &report["passed"]), (&true.into(), &false.into()));
    assert_eq!((&total["not_compiled"], &total["unsound"]), (&0.into(), &0.into()), "{report:#}");
    // What is left is gcc's own, if it was ended in the middle.
    let ours = temporary.names().into_iter().find(|name| name.starts_with("ringforge"));
    assert_eq!(ours, None);
}

/// `nohup` works by making the signal be ignored.
#[test]
fn an_ignored_hangup_stays_ignored() {
    let (dir, temporary, tools) = (Sandbox::new(), Sandbox::new(), Sandbox::new());
    let (slow, began) = slow_compiler(&tools, 1);
    let mut child = Command::new("nohup")
        .arg(env!("CARGO_BIN_EXE_ringforge"))
        .args(["--quiet", "forge", RING, "--target", "c", "--no-bench", "--cc", &slow])
        .current_dir(dir.path())
        .env("TMPDIR", temporary.path())
        .env("RINGFORGE_WISDOM", "")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nohup");
    within(Duration::from_secs(60), "no compilation", || began.exists());
    signal(&child, "HUP");
    assert!(child.wait().expect("it ends").success());
    assert!(dir.path().join("out").is_dir());
}

#[test]
fn a_full_or_closed_output_is_an_error_and_loses_no_work() {
    let (dir, temporary) = (Sandbox::new(), Sandbox::new());
    let full = || File::options().write(true).open("/dev/full").expect("/dev/full");
    let shown: [&[&str]; 4] =
        [&["list"], &["--help"], &["completions", "zsh"], &["--json", "explain", "sntrup761"]];
    for args in shown {
        let run = ringforge(&dir, &temporary, args).stdout(full()).output().expect("ringforge");
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("error: cannot write to standard output: No space"), "{said}");
    }
    dir.is_untouched();

    let forge = ["forge", RING, "--target", "c", "--no-bench"];
    let run = ringforge(&dir, &temporary, &forge).stdout(full()).output().expect("ringforge");
    assert_eq!(run.status.code(), Some(1));
    assert!(dir.path().join("out/z257_n32/proof.json").is_file(), "the package is whole");

    let mut command = ringforge(&dir, &temporary, &["list"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ringforge");
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert_eq!((child.wait().expect("it ends").code(), said.as_str()), (Some(1), ""));
}

#[test]
fn long_work_says_a_line_now_and_then_where_there_is_no_terminal() {
    let (dir, temporary) = (Sandbox::new(), Sandbox::new());
    let forge = |quiet: &[&str]| {
        let tools = Sandbox::new();
        let (slow, _) = slow_compiler(&tools, 8);
        let args = ["forge", RING, "--target", "c", "--no-bench", "--cc", &slow];
        let run = ringforge(&dir, &temporary, &args).args(quiet).output().expect("ringforge");
        String::from_utf8(run.stderr).expect("text")
    };
    let (said, quiet) = std::thread::scope(|scope| {
        let loud = scope.spawn(|| forge(&[]));
        let quiet = scope.spawn(|| forge(&["--quiet", "--out", "quiet"]));
        (loud.join().expect("a run"), quiet.join().expect("a run"))
    });
    let lines: Vec<&str> = said.lines().filter(|line| line.contains(", 00:00:")).collect();
    assert!((1..=4).contains(&lines.len()), "{said:?}");
    assert!(!said.contains('\u{1b}') && !said.contains('\r'), "no control characters: {said:?}");
    assert_eq!(quiet, "");
}
