/** Milliseconds to wait for our own share of a Ctrl-C: longer than any machine takes, and only where one is missing. */
const PATIENCE = 2000;

/**
 * Runs another program on our terminal. Ctrl-C goes to both, and the other's end may be heard before our own signal:
 * that one is waited for, so that it counts for the program that had the terminal.
 */
export async function sharingCtrlC<End>(
  program: () => Promise<End>,
  isEndedByIt: (end: End) => boolean,
): Promise<End> {
  let hear = () => {};
  let isHeard = false;
  const heard = new Promise<void>((resolve) => {
    hear = () => {
      isHeard = true;
      resolve();
    };
  });
  process.on('SIGINT', hear);
  try {
    const end = await program();
    if (isEndedByIt(end) && !isHeard) await within(PATIENCE, heard);
    return end;
  } finally {
    process.removeListener('SIGINT', hear);
  }
}

async function within(limit: number, event: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit);
  });
  await Promise.race([event, late]);
  clearTimeout(timer);
}
