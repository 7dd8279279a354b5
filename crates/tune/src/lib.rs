//! The search over where reductions stand and which kind, on exact ranges, with a certificate.
