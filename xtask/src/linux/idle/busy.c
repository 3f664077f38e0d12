/* What a CPU gets done beside idle ones, as ebizzy and context_switch do: copies and searches of memory, and turns of two
 * processes that wake each other by pipes.
 *
 * busy records [number=2000]: copies a chunk into new memory and searches the copy, on CPU 0
 * busy turns   [number=200]:  to and fro between CPU 0 and CPU 1
 *
 * Region 2 is what goes before, and region 1 what counts (docs/payload.md). Prints how much was done in how many ticks
 * of the time base. ebizzy's chunks have the size that its user gives, which the publication does not name: 4 KiB is
 * our guess, as in the payload `idle`.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ebizzy's usual number of chunks. */
#define CHUNKS 10
#define WORDS 512
/* What goes before, as a part of all. */
#define WARM_UP 4

#define BEFORE() __asm__ volatile("tdi 0,0,0x4002" ::: "memory")
#define BEGIN() __asm__ volatile("tdi 0,0,0x4001" ::: "memory")
#define END() __asm__ volatile("tdi 0,0,0x4801" ::: "memory")

static uint64_t chunks[CHUNKS][WORDS];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t timebase(void)
{
	return __builtin_ppc_get_timebase();
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("busy: sched_setaffinity");
}

/* Below 2^31, by a linear congruence. */
static uint32_t below(uint64_t *state, uint32_t bound)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % bound;
}

static int compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

static int record(uint64_t *random)
{
	uint64_t key = 3 * below(random, WORDS), *copy = malloc(sizeof(chunks[0]));
	int is_found;

	if (!copy)
		fail("busy: malloc");
	memcpy(copy, chunks[below(random, CHUNKS)], sizeof(chunks[0]));
	is_found = bsearch(&key, copy, WORDS, sizeof(key), compare) != NULL;
	free(copy);
	return is_found;
}

static void records(long number)
{
	uint64_t random = 2, begins;
	long index, found = 0;

	for (index = 0; index < CHUNKS * WORDS; index++)
		chunks[index / WORDS][index % WORDS] = 3 * (index % WORDS);
	BEFORE();
	for (index = 0; index < number / WARM_UP; index++)
		record(&random);
	begins = timebase();
	for (index = 0; index < number; index++) {
		BEGIN();
		found += record(&random);
		END();
	}
	printf("rate: jobs %ld %lu\nbusy: %ld records, %ld found\n", number, timebase() - begins, number, found);
}

static void pass(int to, int from, int is_first)
{
	char byte = 0;

	if (is_first && write(to, &byte, 1) != 1)
		fail("busy: write");
	if (read(from, &byte, 1) != 1)
		fail("busy: read");
	if (!is_first && write(to, &byte, 1) != 1)
		fail("busy: write");
}

static void turns(long number)
{
	long before = number / WARM_UP, index;
	int there[2], back[2], status;
	uint64_t begins;
	pid_t other;

	if (pipe(there) || pipe(back))
		fail("busy: pipe");
	other = fork();
	if (other < 0)
		fail("busy: fork");
	if (!other) {
		run_on(1);
		for (index = 0; index < before + number; index++)
			pass(back[1], there[0], 0);
		exit(0);
	}
	BEFORE();
	for (index = 0; index < before; index++)
		pass(there[1], back[0], 1);
	begins = timebase();
	BEGIN();
	for (index = 0; index < number; index++)
		pass(there[1], back[0], 1);
	END();
	/* Two switches a turn, as context_switch counts. */
	printf("rate: jobs %ld %lu\n", 2 * number, timebase() - begins);
	if (waitpid(other, &status, 0) != other || status)
		fail("busy: the other process");
	printf("busy: %ld turns\n", number);
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "";
	long number = count > 2 ? atol(words[2]) : 0;

	run_on(0);
	if (!strcmp(what, "records"))
		records(number > 0 ? number : 2000);
	else if (!strcmp(what, "turns"))
		turns(number > 0 ? number : 200);
	else
		return fprintf(stderr, "busy: records or turns, not `%s`\n", what), 2;
	return 0;
}
