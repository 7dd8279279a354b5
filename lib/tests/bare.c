/* SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0 */
/*
 * bare.c: what newlib asks of a system, on Linux's calls, for programs of a microcontroller in an emulator of Linux's programs
 * (qemu-arm). Strings and printf are newlib's.
 */
#include <stddef.h>
#include <sys/stat.h>

int main(int argc, char **argv);
void _start(void);
void _exit(int status);
int _write(int file, const char *at, int n);
int _read(int file, char *at, int n);
void *_sbrk(ptrdiff_t more);
int _close(int file);
int _fstat(int file, struct stat *about);
int _isatty(int file);
int _lseek(int file, int to, int how);
int _kill(int process, int signal);
int _getpid(void);
void _fini(void);

static long ask(long number, long a, long b, long c)
{
    register long r7 __asm__("r7") = number;
    register long r0 __asm__("r0") = a;
    register long r1 __asm__("r1") = b;
    register long r2 __asm__("r2") = c;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
    return r0;
}

void _exit(int status)
{
    for (;;)
        ask(1, status, 0, 0);
}

int _write(int file, const char *at, int n)
{
    return (int)ask(4, file, (long)at, n);
}

int _read(int file, char *at, int n)
{
    return (int)ask(3, file, (long)at, n);
}

void *_sbrk(ptrdiff_t more)
{
    static char heap[1 << 20] __attribute__((aligned(8)));
    static ptrdiff_t used;
    if (more > (ptrdiff_t)sizeof heap - used)
        return (void *)-1;
    used += more;
    return heap + used - more;
}

int _close(int file)
{
    return file < 0;
}

int _fstat(int file, struct stat *about)
{
    about->st_mode = S_IFCHR;
    return file < 0;
}

int _isatty(int file)
{
    return file >= 0;
}

int _lseek(int file, int to, int how)
{
    return file + to + how < 0;
}

int _kill(int process, int signal)
{
    return process + signal < 0;
}

int _getpid(void)
{
    return 1;
}

void _fini(void)
{
}

__attribute__((used)) static void begin(const int *stack)
{
    extern void exit(int status);
    exit(main(stack[0], (char **)(stack + 1)));
}

__attribute__((naked)) void _start(void)
{
    __asm__("mov r0, sp\n\tb begin");
}
