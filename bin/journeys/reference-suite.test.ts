import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runConformance } from '../../conformance/conformance.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { openApiOf } from '../../fixtures/reference/openapi.ts';
import { type RunningServer, startServer } from '../../server/server.ts';
import { DocumentClient } from '../testing/document-client.ts';

const RUN_MAX_MS = 120_000;

/** The members of an entry in the journal's HTTP archive that the test reads. */
interface ArchivedExchange {
  /** The operation, if the request has one, and the ID of the request. */
  readonly comment: string;
  readonly request: { readonly url: string };
  readonly response: {
    readonly status: number;
    readonly headers: readonly { readonly name: string; readonly value: string }[];
    readonly content: { readonly text?: string; readonly comment?: string };
    readonly comment?: string;
  };
}

let server: RunningServer;

beforeAll(async () => {
  server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent' });
});

afterAll(() => server.close());

async function archive(): Promise<readonly ArchivedExchange[]> {
  const headers = { Authorization: `Bearer ${server.controlToken}` };
  const response = await fetch(`${server.controlUrl}/journal.har`, { headers });
  const { log } = (await response.json()) as { log: { entries: readonly ArchivedExchange[] } };
  return log.entries;
}

describe('the OpenAPI document beside a run of the suite', () => {
  it('describes every response in the journal, refusals included', {
    timeout: RUN_MAX_MS,
  }, async () => {
    const { baseUrl, headerPrefix, adminEmail: email, adminPassword: password } = server;
    await runConformance({
      baseUrl,
      headerPrefix,
      credentials: { email, password },
      clock: systemClock,
      random: seededRandom('reference'),
      jobs: 4,
      caseTimeLimitMs: 30_000,
      requestTimeLimitMs: 10_000,
      selection: ['deployment-status/', 'inventory/', 'configuration/'],
    });
    const document = openApiOf({ apis: ['device', 'management'], url: baseUrl });
    const client = new DocumentClient(document, {});
    const seen = new Set<string>();
    for (const { comment, response } of await archive()) {
      const { status, headers, content } = response;
      const [id = ''] = comment.split(',');
      const isWhole = content.comment === undefined && response.comment === undefined;
      if (!client.operationIds.includes(id) || !isWhole) continue;
      const sent = headers.map(({ name, value }): [string, string] => [name, value]);
      client.record(id, { status, headers: new Headers(sent) }, content.text ?? '');
      seen.add(`${id} ${status}`);
    }
    expect([...new Set(client.problems)]).toEqual([]);
    expect(seen.size).toBeGreaterThan(40);
    expect([...seen].filter((each) => / 4\d\d$/.test(each)).length).toBeGreaterThan(20);
  });
});
