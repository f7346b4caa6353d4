// node --test, where memfix is installed with npm; `memfix test-transform` does the same without. Also works with vitest.
import { test } from 'node:test';
import { laws } from 'memfix/testing';

for (const { name, check } of await laws(new URL('./acme-load-cpu.mjs', import.meta.url))) test(name, check);
