/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the drivers ask of C's library and of Linux where the compiler has neither: for programs of a
 * microcontroller, which an emulator of Linux's programs runs. Only calls of Linux; memory and strings
 * come from the compiler's library. Nothing is buffered. */
#if defined __arm__ && !defined __linux__
#define BARE
#include <stddef.h>
#include <string.h>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 32
#define MAP_FAILED ((void *)-1)
#define RLIMIT_CORE 4
struct rlimit {
    unsigned long now, most;
};
enum { stdin, stdout, stderr };
/* Compilers know other types of these. */
#define fread bare_fread
#define fwrite bare_fwrite
#define fflush bare_fflush
#define perror bare_perror

static long ask(long number, long a, long b, long c, long d, long e, long f) {
    register long r7 __asm__("r7") = number;
    register long r0 __asm__("r0") = a;
    register long r1 __asm__("r1") = b;
    register long r2 __asm__("r2") = c;
    register long r3 __asm__("r3") = d;
    register long r4 __asm__("r4") = e;
    register long r5 __asm__("r5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(r0)
                     : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5)
                     : "memory");
    return r0;
}

static void *mmap(void *at, size_t bytes, int use, int how, int file, long offset) {
    long got = ask(192, (long)at, (long)bytes, use, how, file, offset);
    return got < 0 && got > -4096 ? MAP_FAILED : (void *)got;
}

static int mprotect(void *at, size_t bytes, int use) {
    return (int)ask(125, (long)at, (long)bytes, use, 0, 0, 0);
}

static int setrlimit(int which, const struct rlimit *limit) {
    return (int)ask(75, which, (long)limit, 0, 0, 0, 0);
}

static size_t all(long number, char *at, size_t bytes, int file) {
    size_t done = 0;
    while (done < bytes) {
        long n = ask(number, file, (long)(at + done), (long)(bytes - done), 0, 0, 0);
        if (n <= 0) break;
        done += (size_t)n;
    }
    return done;
}

static size_t fread(void *at, size_t one, size_t n, int file) {
    return all(3, at, one * n, file) / one;
}

static size_t fwrite(const void *at, size_t one, size_t n, int file) {
    return all(4, (char *)at, one * n, file) / one;
}

static int fflush(int file) {
    return file < 0;
}

static void perror(const char *why) {
    fwrite(why, 1, strlen(why), stderr);
    fwrite("\n", 1, 1, stderr);
}

/* Writes a number and what follows it. */
static void tell(long n, const char *behind) {
    char digits[12];
    size_t at = sizeof digits;
    unsigned long rest = n < 0 ? 0UL - (unsigned long)n : (unsigned long)n;
    do digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (n < 0) digits[--at] = '-';
    fwrite(digits + at, 1, sizeof digits - at, stderr);
    fwrite(behind, 1, strlen(behind), stderr);
}

/* With arguments or without. */
int main();

__attribute__((used)) static void begin(long *stack) {
    ask(1, main((int)stack[0], (char **)(stack + 1)), 0, 0, 0, 0, 0);
}

__attribute__((naked)) void _start(void) {
    __asm__("mov r0, sp\n\tb begin");
}
#endif
