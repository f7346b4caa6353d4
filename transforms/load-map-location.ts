/*
 * checkpoint = torch.load(path)
 * model.load_state_dict(checkpoint["model"])
 *
 * checkpoint = torch.load(path, map_location="cpu")
 * model.load_state_dict(checkpoint["model"])
 *
 * `load_state_dict` copies into tensors that already are where they belong, so the device of the loaded ones does not
 * matter to it. Everything else does to somebody: what is loaded must end in `load_state_dict` of a module or an optimizer
 * of torch, in `copy_` of a tensor that is there, in entries that hold a number (`epoch`), or where only its names and sizes are
 * looked at.
 */
import {
  type Answer,
  argumentsOf,
  ask,
  behindBracket,
  canonical,
  contextManagers,
  countsOn,
  enclosingWiths,
  hasItsLines,
  hasSplat,
  isInExpressionScope,
  isTestCode,
  keywordValue,
  LOAD,
  methodName,
  ownsItsLines,
  Proof,
  type PyModule,
  type PyNode,
  qualifiedName,
  readerInFile,
  receiverOf,
  requireOriginal,
  requireUncaught,
  requireVersion,
  type Site,
  shown,
  statementOf,
  type Transform,
} from '../src/toolkit/index.js';
import { isErrorFinal } from './load-map-location/error-again.js';
import { isPlacedOnCpu, isPresent, onlyNames, placeGiven } from './load-map-location/given-place.js';
import { isNetwork, isOnlyForOptimizers } from './load-map-location/keeper.js';
import { hasTensorSettings } from './load-map-location/kept-settings.js';
import { replaced } from './load-map-location/left-names.js';
import { isUsedAgain } from './load-map-location/loaded-again.js';
import type { Fate } from './load-map-location/loaded-use.js';
import { loadsPlainly, quantizersOf } from './load-map-location/loading-class.js';
import { loadingNames } from './load-map-location/loading-names.js';
import { armsAlike } from './load-map-location/other-arm.js';
import { mayBeReadByName } from './load-map-location/read-by-name.js';
import { fateOf } from './load-map-location/returned-value.js';
import { isSavedFromCpu } from './load-map-location/saved-from-cpu.js';
import { copiesState } from './load-map-location/state-receiver.js';
import { mayStay, messageAt, messageOf } from './load-map-location/wording.js';

interface LoadSite extends Site {
  readonly call: PyNode;
  readonly fate: Fate;
  /** The place that it names today. */
  readonly place: PyNode | undefined;
}

/** How far a cue looks around a call: longer ones are parsed. */
const NEARBY = 500;
const OTHER_LOADERS: ReadonlySet<string> = new Set(['joblib', 'json', 'pickle', 'toml', 'yaml']);
/** What `load(…)`, or another name of it, comes from. */
const NAMED_BY_ITSELF = /\bfrom[\s\\]+torch\b[\s\\.\w]{0,40}import\b|\.load\b(?!\()/;

/** What torch raises where the GPU of a checkpoint is missing. */
const ERRORS = /\b(?:RuntimeError|Exception|BaseException)\b/;
/** As it is mostly written. */
const STAYS = /\bmap_location=lambda (\w+), ?\w+: ?\1\s*[,)]/;

/** A storage is read to the CPU before it is moved; every torch takes a function there. */
const STAYS_ON_CPU = 'lambda storage, loc: storage';

const COPY_OR_NOT = 'whether a tensor that is moved is a copy depends on where it was loaded';

export const loadMapLocation: Transform<LoadSite> = {
  meta: {
    id: 'load-map-location',
    summary: 'Load a checkpoint to the CPU when it only fills a model that exists',
    symptom: 'peak',
    movesTo: 'host',
    lasts: 'statement',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: '`torch.load(path)` puts every tensor back on the GPU that it was saved from. Until the result is dropped, that GPU holds the weights twice, and every process of a distributed run puts its copy, also of the optimizer state, on the same GPU. `map_location=device` holds the weights twice as well, on the GPU that it names.',
      does: 'Adds `map_location="cpu"` to the call, or writes `"cpu"` where it names another device, or `lambda storage, loc: storage`, which every torch takes, where nothing says that torch is 0.4 or newer. `load_state_dict` then copies each tensor from the host to where the model or optimizer has it; the values are the same, bit for bit. Where the other branch of an `if` loads the same to the CPU already, that one is left in its place.',
      refuses: [
        'what is loaded is also used in a computation, or is a whole module that is run',
        'a tensor of it is moved to a device by name and then changed in place: the change reaches what is loaded, or does not, depending on where that is',
        '`load_state_dict(…, assign=True)` keeps the loaded tensors themselves',
        'only optimizers take it, in a file that speaks of one process: nothing is held twice',
        'the arguments of `torch.load` are spread, so `map_location` may be among them',
        'silent where code that does more than to name a device says where to load',
        'unsafe where a parameter, a name that is imported, or a variable that is made in a way of its own would be left that nobody reads (what only computes or chooses the device goes with it; a remark above stays)',
        'the statement shares its line with other code, or the call stands in a lambda or a comprehension',
        'unsafe where the code around catches the error that a checkpoint gives on a machine without its GPU, unless the device that is named is a GPU only where there is one',
        'unsafe where the result also is kept, handed to other code, or returned to callers that do not show or do more with it, where the receiver is not proven to be a torch module or optimizer: neither by the class that makes it, nor because every `load_state_dict` in the program copies what it is given and it imports no package that is known to load in its own way, where the receiver is made by a package that memfix does not know and nothing shows that it is a network, where settings saved beside it (`args`, `config`) are read, and in files that shard or quantize models or have optimizer settings that are tensors',
        'unsafe where state that an optimizer takes is used again, where an optimizer or a schedule of the project may hold tensors beside the state of its parameters, where a count that is saved beside it is not shown to be a number, or a tensor is indexed by what may be on the GPU',
      ],
      limits: [
        'Host memory holds the whole checkpoint instead, once per process.',
        'Passed over in silence where all that the project saves (or all that it writes to this very path) was moved to the CPU before: nothing goes back to a GPU.',
        'Nothing changes for a checkpoint that was saved from the CPU, and, with one process, for the state of an optimizer: it takes the loaded tensors as its own and holds nothing twice (measured).',
        'Networks of packages that memfix does not know, and what callers outside of the project hand to its functions, are taken to copy what they load, as torch does.',
        'A load whose result reaches no `load_state_dict`, and no `copy_` into the state of a model, is not looked at: data, features and pickled modules keep their device.',
      ],
    },
    evidence: {
      verdict:
        'Real: takes the second copy of the weights off the GPU while a checkpoint is loaded, 25 % of the peak with the state of AdamW; the values are the same',
      measurements: [],
    },
    origin: [],
    example: 'fix-resume-from-checkpoint',
  },

  prefilter: ['load(', 'torch'],
  cue: (text, _path, glimpse) => glimpse.stretchesWith('load(').some((code) => hasOpenLoad(code, text)),

  *detect(module) {
    for (const node of module.atWhere('load(', (code) => hasOpenLoad(code, module.text))) {
      const call = node.closest('call');
      const callee = call?.function;
      if (call === undefined || !callee?.contains(node) || call.closest('string') !== undefined) continue;
      if (!callee.text.endsWith('load') || canonical(qualifiedName(module, callee) ?? '') !== LOAD) continue;
      const place = placeGiven(call);
      const isNamed = place !== undefined && place.type !== 'none';
      if (isNamed && (isPlacedOnCpu(module, place) || !onlyNames(module, place))) continue;
      const fate = fateOf(module, call);
      if (fate.loads.length === 0 && !fate.isCopied) continue;
      if (!isNamed && isSavedFromCpu(module, call)) continue;
      const name = nameOf(call);
      yield {
        node: callee.attribute ?? callee,
        call,
        fate,
        place,
        ...(name !== undefined && { lasts: name.includes('.') ? 'run' : 'call' }),
        message: isNamed ? messageAt(place, name) : messageOf(name),
      };
    }
  },

  fix({ call, fate, place }, edit, module) {
    const file = argumentsOf(call)[0];
    if (file === undefined) return edit.refuse('it is called without a file');
    const proof = new Proof()
      .forbid(hasSplat(call), 'its arguments are spread, so `map_location` may be among them')
      .forbid(!hasItsLines(module, statementOf(call)), 'its statement shares its line with other code')
      .forbid(isInExpressionScope(call), 'it stands in a lambda or a comprehension');
    const checkpoint = shown(call);
    const isThere = place !== undefined && place.type !== 'none' && isPresent(module, place);
    // Before 0.4, torch takes no text there.
    const hasText = place?.type === 'string' || countsOn(proof, module, 'torch', '0.4');
    for (const { answer, node, does, matter } of fate.strays) {
      const what = `\`${node.text.replace(/\s+/g, ' ').slice(0, 40)}\``;
      if (matter === 'number') {
        proof.require(
          'unknown',
          ask('plain-number')`Is ${what} a number, and no tensor that stays on its device?`,
        );
        continue;
      }
      proof.require(answer, {
        no: `${what} ${does}, and ${matter === 'device' ? 'its device would change' : COPY_OR_NOT}`,
        unknown:
          matter === 'device'
            ? ask('any-device')`May ${what}, which ${does}, be on the CPU?`
            : ask('left-as-it-is')`Is what ${what}, which ${does}, holds left as it is (${COPY_OR_NOT})?`,
      });
    }
    for (const { module: home, node: load } of fate.loads) {
      const receiver = receiverOf(load);
      const loading = receiver === undefined ? 'the receiver' : `\`${receiver.text}\``;
      proof
        .require(assigns(load), {
          no: '`assign=True` keeps the loaded tensors themselves, which would stay on the CPU',
          unknown: ask(
            'copies-state',
          )`Does ${loading} load without \`assign\` (the loaded tensors themselves would stay on the CPU)?`,
        })
        .require(receiver === undefined ? 'unknown' : copiesState(home, receiver), {
          no: `${loading} keeps what it is given`,
          unknown: ask(
            'copies-state',
          )`Does ${loading}, with all its parts, copy what it loads as torch's modules and optimizers do?`,
        });
      if (!hasText && (receiver === undefined || !isNetwork(home, receiver)))
        requireVersion(proof, module, 'torch', '0.4', 'an optimizer keeps its state where it was loaded');
    }
    const homes = [module, ...fate.loads.map((load) => load.module)];
    proof
      .forbid(
        !fate.isCopied && isOnlyForOptimizers(module, call, fate.loads),
        'an optimizer takes the loaded tensors as its own: with one process nothing is held twice',
      )
      .require(
        isUsedAgain(module, call, fate.loads) ? 'unknown' : 'yes',
        ask(
          'loaded-once',
        )`Does an optimizer take the state of \`${checkpoint}\` only once (one on its GPU is trained on in place, one on the CPU stays as it was saved)?`,
      )
      .require(
        homes.every((home) => home.memo(isLoadingPlain, home)) ? 'yes' : 'unknown',
        ask(
          'loads-from-cpu',
        )`Does the model take \`${checkpoint}\` from the CPU (this file shards, quantizes or defers models, or has parts that load in their own way)?`,
      )
      .require(
        homes.some((home) => home.memo(hasTensorSettings, home)) ? 'unknown' : 'yes',
        ask(
          'plain-settings',
        )`Are the settings of the optimizer in \`${checkpoint}\` plain numbers (tensors stay where they are loaded)?`,
      )
      .require(
        mayMindDefault(homes, fate.loads) || isUnderDevice(call) ? 'unknown' : 'yes',
        ask('any-default')`May \`${checkpoint}\` be loaded to the CPU whatever the default device is?`,
      )
      .require(
        isUnnamed(call) || !mayBeReadByName(module, call) ? 'yes' : 'unknown',
        ask('unreached-name')`Is the result of \`${checkpoint}\` out of reach of ${readerInFile(module)}?`,
      )
      .require(
        isThere || isErrorFinal(call, ERRORS) ? 'yes' : 'unknown',
        ask(
          'error-unneeded',
        )`Does the \`except\` around \`${checkpoint}\` work as well without the error of a missing GPU?`,
      )
      .require(
        isTestCode(module, call) ? 'unknown' : 'yes',
        ask(
          'test-of-other',
        )`Is the unit test that \`${checkpoint}\` may be in about something other than devices?`,
      );
    requireOriginal(proof, module, LOAD);
    if (!isThere) requireUncaught(proof, module, call, ERRORS);
    const arms = ownsItsLines(module, statementOf(call)) ? armsAlike(module, call) : undefined;
    const cpu = hasText ? edit.quoted('cpu') : STAYS_ON_CPU;
    if (arms !== undefined && (hasText || arms.line.includes(STAYS_ON_CPU)))
      edit.replaceStatement(arms.statement, [arms.line]);
    else if (place === undefined) edit.addKeywordAfter(file, 'map_location', cpu);
    else {
      const { unneeded, left } = replaced(module, place);
      edit.replace(place, cpu);
      for (const statement of unneeded) edit.removeStatement(statement);
      for (const name of left) proof.require('unknown', mayStay(name));
    }
    return edit.done('Load the checkpoint to the CPU', proof);
  },
};

/** In code without strings and comments: a call that may be one of `torch.load`, and may leave what it loads on a GPU. */
function hasOpenLoad(code: string, text: string): boolean {
  const alone = NAMED_BY_ITSELF.test(text);
  return [...code.matchAll(/load\(/g)].some(({ index }) => {
    const before = code.slice(Math.max(0, index - 50), index);
    if (!(/\.[\s\\]*$/.test(before) ? mayBeTorch(before, text) : alone && !/\bdef \w*$/.test(before)))
      return false;
    const near = code.slice(index + 'load'.length, index + NEARBY);
    return !STAYS.test(near.slice(0, behindBracket(near, 0)));
  });
}

/** What stands before `load`, up to its dot. */
function mayBeTorch(before: string, text: string): boolean {
  const [, dot, owner = ''] = /(\.?)\b(\w+)\.$/.exec(before) ?? [];
  if (dot === undefined) return true;
  return dot === '.' ? /^(?:torch|serialization)$/.test(owner) : !isOtherLoader(owner, text);
}

/** A module that is no part of torch, by the import that it mostly has, or the object itself. */
function isOtherLoader(owner: string, text: string): boolean {
  if (owner === 'self' || owner === 'cls') return true;
  if (owner === 'np') return text.includes('import numpy as np');
  return OTHER_LOADERS.has(owner) && text.includes(`import ${owner}\n`);
}

function positional(call: PyNode): readonly PyNode[] {
  return argumentsOf(call).filter(({ type }) => type !== 'keyword_argument' && !type.endsWith('_splat'));
}

/** Whether the call of `load_state_dict` leaves the loaded tensors alone. */
function assigns(load: PyNode): Answer {
  if (hasSplat(load)) return 'unknown';
  const assign = keywordValue(load, 'assign') ?? positional(load)[2];
  if (assign === undefined || assign.text === 'False') return 'yes';
  return assign.text === 'True' ? 'no' : 'unknown';
}

/** Where another device is the default, an optimizer may want its counts there; a network copies what it loads to where it has it. */
function mayMindDefault(homes: readonly PyModule[], loads: Fate['loads']): boolean {
  if (!homes.some((home) => home.mentions(/set_default_(?:device|tensor_type)/))) return false;
  return !loads.every(({ module, node }) => {
    const receiver = receiverOf(node);
    return receiver !== undefined && isNetwork(module, receiver);
  });
}

/** `with torch.device(…)` decides where new tensors go. */
function isUnderDevice(call: PyNode): boolean {
  return enclosingWiths(call)
    .flatMap(contextManagers)
    .some(({ text }) => /device|fake|meta|init_on/i.test(text));
}

/** What is loaded on the spot has no name. */
function isUnnamed(call: PyNode): boolean {
  let value = call;
  while (value.parent?.type === 'subscript' && value.parent.value === value) value = value.parent;
  const taker = value.parent?.type === 'argument_list' ? value.parent.parent : undefined;
  return taker !== undefined && methodName(taker) === 'load_state_dict';
}

/** The variable that keeps what is loaded; undefined where it is taken on the spot, or deleted. */
function nameOf(call: PyNode): string | undefined {
  const statement = statementOf(call);
  const left = statement.type === 'expression_statement' ? statement.named[0]?.left : undefined;
  if (left === undefined || isUnnamed(call)) return undefined;
  const beside = statement.parent?.named ?? [];
  const after = beside.slice(beside.indexOf(statement) + 1);
  return after.some((next) => next.type === 'delete_statement' && next.named[0]?.text === left.text)
    ? undefined
    : left.text;
}

/** Of the whole file, once for all its loads. */
function isLoadingPlain({ alone, around }: PyModule): boolean {
  const quantizes = quantizersOf(alone).some((dotted) => around.text(dotted) === undefined);
  return loadsPlainly(alone.code) && !quantizes && !loadingNames(alone).areGiven;
}
