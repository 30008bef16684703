import { describe, expect, it } from 'vitest';
import {
  type CaseVerdict,
  type ConformanceResult,
  listCases,
  runConformance,
} from '../../conformance/conformance.ts';
import { conformanceHtml } from '../../conformance/report/html.ts';
import { conformanceJunit } from '../../conformance/report/junit.ts';
import { endLine, verdictNdjson } from '../../conformance/report/ndjson.ts';
import { conformanceReport, verdictLine } from '../../conformance/report/text.ts';
import { withReproScript } from '../../conformance/repro-script/repro-script.ts';
import { coverageOf } from '../../conformance/result/coverage.ts';
import { ActiveDefect } from '../../conformance/self-test/active-defect.ts';
import type { Defect, ProxiedMessage } from '../../conformance/self-test/defect.ts';
import { DefectProxy } from '../../conformance/self-test/proxy.ts';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { startTestServer, type TestServer } from '../../server/testing/test-server.ts';

const RUN_MAX_MS = 400_000;
/** Shorter credentials are inventions of a case, such as `Bearer nonsense`. */
const SECRET_MIN_CHARACTERS = 13;
/** A password whose spelling differs in JSON, in a URL and in Base64. */
const adminPassword = 'pa"ss\\wörd/+ <&>%';

/** Areas with every kind of secret; all other areas use only device tokens. */
const selection = [
  'authentication/',
  'artifact-link/',
  'configuration-download/',
  'connect/',
  'errors/',
  'authorization/user',
  'audit-log/',
  'roles/',
  'tenants/',
  'time/',
];

const shapes: readonly RegExp[] = [
  /(eyJ[\w-]{4,}\.[\w-]+\.[\w-]+)/g,
  /[?&][\w-]*signature=([^&"\s\\]+)/gi,
  /"(?:[\w-]*_)?(?:password|tenant_token)":"([^"\\]+)"/g,
];

/** Collects every secret on the wire: tokens, link signatures, passwords, cookies and logins. */
class Eavesdropper {
  readonly secrets = new Set<string>();

  record({ headers, body }: ProxiedMessage, query = ''): void {
    const texts = [`?${query}`, body.toString('utf8'), ...Object.values(headers)];
    for (const text of texts) {
      for (const shape of shapes) {
        for (const [, secret = ''] of text.matchAll(shape)) this.#keep(secret);
      }
    }
    this.#keep(headers.authorization?.replace(/^\w+ /, '') ?? '');
    for (const [, value = ''] of (headers['set-cookie'] ?? '').matchAll(/=([^;,]+)/g)) {
      this.#keep(value);
    }
  }

  #keep(secret: string): void {
    // A case invents secrets that consist of one repeated character.
    const isMadeUp = secret.length < SECRET_MIN_CHARACTERS || /^(.)\1*$/.test(secret);
    if (!isMadeUp) this.secrets.add(secret);
  }
}

/** A defect that repeats the credentials of each request in response headers. */
function listening(eavesdropper: Eavesdropper): Defect {
  return {
    id: 'answers-tell-secrets',
    title: 'Every response repeats the credentials of its request.',
    violates: ['auth.first-contact-is-401'],
    operations: 'all',
    alter: () => ({
      request: (request) => {
        eavesdropper.record(request, request.query);
        return request;
      },
      response: (response, { headers, query }) => {
        eavesdropper.record(response);
        if (headers.authorization === undefined) return response;
        const sent = { 'x-sent': headers.authorization, 'x-query': encodeURIComponent(query) };
        return { ...response, headers: { ...response.headers, ...sent } };
      },
    }),
  };
}

async function judge(server: TestServer, eavesdropper: Eavesdropper) {
  const { baseUrl: targetUrl, headerPrefix, adminEmail, adminToken: userToken } = server;
  const names = vendorNames(headerPrefix);
  const random = seededRandom('proxy');
  const proxy = await DefectProxy.open({ targetUrl, names, userToken, clock: systemClock, random });
  proxy.activate(new ActiveDefect(listening(eavesdropper)));
  const lines: string[] = [];
  try {
    const result = await runConformance({
      baseUrl: proxy.baseUrl,
      headerPrefix,
      credentials: { email: adminEmail, password: adminPassword },
      control: { url: server.controlUrl, token: server.controlToken },
      clock: systemClock,
      random,
      selection,
      seed: 'secrets',
      jobs: 8,
      caseTimeLimitMs: 60_000,
      requestTimeLimitMs: 20_000,
      allEvidence: true,
      onVerdict: (verdict) => lines.push(verdictNdjson(verdict), verdictLine(verdict)),
    });
    // Only failures have a repro script in a report, so every case is turned into a failure.
    const verdicts = result.verdicts.map((verdict) => failedVerdict(verdict, proxy.baseUrl));
    return { ...result, verdicts, lines: lines.join('\n') };
  } finally {
    await proxy.close();
  }
}

function failedVerdict(verdict: CaseVerdict, baseUrl: string): CaseVerdict {
  return withReproScript(
    { ...verdict, verdict: 'fail', expected: 'other', actual: 'this' },
    { baseUrl },
  );
}

function formsOf(result: ConformanceResult): Readonly<Record<string, string>> {
  return {
    json: JSON.stringify(result),
    ndjson: endLine(result),
    text: conformanceReport(result),
    junit: conformanceJunit(result),
    html: conformanceHtml(result, coverageOf(listCases())),
  };
}

/** Returns the spellings in which a secret may appear in a string. */
function spellings(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(secret)];
}

describe('the secrets of a conformance run', () => {
  it('appear in no report format, even if every case fails', { timeout: RUN_MAX_MS }, async () => {
    const server = await startTestServer({ clock: systemClock, adminPassword });
    const eavesdropper = new Eavesdropper();
    try {
      const { lines, ...result } = await judge(server, eavesdropper);
      const kept = result.verdicts.filter(({ exchanges = [] }) => exchanges.length > 0);
      expect(kept.length).toBeGreaterThan(0.9 * result.verdicts.length);
      const secrets = [...eavesdropper.secrets, adminPassword, server.controlToken];
      expect(secrets.length).toBeGreaterThan(150);
      for (const [form, text] of Object.entries({ ...formsOf(result), lines })) {
        const sent = secrets.filter((each) => spellings(each).some((one) => text.includes(one)));
        expect(sent.slice(0, 5), form).toEqual([]);
        expect(text).not.toMatch(/eyJ[\w-]{20,}/);
      }
      expect(lines).toContain('<masked:device-token>');
      expect(lines).toContain('<masked:user-token>');
      expect(lines).toContain('<masked:link-signature>');
    } finally {
      await server.close();
    }
  });
});
