import { codeOf, Failure } from '../../failure.js';

export type { Job, Queue, Worker } from 'bullmq';
export type { Redis } from 'ioredis';

/** What only those need who spread a campaign over machines; they install it themselves. */
export const loadRedis = () => load(() => import('ioredis'));
export const loadQueues = () => load(() => import('bullmq'));

async function load<T>(from: () => Promise<T>): Promise<T> {
  try {
    return await from();
  } catch (error) {
    if (!/^(?:ERR_)?MODULE_NOT_FOUND$/.test(codeOf(error) ?? '')) throw error;
    throw new Failure(
      'The packages for queues are not installed',
      '`--queue` needs bullmq and ioredis, which memfix leaves out: one machine does not need them',
      'Install them beside memfix, with `-g` if it is global: `npm install bullmq ioredis`.',
    );
  }
}
