import { Failure } from '../../failure.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** How requests leave this machine: through the proxy that the environment names, by the variables that git reads, else directly. */
export async function fetchBy(env: Environment): Promise<typeof fetch> {
  const named = (name: string) => env[name] ?? env[name.toUpperCase()];
  const all = named('all_proxy') ?? '';
  const httpsProxy = proxyIn(named('https_proxy') ?? all);
  // In capitals it may be a header that somebody sent: git does not read it either.
  const { http_proxy: plain = all } = env;
  const httpProxy = proxyIn(plain);
  if (httpsProxy === '' && httpProxy === '') return fetch;
  const undici = await import('undici');
  const noProxy = named('no_proxy') ?? '';
  const dispatcher = new undici.EnvHttpProxyAgent({ httpProxy, httpsProxy, noProxy });
  const through = undici.fetch as unknown as typeof fetch;
  const setting: object = { dispatcher };
  return (address, asked) => through(address, { ...asked, ...setting });
}

/** Without a scheme it is `http://`, as it is for git. */
function proxyIn(value: string): string {
  if (value === '') return '';
  const address = /^\w+:\/\//.test(value) ? value : `http://${value}`;
  if (URL.canParse(address)) return address;
  throw new Failure(
    'The proxy in the environment has no address',
    'what HTTPS_PROXY, http_proxy or ALL_PROXY holds is not of the form http://host:port',
    'Correct the variable, or unset it where there is no proxy.',
  );
}
