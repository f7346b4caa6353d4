#!/usr/bin/env node
const loadTransforms = async () => (await import('../../transforms/index.js')).transforms;
void import('./process.js').then(({ runProcess }) => runProcess(loadTransforms, import.meta.url));
