//! Graphs with certificates that are accepted, each about a few rules.

use super::{Bench, Q, lines};
use ringforge_kernel::certificate::Line;
use ringforge_machine::graph::Op;

/// A graph and its certificate.
pub struct Known {
    pub name: &'static str,
    pub bench: Bench,
    pub lines: Vec<Line>,
}

/// All cases.
pub fn all() -> Vec<Known> {
    vec![
        conditional_addition(),
        montgomery(),
        barrett(),
        logical_shift(),
        arithmetic_shifts(),
        quotient_as_function(),
        whole(),
        glued(),
        side_by_side(),
        disjoint(),
        sign(),
        sign_of_a_sum(),
        no_wrap(),
        choice(),
        saturation(),
        linear(),
        unsigned(),
        digits(),
        sign_in_a_wider_word(),
        part_of_a_wider_word(),
        halved(),
        low_bits(),
        value(),
        expanded(),
    ]
}

/// The case of this name.
pub fn case(name: &str) -> Known {
    all().into_iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no case {name}"))
}

const CENTRED: (i64, i64, u8) = (-4000, 4000, 16);

/// `x + (q & (x >> 15))`, twice: the second time nothing is added, as a function of x through the
/// name of the first sum.
fn conditional_addition() -> Known {
    let mut b = Bench::new(&[CENTRED]).target(16, true, 0, 4590);
    let (x, q) = (b.input(0), b.constant(16, Q.into()));
    let s = b.node(16, Op::Ashr(15), &[x]);
    let m = b.node(16, Op::And, &[s, q]);
    let y = b.node(16, Op::Add, &[x, m]);
    let s = b.node(16, Op::Ashr(15), &[y]);
    let m = b.node(16, Op::And, &[s, q]);
    let z = b.node(16, Op::Add, &[y, m]);
    let text = "
        input 0 0                                           ; 1
        fun 16 lin 0 1                                      ; 2
        fun 1 floor 15 0                                    ; 3
        fun 16 lin 0 0 1 1                                       ; 4
        fun 16 lin 4591 0                                   ; 5
        fun 16 and 2 3                                      ; 6
        function 0 2                                        ; 7: the sign
        function 0 4                                        ; 8: what is added
        name 0 2 0 1 2 1                                    ; 9
        bound 3 0 4590 by 1 0                               ; 10
        residue 3 4591 by 1 0                               ; 11
        node 2 1 function 0 1 16 0 1 0 1                    ; 12
        node 3 1 function 0 2 16 0 1 1 1 16 4591 0          ; 13
        node 4 0 is 16 0 1 3 1                              ; 14
        node 5 1 function 0 1 16 0 1 3 1 is 16 0 0          ; 15
        output 0 1 extend 0 1 3 1 by 1 0 is 0 1 3 1 by 1 0  ; 16";
    Known { name: "conditional addition", bench: b.outputs(&[z]), lines: lines(text) }
}

/// A product of two words, reduced by Montgomery's method.
fn montgomery() -> Known {
    let mut b = Bench::new(&[CENTRED, CENTRED]).target(16, true, -2539, 2539);
    let (x, y) = (b.input(0), b.input(1));
    let (xw, yw) = (b.node(32, Op::Sext, &[x]), b.node(32, Op::Sext, &[y]));
    let p = b.node(32, Op::Mul, &[xw, yw]);
    let high = b.node(16, Op::Slice { lo: 16 }, &[p]);
    let low = b.node(16, Op::Slice { lo: 0 }, &[p]);
    let inverse = b.constant(16, 15631);
    let t = b.node(16, Op::Mul, &[low, inverse]);
    let tw = b.node(32, Op::Sext, &[t]);
    let q = b.constant(32, Q.into());
    let m = b.node(32, Op::Mul, &[tw, q]);
    let mh = b.node(16, Op::Slice { lo: 16 }, &[m]);
    let r = b.node(16, Op::Sub, &[high, mh]);
    let text = "
        input 0 0                                           ; 1
        input 1 0                                           ; 2
        node 2 1 extend 0 1 0 1 by 1 0                      ; 3
        node 3 1 extend 0 1 1 1 by 1 0                      ; 4
        product 0 1                                         ; 5: P
        node 4 1 product 32 0 1 0 1 32 0 1 1 1              ; 6
        floor 16 0 1 2 1                                    ; 7: floor(P / 2^16)
        node 5 1 quotient -1 0 1 2 1 0 by 1 0               ; 8
        low 16 0 1 2 1                                      ; 9: P mod 2^16
        fun 16 lin 0 15631                                  ; 10
        function 4 0                                        ; 11
        name 0 1 5 1                                        ; 12: t
        node 9 1 extend 0 1 6 1 by 1 0                      ; 13
        floor 16 0 1 6 4591                                 ; 14: floor(q·t / 2^16)
        node 12 1 quotient -1 0 1 6 4591 0 by 1 0           ; 15
        divide 3 0 1 4 1                                    ; 16
        divide 7 0 1 4 1                                    ; 17
        name 0 2 3 1 7 -1                                   ; 18: r
        bound 8 -2539 2539 by 65536 2 fact 0 1 fact 1 -1    ; 19
        residue 8 4591 by 65536 2 fact 0 1 fact 1 -1        ; 20
        node 13 0 is 16 0 1 8 1                             ; 21
        output 0 1 extend 0 1 8 1 by 1 0 is 0 1 8 1 by 1 0  ; 22";
    Known { name: "montgomery", bench: b.outputs(&[r]), lines: lines(text) }
}

/// `x - q·((14·x + 2^15) >> 16)`: a quotient that is a function of x.
fn barrett() -> Known {
    let mut b = Bench::new(&[CENTRED]).target(16, true, -2340, 2340);
    let x = b.input(0);
    let xw = b.node(32, Op::Sext, &[x]);
    let v = b.constant(32, 14);
    let p = b.node(32, Op::Mul, &[xw, v]);
    let half = b.constant(32, 1 << 15);
    let p = b.node(32, Op::Add, &[p, half]);
    let t = b.node(16, Op::Slice { lo: 16 }, &[p]);
    let q = b.constant(16, Q.into());
    let m = b.node(16, Op::Mul, &[t, q]);
    let r = b.node(16, Op::Sub, &[x, m]);
    let text = "
        input 0 0                                           ; 1
        node 1 1 extend 0 1 0 1 by 1 0                      ; 2
        fun 64 lin 16384 7                                  ; 3
        fun 49 floor 15 0                                   ; 4
        function 0 1                                        ; 5
        node 6 1 quotient 0 32768 1 0 14 0 by 1 0           ; 6
        name 0 2 0 1 1 -4591                                ; 7
        bound 2 -2340 2340 by 1 0                           ; 8
        residue 2 4591 by 1 0                               ; 9
        node 9 0 is 16 0 1 2 1                              ; 10
        output 0 1 extend 0 1 2 1 by 1 0 is 0 1 2 1 by 1 0  ; 11";
    Known { name: "barrett", bench: b.outputs(&[r]), lines: lines(text) }
}

/// `((x >> 3) << 3) + (x & 7)` of an unsigned x.
fn logical_shift() -> Known {
    let mut b = Bench::new(&[(0, 1000, 16)]).target(16, true, 0, 1000);
    let x = b.input(0);
    let h = b.node(16, Op::Lshr(3), &[x]);
    let seven = b.constant(16, 7);
    let l = b.node(16, Op::And, &[x, seven]);
    let h = b.node(16, Op::Shl(3), &[h]);
    let y = b.node(16, Op::Add, &[h, l]);
    let text = "
        input 0 0                                           ; 1
        floor 3 0 1 0 1                                     ; 2
        low 3 0 1 0 1                                       ; 3
        node 1 1 quotient -1 0 1 0 1 0 by 1 0               ; 4
        node 3 1 extend 0 1 2 1 by 1 0                      ; 5
        divide 1 0 1 2 1                                    ; 6
        output 0 1 extend 0 2 1 8 2 1 by 1 1 fact 0 1 is 0 2 1 8 2 1 by 1 1 fact 0 1 ; 7";
    Known { name: "logical shift", bench: b.outputs(&[y]), lines: lines(text) }
}

/// The same with a signed x, shifted by 2 and by 3: a quotient of a quotient.
fn arithmetic_shifts() -> Known {
    let mut b = Bench::new(&[(-1000, 1000, 16)]).target(16, true, -1000, 1000);
    let x = b.input(0);
    let h = b.node(16, Op::Ashr(2), &[x]);
    let h = b.node(16, Op::Ashr(3), &[h]);
    let h = b.node(16, Op::Shl(5), &[h]);
    let mask = b.constant(16, 31);
    let l = b.node(16, Op::And, &[x, mask]);
    let y = b.node(16, Op::Add, &[h, l]);
    let text = "
        input 0 0                                           ; 1
        floor 2 0 1 0 1                                     ; 2
        floor 5 0 1 0 1                                     ; 3
        low 5 0 1 0 1                                       ; 4
        node 1 1 quotient -1 0 1 0 1 0 by 1 0               ; 5
        node 2 1 quotient -1 0 1 1 1 0 by 1 0               ; 6
        node 5 1 extend 0 1 3 1 by 1 0                      ; 7
        divide 2 0 1 3 1                                    ; 8
        output 0 1 extend 0 2 2 32 3 1 by 1 1 fact 0 1 is 0 2 2 32 3 1 by 1 1 fact 0 1 ; 9";
    Known { name: "arithmetic shifts", bench: b.outputs(&[y]), lines: lines(text) }
}

/// A quotient of x is a function of x where it is shifted again.
fn quotient_as_function() -> Known {
    let mut b = Bench::new(&[(-1000, 1000, 16), (-1000, 1000, 16)]).target(16, true, -1000, 1000);
    let x = b.input(0);
    let h = b.node(16, Op::Ashr(2), &[x]);
    let z = b.node(16, Op::Ashr(2), &[h]);
    let high = b.node(16, Op::Shl(4), &[z]);
    let mask = b.constant(16, 15);
    let low = b.node(16, Op::And, &[x, mask]);
    let y = b.node(16, Op::Add, &[high, low]);
    let text = "
        input 0 0                                           ; 1
        floor 2 0 1 0 1                                     ; 2
        fun 64 lin 0 1                                      ; 3
        fun 62 floor 2 0                                    ; 4
        fun 16 lin 0 0 1 1                                  ; 5
        fun 14 floor 2 2                                    ; 6
        fun 16 lin 0 0 3 1                                       ; 7
        fun 16 lin 0 1                                      ; 8
        fun 16 lin 15 0                                     ; 9
        fun 16 and 5 6                                      ; 10
        function 0 4                                        ; 11: a sixteenth
        function 0 7                                        ; 12: the four lowest bits
        node 1 1 quotient -1 0 1 0 1 0 by 1 0               ; 13
        node 2 1 function 0 1 16 0 1 1 1                    ; 14
        node 5 1 function 0 2 16 0 1 0 1 16 15 0            ; 15
        output 0 1 extend 0 1 0 1 by 1 0 is 0 1 0 1 by 1 0  ; 16";
    Known { name: "quotient as function", bench: b.outputs(&[y]), lines: lines(text) }
}

/// Two halves of a word, put together again.
fn whole() -> Known {
    let mut b = Bench::new(&[(-32768, 32767, 16)]);
    let x = b.input(0);
    let high = b.node(8, Op::Slice { lo: 8 }, &[x]);
    let low = b.node(8, Op::Slice { lo: 0 }, &[x]);
    let y = b.node(16, Op::Concat, &[low, high]);
    let text = "
        input 0 0                                           ; 1
        node 3 1 whole                                      ; 2
        output 0 1 extend 0 1 0 1 by 1 0 is 0 1 0 1 by 1 0  ; 3";
    Known { name: "whole", bench: b.outputs(&[y]), lines: lines(text) }
}

/// The same as a function of the word.
fn glued() -> Known {
    let mut b = Bench::new(&[CENTRED]);
    let x = b.input(0);
    let high = b.node(8, Op::Slice { lo: 8 }, &[x]);
    let low = b.node(8, Op::Slice { lo: 0 }, &[x]);
    let y = b.node(16, Op::Concat, &[low, high]);
    let text = "
        input 0 0                                           ; 1
        fun 16 lin 0 1                                      ; 2
        fun 8 floor 8 0                                     ; 3
        fun 8 lin 0 1                                       ; 4
        fun 1 floor 7 2                                     ; 5
        fun 16 lin 0 0 1 256 2 1 3 -256                     ; 6
        function 0 1                                        ; 7
        function 0 4                                        ; 8
        node 1 1 function 0 1 16 0 1 0 1                    ; 9
        node 3 1 function 0 2 8 0 1 0 1 8 0 1 1 1           ; 10
        output 0 1 extend 0 1 2 1 by 1 0 is 0 1 2 1 by 1 0  ; 11";
    Known { name: "glued", bench: b.outputs(&[y]), lines: lines(text) }
}

/// An unsigned byte below a signed one.
fn side_by_side() -> Known {
    let mut b = Bench::new(&[(-10, 10, 8), (0, 200, 8)]);
    let (x, y) = (b.input(0), b.input(1));
    let z = b.node(16, Op::Concat, &[y, x]);
    let text = "
        input 0 0                                           ; 1
        input 1 0                                           ; 2
        node 2 1 extend 0 1 1 1 by 1 0                      ; 3
        output 0 1 extend 0 2 0 256 1 1 by 1 0 is 0 2 0 256 1 1 by 1 0 ; 4";
    Known { name: "side by side", bench: b.outputs(&[z]), lines: lines(text) }
}

/// Bytes joined by *or* and by *exclusive or*.
fn disjoint() -> Known {
    let mut b = Bench::new(&[(-100, 100, 8), (0, 100, 8)]);
    let (x, y) = (b.input(0), b.input(1));
    let x = b.node(16, Op::Sext, &[x]);
    let x = b.node(16, Op::Shl(8), &[x]);
    let y = b.node(16, Op::Zext, &[y]);
    let or = b.node(16, Op::Or, &[x, y]);
    let xor = b.node(16, Op::Xor, &[y, x]);
    let text = "
        input 0 0                                           ; 1
        input 1 0                                           ; 2
        node 4 1 extend 0 1 1 1 by 1 0                      ; 3
        node 5 0                                            ; 4
        node 6 1 sign 0 0 1 1 1 by 1 0                      ; 5
        output 0 1 extend 0 2 0 256 1 1 by 1 0 is 0 2 0 256 1 1 by 1 0 ; 6
        output 1 1 extend 0 2 0 256 1 1 by 1 0 is 0 2 0 256 1 1 by 1 0 ; 7";
    Known { name: "disjoint", bench: b.outputs(&[or, xor]), lines: lines(text) }
}

/// `x + (q & (x >> 15))` with the sign as a quotient.
fn sign() -> Known {
    let mut b = Bench::new(&[CENTRED]);
    let x = b.input(0);
    let s = b.node(16, Op::Ashr(15), &[x]);
    let q = b.constant(16, Q.into());
    let m = b.node(16, Op::And, &[s, q]);
    let y = b.node(16, Op::Add, &[x, m]);
    let text = "
        input 0 0                                           ; 1
        floor 15 0 1 0 1                                    ; 2
        node 1 1 quotient -1 0 1 0 1 0 by 1 0               ; 3
        node 3 1 sign 0 0 1 1 1 by 1 0                      ; 4
        output 0 1 extend 0 2 0 1 1 -4591 by 1 0 is 0 2 0 1 1 -4591 by 1 0 ; 5";
    Known { name: "sign", bench: b.outputs(&[y]), lines: lines(text) }
}

/// `x + y + (q & -[x + y < 0])`, the sum read modulo 2^16.
fn sign_of_a_sum() -> Known {
    let mut b = Bench::new(&[(-2000, 2000, 16), (-2000, 2000, 16)]);
    let (x, y) = (b.input(0), b.input(1));
    let sum = b.node(16, Op::Add, &[x, y]);
    let s = b.node(16, Op::Ashr(15), &[sum]);
    let q = b.constant(16, Q.into());
    let m = b.node(16, Op::And, &[s, q]);
    let z = b.node(16, Op::Add, &[sum, m]);
    let text = "
        input 0 0                                           ; 1
        input 1 0                                           ; 2
        floor 16 0 2 0 1 1 1                                ; 3
        node 3 1 negative 0 -1 0 2 0 1 1 1                  ; 4
        node 5 1 sign 0 0 1 2 1 by 1 0                      ; 5
        output 0 1 extend 0 3 0 1 1 1 2 -4591 by 1 0 is 0 3 0 1 1 1 2 -4591 by 1 0 ; 6";
    Known { name: "sign of a sum", bench: b.outputs(&[z]), lines: lines(text) }
}

/// A sum that does not wrap is the signed reading of its remainder modulo 2^16.
fn no_wrap() -> Known {
    let mut b = Bench::new(&[(-5000, 5000, 16), (-5000, 5000, 16)]).target(16, true, -10000, 10000);
    let (x, y) = (b.input(0), b.input(1));
    let z = b.node(16, Op::Add, &[x, y]);
    let text = "
        input 0 0                                           ; 1
        input 1 0                                           ; 2
        low 16 0 2 0 1 1 1                                  ; 3
        fun 16 lin 0 1                                      ; 4
        function 2 0                                        ; 5
        near 16 0 3 0 1 1 1 3 -1 by 1 0                     ; 6
        node 2 0 is 16 0 1 3 1                              ; 7
        bound 3 -10000 10000 by 1 1 fact 0 1                ; 8
        output 0 1 extend 0 1 3 1 by 1 0 is 0 1 3 1 by 1 1 fact 0 1 ; 9";
    Known { name: "no wrap", bench: b.outputs(&[z]), lines: lines(text) }
}

/// `x < 0 ? x + q : x`.
fn choice() -> Known {
    let mut b = Bench::new(&[CENTRED]).target(16, true, 0, 4590);
    let x = b.input(0);
    let zero = b.constant(16, 0);
    let less = b.node(1, Op::Slt, &[x, zero]);
    let q = b.constant(16, Q.into());
    let more = b.node(16, Op::Add, &[x, q]);
    let y = b.node(16, Op::Select, &[less, more, x]);
    let text = "
        input 0 0                                           ; 1
        fun 16 lin 0 1                                      ; 2
        fun 16 lin 0 0                                      ; 3
        fun 1 less 0 1                                       ; 4
        fun 1 lin 0 0 2 -1                                  ; 5
        fun 16 lin 4591 1                                   ; 6
        fun 16 select 3 4 0                                 ; 7
        function 0 2                                        ; 8
        function 0 5                                        ; 9
        node 2 1 function 0 2 16 0 1 0 1 16 0 0             ; 10
        node 5 1 function 0 3 1 0 1 1 -1 16 4591 1 0 1 16 0 1 0 1 ; 11
        output 0 1 extend 0 1 2 1 by 1 0 is 0 1 2 1 by 1 0  ; 12";
    Known { name: "choice", bench: b.outputs(&[y]), lines: lines(text) }
}

/// A saturation that changes nothing.
fn saturation() -> Known {
    let mut b = Bench::new(&[CENTRED]);
    let x = b.input(0);
    let xw = b.node(32, Op::Sext, &[x]);
    let five = b.constant(32, 5);
    let p = b.node(32, Op::Mul, &[xw, five]);
    let y = b.node(16, Op::SatS, &[p]);
    let text = "
        input 0 0                                           ; 1
        node 1 1 extend 0 1 0 1 by 1 0                      ; 2
        node 4 1 extend 0 1 0 5 by 1 0                      ; 3
        output 0 1 extend 0 1 0 5 by 1 0 is 0 1 0 5 by 1 0  ; 4";
    Known { name: "saturation", bench: b.outputs(&[y]), lines: lines(text) }
}

/// `13·x + 1` by operations that need no line.
fn linear() -> Known {
    let mut b = Bench::new(&[(-100, 100, 16)]);
    let x = b.input(0);
    let (ones, top) = (b.constant(16, -1), b.constant(16, 1 << 15));
    let n = b.node(16, Op::Xor, &[x, ones]);
    let n = b.node(16, Op::Xor, &[n, top]);
    let (four, three) = (b.node(16, Op::Shl(2), &[x]), b.constant(16, 3));
    let twelve = b.node(16, Op::Mul, &[four, three]);
    let sum = b.node(16, Op::Sub, &[twelve, n]);
    let sum = b.node(16, Op::Xor, &[top, sum]);
    let yes = b.constant(1, 1);
    let y = b.node(16, Op::Select, &[yes, sum, x]);
    let text = "
        input 0 0                                           ; 1
        output 0 1 extend 1 1 0 13 by 1 0 is 1 1 0 13 by 1 0 ; 2";
    Known { name: "linear", bench: b.outputs(&[y]), lines: lines(text) }
}

/// A byte that is read as unsigned.
fn unsigned() -> Known {
    let mut b = Bench::new(&[(0, 200, 8)]).target(8, false, 0, 200);
    let x = b.input(0);
    let text = "
        input 0 0                                           ; 1
        output 0 1 extend 0 1 0 1 by 1 0 is 0 1 0 1 by 1 0  ; 2";
    Known { name: "unsigned", bench: b.outputs(&[x]), lines: lines(text) }
}

/// `x·y` from its digits modulo 5 and 7: `u1 + 5·u2` with `u1 ≡ x·y` and `u2 ≡ (x·y - u1)/5`.
fn digits() -> Known {
    let mut b = Bench::new(&[(-3, 3, 16), (-3, 3, 16)]).target(16, true, -17, 17);
    let (x, y) = (b.input(0), b.input(1));
    let p = b.node(16, Op::Mul, &[x, y]);
    let c = b.constant(16, 13);
    let v = b.node(16, Op::Mul, &[p, c]);
    let half = b.constant(16, 32);
    let v = b.node(16, Op::Add, &[v, half]);
    let v = b.node(16, Op::Ashr(6), &[v]);
    let five = b.constant(16, 5);
    let v = b.node(16, Op::Mul, &[v, five]);
    let u1 = b.node(16, Op::Sub, &[p, v]);
    let t = b.node(16, Op::Sub, &[p, u1]);
    let c = b.constant(16, 27);
    let v = b.node(16, Op::Mul, &[t, c]);
    let v = b.node(16, Op::Add, &[v, half]);
    let v = b.node(16, Op::Ashr(6), &[v]);
    let three = b.constant(16, 3);
    let w = b.node(16, Op::Mul, &[t, three]);
    let seven = b.constant(16, 7);
    let v = b.node(16, Op::Mul, &[v, seven]);
    let u2 = b.node(16, Op::Sub, &[w, v]);
    let v = b.node(16, Op::Mul, &[u2, five]);
    let z = b.node(16, Op::Add, &[u1, v]);
    let text = "
        input 0 0                                           ; 1
        input 1 0                                           ; 2
        product 0 1                                         ; 3: P
        node 2 1 product 16 0 1 0 1 16 0 1 1 1              ; 4
        fun 64 lin 32 13                                    ; 5
        fun 58 floor 6 0                                    ; 6
        function 2 1                                        ; 7
        node 7 1 quotient 2 32 1 2 13 0 by 1 0              ; 8
        name 0 2 2 1 3 -5                                   ; 9: u1
        bound 4 -2 2 by 1 0                                 ; 10
        residue 4 5 by 1 0                                  ; 11
        node 10 0 is 16 0 1 4 1                             ; 12
        name 0 2 2 1 4 -1                                   ; 13: t
        bound 5 -11 11 by 1 0                               ; 14
        node 11 0 is 16 0 1 5 1                             ; 15
        fun 64 lin 32 27                                    ; 16
        fun 58 floor 6 2                                    ; 17
        function 5 3                                        ; 18
        node 15 1 quotient 5 32 1 5 27 0 by 1 0             ; 19
        name 0 2 5 3 6 -7                                   ; 20: u2
        bound 7 -3 3 by 1 0                                 ; 21
        residue 7 7 by 1 0                                  ; 22
        node 20 0 is 16 0 1 7 1                             ; 23
        name 0 2 4 1 7 5                                    ; 24
        bound 8 -17 17 by 1 0                               ; 25
        modulo 8 5 0 1 2 1 0                                  ; 26
        modulo 8 7 0 1 2 1 0                                  ; 27
        chinese 2 5 7 1 0 1 1 1 8                           ; 28
        node 22 0 is 16 0 1 8 1                             ; 29
        output 0 1 extend 0 1 8 1 by 1 0 is 0 1 8 1 by 1 0  ; 30";
    Known { name: "digits", bench: b.outputs(&[z]), lines: lines(text) }
}

/// A conditional addition by bit 15 of a word of 32 bits, of which the lower half alone is known.
fn sign_in_a_wider_word() -> Known {
    let mut b = Bench::new(&[CENTRED]).target(16, true, 0, 4590);
    let (x, q) = (b.input(0), b.constant(16, Q.into()));
    let wide = b.node(32, Op::Zext, &[x]);
    let bit = b.node(1, Op::Slice { lo: 15 }, &[wide]);
    let s = b.node(16, Op::Sext, &[bit]);
    let m = b.node(16, Op::And, &[s, q]);
    let y = b.node(16, Op::Add, &[x, m]);
    let text = "
        input 0 0                                           ; 1
        fun 16 lin 0 1                                      ; 2
        fun 1 floor 15 0                                    ; 3
        fun 16 lin 0 0 1 1                                       ; 4
        fun 16 lin 4591 0                                   ; 5
        fun 16 and 2 3                                      ; 6
        function 0 1                                        ; 7: the bit
        function 0 2                                        ; 8: the sign
        function 0 4                                        ; 9: what is added
        name 0 2 0 1 3 1                                    ; 10
        bound 4 0 4590 by 1 0                               ; 11
        residue 4 4591 by 1 0                               ; 12
        node 3 1 function 0 1 16 0 1 0 1                    ; 13
        node 4 1 function 0 1 1 0 1 1 -1 is 16 0 1 2 1      ; 14
        node 5 1 function 0 2 16 0 1 2 1 16 4591 0          ; 15
        node 6 0 is 16 0 1 4 1                              ; 16
        output 0 1 extend 0 1 4 1 by 1 0 is 0 1 4 1 by 1 0  ; 17";
    Known { name: "sign in a wider word", bench: b.outputs(&[y]), lines: lines(text) }
}

/// Bits 4 to 15 of a word of 32 bits, spelled as a sum that is the word modulo 2^16 only.
fn part_of_a_wider_word() -> Known {
    let mut b = Bench::new(&[(-2000, 2000, 16)]).target(16, true, -2000, 2000);
    let x = b.input(0);
    let wide = b.node(32, Op::Zext, &[x]);
    let shifted = b.node(32, Op::Shl(4), &[wide]);
    let part = b.node(12, Op::Slice { lo: 4 }, &[shifted]);
    let y = b.node(16, Op::Sext, &[part]);
    let text = "
        input 0 0                                           ; 1
        node 3 1 quotient -1 65536 1 0 16 0 by 1 0          ; 2
        node 4 1 extend 0 1 0 1 by 1 0                      ; 3
        output 0 1 extend 0 1 0 1 by 1 0 is 0 1 0 1 by 1 0  ; 4";
    Known { name: "part of a wider word", bench: b.outputs(&[y]), lines: lines(text) }
}

/// Half of a word that wraps, as an integer: what is left of 65535 under it is a remainder.
fn halved() -> Known {
    let mut b = Bench::new(&[(-32768, 32767, 16)]).target(16, false, 0, 32767).modulo(2048);
    let x = b.input(0);
    let three = b.constant(16, 3);
    let y = b.node(16, Op::Mul, &[x, three]);
    let z = b.node(16, Op::Lshr(1), &[y]);
    let text = "
        input 0 0                                                   ; 1
        low 16 -1 1 0 -3                                            ; 2
        floor 1 1 1 1 -1                                            ; 3
        node 3 1 quotient -1 65535 1 1 -1 0 by 1 0                  ; 4
        output 0 1 extend 32767 1 2 1 by 1 0 is 32767 1 2 1 by 1 0  ; 5";
    Known { name: "halved", bench: b.outputs(&[z]), lines: lines(text) }
}

/// Bits of a quarter of a word of which twelve bits are told.
fn low_bits() -> Known {
    let mut b = Bench::new(&[(-32768, 32767, 16)]).target(8, false, 0, 255).modulo(256);
    let x = b.input(0);
    let three = b.constant(16, 3);
    let y = b.node(16, Op::Mul, &[x, three]);
    let z = b.node(16, Op::Lshr(2), &[y]);
    let w = b.node(8, Op::Slice { lo: 0 }, &[z]);
    let text = "
        input 0 0                                           ; 1
        node 2 0 is 12 0 1 0 3                              ; 2
        floor 2 0 1 0 -1                                    ; 3
        node 3 1 quotient -1 0 1 0 3 0 by 1 0 is 10 0 2 0 1 1 1 ; 4
        low 8 0 2 0 1 1 1                                   ; 5
        output 0 1 extend 0 1 2 1 by 1 0 is 0 1 2 1 by 1 0  ; 6";
    Known { name: "low bits", bench: b.outputs(&[w]), lines: lines(text) }
}

/// A quarter of a word of which twelve bits are told, and the others are its own: twice, and taken away once.
fn value() -> Known {
    let mut b = Bench::new(&[(-32768, 32767, 16)]).target(16, false, 0, 65535).modulo(256);
    let x = b.input(0);
    let three = b.constant(16, 3);
    let y = b.node(16, Op::Mul, &[x, three]);
    let z = b.node(16, Op::Lshr(2), &[y]);
    let two = b.node(16, Op::Add, &[z, z]);
    let one = b.node(16, Op::Sub, &[two, z]);
    let text = "
        input 0 0                                               ; 1
        node 2 0 is 12 0 1 0 3                                  ; 2
        floor 2 0 1 0 -1                                        ; 3
        value 3 16                                              ; 4
        node 3 2 quotient -1 0 1 0 3 0 by 1 0 value 2           ; 5
        node 4 0 is 16 0 1 2 2                                  ; 6
        output 0 1 extend 0 1 2 1 by 1 0 is 0 1 2 1 by 1 0      ; 7";
    Known { name: "value", bench: b.outputs(&[one]), lines: lines(text) }
}

/// `(a + b + 3)·(c + d) + (a - b - 3)·(c - d)`: each product alone passes 32 bits, `2ac + 2bd + 6d` does not.
fn expanded() -> Known {
    const SIDE: (i64, i64, u8) = (-20000, 20000, 32);
    let mut b = Bench::new(&[SIDE; 4]).target(32, true, -1_600_120_000, 1_600_120_000);
    let [x, y, z, w] = [0, 1, 2, 3].map(|i| b.input(i));
    let three = b.constant(32, 3);
    let sum = b.node(32, Op::Add, &[x, y]);
    let left = b.node(32, Op::Add, &[sum, three]);
    let right = b.node(32, Op::Add, &[z, w]);
    let one = b.node(32, Op::Mul, &[left, right]);
    let difference = b.node(32, Op::Sub, &[x, y]);
    let left = b.node(32, Op::Sub, &[difference, three]);
    let right = b.node(32, Op::Sub, &[z, w]);
    let other = b.node(32, Op::Mul, &[left, right]);
    let all = b.node(32, Op::Add, &[one, other]);
    let by = "by 1 8 times 5 name 4 -1 times 0 name 5 -1 times 1 name 5 -1 name 5 -3 times 7 name 6 -1 \
              times 0 name 7 -1 times 1 fact 0 1 fact 0 3";
    let text = format!(
        "
        input 0 0                                           ; 1: a
        input 1 0                                           ; 2: b
        input 2 0                                           ; 3: c
        input 3 0                                           ; 4: d
        name 3 2 0 1 1 1                                    ; 5: a + b + 3
        name 0 2 2 1 3 1                                    ; 6: c + d
        name -3 2 0 1 1 -1                                  ; 7: a - b - 3
        name 0 2 2 1 3 -1                                   ; 8: c - d
        product 4 5                                         ; 9
        product 0 5                                         ; 10
        product 1 5                                         ; 11
        product 0 2                                         ; 12
        product 0 3                                         ; 13
        product 1 2                                         ; 14
        product 1 3                                         ; 15
        product 6 7                                         ; 16
        product 0 7                                         ; 17
        product 1 7                                         ; 18
        near 0 0 3 2 -1 3 1 7 1 by 1 1 name 7 -1            ; 19
        name 0 2 8 1 15 1                                   ; 20
        bound 18 -1600120000 1600120000 {by}                ; 21
        node 8 1 product 32 0 1 4 1 32 0 1 5 1              ; 22
        node 12 1 product 32 0 1 6 1 32 0 1 7 1             ; 23
        output 0 1 extend 0 1 18 1 by 1 0 is 0 1 18 1 by 1 0 ; 24"
    );
    Known { name: "expanded", bench: b.outputs(&[all]), lines: lines(&text) }
}
