#!/bin/busybox sh
# The host's: starts a guest of KVM HV by QEMU, each of its vCPUs on the hardware thread with its number, and powers off
# behind it. The words are the guest's.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for module in kvm kvm-hv; do insmod /modules/$module.ko; done
guest=
case " $* " in
*" state=stop "*)
    guest=powersave=off
    insmod /modules/kvm_stop.ko
    # What a hardware thread's last state left in PSSCR is what the guest's `stop` finds: ESL and EC have to be 0.
    for place in /sys/devices/system/cpu/cpu*/cpuidle/state*; do
        [ "$(cat $place/name)" = stop0_lite ] || echo 1 > $place/disable
    done
    for thread in 0 1 2 3 4 5 6 7; do
        taskset $(printf %x $((1 << thread))) usleep 5000
    done
    ;;
esac
cd /bin
./LOADER --library-path /bin ./qemu -L /bin -accel kvm -cpu host -smp 8,cores=2,threads=4 -m 512 -nodefaults \
    -name guest,debug-threads=on -display none -serial stdio -machine MACHINE -kernel kernel -initrd root \
    -append "console=hvc0 quiet mitigations=off $guest -- $*" &
monitor=$!
while kill -0 $monitor && [ $(cat /proc/$monitor/task/*/comm 2>/dev/null | grep -c '^CPU ') -lt 8 ]; do usleep 10000; done
for task in /proc/$monitor/task/*; do
    name=$(cat $task/comm)
    case $name in
    "CPU "*)
        number=${name#CPU }
        taskset -p $(printf %x $((1 << ${number%%/*}))) ${task##*/} > /dev/null
        ;;
    esac
done
wait $monitor
poweroff -f
