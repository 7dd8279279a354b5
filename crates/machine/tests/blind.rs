//! Blind graphs: what they refuse, and next to it what they must see through. That all they know is
//! right for every input is tested on random programs, beside the processor.

mod common;
use common::{assemble, call, lift, region};
use ringforge_machine::byte::Byte;
use ringforge_machine::graph::Graph;
use ringforge_machine::{
    ArgSpec, CallSpec, Extent, ExternalFunction, Initial, Left, LiftError, Lifted, Timing,
    Violation,
};

fn run_with(body: &str, call: &CallSpec) -> Result<Lifted, LiftError> {
    lift(&assemble(body), call, &mut Graph::blind())
}

/// out (rdi, 64 bytes), a (rsi), b (rdx): inputs.
fn run(body: &str) -> Result<Lifted, LiftError> {
    run_with(body, &call("f", 32))
}

#[track_caller]
fn fine(body: &str) {
    run(body).unwrap_or_else(|e| panic!("{e}"));
}

#[track_caller]
fn leaks(body: &str, kind: Timing) {
    match run(body) {
        Err(LiftError::Violation(Violation::ConstantTime { kind: k, .. })) => assert_eq!(k, kind),
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_unknowns_are_not_equal() {
    for two in [
        "mov rax, [rsi]\n mov rcx, [rdx]",
        "movzx eax, word ptr [rsi]\n movzx ecx, word ptr [rsi+2]",
    ] {
        for compare in ["xor rax, rcx", "sub rax, rcx", "cmp rax, rcx", "andn rax, rcx, rax"] {
            let logic = compare.starts_with("xor") || compare.starts_with("andn");
            for jump in ["je", "jb", "jl", "jbe", "jg", "js"] {
                // Of bitwise operations the carry is 0.
                if logic && jump == "jb" {
                    continue;
                }
                leaks(&format!("{two}\n {compare}\n {jump} 1f\n nop\n1: ret"), Timing::Branch);
            }
        }
        leaks(
            &format!("{two}\n xor eax, ecx\n movzx eax, al\n mov al, [rsi+rax]\n ret"),
            Timing::Address,
        );
    }
    leaks(
        "vmovdqu ymm0, [rsi]\n vmovdqu ymm1, [rdx]\n vpcmpeqb ymm0, ymm0, ymm1\n vpmovmskb eax, ymm0\n \
         cmp eax, -1\n je 1f\n nop\n1: ret",
        Timing::Branch,
    );
    // One register with itself is another matter.
    fine("mov rax, [rsi]\n xor eax, eax\n je 1f\n nop\n1: ret");
    fine(
        "vmovdqu ymm0, [rsi]\n vpxor ymm0, ymm0, ymm0\n vmovd eax, xmm0\n mov al, [rsi+rax]\n ret",
    );
}

#[test]
fn flags_of_two_instructions_are_not_one_comparison() {
    // Carry of one comparison and zero of another: no less-or-equal of either.
    leaks(
        "mov eax, [rsi]\n mov ecx, [rdx]\n cmp eax, ecx\n dec ecx\n jbe 1f\n nop\n1: ret",
        Timing::Branch,
    );
}

#[test]
fn known_ends_of_registers_stay_known() {
    let start = "mov ecx, [rsi]\n mov cx, 5\n mov edx, ecx\n imul edx, edx, 3\n add edx, ecx\n";
    fine(&format!("{start} movzx eax, dx\n cmp eax, 20\n jne 1f\n mov al, [rsi+rax]\n1: ret"));
    leaks(&format!("{start} mov al, [rsi+rdx]\n ret"), Timing::Address);
    leaks(
        &format!("{start} shr edx, 4\n movzx eax, dx\n mov al, [rsi+rax]\n ret"),
        Timing::Address,
    );
}

/// gcc counts in the low half of the distance of two pointers.
#[test]
fn halves_of_pointers_cancel() {
    let start = "sub rsp, 64\n lea rbx, [rsp+4]\n lea rcx, [rsp+40]\n mov eax, 32\n sub eax, ebx\n";
    let end = "add rsp, 64\n ret";
    let rest = "mov rax, 0\n mov al, [rdi+rax]\n";
    let save = |body: String| format!("push rbx\n {} pop rbx\n ret", body.replace("ret", ""));
    for difference in [
        "lea ebp, [rax+rcx]\n mov edx, ebp",
        "add eax, ecx\n mov edx, eax",
        "sub ecx, ebx\n lea edx, [rcx+32]",
    ] {
        let body = format!(
            "push rbp\n {start} {difference}\n cmp edx, 68\n je 1f\n ud2\n1: add rsp, 64\n pop rbp\n"
        );
        fine(&save(body));
    }
    // Of two regions they do not: either way is a case.
    let two = format!("{start} add eax, esi\n and eax, 15\n je 1f\n {rest} 1: {end}");
    assert!(run(&save(two.replace(end, "add rsp, 64\n"))).unwrap().cases.len() > 1);
}

/// Two buffers that change places: which one is which decides the next address, without a branch.
#[test]
fn bytes_of_two_regions_lie_apart() {
    let swap = "sub rsp, 64\n lea rax, [rsp+8]\n cmp rdi, rax\n mov rcx, rsi\n cmove rcx, rax\n mov al, [rcx]\n \
                add rsp, 64\n ret";
    fine(swap);
    // The end of one may be the start of another: either way is a case, where a branch asks.
    let end = "lea rax, [rsi+64]\n cmp rdi, rax\n je 1f\n nop\n1: ret";
    assert_eq!(run(end).unwrap().cases.len(), 3);
    let unread = run(
        "lea rax, [rsi+64]\n cmp rdi, rax\n mov rcx, rsi\n cmove rcx, rdx\n mov al, [rcx]\n ret",
    );
    assert!(matches!(unread, Err(LiftError::Unsupported { .. })), "{unread:?}");
}

#[test]
fn long_loops_stay_small() {
    let body = "mov eax, 200000\n1: movzx ecx, word ptr [rsi]\n imul ecx, ecx, 12345\n xor cx, [rdx]\n \
                mov [rdi], cx\n dec eax\n jne 1b\n ret";
    let mut graph = Graph::blind();
    let mut call = call("f", 1);
    call.max_steps = 2_000_000;
    let lifted = lift(&assemble(body), &call, &mut graph).unwrap();
    assert!(lifted.stats.instructions > 1_000_000);
    assert!(graph.len() < 1_000_000, "{} terms", graph.len());
}

#[test]
fn aes_and_counts_make_unknowns() {
    let aes = "vmovdqu xmm0, [rsi]\n aesenc xmm0, [rsi+16]\n aeskeygenassist xmm1, xmm0, 1\n vmovd eax, xmm1\n";
    let aligned = |body: &str| {
        let mut call = call("f", 32);
        call.regions[1].align = 16;
        run_with(body, &call)
    };
    assert!(aligned(&format!("{aes} mov [rdi], eax\n ret")).is_ok());
    let leak = aligned(&format!("{aes} test eax, eax\n je 1f\n nop\n1: ret"));
    assert!(matches!(leak, Err(LiftError::Violation(Violation::ConstantTime { .. }))), "{leak:?}");
    // Of undefined bytes it makes undefined ones.
    let open =
        aligned("movd xmm7, eax\n aesenc xmm7, [rsi]\n vmovd eax, xmm7\n mov [rdi], eax\n ret")
            .unwrap();
    assert_eq!(open.cases[0].regions[0].bytes[0], Byte::Undefined);
    // With terms there is nothing to make.
    let seeing = lift(&assemble(&format!("{aes} ret")), &call("f", 32), &mut Graph::new());
    assert!(matches!(seeing, Err(LiftError::Violation(_) | LiftError::Unsupported { .. })));
    leaks("mov eax, [rsi]\n tzcnt eax, eax\n mov al, [rsi+rax]\n ret", Timing::Address);
    leaks("mov ecx, [rsi]\n mov eax, 1\n rol eax, cl\n mov al, [rsi+rax]\n ret", Timing::Address);
}

/// What the caller had in a register that passes nothing may be moved and left behind, and is undefined otherwise.
#[test]
fn what_the_caller_left_is_nobody_s_content() {
    let left = |body: &str| {
        let residue = run(body).unwrap().cases[0].residue.clone();
        let of_rcx = |l: &&Left| l.place.ends_with(" of rcx");
        residue.registers.expect("they are known").iter().filter(of_rcx).count()
    };
    // As clang aligns the stack.
    assert_eq!(left("push rax\n call 1f\n pop rcx\n ret\n1: mov eax, [rsi]\n ret"), 0);
    assert_eq!(left("mov eax, [rsi]\n mov ecx, eax\n ret"), 4);
    // Which of two is left, content decides.
    assert_eq!(left("cmp dword ptr [rsi], 0\n cmove rcx, rax\n ret"), 8);
    assert_eq!(left("mov rcx, rax\n shl rcx, 8\n ret"), 8);
    for body in ["mov [rdi], rax\n ret", "push rax\n pop rcx\n mov [rdi], rcx\n ret"] {
        assert!(run(body).unwrap().cases[0].regions[0].bytes[0].is_undefined(), "{body}");
    }
    for body in ["test rax, rax\n je 1f\n nop\n1: ret", "mov al, [rsi+rax]\n ret"] {
        let found = run(body);
        let undefined = matches!(&found, Err(LiftError::Violation(Violation::Undefined { .. })));
        assert!(undefined, "{body}: {found:?}");
    }
}

#[test]
fn bits_in_memory() {
    fine("mov rax, [rsi]\n push rax\n btc qword ptr [rsp], 63\n pop rax\n ret");
    let by_register = run("push rsi\n mov eax, 3\n btc qword ptr [rsp], rax\n pop rax\n ret");
    assert!(matches!(by_register, Err(LiftError::Unsupported { .. })), "{by_register:?}");
}

#[test]
fn released_branches_go_both_ways() {
    let body = "mov eax, [rsi]\n test eax, eax\n je 1f\n nop\n1: mov word ptr [rdi], 1\n ret";
    let mut call = call("f", 32);
    assert!(run_with(body, &call).is_err());
    call.released_branches = 1;
    let lifted = run_with(body, &call).unwrap();
    assert_eq!(lifted.cases.len(), 2);
    let public = |a: &String| a.contains("condition of the branch at") && a.contains("je");
    assert!(lifted.stats.assumptions.iter().any(public));
    // Counts are those of the longer way, whichever it is.
    assert_eq!(lifted.stats.instructions, 6);
    let taken = "mov eax, [rsi]\n test eax, eax\n je 1f\n mov word ptr [rdi], 1\n ret\n\
                 1: mov word ptr [rdi], 1\n nop\n nop\n ret";
    let lifted = run_with(taken, &call).unwrap();
    assert_eq!((lifted.stats.instructions, lifted.stats.bytes_stored), (7, 2));
    // The way that is taken is looked at.
    let bad = "mov eax, [rsi]\n test eax, eax\n je 1f\n mov [rsi], al\n1: ret";
    let on_the_way = |body: &str| match run_with(body, &call) {
        Err(LiftError::Doubtful(_, violation)) => *violation,
        other => panic!("{other:?}"),
    };
    assert!(matches!(on_the_way(bad), Violation::Memory { .. }));
    // One is released, not two.
    let two = "mov eax, [rsi]\n test eax, eax\n je 1f\n nop\n1: test eax, 2\n je 2f\n nop\n2: ret";
    assert!(matches!(on_the_way(two), Violation::ConstantTime { .. }));
    // And branches only: an address stays an address.
    let address = "mov eax, [rsi]\n mov al, [rsi+rax]\n ret";
    assert!(run_with(address, &call).is_err());
}

#[test]
fn functions_and_data_of_other_objects() {
    let mut call = call("f", 32);
    call.functions.push(ExternalFunction {
        symbol: "hash".into(),
        reads: vec![(1, Extent::Argument(2))],
        writes: vec![(0, Extent::Bytes(32))],
        returns: Some(0),
        ..ExternalFunction::default()
    });
    let body = |length: u32, rest: &str| {
        format!("sub rsp, 8\n mov edx, {length}\n call hash\n add rsp, 8\n {rest}\n ret")
    };
    let done = run_with(&body(64, "test eax, eax\n jne 1f\n1:"), &call).unwrap();
    assert!(matches!(done.cases[0].regions[0].bytes[31], Byte::Node(..)));
    assert_eq!(done.cases[0].regions[0].bytes[32], Byte::Undefined);
    assert!(done.stats.assumptions.iter().any(|a| a.contains("`hash`")));
    let long = run_with(&body(65, ""), &call);
    assert!(matches!(long, Err(LiftError::Violation(Violation::Memory { .. }))), "{long:?}");
    let twice =
        run_with("sub rsp, 8\n xchg rdi, rsi\n mov edx, 1\n call hash\n add rsp, 8\n ret", &call);
    assert!(matches!(twice, Err(LiftError::Violation(Violation::Undefined { .. }))), "{twice:?}");
    call.functions[0].returns = None;
    let unknown = run_with(&body(64, "test eax, eax\n jne 1f\n1:"), &call);
    assert!(matches!(unknown, Err(LiftError::Violation(Violation::ConstantTime { .. }))));

    let data = "mov eax, [rip + table + 4]\n cmp eax, 7\n je 1f\n ud2\n1: ret";
    assert!(run_with(data, &call).is_err());
    call.data.push(("table".into(), call.regions.len()));
    let content = vec![1, 0, 0, 0, 7, 0, 0, 0];
    call.regions.push(region("table", 8, 4, false, Initial::Bytes(content)));
    run_with(data, &call).unwrap();
    let beyond = run_with("mov eax, [rip + table + 5]\n ret", &call);
    assert!(matches!(beyond, Err(LiftError::Violation(Violation::Memory { .. }))), "{beyond:?}");
}

#[test]
fn some_bytes_are_known_and_some_numbers_are_not() {
    let mut call = call("f", 32);
    let mut known = vec![None; 64];
    known[8] = Some(3);
    call.regions[1].initial = Initial::Partly { operand: 0, known };
    let at = |offset: u32| format!("movzx eax, byte ptr [rsi+{offset}]\n mov al, [rsi+rax]\n ret");
    assert!(run_with(&at(8), &call).is_ok());
    assert!(run_with(&at(9), &call).is_err());
    call.args.push(ArgSpec::Input { operand: 7 });
    assert!(run_with("mov [rdi], ecx\n ret", &call).is_ok());
    assert!(run_with("test ecx, ecx\n je 1f\n nop\n1: ret", &call).is_err());
}

/// An address in a register with a number beside it is what `lea` makes of them.
#[test]
fn operands_lie_where_lea_says() {
    // What is written at one of out's bytes, or where the access would have been.
    let place = |body: String| match run(&body) {
        Ok(lifted) => {
            let bytes = &lifted.cases[0].regions[0].bytes;
            Ok(bytes.iter().position(|b| *b == Byte::Const(0x5a)))
        }
        Err(LiftError::Violation(Violation::Memory { offset, .. })) => Err(offset),
        Err(e) => panic!("{e}"),
    };
    let (mut inside, mut outside) = (0, 0);
    for scale in [1, 2, 4, 8] {
        for index in [-3i64, 0, 1, 7, 9, i64::MIN] {
            for displacement in [-64, -1, 0, 5, 63] {
                let operand = format!("[rdi+{scale}*rcx+{displacement}]").replace("+-", "-");
                let start = format!("mov rcx, {index}\n mov al, 0x5a\n");
                let found = place(format!("{start} mov {operand}, al\n ret"));
                let by_lea = place(format!("{start} lea rdx, {operand}\n mov [rdx], al\n ret"));
                assert_eq!(found, by_lea, "{operand}, rcx = {index}");
                let want = index.wrapping_mul(scale).wrapping_add(displacement);
                assert_eq!(found.map_or_else(|at| at, |at| at.expect("written") as i64), want);
                *(if found.is_ok() { &mut inside } else { &mut outside }) += 1;
            }
        }
    }
    assert!(inside > 20 && outside > 20, "{inside} {outside}");
    // The other way round, and with a term for a number: no plain operand.
    fine("mov rcx, rdi\n mov edx, 3\n mov byte ptr [rdx+rcx], 1\n ret");
    leaks("mov rcx, [rsi]\n mov byte ptr [rdi+rcx], 1\n ret", Timing::Address);
    leaks("mov ecx, 0\n mov cl, [rsi]\n mov byte ptr [rdi+8*rcx], 1\n ret", Timing::Address);
}
