//! Programs that this process started, and what they started.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Ends every program that runs below this process: compilers, emulators, timed drivers. For a handler of
/// signals, before [`remove_unfinished`](crate::remove_unfinished): a signal to one process, as `kill` and
/// service managers send it, does not reach them.
pub fn stop_children() {
    // A parent first, so that it starts nothing in the place of its child.
    for pid in descendants(std::process::id()) {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            // One that ended by itself meanwhile is what we want.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// The processes below `root`, each after its parent; none where there is no `/proc`.
fn descendants(root: u32) -> Vec<u32> {
    let processes: Vec<(u32, u32)> = fs::read_dir("/proc").map_or_else(
        |_| Vec::new(),
        |entries| {
            let names = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
            names.filter_map(|pid: u32| Some((pid, parent(pid)?))).collect()
        },
    );
    let mut found = vec![root];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        found.extend(processes.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}

/// The parent of a process: the second word behind its name, which is in parentheses and may hold any character.
fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_child_and_its_child_are_found_in_this_order() {
        let mut shell = Command::new("sh").args(["-c", "sleep 60; :"]).spawn().unwrap();
        let mut below = Vec::new();
        for _ in 0..100 {
            below = descendants(shell.id());
            if !below.is_empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let all = descendants(std::process::id());
        let place = |pid: u32| all.iter().position(|p| *p == pid);
        assert_eq!(below.len(), 1, "sh started sleep");
        assert!(place(shell.id()) < place(below[0]) && place(shell.id()).is_some());
        let _ = Command::new("kill").arg(below[0].to_string()).status();
        shell.wait().unwrap();
    }
}
