/* SPDX-License-Identifier: Apache-2.0 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "codec/hash.h"

/* Values of the reference implementations (zlib, RFC 3720, xxHash, RFC 1321, lookup3, the JVM). */

static void checksums_give_their_check_values(void **state)
{
    (void)state;
    assert_int_equal(hd_crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(hd_crc32(hd_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
    assert_int_equal(hd_crc32(0, NULL, 0), 0);
    assert_int_equal(hd_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(hd_crc32c(hd_crc32c(0, "12345678", 8), "9", 1), 0xe3069283);

    uint8_t zeros[32] = {0};
    assert_int_equal(hd_crc32c(0, zeros, sizeof zeros), 0x8a9136aa);
}

static void murmur_is_the_variant_of_the_bloom_filters(void **state)
{
    static const struct {
        const char *key;
        int32_t h1, h2;
    } VECTORS[] = {
        {"a", -1838653602, 1529584742},
        {"ab", 1525573013, -1464330887},
        {"abc", 1775488903, 1492699528},
        {"abcd", 646393889, -524664927},
        {"abcde", 1594468574, 402883894},
        {"key-0001", -247684977, 196417782},
        {"\xc3\xa9", -384040333, 1849032984},
        {"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", -343686998, 1463879953},
        {"k\xc3\xa9y", -237784196, 76341277},
    };

    (void)state;
    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        const char *key = VECTORS[i].key;
        int32_t h1 = hd_murmur2_hudi(key, strlen(key), 0);

        assert_int_equal(h1, VECTORS[i].h1);
        assert_int_equal(hd_murmur2_hudi(key, strlen(key), h1), VECTORS[i].h2);
    }
}

static void jenkins_is_lookup3(void **state)
{
    static const char TEXT[] = "Four score and seven years ago";

    (void)state;
    assert_int_equal((uint32_t)hd_jenkins_hash(TEXT, 30, 0), 0x17770551);
    assert_int_equal((uint32_t)hd_jenkins_hash(TEXT, 30, 1), 0xcd628161);
    assert_int_equal((uint32_t)hd_jenkins_hash("", 0, 0), 0xdeadbeef);
}

static void java_string_hash_counts_utf16_units(void **state)
{
    (void)state;
    assert_int_equal(hd_java_string_hash(hd_slice_of(NULL, 0)), 0);
    assert_int_equal(hd_java_string_hash(hd_slice_text("a")), 97);
    assert_int_equal(hd_java_string_hash(hd_slice_text("hello")), 99162322);
    assert_int_equal(hd_java_string_hash(hd_slice_text("polygenelubricants")), INT32_MIN);
    assert_int_equal(hd_java_string_hash(hd_slice_text("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e")),
                     25921943);
    assert_int_equal(hd_java_string_hash(hd_slice_text("\xf0\x9f\x98\x80 grin")), -1297591315);
}

/* new String(bytes, UTF_8) puts U+FFFD for what it cannot read. */
static void java_string_hash_takes_bad_bytes_as_replacement_characters(void **state)
{
    const int32_t one = 0xfffd;

    (void)state;
    assert_int_equal(hd_java_string_hash(hd_slice_text("\xff")), one);
    assert_int_equal(hd_java_string_hash(hd_slice_text("\xc3")), one);
    assert_int_equal(hd_java_string_hash(hd_slice_text("\xff\xff")), 31 * one + one);
    assert_int_equal(hd_java_string_hash(hd_slice_text("\xc0\x80")), 31 * one + one);
}

static void md5_gives_the_digests_of_the_rfc(void **state)
{
    static const struct {
        const char *text, *digest;
    } VECTORS[] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
         "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"1234567890123456789012345678901234567890"
         "1234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        uint8_t digest[HD_MD5_BYTES];
        char hex[2 * HD_MD5_BYTES + 1];

        hd_md5(VECTORS[i].text, strlen(VECTORS[i].text), digest);
        for (size_t b = 0; b < HD_MD5_BYTES; b++) {
            hex[2 * b] = "0123456789abcdef"[digest[b] >> 4];
            hex[2 * b + 1] = "0123456789abcdef"[digest[b] & 15];
        }
        hex[2 * HD_MD5_BYTES] = '\0';
        assert_string_equal(hex, VECTORS[i].digest);
    }
}

static void xxhash_gives_the_reference_values(void **state)
{
    static const struct {
        const char *text;
        uint32_t h32, h32_seed_7;
        uint64_t h64, h64_hudi_seed;
    } VECTORS[] = {
        {"", 0x02cc5d05, 0xd7adaff8, 0xef46db3751d8e999, 0x0d6fde68d55b45da},
        {"a", 0x550d7456, 0xda82c2a8, 0xd24ec4f1a98c6e5b, 0x0451eaa7628bceb3},
        {"abc", 0x32d153ff, 0x57cfd434, 0x44bc2cf5ad770999, 0xd5be724debd3dfc9},
        {"abcdefghijklmnop", 0x9d2d8b62, 0x87f07303, 0x71ce8137ca2dd53d, 0x62e5bd17f821f0f9},
        {"The quick brown fox jumps over the lazy dog, twice in a row", 0xfbf52d5f, 0x573a50c2,
         0xd38efb7d98e36758, 0x191229762250ccde},
    };

    (void)state;
    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        const char *text = VECTORS[i].text;
        size_t size = strlen(text);

        assert_int_equal(hd_xxh32(text, size, 0), VECTORS[i].h32);
        assert_int_equal(hd_xxh32(text, size, 7), VECTORS[i].h32_seed_7);
        assert_true(hd_xxh64(text, size, 0) == VECTORS[i].h64);
        assert_true(hd_xxh64(text, size, 0xffffffffdabadaba) == VECTORS[i].h64_hudi_seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_give_their_check_values),
        cmocka_unit_test(murmur_is_the_variant_of_the_bloom_filters),
        cmocka_unit_test(jenkins_is_lookup3),
        cmocka_unit_test(java_string_hash_counts_utf16_units),
        cmocka_unit_test(java_string_hash_takes_bad_bytes_as_replacement_characters),
        cmocka_unit_test(md5_gives_the_digests_of_the_rfc),
        cmocka_unit_test(xxhash_gives_the_reference_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
