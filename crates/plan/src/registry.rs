//! The table of methods: parser, printer and documentation are driven by it.
//!
//! To add a method, write its file and add one line to [`METHODS`] (and `mod` in `lib.rs`); see
//! `docs/developers/add-a-method.md`.

use crate::domain::Domain;
use crate::error::Refusal;
use crate::method::{Build, DftSpec, Method, Methods};
use crate::product::ProductRef;
use crate::sexpr::Form;
use crate::transform::TransformRef;

/// Every method, one line each.
pub static METHODS: &[&Method] = &[
    &crate::lift::METHOD,
    &crate::monomial_crt::METHOD,
    &crate::border::METHOD,
    &crate::change_modulus::METHOD,
    &crate::substitute::METHOD,
    &crate::schoenhage::METHOD,
    &crate::ntt::METHOD,
    &crate::mixed_radix::METHOD,
    &crate::schoolbook::METHOD,
    &crate::plain::METHOD,
    &crate::toeplitz_matrix::METHOD,
    &crate::toeplitz_pair::METHOD,
    &crate::twist::METHOD,
    &crate::truncated::METHOD,
    &crate::binomial_crt::METHOD,
    &crate::good_thomas::METHOD,
    &crate::cooley_tukey::METHOD,
    &crate::rotation::METHOD,
    &crate::rader::METHOD,
    &crate::rotations::METHOD,
    &crate::butterfly::METHOD,
    &crate::time_shift::METHOD,
    &crate::direct::METHOD,
    &crate::weighted_convolution::METHOD,
    &crate::if_square_root::METHOD,
    &crate::two_ntt::METHOD,
    &crate::bruun::METHOD,
    &crate::trinomial::METHOD,
    &crate::nussbaumer::METHOD,
    &crate::karatsuba::METHOD,
    &crate::toeplitz::METHOD,
    &crate::toom_cook::METHOD,
];

/// All methods as a Markdown page, `docs/developers/methods.md`.
pub fn methods_page() -> String {
    let mut page = String::from(
        "# Methods\n\nThis page lists everything that a `.plan` file may contain. It is generated from the registry in\n\
         `crates/plan/src/registry.rs`. `RINGFORGE_BLESS=1 cargo test -p ringforge-plan --test docs` rewrites it.\n\n\
         A file holds one plan:\n\n```\n(plan NAME (cite KEY) (note \"…\") (ring \"Z4591[x]/(x^761 - x - 1)\") (operands big small) PRODUCT)\n```\n\n\
         `cite`, `note` and `operands` may be left out. Operands are `big`, `small` or `(within 5)`, and big if nothing is said. \
         A `;` begins a comment, up to the end of the line.\n",
    );
    let kind = |build: &Build| match build {
        Build::Product(_) => ("Products", "PRODUCT"),
        Build::Points(_) => ("Points", "POINTS"),
        Build::Transform(_) => ("Transforms", "TRANSFORM"),
        Build::Base(_) => ("Small products", "SMALL"),
    };
    let mut kinds: Vec<_> = METHODS.iter().map(|m| kind(&m.build)).collect();
    kinds.dedup(); // METHODS lists kind by kind
    for (title, word) in kinds {
        page += &format!("\n## {title}: where a form says {word}\n\n");
        for method in METHODS.iter().filter(|m| kind(&m.build).0 == title) {
            let Method { usage, summary, citation, .. } = method;
            page += &format!("- `{usage}` {summary} {citation}\n");
        }
    }
    page
}

/// Reads a product of polynomials in `domain`.
pub fn build_product(form: &Form, domain: &Domain) -> Result<ProductRef, Refusal> {
    Methods(METHODS).product(form, domain)
}

/// Reads a transform that meets `spec`.
pub fn build_transform(form: &Form, spec: &DftSpec) -> Result<TransformRef, Refusal> {
    Methods(METHODS).transform(form, spec)
}
