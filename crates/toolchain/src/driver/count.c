/* A plugin for qemu's user emulators, interface version 1: counts how often each instruction of a called
 * function is executed, from the hint before the call to the hint behind it (driver.rs). At the end
 * it writes a line "word count" for each translated instruction to the file named by out=.
 *
 * What it uses of the interface is declared here: emulators come without its header. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define BEGIN 0xd503261fu /* hint #48 */
#define END 0xd503263fu   /* hint #49 */

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t id;

extern void qemu_plugin_register_vcpu_tb_trans_cb(id, void (*)(id, struct qemu_plugin_tb *));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *,
                                                   void (*)(unsigned, void *), int, void *);
extern void qemu_plugin_register_atexit_cb(id, void (*)(id, void *), void *);

API int qemu_plugin_version = 1;
API int qemu_plugin_install(id, const void *, int, char **);

struct seen {
    uint32_t word;
    uint64_t count;
    struct seen *next;
};

static struct seen *all;
static int counting;
static char out[4096];

static void executed(unsigned cpu, void *data) {
    struct seen *seen = data;
    (void)cpu;
    if (seen->word == BEGIN) counting = 1;
    else if (seen->word == END) counting = 0;
    else if (counting) seen->count++;
}

static void translated(id self, struct qemu_plugin_tb *block) {
    size_t i, n = qemu_plugin_tb_n_insns(block);
    (void)self;
    for (i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        struct seen *seen = calloc(1, sizeof *seen);
        if (!seen) abort();
        memcpy(&seen->word, qemu_plugin_insn_data(insn), sizeof seen->word);
        seen->next = all;
        all = seen;
        qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, 0, seen);
    }
}

static void ended(id self, void *data) {
    FILE *file = fopen(out, "w");
    struct seen *seen;
    (void)self;
    (void)data;
    if (!file) return;
    for (seen = all; seen; seen = seen->next)
        if (seen->count) fprintf(file, "%08x %llu\n", seen->word, (unsigned long long)seen->count);
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
