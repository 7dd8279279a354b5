//! The texts of a package that are not source: Makefile and README.

use crate::library::command::Index;
use crate::library::evidence::WARNINGS;
use crate::library::sources::Selection;
use crate::package::VERSION;

/// Its Makefile.
pub fn makefile(selection: &Selection) -> String {
    let stem = selection.prefix.trim_end_matches('_');
    let macros = selection.prefix.to_uppercase();
    format!(
        "\
# make: build/lib{stem}.a; make check: its tests, on everything that is compiled in. CC, CFLAGS, CPPFLAGS as usual.
CC ?= cc
CFLAGS ?= -O3
# Code that is not optimised leaves secrets on the stack: flags without a level, such as -g, get one.
LEVEL := $(if $(filter -O%,$(CFLAGS)),,-O2)
COMPILE = $(CC) {} $(CPPFLAGS) $(LEVEL) $(CFLAGS)
# The tests look inside, and bring their own random bytes.
TESTING = -D{macros}TESTING -D{macros}RANDOM=2
SRC := $(wildcard src/*.c)
OBJ := $(SRC:%.c=build/%.o)
CHECKED := $(SRC:%.c=build/check/%.o)
HELPERS := test/kems.c test/random.c test/nist_rng.c test/sha256.c
HEADERS := $(wildcard *.h src/*.h src/*.inc)

build/lib{stem}.a: $(OBJ)
	rm -f $@
	$(AR) rcs $@ $^

build/%.o: %.c $(HEADERS)
	@mkdir -p $(dir $@)
	$(COMPILE) -c $< -o $@

build/check/%.o: %.c $(HEADERS)
	@mkdir -p $(dir $@)
	$(COMPILE) $(TESTING) -c $< -o $@

build/check/%: test/%.c $(HELPERS) test/test.h $(CHECKED)
	$(COMPILE) $(TESTING) $< $(HELPERS) $(CHECKED) -pthread -o $@

# The same from the one source.
build/check/one: {}kem.c $(HELPERS) test/kat.c $(HEADERS)
	@mkdir -p $(dir $@)
	$(COMPILE) $(TESTING) {}kem.c test/kat.c $(HELPERS) -o $@

check: build/check/kem_test build/check/kat build/check/one
	build/check/kem_test
	sh test/known_answers.sh build/check/kat
	sh test/known_answers.sh build/check/one

# On x86-64: proves operations and multipliers as your flags compile them.
RINGFORGE ?= ringforge
build/all.o: $(OBJ)
	$(CC) -r -nostdlib -o $@ $^

prove: build/all.o
	$(RINGFORGE) prove $< --contracts contracts $(PROVEFLAGS)

# Bytes of code, and of stack by operation.
size: build/lib{stem}.a build/check/stack
	size -t build/lib{stem}.a | tail -n 1
	build/check/stack

clean:
	rm -rf build

.PHONY: check prove size clean
.SECONDARY:
",
        WARNINGS.join(" "),
        selection.prefix,
        selection.prefix,
    )
}

/// Its README.
pub fn readme(selection: &Selection, index: &Index) -> String {
    let (prefix, macros) = (&selection.prefix, selection.prefix.to_uppercase());
    let kems = selection.kems.join(", ");
    let kem = &selection.kems[0];
    let size = kem.to_uppercase();
    let machine = match selection.target {
        1 => "portable C",
        2 => "AVX2, which the processor must have",
        _ => "portable C, and AVX2 where the processor has it, chosen at run time",
    };
    let mut text = format!(
        "# {kems}\n\nC99, no allocation, constant time; {machine}. Made by {VERSION} with\n\n    {}\n\n\
         ```c\n#include \"{prefix}kem.h\"\n\n\
         uint8_t pk[{macros}{size}_PUBLICKEYBYTES], sk[{macros}{size}_SECRETKEYBYTES];\n\
         uint8_t ct[{macros}{size}_CIPHERTEXTBYTES], ours[{macros}{size}_BYTES], theirs[{macros}{size}_BYTES];\n\
         if ({prefix}crypto_kem_{kem}_keypair(pk, sk) != 0 ||\n\
         \x20   {prefix}crypto_kem_{kem}_enc(ct, theirs, pk) != 0 ||\n\
         \x20   {prefix}crypto_kem_{kem}_dec(ours, ct, sk) != 0)\n\
         \x20   return -1; /* no random bytes, or a malformed key */\n```\n\n\
         Take `src/*.c` (`make` makes a library of it, `make check` tests it) or the one source `{prefix}kem.c`; and the\n\
         headers `{prefix}kem.h`, which says what every function does, and `{prefix}config.h`, where hash functions and\n\
         random bytes are chosen: the built-in ones, OpenSSL's, or yours. Every external symbol starts with\n\
         `{prefix}`, the hooks' too.\n\n",
        index.command
    );
    text += "| | keypair | enc | dec |\n|---|---:|---:|---:|\n";
    for kem in &selection.kems {
        let bytes = |operation: &str| {
            let found = index.runs.stack.iter().find(|s| s.kem == *kem && s.operation == operation);
            found.map_or("not measured".into(), |s| s.bytes.to_string())
        };
        text += &format!(
            "| {kem}, bytes of stack | {} | {} | {} |\n",
            bytes("keypair"),
            bytes("enc"),
            bytes("dec")
        );
    }
    text += &format!(
        "\n{} bytes of code by {} {}. ",
        index.code_bytes, index.compiler.version, index.opt
    );
    for kem in &selection.kems {
        let counts = index.runs.answers.iter().filter(|(name, _)| name == kem);
        text += &match counts.map(|(_, count)| count).max() {
            Some(count) => format!("{kem} passed {count} known-answer tests. "),
            None => format!("For {kem} no known answers are published; a round trip succeeded. "),
        };
    }
    text += "\n\n## The multipliers\n\n\
             Proved means: for all inputs in the contract's ranges the machine code computes the product in the ring (or\n\
             the transform that the contract names), stays inside its arrays, and no branch, address or variable-time\n\
             instruction depends on a coefficient. It holds for the object with this hash, compiled as above; for yours\n\
             run the command in the contract.\n\n\
             | function | verdict | contract |\n|---|---|---|\n";
    for one in &index.multipliers {
        let (verdict, contract) = (one.proof.verdict(), &one.contract);
        text += &format!("| `{}` | {verdict} | [{contract}]({contract}) |\n", one.symbol);
    }
    text += "\n[proofs.json](proofs.json) has everything that the prover found.\n";
    text + &format!(
        "\n## Whole operations\n\n\
             `contracts/{kem}.toml` and `contracts/{kem}_keypair.toml` claim that whole operations run in constant time, stay\n\
             in bounds and wipe their stack and registers (`prepare` has no secrets). Making this package did not prove them.\n\
             On x86-64, `make prove` proves them and the multipliers, as your flags compile them.\n\n\
             No contract says that operations compute the KEM: known-answer tests check that.\n\n\
             This package may be used under Apache-2.0, MIT, ISC or CC0, as you like.\n"
    )
}
