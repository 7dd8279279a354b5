//! Exact arithmetic in Z_q\[x\]/(f): the ground truth that everything else is compared with.
//!
//! Slow and obvious on purpose: the product is the schoolbook product, the reduction is long
//! division by f. Nothing here knows of transforms, words or machines.
//!
//! ```
//! use ringforge_ring::Ring;
//!
//! let ring: Ring = "Z4591[x]/(x^761 - x - 1)".parse().unwrap();
//! assert_eq!((ring.q(), ring.degree()), (4591, 761));
//! assert_eq!(ring.to_string(), "Z4591[x]/(x^761 - x - 1)");
//!
//! // x^760 · x = x^761 = x + 1
//! let mut a = vec![0; 761];
//! a[760] = 1;
//! let c = ring.mul(&a, &[0, 1]);
//! assert_eq!((c[0], c[1], c[2]), (1, 1, 0));
//! ```

mod parse;
mod ring;
mod roots;
pub mod zq;

pub use parse::ParseError;
pub use ring::{MAX_DEGREE, MAX_Q, Ring};
pub use roots::MissingRoot;
