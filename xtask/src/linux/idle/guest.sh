#!/bin/busybox sh
# The guest's: prepares the state in which its CPUs are idle, does the test, and powers off. Words: test=, state=.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
for word; do export "$word"; done
case $state in
stop) insmod /modules/stop_state.ko ;;
*)
    for place in /sys/devices/system/cpu/cpu*/cpuidle/state*; do
        case $state-$(cat $place/name) in
        snooze-snooze | cede-*[Cc][Ee][Dd][Ee]) ;;
        *) echo 1 > $place/disable ;;
        esac
    done
    ;;
esac
usleep 20000
case $test in
timer) taskset 10 insmod /modules/wakeups.ko test=timer samples=${samples:-60} ;;
call) taskset 1 insmod /modules/wakeups.ko test=call samples=${samples:-60} ;;
*) busy $test $number ;;
esac
[ ! -e /sys/module/wakeups ] || echo "samples: $(cat /sys/module/wakeups/parameters/lateness)"
states=$(for place in /sys/devices/system/cpu/cpu0/cpuidle/state*; do
    [ "$(cat $place/disable)" = 1 ] || cat $place/name
done)
echo "idle: $test in $states"
poweroff -f
