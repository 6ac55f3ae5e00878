// A local file as a source of tables: only what is asked for is read.

import { open as openHandle } from "node:fs/promises";

import { open } from "./bgfmt.js";

/** Open a table in a file; options as of `open`. Errors of the system (no such file) pass untouched. */
export async function openFile(path, options = {}) {
  const handle = await openHandle(path, "r");
  try {
    const status = await handle.stat();
    if (!status.isFile()) throw Object.assign(new Error(`${path}: not a regular file`), { code: "EINVAL", path });
    const read = async (offset, length) => {
      const bytes = new Uint8Array(length);
      let done = 0;
      while (done < length) {
        const { bytesRead } = await handle.read(bytes, done, length - done, offset + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return bytes.subarray(0, done);
    };
    const source = { name: String(path), size: status.size, read, close: () => void handle.close() };
    return await open(source, options);
  } catch (error) {
    await handle.close().catch(() => {});
    throw error;
  }
}
