//! The folding constructors against plain nodes: random terms built both ways must agree on every
//! input, and the identities that normal forms rely on must hold as node identities.

use ringforge_machine::byte::Byte;
use ringforge_machine::eval::Tape;
use ringforge_machine::fold::{byte_of, gather, mask};
use ringforge_machine::graph::{Graph, Node, NodeId, Op};

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % n
    }
}

fn plain(g: &mut Graph, width: u8, op: Op, args: &[NodeId]) -> NodeId {
    g.intern(Node { width, op, args: args.iter().copied().collect() }, None)
}

/// One random operation, folded and plain.
fn step(r: &mut Random, g: &mut Graph, pool: &mut Vec<(NodeId, NodeId)>) {
    let pick =
        |r: &mut Random, pool: &[(NodeId, NodeId)]| pool[r.below(pool.len() as u64) as usize];
    let (a, pa) = pick(r, pool);
    let w = g.width(a);
    // A partner of the same width: another term resized, now and then a constant or itself.
    let (b, pb) = match r.below(6) {
        0 => (a, pa),
        1 => {
            let v = [0, 1, u64::MAX, 0xff, 0xff00, 0x8000, 0xffff_0000, 0x7f][r.below(8) as usize];
            let c = g.constant(w, v);
            (c, plain(g, w, Op::Const(v & mask(w)), &[]))
        }
        _ => {
            let (b, pb) = pick(r, pool);
            let v = g.width(b);
            if v > w {
                let lo = r.below(u64::from(v - w) + 1) as u8;
                (g.slice(b, lo, w), plain(g, w, Op::Slice { lo }, &[pb]))
            } else if v < w && r.below(2) == 0 {
                (g.sext(b, w), plain(g, w, Op::Sext, &[pb]))
            } else if v < w {
                (g.zext(b, w), plain(g, w, Op::Zext, &[pb]))
            } else {
                (b, pb)
            }
        }
    };
    let amount = r.below(u64::from(w)) as u8;
    let by = if r.below(2) == 0 { amount / 8 * 8 } else { amount };
    let new = match r.below(20) {
        0 => (g.add(a, b), plain(g, w, Op::Add, &[pa, pb])),
        1 => (g.sub(a, b), plain(g, w, Op::Sub, &[pa, pb])),
        2 => (g.mul(a, b), plain(g, w, Op::Mul, &[pa, pb])),
        3 => (g.and(a, b), plain(g, w, Op::And, &[pa, pb])),
        4 => (g.or(a, b), plain(g, w, Op::Or, &[pa, pb])),
        5 => (g.xor(a, b), plain(g, w, Op::Xor, &[pa, pb])),
        6 => (g.shl(a, by.into()), plain(g, w, Op::Shl(by), &[pa])),
        7 => (g.lshr(a, by.into()), plain(g, w, Op::Lshr(by), &[pa])),
        8 => (g.ashr(a, by.into()), plain(g, w, Op::Ashr(by), &[pa])),
        9 => (g.eq(a, b), plain(g, 1, Op::Eq, &[pa, pb])),
        10 => (g.ult(a, b), plain(g, 1, Op::Ult, &[pa, pb])),
        11 => (g.slt(a, b), plain(g, 1, Op::Slt, &[pa, pb])),
        12 => {
            let bit = r.below(u64::from(w)) as u8;
            let c = g.slice(a, bit, 1);
            let pc = plain(g, 1, Op::Slice { lo: bit }, &[pa]);
            (g.select(c, a, b), plain(g, w, Op::Select, &[pc, pa, pb]))
        }
        13 | 14 => {
            let width = 1 + r.below(u64::from(w)) as u8;
            let lo = r.below(u64::from(w - width) + 1) as u8;
            (g.slice(a, lo, width), plain(g, width, Op::Slice { lo }, &[pa]))
        }
        15 | 16 if 2 * w <= 64 => (g.concat(&[a, b]), plain(g, 2 * w, Op::Concat, &[pa, pb])),
        17 if w <= 32 => {
            let to = 2 * w;
            if r.below(2) == 0 {
                (g.sext(a, to), plain(g, to, Op::Sext, &[pa]))
            } else {
                (g.zext(a, to), plain(g, to, Op::Zext, &[pa]))
            }
        }
        18 if w >= 2 => (g.sat_s(a, w / 2), plain(g, w / 2, Op::SatS, &[pa])),
        19 if w >= 2 => (g.sat_u(a, w / 2), plain(g, w / 2, Op::SatU, &[pa])),
        _ => return,
    };
    assert_eq!(g.width(new.0), g.width(new.1));
    pool.push(new);
}

#[test]
fn folded_terms_equal_plain_ones() {
    let mut r = Random(88_172_645_463_325_252);
    let mut terms = 0;
    for _ in 0..1500 {
        let mut g = Graph::new();
        let mut pool: Vec<(NodeId, NodeId)> = Vec::new();
        for (index, width) in [8, 16, 16, 32, 64].into_iter().enumerate() {
            let node = g.input(width, 0, index as u32);
            pool.push((node, node));
        }
        for _ in 0..40 {
            step(&mut r, &mut g, &mut pool);
        }
        let (folded, unfolded): (Vec<_>, Vec<_>) = pool.iter().copied().unzip();
        let (x, y) = (
            Tape::new(&g, &folded).expect("no address"),
            Tape::new(&g, &unfolded).expect("no address"),
        );
        let corner = [0u64, 1, u64::MAX, 1 << 63, 0x7fff_7fff_7fff_7fff, 0x8000_8000_8000_8000];
        for _ in 0..12 {
            let values: Vec<u64> = (0..5)
                .map(|_| {
                    let k = r.below(9) as usize;
                    corner.get(k).copied().unwrap_or_else(|| r.below(u64::MAX))
                })
                .collect();
            let a = x.run(|_, i| values[i as usize]);
            let b = y.run(|_, i| values[i as usize]);
            for (k, (a, b)) in a.iter().zip(&b).enumerate() {
                assert_eq!(a, b, "{:?} is not {:?}", g.node(folded[k]), g.node(unfolded[k]));
            }
            terms += a.len();
        }
    }
    assert!(terms > 300_000, "{terms}");
}

#[test]
fn bytes_come_back_as_the_node() {
    let mut g = Graph::new();
    let x = g.input(16, 0, 0);
    let y = g.input(32, 0, 1);
    let nodes =
        [x, y, g.sext(x, 32), g.zext(x, 64), g.slice(y, 16, 16), g.mul(y, y), g.concat(&[x, y])];
    for id in nodes {
        let bytes: Vec<Byte> = (0..g.width(id) / 8).map(|k| byte_of(&g, id, k)).collect();
        assert_eq!(gather(&mut g, &bytes), Some(id), "{:?}", g.node(id));
    }
    let torn = [byte_of(&g, x, 0), Byte::Undefined];
    assert_eq!(gather(&mut g, &torn), None);
}

#[test]
fn ways_to_write_one_thing() {
    let mut g = Graph::new();
    let (x, y) = (g.input(16, 0, 0), g.input(16, 0, 1));
    let wide = g.sext(x, 32);
    // Sign extension by shifts, by an interleaved sign word, by an interleaved comparison.
    let doubled = g.concat(&[x, x]);
    assert_eq!(g.ashr(doubled, 16), wide);
    let zext = g.zext(x, 32);
    let up = g.shl(zext, 16);
    assert_eq!(g.ashr(up, 16), wide);
    let sign = g.ashr(x, 15);
    assert_eq!(g.concat(&[x, sign]), wide);
    let zero = g.constant(16, 0);
    let negative = g.slt(x, zero);
    let spread = g.sext(negative, 16);
    assert_eq!(spread, sign);
    // The halves of a product, packed together again.
    let other = g.sext(y, 32);
    let product = g.mul(wide, other);
    let (low, high) = (g.slice(product, 0, 16), g.slice(product, 16, 16));
    assert_eq!(g.concat(&[low, high]), product);
    // Zero above is an extension, whichever way it came.
    assert_eq!(g.concat(&[x, zero]), zext);
    let ffff = g.constant(32, 0xffff);
    assert_eq!(g.and(wide, ffff), zext);
    let packed = g.or(zext, up);
    assert_eq!(packed, doubled);
    assert_eq!(g.xor(x, x), zero);
    assert_eq!(g.sub(x, x), zero);
    assert_eq!(g.mul(wide, other), g.mul(other, wide));
}

#[test]
fn shared_parts_cancel_and_absorb() {
    let mut g = Graph::new();
    let [x, y, z, m]: [NodeId; 4] = std::array::from_fn(|i| g.input(16, 0, i as u32));
    // Exclusive ors cancel wherever the parts stand: `ungood` of PQClean's sntrup761.
    let (xy, xm) = (g.xor(x, y), g.xor(x, m));
    assert_eq!(g.xor(xm, m), x);
    assert_eq!(g.xor(xy, y), x);
    assert_eq!(g.xor(xy, xm), g.xor(y, m));
    let all = g.xor(xy, z);
    let without = g.xor(all, x);
    assert_eq!(g.xor(without, y), z);
    assert_eq!(g.xor(all, xy), z);
    assert_eq!(g.xor(all, all), g.constant(16, 0));
    // A part that is no part of the other stays.
    assert_ne!(g.xor(xy, z), xy);
    // Absorption.
    let (and, or) = (g.and(x, y), g.or(x, y));
    assert_eq!(g.and(x, or), x);
    assert_eq!(g.or(and, x), x);
    assert_eq!(g.and(and, y), and);
    assert_eq!(g.or(y, or), or);
    assert_ne!(g.and(or, z), z);
    // Parts of one value: by constants that are no whole bytes, and by a mask and its complement.
    let (c, d) = (g.constant(16, 0x0ff3), g.constant(16, 0xf00d));
    let (low, high) = (g.and(x, c), g.and(x, d));
    let (joined, odd) = (g.constant(16, 0xffff), g.constant(16, 0xfffe));
    assert_eq!(g.or(low, high), g.and(x, joined));
    assert_eq!(g.xor(low, high), g.and(x, odd));
    let n = g.not(m);
    let (with, without) = (g.and(x, m), g.and(n, x));
    assert_eq!(g.or(with, without), x);
    assert_eq!(g.xor(with, without), x);
    let other = g.and(y, n);
    assert_ne!(g.or(with, other), x);
    let narrow = g.and(low, d);
    let both = g.constant(16, 0x0001);
    assert_eq!(narrow, g.and(x, both));
}

#[test]
fn chains_of_bitwise_operations_keep_their_value() {
    // Few parts and many operations, so that the same part meets itself often.
    let mut r = Random(2_463_534_242);
    for _ in 0..3000 {
        let mut g = Graph::new();
        let mut pool: Vec<(NodeId, NodeId)> = Vec::new();
        for index in 0..3 {
            let node = g.input(16, 0, index);
            pool.push((node, node));
        }
        for _ in 0..24 {
            let (a, pa) = pool[r.below(pool.len() as u64) as usize];
            let (b, pb) = match r.below(4) {
                0 => {
                    let v = r.below(1 << 16);
                    (g.constant(16, v), plain(&mut g, 16, Op::Const(v), &[]))
                }
                1 => {
                    let (b, pb) = pool[r.below(pool.len() as u64) as usize];
                    let ones = plain(&mut g, 16, Op::Const(0xffff), &[]);
                    (g.not(b), plain(&mut g, 16, Op::Xor, &[pb, ones]))
                }
                _ => pool[r.below(pool.len() as u64) as usize],
            };
            pool.push(match r.below(4) {
                0 => (g.and(a, b), plain(&mut g, 16, Op::And, &[pa, pb])),
                1 => (g.or(a, b), plain(&mut g, 16, Op::Or, &[pa, pb])),
                _ => (g.xor(a, b), plain(&mut g, 16, Op::Xor, &[pa, pb])),
            });
        }
        let (folded, unfolded): (Vec<_>, Vec<_>) = pool.iter().copied().unzip();
        let x = Tape::new(&g, &folded).expect("no address");
        let y = Tape::new(&g, &unfolded).expect("no address");
        for _ in 0..4 {
            let values: [u64; 3] = std::array::from_fn(|_| r.below(1 << 16));
            assert_eq!(x.run(|_, i| values[i as usize]), y.run(|_, i| values[i as usize]));
        }
    }
}

#[test]
fn saturation_and_rounding_at_the_corner() {
    // -2^15 · -2^15: pmulhrsw gives -2^15, unlike its Arm cousin, and packs saturate.
    let mut g = Graph::new();
    let x = g.input(16, 0, 0);
    let wide = g.sext(x, 32);
    let square = g.mul(wide, wide);
    let half = g.constant(32, 0x4000);
    let rounded = g.add(square, half);
    let high = g.slice(rounded, 15, 16);
    let packed = g.sat_s(square, 16);
    let unsigned = g.sat_u(wide, 8);
    let tape = Tape::new(&g, &[high, packed, unsigned]).expect("no address");
    assert_eq!(tape.run(|_, _| 0x8000), [0x8000, 0x7fff, 0]);
    assert_eq!(tape.run(|_, _| 0x0100), [2, 0x7fff, 0xff]);
}

/// Compilers move short words into registers that held pointers, add such registers with all their bits, and
/// use the low ones.
#[test]
fn low_bits_of_sums_beside_pointers_depend_on_no_address() {
    let mut g = Graph::new();
    let words: Vec<NodeId> = (0..3).map(|i| g.input(16, 0, i)).collect();
    let held: Vec<NodeId> = words
        .iter()
        .enumerate()
        .map(|(region, &word)| {
            let pointer = g.address(region as u16, 8);
            let above = g.slice(pointer, 16, 48);
            g.concat(&[word, above])
        })
        .collect();
    let sum = g.add(held[0], held[1]);
    let register = g.slice(sum, 0, 32);
    let other = g.slice(held[2], 0, 32);
    let difference = g.sub(register, other);
    assert!(g.has_address(difference), "its upper half does depend on them");
    let low = g.slice(difference, 0, 16);
    assert!(!g.has_address(low));
    let tape = Tape::new(&g, &[low]).expect("no address");
    let value = tape.run(|_, i| [7, 5000, 3][i as usize]);
    assert_eq!(value[0] & 0xffff, 7 + 5000 - 3);
    // One bit more is an address's.
    let more = g.slice(difference, 0, 17);
    assert!(g.has_address(more));
}

/// ~P = -1 - P: the complement of a pointer and a pointer into the same region add up to a number.
#[test]
fn complements_of_pointers_are_distances() {
    let mut g = Graph::new();
    let width = g.address_width();
    for bits in [width, 32] {
        let low = |g: &mut Graph, region: u16, offset: i64| {
            let pointer = g.address(region, offset);
            g.slice(pointer, 0, bits)
        };
        let (p, q, other) = (low(&mut g, 0, 24), low(&mut g, 0, 100), low(&mut g, 1, 100));
        let complement = g.not(p);
        let (sum, swapped) = (g.add(complement, q), g.add(q, complement));
        assert_eq!([g.value(sum), g.value(swapped)], [Some(75); 2]);
        assert_eq!(g.not(complement), p);
        let back = g.add(complement, p);
        assert_eq!(g.value(back), Some(u64::MAX >> (64 - bits)));
        // Other bits flipped, and pointers into other regions, say nothing.
        let ones = g.constant(bits, u64::MAX >> (65 - bits));
        let most = g.xor(p, ones);
        for sum in [g.add(most, q), g.add(complement, other)] {
            assert!(g.value(sum).is_none() && g.has_address(sum));
        }
    }
}

/// A bit of a pointer is a condition, and its complement the negated one.
#[test]
fn complements_of_a_pointer_s_bit_are_negations() {
    let mut g = Graph::new();
    let pointer = g.address(0, 24);
    let bit = g.slice(pointer, 0, 1);
    let not = g.not(bit);
    let (x, y) = (g.input(16, 0, 0), g.input(16, 0, 1));
    assert_eq!(g.not(not), bit);
    assert_eq!(g.select(not, x, y), g.select(bit, y, x));
}

/// Sums of multiples of pointers in which all cancel are numbers, and those in which one is left are that one. gcc steps
/// through an array as `(6 - P) + 2·(P + i)`.
#[test]
fn multiples_of_pointers_cancel() {
    let mut g = Graph::new();
    let width = g.address_width();
    let (p, moved, q, r) = (g.address(0, 0), g.address(0, 10), g.address(1, 3), g.address(2, 0));
    let six = g.constant(width, 6);
    let rest = g.sub(six, p);
    let twice = g.shl(moved, 1);
    let one = g.add(rest, twice);
    assert_eq!(g.address_of(one), Some((0, 26)));
    let from = g.sub(one, moved);
    assert_eq!(g.value(from), Some(16));
    let step = g.sub(q, p);
    let other = g.add(step, moved);
    assert_eq!(g.address_of(other), Some((1, 13)));
    let double = g.add(step, step);
    let doubled = g.add(double, twice);
    let twice_q = g.shl(q, 1);
    let none = g.sub(doubled, twice_q);
    assert_eq!(g.value(none), Some(20));
    // Two are left, or one twice, or what is added is no number.
    let x = g.input(width, 0, 0);
    let data = g.add(rest, x);
    for sum in [g.add(step, r), g.add(rest, twice_q), doubled, g.add(data, moved)] {
        assert!(g.address_of(sum).is_none() && g.value(sum).is_none() && g.has_address(sum));
    }
}

/// Constants and addresses are remembered at places that their values tell, and many share one.
#[test]
fn leaves_are_one_node_however_often_they_are_asked_for() {
    let (mut r, mut g) = (Random(77), Graph::new());
    let mut all: Vec<(u8, Option<u16>, u64, NodeId)> = Vec::new();
    for _ in 0..20_000 {
        let value = r.below(u64::MAX) >> r.below(64);
        let (width, region) = match r.below(2) {
            0 => (1 + r.below(64) as u8, None),
            _ => (64, Some(r.below(5) as u16)),
        };
        let value = if region.is_none() { value & mask(width) } else { value };
        let id = match region {
            None => g.constant(width, value),
            Some(region) => g.address(region, value as i64),
        };
        all.push((width, region, value, id));
        let (width, region, value, id) = all[r.below(all.len() as u64) as usize];
        let op = match region {
            None => Op::Const(value),
            Some(region) => Op::Address { region, offset: value as i64 },
        };
        let again = match region {
            None => g.constant(width, value),
            Some(region) => g.address(region, value as i64),
        };
        assert_eq!((again, plain(&mut g, width, op.clone(), &[])), (id, id));
        assert_eq!((g.width(id), &g.node(id).op), (width, &op));
    }
}

/// Both ways to halve a sum of words that do not hold it are slices of the sum, and nothing that is nearly one of them.
#[test]
fn halves_of_sums_are_slices() {
    type Build<'a> = &'a mut dyn FnMut(&mut Graph, u8, Op, &[NodeId]) -> NodeId;
    let shape = |g: &mut Graph, build: Build, first: bool, (by, other, mask, turned): _| {
        let [x, y, z] = [0, 1, 2].map(|i| g.input(4, 0, i));
        let both = build(g, 4, Op::And, &[if other { z } else { x }, y]);
        let (p, q) = if first {
            let one = build(g, 4, Op::Xor, &[y, x]);
            (both, build(g, 4, Op::Lshr(by), &[one]))
        } else {
            let halves = [build(g, 4, Op::Lshr(1), &[x]), build(g, 4, Op::Lshr(by), &[y])];
            let mask = g.constant(4, mask);
            (build(g, 4, Op::Add, &halves), build(g, 4, Op::And, &[both, mask]))
        };
        build(g, 4, Op::Add, &if turned { [q, p] } else { [p, q] })
    };
    for (first, turned) in [(false, false), (false, true), (true, false), (true, true)] {
        for (by, other, mask) in [(1, false, 1), (2, false, 1), (1, true, 1), (1, false, 3)] {
            let mut g = Graph::new();
            let how = (by, other, mask, turned);
            let folded = &mut |g: &mut Graph, w, op, args: &[NodeId]| g.rebuild(w, op, args);
            let folded = shape(&mut g, folded, first, how);
            let raw = &mut |g: &mut Graph, w, op, args: &[NodeId]| plain(g, w, op, args);
            let raw = shape(&mut g, raw, first, how);
            let right = by == 1 && !other && (first || mask == 1);
            assert_eq!(matches!(g.node(folded).op, Op::Slice { lo: 1 }), right, "{first} {how:?}");
            let tape = Tape::new(&g, &[folded, raw]).expect("no address");
            for x in 0..1u64 << 12 {
                let found = tape.run(|_, i| x >> (4 * i) & 15);
                assert_eq!(found[0], found[1], "{first} {how:?} {x}");
            }
        }
    }
}
