/** What kinds of servers memfix can ask for repositories and open pull requests at. */
export const FORGE_KINDS = ['github', 'gitlab'] as const;
export type ForgeKind = (typeof FORGE_KINDS)[number];

/** One server. */
export interface Host {
  readonly kind: ForgeKind;
  /** Its address for people and for git, without a slash at the end: `https://github.com`. */
  readonly base: string;
}

/** A repository as its forge names it. */
export interface Project {
  readonly host: Host;
  /** `owner/name`, or with more groups on GitLab. */
  readonly path: string;
}

const GITHUB: Host = { kind: 'github', base: 'https://github.com' };
const GITLAB: Host = { kind: 'gitlab', base: 'https://gitlab.com' };

/** Hosts by the names that URLs have for them. */
export type Hosts = ReadonlyMap<string, Host>;

export const PUBLIC_HOSTS: Hosts = new Map([
  ['github.com', GITHUB],
  ['ssh.github.com', GITHUB],
  ['gitlab.com', GITLAB],
  ['altssh.gitlab.com', GITLAB],
]);

export function publicHost(kind: ForgeKind): Host {
  return kind === 'github' ? GITHUB : GITLAB;
}

/** `github`, or `github+https://ghe.example.org` for a server of one's own. */
export function hostFrom(text: string, otherwise: string): Host | undefined {
  const [, kind, base] = /^(github|gitlab)(?:\+(https?:\/\/[^\s?#@]+))?$/.exec(text) ?? [];
  const found = FORGE_KINDS.find((each) => each === kind);
  if (found === undefined) return undefined;
  return { kind: found, base: (base ?? `https://${otherwise}`).replace(/\/+$/, '') };
}

export function nameOf({ base }: Host): string {
  return new URL(base).host;
}

/** Where programs talk to it. */
export function apiOf({ kind, base }: Host): string {
  if (kind === 'gitlab') return `${base}/api/v4`;
  const { host } = new URL(base);
  if (host === 'github.com' || host.endsWith('.ghe.com')) return `https://api.${host}`;
  return `${base}/api/v3`;
}

/** What would be read by others on its way. */
export function isPlain({ base }: Host): boolean {
  const { protocol, hostname } = new URL(base);
  return protocol === 'http:' && !['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}

/** The host and path that a remote's URL names; nothing for a path or `file://`. */
export function remoteParts(url: string): { readonly host: string; readonly path: string } | undefined {
  const clean = (path: string) => path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
  if (url.includes('://')) {
    const { protocol, host, hostname, pathname } = new URL(url);
    if (protocol === 'file:') return undefined;
    return { host: /^https?:$/.test(protocol) ? host : hostname, path: clean(decodeURI(pathname)) };
  }
  const [, host, path] = /^(?:[^/@]+@)?([^/:]+):(.+)$/.exec(url) ?? [];
  return host === undefined || path === undefined ? undefined : { host, path: clean(path) };
}

/** The project behind a remote's URL, if it is on one of these hosts. */
export function projectAt(url: string, hosts: Hosts): Project | undefined {
  const parts = remoteParts(url);
  const host = parts && hosts.get(parts.host);
  if (parts === undefined || host === undefined) return undefined;
  const root = new URL(host.base).pathname.replace(/^\/|\/$/g, '');
  const isBelow = root !== '' && parts.path.startsWith(`${root}/`);
  return { host, path: isBelow ? parts.path.slice(root.length + 1) : parts.path };
}
