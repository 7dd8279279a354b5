//! Prints the tables of reductions: `tables [signed|cheapest]`.

use ringforge_tune::tables;

fn main() {
    let signed = std::env::args().any(|a| a == "signed");
    let cheapest = std::env::args().any(|a| a == "cheapest");
    let problems = match (signed, cheapest) {
        (true, _) => tables::signed(),
        (_, true) => tables::cheapest(),
        _ => tables::unsigned(),
    };
    let mut rows = Vec::new();
    if !signed && !cheapest {
        rows.extend([512, 1024].map(|n| tables::earlier(n).unwrap()));
    }
    rows.extend(tables::rows(&problems, &mut |_, _| true).unwrap());
    print!("{}", tables::markdown(&rows));
}
