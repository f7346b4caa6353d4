#!/usr/bin/env node
import module from 'node:module';

// Since Node 22.1; what is imported from here on is compiled once.
if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function')
  module.enableCompileCache();

const loadTransforms = async () => (await import('../../transforms/index.js')).transforms;
void import('./process.js').then(({ runProcess }) => runProcess(loadTransforms, import.meta.url));
