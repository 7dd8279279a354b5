//! KEMs of the Rust registry beside those of `lib/`:
//!
//! - `peer-kem agree COUNT [NAME…]` makes COUNT exchanges each way (our key and their ciphertext, their key and ours),
//!   half of them with portable code, and half with AVX2, and stops where two session keys differ,
//!   then ML-KEM from COUNT seeds each, byte by byte;
//! - `peer-kem time [NAME…]` prints one line of JSON for each peer: cycles of its operations, minimum and median.
//!
//! Random bytes are copied from a fixed pool for timings, which costs next to nothing for both sides.

mod seeds;

use pqcrypto_traits::kem::{Ciphertext, PublicKey, SecretKey, SharedSecret};
use rand::rand_core::{Infallible, TryCryptoRng, TryRng};
use std::ffi::{CString, c_void};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

unsafe extern "C" {
    fn ours_find(name: *const std::ffi::c_char) -> i32;
    fn ours_sizes(kem: i32, sizes: *mut usize);
    fn ours_keypair(kem: i32, pk: *mut u8, sk: *mut u8) -> i32;
    fn ours_enc(kem: i32, ct: *mut u8, ss: *mut u8, pk: *const u8) -> i32;
    fn ours_dec(kem: i32, ss: *mut u8, ct: *const u8, sk: *const u8) -> i32;
    fn ours_keypair_derand(kem: i32, pk: *mut u8, sk: *mut u8, coins: *const u8) -> i32;
    fn ours_enc_derand(kem: i32, ct: *mut u8, ss: *mut u8, pk: *const u8, coins: *const u8) -> i32;
    fn ours_portable(portable: i32);
    fn ours_stream();
    fn ours_cycles(function: extern "C" fn(*mut c_void), argument: *mut c_void, out: *mut f64);
    fn ours_random(out: *mut u8, len: usize);
}

/// How often a peer asked the operating system for random bytes, and got those of `ours_random`.
static DRAWS: AtomicUsize = AtomicUsize::new(0);

/// What peers call for random bytes, instead of the C library's.
#[unsafe(no_mangle)]
extern "C" fn getrandom(out: *mut u8, len: usize, _flags: u32) -> isize {
    DRAWS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the caller gives len bytes.
    unsafe { ours_random(out, len) };
    len as isize
}

/// The same, for peers that take a generator.
struct Fast;

impl TryRng for Fast {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        // SAFETY: the slice has its length.
        unsafe { ours_random(out.as_mut_ptr(), out.len()) };
        Ok(())
    }
}

impl TryCryptoRng for Fast {}

type Bytes = Vec<u8>;

/// A KEM of a peer, on bytes. Only `agree` takes these forms; what is timed are typed keys.
struct Peer {
    kem: &'static str,
    name: &'static str,
    keypair: fn() -> (Bytes, Bytes),
    enc: fn(&[u8]) -> (Bytes, Bytes),
    dec: fn(&[u8], &[u8]) -> Bytes,
    time: fn() -> [[f64; 2]; 3],
}

/// Minimum and median of a call, in core cycles.
fn cycles<F: FnMut()>(mut call: F) -> [f64; 2] {
    extern "C" fn trampoline<F: FnMut()>(call: *mut c_void) {
        // SAFETY: `cycles` passes a pointer to an F that nobody else uses.
        unsafe { (*call.cast::<F>())() }
    }
    let mut out = [0.0; 2];
    // SAFETY: as said above; out has two elements.
    unsafe { ours_cycles(trampoline::<F>, (&raw mut call).cast(), out.as_mut_ptr()) };
    out
}

macro_rules! pqcrypto {
    ($of:ident, $name:literal, $($kem:ident)*) => {
        vec![$(Peer {
            kem: stringify!($kem),
            name: $name,
            keypair: || {
                let (pk, sk) = $of::$kem::keypair();
                (pk.as_bytes().into(), sk.as_bytes().into())
            },
            enc: |pk| {
                let pk = $of::$kem::PublicKey::from_bytes(pk).expect("a public key");
                let (ss, ct) = $of::$kem::encapsulate(&pk);
                (ct.as_bytes().into(), ss.as_bytes().into())
            },
            dec: |ct, sk| {
                let ct = $of::$kem::Ciphertext::from_bytes(ct).expect("a ciphertext");
                let sk = $of::$kem::SecretKey::from_bytes(sk).expect("a secret key");
                $of::$kem::decapsulate(&ct, &sk).as_bytes().into()
            },
            time: || {
                let (pk, sk) = $of::$kem::keypair();
                let (_, ct) = $of::$kem::encapsulate(&pk);
                [
                    cycles(|| _ = black_box($of::$kem::keypair())),
                    cycles(|| _ = black_box($of::$kem::encapsulate(&pk))),
                    cycles(|| _ = black_box($of::$kem::decapsulate(&ct, &sk))),
                ]
            },
        }),*]
    };
}

macro_rules! sntrup {
    ($($kem:ident)*) => {
        vec![$(Peer {
            kem: stringify!($kem),
            name: "sntrup 0.4.0",
            keypair: || {
                let (pk, sk) = sntrup::$kem::generate_key(&mut Fast);
                (pk.as_ref().to_vec(), sk.as_ref().to_vec())
            },
            enc: |pk| {
                let pk = sntrup::$kem::EncapsulationKey::try_from(pk).expect("a public key");
                let (ct, ss) = pk.encapsulate(&mut Fast);
                (ct.as_ref().to_vec(), ss.as_ref().to_vec())
            },
            dec: |ct, sk| {
                let ct = sntrup::$kem::Ciphertext::try_from(ct).expect("a ciphertext");
                let sk = sntrup::$kem::DecapsulationKey::try_from(sk).expect("a secret key");
                sk.decapsulate(&ct).as_ref().to_vec()
            },
            time: || {
                let (pk, sk) = sntrup::$kem::generate_key(&mut Fast);
                let (ct, _) = pk.encapsulate(&mut Fast);
                [
                    cycles(|| _ = black_box(sntrup::$kem::generate_key(&mut Fast))),
                    cycles(|| _ = black_box(pk.encapsulate(&mut Fast))),
                    cycles(|| _ = black_box(sk.decapsulate(&ct))),
                ]
            },
        }),*]
    };
}

fn peers() -> Vec<Peer> {
    let mut all = pqcrypto!(pqcrypto_ntruprime, "pqcrypto-ntruprime 0.1.6",
        sntrup653 sntrup761 sntrup857 sntrup953 sntrup1013 sntrup1277
        ntrulpr653 ntrulpr761 ntrulpr857 ntrulpr953 ntrulpr1013 ntrulpr1277);
    all.extend(sntrup!(sntrup653 sntrup761 sntrup857 sntrup953 sntrup1013 sntrup1277));
    all.extend(pqcrypto!(pqcrypto_ntru, "pqcrypto-ntru 0.5.8",
        ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701));
    all.extend(pqcrypto!(pqcrypto_mlkem, "pqcrypto-mlkem 0.1.1", mlkem512 mlkem768 mlkem1024));
    all
}

/// The number of a KEM of ours.
fn find(kem: &str) -> i32 {
    let name = CString::new(kem).expect("a name without zeros");
    // SAFETY: the name ends in a zero.
    let ours = unsafe { ours_find(name.as_ptr()) };
    assert!(ours >= 0, "we have no {kem}");
    ours
}

/// Bytes of a public key, a secret key and a ciphertext.
fn sizes(ours: i32) -> [usize; 3] {
    let mut sizes = [0; 3];
    // SAFETY: three sizes are written.
    unsafe { ours_sizes(ours, sizes.as_mut_ptr()) };
    sizes
}

/// One exchange each way with KEM `ours`.
fn exchange(peer: &Peer, ours: i32) {
    let [mut pk, mut sk, mut ct] = sizes(ours).map(|n| vec![0; n]);
    let mut ss = [0; 32];
    // SAFETY: every buffer here and below has the size that the library says.
    let code = unsafe { ours_keypair(ours, pk.as_mut_ptr(), sk.as_mut_ptr()) };
    assert_eq!(code, 0, "{}: keypair", peer.kem);
    let (their_ct, their_ss) = (peer.enc)(&pk);
    assert_eq!(their_ct.len(), ct.len(), "{}: length of a ciphertext", peer.kem);
    let code = unsafe { ours_dec(ours, ss.as_mut_ptr(), their_ct.as_ptr(), sk.as_ptr()) };
    assert_eq!(
        (code, &ss[..]),
        (0, &their_ss[..]),
        "{} of {}: our key, their ciphertext",
        peer.kem,
        peer.name
    );

    let (their_pk, their_sk) = (peer.keypair)();
    assert_eq!(their_pk.len(), pk.len(), "{}: length of a public key", peer.kem);
    let code = unsafe { ours_enc(ours, ct.as_mut_ptr(), ss.as_mut_ptr(), their_pk.as_ptr()) };
    let their_ss = (peer.dec)(&ct, &their_sk);
    assert_eq!(
        (code, &ss[..]),
        (0, &their_ss[..]),
        "{} of {}: their key, our ciphertext",
        peer.kem,
        peer.name
    );
    // A damaged ciphertext as well, where the peer's secret key has our format.
    ct[0] ^= 1;
    if their_sk.len() == sk.len() {
        let code = unsafe { ours_dec(ours, ss.as_mut_ptr(), ct.as_ptr(), their_sk.as_ptr()) };
        let their_ss = (peer.dec)(&ct, &their_sk);
        assert_eq!(
            (code, &ss[..]),
            (0, &their_ss[..]),
            "{} of {}: a damaged ciphertext",
            peer.kem,
            peer.name
        );
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let usage = || -> ! {
        eprintln!("usage: peer-kem agree COUNT [NAME…] | time [NAME…]");
        std::process::exit(2);
    };
    let (count, names) = match words.split_first() {
        Some((what, rest)) if what == "time" => (None, rest),
        Some((what, rest)) if what == "agree" => match rest.split_first() {
            Some((count, names)) => (Some(count.parse().unwrap_or_else(|_| usage())), names),
            None => usage(),
        },
        _ => usage(),
    };
    if count.is_some() {
        // SAFETY: single-threaded.
        unsafe { ours_stream() };
    }
    for peer in peers() {
        if !names.is_empty() && !names.iter().any(|name| name == peer.kem) {
            continue;
        }
        match count {
            Some(count) => {
                let ours = find(peer.kem);
                for k in 0..count {
                    // SAFETY: single-threaded.
                    unsafe { ours_portable((k % 2) as i32) };
                    exchange(&peer, ours);
                }
                println!("{} and {}: {count} exchanges each way agree", peer.kem, peer.name);
            }
            None => {
                let before = DRAWS.load(Ordering::Relaxed);
                let [keygen, enc, dec] = (peer.time)();
                let drawn =
                    DRAWS.load(Ordering::Relaxed) > before || peer.name.starts_with("sntrup");
                assert!(
                    drawn,
                    "{} draws random bytes in a way that is not replaced here",
                    peer.name
                );
                println!(
                    r#"{{"kem":"{}","name":"{}","keygen":{keygen:.0?},"enc":{enc:.0?},"dec":{dec:.0?}}}"#,
                    peer.kem, peer.name
                );
            }
        }
    }
    if let Some(count) = count {
        type Agree = fn(&str, i32, u64);
        let all: [(&str, Agree); 3] = [
            ("mlkem512", seeds::agree::<ml_kem::MlKem512>),
            ("mlkem768", seeds::agree::<ml_kem::MlKem768>),
            ("mlkem1024", seeds::agree::<ml_kem::MlKem1024>),
        ];
        for (kem, agree) in all {
            if names.is_empty() || names.iter().any(|name| name == kem) {
                agree(kem, find(kem), count);
            }
        }
    }
}
