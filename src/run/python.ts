import type { Dtype } from '../budget/memory.js';
import { callsNamed } from '../semantic/called-name.js';
import { defaultedOption } from '../semantic/command-line.js';
import { spotOf } from '../semantic/gate.js';
import { type Given, givenIn } from '../semantic/given.js';
import { qualifiedName } from '../semantic/imports.js';
import { writtenBehind } from '../semantic/literals.js';
import type { PyModule } from '../semantic/module.js';
import { isAtLeast } from '../semantic/standing.js';
import { argumentsOf, keywordArgument, keywordValue } from '../semantic/statements.js';
import { plainString } from '../semantic/strings.js';
import { isTestCode } from '../semantic/test-code.js';
import type { PyNode } from '../syntax/node.js';
import { argumentsCalls, libraryOf } from '../torch/huggingface/huggingface.js';
import { modelLoad } from '../torch/huggingface/pretrained.js';
import { adamCalls } from '../torch/training/optimizer-call.js';
import { CONFIGURATIONS } from './configurations.js';
import { DTYPE_WORDS, type Found, linearsNamed, optimizerNamed, type Reading } from './reading.js';

/** What can be told without running anything. */
type Value = string | number | boolean | readonly string[] | undefined;

/** What one Python file says about the run that it is. */
export function readPython(module: PyModule): Reading {
  return new Reader(module).read();
}

const CONVOLUTIONAL = ['resnet18', 'resnet34', 'resnet50', 'resnet101', 'resnet152'];

class Reader {
  readonly #untold: Found<string>[] = [];

  constructor(private readonly module: PyModule) {}

  read(): Reading {
    const load = this.#load();
    const trainer = this.#trainer();
    return {
      ...load,
      ...this.#config(),
      ...trainer,
      ...this.#precision(load),
      ...this.#optimizer(trainer),
      ...this.#batch(trainer),
      ...this.#lora(),
      ...this.#sharding(),
      ...this.#buckets(),
      untold: this.#untold,
    };
  }

  #found<T>(value: T, node: PyNode): Found<T> {
    const words = node.text.replaceAll(/\s+/g, ' ');
    const shown = words.length > 60 ? `${words.slice(0, 59)}…` : words;
    return {
      value,
      place: spotOf(this.module, node),
      words: shown,
    };
  }

  /** The value of an expression; where it is a default of the command line, that. */
  #value(node: PyNode): Value {
    const { node: written } = writtenBehind(this.module, node);
    if (written.type === 'integer' || written.type === 'float')
      return Number(written.text.replaceAll('_', ''));
    if (written.type === 'true' || written.type === 'false') return written.type === 'true';
    if (written.type === 'list' || written.type === 'tuple') {
      const parts = written.named.map((child) => plainString(child));
      return parts.every((part) => part !== undefined) ? parts : undefined;
    }
    if (written.type === 'attribute') {
      const option = defaultedOption(this.module, written);
      if (option !== undefined) return this.#value(option.value);
      const name = DTYPE_WORDS.get(written.attribute?.text ?? '');
      return qualifiedName(this.module, written)?.startsWith('torch.') === true ? name : undefined;
    }
    return plainString(written);
  }

  /** A setting of a call: found, and told if it can be. */
  #setting<T extends Value>(given: Given, isIt: (value: Value) => value is T): Found<T> | undefined {
    return this.#told(given.entry, given.value, isIt);
  }

  #told<T extends Value>(
    entry: PyNode,
    node: PyNode,
    isIt: (value: Value) => value is T,
  ): Found<T> | undefined {
    const value = this.#value(node);
    if (isIt(value)) return this.#found(value, entry);
    if (node.type !== 'none') this.#untold.push(this.#found(entry.name?.text ?? entry.text, entry));
    return undefined;
  }

  /** The model that is trained: the last one that is loaded by a class that trains, or made by torchvision. */
  #load(): Partial<Reading> {
    const calls = [...this.module.at('from_pretrained'), ...this.module.at('from_config')].flatMap((node) => {
      const call = node.closest('call');
      const load = call && modelLoad(this.module, call);
      return load === undefined || isTestCode(this.module, load.call) ? [] : [load.call];
    });
    const [call] = calls;
    if (call === undefined) return this.#network();
    const classes = this.#classes(call);
    const first = keywordValue(call, 'pretrained_model_name_or_path') ?? argumentsOf(call)[0];
    const model = first && this.#told(first, first, isText);
    const dtype = keywordArgument(call, 'dtype') ?? keywordArgument(call, 'torch_dtype');
    const node = dtype?.value;
    const told = dtype && node && this.#told(dtype, node, isText);
    const weights = told === undefined ? undefined : weightsNamed(told.value);
    const attention = keywordArgument(call, 'attn_implementation');
    const kind = attention?.value && this.#value(attention.value as PyNode);
    const quantized = this.#quantized(call);
    return {
      ...(model !== undefined && { model }),
      ...(classes !== undefined && { classes }),
      ...(told !== undefined && weights !== undefined && { weights: { ...told, value: weights } }),
      ...(told?.value === 'auto' && { keepsSavedDtype: { ...told, value: true } }),
      ...(quantized !== undefined && { weights: quantized }),
      ...(attention !== undefined &&
        (kind === 'eager' || kind === 'sdpa' || kind === 'flash_attention_2') && {
          attention: this.#found(kind === 'flash_attention_2' ? ('flash' as const) : kind, attention),
        }),
      ...(isAtLeast(this.module, 'transformers', '5.0') === 'yes' &&
        told === undefined && { keepsSavedDtype: this.#found(true, call) }),
    };
  }

  /** `…ForSequenceClassification` and its like have no logits of words. */
  #classes(call: PyNode): Found<number> | undefined {
    const name = modelLoad(this.module, call)?.className ?? '';
    if (!/For(?:Sequence|Token)Classification$|ForQuestionAnswering$|ForMultipleChoice$/.test(name))
      return undefined;
    const entry = keywordArgument(call, 'num_labels');
    const value = entry?.value && this.#value(entry.value as PyNode);
    return this.#found(isNumber(value) ? value : 2, entry ?? call.function ?? call);
  }

  #network(): Partial<Reading> {
    for (const name of CONVOLUTIONAL) {
      const [call] = callsNamed(this.module, name);
      const callee = call?.call.function;
      if (call === undefined || callee === undefined) continue;
      if (qualifiedName(this.module, callee)?.startsWith('torchvision.') !== true) continue;
      return { model: this.#found(name, call.call) };
    }
    return {};
  }

  #quantized(load: PyNode): Found<'int4' | 'int8'> | undefined {
    for (const [name, bits] of [
      ['load_in_4bit', 'int4'],
      ['load_in_8bit', 'int8'],
    ] as const) {
      const [given] = givenIn(this.module, name).filter(({ value }) => this.#value(value) === true);
      const own = keywordArgument(load, 'quantization_config') ?? keywordArgument(load, name);
      if (given !== undefined && own !== undefined) return this.#found(bits, given.entry);
    }
    return undefined;
  }

  /** `LlamaConfig(hidden_size=1024, …)`: a model that is made here. */
  #config(): Partial<Reading> {
    for (const [name, model] of CONFIGURATIONS) {
      const [first] = callsNamed(this.module, name);
      const callee = first?.call.function;
      if (first === undefined || callee === undefined) continue;
      if (qualifiedName(this.module, callee)?.startsWith('transformers.') !== true) continue;
      const settings = argumentsOf(first.call).flatMap((argument) => {
        const key = argument.type === 'keyword_argument' ? argument.name?.text : undefined;
        const node = argument.value;
        const value = node && this.#value(node);
        return key === undefined || value === undefined ? [] : [[key, value] as const];
      });
      return { config: this.#found({ model_type: model, ...Object.fromEntries(settings) }, first.call) };
    }
    return {};
  }

  /** Settings of the arguments of a trainer. */
  #ofTrainer(name: string): Given | undefined {
    return givenIn(this.module, name).find((given) => argumentsCalls(this.module, given).length > 0);
  }

  #trainer(): Partial<Reading> {
    const number = (name: string) => {
      const given = this.#ofTrainer(name);
      return given && this.#setting(given, isNumber);
    };
    const flag = (name: string) => {
      const given = this.#ofTrainer(name);
      return given && this.#setting(given, isFlag);
    };
    const calls = [
      'output_dir',
      'per_device_train_batch_size',
      'learning_rate',
      'num_train_epochs',
      'max_steps',
    ]
      .flatMap((name) => givenIn(this.module, name))
      .flatMap((given) => argumentsCalls(this.module, given));
    const [call] = calls;
    const library = call && libraryOf(this.module, call.call);
    const optim = this.#ofTrainer('optim');
    const named = optim && this.#setting(optim, isText);
    const optimizer = named && optimizerNamed(named.value);
    const batch = number('per_device_train_batch_size') ?? number('per_gpu_train_batch_size');
    const accumulation = number('gradient_accumulation_steps');
    const sequence = number('max_length') ?? number('max_seq_length');
    const checkpointing = flag('gradient_checkpointing');
    const half = [flag('bf16'), flag('fp16')].find((found) => found?.value === true);
    const chunked = flag('use_liger_kernel');
    const enabled = callsNamed(this.module, 'gradient_checkpointing_enable')[0];
    return {
      ...(call !== undefined && {
        trainer: this.#found(
          library === 'trl' ? ('trl' as const) : ('transformers' as const),
          call.call.function ?? call.call,
        ),
      }),
      ...(batch !== undefined && { batch }),
      ...(accumulation !== undefined && { accumulation }),
      ...(sequence !== undefined && { sequence }),
      ...(enabled !== undefined && { checkpointing: this.#found(true, enabled.call) }),
      ...(checkpointing !== undefined && { checkpointing }),
      ...(half !== undefined && { autocast: half }),
      ...(named !== undefined && optimizer !== undefined && { optimizer: { ...named, value: optimizer } }),
      ...(chunked !== undefined && { chunkedLoss: chunked }),
    };
  }

  /** What a loop does by hand. */
  #precision(load: Partial<Reading>): Partial<Reading> {
    const [autocast] = callsNamed(this.module, 'autocast');
    const cast = (['bfloat16', 'half'] as const).flatMap((name) =>
      callsNamed(this.module, name).map(({ call }) =>
        this.#found<Dtype & ('bf16' | 'fp16')>(name === 'half' ? 'fp16' : 'bf16', call),
      ),
    )[0];
    return {
      ...(autocast !== undefined && { autocast: this.#found(true, autocast.call) }),
      ...(cast !== undefined && load.weights === undefined && load.model !== undefined && { weights: cast }),
    };
  }

  #optimizer({ optimizer, trainer }: Partial<Reading>): Partial<Reading> {
    if (optimizer !== undefined || trainer !== undefined) return {};
    const [eight] = [...callsNamed(this.module, 'AdamW8bit'), ...callsNamed(this.module, 'Adam8bit')];
    if (eight !== undefined) return { optimizer: this.#found('adamw-8bit', eight.call) };
    const [adam] = adamCalls(this.module, ['Adam', 'AdamW']);
    if (adam !== undefined) {
      const fused = keywordValue(adam.call, 'fused')?.type === 'true';
      return { optimizer: this.#found(fused ? 'adamw-fused' : 'adamw', adam.call) };
    }
    const sgd = callsNamed(this.module, 'SGD').find(
      ({ call }) => qualifiedName(this.module, call.function as PyNode)?.startsWith('torch.') === true,
    );
    if (sgd === undefined) return {};
    const momentum = keywordValue(sgd.call, 'momentum');
    const value = momentum && this.#value(momentum);
    return { optimizer: this.#found(value === undefined || value === 0 ? 'sgd' : 'sgd-momentum', sgd.call) };
  }

  #batch({ batch, sequence }: Partial<Reading>): Partial<Reading> {
    const loaders = batch === undefined ? callsNamed(this.module, 'DataLoader') : [];
    const shuffled = loaders.find(({ call }) => keywordValue(call, 'shuffle')?.type === 'true');
    const entry = (shuffled ?? loaders[0])?.call;
    const keyword = entry && keywordArgument(entry, 'batch_size');
    const size = keyword?.value;
    const found = keyword && size && this.#told(keyword, size, isNumber);
    const lengths = sequence === undefined ? givenIn(this.module, 'max_length') : [];
    const told = lengths
      .map((given) => ({ given, value: this.#value(given.value) }))
      .find(({ value }) => isNumber(value));
    const padding = givenIn(this.module, 'padding').find(({ value }) =>
      [true, 'longest'].includes(this.#value(value) as never),
    );
    const padded = padding?.entry ?? callsNamed(this.module, 'DataCollatorWithPadding')[0]?.call;
    return {
      ...(padded !== undefined && { padded: this.#found(true, padded) }),
      ...(found !== undefined && { batch: found }),
      ...(told !== undefined &&
        isNumber(told.value) && { sequence: this.#found(told.value, told.given.entry) }),
    };
  }

  #lora(): Partial<Reading> {
    const call = callsNamed(this.module, 'LoraConfig')[0]?.call;
    if (call === undefined) return {};
    const keyword = <T extends Value>(name: string, isIt: (value: Value) => value is T) => {
      const entry = keywordArgument(call, name);
      const node = entry?.value;
      return entry === undefined || node === undefined ? undefined : this.#told(entry, node, isIt);
    };
    const names = keyword('target_modules', isTexts);
    const linears = names && linearsNamed(typeof names.value === 'string' ? [names.value] : names.value);
    const dropout = keyword('lora_dropout', isNumber);
    return {
      rank: keyword('r', isNumber) ?? { ...this.#found(8, call), words: 'the default of peft' },
      ...(names !== undefined && linears !== undefined && { targets: { ...names, value: linears } }),
      ...(dropout !== undefined && { adapterDropout: dropout }),
    };
  }

  #sharding(): Partial<Reading> {
    const wrapped = ['FullyShardedDataParallel', 'FSDP', 'fully_shard'].flatMap((name) =>
      callsNamed(this.module, name),
    )[0];
    const setting = this.#ofTrainer('fsdp');
    const node = wrapped?.call ?? setting?.entry;
    return node === undefined ? {} : { sharded: this.#found(true, node) };
  }

  #buckets(): Partial<Reading> {
    const flag = (name: string) => {
      const [given] = givenIn(this.module, name);
      return given && this.#setting(given, isFlag);
    };
    const views = flag('gradient_as_bucket_view');
    const unused = flag('ddp_find_unused_parameters') ?? flag('find_unused_parameters');
    return {
      ...(views !== undefined && { bucketViews: views }),
      ...(unused !== undefined && { findsUnused: unused }),
    };
  }
}

function weightsNamed(text: string): 'fp32' | 'bf16' | 'fp16' | undefined {
  if (text === 'fp32' || text === 'bf16' || text === 'fp16') return text;
  return DTYPE_WORDS.get(text);
}

function isText(value: Value): value is string {
  return typeof value === 'string';
}

function isNumber(value: Value): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isFlag(value: Value): value is boolean {
  return typeof value === 'boolean';
}

function isTexts(value: Value): value is string | readonly string[] {
  return isText(value) || Array.isArray(value);
}
