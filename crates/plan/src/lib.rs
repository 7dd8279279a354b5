//! Decompositions of polynomial products as data. A plan is a tree of ring maps: it is read from
//! and printed as text, runs exactly, and is walked by the code that lowers it to a program.
//!
//! ```
//! use ringforge_plan::Plan;
//!
//! let plan = Plan::parse(r#"
//!     (plan tiny                           ; products mod x^7 - x - 1 through x^15 - 1
//!       (ring "Z31[x]/(x^7 - x - 1)")
//!       (lift 13
//!         (substitute 3
//!           (rader 5 unscaled)
//!           (weighted-convolution (toeplitz)))))
//! "#).unwrap();
//! let (a, b) = ([1, 2, 3, 4, 5, 6, 7], [0, 0, 0, 0, 0, 0, 1]);
//! assert_eq!(plan.multiply(&a, &b), plan.ring.mul(&a, &b));
//! ```

mod arith;
mod automatic;
mod base;
mod binomial_crt;
mod blocks;
mod border;
mod bruun;
mod butterfly;
mod candidates;
mod catalog;
mod change_modulus;
mod convolution;
mod cooley_tukey;
mod cost;
mod direct;
mod domain;
mod error;
mod good_thomas;
mod grid;
mod halves;
mod if_square_root;
mod karatsuba;
mod levels;
mod lift;
mod method;
mod mixed_radix;
mod monomial_crt;
mod network;
mod ntt;
mod nussbaumer;
mod operand;
mod plain;
mod plan;
mod primes;
mod product;
mod rader;
mod reduce_mod;
mod registry;
mod rotation;
mod rotations;
mod schoenhage;
mod schoolbook;
mod sexpr;
mod shapes;
mod smooth;
mod split;
mod stages;
mod steps;
mod stepwise;
mod substitute;
#[cfg(test)]
mod testing;
mod time_shift;
mod toeplitz;
mod toeplitz_matrix;
mod toeplitz_pair;
mod toom_cook;
mod toom_five;
mod transform;
mod tree;
mod trinomial;
mod truncated;
mod twist;
mod two_ntt;
mod unit;
mod weighted_convolution;

pub use arith::{Arith, Exact, Val, rotated};
pub use automatic::NoPlan;
pub use base::{Base, BaseRef, BaseSpec, Shape, SmallModulus, weighted_diagonals};
pub use binomial_crt::BinomialCrt;
pub use blocks::Blocks;
pub use border::Border;
pub use bruun::Bruun;
pub use butterfly::Butterfly;
pub use candidates::{Candidate, DEGREES, LARGEST_MODULUS, candidates};
pub use catalog::{CatalogError, RingFile};
pub use change_modulus::ChangeModulus;
pub use cooley_tukey::CooleyTukey;
pub use cost::{Model, Words};
pub use direct::Direct;
pub use domain::{Domain, Modulus, word_bits};
pub use error::{PlanError, Refusal};
pub use good_thomas::GoodThomas;
pub use grid::Grid;
pub use halves::Halves;
pub use if_square_root::IfSquareRoot;
pub use karatsuba::Karatsuba;
pub use levels::{Ground, Levels, Split as LevelSplit};
pub use lift::Lift;
pub use method::{Arguments, Build, DftSpec, Method, Methods, PointsSpec};
pub use mixed_radix::MixedRadix;
pub use monomial_crt::MonomialCrt;
pub use network::{Cost, NetOp, Network};
pub use ntt::{Butterflies, Ntt};
pub use nussbaumer::Nussbaumer;
pub use operand::Operand;
pub use plain::Plain;
pub use plan::Plan;
pub use product::{Product, ProductRef};
pub use rader::{Doubling, Rader};
pub use reduce_mod::ReduceMod;
pub use registry::{METHODS, build_product, build_transform, methods_page};
pub use rotation::Rotation;
pub use rotations::Rotations;
pub use schoenhage::Schoenhage;
pub use schoolbook::Schoolbook;
pub use sexpr::{Form, FormKind};
pub use split::{ChunkOp, Part, Split};
pub use stages::{Inside, Stages};
pub use steps::{Group, Step};
pub use substitute::Substitute;
pub use time_shift::TimeShift;
pub use toeplitz::Toeplitz;
pub use toeplitz_matrix::ToeplitzMatrix;
pub use toeplitz_pair::ToeplitzPair;
pub use toom_cook::{ToomCook, odd_inverse};
pub use transform::{Axes, Transform, TransformRef};
pub use tree::TreeNode;
pub use trinomial::Trinomial;
pub use truncated::Truncated;
pub use twist::Twist;
pub use two_ntt::TwoNtt;
pub use unit::Unit;
pub use weighted_convolution::{WeightedConvolution, resolved};
