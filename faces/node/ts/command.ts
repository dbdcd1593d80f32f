#!/usr/bin/env node
/** The command `louver`: starts the program that the platform's package has beside the engine, as if it were called itself. */

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { dirname, join } from "node:path";

const HERE = `${process.platform}-${process.arch}`;
const PROGRAM = process.platform === "win32" ? "louver.exe" : "louver";

/** Where the program may be: one package per C library, of which npm installs the one that fits. */
function places(): string[] {
  return ["", "-gnu", "-musl", "-msvc"].flatMap((library) => {
    try {
      return [join(dirname(require.resolve(`louver-${HERE}${library}/package.json`)), PROGRAM)];
    } catch {
      return [];
    }
  });
}

/** Starts the first of the programs that can be started; this process ends as that one does. */
function start([program, ...others]: string[]): void {
  if (program === undefined) {
    console.error(
      `louver: the program for ${HERE} is not installed. It comes with an optional dependency of this package, ` +
        `so install without \`--omit=optional\`; where there is none for this platform, \`pip install louver-cli\` or ` +
        "`cargo install louver-cli` give the same command.",
    );
    process.exitCode = 127;
    return;
  }
  const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
  // A terminal tells the program itself; other processes know this one only.
  const ignored = (): void => undefined;
  const passed = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of ["SIGINT", "SIGQUIT"] as const) process.on(signal, ignored);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, passed);
  child.once("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    // Missing, or made for another C library.
    start(others);
  });
  child.once("exit", (status, signal) => {
    process.exitCode = status ?? 128 + (signal ? constants.signals[signal] : 0);
  });
}

start(places());
