// Golden files of the repository.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../fixtures/golden/gnubg/", import.meta.url));

export const path = (name) => FOLDER + name;
export const golden = (name) => readFileSync(FOLDER + name);
