/** Explains why a request was refused or got no update, and why a device gets no update now. */
import type { Request, Response } from 'express';
import { countText } from '../../../fixtures/base/count-text.ts';
import type { ExplainFacts } from '../../explain/explain.ts';
import type { RefusedRecord } from '../../explain/request-problem.ts';
import type { ExchangeRecord } from '../../http/exchange-record.ts';
import { maskText } from '../../http/masking.ts';
import { readRule } from '../../http/parse-failure.ts';
import { Refusal } from '../../http/refusal.ts';
import { ambiguousNameSentence, findNamedDevice } from '../../journal/known-devices.ts';
import { journalOf } from '../../journal/tenant-journal.ts';
import type { UnparsableRecord } from '../../journal/unparsable.ts';
import { completeConnectionLimits } from '../../settings.ts';
import type { Tenant, Tenants } from '../../tenants/tenants.ts';
import type { Handlers } from './mount.ts';
import { throwRefusal } from './refusals.ts';

/** Facts for explanations other than the record and its tenant. */
export type ExplainSettings = Omit<ExplainFacts, 'tenant'>;

/** Loads the explanation code on first use, because it takes long to load. */
const explainer = async () => ({
  ...(await import('../../explain/explain.ts')),
  ...(await import('../../explain/explanation-text.ts')),
  ...(await import('../../explain/no-update.ts')),
});

/**
 * Creates the handlers that return an explanation as JSON, or as text if the caller asks for it.
 */
export function explanationHandlers(tenants: Tenants, settings: ExplainSettings) {
  const among = (named: Tenant | undefined): readonly Tenant[] =>
    named ? [named] : tenants.list();
  return {
    'GET /explanations': async ({ namedTenant, query, ...exchange }) => {
      const { id, tenant } = findDevice(among(namedTenant), query.device);
      const { explainDevice, noUpdateText } = await explainer();
      return sendExplanation(explainDevice(id, tenant), noUpdateText, exchange);
    },
    'GET /explanations/{requestId}': async ({ namedTenant, parameters, ...exchange }) => {
      const { record, tenant, status } = findRequest(among(namedTenant), parameters.requestId);
      const { explain, explainPoll, explanationText, noUpdateText } = await explainer();
      const explanation = explain(record, { ...settings, tenant });
      if (explanation) return sendExplanation(explanation, explanationText, exchange);
      const poll = record.kind === 'exchange' ? explainPoll(record, tenant) : undefined;
      if (poll) return sendExplanation(poll, noUpdateText, exchange);
      const fault = record.kind === 'exchange' ? record.fault : undefined;
      const cause = fault
        ? `met the planned fault "${fault.name}" (${fault.act})`
        : 'was not refused';
      const response =
        status === 0
          ? 'its connection was cut'
          : `it was answered with ${status}${endOf(tenant, record)}`;
      return throwRefusal(404, `the request ${cause}; ${response}`);
    },
  } satisfies Partial<Handlers>;
}

/**
 * Says how a file that was cut off ended, or the WebSocket of a handshake; empty if nothing ended
 * it.
 */
function endOf(tenant: Tenant, record: FoundRequest['record']): string {
  if (record.kind === 'exchange' && record.isIncomplete) {
    return `, and the connection was closed after ${countText(record.responseBytes, 'byte')} of the body`;
  }
  for (const entry of journalOf(tenant).newestFirst()) {
    if (entry.kind !== 'frame' || entry.origin.requestId !== record.requestId) continue;
    if (entry.opcode !== 'close') return '';
    const { code, payload, from } = entry;
    const reason = payload.length === 0 ? '' : `: ${maskText(payload.toString())}`;
    return `, and the ${from} closed its WebSocket with ${code}${reason}`;
  }
  return '';
}

/** The message if there are no devices yet. */
const noDevices =
  'there are no devices; send an authentication request to the API, or run "npx fleetbed simulate"';

function findDevice(tenants: readonly Tenant[], wanted: string) {
  const similarNames: string[] = [];
  for (const tenant of tenants) {
    const device = findNamedDevice(tenant.store, wanted);
    if ('id' in device) return { tenant, id: device.id };
    if ('several' in device)
      throwRefusal(400, `query: device: ${ambiguousNameSentence(device, noDevices)}`);
    similarNames.push(...device.nearest);
  }
  throwRefusal(404, maskText(ambiguousNameSentence({ nearest: similarNames }, noDevices)));
}

/** Returns the explanation, or sends it as text if the caller prefers text to JSON. */
function sendExplanation<Explained>(
  explanation: Explained,
  asText: (explanation: Explained) => string,
  { request, response }: { readonly request: Request; readonly response: Response },
): Explained | Response {
  if (request.accepts(['json', 'text']) !== 'text') return explanation;
  return response.type('text/plain').send(asText(explanation));
}

interface FoundRequest {
  readonly tenant: Tenant;
  readonly record: ExchangeRecord | (RefusedRecord & { readonly kind: 'unparsable' });
  readonly status: number;
}

function findRequest(tenants: readonly Tenant[], requestId: string): FoundRequest {
  for (const tenant of tenants) {
    const record = journalOf(tenant).find(requestId);
    if (record) return { tenant, record, status: record.status };
    for (const entry of journalOf(tenant).newestFirst()) {
      if (entry.kind !== 'unparsable' || entry.requestId !== requestId) continue;
      return {
        tenant,
        record: { ...refusedRecord(entry), kind: entry.kind },
        status: entry.status,
      };
    }
  }
  const bounds = tenants.map((tenant) => {
    const { name } = tenant;
    const { entriesMax, bytesMax } = journalOf(tenant).bounds;
    return `the newest ${entriesMax} exchanges and ${bytesMax} bytes of tenant ${name}`;
  });
  throwRefusal(404, `no request with this ID is in the journal, which keeps ${bounds.join(', ')}`);
}

const limits: Readonly<Record<number, string>> = {
  408: 'headers within 20 s, and a body that does not stall',
  431: `a target and headers of at most ${completeConnectionLimits({}).headersMaxBytes} bytes together`,
};

/** Returns a record of bytes that were not HTTP, in the format that explanations need. */
function refusedRecord(record: UnparsableRecord): RefusedRecord {
  const { atMs, requestId, parseFailure, status, line } = record;
  const [method = '', url = ''] = line?.split(' ') ?? ['bytes that are not HTTP'];
  return {
    atMs,
    requestId,
    method,
    url,
    headers: [],
    body: undefined,
    bodyBytes: 0,
    operation: undefined,
    refusal: new Refusal(status, parseFailure.error, {
      detail: {
        path: 'request',
        expected: limits[status] ?? 'an HTTP/1.1 request (RFC 9112)',
        actual: parseFailure.what,
        rule: readRule,
        evidence: parseFailure,
      },
    }),
  };
}
