/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Words below 4q between layers, 4q being nearly 2^32: the product by a constant with its quotient is below 2q, and
 * one conditional subtraction brings the other word below 2q.
 *
 * flags: -O2 -w
 * contract: z1004535809_forward.toml
 * expect:
 *   proved
 */
#include <stdint.h>

#define Q 1004535809u
static const uint32_t w[16] = {
    1u, 483363861u, 395918948u, 823254837u, 691095095u, 232236581u, 486770339u, 564277960u,
    67253981u, 984912019u, 193428933u, 237230421u, 914699543u, 441646171u, 732321352u, 768315922u
};
static const uint32_t quotient[16] = {
    4u, 2066658009u, 1692780803u, 3519887065u, 2954828294u, 992944712u, 2081222658u, 2412612235u,
    287549379u, 4211064327u, 827019737u, 1014296245u, 3910865683u, 1888290933u, 3131094211u,
    3284991663u
};
static uint32_t times(uint32_t x, int k) {
    uint32_t h = (uint32_t)(((uint64_t)x * quotient[k]) >> 32);
    return x * w[k] - h * Q;
}
void forward(uint32_t *r) {
    for (int len = 8; len >= 1; len /= 2)
        for (int s = 0; s < 16; s += 2 * len)
            for (int j = s; j < s + len; j++) {
                uint32_t a = r[j], b = times(r[j + len], 8 / len + s / (2 * len));
                uint32_t over = a - 2 * Q;
                a = over + (2 * Q & -(over >> 31));
                r[j] = a + b;
                r[j + len] = a + 2 * Q - b;
            }
}
