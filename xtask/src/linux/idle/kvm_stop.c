/* Lets the guests of KVM HV execute `stop`, as RFC "Add support for stop instruction inside KVM guest" does: KVM sets
 * EC at each entry on processors that need its help with transactions, of which POWER9 DD2.3 is one. Without that
 * feature ESL and EC stay as the host's idleness left them. The machine has no transactions.
 */
#include <linux/jump_label.h>
#include <linux/module.h>
#include <asm/cputable.h>
#include <asm/cpu_has_feature.h>

static int __init begin(void)
{
	static_branch_disable(&cpu_feature_keys[__builtin_ctzl(CPU_FTR_P9_TM_HV_ASSIST)]);
	return 0;
}

module_init(begin);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("stop for guests of KVM HV");
