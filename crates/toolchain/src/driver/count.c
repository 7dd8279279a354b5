/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A plugin for qemu's user emulators, interface version 1: counts how often each instruction of a called
 * function is executed, from the hint before the call to the hint behind it (driver.rs). At the end
 * it writes a line "word count address word address" for each pair of instructions of which one was executed directly
 * after the other, the later one first, and a line "unaligned count" of accesses, to the file named by out=.
 *
 * What it uses of the interface is declared here: emulators come without its header. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define BEGIN 0xd503261fu       /* hint #48 */
#define END 0xd503263fu         /* hint #49 */
#define THUMB_BEGIN 0x8030f3afu /* the same of Thumb, as it lies in memory */
#define THUMB_END 0x8031f3afu

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t id;

extern void qemu_plugin_register_vcpu_tb_trans_cb(id, void (*)(id, struct qemu_plugin_tb *));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *,
                                                   void (*)(unsigned, void *), int, void *);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *,
                                             void (*)(unsigned, uint32_t, uint64_t, void *), int,
                                             int, void *);
extern unsigned qemu_plugin_mem_size_shift(uint32_t);
extern void qemu_plugin_register_atexit_cb(id, void (*)(id, void *), void *);

API int qemu_plugin_version = 1;
API int qemu_plugin_install(id, const void *, int, char **);

struct seen {
    uint32_t word;
    uint64_t address;
    struct before *before;
    struct seen *next;
};

/* How often one instruction came directly before another. */
struct before {
    const struct seen *seen;
    uint64_t count;
    struct before *next;
};

static struct seen *all;
static const struct seen *last;
static int counting;
static unsigned long long unaligned;
static char out[4096];

static void executed(unsigned cpu, void *data) {
    struct seen *seen = data;
    struct before *before = seen->before;
    (void)cpu;
    if (seen->word == BEGIN || seen->word == THUMB_BEGIN) counting = 1;
    else if (seen->word == END || seen->word == THUMB_END) counting = 0;
    else if (counting) {
        while (before && before->seen != last) before = before->next;
        if (!before) {
            before = calloc(1, sizeof *before);
            if (!before) abort();
            before->seen = last;
            before->next = seen->before;
            seen->before = before;
        }
        before->count++;
    }
    last = seen;
}

static void accessed(unsigned cpu, uint32_t info, uint64_t address, void *data) {
    (void)cpu;
    (void)data;
    if (counting && address & ((1u << qemu_plugin_mem_size_shift(info)) - 1)) unaligned++;
}

static void translated(id self, struct qemu_plugin_tb *block) {
    size_t i, n = qemu_plugin_tb_n_insns(block);
    (void)self;
    for (i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        struct seen *seen = calloc(1, sizeof *seen);
        size_t size = qemu_plugin_insn_size(insn);
        if (!seen) abort();
        memcpy(&seen->word, qemu_plugin_insn_data(insn), size < 4 ? size : 4);
        seen->address = qemu_plugin_insn_vaddr(insn);
        seen->next = all;
        all = seen;
        qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, 0, seen);
        qemu_plugin_register_vcpu_mem_cb(insn, accessed, 0, 3, 0);
    }
}

static void ended(id self, void *data) {
    FILE *file = fopen(out, "w");
    struct seen *seen;
    struct before *before;
    (void)self;
    (void)data;
    if (!file) return;
    for (seen = all; seen; seen = seen->next)
        for (before = seen->before; before; before = before->next)
            fprintf(file, "%08x %llu %llx %08x %llx\n", seen->word, (unsigned long long)before->count,
                    (unsigned long long)seen->address, before->seen->word,
                    (unsigned long long)before->seen->address);
    fprintf(file, "unaligned %llu\n", unaligned);
    fclose(file);
}

API int qemu_plugin_install(id self, const void *info, int argc, char **argv) {
    int i;
    (void)info;
    for (i = 0; i < argc; i++)
        if (strncmp(argv[i], "out=", 4) == 0) snprintf(out, sizeof out, "%s", argv[i] + 4);
    qemu_plugin_register_vcpu_tb_trans_cb(self, translated);
    qemu_plugin_register_atexit_cb(self, ended, 0);
    return 0;
}
