/*
 * before                                      after
 *   weights = io.load(path)                     weights = io.load(path, map_location="cpu")
 *
 * Proves: it is our own `acme.io.load`, which puts weights where they were saved, and nothing says where to.
 * Leaves alone: calls that say it, since somebody has thought about it.
 */

/** @type {import('memfix/toolkit').Plugin} */
export default { apiVersion: 1, transforms: (toolkit) => [acmeLoadCpu(toolkit)] };

/**
 * @param {import('memfix/toolkit').PluginToolkit} toolkit
 * @returns {import('memfix/toolkit').PluginTransform<import('memfix/toolkit').Site & { call: import('memfix/toolkit').PyNode }>}
 */
function acmeLoadCpu({ argumentsOf, ask, hasSplat, keywordArgument, Proof, qualifiedName, shown }) {
  return {
    meta: {
      id: 'acme-load-cpu',
      summary: 'Load weights of acme.io to the CPU, not to the GPU that they were saved from',
      symptom: 'peak',
      moments: ['loading'],
      safety: 'safe',
      numerics: 'bit-identical',
      docs: {
        why: '`acme.io.load` puts weights on the device that they were saved from: every rank fills GPU 0.',
        does: 'Adds `map_location="cpu"`; what uses the weights copies them to its own device.',
        refuses: ['the call says where to load to'],
      },
      example: 'fix-plain',
    },

    prefilter: ['load(', 'acme'],

    *detect(module) {
      for (const node of module.at('load(')) {
        const call = node.closest('call');
        const callee = call?.function;
        if (call === undefined || callee === undefined) continue;
        if (qualifiedName(module, callee) !== 'acme.io.load') continue;
        if (keywordArgument(call, 'map_location') !== undefined || argumentsOf(call).length > 1) continue;
        yield { node, call, message: 'the weights go to the GPU that they were saved from, of every rank' };
      }
    },

    fix({ call }, edit) {
      const proof = new Proof().require(
        hasSplat(call) ? 'unknown' : 'yes',
        ask('no-place-given')`Is there no \`map_location\` in what \`${shown(call)}\` spreads?`,
      );
      edit.appendKeyword(call, 'map_location', '"cpu"');
      return edit.done('Load to the CPU', proof);
    },
  };
}
