/** What is known about one callable or attribute that is not in the project. `npm run prove -- --library` checks it. */
export interface Facts {
  /**
   * What a call gives: `plain` is a Python value that holds no tensor (a text, a size, a dtype), `arguments` is what it was
   * handed or something that holds it, `self` is the object that the method is called on.
   */
  readonly gives?:
    | 'number'
    | 'plain'
    | 'array'
    | 'tensor'
    | 'tensors'
    | 'self'
    | 'arguments'
    | 'module'
    | 'nothing';
  /** `same`: floating point stays floating point, whole numbers stay whole. `argument`: an argument says which. */
  readonly dtype?: 'same' | 'float' | 'whole' | 'promoted' | 'argument';
  /** `one`: without a dimension all elements become one. `fewer`: only dimensions of size 1 go. `sizes`: the arguments say. */
  readonly shape?: 'one' | 'same' | 'fewer' | 'broadcast' | 'sizes' | 'other';
  /** The same numbers in another form, whatever the device. */
  readonly rearranges?: true;
  /** Whether the result may require a gradient because an operand does. */
  readonly graph?: 'cut' | 'kept';
  /** Whether the result shares the memory of the first operand; `perhaps` depends on its layout, dtype or device. */
  readonly storage?: 'new' | 'shared' | 'perhaps';
  /** Changes the first operand. */
  readonly changes?: true;
  /** Makes an array, also of what is no number: `np.array([{"loss": loss}])` holds the dicts. */
  readonly keepsObjects?: true;
  /** What its `sample()` gives has no graph. */
  readonly draws?: 'cut';
  /** Draws random numbers when it runs. */
  readonly random?: true;
  /** As a function it takes a number in place of its first tensor. */
  readonly numberFirst?: true;
  /** Gives values and indices where it is given a dimension. */
  readonly paired?: true;
  /** A method of tensors that arrays, frames and modules do not have. */
  readonly only?: true;
  /** A method that tensors and modules have, and arrays and frames do not. */
  readonly places?: true;
  /** Has to do with the graph or the gradient of this very tensor. */
  readonly asksGraph?: true;
  /** Says where the tensor is. */
  readonly tellsDevice?: true;
  /** Read like an attribute, without a call. */
  readonly attribute?: true;
  /** A tensor from these: sizes, numbers, data, or the form of another tensor. */
  readonly makes?: 'sizes' | 'numbers' | 'data' | 'like';
  /** Its numbers are whatever the memory held. */
  readonly uninitialised?: true;
  /** Makes one tensor of a list of them. */
  readonly joins?: true;
  /** A loss that gives one number unless its reduction is `none`: how many positional arguments come before the options. */
  readonly loss?: number;
  /** Grad mode inside, as a context manager or a decorator. `flag`: the first argument says. */
  readonly gradMode?: 'off' | 'on' | 'flag';
  /** Computes gradients: they must be on, or are switched on inside. */
  readonly differentiates?: true;
  /** Holds what it is handed after the call. */
  readonly keeps?: true;
  /** Prints or logs what it is handed, as a text or a number. */
  readonly reports?: true;
  /** Ends the program. */
  readonly ends?: true;
  /** Runs code that it is handed. */
  readonly runs?: true;
  /** The methods of operators that it runs on what it is handed. */
  readonly operators?: readonly string[];
  /** Neither trains what it is handed nor differentiates it. */
  readonly harmless?: true;
  /** Computes with tensors of its own, and differentiates nothing else. */
  readonly foreign?: true;
  /** Has modules or optimizers that load a saved state in another way than torch's; or only optimizers; or modules only where a program asks for it. */
  readonly ownLoading?: true | 'optimizers' | 'asked';
  /** Has nothing that could load a saved state: no modules, no optimizers. */
  readonly stateless?: true;
  /** Gives the submodules, parameters or buffers of a module. */
  readonly walks?: true;
  /** Its backward needs inputs or results, which the first backward frees. */
  readonly saves?: true;
  /** What an instance of the class is. `map`: a layer that makes one tensor of one tensor. */
  readonly is?: 'map' | 'layer' | 'container' | 'loss' | 'optimizer' | 'scheduler' | 'arguments' | 'trainer';
  /** A layer that has weights to multiply by, or one that has none of its own. */
  readonly weights?: boolean;
  /** The argument of a layer that is the last dimension of its output. */
  readonly lastDimension?: { readonly position: number; readonly keyword: string };
  /** What is known to be taken by keyword. */
  readonly accepts?: readonly string[];
  /** Defaults by the version that brought them, oldest first. */
  readonly defaults?: Readonly<Record<string, readonly Default[]>>;
  /** What the trainer of these arguments puts where nothing is given, by the version. */
  readonly settles?: Readonly<Record<string, readonly Default[]>>;
  /** The first version of the package without it. */
  readonly until?: string;
}

export interface Default {
  /** Undefined: as far back as anybody looks. */
  readonly since?: string;
  readonly is: string;
}

export interface Row extends Facts {
  /** `torch.zeros`, `Tensor.item`, `Module.half`, `builtins.float`; `torch.func.*` for all that have no row of their own. */
  readonly path: string;
  readonly graph: 'cut' | 'kept';
}

/** Names that share their facts, in every one of some namespaces. */
export interface Group {
  readonly spaces: readonly string[];
  readonly names: string;
  readonly facts: Facts;
}

export const group = (spaces: string | readonly string[], facts: Facts, names: string): Group => ({
  spaces: typeof spaces === 'string' ? [spaces] : spaces,
  names,
  facts,
});

/** The group that each path belongs to. */
export function indexed(groups: readonly Group[]): ReadonlyMap<string, Group> {
  const found = new Map<string, Group>();
  for (const each of groups)
    for (const name of each.names.trim().split(/\s+/))
      for (const space of each.spaces) found.set(space + name, each);
  return found;
}

export function rowOf(path: string, { facts }: Group): Row {
  return { graph: graphOf(facts), ...facts, path };
}

/** Only floating point requires gradients, and only tensors do. */
function graphOf({ gives, dtype }: Facts): 'cut' | 'kept' {
  const plain = gives === 'number' || gives === 'plain' || gives === 'array' || gives === 'nothing';
  return plain || dtype === 'whole' ? 'cut' : 'kept';
}
