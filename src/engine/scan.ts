import { createHash } from 'node:crypto';
import { PyModule } from '../semantic/module.js';
import { isNamedNowhere, isNeverCome } from '../semantic/never-run.js';
import { isTooDeep } from '../syntax/depth.js';
import { mayBeForgiven } from '../syntax/forgiven.js';
import { Glimpse } from '../syntax/glimpse.js';
import { importEdit } from '../syntax/import-place.js';
import type { PythonParser, SyntaxTree } from '../syntax/parser.js';
import { NotInPieces } from '../syntax/pieces.js';
import { pause } from '../syntax/section.js';
import { firstError, isOldPython, pythonProblem } from '../syntax/soundness.js';
import { type CellPlace, cellWith } from '../text/notebook/notebook.js';
import type { Site, Transform } from '../toolkit/contract.js';
import { EditBuilder, Unfixable } from '../toolkit/edit-builder.js';
import { effectOf } from '../toolkit/effect.js';
import { PluginFault } from '../toolkit/plugin-fault.js';
import { asOne } from './alike.js';
import { withAlternatives } from './alternatives.js';
import { asRemembered, withAssumed } from './assumed.js';
import { scanOfCells } from './cells.js';
import type { EngineSetup } from './engine.js';
import { floorIn, highest } from './floor.js';
import type { Fault, Finding, Scan, Skipped, SourceFile } from './outcome.js';
import { type Among, amongText, awake, withCue } from './prefilter.js';
import { wordsOf } from './site-words.js';
import { Suppressions } from './suppression.js';

/** Deep recursion in a parser or in a rule ends here, not in a stack trace. */
const TOO_DEEP = 'it is nested too deeply';
/** The text itself is not: some code of ours went too deep. */
const TOO_INVOLVED = 'it is nested too deeply, or memfix followed it in circles: please report it';

/** Where to look for what tree-sitter takes and Python 3 does not, before a second parser is asked. */
const OLD_PYTHON = /(?:print|exec)[ \t]+[^=(\s]|\basync[ \t]*=/g;

function speaksOldPython({ text, root }: Pick<PyModule, 'text' | 'root'>): boolean {
  return [...text.matchAll(OLD_PYTHON)].some(({ index }) => isOldPython(root.descendantAt(index)));
}

/** What the second parser has against a file. tree-sitter forgives a lot, and nothing is changed on its word alone. */
export function notPython(file: SourceFile): Skipped | undefined {
  const problem = pythonProblem(file.source.text);
  if (problem === undefined) return undefined;
  const at = problem.at === undefined ? {} : { at: problem.at };
  const reason = isInConflict(file.source.text)
    ? 'it holds a merge conflict'
    : `not valid Python 3: ${problem.message}`;
  return { kind: 'skipped', path: file.path, reason, ...at };
}

/** The same where the first parser, or a look at the lines, is in doubt: the second one takes longer to load than most files to parse. */
export function notPythonIfDoubtful(parser: PythonParser, file: SourceFile): Skipped | undefined {
  const { text } = file.source;
  const { outline } = new Glimpse(text);
  const tree = parser.parse(text);
  try {
    const isDoubtful =
      tree.hasError ||
      isTooDeep(text, tree, outline) ||
      mayBeForgiven(text, outline) ||
      speaksOldPython({ text, root: tree.root });
    return isDoubtful ? notPython(file) : undefined;
  } finally {
    tree.dispose();
  }
}

/** The markers that git leaves where both sides changed the same lines. */
function isInConflict(text: string): boolean {
  return [/^<{7} /m, /^={7}\r?$/m, /^>{7} /m].every((marker) => marker.test(text));
}

/** A file before it is parsed, and what would look for something in it. */
export interface Look {
  readonly file: SourceFile;
  readonly glimpse: Glimpse;
  readonly candidates: readonly Transform[];
  readonly isAddressed: boolean;
}

export function lookAt(
  setup: EngineSetup,
  file: SourceFile,
  { transforms, isAddressed, absent }: Among = amongText(awake(setup), file.source.text),
): Look {
  const { text, notebook } = file.source;
  // What stands for a cell that is not looked into was not there when the literals were looked for.
  const glimpse = new Glimpse(text, notebook === undefined ? absent : undefined);
  return { file, glimpse, candidates: withCue(setup, transforms, file.path, glimpse), isAddressed };
}

/** What a file has to say, with alternatives told apart. Most have nothing, and are not even parsed. */
export function scanOf(setup: EngineSetup, look: Look): Scan | Skipped {
  const scan = plainScanOf(setup, look);
  if (scan.kind === 'skipped' || scan.findings.length + scan.suppressed.length < 2) return scan;
  const again = (file: SourceFile, transform: Transform) => {
    const trial = plainScanOf(setup, lookAt(setup, file, { transforms: [transform], isAddressed: false }));
    return trial.kind === 'scan' ? trial.findings : [];
  };
  const findings = withAlternatives(scan.file, scan.findings, scan.suppressed, setup.transforms, again);
  return { ...scan, findings };
}

/** The same of one transform alone, or on paper: each finding by itself. */
export function plainScanOf(setup: EngineSetup, look: Look): Scan | Skipped {
  const { file, glimpse, candidates } = look;
  const inOrder = scanInOrder(setup, look);
  if (file.source.notebook === undefined) return inOrder;
  const inAnyOrder = (cells: readonly CellPlace[]) => {
    const starts = cells.map(({ start }) => start);
    return scanParsed(setup, file, candidates, glimpse, starts);
  };
  return scanOfCells(setup, file, inOrder, inAnyOrder);
}

function scanInOrder(setup: EngineSetup, { file, glimpse, candidates, isAddressed }: Look): Scan | Skipped {
  if (candidates.length === 0 && file.named !== true && !isAddressed) {
    return { kind: 'scan', file, findings: [], suppressed: [], notes: [] };
  }
  return scanParsed(setup, file, candidates, glimpse);
}

function scanParsed(
  setup: EngineSetup,
  file: SourceFile,
  candidates: readonly Transform[],
  glimpse: Glimpse,
  cells: readonly number[] = [],
): Scan | Skipped {
  const inPieces = file.named === true ? undefined : scanInPieces(setup, file, candidates, glimpse, cells);
  if (inPieces !== undefined) return inPieces;
  for (let broken = 0; ; broken++) {
    try {
      return scanTree(setup, file, candidates, glimpse, setup.parser.parse(glimpse.text), cells);
    } catch (error) {
      // About another file, of which it is known from now on that it does not parse.
      if (!(error instanceof NotInPieces) || broken >= MOST_BROKEN) throw error;
    }
  }
}

/** Files beside one of which its scan may learn that they do not parse. */
const MOST_BROKEN = 100;

/** Parses no more of a file than is asked for. Findings are the same: a permanent test compares. */
function scanInPieces(
  setup: EngineSetup,
  file: SourceFile,
  candidates: readonly Transform[],
  glimpse: Glimpse,
  cells: readonly number[],
): Scan | Skipped | undefined {
  const { text, outline } = glimpse;
  if (outline === undefined) return undefined;
  try {
    const tree = setup.parser.parseInPieces(text, outline);
    const result = scanTree(setup, file, candidates, glimpse, tree, cells);
    const hasFindings = result.kind === 'scan' && result.findings.length + result.suppressed.length > 0;
    // In a file that is broken anywhere, there are no findings.
    return hasFindings && tree.hasErrorElsewhere() ? undefined : result;
  } catch (error) {
    if (error instanceof NotInPieces) return undefined;
    throw error;
  }
}

function scanTree(
  setup: EngineSetup,
  file: SourceFile,
  candidates: readonly Transform[],
  glimpse: Glimpse,
  tree: SyntaxTree,
  cells: readonly number[],
): Scan | Skipped {
  const { text } = file.source;
  return withTree(file, tree, () => {
    const around = setup.around?.(file.path, tree.isInPieces, () => module, file.newer);
    const module: PyModule = new PyModule(file.path, text, tree, around, glimpse, undefined, cells);
    const error = misunderstood(file, module, tree);
    if (error !== undefined) return error;
    if (isTooDeep(text, tree, glimpse.outline)) return { kind: 'skipped', path: file.path, reason: TOO_DEEP };
    const faults: Fault[] = [];
    const found = candidates.flatMap((transform) =>
      withoutFaults(faults, () => findingsOf(setup, transform, module)),
    );
    const isOffered = found.some(({ fix }) => fix !== undefined);
    const isDoubtful = speaksOldPython(module) || (isOffered && mayBeForgiven(text, glimpse.outline));
    const problem = isDoubtful ? notPython(file) : undefined;
    if (problem !== undefined) return problem;
    found.sort((a, b) => a.span.start - b.span.start || a.transform.localeCompare(b.transform));
    const suppressions = new Suppressions(module, setup.transforms);
    const findings: Finding[] = [];
    const suppressed: Finding[] = [];
    for (const finding of found) (suppressions.silences(finding) ? suppressed : findings).push(finding);
    const selected = new Set(setup.transforms.map((transform) => transform.meta.id));
    const notes = suppressions.notes(selected, setup.knownIds);
    const { relied } = module.around;
    return { kind: 'scan', file, findings, suppressed, notes, relied, ...(faults.length > 0 && { faults }) };
  });
}

/** The file parsed as a whole, for who changes it: a scan of it has been made. */
export function withWhole<T>(
  { parser }: EngineSetup,
  file: SourceFile,
  use: (module: PyModule) => T,
): T | Skipped {
  const { path, source } = file;
  const tree = parser.parse(source.text);
  return withTree(file, tree, () => {
    const module = new PyModule(path, source.text, tree);
    return misunderstood(file, module, tree) ?? use(module);
  });
}

/** What is done with a tree, while it is there. */
function withTree<T>({ path }: SourceFile, tree: SyntaxTree, use: () => T): T | Skipped {
  try {
    return use();
  } catch (error) {
    if (error instanceof RangeError && /call stack/i.test(error.message)) {
      return { kind: 'skipped', path, reason: TOO_INVOLVED };
    }
    throw error;
  } finally {
    tree.dispose();
  }
}

function misunderstood(file: SourceFile, { lines }: PyModule, tree: SyntaxTree): Skipped | undefined {
  const error = firstError(tree);
  if (error === undefined) return undefined;
  const at = lines.position(error.start);
  const reason = 'the parser does not understand this place';
  return notPython(file) ?? { kind: 'skipped', path: file.path, reason, at };
}

/** A plugin that breaks has no findings here; others do. */
function withoutFaults<T>(faults: Fault[], look: () => readonly T[]): readonly T[] {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof PluginFault)) throw error;
    const { plugin, transform, message, cause } = error;
    const details = cause instanceof Error ? (cause.stack ?? message) : message;
    faults.push({ plugin, transform, message, details });
    return [];
  }
}

function findingsOf(setup: EngineSetup, transform: Transform, module: PyModule): readonly Finding[] {
  pause();
  const options = setup.optionsFor(transform.meta.id);
  const opposites = (transform.meta.yieldsTo ?? []).filter((id) =>
    setup.transforms.some(({ meta }) => meta.id === id),
  );
  const equals = new Map<string, number>();
  const isWorthless = effectOf(transform.meta) === 'saves-time' ? isNamedNowhere : () => false;
  const sites = [...transform.detect(module, options)].filter(
    ({ node }) => !isNeverCome(module, node) && !isWorthless(module, node),
  );
  const found = sites.map((site) => {
    const words = wordsOf(transform.meta.id, site.node);
    const nth = equals.get(words) ?? 0;
    equals.set(words, nth + 1);
    const key = createHash('sha1').update(`${words}\0${nth}`).digest('hex').slice(0, 16);
    const plain = findingFor(transform, site, key, module, options);
    const made = asRemembered(setup, plain, site.node);
    const isOpposed = made.fix !== undefined && opposites.length > 0;
    const standing = withAssumed(setup, made, module.path);
    return { node: site.node, finding: isOpposed ? { ...standing, alternativeTo: opposites } : standing };
  });
  return asOne(module, found).map((finding) => withAssumed(setup, finding, module.path));
}

function findingFor(
  transform: Transform,
  site: Site,
  key: string,
  module: PyModule,
  options: ReturnType<EngineSetup['optionsFor']>,
): Finding {
  const { meta } = transform;
  const { node, message } = site;
  const common = {
    transform: meta.id,
    symptom: meta.symptom,
    effect: effectOf(meta),
    key,
    span: { start: node.start, end: node.end },
    at: module.lines.position(node.start),
    end: module.lines.position(node.end),
    message,
    ...(meta.afterwards !== undefined && { afterwards: meta.afterwards }),
    ...(site.measuredAs !== undefined && { measuredAs: site.measuredAs }),
    ...(site.lasts !== undefined && { lasts: site.lasts }),
    ...(site.holds !== undefined && { holds: site.holds }),
  };
  const floor = floorIn(meta, module);
  const result = attempt(() => {
    const edit = new EditBuilder(module, meta);
    return floor.refusal === undefined
      ? transform.fix(site, edit, module, options)
      : edit.refuse(floor.refusal);
  });
  if (result.kind === 'refusal') {
    return { ...common, safety: 'advice', numerics: meta.numerics, questions: [], refusal: result.reason };
  }
  if (result.kind === 'advice') {
    return { ...common, safety: 'advice', numerics: meta.numerics, questions: [], advice: result.next };
  }
  const imports = result.imports.map((wanted) => `import ${wanted.module}`);
  const importing = importEdit(module, imports, cellWith(module.text, result.edits[0]?.start ?? node.start));
  // A gate of the fix may have asked the same, and knows what is at stake.
  const doubts = floor.doubts.filter(
    ({ text }) => !result.questions.some((each) => each.text.startsWith(text.slice(0, text.indexOf('(')))),
  );
  const premises = highest([...floor.premises, ...result.premises]);
  return {
    ...common,
    safety: doubts.length > 0 && result.safety === 'safe' ? 'unsafe' : result.safety,
    numerics: result.numerics,
    questions: [...result.questions, ...doubts],
    ...(premises.length > 0 && { premises }),
    ...(result.reasons.length > 0 && { reasons: result.reasons }),
    ...(result.answered.length > 0 && { answered: result.answered }),
    fix: {
      title: result.title,
      edits: result.edits,
      ...(result.near.length > 0 && { near: result.near }),
      ...(result.covers.length > 0 && { covers: result.covers }),
      ...(importing === undefined ? { importEdits: [] } : { imports, importEdits: [importing] }),
      ...(result.beside.length > 0 && { beside: result.beside }),
    },
  };
}

function attempt(fix: () => ReturnType<Transform['fix']>): ReturnType<Transform['fix']> {
  try {
    return fix();
  } catch (error) {
    if (error instanceof Unfixable) return { kind: 'refusal', reason: error.message };
    throw error;
  }
}
