import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import {
  type Exported,
  exportedMessage,
  exportedScript,
  multiGitterConfig,
  sourcegraphSpec,
} from '../../report/migrate/export.js';
import { plural } from '../../report/prose.js';
import { Failure, reasonOf } from '../../workspace/failure.js';
import type { Campaign } from '../../workspace/migrate/campaign.js';
import { chosen } from '../../workspace/migrate/choose.js';
import { CampaignFolder } from '../../workspace/migrate/folder.js';
import {
  apiOf,
  type Host,
  nameOf,
  projectAt,
  publicHost,
  remoteParts,
} from '../../workspace/migrate/forge/host.js';
import type { Repository } from '../../workspace/migrate/source.js';
import { type Context, EXIT } from '../context.js';
import { ownVersion } from '../package.js';
import { choiceIn } from './migrate-runs.js';

const SCRIPT = 'memfix.sh';
const BODY =
  'What each fix does, and why: `npx memfix explain <id>`, or `npx memfix check` before the change.\n';

/** The campaign for tools that clone, commit and propose by themselves. */
export function exportCampaign(context: Context, campaign: Campaign): number {
  const { args } = context;
  const [isSpec, isScript] = [args.flag('sourcegraph'), args.flag('multi-gitter')];
  if (isSpec === isScript)
    throw args.misuse('`memfix migrate export` wants to know for what: `--sourcegraph` or `--multi-gitter`.');
  const which = chosen(campaign.repositories, choiceIn(args));
  checkDecisions(campaign, which);
  if (campaign.commits === 'transform') {
    context.warn(
      new Failure(
        'One commit',
        'these tools make one commit of all fixes',
        'Use `memfix migrate run` for one each.',
      ),
    );
  }
  const draft = {
    name: basename(resolve(campaign.folder)).replaceAll(/[^\w.-]+/g, '-') || 'memfix',
    script: exportedScript({ ...campaign, version: ownVersion() }),
    branch: campaign.branch,
    message: exportedMessage(campaign.message, ownVersion()),
    body:
      campaign.pullRequest.body !== undefined && !campaign.pullRequest.body.includes('{')
        ? campaign.pullRequest.body
        : BODY,
  };
  return isSpec ? toSourcegraph(context, which, draft) : toMultiGitter(context, campaign, which, draft);
}

type Draft = Omit<Exported, 'repositories'>;

function toSourcegraph(context: Context, which: readonly Repository[], draft: Draft): number {
  const named = which.flatMap(({ url }) => {
    const parts = remoteParts(url);
    return parts === undefined ? [] : [`${parts.host}/${parts.path}`];
  });
  sayWhoIsLeft(context, which.length, named.length, 'a repository on this disk is not known to Sourcegraph');
  context.out(sourcegraphSpec({ ...draft, repositories: named }));
  return EXIT.clean;
}

function toMultiGitter(
  context: Context,
  campaign: Campaign,
  which: readonly Repository[],
  draft: Draft,
): number {
  const projects = which.flatMap(({ url }) => projectAt(url, campaign.hosts) ?? []);
  sayWhoIsLeft(context, which.length, projects.length, 'multi-gitter wants projects on GitHub or GitLab');
  const folder = resolve(
    context.io.cwd,
    context.args.text('output') ?? join(campaign.folder, 'multi-gitter'),
  );
  const { draft: isDraft, labels, reviewers } = campaign.pullRequest;
  const concurrent = campaign.limits.network;
  const hosts = new Set(projects.map(({ host }) => host));
  const files = new Map([[SCRIPT, draft.script]]);
  for (const host of hosts) {
    const repositories = projects.filter((project) => project.host === host).map(({ path }) => path);
    const platform = { kind: host.kind, draft: isDraft, labels, reviewers, concurrent, ...ownServer(host) };
    files.set(`${nameOf(host)}.yaml`, multiGitterConfig({ ...draft, repositories }, platform));
  }
  write(folder, files);
  const at = relative(context.io.cwd, folder) || '.';
  for (const name of [...files.keys()].filter((each) => each !== SCRIPT))
    context.say(`multi-gitter run ${join(folder, SCRIPT)} --config ${join(at, name)} --dry-run`);
  return EXIT.clean;
}

function ownServer(host: Host): { readonly api?: string } {
  if (host.base === publicHost(host.kind).base) return {};
  return { api: host.kind === 'gitlab' ? host.base : `${apiOf(host)}/` };
}

function write(folder: string, files: ReadonlyMap<string, string>): void {
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of files) writeFileSync(join(folder, name), text);
    chmodSync(join(folder, SCRIPT), 0o755);
  } catch (error) {
    throw new Failure(
      'Output could not be written',
      `${folder}: ${reasonOf(error)}`,
      'Give `--output` a folder.',
    );
  }
}

/** A script takes every safe fix; it would take those, too, that someone has rejected here. */
function checkDecisions(campaign: Campaign, which: readonly Repository[]): void {
  const folder = new CampaignFolder(campaign.folder);
  const reviewed = which.filter(({ id }) => folder.decisions(id).digest !== '');
  if (reviewed.length === 0) return;
  throw new Failure(
    'Decisions cannot be exported',
    `fixes were rejected in ${plural(reviewed.length, 'repository', 'repositories')}, and a script would take them`,
    'Use `memfix migrate run` there; `--repos` exports others.',
  );
}

function sayWhoIsLeft(context: Context, all: number, named: number, why: string): void {
  const left = all - named;
  if (left === 0) return;
  const count = plural(left, 'repository', 'repositories');
  const problem = new Failure(
    'Repositories left out',
    `${count}: ${why}`,
    'Use `memfix migrate run` for these.',
  );
  if (named === 0) throw problem;
  context.warn(problem);
}
