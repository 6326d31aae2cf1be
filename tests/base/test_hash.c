/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * SHA-256 against published digests; the table hash for what tables need of it. */
#include "base/hash.h"
#include "reading.h"

static void assert_digest(const void *bytes, size_t length, size_t step, const char *hex)
{
    base_sha256 hash;
    uint8_t digest[32];
    char text[65];
    base_sha256_start(&hash);
    for (size_t at = 0; at < length; at += step) base_sha256_add(&hash, (const char *)bytes + at, length - at < step ? length - at : step);
    base_sha256_finish(&hash, digest);
    base_sha256_hex(digest, text);
    assert_string_equal(text, hex);
}

/* FIPS 180-4's examples (NIST, "Cryptographic Standards and Guidelines: example values") and the empty message. */
static void sha256_of_the_standards_examples(void **state)
{
    (void)state;
    assert_digest("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abc", 3, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, 56,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    static const char *hex = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    assert_digest(million, 1000000, 1000000, hex);
    assert_digest(million, 1000000, 63, hex);
    assert_digest(million, 1000000, 65, hex);
    free(million);
}

/* Lengths around the padding's borders, in steps that split blocks everywhere; judged by sha256sum. */
static void sha256_at_the_borders_of_blocks(void **state)
{
    (void)state;
    static const struct {
        size_t length;
        const char *hex;
    } known[] = {
        {1, "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"},
        {54, "45f316e10b2c99abf374b22bda893cf3300d77263f1e272349ed414680522952"},
        {55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
        {56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
        {57, "ae14a2563ccf969d99aca69ce6bb74981f734bbf9f655f73b8f06db68cab5217"},
        {63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
        {64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
        {65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
        {119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
        {120, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"},
        {128, "24da1b81d0b16df6428eee73c69fcb2a93c76bc6df706f0c6670fe6bfe800464"},
        {199, "f18029ae3f973208860c668e7b0c042ef65cf2409d8532c0cfb1fb7de5a07f9e"},
    };
    char bytes[200];
    memset(bytes, 'x', sizeof bytes);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t step = 1; step <= 70; step += 23) assert_digest(bytes, known[i].length, step, known[i].hex);
}

static void table_hash_depends_on_every_bit(void **state)
{
    (void)state;
    unsigned char bytes[40];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(7 * i);
    for (size_t length = 0; length <= sizeof bytes; length++) {
        uint64_t hash = base_hash(bytes, length, 1);
        assert_int_equal(hash, base_hash(bytes, length, 1));
        assert_int_not_equal(hash, base_hash(bytes, length, 2));
        if (length < sizeof bytes) assert_int_not_equal(hash, base_hash(bytes, length + 1, 1));
        for (size_t bit = 0; bit < 8 * length; bit++) {
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            uint64_t other = base_hash(bytes, length, 1);
            bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
            int differing = __builtin_popcountll(hash ^ other); /* 32 on average, 4 standard deviations to each side */
            assert_in_range(differing, 12, 52);
        }
    }
    assert_int_not_equal(base_hash("\0", 1, 0), base_hash("\0\0", 2, 0));
    assert_int_equal(base_hash(NULL, 0, 5), base_hash("", 0, 5));
}

/* Keys as they come, into a table by the low bits: no slot may get far more than its share. */
static void table_hash_spreads_like_keys(void **state)
{
    (void)state;
    static uint32_t slots[1024];
    for (uint32_t i = 0; i < 32 * 1024; i++) {
        char key[32];
        int length = snprintf(key, sizeof key, "layer.%u.weight", i);
        slots[base_hash(key, (size_t)length, 0) % 1024]++;
    }
    for (int i = 0; i < 1024; i++) assert_in_range(slots[i], 32 - 28, 32 + 34);
    memset(slots, 0, sizeof slots);
    for (uint64_t i = 0; i < 32 * 1024; i++) slots[base_hash(&(uint64_t){i << 20}, 8, 0) % 1024]++;
    for (int i = 0; i < 1024; i++) assert_in_range(slots[i], 32 - 28, 32 + 34);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_of_the_standards_examples),
        cmocka_unit_test(sha256_at_the_borders_of_blocks),
        cmocka_unit_test(table_hash_depends_on_every_bit),
        cmocka_unit_test(table_hash_spreads_like_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
