/* SPDX-License-Identifier: Apache-2.0 OR MIT */
int same(const unsigned char *a, const unsigned char *b, unsigned long n)
{
    unsigned char d = 0;
    for (unsigned long i = 0; i < n; i++)
        d |= a[i] ^ b[i];
    return d == 0;
}
