import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { applyEdits } from '../../edit/apply.js';
import type { Decide, Decision, Finding } from '../../engine/outcome.js';
import { ownEdits } from '../../engine/preview.js';
import type { CodeAction, Range, TextEdit, WorkspaceEdit } from './protocol.js';
import type { Seen } from './seen.js';
import { type EditsByText, overlaps, textEdits } from './sheet.js';
import { diagnosticOf } from './words.js';

export const FIX_ALL = 'source.fixAll.memfix';
const QUICK_FIX = 'quickfix';

/** What an action does, told so that its edit can be made when it is chosen. */
export type Deed =
  | { readonly kind: 'fix'; readonly key: string }
  | { readonly kind: 'suppress'; readonly key: string }
  | { readonly kind: 'all-of'; readonly id: string; readonly unsafe: boolean }
  | { readonly kind: 'all-safe' };

export interface Offer {
  readonly action: CodeAction;
  readonly deed: Deed;
}

/** What can be done about the findings in a range of one of the texts. `only`: the kinds that are asked for. */
export function offersAt(
  seen: Seen,
  uri: string,
  range: Range,
  only: readonly string[] | undefined,
): readonly Offer[] {
  const isWanted = (kind: string) =>
    only === undefined || only.some((each) => kind === each || kind.startsWith(`${each}.`));
  const fixable = seen.findings.filter(({ fix }) => fix !== undefined);
  const safe = fixable.filter((finding) => finding.safety === 'safe' && finding.alternativeTo === undefined);
  const offers: Offer[] = [];
  if (isWanted(QUICK_FIX)) {
    const here = fixable.flatMap((finding) => {
      const place = seen.placeOf(finding);
      return place?.open.uri === uri && overlaps(place.range, wholeLines(range))
        ? [{ finding, range: place.range }]
        : [];
    });
    // Those that are pointed at; else those of the line that the cursor is on.
    const met = here.filter((each) => overlaps(each.range, range));
    for (const each of met.length > 0 ? met : here)
      offers.push(
        ...offersFor(each.finding, diagnosticOf(seen.sheet.file.path, each.finding, each.range), fixable),
      );
    if (offers.length > 0 && safe.length > 1)
      offers.push({
        action: { title: `memfix: apply all ${safe.length} safe fixes of this file`, kind: QUICK_FIX },
        deed: { kind: 'all-safe' },
      });
  }
  if (only !== undefined && isWanted(FIX_ALL) && safe.length > 0)
    offers.push({
      action: { title: 'memfix: apply all safe fixes', kind: FIX_ALL },
      deed: { kind: 'all-safe' },
    });
  return offers;
}

function wholeLines({ start, end }: Range): Range {
  return { start: { line: start.line, character: 0 }, end: { line: end.line, character: Infinity } };
}

function offersFor(
  finding: Finding,
  diagnostic: ReturnType<typeof diagnosticOf>,
  all: readonly Finding[],
): readonly Offer[] {
  const { transform: id, safety, key, fix } = finding;
  const common = { kind: QUICK_FIX, diagnostics: [diagnostic] };
  const alike = all.filter(
    (other) => other.transform === id && (safety !== 'safe' || other.safety === 'safe'),
  );
  const mark = safety === 'safe' ? '' : ` (${safety})`;
  return [
    {
      action: {
        ...common,
        title: `${fix?.title ?? id}${mark}`,
        ...(safety === 'safe' && { isPreferred: true }),
      },
      deed: { kind: 'fix', key },
    },
    ...(alike.length < 2
      ? []
      : [
          {
            action: { ...common, title: `memfix: fix all ${alike.length} ${id} in this file${mark}` },
            deed: { kind: 'all-of' as const, id, unsafe: safety !== 'safe' },
          },
        ]),
    {
      action: { ...common, title: `memfix: ignore ${id} here, with a comment` },
      deed: { kind: 'suppress', key },
    },
  ];
}

/** The edit of a deed; undefined where it comes to nothing. */
export async function editFor(
  seen: Seen,
  deed: Deed,
  versioned: boolean,
): Promise<WorkspaceEdit | undefined> {
  const { sheet, space } = seen;
  const { text } = sheet.file.source;
  if (deed.kind === 'fix') {
    const fix = seen.findings.find(({ key }) => key === deed.key)?.fix;
    if (fix === undefined) return undefined;
    const beside = (fix.beside ?? []).map(({ path, text: before, edits }) => ({
      uri: pathToFileURL(resolve(space.cwd, path)).href,
      edits: textEdits(before, applyEdits(before, edits)),
    }));
    return workspaceEdit(sheet.editsTo(applyEdits(text, ownEdits(fix))), beside, versioned);
  }
  const policy = await space.project.policy();
  const outcome = await space.engine.repair(sheet.file, decider(deed, policy), seen.scan);
  if (outcome.kind === 'skipped' || outcome.after === text) return undefined;
  return workspaceEdit(sheet.editsTo(outcome.after), [], versioned);
}

/** Answers for one file only: what would change others as well is left to be chosen by itself. */
function decider(deed: Exclude<Deed, { kind: 'fix' }>, policy: Decide): Decide {
  const skip: Decision = { kind: 'skip' };
  return (finding, preview) => {
    if (deed.kind === 'suppress') return finding.key === deed.key ? { kind: 'suppress' } : skip;
    if ((finding.fix?.beside ?? []).length > 0) return skip;
    if (deed.kind === 'all-safe') return finding.safety === 'safe' ? policy(finding, preview) : skip;
    const isLeave = finding.safety === 'safe' || (deed.unsafe && finding.safety === 'unsafe');
    return finding.transform === deed.id && isLeave ? { kind: 'apply' } : skip;
  };
}

function workspaceEdit(
  own: EditsByText,
  beside: readonly { readonly uri: string; readonly edits: readonly TextEdit[] }[],
  versioned: boolean,
): WorkspaceEdit {
  const all = [
    ...own.map(({ open, edits }) => ({ uri: open.uri, version: open.version, edits: [...edits] })),
    ...beside.map(({ uri, edits }) => ({ uri, version: null, edits: [...edits] })),
  ];
  if (!versioned) return { changes: Object.fromEntries(all.map(({ uri, edits }) => [uri, edits])) };
  return {
    documentChanges: all.map(({ uri, version, edits }) => ({ textDocument: { uri, version }, edits })),
  };
}
