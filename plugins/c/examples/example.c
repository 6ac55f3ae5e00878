/* ./example gnubg_ts.bd dwMAAN4FAAAAAA */
#include <stdio.h>
#include "bgfmt.h"

int main(int argc, char **argv)
{
    bgfmt_db *db;
    bgfmt_answer a;
    int status = argc == 3 ? bgfmt_open(argv[1], &db) : BGFMT_ERR_ARGUMENT;
    if (!status && !(status = bgfmt_lookup_id(db, argv[2], &a), bgfmt_close(db), status))
        return printf("win %.4f, centered cube %+.4f\n", a.outcomes[0], a.equities[2]) < 0;
    return fprintf(stderr, "%s\n", bgfmt_strerror(status)), 2;
}
