/** Milliseconds since the process began. The global `performance` does the same, and takes 3 of them to load. */
export function now(): number {
  return process.uptime() * 1000;
}
