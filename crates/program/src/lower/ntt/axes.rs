//! Indices by their digits: which elements differ in what, and where they lie.

/// Indices that differ in one digit: `radix` of them, `distance` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// From one index to the next.
    pub distance: usize,
    /// How many there are.
    pub radix: usize,
}

impl Axis {
    /// Neighbours: `radix` indices from 0.
    pub fn neighbours(radix: usize) -> Axis {
        Axis { distance: 1, radix }
    }
}

/// How many indices differ in these digits alone.
pub fn count(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.radix).product()
}

/// The index with the digits of `number`, the first axis running fastest.
pub fn spread(axes: &[Axis], mut number: usize) -> usize {
    let digit = |axis: &Axis| {
        let digit = number % axis.radix;
        number /= axis.radix;
        digit * axis.distance
    };
    axes.iter().map(digit).sum()
}

/// The same axes, the shortest distance first.
pub fn ascending(mut axes: Vec<Axis>) -> Vec<Axis> {
    axes.sort_unstable_by_key(|axis| axis.distance);
    axes
}

/// Where each index lies in an array in which the first axis runs fastest; together the axes reach
/// every index once.
pub fn layout(axes: &[Axis]) -> Vec<usize> {
    let mut map = vec![0; count(axes)];
    (0..map.len()).for_each(|place| map[spread(axes, place)] = place);
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_permutations() {
        let axis = |distance, radix| Axis { distance, radix };
        let axes = [axis(6, 2), axis(1, 2), axis(2, 3)];
        let map = layout(&axes);
        assert_eq!(map, [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]);
        assert_eq!(layout(&ascending(axes.to_vec())), (0..12).collect::<Vec<usize>>());
    }
}
