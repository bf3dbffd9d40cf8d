#!/usr/bin/env node
// Starts the program for this platform, which npm has installed as an optional
// dependency.
"use strict";

const { spawn } = require("child_process");
const os = require("os");

const name = `@tidegate/${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "tidegate.exe" : "tidegate";

let path;
try {
  path = require.resolve(`${name}/bin/${program}`);
} catch {
  console.error(
    `tidegate: the package ${name} is not installed. Either there is no tidegate for this platform, ` +
      "or optional dependencies were left out: install without --omit=optional."
  );
  process.exit(1);
}

const child = spawn(path, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
// A terminal tells the program of an interrupt, too; it decides when to end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => signal === "SIGINT" || child.kill(signal));
}
child.on("error", (error) => {
  console.error(`tidegate: ${path} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
