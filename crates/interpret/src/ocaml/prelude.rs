//! The meaning of word operations in OCaml.

use ringforge_program::ir::{Procedure, Program};
use std::collections::BTreeSet;

/// Comment, constants and word operations for a program's registers.
pub(super) fn text(program: &Program) -> String {
    let (name, ring, q) = (&program.name, &program.ring, program.q);
    let mut text = format!(
        "(* {name}: {ring}, q = {q}. Generated, do not edit.\n   \
           Registers are arrays of {} signed words of {} bits. *)\n\n",
        program.lanes(),
        program.word_bits
    );
    let sizes: BTreeSet<u8> = program.procedures.iter().map(|p| p.bits).collect();
    for &bits in &sizes {
        let part = program.registers.part_lanes(bits);
        let lanes = program.registers.lanes(bits);
        let of_size =
            format!("let bits = {bits}\nlet lanes = {lanes}\nlet part = {part}\n{PRELUDE}");
        text += &match sizes.len() {
            1 => of_size,
            _ => format!("module W{bits} = struct\n{of_size}end\n\n"),
        };
    }
    text
}

/// What opens a procedure: the words that it computes in, where a program has words of two sizes.
pub(super) fn opened(program: &Program, procedure: &Procedure) -> Option<String> {
    let mixed = program.procedures.iter().any(|p| p.bits != procedure.bits);
    mixed.then(|| format!("let open W{} in", procedure.bits))
}

const PRELUDE: &str = r#"
(* words *)
let word x = (x lsl (63 - bits)) asr (63 - bits)
let unsigned x = x land ((1 lsl bits) - 1)
let each f a = Array.map (fun x -> word (f x)) a
let both f a b = Array.map2 (fun x y -> word (f x y)) a b
let high k x y =
  Int64.(to_int (shift_right (add (mul (of_int x) (of_int y)) (if k = bits then 0L else shift_left 1L (k - 1))) k))
let add = both ( + )
let sub = both ( - )
let mul_lo = both ( * )
let mul_hi = both (high bits)
let mul_hi_u = both (fun x y -> (unsigned x * unsigned y) lsr bits)
let mul_hrs = both (high (bits - 1))
let greater = both (fun x y -> if x > y then -1 else 0)
let min_unsigned = both (fun x y -> if unsigned x < unsigned y then x else y)
let min_signed = both min
let max_signed = both max
let and_bits = both ( land )
let or_bits = both ( lor )
let xor_bits = both ( lxor )
let shl k = each (fun x -> x lsl k)
let sar k = each (fun x -> x asr k)
let shr k = each (fun x -> unsigned x lsr k)

(* elements of two words, low half first *)
let wide x = let spare = 64 - 2 * bits in Int64.(shift_right (shift_left x spare) spare)
let element a i =
  Int64.(logor (shift_left (of_int a.(2 * i + 1)) bits) (of_int (unsigned a.(2 * i))))
let elements f =
  Array.init lanes (fun i ->
    let x = wide (f (i / 2)) in
    word (Int64.to_int (if i mod 2 = 0 then x else Int64.shift_right x bits)))
let product a b i = Int64.(mul (of_int a.(i)) (of_int b.(i)))
let pair_dot a b = elements (fun i -> Int64.add (product a b (2 * i)) (product a b (2 * i + 1)))
let mul_even a b = elements (fun i -> product a b (2 * i))
let add_wide a b = elements (fun i -> Int64.add (element a i) (element b i))
let sub_wide a b = elements (fun i -> Int64.sub (element a i) (element b i))
let mul_lo_wide a b = elements (fun i -> Int64.mul (element a i) (element b i))
let shl_wide k a = elements (fun i -> Int64.shift_left (element a i) k)
let sar_wide k a = elements (fun i -> Int64.shift_right (element a i) k)
let shr_wide k a =
  let spare = 64 - 2 * bits in
  elements (fun i ->
    Int64.(shift_right_logical (shift_right_logical (shift_left (element a i) spare) spare) k))

(* memory *)
let load x at = Array.sub x at lanes
let load_partial x at count = Array.init lanes (fun i -> if i < count then x.(at + i) else 0)
let load_parts x at = Array.init lanes (fun i -> x.(at.(i / part) + i mod part))
let broadcast x at = Array.make lanes x.(at)
let broadcast_pair x at = Array.init lanes (fun i -> x.(at + i mod 2))
let store x at v = Array.blit v 0 x at lanes
let store_partial x at count v = Array.blit v 0 x at count
let store_strided x at stride v = Array.iteri (fun i w -> x.(at + stride * i) <- w) v
let store_parts x at v = Array.iteri (fun i w -> x.(at.(i / part) + i mod part) <- w) v
let add_sum k x at v =
  let spare = 63 - k in
  x.(at) <- (Array.fold_left ( + ) x.(at) v lsl spare) asr spare
let splat w = Array.make lanes w
let cut k = let spare = 63 - k in Array.map (fun x -> (x lsl spare) asr spare)

(* moves *)
let pick f a = Array.init lanes (fun i -> a.(f i))
let blend mask a b =
  Array.init lanes (fun i -> if (mask lsr (i mod 8)) land 1 = 1 then b.(i) else a.(i))
let permute_parts pattern a = pick (fun i -> i / part * part + pattern.(i mod part)) a
let parts choice a b =
  let all = Array.append a b in
  Array.init lanes (fun i -> all.(choice.(i / part) * part + i mod part))
let interleave unit high a b =
  Array.init lanes (fun i ->
    let at = i mod part in
    let from = i - at + (if high then part / 2 else 0) + at / (2 * unit) * unit + at mod unit in
    if at / unit mod 2 = 0 then a.(from) else b.(from))
let deinterleave unit odd a b =
  Array.init lanes (fun i ->
    let at = i mod part in
    let half = part / 2 in
    let j = at mod half in
    let from = i - at + j / unit * 2 * unit + (if odd then unit else 0) + j mod unit in
    if at < half then a.(from) else b.(from))

"#;
