/* check.c: checks every entry of a gnubg one-sided or two-sided bearoff file against smaller entries of the table.
 * If the entries of finished games are right and every other entry follows from smaller ones, all are right. Written
 * from docs/spec alone: cc -std=c99 -O3 -o check check.c; with -fopenmp as many threads as OMP_NUM_THREADS says.
 * Exit code: 0 correct, 1 a wrong entry (the first in the order of computation), 2 not checked. */
#define _POSIX_C_SOURCE 200112L
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* those of OpenMP, which is optional */
#define ROLLS 21
#define SLOTS 32 /* numbers of a distribution */
#define LANES 64 /* opponents computed side by side; their values for all our positions should fit a cache */

static const unsigned char *file;
static uint64_t size, binomial[40][40];
static int points, chequers;
static uint64_t count, columns; /* positions of one side; numbers of a two-sided record */

static void stop(const char *message) {
    fprintf(stderr, "not checked: %s\n", message);
    exit(2);
}
static void *allocate(uint64_t bytes) {
    void *memory = calloc(bytes, 1);
    if (memory == NULL) stop("out of memory");
    return memory;
}
static int u16(uint64_t at) { return file[at] | file[at + 1] << 8; }

/* ---- positions and plays (specification, 1 and 2) ---- */

static uint64_t number_of(const int *board) {
    uint64_t number = 0;
    for (int k = 1, total = 0; k <= points; k++) {
        total += board[points - k];
        number += binomial[total + k - 1][k];
    }
    return number;
}

static void board_of(uint64_t number, int *board) {
    int total[32] = {0}; /* total[k]: chequers on the k highest points */
    for (int k = points; k >= 1; k--) {
        int m = k - 1;
        while (m + 1 < 40 && binomial[m + 1][k] <= number) m++;
        number -= binomial[m][k];
        total[k] = m - k + 1;
    }
    for (int k = 1; k <= points; k++) board[points - k] = total[k] - total[k - 1];
}

static const int rolls[ROLLS][2] = {{1, 1}, {2, 1}, {2, 2}, {3, 1}, {3, 2}, {3, 3}, {4, 1}, {4, 2}, {4, 3}, {4, 4},
    {5, 1}, {5, 2}, {5, 3}, {5, 4}, {5, 5}, {6, 1}, {6, 2}, {6, 3}, {6, 4}, {6, 5}, {6, 6}};
static int weight(int roll) { return rolls[roll][0] == rolls[roll][1] ? 1 : 2; }
static uint32_t *plays; /* positions after rolls; those of the last roll: plays[roll_start] to plays[plays_end - 1] */
static uint64_t roll_start, plays_end, plays_room;

static void add_play(uint64_t number) {
    for (uint64_t k = roll_start; k < plays_end; k++)
        if (plays[k] == number) return;
    if (plays_end == plays_room) {
        plays_room = 2 * plays_room + 1024;
        plays = realloc(plays, plays_room * sizeof *plays);
        if (plays == NULL) stop("out of memory");
    }
    plays[plays_end++] = (uint32_t)number;
}

static int may_move(const int *board, int source, int die) {
    if (board[source] == 0 || (source < die && source > 5)) return 0;
    for (int i = source + 1; i < points && source < die; i++)
        if (board[i] && (i > 5 || source - die < -1)) return 0;
    return 1;
}

static void play_dice(int *board, const int *dice, int dice_left, int highest) {
    if (dice_left == 0 || number_of(board) == 0) add_play(number_of(board));
    for (int source = highest; dice_left > 0 && source >= 0; source--) {
        int target = source - dice[0];
        if (!may_move(board, source, dice[0])) continue;
        board[source]--;
        if (target >= 0) board[target]++;
        int same = dice_left > 1 && dice[1] == dice[0]; /* the moves of a double go from back to front */
        play_dice(board, dice + 1, dice_left - 1, same ? source : points - 1);
        if (target >= 0) board[target]--;
        board[source]++;
    }
}

/* Add the positions after a roll to `plays`, each once, in the specification's order; return where they end. */
static uint64_t find_plays(uint64_t number, int roll) {
    int board[32], dice[4] = {rolls[roll][0], rolls[roll][1], rolls[roll][0], rolls[roll][0]};
    board_of(number, board);
    roll_start = plays_end;
    play_dice(board, dice, weight(roll) == 1 ? 4 : 2, points - 1);
    if (weight(roll) == 2) play_dice(board, dice + 1, 2, points - 1); /* the smaller die first */
    return plays_end;
}

/* ---- two-sided files (specification, 4) ---- */

static uint64_t *start;             /* plays of roll r of position p: plays[start[21 * p + r]] to the next start */
static uint64_t wrong = UINT64_MAX; /* the first wrong number: us + them, us, column, expected number */

static int equity(uint64_t us, uint64_t them, uint64_t column) {
    return u16(40 + 2 * ((us * count + them) * columns + column)) - 32768;
}

static int best_cube_action(int no_double, int double_take) {
    if (double_take < no_double / 2) return no_double; /* C divides towards zero */
    return double_take >= 16383 ? 32767 : 2 * double_take;
}

/* Write what the record (them, j) is worth to us: one number a column, LANES apart. */
static void turn_record(uint64_t them, uint64_t j, int16_t *to) {
    to[0] = ~equity(them, j, 0);
    if (columns == 1) return;
    int opponent_owns = equity(them, j, 3);
    to[LANES] = ~opponent_owns;
    to[2 * LANES] = ~best_cube_action(equity(them, j, 2), opponent_owns);
    to[3 * LANES] = ~best_cube_action(equity(them, j, 1), opponent_owns);
}

static void keep_greater(int16_t *restrict best, const int16_t *restrict other) {
    for (uint64_t i = 0; i < columns * LANES; i += LANES)
        for (uint64_t k = i; k < i + LANES; k++) best[k] = best[k] > other[k] ? best[k] : other[k];
}

/* Check position `us` against LANES opponents; turned: what the positions after our plays are worth to us. */
static void check_row(uint64_t us, uint64_t first, const int16_t *turned) {
    int32_t sum[4 * LANES] = {0};
    for (int roll = 0; us > 0 && roll < ROLLS; roll++) {
        int16_t best[4 * LANES];
        for (int i = 0; i < 4 * LANES; i++) best[i] = INT16_MIN;
        for (uint64_t k = start[ROLLS * us + roll]; k < start[ROLLS * us + roll + 1]; k++)
            keep_greater(best, turned + plays[k] * columns * LANES);
        for (int i = 0; i < 4 * LANES; i++) sum[i] += weight(roll) * best[i];
    }
    for (uint64_t them = first; them < count && them < first + LANES; them++)
        for (uint64_t c = 0; c < columns; c++) {
            int expected = us == 0 ? 32767 : them == 0 ? -32768 : sum[c * LANES + them - first] / 36;
            if (equity(us, them, c) == expected) continue;
            uint64_t key = (((us + them) * count + us) * 4 + c) * 65536 + (uint64_t)(expected + 32768);
#pragma omp critical
            if (key < wrong) wrong = key; /* smaller keys are computed earlier */
        }
}

static void check_two_sided(void) {
    start = allocate((ROLLS * count + 1) * sizeof *start);
    for (uint64_t r = ROLLS; r < ROLLS * count; r++) start[r + 1] = find_plays(r / ROLLS, r % ROLLS);
#pragma omp parallel for schedule(dynamic)
    for (int64_t first = 0; first < (int64_t)count; first += LANES) {
        int16_t *turned = allocate(count * columns * LANES * sizeof *turned);
        for (uint64_t them = first; them < count && them < (uint64_t)first + LANES; them++)
            for (uint64_t j = 0; j < count; j++) turn_record(them, j, turned + j * columns * LANES + them - first);
        for (uint64_t us = 0; us < count; us++) check_row(us, first, turned);
        free(turned);
    }
    if (wrong == UINT64_MAX) return;
    unsigned us = wrong / 262144 % count, them = wrong / 262144 / count - us, column = wrong / 65536 % 4;
    printf("wrong: us %u, them %u, column %u: ", us, them, column);
    printf("stored %d, expected %d\n", equity(us, them, column) + 32768, (int)(wrong % 65536));
    exit(1);
}

/* ---- one-sided files (specification, 3 and 5) ---- */

static uint64_t kinds;           /* 1: bearoff alone, 2: gammon too; kind k of position p is number kinds * p + k */
static uint16_t (*table)[SLOTS]; /* the computed distributions */
static uint32_t *rank;

static void compute_distribution(uint64_t p, uint64_t kind, uint16_t *to) {
    int sums[SLOTS + 1] = {36 * 65535}, rest = 65535, largest = 0;
    int goes_on = kind ? p >= binomial[points + 14][points] : p > 0; /* gammons: fifteen chequers are left */
    for (int roll = 0; goes_on && roll < ROLLS; roll++) {
        sums[0] = 0;
        plays_end = 0;
        uint64_t end = find_plays(p, roll), best = plays[0] * kinds + kind;
        for (uint64_t k = 1; k < end; k++)
            if (rank[plays[k] * kinds + kind] < rank[best]) best = plays[k] * kinds + kind;
        for (int i = 0; i < SLOTS - 1; i++) sums[i + 1] += weight(roll) * table[best][i];
    }
    for (int i = 0; i < SLOTS; i++) {
        to[i] = (sums[i] + 18) / 36;
        rest -= to[i];
        if (to[i] > to[largest]) largest = i;
    }
    to[largest] += rest;
    for (int i = 0; i < SLOTS; i++) rank[p * kinds + kind] += i * to[i];
}

static void check_one_sided(int compressed) {
    uint64_t entry = compressed ? 4 + 2 * kinds : 0, data = 40 + count * entry, at = data;
    if (size < data) stop("the file is too short");
    table = allocate(count * kinds * sizeof *table);
    rank = allocate(count * kinds * sizeof *rank);
    for (uint64_t p = 0; p < count; p++) {
        uint64_t index = 40 + p * entry, begin = (at - data) / 2;
        if (compressed && u16(index) + 65536ULL * u16(index + 2) != begin) stop("a wrong index entry");
        for (uint64_t kind = 0; kind < kinds; kind++) {
            uint16_t *own = table[p * kinds + kind];
            compute_distribution(p, kind, own);
            int first = 0, past = SLOTS;
            while (compressed && own[first] == 0) first++; /* zeros at both ends are not stored */
            while (compressed && own[past - 1] == 0) past--;
            if (compressed && u16(index + 4 + 2 * kind) != past - first + 256 * first) stop("a wrong index entry");
            for (int i = first; i < past; i++, at += 2) {
                if (at + 2 > size) stop("the file is too short");
                if (u16(at) == own[i]) continue;
                printf("wrong: position %u, %s, roll %d: ", (unsigned)p, kind ? "gammon" : "bearoff", i);
                printf("stored %d, expected %d\n", u16(at), own[i]);
                exit(1);
            }
        }
    }
    if (at != size) stop("the file is too long");
}

int main(int argc, char **argv) {
    char head[41] = {0}, expected[60], kind = 0;
    int first = 0, compressed = 0;
    int descriptor = open(argc == 2 ? argv[1] : "", O_RDONLY);
    size = (uint64_t)lseek(descriptor, 0, SEEK_END);
    file = size < 40 ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (file == MAP_FAILED) stop("usage: check FILE (a file of 40 bytes or more)");
    memcpy(head, file, 40);
    sscanf(head, "gnubg-%cS-%2d-%2d-%1d-%1d", &kind, &points, &chequers, &first, &compressed);
    int length = sprintf(expected, "gnubg-%cS-%02d-%02d-%d", kind, points, chequers, first);
    if (kind == 'O') length += sprintf(expected + length, "-%d-0", compressed);
    sprintf(expected + length, "%.*s\n", 39 - length, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    if ((kind != 'T' && kind != 'O') || first > 1 || compressed > 1 || strcmp(head, expected))
        stop("not a file of these kinds");
    if (points < 1 || points > 12 || chequers < (kind == 'O' ? 15 : 1) || chequers > 15) stop("not of these sizes");
    for (int m = 0; m < 40; m++)
        for (int k = 0; k <= m; k++)
            binomial[m][k] = k == 0 || k == m ? 1 : binomial[m - 1][k - 1] + binomial[m - 1][k];
    count = binomial[points + chequers][points];
    columns = first ? 4 : 1;
    kinds = first ? 2 : 1;
    uint64_t entries = kind == 'T' ? count * count : count;
    if (kind == 'T' && size != 40 + 2 * entries * columns) stop("the file has another length");
    kind == 'T' ? check_two_sided() : check_one_sided(compressed);
    printf("correct: %llu entries\n", (unsigned long long)entries);
    return 0;
}
