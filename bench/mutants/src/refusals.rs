//! Each `if` that leaves with an error, none or false, made never to be taken: the side conditions of a program that
//! refuses. `cargo mutants` turns comparisons around, and leaves no condition out.

use crate::list::{Function, Genre, Mutant, Place, Span};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::Path;
use syn::spanned::Spanned;
use syn::visit::Visit;

/// The refusals of the files that have mutants.
///
/// # Errors
/// A source that is no Rust.
pub fn refusals(root: &Path, mutants: &[Mutant]) -> Result<Vec<Mutant>> {
    let files: BTreeSet<&str> = mutants.iter().map(|m| m.file.as_str()).collect();
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(root.join(file)).with_context(|| file.to_string())?;
        let parsed = syn::parse_file(&text).with_context(|| file.to_string())?;
        let mut finder = Finder { file, all: Vec::new(), of: Vec::new() };
        finder.visit_file(&parsed);
        all.extend(finder.all);
    }
    Ok(all)
}

struct Finder<'a> {
    file: &'a str,
    all: Vec<Mutant>,
    /// The type and the function that this is in.
    of: Vec<String>,
}

/// Whether a block ends with a refusal.
fn refuses(block: &syn::Block) -> bool {
    let Some(syn::Stmt::Expr(syn::Expr::Return(value), _)) = block.stmts.last() else {
        return false;
    };
    let Some(value) = &value.expr else { return false };
    match &**value {
        syn::Expr::Call(call) => {
            let none = call.args.first().is_some_and(|a| is(a, "None"));
            is(&call.func, "Err") || is(&call.func, "Ok") && none
        }
        syn::Expr::Lit(l) => matches!(&l.lit, syn::Lit::Bool(b) if !b.value),
        value => is(value, "None"),
    }
}

fn is(e: &syn::Expr, name: &str) -> bool {
    matches!(e, syn::Expr::Path(p) if p.path.is_ident(name))
}

fn tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| match &a.meta {
        syn::Meta::List(l) => l.path.is_ident("cfg") && l.tokens.to_string() == "test",
        _ => false,
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, m: &'ast syn::ItemMod) {
        if !tests(&m.attrs) {
            syn::visit::visit_item_mod(self, m);
        }
    }

    fn visit_item_impl(&mut self, i: &'ast syn::ItemImpl) {
        let name = match &*i.self_ty {
            syn::Type::Path(p) => p.path.segments.last().map(|s| s.ident.to_string()),
            _ => None,
        };
        self.of.push(name.unwrap_or_default());
        syn::visit::visit_item_impl(self, i);
        self.of.pop();
    }

    fn visit_impl_item_fn(&mut self, f: &'ast syn::ImplItemFn) {
        self.of.push(f.sig.ident.to_string());
        syn::visit::visit_impl_item_fn(self, f);
        self.of.pop();
    }

    fn visit_item_fn(&mut self, f: &'ast syn::ItemFn) {
        self.of.push(f.sig.ident.to_string());
        syn::visit::visit_item_fn(self, f);
        self.of.pop();
    }

    fn visit_expr_if(&mut self, e: &'ast syn::ExprIf) {
        if e.else_branch.is_none() && refuses(&e.then_branch) {
            let at = |p: proc_macro2::LineColumn| Place { line: p.line, column: p.column + 1 };
            let span = e.cond.span();
            self.all.push(Mutant {
                file: self.file.to_string(),
                function: Some(Function {
                    function_name: self.of.join("::"),
                    return_type: String::new(),
                }),
                genre: Genre::Refusal,
                replacement: "false".to_string(),
                span: Span { start: at(span.start()), end: at(span.end()) },
            });
        }
        syn::visit::visit_expr_if(self, e);
    }
}
