//! Prints what the search finds: `search Q N LAYERS signed|unsigned coefficient|register|layer [ct]`.

use ringforge_tune::*;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize| args[i].parse::<usize>().unwrap();
    let mut problem = match args[4].as_str() {
        "signed" => Problem::signed(number(1) as u64, number(2), number(3)),
        _ => Problem::unsigned(number(1) as u64, number(2)),
    };
    problem.granularity = match args[5].as_str() {
        "layer" => Granularity::Layer,
        "register" => Granularity::Register { lanes: 16 },
        _ => Granularity::Coefficient,
    };
    if args.iter().any(|a| a == "ct") {
        problem.scope = Scope::Product { inverse: Algorithm::InverseCooleyTukey };
    }
    if args.iter().any(|a| a == "operations") {
        problem.objective = Objective::Operations;
    }
    if args.iter().any(|a| a == "lazy") {
        problem.arithmetic = Arithmetic::Unsigned { csub_products: false };
    }
    match search(&problem, &mut |_| true) {
        Ok(found) => println!("{found}"),
        Err(why) => println!("{why}"),
    }
}
