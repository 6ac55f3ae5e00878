/* bgfmt.h - reading backgammon bearoff databases from C.
 *
 * One header, one C99 source, nothing else. Files of GNU Backgammon (one-sided, normal distribution, two-sided,
 * hypergammon; with or without their header), bgsage's one-sided file and bgfmt's compressed two-sided files are
 * mapped into memory and read where they lie. No globals; a handle never changes after it was opened, so any number
 * of threads may look up in it (of a compressed file it remembers which blocks were checked: bytes that only become
 * 1). Nothing is allocated by a look-up.
 *
 * Words: points are counted from 1, the ace point; counts[p - 1] chequers stand on point p. `us` is the side on roll,
 * `them` the other, each seen from its own side. A position number is gnubg's: C(points + chequers, points) of them, and
 * 0 means that all chequers are off.
 *
 * License: MIT, as the rest of bgfmt. */
#ifndef BGFMT_H
#define BGFMT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* bgfmt's release, of which this header is part; BGFMT_C_VERSION_NUMBER can be compared: 10000 major + 100 minor + patch. */
#define BGFMT_C_VERSION "0.3.0"
#define BGFMT_C_VERSION_NUMBER 300
/* The number in the SONAME: it rises when programs must be compiled anew. */
#define BGFMT_C_ABI 0

#define BGFMT_ROLLS 32 /* a distribution: chances, parts of 65535, of 0..31 rolls */
#define BGFMT_BOARD 25 /* points 1..24, then the bar */

/* Every function that can fail returns one of these; 0 is success. On failure nothing is written to `*out`,
 * except that the functions that open set it to NULL. */
enum {
    BGFMT_OK = 0,
    BGFMT_ERR_ARGUMENT = 1,    /* a null pointer, or a layout that makes no sense */
    BGFMT_ERR_OPEN = 2,        /* the file cannot be opened or mapped; errno (GetLastError) tells why */
    BGFMT_ERR_MEMORY = 3,      /* no memory for the handle */
    BGFMT_ERR_UNKNOWN = 4,     /* not a file this reader knows */
    BGFMT_ERR_HEADER = 5,      /* the header names impossible points or chequers */
    BGFMT_ERR_SHORT = 6,       /* the file is shorter than its header says */
    BGFMT_ERR_TOO_LARGE = 7,   /* larger than this machine's address space */
    BGFMT_ERR_CORRUPT = 8,     /* an index entry points outside the data, or a block's sum is wrong */
    BGFMT_ERR_POSITION = 9,    /* no position: too many chequers, or both sides on one point */
    BGFMT_ERR_ID = 10,         /* not a Position ID */
    BGFMT_ERR_NOT_COVERED = 11, /* a position, but outside this table */
    BGFMT_ERR_KIND = 12,       /* a question that this kind of table does not answer */
    BGFMT_ERR_LEVEL = 13       /* a compressed table of the second level, which this reader does not read */
};

/* kinds of table */
enum {
    BGFMT_HEADER = 0,      /* only in bgfmt_layout: read the header */
    BGFMT_ONE_SIDED = 1,   /* exact distributions, gnubg's or bgsage's */
    BGFMT_NORMAL = 2,      /* one-sided: means and deviations */
    BGFMT_TWO_SIDED = 3,
    BGFMT_HYPERGAMMON = 4
};

/* What a file without header holds (`makebearoff -H`), or where in a file a database begins. */
typedef struct bgfmt_layout {
    uint64_t offset;    /* where it begins, in bytes */
    int32_t kind;       /* BGFMT_HEADER: a header stands there, and the fields below are ignored */
    int32_t points;     /* ignored for hypergammon */
    int32_t chequers;
    int32_t gammon;     /* one-sided: with gammon distributions */
    int32_t compressed; /* one-sided */
    int32_t cubeful;    /* two-sided: four values a position, not one */
} bgfmt_layout;

typedef struct bgfmt_info {
    uint64_t positions;   /* position numbers of one side: 0 .. positions - 1 */
    uint64_t offset;      /* where the database begins in the file */
    uint64_t table_bytes; /* its size, header included */
    uint64_t file_bytes;  /* the file's size; what follows the table may be a second database */
    int32_t kind;
    int32_t points;       /* 25 for hypergammon: 24 points and the bar */
    int32_t chequers;
    int32_t gammon;       /* one-sided: with gammon distributions; two-sided: the equities count gammons */
    int32_t compressed;
    int32_t cubeful;
    int32_t index_bytes;  /* compressed: 6 or 8 bytes an index entry (8 without gammon data: before March 2009) */
    int32_t header_bytes; /* 40, 28 (bgsage), 64 (bgfmt-ts) or 0 */
    int32_t bgsage;       /* 1: bgsage's file; its gammon part follows the plays of the race */
} bgfmt_info;

/* What a one-sided table says of one side. */
typedef struct bgfmt_side {
    uint64_t number;
    int32_t has_bearoff, has_gammon;   /* whether the distributions are there; both 0 for BGFMT_NORMAL */
    uint16_t bearoff[BGFMT_ROLLS];     /* last chequer off in exactly i rolls */
    uint16_t gammon[BGFMT_ROLLS];      /* first chequer off in exactly i rolls */
    float mean_rolls, std_rolls;
    float gammon_mean_rolls, gammon_std_rolls; /* 0 where the table has no gammon data */
} bgfmt_side;

/* What a table says of a position, us on roll. Money play, cube at 1. */
typedef struct bgfmt_answer {
    uint64_t us, them;   /* position numbers */
    int32_t kind;
    int32_t n_equities;  /* two-sided: 1 (cubeless) or 4; hypergammon: 4; else 0 */
    float equities[4];   /* two-sided: cubeless, owned, centered, opponent; hypergammon: owned, centered, centered with
                            the Jacoby rule, opponent. All before doubling: the values of rolling now. */
    int32_t n_outcomes;  /* two-sided: 1, or 0 where the equities count gammons; one-sided: 1, or 5 where gammons are
                            known; hypergammon: 5; normal: 0 */
    float outcomes[5];   /* chances: win, win gammon, win backgammon, lose gammon, lose backgammon */
} bgfmt_answer;

typedef struct bgfmt_db bgfmt_db; /* opaque */

/* ---- open, close ---- */

/* Maps a file and reads its header. `path` is UTF-8 on Windows. */
int bgfmt_open(const char *path, bgfmt_db **out);
/* The same at an offset, or without header. A null `layout` is as bgfmt_open. */
int bgfmt_open_as(const char *path, const bgfmt_layout *layout, bgfmt_db **out);
/* The same for bytes already in memory, which must stay there until bgfmt_close. */
int bgfmt_open_memory(const void *bytes, size_t size, const bgfmt_layout *layout, bgfmt_db **out);
/* Null is allowed. No look-up may be under way. */
void bgfmt_close(bgfmt_db *db);
int bgfmt_get_info(const bgfmt_db *db, bgfmt_info *out);

/* ---- look-ups ---- */

/* A position by the chequer counts of both sides; `n_*` counts each, at most 25, the 25th being the bar. */
int bgfmt_lookup(const bgfmt_db *db, const uint8_t *us, size_t n_us, const uint8_t *them, size_t n_them,
                 bgfmt_answer *out);
/* ... by position numbers */
int bgfmt_lookup_numbers(const bgfmt_db *db, uint64_t us, uint64_t them, bgfmt_answer *out);
/* ... by gnubg's Position ID, 14 characters; what follows a ':' (a Match ID) is ignored */
int bgfmt_lookup_id(const bgfmt_db *db, const char *id, bgfmt_answer *out);

/* One side, in one-sided tables. */
int bgfmt_lookup_side(const bgfmt_db *db, const uint8_t *counts, size_t n, bgfmt_side *out);
int bgfmt_lookup_side_number(const bgfmt_db *db, uint64_t number, bgfmt_side *out);

/* Two-sided, the fast ones: 1 or 4 floats a position (see info.cubeful) in the order of bgfmt_answer.
 * The two that take many work ahead of the memory: they ask for records before they need them. If a position lies
 * outside, they return BGFMT_ERR_NOT_COVERED (or BGFMT_ERR_POSITION) and what `out` holds is unspecified. */
int bgfmt_equities(const bgfmt_db *db, uint64_t us, uint64_t them, float *out);
int bgfmt_equities_many(const bgfmt_db *db, size_t count, const uint32_t *us, const uint32_t *them, float *out);
/* The same by chequer counts: info.points bytes a side, one side after the other. */
int bgfmt_equities_boards(const bgfmt_db *db, size_t count, const uint8_t *us, const uint8_t *them, float *out);

/* ---- positions ---- */

/* Position number of a side on a board of `points` (1..25), at most 15 chequers. */
int bgfmt_number(int points, const uint8_t *counts, size_t n, uint64_t *out);
/* The side of a number: writes `points` counts. BGFMT_ERR_POSITION if it needs more than 15 chequers. */
int bgfmt_counts(int points, uint64_t number, uint8_t *out);
/* Reads a Position ID: 25 counts each, the bar last. */
int bgfmt_read_id(const char *id, uint8_t us[BGFMT_BOARD], uint8_t them[BGFMT_BOARD]);

const char *bgfmt_strerror(int status);

/* BGFMT_C_VERSION of the library that is loaded, which may be later than the header. */
const char *bgfmt_version(void);

#ifdef __cplusplus
}
#endif
#endif
