/* bgfmt.c - see bgfmt.h. License: MIT. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#endif

#include "bgfmt.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__SSE2__) && defined(__GNUC__) && defined(__linux__) && !defined(BGFMT_NO_AVX2)
#include <immintrin.h>
#define WITH_AVX2 __attribute__((target("avx2"))) /* used where the processor has it: asked when a table is opened */
#endif

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

/* u16 * f32 - 1 must be rounded twice, as gnubg's build does; gcc -std=c99 never contracts, clang is told so */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

#if defined(__GNUC__)
#define PREFETCH(p) __builtin_prefetch((p), 0, 0)
#else
#define PREFETCH(p) ((void)(p))
#endif

enum { SMALL_FILE = 4 << 20, NEARBY = 64 << 10, AHEAD = 256 << 10 }; /* bytes: see map_file and read_ahead */
enum { HEADER = 40, MAX_CHEQUERS = 15, MAX_SIDED_POINTS = 24, HYPER_RECORD = 28 };

/* t[k][s] = C(s + k - 1, k), what s chequers on the k highest points add to a position number */
typedef uint64_t terms_table[BGFMT_BOARD + 1][MAX_CHEQUERS + 2];

struct packed;

struct bgfmt_db {
    struct packed *packed;      /* bgfmt-ts: what was made of its directory */
    const unsigned char *bytes; /* the file */
    const unsigned char *table; /* the first record or index entry */
    const unsigned char *data;  /* compressed: the values; bgsage: the gammon rows */
    const unsigned char *where; /* bgsage: row of the gammon section for each position */
    uint64_t units;             /* compressed: values in the data area; bgsage: gammon rows */
    uint64_t full;              /* the first number with all fifteen chequers on the board */
    size_t mapped;              /* bytes to unmap, 0 for the caller's memory */
    bgfmt_info info;
    terms_table terms;
};

/* ---- numbers in files: little-endian, at any address ---- */

static uint32_t u16_at(const unsigned char *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t u24_at(const unsigned char *p) { return u16_at(p) | (uint32_t)p[2] << 16; }
static uint32_t u32_at(const unsigned char *p) { return u24_at(p) | (uint32_t)p[3] << 24; }

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* As C's atoi, within the header's 40 bytes: blanks, a sign, digits; 0 without digits. */
static int number_at(const unsigned char *head, int at)
{
    int value = 0, negative = 0;
    while (at < HEADER && (head[at] == ' ' || (head[at] >= '\t' && head[at] <= '\r')))
        at++;
    if (at < HEADER && (head[at] == '-' || head[at] == '+'))
        negative = head[at++] == '-';
    for (; at < HEADER && head[at] >= '0' && head[at] <= '9'; at++)
        value = value >= 100000 ? 100000 : value * 10 + (head[at] - '0'); /* far beyond every limit: stop there */
    return negative ? -value : value;
}

/* ---- position numbers ---- */

static void make_terms(terms_table t)
{
    int k, s;
    for (s = 0; s <= MAX_CHEQUERS + 1; s++)
        t[0][s] = 1;
    for (k = 1; k <= BGFMT_BOARD; k++)
        for (t[k][0] = 0, s = 1; s <= MAX_CHEQUERS + 1; s++)
            t[k][s] = t[k][s - 1] + t[k - 1][s];
}

/* Adds up the counts; what lies beyond `points` must be empty. */
static int check_counts(int points, const uint8_t *counts, size_t n, int chequers)
{
    size_t i;
    int sum = 0, beyond = 0;
    if (n > BGFMT_BOARD || (!counts && n))
        return BGFMT_ERR_ARGUMENT;
    for (i = 0; i < n; i++) {
        sum += counts[i];
        if (i >= (size_t)points)
            beyond |= counts[i];
    }
    if (sum > MAX_CHEQUERS)
        return BGFMT_ERR_POSITION;
    return beyond || sum > chequers ? BGFMT_ERR_NOT_COVERED : BGFMT_OK;
}

static uint64_t rank(const terms_table t, int points, const uint8_t *counts, size_t n)
{
    uint64_t number = 0;
    int k, s = 0;
    for (k = 1; k <= points; k++) {
        size_t i = (size_t)(points - k);
        s += i < n ? counts[i] : 0;
        number += t[k][s];
    }
    return number;
}

int bgfmt_number(int points, const uint8_t *counts, size_t n, uint64_t *out)
{
    terms_table t;
    int status;
    if (!out || points < 1 || points > BGFMT_BOARD)
        return BGFMT_ERR_ARGUMENT;
    status = check_counts(points, counts, n, MAX_CHEQUERS);
    if (status)
        return status;
    make_terms(t);
    *out = rank((const uint64_t(*)[MAX_CHEQUERS + 2])t, points, counts, n);
    return BGFMT_OK;
}

int bgfmt_counts(int points, uint64_t number, uint8_t *out)
{
    terms_table t;
    int k, s = MAX_CHEQUERS, beyond[BGFMT_BOARD + 1];
    if (!out || points < 1 || points > BGFMT_BOARD)
        return BGFMT_ERR_ARGUMENT;
    make_terms(t);
    if (number >= t[points][MAX_CHEQUERS + 1])
        return BGFMT_ERR_POSITION;
    for (k = points; k >= 1; k--) {
        while (s && t[k][s] > number)
            s--;
        number -= t[k][s];
        beyond[k] = s;
    }
    for (beyond[0] = 0, k = 1; k <= points; k++)
        out[points - k] = (uint8_t)(beyond[k] - beyond[k - 1]);
    return BGFMT_OK;
}

static int overlap(const uint8_t *us, size_t n_us, const uint8_t *them, size_t n_them)
{
    size_t i;
    for (i = 0; i < n_us && i < 24; i++)
        if (us[i] && 23 - i < n_them && them[23 - i])
            return 1;
    return 0;
}

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int bgfmt_read_id(const char *id, uint8_t us[BGFMT_BOARD], uint8_t them[BGFMT_BOARD])
{
    unsigned char key[11] = {0};
    uint8_t sides[2][BGFMT_BOARD];
    int i, bit = 0, side, place;
    if (!id || !us || !them)
        return BGFMT_ERR_ARGUMENT;
    for (i = 0; i < 14; i++) {
        int v = value_of(id[i]), b;
        if (v < 0 || (i == 13 && v & 15)) /* the last character carries two bits */
            return BGFMT_ERR_ID;
        for (b = 0; b < 6; b++)
            if (v >> (5 - b) & 1)
                key[(6 * i + b) / 8] |= (unsigned char)(128 >> (6 * i + b) % 8);
    }
    if (id[14] != '\0' && id[14] != ':')
        return BGFMT_ERR_ID;
    for (side = 0; side < 2; side++) {
        int sum = 0;
        for (place = 0; place < BGFMT_BOARD; place++) {
            int n = 0;
            for (; bit < 80 && key[bit / 8] >> bit % 8 & 1; bit++)
                n++;
            bit++; /* the zero bit that ends this place */
            sum += n;
            if (bit > 80 || sum > MAX_CHEQUERS)
                return BGFMT_ERR_ID;
            sides[side][place] = (uint8_t)n;
        }
    }
    for (; bit < 80; bit++)
        if (key[bit / 8] >> bit % 8 & 1)
            return BGFMT_ERR_ID;
    if (overlap(sides[0], BGFMT_BOARD, sides[1], BGFMT_BOARD))
        return BGFMT_ERR_POSITION;
    memcpy(them, sides[0], BGFMT_BOARD); /* the opponent comes first */
    memcpy(us, sides[1], BGFMT_BOARD);
    return BGFMT_OK;
}

static float equity_of(uint32_t stored);

/* ---- bgfmt-ts, compressed two-sided tables: docs/formats/bgfmt-ts.md has the bytes ---- */

enum { TS_HEAD = 64, TS_DIRECTORY = 2144, TS_ESCAPE = 63, TS_MIDDLE = 31, TS_PLAIN = 255, TS_GROUP = 8192 };

typedef struct part {            /* one column's factors of a tile */
    const unsigned char *shifts; /* of the 16-bit ones, of the 8-bit ones, of the pairs of 4 bits */
    int16_t *weights;            /* of the small ones, two to each shift less the least of its kind, the 8-bit ones' as */
    uint32_t wide, narrow, pairs; /* two arrays to be multiplied; NULL: they are too far apart */
    int narrow_least, pairs_least;
} part;

typedef struct tile {
    const unsigned char *beside; /* the factors of its columns */
    uint64_t first;              /* the strip's first place, the tile's first column */
    uint32_t low, width, blocks, factors;
    const unsigned char *index;  /* of the strip's row segments */
    part parts[4];
} tile;

struct packed {
    tile *tiles;              /* groups x groups */
    uint32_t *places;         /* by position number */
    uint32_t *slots;          /* 16 x 4096: low bits << 31, symbol << 25, frequency << 12, distance */
    unsigned char *rows_right, *beside_right; /* 1: the sum was right; the only bytes that a look-up changes */
    uint32_t crc[8][256];
    unsigned char shifts[16];
    uint64_t size;
    uint32_t groups, columns, block;
    int gammons; /* 16383 is an equity of 1 */
    int avx2;
};

static uint64_t u64_at(const unsigned char *p) { return u32_at(p) | (uint64_t)u32_at(p + 4) << 32; }

static void make_crc(uint32_t t[8][256])
{
    uint32_t i, k;
    for (i = 0; i < 256; i++)
        for (t[0][i] = i, k = 0; k < 8; k++)
            t[0][i] = t[0][i] >> 1 ^ (t[0][i] & 1 ? 0xEDB88320u : 0);
    for (k = 1; k < 8; k++)
        for (i = 0; i < 256; i++)
            t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 255];
}

/* Whether the four bytes behind `size` bytes are their CRC-32. */
static int sum_right(const struct packed *ts, const unsigned char *p, uint64_t size)
{
#ifdef BGFMT_IGNORE_SUMS /* for fuzzing what lies behind them */
    (void)ts, (void)p, (void)size;
    return 1;
#else
    uint32_t c = 0xFFFFFFFFu;
    for (; size >= 8; size -= 8, p += 8) {
        uint32_t low = c ^ u32_at(p);
        c = ts->crc[7][low & 255] ^ ts->crc[6][low >> 8 & 255] ^ ts->crc[5][low >> 16 & 255] ^ ts->crc[4][low >> 24]
            ^ ts->crc[3][p[4]] ^ ts->crc[2][p[5]] ^ ts->crc[1][p[6]] ^ ts->crc[0][p[7]];
    }
    for (; size; size--, p++)
        c = ts->crc[0][(c ^ *p) & 255] ^ c >> 8;
    return (c ^ 0xFFFFFFFFu) == u32_at(p);
#endif
}

static uint32_t edge(uint64_t n, uint32_t groups, uint32_t g) { return (uint32_t)(g * n / groups); }

/* Whether the sum of products below `top`, each raised by its shift less the least of them, stays within 31 bits. */
static int together(const unsigned char *shifts, uint32_t many, int64_t top, int *least)
{
    uint32_t k;
    int64_t sum = 0;
    for (*least = 15, k = 0; k < many; k++)
        if (shifts[k] < *least)
            *least = shifts[k];
    for (k = 0; k < many; k++)
        sum += top << (shifts[k] - *least);
    return sum <= INT32_MAX;
}

/* 0: no memory. */
static int weigh(part *q)
{
    const unsigned char *narrow = q->shifts + q->wide, *pairs = narrow + q->narrow;
    uint32_t k;
    if (!together(narrow, q->narrow, 1 << 14, &q->narrow_least) || !together(pairs, q->pairs, 1 << 7, &q->pairs_least))
        return 1;
    q->weights = malloc((2 * (size_t)q->narrow + q->pairs + 1) * sizeof *q->weights);
    if (!q->weights)
        return 0;
    for (k = 0; k < q->narrow; k++) {
        int by = narrow[k] - q->narrow_least;
        q->weights[k] = (int16_t)(1 << (by < 8 ? by : 8));
        q->weights[q->narrow + k] = (int16_t)(1 << (by < 8 ? 0 : by - 8));
    }
    for (k = 0; k < q->pairs; k++) {
        int by = pairs[k] - q->pairs_least;
        q->weights[2 * q->narrow + k] = (int16_t)(1 << (by < 14 ? by : 14));
        if (by > 14) {
            free(q->weights);
            q->weights = NULL;
            return 1;
        }
    }
    return 1;
}

/* The strip of group g: from `at` to `end`, in bytes from the table's first. */
static int take_strip(const unsigned char *head, struct packed *ts, uint64_t n, uint32_t g, uint64_t at, uint64_t end)
{
    uint32_t rows = edge(n, ts->groups, g + 1) - edge(n, ts->groups, g), j, c;
    uint64_t size, i, where, begin = at, many = (uint64_t)rows * ts->groups + 1;
    const unsigned char *index, *p;
    if (end - at < 8)
        return BGFMT_ERR_CORRUPT;
    size = u32_at(head + at);
    if (size < 8 || size > end - at || !sum_right(ts, head + at, size - 4))
        return BGFMT_ERR_CORRUPT;
    for (at += 4, j = 0; j < ts->groups; j++) {
        tile *t = ts->tiles + (uint64_t)g * ts->groups + j;
        t->first = edge(n, ts->groups, g);
        t->low = edge(n, ts->groups, j);
        t->width = edge(n, ts->groups, j + 1) - t->low;
        t->blocks = (t->width + ts->block - 1) / ts->block;
        for (t->factors = 0, c = 0; c < ts->columns; c++) {
            part *q = t->parts + c;
            if (begin + size - 4 - at < 6)
                return BGFMT_ERR_CORRUPT;
            q->wide = u16_at(head + at);
            q->narrow = u16_at(head + at + 2);
            q->pairs = u16_at(head + at + 4);
            q->shifts = head + at + 6;
            at += 6;
            if (q->wide > 256 || q->narrow > 1024 || q->pairs > 1024
                || q->wide + q->narrow + q->pairs > begin + size - 4 - at)
                return BGFMT_ERR_CORRUPT;
            for (i = 0; i < q->wide + q->narrow + q->pairs; i++)
                if (q->shifts[i] > 15)
                    return BGFMT_ERR_CORRUPT;
            at += q->wide + q->narrow + q->pairs;
            t->factors += 2 * q->wide + q->narrow + q->pairs;
            if (!weigh(q))
                return BGFMT_ERR_MEMORY;
        }
    }
    if (at != begin + size - 4)
        return BGFMT_ERR_CORRUPT;
    at += 4;
    if (end - at < 8 * many + 4 || !sum_right(ts, head + at, 8 * many))
        return BGFMT_ERR_CORRUPT;
    index = head + at;
    at += 8 * many + 4;
    for (j = 0; j < ts->groups; j++) {
        tile *t = ts->tiles + (uint64_t)g * ts->groups + j;
        uint64_t bytes = (uint64_t)t->width * (t->factors + 4);
        if (bytes > end - at)
            return BGFMT_ERR_CORRUPT;
        t->beside = head + at;
        t->index = index;
        at += bytes;
    }
    for (p = index, where = at, i = 0; i < many; i++, p += 8) {
        const tile *t = ts->tiles + (uint64_t)g * ts->groups + (i + ts->groups - 1) % ts->groups; /* the one before */
        uint64_t next = u64_at(p), least = i ? t->blocks * (ts->columns == 4 ? 3u : 2u) + t->factors + 4u : 0;
        if (next < where || next > end || next - where < least || (i == 0 && next != at))
            return BGFMT_ERR_CORRUPT;
        where = next;
    }
    return where == end ? BGFMT_OK : BGFMT_ERR_CORRUPT;
}

static int take_classes(struct packed *ts, const unsigned char *p)
{
    uint32_t q, i, k;
    for (q = 0; q < 16; q++, p += 130) {
        uint32_t *slot = ts->slots + 4096 * q, left = q ? 4096 : 0;
        for (k = 0; !q && k < 4096; k++) /* class 0 leaves a stream as it is and says 0 */
            slot[k] = TS_MIDDLE << 25 | 4096 << 12 | k;
        if (u16_at(p) > 15)
            return BGFMT_ERR_CORRUPT;
        ts->shifts[q] = p[0];
        for (i = 0; i < 64; i++) {
            uint32_t many = u16_at(p + 2 + 2 * i);
            if (many > left)
                return BGFMT_ERR_CORRUPT;
            left -= many;
            for (k = 0; k < many; k++)
                *slot++ = (i == TS_ESCAPE || p[0] ? 1u << 31 : 0) | i << 25 | many << 12 | k;
        }
        if (left)
            return BGFMT_ERR_CORRUPT;
    }
    return BGFMT_OK;
}

static int take_packed(bgfmt_db *db, const unsigned char *head, uint64_t room)
{
    bgfmt_info *info = &db->info;
    struct packed *ts;
    const unsigned char *p;
    uint64_t n, size, order, end;
    uint32_t g, k, facts;
    int status;
    if (room < TS_DIRECTORY)
        return BGFMT_ERR_SHORT;
    ts = db->packed = calloc(1, sizeof *ts);
    if (!ts)
        return BGFMT_ERR_MEMORY;
    make_crc(ts->crc);
    if (!sum_right(ts, head, 60))
        return BGFMT_ERR_CORRUPT;
    if (u16_at(head + 8) == 2)
        return BGFMT_ERR_LEVEL;
    info->kind = BGFMT_TWO_SIDED;
    info->points = head[10];
    info->chequers = head[11];
    ts->columns = head[12];
    ts->groups = u16_at(head + 14);
    n = u32_at(head + 16);
    facts = u32_at(head + 20);
    size = u64_at(head + 24);
    info->gammon = ts->gammons = u16_at(head + 8) == 3 || u16_at(head + 8) == 4;
    if ((u16_at(head + 8) != 1 && !info->gammon) || info->points < 1 || info->points > BGFMT_BOARD || info->chequers < 1
        || info->chequers > MAX_CHEQUERS || (ts->columns != 1 && ts->columns != 4) || head[13] < 4 || head[13] > 12
        || n != db->terms[info->points][info->chequers + 1] || !ts->groups || ts->groups > n
        || (n + ts->groups - 1) / ts->groups > TS_GROUP || facts > 65536)
        return BGFMT_ERR_HEADER;
    ts->block = 1u << head[13];
    order = TS_DIRECTORY + 8 * ((uint64_t)ts->groups + 1);
    end = order + 4 * n + facts + 4;
    if (size < end)
        return BGFMT_ERR_HEADER;
    if (size > room)
        return BGFMT_ERR_SHORT;
    if (!sum_right(ts, head + TS_HEAD, end - 4 - TS_HEAD))
        return BGFMT_ERR_CORRUPT;
    ts->size = size;
#if defined(WITH_AVX2)
    __builtin_cpu_init();
    ts->avx2 = __builtin_cpu_supports("avx2") != 0;
#endif
    ts->places = malloc(n * sizeof *ts->places);
    ts->slots = calloc(16 * 4096, sizeof *ts->slots);
    ts->tiles = calloc((size_t)ts->groups * ts->groups, sizeof *ts->tiles);
    ts->rows_right = calloc(n, ts->groups);
    ts->beside_right = calloc(n, ts->groups);
    if (!ts->places || !ts->slots || !ts->tiles || !ts->rows_right || !ts->beside_right)
        return BGFMT_ERR_MEMORY;
    status = take_classes(ts, head + TS_HEAD);
    if (status)
        return status;
    memset(ts->places, 255, n * sizeof *ts->places);
    for (p = head + order, k = 0; k < n; k++, p += 4) {
        uint32_t number = u32_at(p);
        if (number >= n || ts->places[number] != UINT32_MAX)
            return BGFMT_ERR_CORRUPT;
        ts->places[number] = k;
    }
    for (p = head + TS_DIRECTORY, g = 0; g < ts->groups; g++, p += 8) {
        uint64_t at = u64_at(p), next = u64_at(p + 8);
        if (at != end || next < at || next > size)
            return BGFMT_ERR_CORRUPT;
        status = take_strip(head, ts, n, g, at, next);
        if (status)
            return status;
        end = next;
    }
    if (end != size)
        return BGFMT_ERR_CORRUPT;
    info->positions = n;
    info->cubeful = ts->columns == 4;
    info->compressed = 1;
    info->header_bytes = TS_HEAD;
    info->table_bytes = size;
    db->table = head;
    return BGFMT_OK;
}

static void release_packed(struct packed *ts)
{
    if (ts) {
        uint64_t k, c;
        for (k = 0; ts->tiles && k < (uint64_t)ts->groups * ts->groups; k++)
            for (c = 0; c < 4; c++)
                free(ts->tiles[k].parts[c].weights);
        free(ts->places);
        free(ts->slots);
        free(ts->tiles);
        free(ts->rows_right);
        free(ts->beside_right);
        free(ts);
    }
}

static int signed_low(unsigned v) { return (int)((v & 15) ^ 8) - 8; }
static int signed_byte(unsigned v) { return (int)(v ^ 128) - 128; }
static int signed_high(unsigned v) { return signed_low(v >> 4); }

/* Sums of products of factors `k` to many - 1. Doubles hold these exactly: 256 products of 45 bits. */
static int64_t dot_wide(const unsigned char *a, const unsigned char *b, const unsigned char *shifts, uint32_t many,
                        uint32_t k)
{
    enum { STEP = 8 };
    double sums[STEP] = {0}, total = 0;
    uint32_t i;
    for (; k + STEP <= many; k += STEP)
        for (i = 0; i < STEP; i++) {
            int16_t x = (int16_t)(a[k + i] << 8 | a[many + k + i]), y = (int16_t)(b[k + i] << 8 | b[many + k + i]);
            sums[i] += (double)(x * y) * (double)(1 << shifts[k + i]);
        }
    for (; k < many; k++) {
        int32_t x = signed_byte(a[k]) * 256 + a[many + k], y = signed_byte(b[k]) * 256 + b[many + k];
        total += (double)(x * y) * (double)(1 << shifts[k]);
    }
    for (i = 0; i < STEP; i++)
        total += sums[i];
    return (int64_t)total;
}

#if defined(__SSE2__)
/* Eight bytes, each in the upper half of 16 bits. */
static __m128i raised(const unsigned char *p)
{
    return _mm_unpacklo_epi8(_mm_setzero_si128(), _mm_loadl_epi64((const __m128i *)(const void *)p));
}

static __m128i weights_at(const int16_t *w) { return _mm_loadu_si128((const __m128i *)(const void *)w); }

static int32_t added(__m128i sums)
{
    int32_t four[4];
    _mm_storeu_si128((__m128i *)(void *)four, sums);
    return four[0] + four[1] + four[2] + four[3];
}
#endif

static int32_t dot_narrow(const unsigned char *a, const unsigned char *b, const int16_t *w, uint32_t many, uint32_t k)
{
    int32_t sum = 0;
#if defined(__SSE2__)
    __m128i sums = _mm_setzero_si128();
    for (; k + 8 <= many; k += 8) {
        __m128i x = _mm_mullo_epi16(_mm_srai_epi16(raised(a + k), 8), weights_at(w + k));
        __m128i y = _mm_mullo_epi16(_mm_srai_epi16(raised(b + k), 8), weights_at(w + many + k));
        sums = _mm_add_epi32(sums, _mm_madd_epi16(x, y));
    }
    sum = added(sums);
#endif
    for (; k < many; k++)
        sum += signed_byte(a[k]) * w[k] * (signed_byte(b[k]) * w[many + k]);
    return sum;
}

static int dot_pair(unsigned a, unsigned b)
{
    return signed_low(a) * signed_low(b) + signed_high(a) * signed_high(b);
}

static int32_t dot_pairs(const unsigned char *a, const unsigned char *b, const int16_t *w, uint32_t many, uint32_t k)
{
    int32_t sum = 0;
#if defined(__SSE2__)
    __m128i sums = _mm_setzero_si128();
    for (; k + 8 <= many; k += 8) {
        __m128i x = raised(a + k), y = raised(b + k);
        __m128i high = _mm_mullo_epi16(_mm_srai_epi16(x, 12), _mm_srai_epi16(y, 12));
        x = _mm_srai_epi16(_mm_slli_epi16(x, 4), 12);
        y = _mm_srai_epi16(_mm_slli_epi16(y, 4), 12);
        sums = _mm_add_epi32(sums, _mm_madd_epi16(_mm_add_epi16(high, _mm_mullo_epi16(x, y)), weights_at(w + k)));
    }
    sum = added(sums);
#endif
    for (; k < many; k++)
        sum += dot_pair(a[k], b[k]) * w[k];
    return sum;
}

#if defined(WITH_AVX2)
/* Bytes as 16 numbers of 16 bits. */
WITH_AVX2 static __m256i widened(const unsigned char *p)
{
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)p));
}

WITH_AVX2 static __m256i words_at(const int16_t *w) { return _mm256_loadu_si256((const __m256i *)(const void *)w); }

/* Eight factors of 16 bits, their upper bytes at `p`. */
WITH_AVX2 static __m256i wide_at(const unsigned char *p, uint32_t many)
{
    __m128i high = _mm_loadl_epi64((const __m128i *)(const void *)p);
    __m128i low = _mm_loadl_epi64((const __m128i *)(const void *)(p + many));
    return _mm256_cvtepi16_epi32(_mm_unpacklo_epi8(low, high));
}

/* The three sums of a column, as the functions above have them, of as many factors as whole vectors take. */
WITH_AVX2 static int64_t dots_avx2(const part *q, const unsigned char *a, const unsigned char *b, int64_t *small)
{
    const int16_t *w = q->weights;
    __m256i x, y, sums = _mm256_setzero_si256(), pairs = sums, wide = sums;
    int64_t totals[4];
    int32_t parts[16];
    uint32_t k;
    for (k = 0; k + 8 <= q->wide; k += 8) {
        __m256i v = _mm256_mullo_epi32(wide_at(a + k, q->wide), wide_at(b + k, q->wide));
        __m128i shifts = _mm_loadl_epi64((const __m128i *)(const void *)(q->shifts + k));
        x = _mm256_sllv_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(v)), _mm256_cvtepu8_epi64(shifts));
        y = _mm256_sllv_epi64(_mm256_cvtepi32_epi64(_mm256_extracti128_si256(v, 1)),
                              _mm256_cvtepu8_epi64(_mm_srli_si128(shifts, 4)));
        wide = _mm256_add_epi64(wide, _mm256_add_epi64(x, y));
    }
    a += 2 * q->wide;
    b += 2 * q->wide;
    for (k = 0; k + 16 <= q->narrow; k += 16) {
        x = _mm256_mullo_epi16(widened(a + k), words_at(w + k));
        y = _mm256_mullo_epi16(widened(b + k), words_at(w + q->narrow + k));
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(x, y));
    }
    a += q->narrow;
    b += q->narrow;
    w += 2 * q->narrow;
    for (k = 0; k + 16 <= q->pairs; k += 16) {
        __m256i high;
        x = widened(a + k);
        y = widened(b + k);
        high = _mm256_mullo_epi16(_mm256_srai_epi16(x, 4), _mm256_srai_epi16(y, 4));
        x = _mm256_srai_epi16(_mm256_slli_epi16(x, 12), 12);
        y = _mm256_srai_epi16(_mm256_slli_epi16(y, 12), 12);
        pairs = _mm256_add_epi32(pairs, _mm256_madd_epi16(_mm256_add_epi16(high, _mm256_mullo_epi16(x, y)), words_at(w + k)));
    }
    _mm256_storeu_si256((__m256i *)(void *)parts, sums);
    _mm256_storeu_si256((__m256i *)(void *)(parts + 8), pairs);
    for (small[0] = small[1] = 0, k = 0; k < 8; k++) {
        small[0] += parts[k];
        small[1] += parts[8 + k];
    }
    _mm256_storeu_si256((__m256i *)(void *)totals, wide);
    return totals[0] + totals[1] + totals[2] + totals[3];
}
#endif

/* The small factors of a column that are too far apart for weights of 16 bits. */
static int64_t dot_apart(const part *q, const unsigned char *a, const unsigned char *b)
{
    const unsigned char *shifts = q->shifts + q->wide;
    int64_t total = 0;
    uint32_t k;
    for (k = 0; k < q->narrow; k++)
        total += (int64_t)(signed_byte(a[k]) * signed_byte(b[k])) * (1 << shifts[k]);
    for (; k < q->narrow + q->pairs; k++)
        total += (int64_t)dot_pair(a[k], b[k]) * (1 << shifts[k]);
    return total;
}

/* Right shift that rounds down, of any number. */
static int64_t floor_shift(int64_t value, int by) { return value < 0 ? ~(~value >> by) : value >> by; }

/* The prediction of one column of a record, from the factors of its row and its column. */
static int64_t predict(const struct packed *ts, const part *q, const unsigned char *a, const unsigned char *b)
{
    const int16_t *w = q->weights;
    const uint32_t past = 2 * q->wide;
    uint32_t wide = 0, narrow = 0, pairs = 0;
    int64_t total = 0, small[2] = {0, 0};
#if defined(WITH_AVX2)
    if (ts->avx2 && w) {
        total = dots_avx2(q, a, b, small);
        wide = q->wide / 8 * 8;
        narrow = q->narrow / 16 * 16;
        pairs = q->pairs / 16 * 16;
    }
#else
    (void)ts;
#endif
    if (wide < q->wide)
        total += dot_wide(a, b, q->shifts, q->wide, wide);
    total = floor_shift(total, 10);
    a += past;
    b += past;
    if (!w)
        return total + dot_apart(q, a, b);
    if (narrow < q->narrow)
        small[0] += dot_narrow(a, b, w, q->narrow, narrow);
    if (pairs < q->pairs)
        small[1] += dot_pairs(a + q->narrow, b + q->narrow, w + 2 * q->narrow, q->pairs, pairs);
    return total + small[0] * (1 << q->narrow_least) + small[1] * (1 << q->pairs_least);
}

/* A record on its way: where its factors are, and the stream that its residuals are the last of. */
typedef struct probe {
    const tile *t;
    const unsigned char *mine, *theirs;
    const unsigned char *at, *least, *most; /* the next unit; a sound stream stays between the others */
    uint32_t x, left;                       /* its state, records that are left of it */
    unsigned char kinds[4];                 /* the classes of its columns */
    signed char step, stored;               /* `found` is the record itself */
    uint16_t found[4];
} probe;

static void no_stream(const unsigned char *anywhere, probe *p)
{
    memset(p->kinds, 0, sizeof p->kinds);
    p->at = p->least = p->most = anywhere;
    p->step = 0;
    p->x = 65536;
    p->left = 0;
}

/* The tile of a record, the number of its row segment in the strip, its column in the tile. */
static const tile *tile_of(const bgfmt_db *db, uint64_t us, uint64_t them, uint64_t *which, uint32_t *column)
{
    const struct packed *ts = db->packed;
    uint32_t row = ts->places[us], place = ts->places[them];
    uint64_t groups = ts->groups, n = db->info.positions;
    uint64_t g = (row * groups + groups - 1) / n, j = (place * groups + groups - 1) / n;
    const tile *t;
    while (edge(n, ts->groups, (uint32_t)g) > row)
        g--;
    while (edge(n, ts->groups, (uint32_t)g + 1) <= row)
        g++;
    while (edge(n, ts->groups, (uint32_t)j) > place)
        j--;
    while (edge(n, ts->groups, (uint32_t)j + 1) <= place)
        j++;
    t = ts->tiles + g * groups + j;
    *which = (row - t->first) * groups + j;
    *column = place - t->low;
    return t;
}

static void fetch(const unsigned char *p, uint64_t size)
{
    uint64_t k;
    for (k = 0; k < size; k += 64)
        PREFETCH(p + k);
}

/* Has the memory bring what a record needs: first what says where its row segment is, later that. */
static void fetch_packed(const bgfmt_db *db, uint64_t us, uint64_t them, int later)
{
    uint64_t which;
    uint32_t column;
    const tile *t;
    if (us >= db->info.positions || them >= db->info.positions)
        return;
    t = tile_of(db, us, them, &which, &column);
    if (later)
        fetch(db->table + u64_at(t->index + 8 * which), t->blocks * 3 + t->factors);
    else {
        PREFETCH(t->index + 8 * which);
        fetch(t->beside + (uint64_t)column * (t->factors + 4), t->factors);
    }
}

/* Finds a record: with `left` 0 there is nothing to decode. */
static int find_packed(const bgfmt_db *db, uint64_t us, uint64_t them, probe *p)
{
    const struct packed *ts = db->packed;
    const uint32_t columns = ts->columns, kept = columns == 4 ? 2 : 1;
    uint32_t column, c, k, b, within, units, half, plain = 0, before = 0;
    uint64_t which, size;
    const tile *t = p->t = tile_of(db, us, them, &which, &column);
    const unsigned char *start = db->table + u64_at(t->index + 8 * which), *lengths = start + t->blocks * kept, *at;
    const unsigned char *end = db->table + u64_at(t->index + 8 * which + 8) - 4;
    unsigned char *row_right = ts->rows_right + t->first * ts->groups + which;
    unsigned char *beside_right = ts->beside_right + (t - ts->tiles) / ts->groups * db->info.positions + t->low + column;
    p->mine = lengths + t->blocks;
    p->theirs = t->beside + (uint64_t)column * (t->factors + 4);
    if (!*row_right) {
        if (!sum_right(ts, start, (uint64_t)(end - start)))
            return BGFMT_ERR_CORRUPT;
        *row_right = 1;
    }
    if (!*beside_right) {
        if (!sum_right(ts, p->theirs, t->factors))
            return BGFMT_ERR_CORRUPT;
        *beside_right = 1;
    }
    no_stream(start, p);
    p->stored = 0;
    memset(p->found, 0, sizeof p->found);
    b = column / ts->block;
    within = column % ts->block;
    at = p->mine + t->factors;
    k = 0;
#if defined(__SSE2__)
    {
        __m128i sums = _mm_setzero_si128(), plains = sums;
        uint64_t two[4];
        for (; k + 16 <= b; k += 16) {
            __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(lengths + k));
            __m128i is = _mm_sub_epi8(_mm_setzero_si128(), _mm_cmpeq_epi8(v, _mm_set1_epi8((char)TS_PLAIN)));
            sums = _mm_add_epi64(sums, _mm_sad_epu8(v, _mm_setzero_si128()));
            plains = _mm_add_epi64(plains, _mm_sad_epu8(is, _mm_setzero_si128()));
        }
        _mm_storeu_si128((__m128i *)(void *)two, sums);
        _mm_storeu_si128((__m128i *)(void *)(two + 2), plains);
        before = (uint32_t)(two[0] + two[1]);
        plain = (uint32_t)(two[2] + two[3]);
    }
#endif
    for (; k < b; k++) {
        before += lengths[k];
        plain += lengths[k] == TS_PLAIN;
    }
    size = 2 * (uint64_t)(before - TS_PLAIN * plain) + 2 * (uint64_t)columns * ts->block * plain;
    if (size > (uint64_t)(end - at))
        return BGFMT_ERR_CORRUPT;
    at += size;
    units = lengths[b];
    size = units == TS_PLAIN ? 2 * columns * (within + 1) : 2 * units;
    if (size > (uint64_t)(end - at))
        return BGFMT_ERR_CORRUPT;
    if (units == TS_PLAIN) {
        for (c = 0; c < columns; c++)
            p->found[c] = (uint16_t)u16_at(at + 2 * (within * columns + c));
        p->stored = 1;
        return BGFMT_OK;
    }
    for (c = 0; c < columns; c++) {
        uint32_t kind = start[b * kept + c / 2] >> 4 * (c % 2) & 15;
        if (!units && kind)
            return BGFMT_ERR_CORRUPT;
        p->kinds[c] = (unsigned char)kind;
    }
    if (!units)
        return BGFMT_OK;
    if (units < 4)
        return BGFMT_ERR_CORRUPT;
    end = at + size;
    half = t->width - b * ts->block < ts->block ? t->width - b * ts->block : ts->block;
    half = (half + 1) / 2;
    p->least = at + 2;
    p->most = end - 4;
    if (within < half) {
        p->x = u32_at(at);
        p->at = at + 4;
        p->step = 2;
        p->left = within + 1;
    } else {
        p->x = u16_at(end - 2) | u16_at(end - 4) << 16;
        p->at = end - 6;
        p->step = -2;
        p->left = within + 1 - half;
    }
    return p->x < 65536 ? BGFMT_ERR_CORRUPT : BGFMT_OK;
}

/* The low bits of a residual, which most have none of. */
static uint32_t low_bits(const struct packed *ts, const probe *p, uint32_t c, uint32_t symbol, uint32_t *x,
                         const unsigned char **at)
{
    uint32_t shift = ts->shifts[p->kinds[c]], value = symbol - TS_MIDDLE;
    if (*at < p->least || *at > p->most)
        *at = p->least;
    if (symbol == TS_ESCAPE) {
        value = 0;
        shift = 16;
    }
    value = (value << shift) + (*x & ((1u << shift) - 1));
    *x >>= shift;
    if (*x < 65536) {
        *x = *x << 16 | u16_at(*at);
        *at += p->step;
    }
    return value;
}

/* One symbol; whether a unit is needed is never known before, so there is no branch. */
#define TAKE(x, at, step, slot)                                            \
    do {                                                                   \
        uint32_t next = u16_at(at), shorter;                               \
        x = (slot >> 12 & 8191) * (x >> 12) + (slot & 4095);               \
        shorter = 0u - (x < 65536);                                        \
        x = x << (shorter & 16) | (next & shorter);                        \
        at += (step) & (ptrdiff_t)(int32_t)shorter;                        \
    } while (0)

/* A damaged stream is kept within its block and the four bytes behind it, where every segment has its sum. */
#define KEEP(p, at) ((at) < (p)->least || (at) > (p)->most ? (p)->least : (at))

static uint16_t residual_of(const struct packed *ts, const probe *p, uint32_t c, uint32_t slot, uint32_t *x,
                            const unsigned char **at)
{
    uint32_t symbol = slot >> 25 & 63;
    return (uint16_t)(slot >> 31 ? low_bits(ts, p, c, symbol, x, at) : symbol - TS_MIDDLE);
}

/* All that a probe has left. */
static void decode(const struct packed *ts, probe *p)
{
    const unsigned char *at = p->at;
    uint32_t c, x = p->x;
    for (; p->left; p->left--) {
        at = KEEP(p, at);
        for (c = 0; c < ts->columns; c++) {
            uint32_t slot = ts->slots[4096 * p->kinds[c] + (x & 4095)];
            TAKE(x, at, (ptrdiff_t)p->step, slot);
            p->found[c] = residual_of(ts, p, c, slot, &x, &at);
        }
    }
    p->at = at;
    p->x = x;
}

/* `steps` records of each of four probes: the processor need not wait for any one of them. */
static void decode_four(const struct packed *ts, probe *const p[4], uint32_t steps)
{
    probe *const p0 = p[0], *const p1 = p[1], *const p2 = p[2], *const p3 = p[3];
    const ptrdiff_t s0 = p0->step, s1 = p1->step, s2 = p2->step, s3 = p3->step;
    const unsigned char *a0 = p0->at, *a1 = p1->at, *a2 = p2->at, *a3 = p3->at;
    uint32_t x0 = p0->x, x1 = p1->x, x2 = p2->x, x3 = p3->x, c, k;
    for (k = 0; k < steps; k++) {
        a0 = KEEP(p0, a0);
        a1 = KEEP(p1, a1);
        a2 = KEEP(p2, a2);
        a3 = KEEP(p3, a3);
        for (c = 0; c < ts->columns; c++) {
            uint32_t q0 = ts->slots[4096 * p0->kinds[c] + (x0 & 4095)], q1 = ts->slots[4096 * p1->kinds[c] + (x1 & 4095)];
            uint32_t q2 = ts->slots[4096 * p2->kinds[c] + (x2 & 4095)], q3 = ts->slots[4096 * p3->kinds[c] + (x3 & 4095)];
            TAKE(x0, a0, s0, q0);
            TAKE(x1, a1, s1, q1);
            TAKE(x2, a2, s2, q2);
            TAKE(x3, a3, s3, q3);
            if ((q0 | q1 | q2 | q3) >> 31) {
                const unsigned char *b[4];
                uint32_t y[4];
                b[0] = a0, b[1] = a1, b[2] = a2, b[3] = a3;
                y[0] = x0, y[1] = x1, y[2] = x2, y[3] = x3;
                p0->found[c] = residual_of(ts, p0, c, q0, y, b);
                p1->found[c] = residual_of(ts, p1, c, q1, y + 1, b + 1);
                p2->found[c] = residual_of(ts, p2, c, q2, y + 2, b + 2);
                p3->found[c] = residual_of(ts, p3, c, q3, y + 3, b + 3);
                a0 = b[0], a1 = b[1], a2 = b[2], a3 = b[3];
                x0 = y[0], x1 = y[1], x2 = y[2], x3 = y[3];
            } else {
                p0->found[c] = (uint16_t)((q0 >> 25) - TS_MIDDLE);
                p1->found[c] = (uint16_t)((q1 >> 25) - TS_MIDDLE);
                p2->found[c] = (uint16_t)((q2 >> 25) - TS_MIDDLE);
                p3->found[c] = (uint16_t)((q3 >> 25) - TS_MIDDLE);
            }
        }
    }
    p0->at = a0, p1->at = a1, p2->at = a2, p3->at = a3;
    p0->x = x0, p1->x = x1, p2->x = x2, p3->x = x3;
    p0->left -= steps, p1->left -= steps, p2->left -= steps, p3->left -= steps;
}

/* The record of a probe whose residuals have been decoded. */
static int settle(const struct packed *ts, const probe *p, float *out)
{
    const unsigned char *mine = p->mine, *theirs = p->theirs;
    uint32_t c;
    if (p->step && (p->at < p->least || p->at > p->most))
        return BGFMT_ERR_CORRUPT;
    for (c = 0; c < ts->columns; c++) {
        const part *q = p->t->parts + c;
        int64_t total = 0;
        if (!p->stored) {
            total = floor_shift(predict(ts, q, mine, theirs) + 8192, 14) + 32768;
            total = total < 0 ? 0 : total > 65535 ? 65535 : total;
            mine += 2 * q->wide + q->narrow + q->pairs;
            theirs += 2 * q->wide + q->narrow + q->pairs;
        }
        total = (total + p->found[c]) & 65535;
        out[c] = ts->gammons ? ((float)total - 32768.0f) / 16383.0f : equity_of((uint32_t)total);
    }
    return BGFMT_OK;
}

static int packed_equities(const bgfmt_db *db, uint64_t us, uint64_t them, float *out)
{
    probe p;
    int status = find_packed(db, us, them, &p);
    if (status)
        return status;
    decode(db->packed, &p);
    return settle(db->packed, &p, out);
}

enum { TOGETHER = 256, MOST_LEFT = 2048 };

/* The probes that have records left, those with fewest first; how many they are. */
static uint32_t by_length(probe *p, uint32_t many, probe **out)
{
    uint16_t ends[MOST_LEFT + 1];
    uint32_t i, most = 0, total = 0;
    for (i = 0; i < many; i++)
        most = p[i].left > most ? p[i].left : most;
    memset(ends, 0, (most + 1) * sizeof *ends);
    for (i = 0; i < many; i++)
        ends[p[i].left]++;
    for (i = 1; i <= most; i++) {
        uint32_t before = total;
        total += ends[i];
        ends[i] = (uint16_t)before;
    }
    for (i = 0; i < many; i++)
        if (p[i].left)
            out[ends[p[i].left]++] = p + i;
    return total;
}

/* Many records: they are found first, then decoded four at a time, those that are as long together. */
static int packed_some(const bgfmt_db *db, uint32_t count, const uint32_t *us, const uint32_t *them, float *out)
{
    enum { SOON = 4, LATER = 8 };
    const struct packed *ts = db->packed;
    const uint64_t n = db->info.positions;
    probe p[TOGETHER], idle, *found[TOGETHER + 3];
    uint32_t i, k, busy, left;
    int status;
    for (i = 0; i < count; i++) {
        if (i + SOON < count)
            fetch_packed(db, us[i + SOON], them[i + SOON], 1);
        if (i + LATER < count)
            fetch_packed(db, us[i + LATER], them[i + LATER], 0);
        status = us[i] < n && them[i] < n ? find_packed(db, us[i], them[i], p + i) : BGFMT_ERR_NOT_COVERED;
        if (status)
            return status;
        if (p[i].left)
            fetch(p[i].least, (uint64_t)(p[i].most - p[i].least));
    }
    no_stream(db->table, &idle);
    busy = by_length(p, count, found);
    for (k = 0; k < 3; k++)
        found[busy + k] = &idle;
    for (i = 0; i < busy; i += 4)
        for (;;) {
            for (left = 0, k = 0; k < 4; k++) {
                if (!found[i + k]->left)
                    found[i + k] = &idle;
                else if (!left || found[i + k]->left < left)
                    left = found[i + k]->left;
            }
            if (!left)
                break;
            idle.left = left;
            decode_four(ts, found + i, left);
            idle.left = 0;
        }
    for (i = 0; i < count; i++) {
        status = settle(ts, p + i, out + (size_t)i * ts->columns);
        if (status)
            return status;
    }
    return BGFMT_OK;
}

static int packed_many(const bgfmt_db *db, size_t count, const uint32_t *us, const uint32_t *them, float *out)
{
    size_t at;
    for (at = 0; at < count; at += TOGETHER) {
        uint32_t some = count - at < TOGETHER ? (uint32_t)(count - at) : TOGETHER;
        int status = packed_some(db, some, us + at, them + at, out + at * db->packed->columns);
        if (status)
            return status;
    }
    return BGFMT_OK;
}

/* ---- opening ---- */

/* Whether a table of `count` records of `size` bytes each fits into `room` bytes, without overflow. */
static int fits(uint64_t count, uint64_t size, uint64_t room) { return count <= room / size; }

static int take_compressed(bgfmt_db *db, uint64_t room)
{
    bgfmt_info *info = &db->info;
    uint64_t n = info->positions;
    const unsigned char *last;
    info->index_bytes = info->gammon ? 8 : 6;
    /* Before March 2009 files without gammon data had 8-byte entries; position 1's values always start at 1. */
    if (!info->gammon && room >= 12 && u32_at(db->table + 6) != 1 && u32_at(db->table + 8) == 1)
        info->index_bytes = 8;
    if (!fits(n, (uint64_t)info->index_bytes, room))
        return BGFMT_ERR_SHORT;
    db->data = db->table + n * (uint64_t)info->index_bytes;
    room -= n * (uint64_t)info->index_bytes;
    last = db->data - info->index_bytes;
    db->units = (uint64_t)u32_at(last) + last[4] + (info->gammon ? last[6] : 0);
    if (!fits(db->units, 2, room))
        return BGFMT_ERR_SHORT;
    info->table_bytes += n * (uint64_t)info->index_bytes + 2 * db->units;
    return BGFMT_OK;
}

static int take_records(bgfmt_db *db, uint64_t room)
{
    bgfmt_info *info = &db->info;
    uint64_t n = info->positions, size = 16, count = n;
    if (info->kind == BGFMT_ONE_SIDED)
        size = info->gammon ? 128 : 64;
    if (info->kind == BGFMT_TWO_SIDED)
        size = info->cubeful ? 8 : 2;
    if (info->kind == BGFMT_HYPERGAMMON)
        size = HYPER_RECORD;
    if (info->kind == BGFMT_TWO_SIDED || info->kind == BGFMT_HYPERGAMMON) {
        if (n > UINT32_MAX) /* n * n would overflow, and no file is so long */
            return BGFMT_ERR_SHORT;
        count = n * n;
    }
    if (!fits(count, size, room))
        return BGFMT_ERR_SHORT;
    info->table_bytes += count * size;
    return BGFMT_OK;
}

static int take_bgsage(bgfmt_db *db, const unsigned char *head, uint64_t room)
{
    static const uint32_t expected[6] = {0x42454152u, 1, 6, 15, 32, 54264};
    const uint64_t n = 54264, body = 72 * n;
    bgfmt_info *info = &db->info;
    int i;
    if (room < 28)
        return BGFMT_ERR_SHORT;
    for (i = 0; i < 6; i++)
        if (u32_at(head + 4 * i) != expected[i])
            return BGFMT_ERR_HEADER;
    db->units = u32_at(head + 24);
    if (db->units > n)
        return BGFMT_ERR_HEADER;
    room -= 28;
    if (room < body || !fits(db->units, 64, room - body))
        return BGFMT_ERR_SHORT;
    info->kind = BGFMT_ONE_SIDED;
    info->points = 6;
    info->chequers = 15;
    info->gammon = db->units > 0;
    info->bgsage = 1;
    info->header_bytes = 28;
    info->table_bytes = 28 + body + 64 * db->units;
    db->table = head + 28;
    db->where = db->table + 68 * n;
    db->data = db->table + body;
    return BGFMT_OK;
}

static int read_header(bgfmt_info *info, const unsigned char *head)
{
    info->header_bytes = HEADER;
    if (head[6] == 'T' && head[7] == 'S')
        info->kind = BGFMT_TWO_SIDED;
    else if (head[6] == 'O' && head[7] == 'S')
        info->kind = BGFMT_ONE_SIDED;
    else if (head[6] == 'H')
        info->kind = BGFMT_HYPERGAMMON;
    else
        return BGFMT_ERR_UNKNOWN;
    if (info->kind == BGFMT_HYPERGAMMON) {
        info->chequers = number_at(head, 7);
        return BGFMT_OK;
    }
    info->points = number_at(head, 9);
    info->chequers = number_at(head, 12);
    if (info->points > 23) /* gnubg's own limit; a headerless layout may name 24 */
        return BGFMT_ERR_HEADER;
    if (info->kind == BGFMT_TWO_SIDED) {
        info->cubeful = number_at(head, 15) != 0;
        return BGFMT_OK;
    }
    info->gammon = number_at(head, 15) != 0;
    info->compressed = number_at(head, 17) != 0;
    if (number_at(head, 19) != 0)
        info->kind = BGFMT_NORMAL;
    return BGFMT_OK;
}

/* Fills a handle whose bytes and file size are set. */
static int take(bgfmt_db *db, const bgfmt_layout *layout)
{
    bgfmt_info *info = &db->info;
    const unsigned char *head;
    uint64_t room;
    int status = BGFMT_OK, refusal = BGFMT_ERR_HEADER;
    info->offset = layout ? layout->offset : 0;
    if (info->offset > info->file_bytes)
        return BGFMT_ERR_SHORT;
    head = db->bytes + info->offset;
    room = info->file_bytes - info->offset;
    make_terms(db->terms);
    if (!layout || layout->kind == BGFMT_HEADER) {
        if (room >= 4 && memcmp(head, "RAEB", 4) == 0) {
            status = take_bgsage(db, head, room);
            info->positions = 54264;
            db->full = 38760;
            return status;
        }
        if (room >= 8 && memcmp(head, "bgfmt-ts", 8) == 0) {
            return take_packed(db, head, room);
        }
        if (room < 5 || memcmp(head, "gnubg", 5) != 0)
            return BGFMT_ERR_UNKNOWN;
        if (room < HEADER)
            return BGFMT_ERR_SHORT;
        status = read_header(info, head);
        if (status)
            return status;
    } else {
        refusal = BGFMT_ERR_ARGUMENT;
        if (layout->kind < BGFMT_ONE_SIDED || layout->kind > BGFMT_HYPERGAMMON)
            return refusal;
        info->kind = layout->kind;
        info->points = layout->points;
        info->chequers = layout->chequers;
        info->gammon = info->kind == BGFMT_ONE_SIDED && layout->gammon;
        info->compressed = info->kind == BGFMT_ONE_SIDED && layout->compressed;
        info->cubeful = info->kind == BGFMT_TWO_SIDED && layout->cubeful;
    }
    if (info->kind == BGFMT_NORMAL) { /* its gammon pair is always there, and it is never compressed */
        info->gammon = 1;
        info->compressed = 0;
    }
    if (info->kind == BGFMT_HYPERGAMMON) {
        info->points = BGFMT_BOARD;
        if (info->chequers > 3)
            return refusal;
    } else if (info->points < 1 || info->points > MAX_SIDED_POINTS)
        return refusal;
    if (info->chequers < 1 || info->chequers > MAX_CHEQUERS)
        return refusal;
    info->positions = db->terms[info->points][info->chequers + 1];
    db->full = db->terms[info->points][MAX_CHEQUERS];
    db->table = head + info->header_bytes;
    info->table_bytes = (uint64_t)info->header_bytes;
    room -= (uint64_t)info->header_bytes;
    return info->compressed ? take_compressed(db, room) : take_records(db, room);
}

static void release(bgfmt_db *db)
{
    release_packed(db->packed);
    if (db->mapped) {
#if defined(_WIN32)
        UnmapViewOfFile(db->bytes);
#else
        munmap((void *)(uintptr_t)db->bytes, db->mapped);
#endif
    }
    free(db);
}

#if defined(_WIN32)
static int map_file(const char *path, bgfmt_db *db)
{
    int length = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
    wchar_t *wide = length > 0 ? malloc((size_t)length * sizeof *wide) : NULL;
    HANDLE file, mapping;
    LARGE_INTEGER size;
    int status = BGFMT_ERR_OPEN;
    if (!wide)
        return length > 0 ? BGFMT_ERR_MEMORY : BGFMT_ERR_OPEN;
    MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, length);
    file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                       FILE_FLAG_RANDOM_ACCESS, NULL);
    free(wide);
    if (file == INVALID_HANDLE_VALUE)
        return BGFMT_ERR_OPEN;
    if (GetFileType(file) == FILE_TYPE_DISK && GetFileSizeEx(file, &size)) { /* not a pipe or a device */
        if (size.QuadPart == 0)
            status = BGFMT_ERR_UNKNOWN;
        else if ((uint64_t)size.QuadPart > SIZE_MAX)
            status = BGFMT_ERR_TOO_LARGE;
        else if ((mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL)) != NULL) {
            db->bytes = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
            CloseHandle(mapping); /* the view keeps it alive */
            if (db->bytes) {
                db->mapped = (size_t)size.QuadPart;
                db->info.file_bytes = (uint64_t)size.QuadPart;
                status = BGFMT_OK;
            }
        }
    }
    CloseHandle(file);
    return status;
}
#else
static int map_file(const char *path, bgfmt_db *db)
{
    struct stat facts;
    int status = BGFMT_ERR_OPEN, file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang us */
    if (file < 0)
        return BGFMT_ERR_OPEN;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)) {
        if (facts.st_size == 0)
            status = BGFMT_ERR_UNKNOWN;
        else if ((uint64_t)facts.st_size > SIZE_MAX)
            status = BGFMT_ERR_TOO_LARGE;
        else {
            void *bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_SHARED, file, 0);
            if (bytes != MAP_FAILED) {
                /* look-ups are scattered: one page each, not the 32 the system would read around it */
                posix_madvise(bytes, (size_t)facts.st_size, POSIX_MADV_RANDOM);
                if (facts.st_size <= SMALL_FILE) /* soon wanted whole */
                    posix_madvise(bytes, (size_t)facts.st_size, POSIX_MADV_WILLNEED);
                db->bytes = bytes;
                db->mapped = (size_t)facts.st_size;
                db->info.file_bytes = (uint64_t)facts.st_size;
                status = BGFMT_OK;
            }
        }
    }
    close(file);
    return status;
}
#endif

static int finish(bgfmt_db *db, const bgfmt_layout *layout, int status, bgfmt_db **out)
{
    if (!status)
        status = take(db, layout);
    if (status)
        release(db);
    else
        *out = db;
    return status;
}

int bgfmt_open_as(const char *path, const bgfmt_layout *layout, bgfmt_db **out)
{
    bgfmt_db *db;
    if (!out)
        return BGFMT_ERR_ARGUMENT;
    *out = NULL;
    if (!path)
        return BGFMT_ERR_ARGUMENT;
    db = calloc(1, sizeof *db);
    return db ? finish(db, layout, map_file(path, db), out) : BGFMT_ERR_MEMORY;
}

int bgfmt_open(const char *path, bgfmt_db **out) { return bgfmt_open_as(path, NULL, out); }

int bgfmt_open_memory(const void *bytes, size_t size, const bgfmt_layout *layout, bgfmt_db **out)
{
    bgfmt_db *db;
    if (!out)
        return BGFMT_ERR_ARGUMENT;
    *out = NULL;
    if (!bytes)
        return BGFMT_ERR_ARGUMENT;
    db = calloc(1, sizeof *db);
    if (!db)
        return BGFMT_ERR_MEMORY;
    db->bytes = bytes;
    db->info.file_bytes = size;
    return finish(db, layout, BGFMT_OK, out);
}

void bgfmt_close(bgfmt_db *db)
{
    if (db)
        release(db);
}

int bgfmt_get_info(const bgfmt_db *db, bgfmt_info *out)
{
    if (!db || !out)
        return BGFMT_ERR_ARGUMENT;
    *out = db->info;
    return BGFMT_OK;
}

/* ---- one side ---- */

static void read_u16s(uint16_t *to, const unsigned char *from, unsigned count)
{
    for (; count; count--, from += 2)
        *to++ = (uint16_t)u16_at(from);
}

static int read_compressed(const bgfmt_db *db, uint64_t number, bgfmt_side *side)
{
    const unsigned char *entry = db->table + number * (uint64_t)db->info.index_bytes;
    uint64_t start = u32_at(entry);
    unsigned count = entry[4], first = entry[5], gammons = 0, first_gammon = 0;
    if (db->info.gammon) {
        gammons = entry[6];
        first_gammon = entry[7];
    }
    if (count + first > BGFMT_ROLLS || gammons + first_gammon > BGFMT_ROLLS || start + count + gammons > db->units)
        return BGFMT_ERR_CORRUPT;
    read_u16s(side->bearoff + first, db->data + 2 * start, count);
    read_u16s(side->gammon + first_gammon, db->data + 2 * (start + count), gammons);
    return BGFMT_OK;
}

static int read_bgsage(const bgfmt_db *db, uint64_t number, bgfmt_side *side)
{
    uint32_t row = u32_at(db->where + 4 * number), k, before = 65535;
    read_u16s(side->bearoff, db->table + 64 * number, BGFMT_ROLLS);
    if (row == UINT32_MAX) { /* -1: a chequer is off already */
        side->gammon[0] = db->units ? 65535 : 0;
        return BGFMT_OK;
    }
    if (row >= db->units)
        return BGFMT_ERR_CORRUPT;
    for (k = 0; k < BGFMT_ROLLS; k++) { /* stored: the chance that none is off after k rolls */
        uint32_t now = u16_at(db->data + 64 * (uint64_t)row + 2 * k);
        if (now > before)
            return BGFMT_ERR_CORRUPT;
        side->gammon[k] = (uint16_t)(before - now);
        before = now;
    }
    return BGFMT_OK;
}

/* Mean and standard deviation in float32, added roll by roll as gnubg adds them. */
static void moments(const uint16_t *distribution, float *mean, float *deviation)
{
    float m = 0, square = 0, variance;
    int i;
    for (i = 1; i < BGFMT_ROLLS; i++) {
        float chance = (float)distribution[i] / 65535.0f;
        float part = (float)i * chance;
        m += part;
        square += (float)i * part;
    }
    variance = square - m * m;
    *mean = m;
    *deviation = sqrtf(variance > 0 ? variance : 0);
}

int bgfmt_lookup_side_number(const bgfmt_db *db, uint64_t number, bgfmt_side *out)
{
    bgfmt_side side;
    int status = BGFMT_OK;
    if (!db || !out)
        return BGFMT_ERR_ARGUMENT;
    if (db->info.kind != BGFMT_ONE_SIDED && db->info.kind != BGFMT_NORMAL)
        return BGFMT_ERR_KIND;
    if (number >= db->info.positions)
        return BGFMT_ERR_NOT_COVERED;
    memset(&side, 0, sizeof side);
    side.number = number;
    if (db->info.kind == BGFMT_NORMAL) {
        const unsigned char *record = db->table + 16 * number;
        side.mean_rolls = float_of(u32_at(record));
        side.std_rolls = float_of(u32_at(record + 4));
        side.gammon_mean_rolls = float_of(u32_at(record + 8));
        side.gammon_std_rolls = float_of(u32_at(record + 12));
        *out = side;
        return BGFMT_OK;
    }
    if (db->info.bgsage)
        status = read_bgsage(db, number, &side);
    else if (db->info.compressed)
        status = read_compressed(db, number, &side);
    else {
        const unsigned char *record = db->table + (db->info.gammon ? 128 : 64) * number;
        read_u16s(side.bearoff, record, BGFMT_ROLLS);
        if (db->info.gammon)
            read_u16s(side.gammon, record + 64, BGFMT_ROLLS);
    }
    if (status)
        return status;
    side.has_bearoff = 1;
    side.has_gammon = db->info.gammon;
    moments(side.bearoff, &side.mean_rolls, &side.std_rolls);
    if (side.has_gammon)
        moments(side.gammon, &side.gammon_mean_rolls, &side.gammon_std_rolls);
    *out = side;
    return BGFMT_OK;
}

int bgfmt_lookup_side(const bgfmt_db *db, const uint8_t *counts, size_t n, bgfmt_side *out)
{
    int status;
    if (!db || !out)
        return BGFMT_ERR_ARGUMENT;
    if (db->info.kind != BGFMT_ONE_SIDED && db->info.kind != BGFMT_NORMAL)
        return BGFMT_ERR_KIND;
    status = check_counts(db->info.points, counts, n, db->info.chequers);
    if (status)
        return status;
    return bgfmt_lookup_side_number(
        db, rank((const uint64_t(*)[MAX_CHEQUERS + 2])db->terms, db->info.points, counts, n), out);
}

/* ---- positions ---- */

/* Chance that `first`, with `head_start` rolls in hand, is through before or with `second`. */
static float ahead(const uint16_t *first, const uint16_t *second, int head_start)
{
    double total = 0, rest = 0;
    int i, j = BGFMT_ROLLS;
    for (i = BGFMT_ROLLS - 1; i >= 0; i--) {
        while (j > i + head_start)
            rest += second[--j];
        total += first[i] * rest;
    }
    return (float)(total / (65535.0 * 65535.0));
}

static int race(const bgfmt_db *db, uint64_t us, uint64_t them, bgfmt_answer *answer)
{
    bgfmt_side ours, theirs;
    int status = bgfmt_lookup_side_number(db, us, &ours);
    if (!status)
        status = bgfmt_lookup_side_number(db, them, &theirs);
    if (status || !ours.has_bearoff)
        return status;
    answer->outcomes[0] = ahead(ours.bearoff, theirs.bearoff, 0);
    answer->n_outcomes = 1;
    if (ours.has_gammon || (us < db->full && them < db->full)) {
        answer->n_outcomes = 5;
        if (us >= db->full || them >= db->full) {
            answer->outcomes[1] = ahead(ours.bearoff, theirs.gammon, 0);
            answer->outcomes[3] = ahead(theirs.bearoff, ours.gammon, 1);
        }
    }
    return BGFMT_OK;
}

static float equity_of(uint32_t stored)
{
    /* 0x38000080 is the float32 next to 1/32767.5; gnubg's build multiplies by it */
    float scaled = (float)stored * float_of(0x38000080u);
    return scaled - 1.0f;
}

static void read_equities(const unsigned char *record, int values, float *out)
{
    int i;
    for (i = 0; i < values; i++)
        out[i] = equity_of(u16_at(record + 2 * i));
}

static void read_hyper(const bgfmt_db *db, uint64_t us, uint64_t them, bgfmt_answer *answer)
{
    const unsigned char *record = db->table + HYPER_RECORD * (us * db->info.positions + them);
    int i;
    for (i = 0; i < 9; i++) {
        float part = (float)u24_at(record + 3 * i) * float_of(0x33800001u); /* next to 1/16777215 */
        if (i < 5)
            answer->outcomes[i] = part;
        else
            answer->equities[i - 5] = (part - 0.5f) * 6.0f;
    }
    answer->n_outcomes = 5;
    answer->n_equities = 4;
}

int bgfmt_lookup_numbers(const bgfmt_db *db, uint64_t us, uint64_t them, bgfmt_answer *out)
{
    bgfmt_answer answer;
    int status = BGFMT_OK;
    if (!db || !out)
        return BGFMT_ERR_ARGUMENT;
    if (us >= db->info.positions || them >= db->info.positions)
        return BGFMT_ERR_NOT_COVERED;
    memset(&answer, 0, sizeof answer);
    answer.us = us;
    answer.them = them;
    answer.kind = db->info.kind;
    if (answer.kind == BGFMT_TWO_SIDED) {
        answer.n_equities = db->info.cubeful ? 4 : 1;
        status = bgfmt_equities(db, us, them, answer.equities);
        if (!db->info.gammon) {
            answer.outcomes[0] = answer.equities[0] / 2 + 0.5f;
            answer.n_outcomes = 1;
        }
    } else if (answer.kind == BGFMT_HYPERGAMMON)
        read_hyper(db, us, them, &answer);
    else if (answer.kind == BGFMT_ONE_SIDED)
        status = race(db, us, them, &answer);
    else
        status = BGFMT_ERR_KIND; /* means and deviations say nothing exact of a pair */
    if (!status)
        *out = answer;
    return status;
}

static int highest(const uint8_t *counts, size_t n)
{
    while (n && !counts[n - 1])
        n--;
    return (int)n;
}

int bgfmt_lookup(const bgfmt_db *db, const uint8_t *us, size_t n_us, const uint8_t *them, size_t n_them,
                 bgfmt_answer *out)
{
    int status, other, contact;
    if (!db || !out)
        return BGFMT_ERR_ARGUMENT;
    status = check_counts(db->info.points, us, n_us, db->info.chequers);
    other = check_counts(db->info.points, them, n_them, db->info.chequers);
    if (status == BGFMT_ERR_ARGUMENT || other == BGFMT_ERR_ARGUMENT)
        return BGFMT_ERR_ARGUMENT;
    if (status == BGFMT_ERR_POSITION || other == BGFMT_ERR_POSITION)
        return BGFMT_ERR_POSITION;
    contact = highest(us, n_us) + highest(them, n_them) > 24; /* the sides have not passed each other */
    if (contact && overlap(us, n_us, them, n_them))
        return BGFMT_ERR_POSITION;
    if (status || other || (contact && db->info.kind != BGFMT_HYPERGAMMON))
        return BGFMT_ERR_NOT_COVERED;
    return bgfmt_lookup_numbers(
        db, rank((const uint64_t(*)[MAX_CHEQUERS + 2])db->terms, db->info.points, us, n_us),
        rank((const uint64_t(*)[MAX_CHEQUERS + 2])db->terms, db->info.points, them, n_them), out);
}

int bgfmt_lookup_id(const bgfmt_db *db, const char *id, bgfmt_answer *out)
{
    uint8_t us[BGFMT_BOARD], them[BGFMT_BOARD];
    int status;
    if (!db || !out)
        return BGFMT_ERR_ARGUMENT;
    status = bgfmt_read_id(id, us, them);
    return status ? status : bgfmt_lookup(db, us, BGFMT_BOARD, them, BGFMT_BOARD, out);
}

/* ---- two-sided, fast ---- */

int bgfmt_equities(const bgfmt_db *db, uint64_t us, uint64_t them, float *out)
{
    uint64_t n;
    if (!db || !out)
        return BGFMT_ERR_ARGUMENT;
    if (db->info.kind != BGFMT_TWO_SIDED)
        return BGFMT_ERR_KIND;
    n = db->info.positions;
    if (us >= n || them >= n)
        return BGFMT_ERR_NOT_COVERED;
    if (db->packed)
        return packed_equities(db, us, them, out);
    if (db->info.cubeful)
        read_equities(db->table + 8 * (us * n + them), 4, out);
    else
        read_equities(db->table + 2 * (us * n + them), 1, out);
    return BGFMT_OK;
}

enum { BLOCK = 64 }; /* records asked for together */

/* Scattered look-ups read nothing ahead. Where records follow one another (`before` is the last of the block before this
 * one, or NULL), each AHEAD of the file that is entered has the next two read. Returns the block's last record. */
static const unsigned char *read_ahead(const bgfmt_db *db, const unsigned char *before, const unsigned char *first,
                                       const unsigned char *last)
{
#if !defined(_WIN32)
    if (!before || before > first || (size_t)(first - before) > NEARBY)
        before = first;
    if (db->mapped && last >= first && (size_t)(last - first) <= NEARBY) {
        size_t at = (size_t)(last - db->bytes) / AHEAD;
        if (at != (size_t)(before - db->bytes) / AHEAD) {
            size_t left = db->mapped - at * AHEAD;
            posix_madvise((void *)(uintptr_t)(db->bytes + at * AHEAD), left < 3 * AHEAD ? left : 3 * AHEAD,
                          POSIX_MADV_WILLNEED);
        }
    }
#else
    (void)db, (void)before, (void)first; /* Windows sees a walk by itself */
#endif
    return last;
}

static float *read_block(const unsigned char *const *records, size_t count, int values, float *out)
{
    size_t i;
    for (i = 0; i < count; i++, out += values)
        if (values == 4)
            read_equities(records[i], 4, out);
        else
            read_equities(records[i], 1, out);
    return out;
}

int bgfmt_equities_many(const bgfmt_db *db, size_t count, const uint32_t *us, const uint32_t *them, float *out)
{
    const unsigned char *records[BLOCK];
    uint64_t n, size;
    int values;
    const unsigned char *before = NULL;
    if (!db || (count && (!us || !them || !out)))
        return BGFMT_ERR_ARGUMENT;
    if (db->info.kind != BGFMT_TWO_SIDED)
        return BGFMT_ERR_KIND;
    n = db->info.positions;
    values = db->info.cubeful ? 4 : 1;
    size = 2 * (uint64_t)values;
    if (db->packed)
        return packed_many(db, count, us, them, out);
    while (count) {
        size_t i, block = count < BLOCK ? count : BLOCK;
        for (i = 0; i < block; i++) {
            if (us[i] >= n || them[i] >= n)
                return BGFMT_ERR_NOT_COVERED;
            records[i] = db->table + size * (us[i] * n + them[i]);
            PREFETCH(records[i]);
        }
        before = read_ahead(db, before, records[0], records[block - 1]);
        out = read_block(records, block, values, out);
        count -= block;
        us += block;
        them += block;
    }
    return BGFMT_OK;
}

/* Number of a full row of counts; more chequers than the table has give no number. */
static int rank_row(const bgfmt_db *db, const uint8_t *counts, uint64_t *number)
{
    unsigned s = 0, limit = (unsigned)db->info.chequers;
    uint64_t total = 0;
    int k, points = db->info.points;
    for (k = 1; k <= points; k++) {
        s += counts[points - k];
        if (s > limit)
            return 0;
        total += db->terms[k][s];
    }
    *number = total;
    return 1;
}

int bgfmt_equities_boards(const bgfmt_db *db, size_t count, const uint8_t *us, const uint8_t *them, float *out)
{
    const unsigned char *records[BLOCK];
    uint32_t our_numbers[BLOCK], their_numbers[BLOCK];
    uint64_t size;
    size_t points;
    int values;
    const unsigned char *before = NULL;
    if (!db || (count && (!us || !them || !out)))
        return BGFMT_ERR_ARGUMENT;
    if (db->info.kind != BGFMT_TWO_SIDED)
        return BGFMT_ERR_KIND;
    points = (size_t)db->info.points;
    values = db->info.cubeful ? 4 : 1;
    size = 2 * (uint64_t)values;
    while (count) {
        size_t i, block = count < BLOCK ? count : BLOCK;
        for (i = 0; i < block; i++, us += points, them += points) {
            uint64_t ours, theirs;
            if (!rank_row(db, us, &ours) || !rank_row(db, them, &theirs))
                return BGFMT_ERR_NOT_COVERED;
            if (points > 12 && overlap(us, points, them, points))
                return BGFMT_ERR_POSITION;
            if (points > 12 && highest(us, points) + highest(them, points) > 24)
                return BGFMT_ERR_NOT_COVERED;
            if (db->packed) {
                our_numbers[i] = (uint32_t)ours;
                their_numbers[i] = (uint32_t)theirs;
                continue;
            }
            records[i] = db->table + size * (ours * db->info.positions + theirs);
            PREFETCH(records[i]);
        }
        if (db->packed) {
            int status = packed_many(db, block, our_numbers, their_numbers, out);
            if (status)
                return status;
            out += block * (size_t)values;
            count -= block;
            continue;
        }
        before = read_ahead(db, before, records[0], records[block - 1]);
        out = read_block(records, block, values, out);
        count -= block;
    }
    return BGFMT_OK;
}

/* ---- messages ---- */

const char *bgfmt_version(void) { return BGFMT_C_VERSION; }

const char *bgfmt_strerror(int status)
{
    switch (status) {
    case BGFMT_OK: return "no error";
    case BGFMT_ERR_ARGUMENT: return "a null pointer, or a layout that makes no sense";
    case BGFMT_ERR_OPEN: return "the file cannot be opened or mapped";
    case BGFMT_ERR_MEMORY: return "out of memory";
    case BGFMT_ERR_UNKNOWN: return "not a bearoff database this reader knows";
    case BGFMT_ERR_HEADER: return "the header is not valid: points, chequers or sizes out of range";
    case BGFMT_ERR_SHORT: return "the file is shorter than its header says";
    case BGFMT_ERR_TOO_LARGE: return "the file is larger than this machine's address space";
    case BGFMT_ERR_CORRUPT: return "the file is damaged: an entry points outside the data, or a sum is wrong";
    case BGFMT_ERR_POSITION: return "not a position: more than 15 chequers, or both sides on one point";
    case BGFMT_ERR_ID: return "not a gnubg Position ID of 14 characters";
    case BGFMT_ERR_NOT_COVERED: return "the position lies outside this table";
    case BGFMT_ERR_KIND: return "this kind of table does not answer that question";
    case BGFMT_ERR_LEVEL: return "a bgfmt-ts table of level 2: bgfmt 0.2 converts it to level 1, which this reader reads";
    default: return "unknown status";
    }
}
