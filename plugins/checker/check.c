/* check.c: checks every entry of a gnubg one-sided or two-sided bearoff file against the smaller entries of the same file.
 *
 * Written from docs/spec alone; shares no code with bgfmt. If the entries of finished games are right and every other
 * entry follows from smaller ones, all are right: no other table is needed.
 *
 *     cc -std=c99 -O3 -o check check.c                         one thread
 *     cc -std=c99 -O3 -DTHREADS=2 -pthread -o check check.c    two
 *
 * Exit code: 0 correct, 1 a wrong entry (the first in the order of computation), 2 not checked.
 */
#define _POSIX_C_SOURCE 200112L
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef THREADS
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#define LOCK pthread_mutex_lock(&mutex)
#define UNLOCK pthread_mutex_unlock(&mutex)
#else
#define LOCK (void)0
#define UNLOCK (void)0
#define THREADS 1
#endif
#define LANES 32            /* opponents computed side by side */
#define MEMORY 1600000000.0 /* bytes for the turned values of all threads */
#define MOST_PLAYS 65536    /* plays of one roll, repetitions included; far more than occur */

static const unsigned char *file;
static uint64_t size;
static uint64_t binomial[40][40];
static int points, chequers;
static uint32_t count; /* positions of one side */

static void stop(const char *message) { fprintf(stderr, "not checked: %s\n", message); exit(2); }

static void *allocate(size_t number, size_t each) {
    void *memory = calloc(number ? number : 1, each);
    if (memory == NULL) stop("out of memory");
    return memory;
}

static unsigned u16(uint64_t at) { return file[at] | (unsigned)file[at + 1] << 8; }

/* ---- positions and plays (specification, 1 and 2) ---- */

static uint32_t number_of(const int *board) {
    uint64_t number = 0;
    int total = 0;
    for (int k = 1; k <= points; k++) {
        total += board[points - k];
        number += binomial[total + k - 1][k];
    }
    return (uint32_t)number;
}

static void board_of(uint64_t number, int *board) {
    int above = 0; /* chequers on the k + 1 highest points */
    for (int k = points; k >= 1; k--) {
        int m = k - 1;
        while (m + 1 < 40 && binomial[m + 1][k] <= number) m++;
        number -= binomial[m][k];
        int total = m - k + 1;
        if (k < points) board[points - k - 1] = above - total;
        above = total;
    }
    board[points - 1] = above;
}

struct plays { uint32_t result[MOST_PLAYS]; uint32_t length; };

static int may_move(const int *board, int source, int die) {
    if (board[source] == 0) return 0;
    if (source >= die) return 1;
    for (int i = points - 1; i > source; i--)
        if (board[i] && (i > 5 || source - die < -1)) return 0;
    return source <= 5;
}

static void play(int *board, int left, const int *dice, int number_of_dice, int highest, struct plays *plays) {
    if (number_of_dice == 0 || left == 0) {
        if (plays->length == MOST_PLAYS) stop("too many plays");
        plays->result[plays->length++] = number_of(board);
        return;
    }
    int die = dice[0];
    for (int source = highest; source >= 0; source--) {
        if (!may_move(board, source, die)) continue;
        int off = source < die;
        int same = number_of_dice > 1 && dice[1] == die;
        board[source]--;
        if (!off) board[source - die]++;
        play(board, left - off, dice + 1, number_of_dice - 1, same ? source : points - 1, plays);
        if (!off) board[source - die]--;
        board[source]++;
    }
}

static void enumerate(uint32_t number, int larger, int smaller, struct plays *plays) {
    int board[32], left = 0, same = larger == smaller;
    int dice[4] = {larger, smaller, larger, larger}; /* of which a double uses all four */
    board_of(number, board);
    for (int i = 0; i < points; i++) left += board[i];
    plays->length = 0;
    play(board, left, dice, same ? 4 : 2, points - 1, plays);
    if (!same) play(board, left, dice + 1, 2, points - 1, plays); /* the smaller die first */
}

/* ---- two-sided files (specification, 4) ---- */

static uint32_t *results, *result_start; /* results of roll r of position p: result_start[21 * p + r] to the next */
static int columns;
static uint32_t block_width, next_block;
static uint64_t wrong_key = UINT64_MAX; /* of the first wrong number: (us + them, us, column) */
static int wrong_stored, wrong_expected;
static uint64_t record_at(uint32_t us, uint32_t them) { return 40 + ((uint64_t)us * count + them) * 2 * (uint64_t)columns; }

static void compare(uint32_t us, uint32_t them, int column, int expected) {
    int stored = (int)u16(record_at(us, them) + 2 * (uint64_t)column) - 32768;
    if (stored == expected) return;
    uint64_t key = (((uint64_t)us + them) * count + us) * 4 + (uint64_t)column;
    LOCK;
    if (key < wrong_key) {
        wrong_key = key;
        wrong_stored = stored + 32768;
        wrong_expected = expected + 32768;
    }
    UNLOCK;
}

static int best_cube_action(int no_double, int double_take) {
    if (double_take < no_double / 2) return no_double; /* C divides towards zero */
    return double_take >= 16383 ? 32767 : 2 * double_take;
}

/* Turn the records (them, j) of 32 opponents: for each j, column by column, what they are worth to us. */
static void turn(uint32_t first, uint32_t lanes, int16_t *turned) {
    for (uint32_t j = 0; j < count; j++)
        for (uint32_t lane = 0; lane < lanes; lane++) {
            uint64_t at = record_at(first + lane, j);
            int16_t *to = turned + (uint64_t)j * LANES * (uint64_t)columns + lane;
            to[0] = (int16_t)~((int)u16(at) - 32768);
            if (columns == 1) continue;
            int owned = (int)u16(at + 2) - 32768;
            int centred = (int)u16(at + 4) - 32768;
            int theirs = (int)u16(at + 6) - 32768;
            to[LANES] = (int16_t)~theirs;
            to[2 * LANES] = (int16_t)~best_cube_action(centred, theirs);
            to[3 * LANES] = (int16_t)~best_cube_action(owned, theirs);
        }
}

static void keep_greater(int16_t *restrict best, const int16_t *restrict other, int width) {
    for (int i = 0; i < width; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            best[i + lane] = best[i + lane] > other[i + lane] ? best[i + lane] : other[i + lane];
}

static void check_lanes(uint32_t us, uint32_t first, uint32_t lanes, const int16_t *turned) {
    int width = LANES * columns;
    int32_t sum[4 * LANES] = {0};
    int16_t best[4 * LANES];
    int roll = 0;
    for (int larger = 1; us > 0 && larger <= 6; larger++)
        for (int smaller = 1; smaller <= larger; smaller++, roll++) {
            uint64_t r = 21 * (uint64_t)us + (uint64_t)roll;
            uint32_t k = result_start[r];
            memcpy(best, turned + (uint64_t)results[k] * (uint64_t)width, (size_t)width * sizeof *best);
            for (k++; k < result_start[r + 1]; k++) keep_greater(best, turned + (uint64_t)results[k] * (uint64_t)width, width);
            for (int i = 0; i < width; i++) sum[i] += (larger == smaller ? 1 : 2) * best[i];
        }
    for (uint32_t lane = 0; lane < lanes; lane++)
        for (int c = 0; c < columns; c++) {
            int played = sum[c * LANES + (int)lane] / 36;
            compare(us, first + lane, c, us == 0 ? 32767 : first + lane == 0 ? -32768 : played);
        }
}

static void *work(void *turned_memory) {
    int16_t *turned = turned_memory;
    uint64_t group_size = (uint64_t)count * LANES * (uint64_t)columns;
    for (;;) {
        LOCK;
        uint32_t block = next_block;
        next_block += block < count ? block_width : 0;
        UNLOCK;
        if (block >= count) return NULL;
        uint32_t past = count - block < block_width ? count : block + block_width;
        for (uint32_t t = block; t < past; t += LANES)
            turn(t, past - t < LANES ? past - t : LANES, turned + (t - block) / LANES * group_size);
        for (uint32_t low = 0; low < count; low += 2048) /* few rows at a time stay in the page cache */
            for (uint32_t t = block; t < past; t += LANES)
                for (uint32_t us = low; us < count && us < low + 2048; us++)
                    check_lanes(us, t, past - t < LANES ? past - t : LANES, turned + (t - block) / LANES * group_size);
    }
}

static uint64_t check_two_sided(void) {
    struct plays *plays = allocate(1, sizeof *plays);
    uint64_t room = 0, used = 0;
    result_start = allocate(21 * (uint64_t)count + 1, sizeof *result_start);
    for (uint64_t r = 21; r < 21 * (uint64_t)count;)
        for (int larger = 1; larger <= 6; larger++)
            for (int smaller = 1; smaller <= larger; smaller++) {
                enumerate((uint32_t)(r / 21), larger, smaller, plays);
                if (room < used + plays->length) {
                    room = 2 * room + plays->length;
                    results = realloc(results, room * sizeof *results);
                    if (results == NULL) stop("out of memory");
                }
                uint64_t start = used;
                for (uint32_t i = 0; i < plays->length; i++) {
                    uint64_t k = start;
                    while (k < used && results[k] != plays->result[i]) k++;
                    if (k == used) results[used++] = plays->result[i];
                }
                result_start[++r] = (uint32_t)used;
            }
    uint32_t groups = (count + LANES - 1) / LANES;
    uint64_t group_bytes = (uint64_t)count * LANES * (uint64_t)columns * sizeof(int16_t);
    uint64_t share = (uint64_t)(MEMORY / THREADS) / group_bytes;
    uint64_t wanted = (groups + THREADS - 1) / THREADS;
    uint64_t groups_in_block = share < 1 ? 1 : share < wanted ? share : wanted;
    block_width = (uint32_t)(groups_in_block * LANES);
    void *memory[THREADS];
    for (int i = 0; i < THREADS; i++) memory[i] = allocate(groups_in_block, group_bytes);
#if THREADS > 1
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, memory[i])) stop("cannot start a thread");
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
#else
    work(memory[0]);
#endif
    for (int i = 0; i < THREADS; i++) free(memory[i]);
    free(plays), free(results), free(result_start);
    if (wrong_key != UINT64_MAX) {
        uint64_t us = wrong_key / 4 % count;
        printf("wrong: us %llu, them %llu, column %d: stored %d, expected %d\n", (unsigned long long)us,
               (unsigned long long)(wrong_key / 4 / count - us), (int)(wrong_key % 4), wrong_stored, wrong_expected);
        exit(1);
    }
    return (uint64_t)count * count;
}

/* ---- one-sided files (specification, 3) ---- */

static int wrong_distribution(uint32_t number, int kind, int roll, unsigned stored, long expected) {
    printf("wrong: position %u, %s, roll %d: stored %u, expected %ld\n", (unsigned)number, kind ? "gammon" : "bearoff", roll, stored, expected);
    exit(1);
}

static uint64_t check_one_sided(int kinds, int compressed) {
    struct plays *plays = allocate(1, sizeof *plays);
    uint16_t *all = allocate(count, 64 * sizeof *all); /* 32 numbers of the bearoff, 32 of the gammon */
    uint32_t *rank = allocate(count, 2 * sizeof *rank);
    uint64_t entry = compressed ? 4 + 2 * (uint64_t)kinds : 64 * (uint64_t)kinds;
    uint64_t data = 40 + (compressed ? count * entry : 0), at = data;
    if (size < 40 + count * entry) stop("the file is too short");
    for (uint64_t p = 0; p < count; p++) {
        uint64_t index = 40 + p * entry;
        if (!compressed) at = index;
        if (compressed && (u16(index) | (uint64_t)u16(index + 2) << 16) != (at - data) / 2) stop("an index entry is wrong");
        for (int kind = 0; kind < kinds; kind++) {
            unsigned stored = compressed ? file[index + 4 + 2 * (uint64_t)kind] : 32;
            unsigned first = compressed ? file[index + 5 + 2 * (uint64_t)kind] : 0;
            if (stored < 1 || stored + first > 32 || at + 2 * stored > size) stop("an index entry is wrong");
            for (unsigned i = 0; i < stored; i++) all[64 * p + 32 * (unsigned)kind + first + i] = (uint16_t)u16(at + 2 * i);
            if (compressed && (!u16(at) || !u16(at + 2 * stored - 2))) stop("a stored zero at an end of a distribution");
            at += 2 * stored;
        }
    }
    if (at != size) stop("the file is too long");
    for (uint32_t p = 0; p < count; p++) {
        int fifteen = p >= binomial[points + 14][points];
        int64_t sums[2][33] = {{0}};
        for (int larger = 1; p > 0 && larger <= 6; larger++)
            for (int smaller = 1; smaller <= larger; smaller++) {
                enumerate(p, larger, smaller, plays);
                for (int kind = 0; kind < kinds; kind++) {
                    uint32_t best = plays->result[0];
                    for (uint32_t i = 1; i < plays->length; i++)
                        if (rank[2 * (uint64_t)plays->result[i] + (unsigned)kind] < rank[2 * (uint64_t)best + (unsigned)kind]) best = plays->result[i];
                    for (int i = 0; i < 31; i++) sums[kind][i + 1] += (larger == smaller ? 1 : 2) * all[64 * (uint64_t)best + 32 * (unsigned)kind + (unsigned)i];
                }
            }
        for (int kind = 0; kind < kinds; kind++) {
            int64_t *sum = sums[kind], total = 0;
            int most = 0;
            if (p == 0 || (kind == 1 && !fifteen)) memset(sum, 0, 33 * sizeof *sum), sum[0] = 36 * 65535;
            for (int i = 0; i < 32; i++) {
                sum[i] = (sum[i] + 18) / 36;
                total += sum[i];
                if (sum[i] > sum[most]) most = i;
            }
            sum[most] -= total - 65535;
            for (int i = 0; i < 32; i++) {
                unsigned stored = all[64 * (uint64_t)p + 32 * (unsigned)kind + (unsigned)i];
                if (stored != sum[i]) wrong_distribution(p, kind, i, stored, (long)sum[i]);
                rank[2 * (uint64_t)p + (unsigned)kind] += (unsigned)i * stored;
            }
        }
    }
    free(plays), free(all), free(rank);
    return count;
}

int main(int argc, char **argv) {
    struct stat status;
    if (argc != 2) stop("usage: check FILE");
    int descriptor = open(argv[1], O_RDONLY);
    if (descriptor < 0 || fstat(descriptor, &status) || status.st_size < 40) stop("cannot read a header");
    size = (uint64_t)status.st_size;
    file = mmap(NULL, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (file == MAP_FAILED) stop("cannot map the file");
    for (int m = 0; m < 40; m++)
        for (int k = 0; k <= m; k++) binomial[m][k] = k == 0 ? 1 : binomial[m - 1][k - 1] + (k < m ? binomial[m - 1][k] : 0);
    char head[41] = {0}, kind = 0;
    int first = 0, compressed = 0, normal = 0, used = 0;
    memcpy(head, file, 40);
    sscanf(head, "gnubg-%cS-%2d-%2d-%1d%n-%1d-%1d", &kind, &points, &chequers, &first, &used, &compressed, &normal);
    if (!used || head[39] != '\n' || points < 1 || points > 12 || chequers < 1 || chequers > 15 || normal) stop("not a file of this kind");
    if (kind == 'O' && chequers != 15) stop("not 15 chequers");
    count = (uint32_t)binomial[points + chequers][points];
    columns = first ? 4 : 1;
    if (kind == 'T' && size != record_at(count, 0)) stop("the file has another length");
    if (kind != 'T' && kind != 'O') stop("not a file of this kind");
    uint64_t entries = kind == 'T' ? check_two_sided() : check_one_sided(first ? 2 : 1, compressed);
    printf("correct: %llu entries\n", (unsigned long long)entries);
    return 0;
}
