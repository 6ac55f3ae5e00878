/* Writes every answer of a file to stdout as raw numbers, for comparison: dump FILE [KIND P C GAMMON COMPRESSED CUBEFUL
 * [OFFSET]]. One-sided: per number 64 u16, 4 f32. Two-sided: per pair 1 or 4 f32. Hypergammon: per pair 9 f32.
 * On the way every answer is asked for again by chequer counts, and must agree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bgfmt.h"

static int fail(const char *what) { return fprintf(stderr, "%s\n", what), 3; }

int main(int argc, char **argv)
{
    bgfmt_layout layout = {0, 0, 0, 0, 0, 0, 0};
    bgfmt_info info;
    bgfmt_db *db;
    uint64_t i, j;
    int status;
    if (argc >= 8) {
        int32_t *fields[6];
        int k;
        fields[0] = &layout.kind, fields[1] = &layout.points, fields[2] = &layout.chequers;
        fields[3] = &layout.gammon, fields[4] = &layout.compressed, fields[5] = &layout.cubeful;
        for (k = 0; k < 6; k++)
            *fields[k] = atoi(argv[2 + k]);
        layout.offset = argc > 8 ? strtoul(argv[8], NULL, 10) : 0;
    }
    status = bgfmt_open_as(argv[1], argc >= 8 ? &layout : NULL, &db);
    if (status)
        return fprintf(stderr, "%d %s\n", status, bgfmt_strerror(status)), 2;
    bgfmt_get_info(db, &info);
    for (i = 0; i < info.positions; i++) {
        uint8_t us[BGFMT_BOARD], them[BGFMT_BOARD];
        uint64_t again;
        size_t points = (size_t)info.points;
        if (bgfmt_counts(info.points, i, us) || bgfmt_number(info.points, us, points, &again) || again != i)
            return fail("numbers and counts disagree");
        if (info.kind == BGFMT_ONE_SIDED || info.kind == BGFMT_NORMAL) {
            bgfmt_side side, same;
            status = bgfmt_lookup_side_number(db, i, &side);
            if (status) {
                bgfmt_close(db);
                return fprintf(stderr, "%d %s\n", status, bgfmt_strerror(status)), 2;
            }
            if (bgfmt_lookup_side(db, us, points, &same) || memcmp(&side, &same, sizeof side))
                return fail("by counts and by number disagree");
            fwrite(side.bearoff, 2, 32, stdout);
            fwrite(side.gammon, 2, 32, stdout);
            fwrite(&side.mean_rolls, 4, 1, stdout);
            fwrite(&side.std_rolls, 4, 1, stdout);
            fwrite(&side.gammon_mean_rolls, 4, 1, stdout);
            fwrite(&side.gammon_std_rolls, 4, 1, stdout);
            continue;
        }
        for (j = 0; j < info.positions; j++) {
            bgfmt_answer a, same;
            if (bgfmt_lookup_numbers(db, i, j, &a) || bgfmt_counts(info.points, j, them))
                return fail("a pair inside the table is refused");
            status = bgfmt_lookup(db, us, points, them, points, &same);
            if (status ? status != BGFMT_ERR_POSITION && status != BGFMT_ERR_NOT_COVERED : memcmp(&a, &same, sizeof a))
                return fail("by counts and by numbers disagree");
            if (info.kind == BGFMT_HYPERGAMMON)
                fwrite(a.outcomes, 4, 5, stdout);
            fwrite(a.equities, 4, (size_t)a.n_equities, stdout);
            if (info.kind == BGFMT_TWO_SIDED) {
                uint32_t u = (uint32_t)i, t = (uint32_t)j;
                float many[4];
                if (bgfmt_equities_many(db, 1, &u, &t, many) || memcmp(many, a.equities, 4 * (size_t)a.n_equities))
                    return fail("one and many disagree");
                status = status ? 0 : bgfmt_equities_boards(db, 1, us, them, many);
                if (status || memcmp(many, a.equities, 4 * (size_t)a.n_equities))
                    return fail("one and many boards disagree");
            }
        }
    }
    bgfmt_close(db);
    return 0;
}
