import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ConformanceOptions,
  readHookFile,
  runConformance,
} from '../../conformance/conformance.ts';
import { ActiveDefect } from '../../conformance/self-test/active-defect.ts';
import {
  jsonOf,
  ownResponse,
  queryOf,
  tokenOf,
  withJson,
} from '../../conformance/self-test/alter.ts';
import type { Alteration, ProxiedOperation } from '../../conformance/self-test/defect.ts';
import { DefectProxy } from '../../conformance/self-test/proxy.ts';
import { isObject, isText } from '../../conformance/self-test/sent.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { jsonInOrder } from '../../fixtures/base/json.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { type RunningServer, startServer } from '../../server/server.ts';

const SUITE_MAX_MS = 300_000;

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
});

afterAll(() => server.close());

function judge(more: Partial<ConformanceOptions>) {
  const { baseUrl, headerPrefix, adminEmail: email, adminPassword: password } = server;
  return runConformance({
    baseUrl,
    headerPrefix,
    credentials: { email, password },
    clock: systemClock,
    random: seededRandom('good servers'),
    caseTimeLimitMs: 60_000,
    requestTimeLimitMs: 15_000,
    jobs: 4,
    ...more,
  });
}

/**
 * Runs cases against the server behind a proxy. Returns its failed and inconclusive verdicts as
 * text.
 */
async function complaintsOn(
  alter: () => Alteration,
  operations: readonly ProxiedOperation[],
  options: Partial<ConformanceOptions>,
): Promise<readonly string[]> {
  const proxy = await DefectProxy.open({
    targetUrl: server.baseUrl,
    names: vendorNames(server.headerPrefix),
    userToken: server.adminToken,
    clock: systemClock,
    random: seededRandom('proxy'),
  });
  try {
    proxy.activate(new ActiveDefect({ operations, alter }));
    const { verdicts } = await judge({ ...options, baseUrl: proxy.baseUrl });
    return verdicts
      .filter(({ verdict }) => ['fail', 'error', 'inconclusive'].includes(verdict))
      .map(({ id, actual, reason }) => `${id}: ${actual ?? reason?.text}`);
  } finally {
    await proxy.close();
  }
}

/** Answers 409 to a device that asks for an update with other data, or in another form. */
function conflicting(): Alteration {
  const asked = new Map<string, string>();
  return {
    request: (request) => {
      const query = Object.fromEntries(queryOf(request));
      const sent = request.body.length > 0 ? JSON.parse(String(request.body)) : query;
      const data = jsonInOrder([request.operation, sent]);
      const token = tokenOf(request);
      const firstData = asked.get(token) ?? data;
      asked.set(token, firstData);
      return firstData === data ? request : ownResponse(409, { error: 'conflicting request data' });
    },
  };
}

/** Keeps the last value of a repeated query parameter. */
function lastValue(): Alteration {
  return {
    request: (request) => {
      const query = new URLSearchParams([...new Map(queryOf(request))]).toString();
      return query.length < request.query.length ? { ...request, query } : request;
    },
  };
}

/** Removes the keys that an earlier report of the device had and this one has not. */
function replacing(): Alteration {
  const keysByToken = new Map<string, readonly string[]>();
  return {
    request: (request) => {
      const pairs = jsonOf(request);
      if (!isObject(pairs) || !Object.values(pairs).every(isText)) return request;
      const removed = keysByToken.get(tokenOf(request)) ?? [];
      keysByToken.set(tokenOf(request), Object.keys(pairs));
      const empty = Object.fromEntries(removed.map((key) => [key, '']));
      return withJson(request, { ...empty, ...pairs });
    },
  };
}

describe('a good server under the conformance suite', () => {
  it('may replace the whole configuration by what the device reports', {
    timeout: SUITE_MAX_MS,
  }, async () => {
    const selection = ['configuration/', 'legal-forms/', 'model/', 'races/', 'quantities/'];
    expect(await complaintsOn(replacing, ['put-configuration'], { selection })).toEqual([]);
  });

  it('may return 409 to each request for an update that differs from the first', {
    timeout: SUITE_MAX_MS,
  }, async () => {
    const asking = [
      'get-next-deployment',
      'post-next-deployment',
      'post-next-deployment-v2',
    ] as const;
    const selection = ['legal-forms/'];
    expect(await complaintsOn(conflicting, asking, { selection })).toEqual([]);
  });

  it('may take the last value of a repeated query parameter', {
    timeout: SUITE_MAX_MS,
  }, async () => {
    const ids = new Set(['audit-log/bad-parameters']);
    expect(await complaintsOn(lastValue, ['list-audit-logs'], { ids })).toEqual([]);
  });
});

describe('hooks that only move the clock', () => {
  it('are used beside a user of the management API, for every case about time', {
    timeout: SUITE_MAX_MS,
  }, async () => {
    const own = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
    const script = `import { text } from 'node:stream/consumers';
      const { input } = JSON.parse(await text(process.stdin));
      const headers = { authorization: 'Bearer ${own.controlToken}', 'content-type': 'application/json' };
      const body = JSON.stringify({ advanceSeconds: input.seconds });
      const { status } = await fetch('${own.controlUrl}/clock', { method: 'POST', headers, body });
      process.exit(status === 200 ? 0 : 1);`;
    const command = [process.execPath, '--input-type=module', '-e', script];
    try {
      const { verdicts, leftBehind } = await judge({
        baseUrl: own.baseUrl,
        credentials: { email: own.adminEmail, password: own.adminPassword },
        hooks: readHookFile(JSON.stringify({ steps: { 'advance-clock': command } }), '/'),
        selection: ['time/'],
      });
      const found = verdicts.map(({ id, verdict, reason, actual }) =>
        verdict === 'pass' ? 'pass' : `${verdict} ${id}: ${reason?.text ?? actual}`,
      );
      expect([...new Set(found)]).toEqual(['pass']);
      expect(leftBehind).toEqual([]);
    } finally {
      await own.close();
    }
  });
});
