//! The `ringforge` command.
fn main() {}
