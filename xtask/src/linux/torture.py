# What Debian's interpreter and its libraries compute: the same on every machine that is a POWER9. Each line of an answer
# begins with "=". Nothing here depends on time, on random numbers of the kernel, or on the order of a set.

import bz2, decimal, fractions, hashlib, hmac, json, lzma, math, os, random, re, sqlite3, struct, threading, zlib


def say(*words):
    print("=python", *words, flush=True)


numbers = random.Random(13)
data = numbers.randbytes(70000)
text = " ".join(str(numbers.getrandbits(numbers.randrange(1, 90))) for _ in range(6000)).encode()

# Digests of libcrypto, of lengths around its blocks.
for name in "md5 sha1 sha224 sha256 sha384 sha512 sha3_256 sha3_512 blake2b blake2s".split():
    whole = hashlib.new(name)
    for length in (0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 135, 136, 4095, 4096, 65537):
        whole.update(hashlib.new(name, data[:length]).digest())
    say(name, whole.hexdigest())
say("hmac", hmac.digest(data[:32], text, "sha256").hex(), hashlib.pbkdf2_hmac("sha512", b"word", b"salt", 200).hex())

for name, pack, unpack in (
    ("zlib", lambda raw: zlib.compress(raw, 9), zlib.decompress),
    ("bz2", bz2.compress, bz2.decompress),
    ("lzma", lzma.compress, lzma.decompress),
):
    for which, raw in (("data", data), ("text", text)):
        packed = pack(raw)
        say(name, which, len(packed), hashlib.md5(packed).hexdigest(), unpack(packed) == raw)
say("sums", zlib.crc32(data), zlib.adler32(data), zlib.crc32(text))

# Integers of any length, fractions, decimals.
number = 1
for i in range(1, 400):
    number = number * (2 * i + 1) + i
say("integer", number.bit_length(), hashlib.md5(str(number).encode()).hexdigest(), pow(3, number, 2**521 - 1) % 10**30)
say("root", math.isqrt(number) % 10**30, math.gcd(number, 3**200 * 5**100), math.comb(300, 150) % 10**30)
say("fraction", sum((fractions.Fraction(1, i) for i in range(1, 120)), fractions.Fraction(0)))
decimal.getcontext().prec = 120
say("decimal", decimal.Decimal(2).sqrt(), decimal.Decimal(7).ln(), decimal.Decimal("1.3").exp(), decimal.Decimal(10) ** -40 / 7)

# Floating point: the library's functions, and every bit of what they say.
for name in "sin cos tan exp log log1p atan asinh sinh cosh tanh erf gamma lgamma sqrt cbrt expm1".split():
    function = getattr(math, name)
    sum_of_bits = hashlib.md5()
    for i in range(1, 300):
        sum_of_bits.update(struct.pack("<d", function(i * 0.173)))
    say(name, function(0.7), sum_of_bits.hexdigest())
values = [numbers.uniform(-1, 1) * 10 ** numbers.randrange(-300, 300) for _ in range(2000)]
say("floats", hashlib.md5(" ".join(map(repr, values)).encode()).hexdigest(), math.fsum(values), sum(values))
say("halves", hashlib.md5(b"".join(struct.pack("<ef", v % 1000, v % 1000) for v in values)).hexdigest())
say("round", [round(i / 7, 3) for i in range(-5, 6)], float.fromhex("0x1.8p-1060"), 5e-324 / 2, 1e308 * 10)

say("json", hashlib.md5(json.dumps([{"n": v, "i": i} for i, v in enumerate(values)]).encode()).hexdigest())
say("expression", len(re.findall(rb"(\d)\1", text)), hashlib.md5(re.sub(rb"(\d+) (\d+)", rb"\2-\1", text)).hexdigest())
words = sorted(text.split(), key=lambda word: (len(word), word[::-1]))
say("sorted", hashlib.md5(b" ".join(words)).hexdigest())

# Threads and processes.
total, lock = 0, threading.Lock()


def add(step):
    global total
    for i in range(2000):
        with lock:
            total += step * i


threads = [threading.Thread(target=add, args=(step,)) for step in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
say("threads", total)
for child in range(4):
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.write(writer, hashlib.sha256(data[child:]).hexdigest().encode())
        os._exit(child)
    os.close(writer)
    say("process", os.read(reader, 100).decode(), os.waitstatus_to_exitcode(os.wait()[1]))

table = sqlite3.connect("table")
table.execute("create table v (i integer primary key, word text, value real)")
table.executemany("insert into v values (?, ?, ?)", [(i, words[i].decode(), values[i]) for i in range(2000)])
table.execute("create index by_word on v (word)")
table.commit()
for row in table.execute("select length(word) l, count(*), min(i), max(word), avg(i * 0.37) from v group by l order by l"):
    say("row", *row)
say("end")
