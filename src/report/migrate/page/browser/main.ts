import { Page } from './app.js';
import { State } from './state.js';

const state = new State();
const page = new Page(state);
document.body.prepend(page.element);
page.start();
performance.mark('memfix-ready');
