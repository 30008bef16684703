import { describe, expect, it } from 'vitest';
import { listCases } from '../conformance.ts';
import { selfSigned } from '../testing/certificate.ts';
import { runAgainst } from '../testing/run-against.ts';
import { closedPortUrl, serve } from '../testing/stub-server.ts';
import {
  BaseUrlError,
  LoginRefusedError,
  SetupError,
  UnreachableError,
  UntrustedCertificateError,
} from './setup-error.ts';

const selection = ['errors/error-says-why'];

describe('the setup error of a run', () => {
  it('states that nothing answers at the base URL', async () => {
    const baseUrl = await closedPortUrl();
    const run = runAgainst(baseUrl);
    await expect(run).rejects.toThrow(UnreachableError);
    await expect(run).rejects.toThrow(`nothing answers at ${baseUrl}`);
  });

  it.each(['example', 'ftp://127.0.0.1', 'http://user:secret@127.0.0.1', ''])(
    'states that "%s" is not a base URL',
    async (baseUrl) => {
      await expect(runAgainst(baseUrl)).rejects.toThrow(BaseUrlError);
    },
  );

  it.each([
    [{ email: 'user@example.com', password: 'wrong' }, 'user@example.com'],
    [{ token: 'stale' }, 'the token'],
  ])('states that the user is refused: %o', async (credentials, who) => {
    const baseUrl = await serve((_, response) => response.writeHead(401).end());
    const run = runAgainst(baseUrl, { credentials });
    await expect(run).rejects.toThrow(LoginRefusedError);
    await expect(run).rejects.toThrow(`refuses ${who} with status 401`);
  });

  it('has a class, a code and a message of one sentence', async () => {
    const error = await runAgainst(await closedPortUrl()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SetupError);
    expect(error).toHaveProperty('code', 'unreachable');
    expect(error).toHaveProperty('message', expect.stringMatching(/^[^\n]+; [^\n]+$/));
  });
});

describe('a server with a self-signed certificate', () => {
  it('is trusted only if its certificate is given', async () => {
    const tls = await selfSigned();
    const baseUrl = await serve((_, response) => response.writeHead(400).end(), tls);
    await expect(runAgainst(baseUrl, { selection })).rejects.toThrow(UntrustedCertificateError);
    const trusting = await runAgainst(baseUrl, { selection, tls: { caPem: tls.cert } });
    expect(trusting.verdicts).toHaveLength(1);
  });
});

describe('a base URL with a path', () => {
  it('is prepended to every path of the API', async () => {
    const paths: string[] = [];
    const baseUrl = await serve((request, response) => {
      paths.push(request.url ?? '');
      response.writeHead(400).end();
    });
    const result = await runAgainst(`${baseUrl}/staging/`, { selection });
    expect(result.target.baseUrl).toBe(`${baseUrl}/staging`);
    expect(paths.at(-1)).toBe('/staging/api/devices/v1/authentication/auth_requests');
  });
});

describe('the list of cases', () => {
  it('has what describes a case, and no function', () => {
    const [firstCase] = listCases();
    expect(Object.keys(firstCase ?? {}).sort()).toEqual([
      'covers',
      'effect',
      'id',
      'level',
      'needs',
      'requirements',
      'scenario',
      'start',
      'title',
    ]);
  });
});
