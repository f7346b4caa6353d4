#!/usr/bin/env node
import module from 'node:module';

// Since Node 22.1; what is imported from here on is compiled once.
if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function')
  module.enableCompileCache();

const { runProcess } = await import('./process.js');
await runProcess(async () => (await import('../../transforms/index.js')).transforms, import.meta.url);
