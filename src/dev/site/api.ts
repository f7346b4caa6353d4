import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import * as is from 'typescript/unstable/ast/is';
import {
  API,
  type Checker,
  type Project,
  SymbolFlags,
  type Symbol as TypeSymbol,
} from 'typescript/unstable/sync';
import { root } from '../project.js';

/** What one entry point of the package exports, as Markdown. */
export interface EntryPoint {
  /** As it is imported: `memfix/toolkit`. */
  readonly name: string;
  readonly file: string;
  readonly markdown: string;
}

type Kind = 'Functions' | 'Classes' | 'Values' | 'Types';
const KINDS: readonly Kind[] = ['Functions', 'Classes', 'Values', 'Types'];

interface Item {
  readonly kind: Kind;
  readonly name: string;
  readonly about: string;
  readonly code: string;
}

type Exports = Readonly<Record<string, string | { readonly types?: string }>>;

/** The typed entry points that package.json names. What an earlier one exports is not told again. */
export function entryPoints(): readonly EntryPoint[] {
  const manifest: { name: string; exports: Exports } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const entries = Object.entries(manifest.exports).flatMap(([path, target]) => {
    const types = typeof target === 'string' ? undefined : target.types;
    if (types === undefined) return [];
    const file = types.replace('./dist/types/', '').replace(/\.d\.m?ts$/, '.ts');
    return [{ name: path.replace('.', manifest.name), file }];
  });
  const api = new API({ cwd: root });
  try {
    const snapshot = api.updateSnapshot({ openProject: join(root, 'tsconfig.build.json') });
    const [project] = snapshot.getProjects();
    if (project === undefined) throw new Error('tsconfig.build.json has no project');
    const told = new Set<string>();
    return entries.map(({ name, file }) => {
      const items = itemsOf(project, file);
      const markdown = markdownOf(items.filter((item) => !told.has(item.name)));
      for (const item of items) told.add(item.name);
      return { name, file, markdown };
    });
  } finally {
    api.close();
  }
}

function itemsOf(project: Project, file: string): readonly Item[] {
  const { checker, program } = project;
  const source = program.getSourceFile(join(root, file));
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is not in tsconfig.build.json, or exports nothing`);
  return checker
    .getExportsOfModule(module)
    .map((symbol) => itemOf(symbol, project, checker))
    .sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
}

function itemOf(exported: TypeSymbol, project: Project, checker: Checker): Item {
  const symbol = (exported.flags & SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported);
  const node = symbol.declarations[0]?.resolve(project);
  if (node === undefined) throw new Error(`${exported.name} is declared nowhere`);
  const about = checker.getDocumentationCommentOfSymbol(symbol).trim();
  const told = (kind: Kind, code: string): Item => ({ kind, name: exported.name, about, code });
  const text = node.getText();
  const upTo = (end: number | undefined) =>
    end === undefined ? text : text.slice(0, end - node.getStart()).trimEnd();
  if (is.isFunctionDeclaration(node)) return told('Functions', plain(upTo(node.body?.getStart())));
  if (is.isClassDeclaration(node)) {
    const members = node.members.flatMap((member) => {
      const whole = member.getText();
      if (/^(?:private|static \{|#|readonly #)/.test(whole)) return [];
      const body = 'body' in member ? (member.body as { getStart(): number } | undefined) : undefined;
      return [
        `  ${body === undefined ? whole : whole.slice(0, body.getStart() - member.getStart()).trimEnd()};`,
      ];
    });
    const head = text.slice(0, text.indexOf('{') + 1);
    return told('Classes', plain([head, ...members, '}'].join('\n').replaceAll(';;', ';')));
  }
  if (is.isVariableDeclaration(node)) {
    const type = checker.getTypeOfSymbol(symbol);
    const said = node.type?.getText() ?? (type === undefined ? 'unknown' : checker.typeToString(type));
    return told('Values', `const ${exported.name}: ${said};`);
  }
  return told('Types', plain(text));
}

/** That it is exported is known. */
function plain(code: string): string {
  return code.replace(/^export (?:declare )?(?:async )?/, '');
}

function markdownOf(items: readonly Item[]): string {
  return KINDS.flatMap((kind) => {
    const ofKind = items.filter((item) => item.kind === kind);
    return ofKind.length === 0 ? [] : [`## ${kind}`, ...ofKind.map(itemMarkdown)];
  }).join('\n\n');
}

function itemMarkdown({ name, about, code }: Item): string {
  return [`### \`${name}\``, ...(about === '' ? [] : [about]), `\`\`\`ts\n${code}\n\`\`\``].join('\n\n');
}
