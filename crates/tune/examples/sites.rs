//! Prints a cheaper placement for a ring's emitted program: `sites RING LAYERS avx2|portable`.

use ringforge_plan::RingFile;
use ringforge_program::schedule::Schedule;
use ringforge_targets::AVX2;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let plan = RingFile::find(&args[1]).unwrap().default_plan(&AVX2).unwrap();
    let portable = args.iter().any(|a| a == "portable");
    let schedule = if portable { Schedule::portable() } else { Schedule::default() };
    let began = Instant::now();
    let found = ringforge_tune::registers::improve(
        &plan,
        &schedule,
        &AVX2,
        &args[1],
        args[2].parse().unwrap(),
        &mut |_| true,
    );
    println!("{}{:?}", found.unwrap(), began.elapsed());
}
