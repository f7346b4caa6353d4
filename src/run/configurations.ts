/** Classes of transformers that describe a model, and the family that each describes. */
export const CONFIGURATIONS: ReadonlyMap<string, string> = new Map([
  ['LlamaConfig', 'llama'],
  ['MistralConfig', 'mistral'],
  ['MixtralConfig', 'mixtral'],
  ['Qwen2Config', 'qwen2'],
  ['Qwen3Config', 'qwen3'],
  ['GemmaConfig', 'gemma'],
  ['Gemma2Config', 'gemma2'],
  ['GPT2Config', 'gpt2'],
  ['GPTNeoXConfig', 'gpt_neox'],
  ['OPTConfig', 'opt'],
  ['PhiConfig', 'phi'],
  ['Phi3Config', 'phi3'],
  ['BertConfig', 'bert'],
  ['RobertaConfig', 'roberta'],
  ['T5Config', 't5'],
  ['ViTConfig', 'vit'],
]);
