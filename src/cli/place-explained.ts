import type { Finding } from '../engine/outcome.js';
import { renderFull } from '../report/full.js';
import { Lines } from '../text/lines.js';
import { Context, EXIT } from './context.js';
import { lookThrough, prepare } from './looking.js';

/** What is found or left alone at a line of a file, with every step of why; without a line, in all of the file. */
export async function explainPlace(
  context: Context,
  path: string,
  line: number | undefined,
): Promise<number> {
  const asked = new Context(context.io, context.args.about(path), context.catalogue);
  const byDefault = await lookAt(asked, line);
  const isNothing = byDefault.here.length === 0 && byDefault.seen.crashes.length === 0;
  // A report of `--oom` has these, too.
  const withOptIn = isNothing
    ? await lookAt(new Context(asked.io, asked.args.extending('opt-in'), asked.catalogue), line)
    : undefined;
  const { seen, here } = withOptIn?.here.length ? withOptIn : byDefault;
  const findings = seen.scans.flatMap((scan) => scan.findings);
  const told = here.length > 0 ? here : nearest(findings, line ?? 1);
  const place = `${path}${line === undefined ? '' : `:${line}`}`;
  if (here.length === 0)
    asked.say(
      `Nothing is found or left alone at ${place}.${told.length === 0 ? '' : ' The nearest of the file:'}`,
    );
  else if (isNothing) asked.say(`Only an opt-in transform has something to say at ${place}:`);
  const report = {
    scans: seen.scans.map((scan) => ({ ...scan, findings: told, notes: [] })),
    skipped: seen.skipped,
    checked: seen.files,
  };
  await asked.show(renderFull(report, { ...asked.view, verbose: true, isThorough: true }));
  asked.confess(seen.crashes, []);
  return seen.crashes.length > 0 ? EXIT.error : EXIT.clean;
}

async function lookAt(context: Context, line: number | undefined) {
  const seen = await lookThrough(context, await prepare(context), 'report');
  const here = seen.scans.flatMap((scan) => {
    const lines = new Lines(scan.file.source.text);
    return scan.findings.filter((finding) => line === undefined || isAt(finding, line, lines));
  });
  return { seen, here };
}

/** It points there, or its fix changes that line. */
function isAt({ at, end, fix }: Finding, line: number, lines: Lines): boolean {
  if (at.line <= line && line <= end.line) return true;
  const edits = fix?.edits ?? [];
  return edits.some((edit) => lines.lineAt(edit.start) <= line && line <= lines.lineAt(edit.end));
}

function nearest(findings: readonly Finding[], line: number): readonly Finding[] {
  const away = ({ at }: Finding): number => Math.abs(at.line - line);
  const least = Math.min(...findings.map(away));
  return findings.filter((finding) => away(finding) === least);
}
