/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls one function on records from stdin and writes its outputs to stdout.
 *
 * The toolchain room puts a prelude before this file that defines ARGS, `args` and
 * `call_function`. A record is the bytes of all inputs in order; an answer is the bytes of
 * all outputs in order. Every buffer abuts a page that cannot be touched: behind it by
 * default, before it when the first argument is "front". So an access outside crashes at
 * once on one side and is found by its traces on the other.
 *
 * Exit status: 0 at the end of stdin, 91 an input was changed, 92 something was written
 * outside, 93 the driver itself could not go on. */
#ifndef BARE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static void tell(long n, const char *behind) {
    fprintf(stderr, "%ld%s", n, behind);
}
#endif

#define PAGE 4096UL
#define SLACK 0xa5

static unsigned char *pointer[ARGS], *page[ARGS], *copy[ARGS], *slack[ARGS];
static size_t mapped[ARGS];

static int give_up(const char *why) {
    perror(why);
    return 93;
}

static unsigned char *map(size_t bytes) {
    unsigned char *at =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

int main(int argc, char **argv) {
    int front = argc > 1 && strcmp(argv[1], "front") == 0;
    struct rlimit no_core = {0, 0};
    unsigned long calls = 0;
    size_t i, k;
    setrlimit(RLIMIT_CORE, &no_core);
    for (i = 0; i < ARGS; i++) {
        size_t room = (args[i].bytes + PAGE - 1) / PAGE * PAGE;
        unsigned char *base;
        if (args[i].shares >= 0) continue;
        if (room == 0) room = PAGE;
        base = map(room + 2 * PAGE);
        copy[i] = map(room);
        slack[i] = map(room);
        if (!base || !copy[i] || !slack[i]) return give_up("mmap");
        if (mprotect(base, PAGE, PROT_NONE) || mprotect(base + PAGE + room, PAGE, PROT_NONE))
            return give_up("mprotect");
        page[i] = base + PAGE;
        mapped[i] = room;
        memset(page[i], SLACK, room);
        memset(slack[i], SLACK, room);
        pointer[i] = front ? page[i] : page[i] + (room - args[i].bytes) / args[i].align * args[i].align;
    }
    for (i = 0; i < ARGS; i++)
        if (args[i].shares >= 0) pointer[i] = pointer[args[i].shares];
    for (;; calls++) {
        size_t got = 1, started = 0;
        for (i = 0; i < ARGS; i++) {
            if (!args[i].input) {
                if (args[i].shares < 0) memset(pointer[i], 0x5a, args[i].bytes);
                continue;
            }
            got = fread(copy[i], 1, args[i].bytes, stdin);
            if (got != args[i].bytes) break;
            started = 1;
            memcpy(pointer[i], copy[i], args[i].bytes);
        }
        if (i < ARGS) {
            if (got == 0 && !started && fflush(stdout) == 0) return 0;
            return give_up("records");
        }
        call_function(pointer);
        for (i = 0; i < ARGS; i++) {
            size_t before, behind, kept = 1;
            if (args[i].shares >= 0) continue;
            before = (size_t)(pointer[i] - page[i]);
            behind = before + args[i].bytes;
            if (memcmp(page[i], slack[i], before) != 0 ||
                memcmp(page[i] + behind, slack[i], mapped[i] - behind) != 0) {
                for (k = 0; (k >= before && k < behind) || page[i][k] == SLACK;) k++;
                fflush(stdout);
                tell((long)calls, " ");
                tell((long)i, " ");
                tell((long)k - (long)before, "\n");
                return 92;
            }
            for (k = 0; k < ARGS; k++)
                if (args[k].shares == (int)i) kept = 0;
            if (!args[i].output && kept && memcmp(pointer[i], copy[i], args[i].bytes) != 0) {
                fflush(stdout);
                tell((long)calls, " ");
                tell((long)i, " 0\n");
                return 91;
            }
        }
        for (i = 0; i < ARGS; i++)
            if (args[i].output && fwrite(pointer[i], 1, args[i].bytes, stdout) != args[i].bytes)
                return give_up("answers");
    }
}
