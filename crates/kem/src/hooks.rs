//! What the C library calls: random bytes, and hash functions if those of Rust are asked for. The C side promises
//! (ringforge_kem.h, "hooks") that its pointers are valid for the lengths beside them and that `out` overlaps no `in`.
#![allow(unsafe_code)] // C calls these by name, with pointers

/// Random bytes for batches of keys; everything else draws from the caller's generator.
///
/// # Safety
/// `out` is valid for writes of `len` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn ringforge_rs_randombytes(out: *mut u8, len: usize) -> i32 {
    #[cfg(feature = "getrandom")]
    {
        // SAFETY: the caller's promise; the C library passes arrays of its own stack.
        let out = unsafe { core::slice::from_raw_parts_mut(out, len) };
        i32::from(getrandom::fill(out).is_err())
    }
    #[cfg(not(feature = "getrandom"))]
    {
        let _ = (out, len);
        1
    }
}

#[cfg(feature = "rustcrypto-hashes")]
mod hashes {
    use sha2::Digest;
    use shake::{ExtendableOutput, Update, XofReader};

    /// # Safety
    /// `p` is valid for reads of `len` bytes, or `len` is 0.
    unsafe fn input<'a>(p: *const u8, len: usize) -> &'a [u8] {
        // SAFETY: the caller's promise; of no bytes C may pass no pointer.
        if len == 0 { &[] } else { unsafe { core::slice::from_raw_parts(p, len) } }
    }

    macro_rules! hash {
        ($name:ident, $hash:ty, $bytes:literal) => {
            /// # Safety
            /// `input` is valid for reads of `len` bytes, `out` for writes of the digest's.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(out: *mut u8, bytes: *const u8, len: usize) -> i32 {
                // SAFETY: the caller's promise.
                let digest = <$hash>::digest(unsafe { input(bytes, len) });
                // SAFETY: the same; the digest is this crate's own and overlaps nothing.
                unsafe { core::ptr::copy_nonoverlapping(digest.as_ptr(), out, $bytes) };
                0
            }
        };
    }
    hash!(ringforge_rs_sha512, sha2::Sha512, 64);
    hash!(ringforge_rs_sha3_256, sha3::Sha3_256, 32);
    hash!(ringforge_rs_sha3_512, sha3::Sha3_512, 64);

    macro_rules! shake {
        ($name:ident, $hash:ty) => {
            /// # Safety
            /// `input` is valid for reads of `len` bytes, `out` for writes of `out_len`.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(
                out: *mut u8,
                out_len: usize,
                bytes: *const u8,
                len: usize,
            ) -> i32 {
                let mut hash = <$hash>::default();
                // SAFETY: the caller's promise.
                hash.update(unsafe { input(bytes, len) });
                // SAFETY: the same.
                let out = unsafe { core::slice::from_raw_parts_mut(out, out_len) };
                hash.finalize_xof().read(out);
                0
            }
        };
    }
    shake!(ringforge_rs_shake128, shake::Shake128);
    shake!(ringforge_rs_shake256, shake::Shake256);
}
