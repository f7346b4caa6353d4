/** Begins to count milliseconds of this process, which other programs on the machine do not lengthen. */
export function processorTime(): () => number {
  const began = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
}
