// SPDX-License-Identifier: Apache-2.0 OR MIT OR ISC OR CC0-1.0
// Runs a WASI program under node: node wasm.mjs FILE [ARGUMENT]...
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [file, ...rest] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [file, ...rest], returnOnExit: true });
const imports = { wasi_snapshot_preview1: wasi.wasiImport };
const { instance } = await WebAssembly.instantiate(await readFile(file), imports);
process.exitCode = wasi.start(instance);
