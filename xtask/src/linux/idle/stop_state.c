/* A cpuidle driver with one state: `stop` at level 0 with ESL=EC=0, as RFC "Add support for stop instruction inside KVM
 * guest" gives a guest of KVM. For a kernel that was booted with `powersave=off`, whose own driver stays away.
 */
#include <linux/cpuidle.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <asm/hw_irq.h>
#include <asm/reg.h>

static void choose_level(void *unused)
{
	mtspr(SPRN_PSSCR_PR, 0);
}

/* What interrupts the thread ends `stop`, and interrupts it when the caller lets it. */
static int wait(struct cpuidle_device *device, struct cpuidle_driver *driver, int index)
{
	hard_irq_disable();
	if (!lazy_irq_pending())
		__asm__ volatile(".long 0x4c0002e4" ::: "memory");
	return index;
}

/* Latency and residency are the RFC's. */
static struct cpuidle_driver driver = {
	.name = "guest_stop",
	.owner = THIS_MODULE,
	.states = { {
		.name = "stop0lite",
		.desc = "stop with ESL=EC=0",
		.exit_latency = 2,
		.target_residency = 20,
		.enter = wait,
	} },
	.state_count = 1,
};

static int __init begin(void)
{
	on_each_cpu(choose_level, NULL, 1);
	return cpuidle_register(&driver, NULL);
}

module_init(begin);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("stop as a state of a guest's cpuidle");
