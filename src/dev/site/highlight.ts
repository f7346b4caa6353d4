import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import ini from 'highlight.js/lib/languages/ini';
import json from 'highlight.js/lib/languages/json';
import lisp from 'highlight.js/lib/languages/lisp';
import lua from 'highlight.js/lib/languages/lua';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { OpenStrings, tokensOf } from '../../report/python-tokens.js';
import { escaped } from './markup.js';

for (const [name, language] of Object.entries({ bash, ini, json, lisp, lua, typescript, yaml }))
  hljs.registerLanguage(name, language);

/** What fences say, and what highlight.js calls it. */
const NAMES: Readonly<Record<string, string>> = {
  bash: 'bash',
  sh: 'bash',
  shell: 'bash',
  elisp: 'lisp',
  js: 'typescript',
  mjs: 'typescript',
  json: 'json',
  lua: 'lua',
  toml: 'ini',
  ts: 'typescript',
  yaml: 'yaml',
  yml: 'yaml',
};

/** The HTML inside of a block of code. What is in no language here is a terminal. */
export function highlighted(code: string, language: string): string {
  if (language === 'python' || language === 'py') return python(code);
  if (language === 'diff') return diff(code);
  const name = NAMES[language];
  if (name !== undefined) return hljs.highlight(code, { language: name }).value;
  if (language === '') return code.split('\n').map(terminalLine).join('\n');
  return escaped(code);
}

function python(code: string): string {
  const strings = new OpenStrings(code);
  return code
    .split('\n')
    .map((line, index) => pythonLine(line, strings.before(index)))
    .join('\n');
}

function pythonLine(line: string, open: ReturnType<OpenStrings['before']>): string {
  return tokensOf(line, open)
    .tokens.map(({ kind, text }) =>
      kind === 'plain' ? escaped(text) : `<span class="py-${kind}">${escaped(text)}</span>`,
    )
    .join('');
}

/** A diff of Python: both sides have their own strings that may be open. */
function diff(code: string): string {
  const lines = code.split('\n');
  const side = (left: string) =>
    new OpenStrings(lines.map((line) => (line.startsWith(left) ? '' : line.slice(1))).join('\n'));
  const [before, after] = [side('+'), side('-')];
  return lines
    .map((line, index) => {
      if (line.startsWith('@@')) return `<span class="hunk">${escaped(line)}</span>`;
      const open = (line.startsWith('-') ? before : after).before(index);
      const body = `<span class="sign">${escaped(line.slice(0, 1))}</span>${pythonLine(line.slice(1), open)}`;
      if (line.startsWith('+')) return `<ins>${body}</ins>`;
      return line.startsWith('-') ? `<del>${body}</del>` : body;
    })
    .join('\n');
}

/** A command, or what one printed: the prompt, comments, and lines of a change stand out. */
function terminalLine(line: string): string {
  if (/^\s*(?:\d+ )?\s*│ \+/.test(line)) return `<ins>${escaped(line)}</ins>`;
  if (/^\s*(?:\d+ )?\s*│ -/.test(line)) return `<del>${escaped(line)}</del>`;
  const prompt = /^\$ /.exec(line)?.[0] ?? '';
  const rest = line.slice(prompt.length);
  const comment = /(?:^|\s{2,})# .*$/.exec(rest);
  const end = comment?.index ?? rest.length;
  const tail = comment === null ? '' : `<span class="hljs-comment">${escaped(rest.slice(end))}</span>`;
  const command = escaped(rest.slice(0, end));
  if (prompt === '') return command + tail;
  return `<span class="prompt">$ </span><strong>${command}</strong>${tail}`;
}
