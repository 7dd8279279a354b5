//! Running machine code on the real processor.
#![allow(unsafe_code)]

use iced_x86::CpuidFeature as C;

/// One page of executable memory.
pub struct Page(*mut u8);

const SIZE: usize = 4096;

impl Page {
    pub fn new() -> Page {
        // SAFETY: a fresh private mapping; no existing memory is touched.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                SIZE,
                libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(at, libc::MAP_FAILED, "no executable memory");
        Page(at.cast())
    }

    /// Places `code`, a function of four pointers, and calls it.
    pub fn call(&mut self, code: &[u8], a: &[u64], memory: &mut [u64], out: &mut [u64], b: &[u64]) {
        assert!(code.len() <= SIZE);
        // SAFETY: the page is ours, writable and large enough; the code was lifted before, which
        // proved that it accesses these four buffers and its own frame only, keeps the
        // callee-saved registers and returns.
        unsafe {
            std::ptr::copy_nonoverlapping(code.as_ptr(), self.0, code.len());
            let f: extern "sysv64" fn(*const u64, *mut u64, *mut u64, *const u64) =
                std::mem::transmute(self.0);
            f(a.as_ptr(), memory.as_mut_ptr(), out.as_mut_ptr(), b.as_ptr());
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, with this size, and not used afterwards.
        unsafe { libc::munmap(self.0.cast(), SIZE) };
    }
}

/// Whether this processor has the feature (those that the whitelist can need).
pub fn available(feature: C) -> bool {
    match feature {
        C::INTEL8086
        | C::INTEL186
        | C::INTEL286
        | C::INTEL386
        | C::INTEL486
        | C::X64
        | C::CMOV
        | C::SSE
        | C::SSE2
        | C::MULTIBYTENOP
        | C::PAUSE
        | C::INTEL8086_ONLY => true,
        C::SSE3 => is_x86_feature_detected!("sse3"),
        C::SSSE3 => is_x86_feature_detected!("ssse3"),
        C::SSE4_1 => is_x86_feature_detected!("sse4.1"),
        C::SSE4_2 => is_x86_feature_detected!("sse4.2"),
        C::AVX => is_x86_feature_detected!("avx"),
        C::AVX512F => is_x86_feature_detected!("avx512f"),
        C::AVX512VL => is_x86_feature_detected!("avx512vl"),
        C::AVX512BW => is_x86_feature_detected!("avx512bw"),
        C::AVX512DQ => is_x86_feature_detected!("avx512dq"),
        C::AVX512CD => is_x86_feature_detected!("avx512cd"),
        C::AVX512_IFMA => is_x86_feature_detected!("avx512ifma"),
        C::AVX512_VBMI => is_x86_feature_detected!("avx512vbmi"),
        C::AVX512_VBMI2 => is_x86_feature_detected!("avx512vbmi2"),
        C::AVX512_VNNI => is_x86_feature_detected!("avx512vnni"),
        C::AVX512_BITALG => is_x86_feature_detected!("avx512bitalg"),
        C::AVX512_VPOPCNTDQ => is_x86_feature_detected!("avx512vpopcntdq"),
        C::GFNI => is_x86_feature_detected!("gfni"),
        C::AVX2 => is_x86_feature_detected!("avx2"),
        C::AVX_VNNI => is_x86_feature_detected!("avxvnni"),
        C::BMI1 => is_x86_feature_detected!("bmi1"),
        C::BMI2 => is_x86_feature_detected!("bmi2"),
        C::LZCNT => is_x86_feature_detected!("lzcnt"),
        C::POPCNT => is_x86_feature_detected!("popcnt"),
        C::CET_IBT => true, // endbr64 is a no-operation elsewhere
        _ => false,
    }
}
