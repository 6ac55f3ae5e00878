// A client in TypeScript, held to `tsc --strict` by the tests; it is not run.

import { BgfmtError, NetworkError, open, parse, positionId, rank, unrank, xgid, type Answer, type Table } from "bgfmt";
import { cube, play, plays, probe, race, type MetValues } from "bgfmt/ask";
import { calculate, moneyColumns } from "bgfmt/calculate";
import { estimate } from "bgfmt/estimate";
import { openFile } from "bgfmt/node";

export async function ask(url: string): Promise<number | undefined> {
  const table: Table = await open(new URL(url), { pageBytes: 1 << 16, headers: { "X-Key": "1" }, retries: 0 });
  try {
    const answers: (Answer | null)[] = await table.lookupMany(["0,1,0,0,1/0,1,1", 7, 8n, [1, 2], { us: [1], them: [1] }]);
    const one = await table.lookup("0,1,0,0,1/0,1,1", { signal: new AbortController().signal });
    const said = await probe([table], parse("4,3,1/3 3 2"), { roll: "all", cube: "owned", measure: "off:3", top: 1 });
    const best: string | undefined = said.play?.rolls?.[0]?.plays[0]?.play;
    console.log(best, xgid(parse("1/1"), { cube: "owned" }), positionId({ us: [1], them: [1] }), answers.length);
    return one.centered ?? said.cube?.centered_cube?.no_double;
  } catch (error) {
    if (error instanceof NetworkError && error.status === 404) return undefined;
    if (error instanceof BgfmtError) console.error(error.code, error.message);
    throw error;
  } finally {
    table.close();
  }
}

export async function local(path: string, bytes: Uint8Array): Promise<void> {
  const table = await openFile(path);
  const memory = await open(bytes);
  const answer = await race([table, memory], "0 2 2 2 0 4");
  const mean: number = "mean_rolls" in answer ? answer.mean_rolls : answer.on_roll.mean_rolls;
  const action = (await cube(memory, "1/1")).centered_cube?.action ?? "";
  const values: number[] = (await play(memory, "1/1", [6, 1])).plays.map((p) => p.value);
  const rolls: string[] = (await play(memory, "1/1", "all")).rolls.map((r) => r.roll);
  const side: number = (await race(memory, [1, 2])).mean_rolls;
  const two = await open({ parts: [{ url: "a.000", size: 1 }] }, { kind: "two-sided" });
  const equity: number = (await two.lookup("1/1")).centered;
  // @ts-expect-error a two-sided table has no distributions
  (await two.lookup("1/1")).bearoff;
  const hyper: number = (await openFile(path, { kind: "hypergammon" })).lookupSync("1/1").outcomes.win_gammon;
  await probe([two, memory], "1/1", { roll: "61" }).then((said) => said.play?.plays.length);
  console.log(rolls, side, equity, hyper, mean, action, values, plays([1, 2], "21")[0]?.moves[0]?.from, rank(unrank(5, 6), 6), table.stats().bytes);
}

export async function match(met: MetValues): Promise<void> {
  const grid = await cube([], "1/1", { calculate: true, met, scores: 3 });
  const codes: string[] = grid.cells.map((cell) => `${cell.away} ${cell.double} ${cell.mwc.best}`);
  const said = await probe([], "1/1", { calculate: true, limit: { match: 1e6 }, met, away: "3-5", roll: "all" });
  const mwc: number | undefined = said.cube && "mwc" in said.cube ? said.cube.mwc.no_double : said.cube?.centered;
  const lost: number = (await play([], "1/1", "61", { calculate: true, met, away: [3, 5] })).plays[0]?.loss_mwc ?? 0;
  const solved = calculate({ us: [1, 1], them: [2], columns: moneyColumns(false), limit: 1e6 }, (done, total) => console.log(done / total));
  const { usual, onRoll } = estimate({ us: [7, 8], them: [0, 15], columns: moneyColumns(true) });
  console.log(codes, mwc, lost, solved.onRoll[0], solved.boards[0]?.[0], usual, onRoll[0]);
}

// @ts-expect-error a table is made by open
new (undefined as unknown as typeof Table)();
