/* A user program that does to an operating system what a shell does not: memory that is mapped, protected and
   touched, faults that are handled, children that share memory, and loops that a compiler makes vectors of. What it
   prints depends on no machine and no time. */

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 65536, PAGES = 64, COUNT = 4096 };

static sigjmp_buf back;
static volatile int faults;

static void fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    faults++;
    siglongjmp(back, number == SIGSEGV && info->si_code == SEGV_ACCERR ? 2 : 1);
}

/* 0 if the access succeeds, 2 where rights forbid it, 1 where nothing is mapped. */
static int try_access(volatile uint64_t *place, int store)
{
    int how = sigsetjmp(back, 1);
    if (how == 0) {
        if (store)
            *place = 7;
        else
            (void)*place;
    }
    return how;
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * 0x9E3779B97F4A7C15u + (sum >> 29);
}

static uint64_t sum_bytes(const void *bytes, size_t length)
{
    uint64_t sum = 1;
    for (size_t i = 0; i < length; i++)
        sum = mix(sum, ((const unsigned char *)bytes)[i]);
    return sum;
}

static void protections(void)
{
    static const int rights[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
    char *area = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int round = 0; round < 3; round++) {
        for (int page = 0; page < PAGES; page++)
            mprotect(area + page * PAGE, PAGE, rights[(page + round) % 3]);
        for (int page = 0; page < PAGES; page += 5) {
            uint64_t *place = (uint64_t *)(area + page * PAGE + 8 * page);
            int load = try_access(place, 0), store = try_access(place, 1);
            printf("=protect %d %d load %d store %d\n", round, page, load, store);
        }
    }
    for (int page = 0; page < PAGES; page += 2)
        munmap(area + page * PAGE, PAGE);
    for (int page = 0; page < 8; page++)
        printf("=unmap %d %d\n", page, try_access((uint64_t *)(area + page * PAGE), 0));
    munmap(area, PAGES * PAGE);
    printf("=faults %d\n", faults);
}

static void copy_on_write(void)
{
    uint64_t *own = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; i < PAGES * PAGE / 8; i += 512)
        own[i] = i * 3;
    for (int child = 0; child < 8; child++) {
        if (fork() == 0) {
            for (size_t i = 0; i < PAGES * PAGE / 8; i += 512)
                own[i] += child;
            shared[child] = sum_bytes(own, PAGES * PAGE);
            for (int i = 0; i < 1000; i++)
                __atomic_add_fetch(&shared[100], child, __ATOMIC_SEQ_CST);
            _exit(child);
        }
    }
    int status, codes = 0;
    while (wait(&status) > 0)
        codes += WEXITSTATUS(status);
    for (int child = 0; child < 8; child++)
        printf("=child %d %016lx\n", child, shared[child]);
    printf("=children %d %lu %016lx\n", codes, shared[100], sum_bytes(own, PAGES * PAGE));
}

static int8_t bytes[COUNT];
static int16_t halves[COUNT];
static int32_t words[COUNT];
static int64_t doubles[COUNT];
static float singles[COUNT];
static double reals[COUNT];

/* Nothing here rounds but in the way that IEEE 754 says, in an order that the source says. */
static void vectors(void)
{
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < COUNT; i++) {
            bytes[i] = (int8_t)(i * 7 + round);
            halves[i] = (int16_t)(i * 771 - round);
            words[i] = i * 65539 + round;
            doubles[i] = (int64_t)i * 4294967311 - round;
            singles[i] = (float)(i - 2000) / 3.0f;
            reals[i] = (i - 1000.0) / 7.0 + round;
        }
        for (int i = 0; i < COUNT; i++) {
            bytes[i] = (int8_t)(bytes[i] > 3 ? bytes[i] - 3 : bytes[i] << 1);
            halves[i] = (int16_t)((halves[i] * 3) >> 2);
            words[i] = words[i] < 0 ? -words[i] : words[i] ^ (words[i] >> 5);
            doubles[i] = doubles[i] * 5 + (doubles[i] >> 17);
            singles[i] = singles[i] * singles[i] + 0.5f;
            reals[i] = __builtin_sqrt(__builtin_fabs(reals[i])) - reals[i] / 3.0;
            words[i] += (int32_t)singles[i];
            doubles[i] ^= (int64_t)reals[i];
        }
        printf("=vectors %d %016lx %016lx %016lx %016lx %016lx %016lx\n", round, sum_bytes(bytes, sizeof bytes),
               sum_bytes(halves, sizeof halves), sum_bytes(words, sizeof words), sum_bytes(doubles, sizeof doubles),
               sum_bytes(singles, sizeof singles), sum_bytes(reals, sizeof reals));
    }
}

static __float128 quad = 1;

static void quads(void)
{
    for (int round = 1; round <= 20; round++) {
        quad = quad * 3 + (__float128)1 / (7 * round);
        printf("=quad %d %016lx %.17g\n", round, sum_bytes(&quad, sizeof quad), (double)quad);
    }
}

/* The library's string functions are vectors: every alignment of source and target. */
static void strings(void)
{
    static char from[512], to[512];
    for (int i = 0; i < 511; i++)
        from[i] = (char)('a' + i % 23);
    for (int offset = 0; offset < 32; offset++) {
        memset(to, offset, sizeof to);
        memcpy(to + offset, from + 31 - offset, 300 - offset);
        memmove(to + offset + 5, to + offset, 200);
        to[400 + offset] = 0;
        size_t length = strlen(to + 33 + offset % 3);
        printf("=string %d %016lx %zu %d %d\n", offset, sum_bytes(to, sizeof to), length,
               (int)((char *)memchr(from + offset, 'w', 100) - from), strcmp(to + 40, from + offset) > 0);
    }
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    setvbuf(stdout, NULL, _IONBF, 0);
    protections();
    copy_on_write();
    vectors();
    quads();
    strings();
    return 0;
}
