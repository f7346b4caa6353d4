import type { Moment } from '../toolkit/contract.js';
import type { Pass } from './code.js';
import type { Frame } from './frame.js';

type Sign = readonly [moment: Moment, path: RegExp, name: RegExp];

const ANY = /^/;

const OPTIMIZERS =
  /\/(?:torch\/optim|bitsandbytes\/optim|apex\/optimizers|deepspeed\/ops\/adam)\/|\/transformers\/optimization\.py$/;

const COPIES = /\/copy\.py$/;

/** What a frame says about the moment, the most telling first. */
const SIGNS: readonly Sign[] = [
  ['loading', /\/torch\/serialization\.py$|\/safetensors\//, /load|persistent|restore|<module>/],
  ['saving', /\/torch\/serialization\.py$|\/safetensors\//, /save|write/],
  ['data', /\/torch\/utils\/data\/|-packages\/datasets\//, ANY],
  [
    'state',
    /\/torch\/optim\/|\/deepspeed\/runtime\//,
    /^(?:_init_group|_?init_state\w*|initialize_optimizer_states)$/,
  ],
  ['loading', OPTIMIZERS, /^load_state_dict$/],
  ['optimizer', OPTIMIZERS, ANY],
  ['optimizer', /\/deepspeed\/runtime\//, /^(?:_?\w*optimizer_step|step)$/],
  ['loading', COPIES, /^_?deepcopy|^_reconstruct$/],
  ['moving', /\/torch\/nn\/modules\/module\.py$/, /^(?:to|cuda|_apply|convert)$/],
  ['backward', /\/torch\/autograd\/|\/torch\/_tensor\.py$/, /^(?:backward|grad|apply|_engine_run_backward)$/],
  ['loading', ANY, /^(?:from_pretrained|load_state_dict|load_checkpoint|load_model|_load_\w+|resume\w*)$/],
  ['saving', ANY, /^(?:save_pretrained|save_checkpoint|save_model|_save_\w+|save)$/],
  ['backward', ANY, /^(?:backward|_backward|training_backward)$/],
  ['forward', ANY, /^(?:forward|_call_impl|training_step|compute_loss)$/],
];

const EVALUATES =
  /(?:^|_)(?:eval(?:uate|uation)?|valid(?:ate|ation)?|test|predict(?:ion)?|infer(?:ence)?|generate)(?:_|$)/i;
/** `train_and_evaluate` */
const TRAINS = /(?:^|_)(?:train|fit)(?:ing)?(?:_|$)/i;
const TESTS_ITSELF = /\/unittest\/|\/_?pytest\//;

/**
 * What the program was doing when memory ran out, told from the functions it was in; `isGradOff`: it recorded no graph.
 * Where the code itself says what the pass was for, no name does.
 */
export function momentsOf(frames: readonly Frame[], isGradOff = false, pass?: Pass): readonly Moment[] {
  const doing = innermost(frames) ?? saidBy(frames.at(-1)?.source ?? '');
  const isBetween = doing === undefined || doing === 'forward';
  const isNamed = frames.some(
    ({ path, name }) => EVALUATES.test(name) && !TRAINS.test(name) && !TESTS_ITSELF.test(path),
  );
  const isRead = pass === 'evaluation' && doing === 'forward';
  const evaluates = isBetween && (isGradOff || isRead) ? true : isNamed && pass !== 'training';
  // Where the statement is all there is, the state may be what it was making.
  const all = doing === 'optimizer' && !frames.some(isOfAnOptimizer) ? (['optimizer', 'state'] as const) : [];
  if (all.length > 0) return all;
  if (!evaluates) return doing === undefined ? [] : [doing];
  // What lightens the forward pass of a training does nothing for that of an evaluation.
  return isBetween ? ['evaluation'] : ['evaluation', doing];
}

function isOfAnOptimizer({ path, name }: Frame): boolean {
  return momentIn({ path, name }) === 'optimizer';
}

function momentIn({ path, name, source = '' }: Pick<Frame, 'path' | 'name' | 'source'>): Moment | undefined {
  const moment = SIGNS.find((sign) => sign[1].test(path) && sign[2].test(name))?.[0];
  // torch 1 makes the state in the step itself.
  return moment === 'optimizer' && /\bstate\[|zeros_like\(/.test(source) ? 'state' : moment;
}

/** Where no library tells more, the statement itself does. */
function saidBy(statement: string): Moment | undefined {
  if (/\.backward\(/.test(statement)) return 'backward';
  if (/\btorch\.load\(|\.from_pretrained\(|\bdeepcopy\(/.test(statement)) return 'loading';
  return /\boptim\w*\.step\(/.test(statement) ? 'optimizer' : undefined;
}

/** The innermost frame that says something decides; but a forward pass that a backward pass repeats is part of that, as is what a load calls. */
function innermost(frames: readonly Frame[]): Moment | undefined {
  const signs = frames.map(momentIn).filter((moment) => moment !== undefined);
  const last = signs.at(-1);
  if ((last === 'optimizer' || last === 'state') && loadsOptimizer(frames)) return 'loading';
  return last === 'forward' && signs.includes('backward') ? 'backward' : last;
}

/** A model was copied by `copy.deepcopy`. */
export function copiesModel(frames: readonly Frame[]): boolean {
  return (
    frames.some(({ path, name }) => COPIES.test(path) && name === 'deepcopy') ||
    /\bdeepcopy\(/.test(frames.at(-1)?.source ?? '')
  );
}

/** The state of an optimizer was read back, which is no step of it. */
export function loadsOptimizer(frames: readonly Frame[]): boolean {
  return frames.some(({ path, name }) => OPTIMIZERS.test(path) && name === 'load_state_dict');
}
