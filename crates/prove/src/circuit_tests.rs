//! Random circuits: what is said of their words, against evaluation.

use crate::audit::Audit;
use crate::walk::Walk;
use crate::walk_tests::{Q, QINV, Words};
use crate::witness::Random;
use ringforge_contract::InputRange;
use ringforge_machine::eval::Tape;
use ringforge_machine::graph::{Graph, NodeId, Op};

/// A random circuit of the operations that compiled code uses; `nodes` values.
fn random_circuit(random: &mut Random, nodes: usize) -> (Graph, Vec<NodeId>) {
    let mut w = Words::default();
    let mut words: Vec<NodeId> = (0..3).flat_map(|i| [w.a(i), w.b(i)]).collect();
    let mut wides: Vec<NodeId> = Vec::new();
    for _ in 0..nodes {
        let pick = |r: &mut Random, v: &[NodeId]| v[(r.next() % v.len() as u64) as usize];
        let (x, y) = (pick(random, &words), pick(random, &words));
        let c = w.k([1, -1, 2, 3, 1997, QINV, Q, -16388][(random.next() % 8) as usize]);
        match random.next() % 16 {
            0 | 1 => words.push(w.add(x, y)),
            2 | 3 => words.push(w.sub(x, y)),
            4 => words.push(w.mullo(x, c)),
            5 => words.push(w.mulhi(x, c)),
            6 => words.push(w.montgomery(x, 1997, QINV)),
            7 => words.push(w.barrett(x, 7, 15, Q)),
            8 => {
                let s = w.g.ashr(x, 15);
                words.push(w.g.and(s, c));
            }
            9 => wides.push(w.wide(x, y)),
            10 => {
                let z = w.g.zext(x, 32);
                wides.push(z);
            }
            11 => words.push(w.umin(x, y)),
            12 => {
                let z = w.g.concat(&[x, y]);
                wides.push(z);
            }
            _ if !wides.is_empty() => {
                let (p, r) = (pick(random, &wides), pick(random, &wides));
                match random.next() % 6 {
                    0 => wides.push(w.g.add(p, r)),
                    1 => wides.push(w.g.sub(p, r)),
                    2 => words.push(w.g.slice(p, 16, 16)),
                    3 => words.push(w.g.slice(p, 0, 16)),
                    4 => {
                        let t = w.g.slice(p, 0, 16);
                        let (qinv, q) = (w.k(QINV), w.k(Q));
                        let t = w.mullo(t, qinv);
                        let m = w.wide(t, q);
                        let d = w.g.sub(p, m);
                        words.push(w.g.slice(d, 16, 16));
                    }
                    _ => {
                        let s = random.next() % 20 + 1;
                        wides.push(w.g.ashr(p, s));
                    }
                }
            }
            _ => {}
        }
    }
    words.extend(wides);
    (w.g, words)
}

#[test]
fn forms_agree_with_evaluation_on_random_circuits() {
    let mut random = Random(2026);
    let (mut read, mut understood) = (0, 0);
    for circuit in 0..60 {
        let (graph, roots) = random_circuit(&mut random, 24);
        let range = [(-2295, 2295), (-300, 300), (0, 4590)][circuit % 3];
        let inputs = vec![InputRange { lo: range.0, hi: range.1, signed: true }; 2];
        let mut walk = Walk::new(&graph, Q as u32, inputs);
        walk.keep = true;
        walk.cut.enumeration.max_points = 1 << 17;
        walk.run(&roots, &mut |_, _| true);
        let tape = Tape::new(&graph, &roots).unwrap();
        for round in 0..6 {
            let mut values = [[0i64; 3]; 2];
            for v in values.iter_mut().flatten() {
                let r = random.next();
                *v = if round % 2 == 0 {
                    range.0 + (r % (range.1 - range.0 + 1) as u64) as i64
                } else {
                    [range.0, range.1][(r & 1) as usize]
                };
            }
            let input = |o: u16, i: u32| values[o as usize][i as usize];
            let audit = Audit::new(&mut walk.cut.world, &input).unwrap();
            let bits = tape.values(1, &mut |o, i, out| out[0] = input(o, i) as u64);
            for (node, bits) in tape.nodes().iter().zip(bits) {
                let Some(form) = walk.form(*node).cloned() else { continue };
                read += 1;
                if walk.cut.world.cause_in(&form).is_some() {
                    continue;
                }
                understood += 1;
                let width = u32::from(graph.node(*node).width);
                let value = audit.form(&mut walk.cut.world, &form);
                let mask = (1i128 << width) - 1;
                assert_eq!(
                    value & mask,
                    i128::from(bits) & mask,
                    "circuit {circuit}: node {node:?} {:?}",
                    graph.node(*node)
                );
            }
            // Readings of whole words hold as integers.
            for root in &roots {
                let node = graph.node(*root);
                if node.width != 16 || matches!(node.op, Op::Const(_)) {
                    continue;
                }
                if let Ok(o) = walk.output(*root, 16, true) {
                    let word = tape.run(|op, i| input(op, i) as u64);
                    let at = roots.iter().position(|r| r == root).unwrap();
                    let v = i64::from(word[at] as i16);
                    assert!(o.lo <= v && v <= o.hi, "{v} outside [{}, {}]", o.lo, o.hi);
                    // A variable may have been made just now.
                    let audit = Audit::new(&mut walk.cut.world, &input).unwrap();
                    let residue = audit.residue(&walk.cut.world, &o.residue);
                    assert_eq!((i128::from(v) - residue).rem_euclid(Q.into()), 0);
                }
            }
        }
    }
    assert!(understood * 2 > read, "{understood} of {read} forms understood");
}
