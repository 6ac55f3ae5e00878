const lines = require("node:readline").createInterface({ input: process.stdin });
const pips = (side) => side.reduce((sum, n, k) => sum + n * (k + 1), 0);
lines.on("line", (line) => {
  const [kind, roll, , , , ...counts] = line.split(" ");
  const cut = counts.indexOf("/");
  const us = counts.slice(0, cut).map(Number), them = counts.slice(cut + 1).map(Number);
  const lead = pips(them) - pips(us);
  if (kind === "play") {
    const [a, b] = roll.split("").map(Number), moves = [];
    for (const die of a === b ? [a, a, a, a] : [a, b]) {
      const from = us.findLastIndex((n) => n > 0) + 1;
      if (!from) break;
      us[from - 1]--;
      if (from > die) us[from - die - 1]++;
      moves.push(`${from}/${from > die ? from - die : "off"}`);
    }
    console.log(moves.join(" "));
  } else if (kind === "equity") console.log("0");
  else if (kind === "double") console.log(lead > 3 ? "double" : "roll");
  else console.log(lead < 10 ? "take" : "pass");
});
