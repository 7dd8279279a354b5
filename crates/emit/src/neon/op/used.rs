//! Leaves out declarations that no later line uses.

use std::collections::BTreeSet;

/// The names in a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

/// Drops constants that no later line uses: one half of a register, say, whose other half is stored
/// alone.
pub(super) fn all_used(lines: Vec<String>) -> Vec<String> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut kept = Vec::new();
    for line in lines.into_iter().rev() {
        let declared = line.strip_prefix("const ").and_then(|rest| rest.strip_suffix(';'));
        let Some((kind, all)) = declared.and_then(|rest| rest.split_once(' ')) else {
            used.extend(names(&line).map(str::to_owned));
            kept.push(line);
            continue;
        };
        let mut wanted = Vec::new();
        for one in declarations(all).into_iter().rev() {
            let name = names(one).next().unwrap_or("").to_owned();
            if used.contains(&name) {
                used.extend(names(one).map(str::to_owned));
                wanted.push(one);
            }
        }
        wanted.reverse();
        if !wanted.is_empty() {
            kept.push(format!("const {kind} {};", wanted.join(", ")));
        }
    }
    kept.reverse();
    kept
}

/// The parts of `a = f(x, y), b = z`.
fn declarations(all: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in all.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(all[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(all[start..].trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_line_uses_is_not_declared() {
        let lines = [
            "const int16x8_t r0 = vld1q_s16(a), r1 = vld1q_s16(a + 8);",
            "const int16x8_t v0l = f(r0, g(r0, 1)), v0h = f(r1, r1);",
            "int16x8_t k = h(2); OPAQUE(k);",
            "const int16x8_t v1l = f(v0l, k), v1h = f(v0h, k);",
            "FENCE;",
            "vst1_s16(c, vget_low_s16(v1l));",
        ];
        let want = [
            "const int16x8_t r0 = vld1q_s16(a);",
            "const int16x8_t v0l = f(r0, g(r0, 1));",
            lines[2],
            "const int16x8_t v1l = f(v0l, k);",
            lines[4],
            lines[5],
        ];
        assert_eq!(all_used(lines.map(str::to_owned).to_vec()), want);
        assert_eq!(all_used(want.map(str::to_owned).to_vec()), want);
    }
}
