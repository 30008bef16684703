/** Calls the management API for a command as the user of its options. */
import { Agent, fetch } from 'undici';
import { isBearerToken } from '../../fixtures/base/bearer-token.ts';
import { printable } from '../../fixtures/base/printable.ts';
import { limits } from '../../fixtures/contract/limits.ts';
import type { Device } from '../../fixtures/contract/management/devices.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import {
  type AdminClient,
  AdminRefusal,
  adminClient,
  type Fetch,
} from '../../server/control/embedding/admin-client.ts';
import { CommandError, setupError } from '../output/command-error.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { readNamedFile } from '../output/files.ts';
import type { ServerAccess } from './server-options.ts';

const SENTENCE_MAX_CHARACTERS = 1000;
/** Limit on the pages read from one list, which is a hundred thousand items. */
const PAGES_MAX = 200;

/**
 * A user who is logged in. Every method throws CommandError, with exit code 1 when the server
 * refuses.
 */
export class ManagementApi {
  readonly #options: ServerAccess;
  readonly #fetch: Fetch;
  #client: AdminClient;
  #token: string;

  private constructor(options: ServerAccess, fetcher: Fetch, token: string) {
    this.#options = options;
    this.#fetch = fetcher;
    this.#token = token;
    this.#client = adminClient(options.url, token, fetcher);
  }

  /** Logs in if necessary, and renews an expired token from a run file. */
  static async open(options: ServerAccess): Promise<ManagementApi> {
    const { ca, token, email, password, foundAdmin } = options;
    const caPem = ca === undefined ? options.caPem : await readNamedFile('--ca', ca);
    const fetcher = fetchWith(options, caPem);
    if (token !== undefined) return new ManagementApi(options, fetcher, token);
    if (!foundAdmin) {
      return new ManagementApi(
        options,
        fetcher,
        await logInUser(options, fetcher, { email, password }),
      );
    }
    const api = new ManagementApi(options, fetcher, foundAdmin.adminToken);
    await api.#renewToken(foundAdmin);
    return api;
  }

  get token(): string {
    return this.#token;
  }

  /** Calls an operation of the management API. @throws CommandError when the server refuses it */
  readonly call: AdminClient['call'] = async (id, ...call) => {
    try {
      return await this.#client.call(id, ...call);
    } catch (error) {
      if (!(error instanceof AdminRefusal)) throw error;
      throw refusalError(this.#options, error);
    }
  };

  /** Returns all devices, in the server's order. */
  devices(): Promise<Device[]> {
    return this.pages((query) => this.call('list-devices', { query }));
  }

  /** Returns all items of a list. @param read requests one page */
  async pages<Item>(
    read: (query: { page: number; per_page: number }) => Promise<{ readonly body: Item[] }>,
  ): Promise<Item[]> {
    const all: Item[] = [];
    for (let page = 1; page <= PAGES_MAX; page += 1) {
      const { body } = await read({ page, per_page: limits.pageMax });
      if (!Array.isArray(body)) throw notThisApi(this.#options);
      all.push(...body);
      if (body.length < limits.pageMax) break;
    }
    return all;
  }

  /**
   * Renews the token of a run file, because the server's clock may have been moved past its expiry.
   */
  async #renewToken({ adminEmail: email, adminPassword: password }: FoundAdmin): Promise<void> {
    try {
      await this.#client.call('count-devices');
    } catch (error) {
      if (!(error instanceof AdminRefusal)) throw error;
      if (error.status !== 401 || password === '') throw refusalError(this.#options, error);
      this.#token = await logInUser(this.#options, this.#fetch, { email, password });
      this.#client = adminClient(this.#options.url, this.#token, this.#fetch);
    }
  }
}

type FoundAdmin = NonNullable<ServerAccess['foundAdmin']>;

/**
 * Returns a `fetch` that trusts an additional CA and follows no redirect, so that the token goes
 * only to the named server.
 */
function fetchWith({ url: location }: ServerAccess, caPem: string | undefined): Fetch {
  const dispatcher = new Agent({ connect: { ...(caPem !== undefined && { ca: caPem }) } });
  return async (url, init) => {
    try {
      const fetchOptions = { ...init, redirect: 'manual', dispatcher } as Parameters<
        typeof fetch
      >[1];
      return (await fetch(url, fetchOptions)) as unknown as Response;
    } catch (error) {
      throw error instanceof Error ? setupError(error, location) : error;
    }
  };
}

async function logInUser(
  { url }: ServerAccess,
  fetcher: Fetch,
  { email, password = '' }: { readonly email: string; readonly password?: string | undefined },
): Promise<string> {
  const { method, path } = managementOperations.login;
  const basic = Buffer.from(`${email}:${password}`).toString('base64');
  const response = await fetcher(url + pathOf({ path }), {
    method,
    headers: { Authorization: `Basic ${basic}` },
  });
  const text = await response.text();
  if (response.status === 200 && isBearerToken(text)) return text;
  const remedy =
    response.status === 401 ? `check --email ${email} and its password` : 'check --url';
  const answer = response.status === 200 ? '200 without a plain token' : response.status;
  const sentence = `${url}: the login was answered with ${answer}; ${remedy}.`;
  throw new CommandError(sentence, exitCodes.setUp);
}

function refusalError({ url }: ServerAccess, refusal: AdminRefusal): CommandError {
  const { status, requestId } = refusal;
  const sentence = printable(`${url}: ${refusal.message}`, SENTENCE_MAX_CHARACTERS);
  if (status === 401) {
    return new CommandError(`${sentence}; get a valid token, or give --password.`, exitCodes.setUp);
  }
  if (status === 403) return new CommandError(`${sentence}; use another user.`, exitCodes.setUp);
  const hint =
    requestId === '' ? '' : `; for details: npx fleetbed explain ${printable(requestId, 100)}`;
  return new CommandError(sentence + hint, exitCodes.failed);
}

function notThisApi({ url }: ServerAccess): CommandError {
  return new CommandError(`${url} does not answer as this API; check --url.`, exitCodes.setUp);
}
