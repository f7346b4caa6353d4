import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { WORLD } from './remotes.js';

/** What became of a request, and whether its answer ends in the middle. */
export interface Web {
  readonly url: string;
  /** Requests, such as `POST /one.git/git-upload-pack`. */
  readonly asked: readonly string[];
  /** From now on, cuts the answers to these off after half of the bytes; the server has done its work then. */
  cut(requests: RegExp | undefined): void;
}

/** `git http-backend` over these repositories, behind a server on loopback. */
export async function webFor(folder: string): Promise<Web> {
  const asked: string[] = [];
  let isCut: RegExp | undefined;
  const server = createServer((request, response) => {
    const name = `${request.method} ${request.url}`;
    asked.push(name);
    void answer(folder, request, response, () => isCut?.test(name) === true);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    cut: (requests) => {
      isCut = requests;
    },
  };
}

async function answer(
  folder: string,
  request: IncomingMessage,
  response: ServerResponse,
  isCut: () => boolean,
): Promise<void> {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const { headers } = request;
  const child = spawn('git', ['-c', 'http.receivepack=true', 'http-backend'], {
    env: {
      ...WORLD,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: headers['content-type'],
      CONTENT_LENGTH: headers['content-length'],
      HTTP_CONTENT_ENCODING: headers['content-encoding']?.toString(),
      GIT_PROTOCOL: headers['git-protocol']?.toString(),
    },
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  const end = whole.indexOf('\r\n\r\n');
  for (const line of whole.toString('latin1', 0, end).split('\r\n')) {
    const [name = '', value = ''] = line.split(/: /, 2);
    if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  const body = whole.subarray(end + 4);
  if (!isCut()) return void response.end(body);
  response.setHeader('Content-Length', body.length);
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
}
