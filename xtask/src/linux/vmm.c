/* A user-space virtual machine monitor: one guest of one vCPU under KVM HV, which makes one hypercall again and again.
 * The guest marks the calls that are measured as a payload of PowerVisor's does (docs/payload.md): region 1, and
 * region 2 those before them.
 *
 * vmm [call=0xE4] [argument=-1] [rounds=1000] [relocation=on|off] [vpa=none|idle|monitor] [branches=off|on]
 *     [transactions=off|on] [nesting=off|on]
 * vmm table=enter|remove|bulk-remove|protect|read [rounds=1000]
 *
 * The default call is H_CONFER to all others, which KVM answers in its run loop with nothing to do. `vpa=idle` registers
 * a virtual processor area that says that the guest does not use the performance monitor; `vpa=monitor` one that says
 * that it does. With `branches=on` the guest uses event-based branches before the measured calls, with
 * `transactions=on` it begins a transaction there; KVM takes both back after 256 exits. With `nesting=on` it may have
 * guests of its own. Prints the status of the last call.
 *
 * The guest of the first line has radix translation. With `table` it has a hashed page table of 1 MiB, and relocation
 * off; each call is for another entry, two for a group one behind the other, as of the payload `hash-calls`. The entries
 * are of pages of 4 KiB, and nobody uses them. The first call that does not succeed is the last.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Calls before the measured ones. */
#define WARM_UP 300

/* Where things are in the guest's memory. */
#define MEMORY_BYTES (16 << 20)
#define CODE 0x10000
#define AREA 0x20000
#define AREA_BYTES 640
#define PMCREGS_IN_USE 0xBB
#define PROCESS_TABLE 0x100000
#define ROOT 0x110000
#define DIRECTORY 0x120000

/* H_REGISTER_VPA of an area, in its flags. */
#define REGISTER_AREA (1ull << 45)
/* What KVM leaves to its user, who ends then. */
#define END_CALL 0xF000

#define MSR_SF (1ull << 63)
#define MSR_TM (1ull << 32)
#define MSR_ME 0x1000
#define MSR_IR 0x20
#define MSR_DR 0x10
#define MSR_RI 2
#define MSR_LE 1
#define LPCR_AIL 0x01800000ull

/* r23 says whether a transaction begins; r24 ends; r25 and r26 are the area's call; r27 says whether EBBHR is read; r28,
 * r29 count; r30, r31 are the call. A transaction that does begin has nothing in it. */
__asm__(".pushsection .rodata\n"
        "guest_begin:\n"
        "    cmpdi 25, 0\n"
        "    beq 1f\n"
        "    li 3, 0xDC\n"
        "    mr 4, 25\n"
        "    li 5, 0\n"
        "    mr 6, 26\n"
        "    sc 1\n"
        "    cmpdi 3, 0\n"
        "    bne 4f\n"
        "1:  tdi 0, 0, 0x4002\n"
        "2:  mr 3, 30\n"
        "    mr 4, 31\n"
        "    sc 1\n"
        "    addic. 28, 28, -1\n"
        "    bne 2b\n"
        "    tdi 0, 0, 0x4802\n"
        "    cmpdi 27, 0\n"
        "    beq 5f\n"
        "    mfspr 0, 804\n"
        "5:  cmpdi 23, 0\n"
        "    beq 6f\n"
        "    tbegin.\n"
        "    beq 6f\n"
        "    tend.\n"
        "6:\n"
        "    tdi 0, 0, 0x4001\n"
        "3:  mr 3, 30\n"
        "    mr 4, 31\n"
        "    sc 1\n"
        "    addic. 29, 29, -1\n"
        "    bne 3b\n"
        "    tdi 0, 0, 0x4801\n"
        "4:  mr 4, 3\n"
        "    mr 3, 24\n"
        "    sc 1\n"
        "    b 4b\n"
        "guest_end:\n"
        ".popsection\n");
extern const char guest_begin[], guest_end[];

/* Entries of the hashed page table. Those of KVM's own, for relocation off, are in the last slots of their groups. */
#define TABLE_LOG2 20
#define MOST_ENTRIES (2 << (TABLE_LOG2 - 7))
#define ENTRIES_OF_A_BULK 4

/* To `slot` the slot of entry r20, and to `word` its first doubleword without V: a page of the kernel's own numbering. */
#define ENTRY(slot, word)                                                     \
    "    srdi " #slot ", 20, 1\n"                                             \
    "    sldi " #slot ", " #slot ", 3\n"                                      \
    "    clrldi 0, 20, 63\n"                                                  \
    "    add " #slot ", " #slot ", 0\n"                                       \
    "    addi " #slot ", " #slot ", 5\n"                                      \
    "    lis " #word ", 0x10\n"                                               \
    "    add " #word ", " #word ", 20\n"                                      \
    "    sldi " #word ", " #word ", 7\n"                                      \
    "    addi 20, 20, 1\n"
/* One pair of H_BULK_REMOVE: a request with the entry's address as its condition. */
#define PAIR(head, word) ENTRY(head, word) "    or " #head ", " #head ", 19\n"

/* r22 says how many entries are there before; r24 ends; r28, r29 count; r30 is where the call is. */
__asm__(".pushsection .rodata\n"
        "table_begin:\n"
        "    li 19, 0x42\n"
        "    sldi 19, 19, 56\n"
        "    li 20, 0\n"
        "    mr. 21, 22\n"
        "    beq 2f\n"
        "1:  bl table_enter\n"
        "    cmpdi 3, 0\n"
        "    bne 5f\n"
        "    addic. 21, 21, -1\n"
        "    bne 1b\n"
        "    li 20, 0\n"
        "2:  tdi 0, 0, 0x4002\n"
        "3:  mtctr 30\n"
        "    bctrl\n"
        "    cmpdi 3, 0\n"
        "    bne 5f\n"
        "    addic. 28, 28, -1\n"
        "    bne 3b\n"
        "    tdi 0, 0, 0x4802\n"
        "    tdi 0, 0, 0x4001\n"
        "4:  mtctr 30\n"
        "    bctrl\n"
        "    cmpdi 3, 0\n"
        "    bne 5f\n"
        "    addic. 29, 29, -1\n"
        "    bne 4b\n"
        "    tdi 0, 0, 0x4801\n"
        "5:  mr 4, 3\n"
        "    mr 3, 24\n"
        "    sc 1\n"
        "    b 5b\n"
        "table_enter:\n"
        ENTRY(5, 6)
        "    ori 6, 6, 1\n"
        "    li 3, 0x08\n"
        "    li 4, 1\n"
        "    sldi 4, 4, 39\n"             /* this slot */
        "    li 7, 0x10\n"                /* the first page, M */
        "    sc 1\n"
        "    blr\n"
        "table_remove:\n"
        ENTRY(5, 6)
        "    li 3, 0x04\n"
        "    li 4, 1\n"
        "    sldi 4, 4, 31\n"             /* if it is this one */
        "    sc 1\n"
        "    blr\n"
        "table_protect:\n"
        ENTRY(5, 6)
        "    li 3, 0x18\n"
        "    li 4, 1\n"
        "    sldi 4, 4, 31\n"
        "    ori 4, 4, 3\n"               /* pp */
        "    sc 1\n"
        "    blr\n"
        "table_read:\n"
        ENTRY(5, 6)
        "    li 3, 0x0C\n"
        "    li 4, 0\n"
        "    sc 1\n"
        "    blr\n"
        "table_bulk_remove:\n"
        PAIR(4, 5) PAIR(6, 7) PAIR(8, 9) PAIR(10, 11)
        "    li 3, 0x124\n"
        "    sc 1\n"
        "    srdi 4, 4, 60\n"             /* answered, and done */
        "    xori 4, 4, 8\n"
        "    or 3, 3, 4\n"
        "    blr\n"
        "table_end:\n"
        ".popsection\n");
extern const char table_begin[], table_end[], table_enter[], table_remove[], table_protect[],
    table_read[], table_bulk_remove[];

static int check(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "vmm: %s: %s\n", what, strerror(errno));
        exit(1);
    }
    return result;
}

static void put(char *memory, uint64_t at, uint64_t big_endian)
{
    big_endian = __builtin_bswap64(big_endian);
    memcpy(memory + at, &big_endian, sizeof big_endian);
}

/* The rest of `word` behind `key=`. */
static const char *value(const char *word, const char *key)
{
    size_t length = strlen(key);
    return !strncmp(word, key, length) && word[length] == '=' ? word + length + 1 : NULL;
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t parsed = strtoull(text, &end, 0);
    if (!*text || *end) {
        fprintf(stderr, "vmm: %s is no number\n", text);
        exit(2);
    }
    return parsed;
}

static int choice(const char *text, const char *const *words)
{
    for (int index = 0; words[index]; index++)
        if (!strcmp(text, words[index]))
            return index;
    fprintf(stderr, "vmm: %s is none of the words that are known here\n", text);
    exit(2);
}

int main(int argc, char **argv)
{
    static const char *const switches[] = { "off", "on", NULL };
    static const char *const areas[] = { "none", "idle", "monitor", NULL };
    static const char *const calls[] = { "enter", "remove", "bulk-remove", "protect", "read", NULL };
    static const char *const places[] = { table_enter, table_remove, table_bulk_remove,
                                          table_protect, table_read };
    static const uint64_t numbers[] = { 0x08, 0x04, 0x124, 0x18, 0x0C };
    uint64_t call = 0xE4, argument = -1, rounds = 1000;
    int is_relocated = 1, area = 0, has_branches = 0, has_transactions = 0, is_nesting = 0;
    int table_call = -1, others = 0;
    for (int index = 1; index < argc; index++) {
        const char *word = argv[index], *text;
        others += !value(word, "table") && !value(word, "rounds");
        if ((text = value(word, "call")))
            call = number(text);
        else if ((text = value(word, "argument")))
            argument = number(text);
        else if ((text = value(word, "rounds")))
            rounds = number(text);
        else if ((text = value(word, "relocation")))
            is_relocated = choice(text, switches);
        else if ((text = value(word, "vpa")))
            area = choice(text, areas);
        else if ((text = value(word, "branches")))
            has_branches = choice(text, switches);
        else if ((text = value(word, "transactions")))
            has_transactions = choice(text, switches);
        else if ((text = value(word, "nesting")))
            is_nesting = choice(text, switches);
        else if ((text = value(word, "table")))
            table_call = choice(text, calls);
        else {
            fprintf(stderr, "vmm: %s: the source says what there is\n", word);
            return 2;
        }
    }
    if (!rounds) {
        fprintf(stderr, "vmm: there must be a call to measure\n");
        return 2;
    }

    if (table_call >= 0 && others) {
        fprintf(stderr, "vmm: beside table= there is rounds= alone\n");
        return 2;
    }
    int is_bulk = table_call == 2;
    uint64_t entries = (WARM_UP + rounds) * (is_bulk ? ENTRIES_OF_A_BULK : 1);
    if (table_call >= 0 && (rounds > MOST_ENTRIES || entries > MOST_ENTRIES)) {
        fprintf(stderr, "vmm: rounds=%" PRIu64 ": the table has room for %d entries\n", rounds,
                MOST_ENTRIES);
        return 2;
    }

    int kvm = check(open("/dev/kvm", O_RDWR), "/dev/kvm");
    int vm = check(ioctl(kvm, KVM_CREATE_VM, KVM_VM_PPC_HV), "KVM_CREATE_VM");
    if (is_nesting) {
        struct kvm_enable_cap nesting = { .cap = KVM_CAP_PPC_NESTED_HV, .args = { 1 } };
        check(ioctl(vm, KVM_ENABLE_CAP, &nesting), "KVM_CAP_PPC_NESTED_HV");
    }
    char *memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check(memory == MAP_FAILED ? -1 : 0, "memory");
    struct kvm_userspace_memory_region region = {
        .memory_size = MEMORY_BYTES,
        .userspace_addr = (uintptr_t)memory,
    };
    check(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");

    /* A tree of 52 bits: a root of 13 bits, and a directory of 9 whose first entry is a page of 1 GiB. */
    put(memory, PROCESS_TABLE, 2ull << 61 | 5 << 5 | ROOT | 13);
    put(memory, ROOT, 1ull << 63 | DIRECTORY | 9);
    put(memory, DIRECTORY, 3ull << 62 | 0x18F);
    struct kvm_ppc_mmuv3_cfg translation = {
        .flags = KVM_PPC_MMUV3_RADIX | KVM_PPC_MMUV3_GTSE,
        .process_table = 1ull << 63 | PROCESS_TABLE | 4,
    };
    uint32_t table_log2 = TABLE_LOG2;
    const char *begin = guest_begin, *end = guest_end;
    if (table_call >= 0) {
        begin = table_begin, end = table_end;
        check(ioctl(vm, KVM_PPC_ALLOCATE_HTAB, &table_log2), "KVM_PPC_ALLOCATE_HTAB");
        is_relocated = 0;
        call = numbers[table_call];
    } else {
        check(ioctl(vm, KVM_PPC_CONFIGURE_V3_MMU, &translation), "KVM_PPC_CONFIGURE_V3_MMU");
    }
    memcpy(memory + CODE, begin, end - begin);
    __builtin___clear_cache(memory + CODE, memory + CODE + (end - begin));
    uint16_t area_bytes = __builtin_bswap16(AREA_BYTES);
    memcpy(memory + AREA + 4, &area_bytes, sizeof area_bytes);
    memory[AREA + PMCREGS_IN_USE] = area == 2;

    int vcpu = check(ioctl(vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
    struct kvm_enable_cap papr = { .cap = KVM_CAP_PPC_PAPR };
    check(ioctl(vcpu, KVM_ENABLE_CAP, &papr), "KVM_CAP_PPC_PAPR");
    int run_bytes = check(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE");
    struct kvm_run *run = mmap(NULL, run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
    check(run == MAP_FAILED ? -1 : 0, "the vCPU's page");

    uint64_t lpcr;
    struct kvm_one_reg one = { .id = KVM_REG_PPC_LPCR_64, .addr = (uintptr_t)&lpcr };
    check(ioctl(vcpu, KVM_GET_ONE_REG, &one), "reading LPCR");
    lpcr |= is_relocated ? LPCR_AIL : 0;
    check(ioctl(vcpu, KVM_SET_ONE_REG, &one), "writing LPCR");
    struct kvm_regs regs;
    check(ioctl(vcpu, KVM_GET_REGS, &regs), "KVM_GET_REGS");
    regs.pc = CODE;
    regs.msr = MSR_SF | MSR_ME | MSR_RI | MSR_LE | (is_relocated ? MSR_IR | MSR_DR : 0);
    regs.msr |= has_transactions ? MSR_TM : 0;
    regs.gpr[23] = has_transactions;
    regs.gpr[24] = END_CALL;
    regs.gpr[25] = area ? REGISTER_AREA : 0;
    regs.gpr[26] = AREA;
    regs.gpr[27] = has_branches;
    regs.gpr[28] = WARM_UP;
    regs.gpr[29] = rounds;
    regs.gpr[30] = call;
    regs.gpr[31] = argument;
    if (table_call >= 0) {
        regs.gpr[22] = table_call ? entries : 0;
        regs.gpr[30] = CODE + (places[table_call] - table_begin);
    }
    check(ioctl(vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");

    check(ioctl(vcpu, KVM_RUN, 0), "KVM_RUN");
    if (run->exit_reason != KVM_EXIT_PAPR_HCALL || run->papr_hcall.nr != END_CALL) {
        fprintf(stderr, "vmm: the guest left with reason %u", run->exit_reason);
        if (run->exit_reason == KVM_EXIT_PAPR_HCALL)
            fprintf(stderr, ", call 0x%" PRIx64, (uint64_t)run->papr_hcall.nr);
        fprintf(stderr, "\n");
        return 1;
    }
    printf("vmm: %" PRIu64 " calls 0x%" PRIx64 ", status %" PRId64 "\n", rounds, call,
           (int64_t)run->papr_hcall.args[0]);
    return 0;
}
