import type { PyNode } from '../../syntax/node.js';
import type { PythonParser } from '../../syntax/parser.js';
import type { FixtureCase } from '../fixtures.js';
import { aboutOf, filesOf, INPUT, type Means, type Tier, tiersOf } from './tiers.js';

/** How a remark is written: as a comment, as the string that documents a function, class or module, or as a string for people. */
export type Remark = 'comment' | 'docstring' | 'string';

/** What the code of training programs does, said and not done. */
const WORDS = [
  'loss.backward() torch.autograd.grad(x) optimizer.step() optimizer.zero_grad() with torch.no_grad(): torch.inference_mode()',
  'model.eval() model.train() requires_grad_(False) requires_grad=True retain_graph=True create_graph=True detach() item() cpu()',
  'torch.cuda.empty_cache() torch.save() torch.load() map_location load_state_dict() resume_from_checkpoint register_buffer Parameter',
  'gradient_checkpointing_enable() use_reentrant=False checkpoint_sequential autocast GradScaler scaler.scale() amp=True fp16 bf16',
  'deepspeed FSDP FullyShardedDataParallel offload Accelerator accelerate Trainer( TrainingArguments trl peft bitsandbytes bnb 8bit unsloth',
  'Adam SGD LBFGS scheduler.step() ema target_net momentum_update clip_grad_norm_ accumulation reduction="sum" parameters() accum',
  'global nonlocal locals() globals() exec( eval( getattr( setattr( isinstance( yield await lambda __dict__ torch.jit compile register_hook',
  'float64 double half complex polar dtype device cuda mps cpu gpu device_map meta best history Variable volatile async= .data[0] __name__ == __main__ parse_args()',
  'DataLoader collate_fn num_workers pin_memory Dataset tokenizer vocab logits lm_head labels compute_metrics decode( train( fit( log(',
].flatMap((line) => line.match(/.{1,60}(?: |$)/g) ?? []);

/** A fixture whose findings changed with the remarks in it. */
export interface Swayed {
  readonly at: string;
  readonly before: string;
  readonly after: string;
}

/** The fixtures in which remarks decide something. */
export function swayed(
  means: Means,
  fixtures: readonly FixtureCase[],
  remark: Remark,
): { readonly swayed: readonly Swayed[]; readonly remarks: number } {
  const found: Swayed[] = [];
  let remarks = 0;
  for (const fixture of fixtures) {
    const files = filesOf(fixture);
    if (files === undefined) continue;
    const tiers = tiersOf(means, fixture, files);
    const said = new Map(
      [...files].map(([path, text]) => {
        const all = path.endsWith('.py') ? placesIn(means.parser, text, remark) : [];
        const places = path === INPUT ? all.filter((place) => stays(tiers, place)) : all;
        remarks += places.length;
        return [path, withRemarks(text, places, remark)];
      }),
    );
    const [before, after] = [tiers, tiersOf(means, fixture, said)].map(shown);
    if (before !== undefined && after !== undefined && before !== after)
      found.push({ at: `${aboutOf(fixture)}/${fixture.name}`, before, after });
  }
  return { swayed: found, remarks };
}

/** In code that no fix takes away: a remark goes with the code around it only if a person agrees. */
function stays(tiers: readonly Tier[], place: number): boolean {
  return !tiers.some(({ takes }) => takes.some(({ start, end }) => start < place && place < end));
}

function shown(tiers: readonly Tier[]): string {
  return tiers
    .map(({ id, tier, why }) => `${id} ${tier}: ${why.join('; ').replace(/\.py:\d+/g, '.py')}`)
    .join(', ');
}

/** Where the first statement of a module, class or function begins a line; a docstring has no place where there is one. */
function placesIn(parser: PythonParser, text: string, remark: Remark): readonly number[] {
  if (/\r(?!\n)|\f/.test(text)) return [];
  if (remark === 'string') return [text.length];
  const { root } = parser.parse(text);
  const bodies = [root, ...[...root.walk()].filter((node) => isBody(node, remark))];
  return bodies.flatMap((body) => {
    const [first, second] = body.named.filter(({ type }) => type !== 'comment');
    // A body of one statement is another one with a string in it.
    if (first === undefined || (remark === 'docstring' && second === undefined)) return [];
    const isFirst = /^[ \t]*$/.test(text.slice(lineStart(text, first.start), first.start));
    const isString = first.type === 'expression_statement' && first.named[0]?.type === 'string';
    const isFuture = first.type === 'future_import_statement';
    return isFirst && !(isString || (isFuture && remark === 'comment')) ? [first.start] : [];
  });
}

function isBody({ type, parent }: PyNode, remark: Remark): boolean {
  return type === 'block' && (remark === 'comment' || /^(?:function|class)_/.test(parent?.type ?? ''));
}

function withRemarks(text: string, places: readonly number[], remark: Remark): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  if (remark === 'string' && places.length > 0)
    return [text, `def zq_help():`, `    return '''${WORDS.join(newline)}'''`, ''].join(newline);
  let result = text;
  for (const start of [...places].sort((a, b) => b - a)) {
    const indent = text.slice(lineStart(text, start), start);
    const said =
      remark === 'comment'
        ? WORDS.map((words) => `# ${words}`).join(newline + indent)
        : `'''${WORDS.join(newline + indent)}'''`;
    result = `${result.slice(0, start)}${said}${newline}${indent}${result.slice(start)}`;
  }
  return result;
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}
