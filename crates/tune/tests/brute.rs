//! The search against all placements there are, for small transforms: every set of sites in the
//! order of size, with every kind at each, executed by a walk of its own.

use ringforge_tune::*;

/// Whether all words fit, where products have the range of their twiddle for any word.
fn fits(ranges: &mut Ranges, layers: &Layers, input: Interval, sites: &[Site]) -> bool {
    let (n, q, word) = (layers.n, ranges.q, ranges.word());
    let mut x = vec![input; n];
    for layer in 0..=layers.count {
        for s in sites.iter().filter(|s| s.after as usize == layer) {
            x[s.position as usize] = ranges.reduce(s.kind, x[s.position as usize]);
        }
        let Some(&o) = layers.distances.get(layer) else { return true };
        for low in (0..n).filter(|p| p / o % 2 == 0) {
            let (u, t) = (x[low], x[low + o]);
            let w = layers.twiddle(q, layer, low);
            let product = match layers.algorithm {
                // Gentleman–Sande: the hull over the layer, as the space says.
                Algorithm::InverseGentlemanSande => {
                    let all = (0..n).filter(|p| p / o % 2 == 0);
                    all.map(|p| ranges.product(layers.twiddle(q, layer, p), word).unwrap())
                        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
                        .unwrap()
                }
                _ => ranges.product(w, word).unwrap(),
            };
            if layers.algorithm == Algorithm::InverseGentlemanSande {
                let (Some(sum), Some(_)) = (ranges.add(u, t), ranges.sub(u, t, ranges.multiple(t)))
                else {
                    return false;
                };
                (x[low], x[low + o]) = (sum, product);
            } else {
                let (Some(sum), Some(difference)) =
                    (ranges.add(u, product), ranges.sub(u, product, ranges.multiple(product)))
                else {
                    return false;
                };
                (x[low], x[low + o]) = (sum, difference);
            }
        }
    }
    true
}

/// The least number of reductions up to `most`, by trying all sets.
fn least(
    ranges: &mut Ranges,
    layers: &Layers,
    input: Interval,
    kinds: &[Reduction],
    most: usize,
) -> Option<usize> {
    let all: Vec<(u32, u32)> = (0..layers.count as u32)
        .flat_map(|after| (0..layers.n as u32).map(move |p| (after, p)))
        .collect();
    fn choose(
        all: &[(u32, u32)],
        kinds: &[Reduction],
        left: usize,
        taken: &mut Vec<Site>,
        test: &mut dyn FnMut(&[Site]) -> bool,
    ) -> bool {
        if left == 0 {
            return test(taken);
        }
        for (i, &(after, position)) in all.iter().enumerate() {
            for &kind in kinds {
                taken.push(Site { after, position, kind });
                if choose(&all[i + 1..], kinds, left - 1, taken, test) {
                    return true;
                }
                taken.pop();
            }
        }
        false
    }
    (0..=most).find(|&size| {
        choose(&all, kinds, size, &mut Vec::new(), &mut |s| fits(ranges, layers, input, s))
    })
}

fn agree(problem: Problem, kinds: Option<usize>, expected: Option<usize>) {
    let Scope::Transform(algorithm) = problem.scope else { panic!("transforms only") };
    let mut ranges = Ranges::new(problem.q, problem.arithmetic).unwrap();
    let layers = Layers::new(problem.q, problem.n, problem.layers, algorithm).unwrap();
    let found = search(&problem, &mut |_| true).unwrap().reductions() as usize;
    let mut all = ranges.reductions();
    all.truncate(kinds.unwrap_or(all.len()));
    let brute = least(&mut ranges, &layers, problem.input.unwrap(), &all, found);
    assert_eq!(brute, Some(found), "{problem:?}");
    if let Some(expected) = expected {
        assert_eq!(found, expected, "{problem:?}");
    }
}

fn transform(base: Problem, algorithm: Algorithm, top: i64) -> Problem {
    let low =
        if base.arithmetic == (Arithmetic::Unsigned { csub_products: true }) { 0 } else { -top };
    Problem { scope: Scope::Transform(algorithm), input: Some((low, top)), ..base }
}

/// Wide inputs, so that few layers need reductions.
#[test]
fn unsigned_transforms_of_eight_words() {
    use Algorithm::*;
    let mut compared = [0; 4];
    for top in [12288, 20000, 24577, 28000, 33000, 45000] {
        for algorithm in [Forward, InverseCooleyTukey, InverseGentlemanSande] {
            let problem = transform(Problem::unsigned(12289, 8), algorithm, top);
            let found = search(&problem, &mut |_| true).unwrap().reductions() as usize;
            if found <= 3 {
                agree(problem, None, None);
                compared[found] += 1;
            }
        }
    }
    assert!(compared[1] + compared[2] + compared[3] >= 3, "{compared:?}");
}

#[test]
fn unsigned_transforms_of_sixteen_and_thirty_two_words() {
    use Algorithm::*;
    agree(transform(Problem::unsigned(12289, 16), Forward, 16400), None, None);
    agree(transform(Problem::unsigned(12289, 16), Forward, 12288), None, Some(0));
    agree(transform(Problem::unsigned(12289, 32), Forward, 12288), None, Some(2));
    agree(transform(Problem::unsigned(12289, 32), InverseCooleyTukey, 12288), None, Some(2));
    agree(transform(Problem::unsigned(12289, 8), InverseGentlemanSande, 12288), None, Some(1));
}

#[test]
fn signed_transforms() {
    use Algorithm::*;
    let mut compared = [0; 3];
    for (q, top, n) in [(12289, 6144, 8), (12289, 9000, 8), (7681, 20000, 8), (7681, 12000, 8)] {
        for algorithm in [Forward, InverseCooleyTukey, InverseGentlemanSande] {
            let problem = transform(Problem::signed(q, n, 3), algorithm, top);
            let Ok(found) = search(&problem, &mut |_| true) else { continue };
            if found.reductions() <= 2 {
                agree(problem, None, None);
                compared[found.reductions() as usize] += 1;
            }
        }
    }
    assert!(compared[1] + compared[2] >= 3, "{compared:?}");
}
