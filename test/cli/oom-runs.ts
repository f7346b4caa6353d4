/** Runs that ended for want of memory, and what is told of them. */
import { transforms } from '../../transforms/index.js';
import { PACKAGES } from '../oom/reading.js';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

export type At = readonly [path: string, line: number, name: string, source?: string];

export const FULL =
  'CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 31.19 MiB is free. Including non-PyTorch memory, this process has 23.60 GiB memory in use. Of the allocated memory 23.20 GiB is allocated by PyTorch, and 41.62 MiB is reserved by PyTorch but unallocated.';
export const FRAGMENTED =
  'CUDA out of memory. Tried to allocate 196.00 MiB. GPU 0 has a total capacity of 10.75 GiB of which 125.69 MiB is free. Including non-PyTorch memory, this process has 10.60 GiB memory in use. Of the allocated memory 1.21 GiB is allocated by PyTorch, and 9.12 GiB is reserved by PyTorch but unallocated.';

export function logOf(frames: readonly At[], message = `torch.OutOfMemoryError: ${FULL}`): string {
  return [
    'Traceback (most recent call last):',
    ...frames.map(
      ([path, line, name, source]) =>
        `  File "${path}", line ${line}, in ${name}${source === undefined ? '' : `\n    ${source}`}`,
    ),
    `${message}\n`,
  ].join('\n');
}

/** A frame of an installed package. */
export function library(path: string, name: string, source = 'pass'): At {
  return [`${PACKAGES}/${path}`, 99, name, source];
}

/** A frame of a file of the program, by the text of its line. */
export function own(files: Readonly<Record<string, string>>, path: string, name: string, source: string): At {
  const line = files[path]?.split('\n').findIndex((each) => each.trim() === source) ?? -1;
  return [`/home/me/app/${path}`, line + 1, name, source];
}

export async function told(files: Readonly<Record<string, string>>, log: string, ...more: readonly string[]) {
  const cwd = folderWith({ ...files, 'run.log': log });
  const { stdout, stderr } = await memfix({ cwd, transforms }, '--oom', 'run.log', ...more);
  const text = stdout.replace(/\s+/g, ' ');
  const [before = '', after = ''] = text.split('What to do next: ');
  const [next = '', others = ''] = after.split('Other finding');
  const ranked = [...stdout.matchAll(/^(\S+?:\d+):\d+ {2}([\w-]+) {2}/gm)].map(
    ([, place, id]) => `${id} ${place}`,
  );
  return { cwd, text, before, next, others, ranked, stderr };
}
