/* How late an idle CPU is awake: from its timer, or from another CPU's call. As the kernel loads it, it measures, and
 * its parameter `lateness` has the samples then, in ticks of the time base.
 *
 * insmod wakeups.ko test=timer|call [cpu=4] [samples=60] [warm_up=10] [period_us=300]
 *
 * `timer` sets one on the CPU that loads the module, which has nothing else to do. `call` calls the CPU `cpu`, and is
 * at work in between. Region 2 is what goes before, and region 1 the samples (docs/payload.md).
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/time.h>

#define MOST 100
#define TICKS_PER_US 512

static char test[8] = "timer", lateness[12 * MOST];
static int cpu = 4, samples = 60, warm_up = 10, period_us = 300;
module_param_string(test, test, sizeof(test), 0444);
module_param_string(lateness, lateness, sizeof(lateness), 0444);
module_param(cpu, int, 0444);
module_param(samples, int, 0444);
module_param(warm_up, int, 0444);
module_param(period_us, int, 0444);

static DECLARE_COMPLETION(is_awake);
static s64 late_ns;

static enum hrtimer_restart expired(struct hrtimer *timer)
{
	late_ns = ktime_to_ns(ktime_sub(ktime_get(), hrtimer_get_expires(timer)));
	complete(&is_awake);
	return HRTIMER_NORESTART;
}

/* Sleeps until a timer wakes it: how late, in ticks. */
static u64 wake_by_timer(struct hrtimer *timer)
{
	hrtimer_start(timer, ns_to_ktime(period_us * NSEC_PER_USEC), HRTIMER_MODE_REL_PINNED_HARD);
	wait_for_completion(&is_awake);
	return late_ns * TICKS_PER_US / 1000;
}

static void arrived(void *at)
{
	*(u64 *)at = mftb();
}

/* Calls the other CPU after it has slept: the ticks until its handler is there. */
static u64 wake_by_call(void)
{
	u64 at = 0, begins;

	udelay(period_us);
	begins = mftb();
	smp_call_function_single(cpu, arrived, &at, 1);
	return at - begins;
}

static int __init measure(void)
{
	int is_timer = !strcmp(test, "timer"), number, length = 0;
	struct hrtimer timer;

	if ((!is_timer && strcmp(test, "call")) || samples < 1 || samples > MOST)
		return -EINVAL;
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = expired;
	__asm__ volatile("tdi 0,0,0x4002" ::: "memory");
	for (number = -warm_up; number < samples; number++) {
		u64 late;

		if (number == 0)
			__asm__ volatile("tdi 0,0,0x4001" ::: "memory");
		late = is_timer ? wake_by_timer(&timer) : wake_by_call();
		if (number >= 0)
			length += scnprintf(lateness + length, sizeof(lateness) - length, "%s%llu",
					    number ? " " : "", late);
	}
	__asm__ volatile("tdi 0,0,0x4801" ::: "memory");
	destroy_hrtimer_on_stack(&timer);
	return 0;
}

module_init(measure);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("how late an idle CPU is awake");
