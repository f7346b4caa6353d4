"""Runs every `proof.py` of the fixtures, each in a process of its own, and says what was shown.

    python test/proof/run.py [--jobs N] [--verbose] [id or id/case …]

`npm run prove` makes the environment and calls this.
"""

import argparse
import gc
import json
import multiprocessing
import os
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent.parent / 'fixtures'
LIMIT_S = 300
NEEDED = {'bit-identical': {'bit-identical'}, 'rounding': {'rounding', 'bit-identical'}}
OFFLINE = {
    'CUDA_VISIBLE_DEVICES': '',
    'HF_HUB_OFFLINE': '1',
    'TOKENIZERS_PARALLELISM': 'false',
    'WANDB_MODE': 'disabled',
    'PYTHONDONTWRITEBYTECODE': '1',
}


def main():
    options = arguments()
    os.environ.update(OFFLINE)
    proofs = sorted(FIXTURES.glob('*/*/proof.py'))
    chosen = [each for each in proofs if is_chosen(each, options.only)]
    if not chosen:
        sys.exit(f'no proof.py for {", ".join(options.only) or "any fixture"} in {FIXTURES}')

    started, done, failed = time.time(), 0, []
    context = workshop(chosen)
    with ThreadPoolExecutor(options.jobs) as pool:
        for proof, answer in pool.map(lambda each: (each, judged(context, each)), chosen):
            done += 1
            name = f'{proof.parent.parent.name}/{proof.parent.name}'
            verdict = 'ok  ' if answer['error'] is None else 'FAIL'
            print(f'[{done:3}/{len(chosen)}] {verdict} {name} ({answer["seconds"]:.1f} s)', flush=True)
            if options.verbose or answer['error'] is not None:
                print(indented('\n'.join(answer['claims'])), end='')
            if answer['error'] is not None:
                failed.append(name)
                print(indented(answer['output'][-4000:] + answer['error']), end='', flush=True)
    report(proofs if not options.only else chosen, failed, time.time() - started)
    sys.exit(1 if failed else 0)


def arguments():
    parser = argparse.ArgumentParser(prog='npm run prove --')
    parser.add_argument('only', nargs='*', help='transforms (no-grad) or cases (no-grad/fix-validate-loop)')
    parser.add_argument('--jobs', type=int, default=max(1, (os.cpu_count() or 2)))
    parser.add_argument('--verbose', action='store_true', help='also what each proof has shown')
    return parser.parse_args()


def is_chosen(proof, only):
    case, subject = proof.parent.name, proof.parent.parent.name
    return not only or subject in only or f'{subject}/{case}' in only


def workshop(chosen):
    """A server that has the heavy imports already, and forks for each proof; elsewhere a fresh process each time."""
    if 'forkserver' not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context('spawn')
    context = multiprocessing.get_context('forkserver')
    large = ('transformers', 'transformers.trainer', 'trl', 'peft')
    heavy = [each for each in large if any(mentions(proof, each.split('.')[0]) for proof in chosen)]
    context.set_forkserver_preload(['torch', 'torch._dynamo', *heavy])
    return context


def mentions(proof, package):
    return any(package in path.read_text('utf8', 'replace') for path in proof.parent.rglob('*.py'))


def judged(context, proof):
    """One proof: `error` is None where everything it asserts holds, and does not hold where nothing is changed."""
    answer = executed(context, proof, changed=True)
    if answer['error'] is not None or not answer['has_effect']:
        return answer
    idle = executed(context, proof, changed=False)
    seconds = answer['seconds'] + idle['seconds']
    error = None if idle['error'] is not None else 'it holds as well where nothing is changed: it cannot fail\n'
    return {**answer, 'error': error, 'seconds': seconds}


def executed(context, proof, changed):
    with tempfile.TemporaryDirectory() as folder:
        output, answer = Path(folder, 'output'), Path(folder, 'answer.json')
        started = time.time()
        process = context.Process(target=in_process, args=(proof, changed, output, answer))
        process.start()
        process.join(LIMIT_S)
        if process.is_alive():
            process.kill()
            process.join()
        found = json.loads(answer.read_text()) if answer.exists() else {'claims': [], 'has_effect': False, 'error': None}
        if not answer.exists():
            found['error'] = f'ended with exit code {process.exitcode} after {time.time() - started:.0f} s\n'
        text = output.read_text('utf8', 'replace') if output.exists() else ''
        return {**found, 'output': text, 'seconds': time.time() - started}


def in_process(proof, changed, output, answer):
    with open(output, 'wb', buffering=0) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.path.insert(0, str(HERE))
    import memfix_proof
    import torch

    torch.set_num_threads(1)
    gc.freeze()  # what the imports made is not looked through whenever a proof collects
    record, error = memfix_proof.begin(proof.parent, changed), None
    try:
        scope = {'__name__': 'proof', '__file__': str(proof)}
        exec(compile(proof.read_bytes(), str(proof), 'exec'), scope)
        missing = unshown(proof.parent, record)
        error = None if missing is None else f'{missing}\n'
    except BaseException:  # noqa: BLE001 - reported as the failure of this proof
        error = traceback.format_exc()
    sys.stdout.flush()
    answer.write_text(json.dumps({'claims': record.claims, 'has_effect': record.has_effect, 'error': error}))


def unshown(folder, record):
    """What a proof of this case has to show, and did not."""
    if not record.claims:
        return 'the proof claims no effect'
    if not folder.name.startswith('fix-'):
        return None if 'naive fails' in record.compared else 'a negative proof has to show what fails'
    labels = {each['numerics'] for each in json.loads((folder / 'findings.json').read_text('utf8')) if 'numerics' in each}
    for label in labels:
        if label == 'changes-training':
            if not {'differs', 'decreases'} <= record.compared and 'bit-identical' not in record.compared:
                return 'this fix changes training: the proof has to state what differs, and that the loss decreases'
        elif not record.compared & NEEDED[label]:
            return f'the fixture records {label}, and the proof never compares at that label'
    return None


def report(proofs, failed, seconds):
    failed_ids = {name.split('/')[0] for name in failed}
    positive = {each.parent.parent.name for each in proofs if each.parent.name.startswith('fix-')}
    negative = [each for each in proofs if each.parent.name.startswith('keep-')]
    edits = {each.parent.parent.name for each in FIXTURES.glob('[!_]*/fix-*/findings.json')}
    print(
        f'\n{len((positive & edits) - failed_ids)} of {len(edits)} transforms that edit have an executed proof; '
        f'{len(proofs)} proofs, {len(negative)} of them negative, {len(failed)} failed ({seconds:.0f} s)'
    )
    if failed:
        print('failed: ' + ', '.join(failed))


def indented(text):
    return ''.join(f'      {line}\n' for line in text.splitlines())


if __name__ == '__main__':
    main()
