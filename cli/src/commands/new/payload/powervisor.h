/* What a payload asks of the hypervisor; docs/payload.md and docs/hypercalls.md of PowerVisor say more. */
#pragma once

/* Marks: regions 0 to 2047 of which an experiment counts instructions and cycles. They do nothing else. */
#define MARK_BEGIN(n) __asm__ volatile("tdi 0,0,%0" : : "i"(0x4000 + (n)) : "memory")
#define MARK_END(n) __asm__ volatile("tdi 0,0,%0" : : "i"(0x4800 + (n)) : "memory")

#define H_RTAS 0xF000
#define H_PUT_TERM_CHAR 0x58

/* A hypercall; the answer is what it leaves in r3. */
static inline long hypercall(unsigned long number, unsigned long one, unsigned long two, unsigned long three,
                             unsigned long four)
{
        register unsigned long r3 __asm__("r3") = number;
        register unsigned long r4 __asm__("r4") = one;
        register unsigned long r5 __asm__("r5") = two;
        register unsigned long r6 __asm__("r6") = three;
        register unsigned long r7 __asm__("r7") = four;
        __asm__ volatile("sc 1"
                         : "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6), "+r"(r7)
                         :
                         : "r0", "r8", "r9", "r10", "r11", "r12", "ctr", "xer", "cr0", "cr1", "cr5", "cr6", "cr7", "memory");
        return (long)r3;
}

/* Prints a text, up to 16 characters a call. */
static inline void print(const char *text)
{
        while (*text) {
                unsigned long words[2] = {0, 0};
                unsigned long length = 0;
                for (; length < 16 && *text; length++)
                        words[length / 8] |= (unsigned long)(unsigned char)*text++ << (56 - 8 * (length % 8));
                hypercall(H_PUT_TERM_CHAR, 0, length, words[0], words[1]);
        }
}

/* Ends the partition: RTAS power-off, with two arguments and one result. */
static inline void end_partition(void)
{
        static unsigned int words[6];
        words[0] = 0x2000;
        words[1] = 2;
        words[2] = 1;
        hypercall(H_RTAS, (unsigned long)words, 0, 0, 0);
}
