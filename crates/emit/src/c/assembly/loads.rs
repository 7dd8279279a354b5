//! Brings loads together in finished code: a load right behind another takes one cycle, elsewhere
//! two.

use super::line::{Line, Tail};

/// Whether a store may write what a load reads. Through one pointer, only the same place can meet.
fn meet(store: (&str, i64), load: (&str, i64)) -> bool {
    match (store.0 == load.0, store.0 == "sp" || load.0 == "sp") {
        (true, _) => store.1 == load.1,
        (false, stack) => !stack,
    }
}

/// Moves each load up to the load before it. No line in between may use its register, and no store
/// in between may be to its word. Nothing is stored to places from the pointer `constant`.
pub fn together(all: &mut [Line], constant: &str) {
    for at in 1..all.len() {
        if !all[at].is_load() || all[at - 1].is_load() {
            continue;
        }
        let (to, place) = (all[at].first(), all[at].place());
        let place = place.filter(|(pointer, _)| *pointer != constant);
        let mut goal = None;
        for before in (0..at).rev() {
            let line = &all[before];
            if line.is_load() {
                goal = (!line.names(to)).then_some(before + 1);
                break;
            }
            let stored = line.place().filter(|_| line.is_store());
            let met = stored.zip(place).is_some_and(|(stored, place)| meet(stored, place));
            if line.names(to) || met {
                break;
            }
        }
        if let Some(goal) = goal {
            all[goal..=at].rotate_right(1);
        }
    }
}

/// Makes the last access through each of these pointers move it by so many bytes, if the access is
/// right where the pointer points. Returns the pointers for which it does.
pub fn moving(code: &mut [Line], pointers: &[(&'static str, i64)]) -> Vec<&'static str> {
    let mut moved = Vec::new();
    for (pointer, by) in pointers {
        let from = |line: &&mut Line| line.place().is_some_and(|(own, _)| own == *pointer);
        let last = code.iter_mut().rev().find(from);
        if let Some(line) = last
            && line.place() == Some((*pointer, 0))
            && (1..256).contains(by)
        {
            line.tail = Tail::Place(pointer, 0, *by);
            moved.push(*pointer);
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &'static str, to: &'static str, a: &'static str) -> Line {
        Line::of(name, [to, a, "r5"], Tail::None)
    }

    fn moved(code: &[Line]) -> Vec<Line> {
        let mut code = code.to_vec();
        together(&mut code, "r1");
        code
    }

    #[test]
    fn loads_move_where_nothing_is_in_the_way() {
        let [first, second] = [Line::load("r3", ("r0", 0)), Line::load("r6", ("r0", 4))];
        let code = |between| [first, between, second];
        let stays = |code: [Line; 3]| assert!(moved(&code) == code, "{}", code[1]);
        let moves = |code: [Line; 3]| {
            assert!(moved(&code) == [code[0], code[2], code[1]], "{}", code[1]);
        };
        moves(code(line("add", "r4", "r3")));
        stays(code(line("add", "r6", "r3")));
        stays(code(line("add", "r3", "r6")));
        stays(code(Line::store("r4", ("r0", 4))));
        stays(code(Line::store("r4", ("r2", 0))));
        moves(code(Line::store("r4", ("r0", 8))));
        moves(code(Line::store("r4", ("sp", 4))));
        let other = |load| [first, Line::store("r4", ("r2", 0)), load];
        moves(other(Line::load("r6", ("r1", 4))));
        moves(other(Line::of("ldr", ["r6"], Tail::Word(70000))));
        stays([first, Line::store("r4", ("sp", 4)), Line::load("r6", ("sp", 4))]);
        // The register of the load before it is its own.
        stays([Line::load("r6", ("r0", 0)), line("add", "r4", "r3"), second]);
    }

    #[test]
    fn the_last_access_moves_its_pointer() {
        let last = Line::store("r3", ("r0", 0));
        let mut code = [Line::load("r3", ("r0", 0)), Line::load("r4", ("r1", 4)), last];
        assert_eq!(moving(&mut code, &[("r0", 16), ("r1", 8)]), ["r0"]);
        assert_eq!(
            code.map(|line| line.to_string()),
            ["ldr r3, [r0]", "ldr r4, [r1, #4]", "str r3, [r0], #16"]
        );
        assert!(
            moving(&mut [last], &[("r0", 256)]).is_empty(),
            "more than an instruction has room for"
        );
    }
}
