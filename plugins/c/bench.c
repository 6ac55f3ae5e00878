/* Random look-ups a second in a two-sided file: ./bench [FILE [MILLIONS]]
 * Without a file, a synthetic one of the size of 6x8 (3003 x 3003 records, 72 MB) in memory. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bgfmt.h"

enum { BATCH = 4096, POSITIONS = 1 << 20 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t state = 88172645463325252u;
static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static void report(const char *what, double count, double start, double sum)
{
    printf("%-44s %7.1f million a second   (sum %.3f)\n", what, count / (seconds() - start) / 1e6, sum);
}

int main(int argc, char **argv)
{
    size_t size = 40 + (size_t)3003 * 3003 * 8, i, k, rounds, points;
    unsigned char *bytes = NULL;
    uint8_t *ours = malloc((size_t)POSITIONS * 25), *theirs = malloc((size_t)POSITIONS * 25);
    uint32_t *us = malloc(POSITIONS * sizeof *us), *them = malloc(POSITIONS * sizeof *them);
    float *out = malloc(BATCH * 4 * sizeof *out);
    double start, sum = 0;
    bgfmt_info info;
    bgfmt_answer answer;
    bgfmt_db *db;
    int status;
    rounds = (argc > 2 ? (size_t)atol(argv[2]) : 100) * 1000000 / POSITIONS;
    if (argc > 1)
        status = bgfmt_open(argv[1], &db);
    else {
        bytes = malloc(size);
        if (!bytes)
            return 2;
        for (i = 40; i < size; i++)
            bytes[i] = (unsigned char)next();
        memcpy(bytes, "gnubg-TS-06-08-1xxxxxxxxxxxxxxxxxxxxxxx\n", 40);
        status = bgfmt_open_memory(bytes, size, NULL, &db);
    }
    if (!ours || !theirs || !us || !them || !out || status || bgfmt_get_info(db, &info) || info.kind != BGFMT_TWO_SIDED) {
        fprintf(stderr, "%s\n", status ? bgfmt_strerror(status) : "a two-sided file is needed");
        return 2;
    }
    for (i = 0; i < POSITIONS; i++) {
        us[i] = next() % (uint32_t)info.positions;
        them[i] = next() % (uint32_t)info.positions;
        bgfmt_counts(info.points, us[i], ours + (size_t)info.points * i);
        bgfmt_counts(info.points, them[i], theirs + (size_t)info.points * i);
    }
    for (i = 0; i < (size_t)info.positions; i++) /* read it all once: a cached file */
        for (k = 0; k < (size_t)info.positions; k += info.cubeful ? 256 : 1024)
            sum += bgfmt_equities(db, i, k, out) ? 0 : out[0];
    printf("%d points, %d chequers, %.1f MB\n", info.points, info.chequers, (double)info.table_bytes / 1e6);

    for (sum = 0, start = seconds(), k = 0; k < rounds; k++)
        for (i = 0; i < POSITIONS; i += BATCH) {
            bgfmt_equities_many(db, BATCH, us + i, them + i, out);
            sum += out[0];
        }
    report("bgfmt_equities_many, by position numbers", (double)rounds * POSITIONS, start, sum);
    for (sum = 0, start = seconds(), k = 0; k < rounds; k++)
        for (i = 0; i < POSITIONS; i++) {
            bgfmt_equities(db, us[i], them[i], out);
            sum += out[0];
        }
    report("bgfmt_equities, by position numbers", (double)rounds * POSITIONS, start, sum);
    points = (size_t)info.points;
    for (sum = 0, start = seconds(), k = 0; k < (rounds + 9) / 10; k++)
        for (i = 0; i < POSITIONS; i += BATCH) {
            bgfmt_equities_boards(db, BATCH, ours + points * i, theirs + points * i, out);
            sum += out[0];
        }
    report("bgfmt_equities_boards, by chequer counts", (double)((rounds + 9) / 10) * POSITIONS, start, sum);
    for (sum = 0, start = seconds(), k = 0; k < (rounds + 9) / 10; k++)
        for (i = 0; i < POSITIONS; i++) {
            bgfmt_lookup(db, ours + points * i, points, theirs + points * i, points, &answer);
            sum += answer.equities[0];
        }
    report("bgfmt_lookup, by chequer counts", (double)((rounds + 9) / 10) * POSITIONS, start, sum);
    bgfmt_close(db);
    free(bytes);
    free(ours);
    free(theirs);
    free(us);
    free(them);
    free(out);
    return 0;
}
