/* Mutates files and asks everything of what is left: fuzz COUNT SEED FILE...
 * Each mutant lies in memory of exactly its own size, so that a sanitizer sees every byte read beyond it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bgfmt.h"

static uint64_t state;
static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}
static size_t below(size_t n) { return n ? ((size_t)next() << 16 ^ next()) % n : 0; }

static unsigned long opened, answers, refusals;
static volatile float sink; /* the numbers are used */

static void ask(const unsigned char *bytes, size_t size, const bgfmt_layout *layout)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/:=";
    bgfmt_db *db;
    bgfmt_info info;
    int k;
    if (bgfmt_open_memory(bytes, size, layout, &db)) {
        refusals++;
        return;
    }
    opened++;
    bgfmt_get_info(db, &info);
    if (info.table_bytes > info.file_bytes - info.offset)
        abort();
    for (k = 0; k < 24; k++) {
        bgfmt_side side;
        bgfmt_answer a;
        uint8_t us[BGFMT_BOARD] = {0}, them[BGFMT_BOARD] = {0};
        uint32_t u[600], t[600];
        float many[2400];
        const size_t batch = k == 6 ? below(600) : 3;
        char id[16];
        size_t i;
        uint64_t n = info.positions, one = below((size_t)n), two = below((size_t)n);
        if (k < 4) { /* the corners, and just beyond them */
            one = k & 1 ? n - (k < 2) : 0;
            two = k & 2 ? n - 1 : 0;
        }
        if (!bgfmt_lookup_side_number(db, one, &side))
            sink = side.mean_rolls + side.std_rolls, answers++;
        if (!bgfmt_lookup_numbers(db, one, two, &a))
            sink = a.equities[0] + a.outcomes[4], answers++;
        for (i = 0; i < batch; i++)
            u[i] = (uint32_t)below((size_t)n + (k == 5)), t[i] = (uint32_t)below((size_t)n);
        memset(many, 0, sizeof many);
        if (!bgfmt_equities_many(db, batch, u, t, many))
            sink = many[0] + many[2], answers++;
        for (i = below(17); i; i--)
            us[below(k & 1 ? (size_t)info.points : BGFMT_BOARD)]++;
        for (i = below(17); i; i--)
            them[below(k & 1 ? (size_t)info.points : BGFMT_BOARD)]++;
        if (!bgfmt_lookup(db, us, below(26), them, below(26), &a))
            sink = a.outcomes[0], answers++;
        if (!bgfmt_equities_boards(db, 1, us, them, many))
            sink = many[0], answers++;
        if (!bgfmt_lookup_side(db, us, below(26), &side))
            sink = side.gammon_mean_rolls, answers++;
        for (i = 0; i < 15; i++)
            id[i] = k & 2 && i > 1 ? 'A' : letters[below(sizeof letters - 1)];
        id[next() & 3 ? 14 : below(15)] = 0;
        id[15] = 0;
        if (!bgfmt_lookup_id(db, id, &a))
            sink = a.outcomes[0], answers++;
    }
    bgfmt_close(db);
}

static unsigned char *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    unsigned char *bytes;
    long end;
    if (!f || fseek(f, 0, SEEK_END) || (end = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
        exit(2);
    *size = (size_t)end;
    bytes = malloc(*size + 1);
    if (!bytes || fread(bytes, 1, *size, f) != *size)
        exit(2);
    fclose(f);
    return bytes;
}

int main(int argc, char **argv)
{
    static const char header[] = "gnubg-OTSH0123456789 +-x\n";
    static const unsigned char odd[] = {0, 1, 2, 31, 32, 33, 127, 128, 254, 255};
    unsigned long count = argc > 3 ? strtoul(argv[1], NULL, 10) : 0, k;
    int files = argc - 3, f;
    unsigned char **originals;
    size_t *sizes;
    if (files < 1)
        return fprintf(stderr, "usage: fuzz COUNT SEED FILE...\n"), 2;
    state = strtoul(argv[2], NULL, 10) * 2 + 88172645463325253u;
    originals = malloc((size_t)files * sizeof *originals);
    sizes = malloc((size_t)files * sizeof *sizes);
    if (!originals || !sizes)
        return 2;
    for (f = 0; f < files; f++)
        originals[f] = load(argv[3 + f], sizes + f);
    for (k = 0; k < count; k++) {
        int chosen = (int)below((size_t)files), changes = (int)below(6);
        size_t size = sizes[chosen], room;
        unsigned char *bytes;
        bgfmt_layout layout;
        if (next() % 3 == 0)
            size = next() & 1 ? below(size + 1) : size - below(size < 64 ? size : 64);
        room = next() % 8 == 0 ? below(64) : 0; /* some bytes more */
        bytes = malloc(size + room ? size + room : 1);
        if (!bytes)
            return 2;
        memcpy(bytes, originals[chosen], size);
        memset(bytes + size, (int)(next() & 255), room);
        size += room;
        for (; size && changes; changes--) {
            size_t at = below(size);
            switch (next() % 6) {
            case 0: bytes[at] ^= (unsigned char)(1u << (next() & 7)); break;
            case 1: bytes[at] = odd[below(sizeof odd)]; break;
            case 2: at = below(size < 40 ? size : 40); bytes[at] = (unsigned char)header[below(sizeof header - 1)]; break;
            case 3: at = below(size < 40 ? size : 40); bytes[at] = (unsigned char)next(); break;
            case 4: at = below(size < 400 ? size : 400); bytes[at] = odd[below(sizeof odd)]; break;
            default: { /* copy a stretch */
                size_t from = below(size), length = below(16);
                if (length > size - at)
                    length = size - at;
                if (length > size - from)
                    length = size - from;
                memmove(bytes + at, bytes + from, length);
            }
            }
        }
        ask(bytes, size, NULL);
        if (k % 4 == 0) { /* the same bytes as something they are not */
            memset(&layout, 0, sizeof layout);
            layout.offset = next() & 1 ? below(size + 2) : 40;
            layout.kind = (int32_t)below(6);
            layout.points = (int32_t)below(k % 8 ? 8 : 27);
            layout.chequers = (int32_t)below(k % 8 ? 5 : 17);
            layout.gammon = next() & 1;
            layout.compressed = next() & 1;
            layout.cubeful = next() & 1;
            ask(bytes, size, &layout);
        }
        free(bytes);
    }
    for (f = 0; f < files; f++)
        free(originals[f]);
    free(originals);
    free(sizes);
    printf("%lu mutants, %lu opened, %lu refused, %lu answers\n", count, opened, refusals, answers);
    return 0;
}
