import type { Kind, OpenOptions, Table } from "./bgfmt.js";

/** Open a table in a file. Errors of the system (no such file) pass untouched. */
export function openFile<K extends Kind>(path: string | URL, options: OpenOptions & { kind: K }): Promise<Table<K>>;
export function openFile(path: string | URL, options?: OpenOptions): Promise<Table>;
