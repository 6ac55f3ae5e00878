#include <stdio.h>
#include <string.h>

static int highest(const int *side) { int p = 6; while (p > 0 && !side[p]) p--; return p; }

int main(void) {
    char kind[16], owner[16], score[16], line[512];
    int roll, cube;
    while (fgets(line, sizeof line, stdin)) {
        int sides[2][32] = {{0}}, at = 0, which = 0, point = 0, used;
        sscanf(line, "%15s %d %15s %d %15s%n", kind, &roll, owner, &cube, score, &at);
        for (int n; sscanf(line + at, " %d%n", &n, &used) == 1 || line[at + 1] == '/';) {
            if (line[at + 1] == '/') { which = 1; point = 0; at += 2; continue; }
            sides[which][++point] = n; at += used;
        }
        int lead = 0;
        for (int p = 1; p < 32; p++) lead += p * (sides[1][p] - sides[0][p]);
        if (!strcmp(kind, "play")) {
            int dice[4] = {roll / 10, roll % 10, roll / 10, roll / 10};
            for (int k = 0; k < (dice[0] == dice[1] ? 4 : 2); k++) {
                int from = highest(sides[0]), to = from - dice[k];
                if (!from) break;
                printf(to > 0 ? "%d/%d " : "%d/off ", from, to);
                sides[0][from]--;
                if (to > 0) sides[0][to]++;
            }
            puts("");
        } else if (!strcmp(kind, "equity")) puts("0");
        else if (!strcmp(kind, "double")) puts(lead > 3 ? "double" : "roll");
        else puts(lead < 10 ? "take" : "pass");
        fflush(stdout);
    }
}
