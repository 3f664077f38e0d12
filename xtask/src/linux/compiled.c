/* What the torture set has Debian's compiler translate, on the machine that is tested; it needs no library. */

typedef unsigned long number;

static number call(number which, number a, number b, number c)
{
    register number r0 __asm__("r0") = which, r3 __asm__("r3") = a, r4 __asm__("r4") = b, r5 __asm__("r5") = c;
    __asm__ volatile("sc" : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5)
                     : : "r6", "r7", "r8", "r9", "r10", "r11", "r12", "ctr", "cr0", "memory");
    return r3;
}

static double reals[256];
static number words[256];

static void print(number value)
{
    char text[18];
    text[0] = '=';
    for (int i = 0; i < 16; i++)
        text[1 + i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    text[17] = '\n';
    call(4, 1, (number)text, sizeof text);
}

void _start(void)
{
    number sum = 1;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 256; i++) {
            words[i] = words[i] * 5 + i * round + (sum >> 7);
            reals[i] = reals[i] / 3 + i * 0.25 - round;
        }
        for (int i = 0; i < 256; i++)
            sum = (sum ^ words[i] ^ (number)(long)(reals[i] * 1024)) * 0x9E3779B97F4A7C15 + (sum >> 29);
    }
    print(sum);
    call(1, 0, 0, 0);
}
