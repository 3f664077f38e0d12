#!/bin/busybox sh
# What a shell, its tools and a program of ours compute, line by line: the same on every machine that is a POWER9.
# Each line of an answer begins with "=": nothing that the console shows while it is typed does.

say() { echo "=$*"; }
cd /tmp || exit 1

seq 1 20000 > numbers
head -c 300000 /bin/busybox > binary
yes 'a line that repeats' | head -c 100000 > repeats

for file in numbers binary repeats; do
    for sum in md5sum sha1sum sha256sum sha512sum sha3sum; do
        say "$sum $file $($sum < $file)"
    done
    for pack in 'gzip -1' 'gzip -5' 'gzip -9' 'bzip2 -1' 'bzip2 -9' lzop; do
        $pack -c < $file > packed
        say "$pack $file $(md5sum < packed) $(${pack% *} -d -c < packed | md5sum)"
    done
    say "base64 $file $(base64 < $file | md5sum) $(base64 < $file | base64 -d | md5sum)"
    say "od $file $(od -A x -t x4 < $file | md5sum) $(hexdump -C < $file | md5sum)"
done

# Lengths around words, vectors, cache lines and pages.
for length in 1 2 3 7 8 15 16 17 31 32 33 63 64 65 127 128 129 255 256 1000 4095 4096 4097 65535 65536 65537; do
    head -c $length binary > part
    say "length $length $(md5sum < part) $(sha256sum < part)"
    cp part copy && cmp part copy && say "same $length $(wc -c < copy)"
done

for option in -n -r -rn -u -k1.2 '-t3 -k2'; do
    say "sort $option $(sort $option < numbers | md5sum)"
done
say "uniq $(sed 's/.*\(.\)$/\1/' numbers | sort | uniq -c | tr -s ' \n' '  ')"
for pattern in 7 '^1' '9$' '[37]1' '^[0-4]*$' '\(.\)\1'; do
    say "grep $pattern $(grep -c "$pattern" numbers) $(sed -n "s/$pattern/<&>/gp" numbers | md5sum)"
done
say "tr $(tr 0-9 a-j < numbers | md5sum) cut $(cut -c2-3 numbers | md5sum) rev $(rev numbers | md5sum)"

# Floating point, printed. Debian's awk has no sine and no power.
awk 'BEGIN {
    x = 1
    for (i = 1; i <= 100; i++) {
        root = i
        for (round = 0; round < 12; round++) root = (root + i / root) / 2
        x = x * 1.37 - root / (i + 0.5)
        printf "=awk %d %g %.17g %e %.3f %.10g\n", i, x, root, x * x * x, x / 7, 1 / x
    }
    large = 1
    small = 1
    for (i = 1; i <= 60; i++) {
        large *= 100000.1
        small /= 98765.4321
        printf "=power %d %.17g %g %e %.3e\n", i, large, small, large * small, 1 / 3 * small
    }
    for (i = 1; i <= 40; i++) printf "=integer %d %d %x %o %s\n", i, i * 123456789, i * 977, i * 12345, -i % 7
}'
say "dc $(echo '2 200 ^ 3 120 ^ * p' | dc 2>&1 | tr -d '\\\n')"
number=1
for round in $(seq 30); do
    number=$(( (number * 6364136223846793005 + 1442695040888963407) ^ (number >> 7) ))
    say "arithmetic $round $number $((number % 1000003)) $((number / 977)) $((number << round)) $((number >> round))"
done

# Signals.
count=0
trap 'count=$((count + 1))' USR1
for round in $(seq 20); do kill -USR1 $$; done
say "signals $count"
sleep 1000 & kill -9 $!; wait $! 2>/dev/null; say "killed $?"
(kill -SEGV $(sh -c 'echo $PPID')) 2>/dev/null; say "subshell $?"
timeout 1 sleep 100; say "timeout $?"

# Pipes, and many processes.
say "pipes $(cat numbers | cat | rev | rev | sort -n | tac | tac | awk '{ s += $1 } END { print s }')"
for round in $(seq 10); do
    seq 5000 | while read n; do case $n in *${round}) echo $n;; esac; done | md5sum | sed "s/^/=reader $round /"
done
for round in $(seq 10); do
    for child in $(seq 20); do (exit $((child % 5))) & done
    wait
    say "storm $round $(for child in $(seq 10); do (echo $((child * round))) & done | sort -n | tr '\n' ' ')"
done
mkdir -p tree && for n in $(seq 100); do mkdir -p tree/$((n % 10)) && echo $n > tree/$((n % 10))/$n; done
say "files $(find tree -type f | sort | xargs cat | md5sum) $(tar -cf - tree | tar -tf - | sort | md5sum)"

/bin/torture-program

# Programs of Debian's, if they are there.
if [ -x /usr/bin/python3.11 ]; then
    PYTHONHASHSEED=0 /usr/bin/python3.11 -S -E /bin/torture.py 2>&1 || say "python $?"

    head -c 50000 binary > plain
    key=0123456789abcdef0f1e2d3c4b5a69788796a5b4c3d2e1f0fedcba9876543210
    for cipher in aes-128-cbc aes-256-ctr aes-256-ecb aria-128-cbc camellia-256-cbc chacha20 des-ede3-cbc; do
        /usr/bin/openssl enc -$cipher -K $key -iv 00112233445566778899aabbccddeeff -in plain -out secret 2> /dev/null
        say "openssl $cipher $(md5sum < secret)"
    done
    for digest in sha256 sha512-256 sha3-384 shake256 ripemd160 sm3 blake2b512; do
        say "openssl $digest $(/usr/bin/openssl dgst -$digest < plain 2>&1)"
    done
    # Keys are random: what a signature is worth is not.
    for kind in 'RSA -pkeyopt rsa_keygen_bits:1024' 'EC -pkeyopt ec_paramgen_curve:P-256' 'EC -pkeyopt ec_paramgen_curve:P-521'; do
        /usr/bin/openssl genpkey -quiet -algorithm $kind -out key 2> /dev/null
        /usr/bin/openssl pkey -in key -pubout -out public
        /usr/bin/openssl dgst -sha256 -sign key -out signature plain
        say "openssl $kind $(/usr/bin/openssl dgst -sha256 -verify public -signature signature plain 2> /dev/null)"
        say "openssl $kind $(/usr/bin/openssl dgst -sha256 -verify public -signature signature binary 2> /dev/null)"
    done

    /usr/bin/sqlite3 table 'select "=sqlite", count(*), sum(i * i), total(value) from v;' \
        'select "=sqlite", word, value from v order by value desc limit 20;' \
        'with recursive n(x) as (select 1 union all select x + 1 from n where x < 3000)
            select "=sqlite", sum(x * x % 977), group_concat(x % 7, "") like "123%" from n;' \
        'select "=sqlite", printf("%.17g %e %x", 1e300 / 7, sqrt(2), 255), sin(1.3), exp(2.5);' 'pragma integrity_check;'

    for options in -O0 -O1 -O2 '-O3 -mcpu=power9' '-Os -mcpu=power8'; do
        /usr/lib/gcc/powerpc64le-linux-gnu/12/cc1 -quiet $options -ffreestanding /bin/compiled.c -o compiled.s &&
            /usr/bin/powerpc64le-linux-gnu-as -many compiled.s -o compiled.o &&
            /usr/bin/powerpc64le-linux-gnu-ld compiled.o -o compiled &&
            say "compiled $options $(md5sum < compiled.s) $(md5sum < compiled)" && ./compiled || say "failed $options"
    done
fi
say "end"
