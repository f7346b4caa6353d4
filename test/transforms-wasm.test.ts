import { loadParser } from '../src/syntax/parser.js';
import { fixtureSuite } from './support/suite.js';

// The base that must work everywhere, against the same recorded findings and outputs.
fixtureSuite(await loadParser('wasm'));
