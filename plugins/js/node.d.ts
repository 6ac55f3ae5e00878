import type { OpenOptions, Table } from "./bgfmt.js";

/** Open a table in a file. Errors of the system (no such file) pass untouched. */
export function openFile(path: string | URL, options?: OpenOptions): Promise<Table>;
